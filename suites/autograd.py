"""Gradients where the incoming gradient or the graph is not the plain one."""
import torch
import torch.nn.functional as F
from suite import case


def grads(fn, *args):
    leaves = [a for a in args if isinstance(a, torch.Tensor) and
              a.requires_grad]
    out = fn(*args)
    return torch.autograd.grad(out, leaves)


@case("sum_of_network", ("float32",), level=4, capability="training")
def _(make):
    def net(x, w, b):
        return torch.sin(x @ w + b).sum()

    yield lambda *a: grads(net, *a), (make(64, 3, grad=True),
                                      make(3, 5, grad=True),
                                      make(5, grad=True))


@case("slice_assigned", ("float32",), level=4, capability="training")
def _(make):
    def net(x, w):
        y = x @ w
        y[:, :3] = 0
        return (y * (y + 1)).sum()

    yield lambda *a: grads(net, *a), (make(4, 5, grad=True),
                                      make(5, 7, grad=True))


@case("solve_backward", ("float32",), level=4, capability="training")
def _(make):
    def solve(a, b):
        return torch.linalg.solve(a + 8 * torch.eye(4).to(a.device), b).sum()

    yield lambda *a: grads(solve, *a), (make(3, 4, 4, grad=True),
                                        make(3, 4, 2, grad=True))


@case("subsets_of_gradients", ("float32",), level=4, capability="training")
def _(make):
    def addmm(a, b, c):
        return torch.addmm(a, b, c).pow(2).sum()

    def conv(x, w, b):
        return F.conv2d(x, w, b).pow(2).sum()

    def norm(x, w, b):
        return F.layer_norm(x, (5,), w, b).pow(2).sum()

    for fn, shapes in ((addmm, ((3, 4), (3, 5), (5, 4))),
                       (conv, ((2, 3, 6, 6), (4, 3, 3, 3), (4,))),
                       (norm, ((4, 5), (5,), (5,)))):
        for mask in range(1, 8):
            args = [make(*s, grad=bool(mask >> i & 1))
                    for i, s in enumerate(shapes)]
            yield lambda *a, fn=fn: grads(fn, *a), args


@case("lstm_with_states", ("float32",), level=4, capability="training")
def _(make):
    def lstm(x, h, c, *weights):
        out, hn, cn = torch.lstm(x, (h, c), list(weights), True, 1, 0.0,
                                 False, False, False)
        return grads_and(out, hn, cn, weights)

    def grads_and(out, hn, cn, weights):
        total = out.sum() + 2 * hn.sum() + 3 * cn.sum()
        return (out, hn, cn, *torch.autograd.grad(total, weights))

    yield lstm, (make(5, 2, 3), make(1, 2, 4), make(1, 2, 4),
                 make(16, 3, grad=True), make(16, 4, grad=True),
                 make(16, grad=True), make(16, grad=True))
