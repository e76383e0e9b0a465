"""Activations that are computed again in the backward pass: the gradients are
those of the plain network, random state and autocast included."""
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
from suite import case

WAYS = (True, False)        # reentrant or not


def part(x, w, b):
    return torch.tanh(F.linear(x, w, b)) * x.sigmoid()


def grads_of(out, leaves):
    weight = torch.linspace(0.5, 1.5, out.numel(), dtype=out.dtype,
                            device=out.device).reshape(out.shape)
    return torch.autograd.grad(out, leaves, weight)


def backward_of(out, leaves):
    """As grads_of, in the only way that a reentrant checkpoint allows."""
    weight = torch.linspace(0.5, 1.5, out.numel(), dtype=out.dtype,
                            device=out.device).reshape(out.shape)
    out.backward(weight)
    return [t.grad for t in leaves]


def leaves_of(*args):
    return [a.detach().requires_grad_() for a in args]


@case("chain", ("float32", "float64", "bfloat16"), level=4,
      capability="gradient_checkpointing")
def _(make):
    for reentrant in WAYS:
        def run(*args, reentrant=reentrant):
            x, w, b = leaves_of(*args)
            y = x
            for _ in range(3):
                y = checkpoint(part, y, w, b, use_reentrant=reentrant)
            return y.detach(), backward_of(y, (x, w, b))
        yield run, (make(5, 4, low=-1, high=1), make(4, 4, low=-1, high=1),
                    make(4, low=-1, high=1))
        yield run, (make(4, 6, low=-1, high=1)[:, 1:5],
                    make(4, 4, low=-1, high=1).t(), make(4, low=-1, high=1))


@case("nested", ("float32",), level=4, capability="gradient_checkpointing")
def _(make):
    def run(*args):
        x, w, b = leaves_of(*args)

        def outer(y):
            y = checkpoint(part, y, w, b, use_reentrant=False)
            return checkpoint(part, y * 2, w, b, use_reentrant=False)
        y = checkpoint(outer, x, use_reentrant=False)
        return y.detach(), grads_of(y, (x, w, b))
    yield run, (make(5, 4, low=-1, high=1), make(4, 4, low=-1, high=1),
                make(4, low=-1, high=1))


@case("sequential", ("float32",), level=4,
      capability="gradient_checkpointing")
def _(make):
    def run(*args):
        x, w, b = leaves_of(*args)
        parts = [lambda y: part(y, w, b), torch.sin, lambda y: y @ w,
                 torch.cos]
        y = checkpoint_sequential(parts, 2, x, use_reentrant=False)
        return y.detach(), grads_of(y, (x, w, b))
    yield run, (make(5, 4, low=-1, high=1), make(4, 4, low=-1, high=1),
                make(4, low=-1, high=1))


@case("calls", ("float32",), level=4, capability="gradient_checkpointing")
def _(make):
    """What is checkpointed runs twice, and only then."""
    for reentrant in WAYS:
        def run(x, reentrant=reentrant):
            calls = []

            def noted(y):
                calls.append(torch.is_grad_enabled())
                return y.exp()
            x, = leaves_of(x)
            y = checkpoint(noted, x, use_reentrant=reentrant)
            before = len(calls)
            grad, = backward_of(y, (x,))
            return before, len(calls), str(calls), grad
        yield run, (make(3, low=-1, high=1),)


@case("random_state", ("float32", "bfloat16"), level=4,
      capability="gradient_checkpointing")
def _(make):
    """The mask of the forward pass is the mask of the second one, and what is
    drawn afterwards is as if nothing had been computed again."""
    def drawn(x, reentrant):
        torch.manual_seed(11)
        x, = leaves_of(x)

        def net(y):
            return F.dropout(y, 0.5)
        y = net(x) if reentrant is None else \
            checkpoint(net, x, use_reentrant=reentrant)
        y.backward(torch.ones_like(y))
        after = torch.rand(8, device=x.device)
        return y.detach(), x.grad, after

    for reentrant in WAYS:
        def run(x, reentrant=reentrant):
            y, grad, after = drawn(x, reentrant)
            plain = drawn(x, None)
            return (torch.equal(y != 0, grad != 0), 0 < int((y != 0).sum())
                    < y.numel(), torch.equal(y, plain[0]),
                    torch.equal(grad, plain[1]), torch.equal(after, plain[2]))
        yield run, (make(64, 8, low=1, high=2),)


@case("random_state_let_go", ("float32",), level=4,
      capability="gradient_checkpointing")
def _(make):
    """Without preserve_rng_state, the second mask is another one."""
    def run(x):
        torch.manual_seed(11)
        x, = leaves_of(x)
        y = checkpoint(lambda y: F.dropout(y, 0.5), x, use_reentrant=False,
                       preserve_rng_state=False)
        y.backward(torch.ones_like(y))
        return torch.equal(y != 0, x.grad != 0)
    yield run, (make(64, 8, low=1, high=2),)


@case("autocast", ("float32",), level=4, capability="gradient_checkpointing")
def _(make):
    def run(a, b):
        a, b = leaves_of(a, b)
        kinds = []

        def net(x, y):
            z = x @ y
            kinds.append(str(z.dtype))
            return z
        with torch.autocast(a.device.type, dtype=torch.bfloat16):
            z = checkpoint(net, a, b, use_reentrant=False)
        grads = grads_of(z, (a, b))
        return str(kinds), z.detach(), grads
    yield run, (make(4, 5, low=-1, high=1), make(5, 3, low=-1, high=1))


@case("saved_on_the_host", ("float32",), level=4,
      capability="gradient_checkpointing")
def _(make):
    """What autograd keeps is kept on the CPU, and comes back."""
    def run(*args):
        x, w, b = leaves_of(*args)
        with torch.autograd.graph.save_on_cpu():
            y = part(x, w, b).pow(2)
        return y.detach(), grads_of(y, (x, w, b))
    yield run, (make(5, 4, low=-1, high=1), make(4, 4, low=-1, high=1),
                make(4, low=-1, high=1))
