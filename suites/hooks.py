"""Hooks of modules, tensors and graph nodes: each is called once, in order, with
what passes there, and what it returns takes its place."""
import torch
from torch import nn
from suite import case

KIND = "module_hooks"


def network(w, v):
    """Two layers whose parameters are leaves on the device."""
    a, b = nn.Linear(4, 3, bias=False), nn.Linear(3, 2, bias=False)
    a.weight = nn.Parameter(w.detach().clone())
    b.weight = nn.Parameter(v.detach().clone())
    return nn.Sequential(a, nn.Tanh(), b)


def inputs(make):
    return (make(5, 4, low=-1, high=1), make(3, 4, low=-1, high=1),
            make(2, 3, low=-1, high=1))


def weighted(y):
    n = torch.linspace(0.5, 1.5, y.numel(), dtype=y.dtype, device=y.device)
    return (y * n.reshape(y.shape)).sum()


@case("forward", ("float32", "float64", "bfloat16"), level=4, capability=KIND)
def _(make):
    def run(x, w, v):
        net, seen, order = network(w, v), [], []

        def before(m, args):
            order.append("pre " + type(m).__name__)
            seen.append(args[0].detach().clone())

        def after(m, args, out):
            order.append("post " + type(m).__name__)
            seen.append(out.detach().clone())
        for m in net.modules():
            m.register_forward_pre_hook(before)
            m.register_forward_hook(after)
        y = net(x)
        return ",".join(order), seen, y.detach()
    yield run, inputs(make)


@case("forward_changed", ("float32",), level=4, capability=KIND)
def _(make):
    def run(x, w, v):
        net = network(w, v)
        net[0].register_forward_pre_hook(lambda m, args: (args[0] * 2,))
        net[1].register_forward_hook(lambda m, args, out: out + args[0])
        handle = net[2].register_forward_hook(lambda m, args, out: out * 100)
        handle.remove()
        y = net(x)
        weighted(y).backward()
        return y.detach(), [p.grad for p in net.parameters()]
    yield run, inputs(make)


@case("forward_keywords", ("float32",), level=4, capability=KIND)
def _(make):
    def run(x, w, v):
        net = network(w, v)[0]
        net.register_forward_pre_hook(
            lambda m, args, kwargs: ((), {"input": kwargs["input"] + 1}),
            with_kwargs=True)
        net.register_forward_hook(
            lambda m, args, kwargs, out: out - kwargs["input"].sum(),
            with_kwargs=True)
        return net(input=x).detach()
    yield run, inputs(make)


@case("backward", ("float32", "float64", "bfloat16"), level=4,
      capability=KIND)
def _(make):
    def run(x, w, v):
        net, seen, order = network(w, v), [], []

        def before(m, grads):
            order.append("pre " + type(m).__name__)
            seen.append(grads[0].detach().clone())

        def after(m, into, out):
            order.append("post " + type(m).__name__)
            seen.extend(g.detach().clone() for g in into if g is not None)
        for m in net:
            m.register_full_backward_pre_hook(before)
            m.register_full_backward_hook(after)
        x = x.detach().requires_grad_()
        weighted(net(x)).backward()
        return (",".join(order), seen, x.grad,
                [p.grad for p in net.parameters()])
    yield run, inputs(make)


@case("backward_changed", ("float32",), level=4, capability=KIND)
def _(make):
    def run(x, w, v):
        net = network(w, v)
        net[2].register_full_backward_pre_hook(lambda m, out: (out[0] * 3,))
        net[1].register_full_backward_hook(
            lambda m, into, out: (into[0] + 0.25,))
        x = x.detach().requires_grad_()
        weighted(net(x)).backward()
        return x.grad, [p.grad for p in net.parameters()]
    yield run, inputs(make)


@case("tensor", ("float32", "bfloat16"), level=4, capability=KIND)
def _(make):
    def run(x, w, v):
        order, x = [], x.detach().requires_grad_()

        def noted(name, times):
            def hook(grad):
                order.append(name)
                return grad * times
            return hook
        y = x.exp()
        y.register_hook(noted("y1", 2))
        y.register_hook(noted("y2", 3))
        y.retain_grad()
        x.register_hook(noted("x", 0.5))
        weighted(y * y).backward()
        return ",".join(order), y.grad, x.grad
    yield run, inputs(make)


@case("accumulated", ("float32",), level=4, capability=KIND)
def _(make):
    """An optimizer's step inside the backward pass."""
    def run(x, w, v):
        net, order = network(w, v), []

        def step(p):
            order.append(str(tuple(p.shape)))
            with torch.no_grad():
                p.sub_(p.grad, alpha=0.1)
            p.grad = None
        for p in net.parameters():
            p.register_post_accumulate_grad_hook(step)
        for _ in range(2):
            weighted(net(x)).backward()
        return " ".join(order), [p.detach() for p in net.parameters()]
    yield run, inputs(make)


@case("node", ("float32",), level=4, capability=KIND)
def _(make):
    def run(x, w, v):
        seen, x = [], x.detach().requires_grad_()
        y = x.sin()
        y.grad_fn.register_prehook(
            lambda grads: (seen.append(grads[0].clone()), (grads[0] * 2,))[1])
        y.grad_fn.register_hook(
            lambda into, out: seen.append(into[0].clone()))
        weighted(y).backward()
        return y.grad_fn.name(), seen, x.grad
    yield run, inputs(make)


@case("several", ("float32",), level=4, capability=KIND)
def _(make):
    """One call for a group of tensors, when all their gradients are there."""
    def run(x, w, v):
        seen, x = [], x.detach().requires_grad_()
        a, b = x.sin(), x.cos()
        torch.autograd.graph.register_multi_grad_hook(
            (a, b), lambda grads: seen.extend(g.clone() for g in grads))
        weighted(a * 2 + b * 3).backward()
        return len(seen), seen, x.grad
    yield run, inputs(make)


@case("state", ("float32",), level=4, capability=KIND)
def _(make):
    def run(x, w, v):
        net, order = network(w, v), []
        net.register_state_dict_pre_hook(
            lambda m, prefix, keep: order.append("save"))
        net.register_state_dict_post_hook(
            lambda m, state, prefix, local: order.append("saved"))
        net.register_load_state_dict_pre_hook(
            lambda m, state, *rest: order.append("load"))
        net.register_load_state_dict_post_hook(
            lambda m, keys: order.append("loaded"))
        state = {k: t * 2 for k, t in net.state_dict().items()}
        net.load_state_dict(state)
        return ",".join(order), [p.detach() for p in net.parameters()]
    yield run, inputs(make)


@case("saved_tensors", ("float32",), level=4, capability=KIND)
def _(make):
    def run(x, w, v):
        packed, x = [], x.detach().requires_grad_()

        def pack(t):
            packed.append(t.detach().clone())
            return t * 2

        def unpack(t):
            return t / 2
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = x * x.exp()
        weighted(y).backward()
        return len(packed), packed, x.grad
    yield run, inputs(make)
