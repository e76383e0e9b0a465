"""What PyTorch refuses is refused on a device, too, and in no other way leaves
a trace: the operands are as they were."""
import torch
import torch.nn.functional as F
from suite import case, refused

ERRORS = {"level": 3, "tags": {"family": "errors"}}


def whole(fn):
    """Waited for, so that a late error counts."""
    def run(*args):
        out = fn(*args)
        return [t.cpu() for t in (out if isinstance(out, (tuple, list))
                                  else [out])]
    return refused(run)


def declare(name, dtypes, *calls):
    @case(name, dtypes, **ERRORS)
    def _(make):
        for fn, *shapes in calls:
            yield whole(fn), tuple(make(*s, low=1, high=5) for s in shapes)


REAL = ("float32", "int64")
declare("shapes", REAL,
        (torch.add, (3, 4), (3, 5)), (torch.mul, (2,), (3,)),
        (torch.mm, (3, 4), (3, 4)), (torch.mm, (3,), (3, 4)),
        (torch.bmm, (2, 3, 4), (3, 4, 2)), (torch.mv, (3, 4), (3,)),
        (torch.dot, (3,), (4,)),
        (lambda a, b: torch.cat([a, b]), (3, 4), (3, 5)),
        (lambda a, b: torch.stack([a, b]), (3, 4), (4, 3)),
        (lambda a: a.view(5, 5), (3, 4)), (lambda a: a.reshape(-1, 5), (3, 4)),
        (lambda a: a.expand(4, 4), (3, 4)),
        (lambda a: a.t().view(12), (3, 4)),
        (lambda a, b: a.add_(b), (3, 1), (3, 4)))
declare("dimensions", REAL,
        (lambda a: a.sum(2), (3, 4)), (lambda a: a.sum((0, 0)), (3, 4)),
        (lambda a: a.transpose(0, 2), (3, 4)),
        (lambda a: a.permute(0, 0), (3, 4)),
        (lambda a: a.unsqueeze(4), (3, 4)), (lambda a: a.t(), (2, 3, 4)),
        (lambda a: a.unbind(5), (3, 4)), (lambda a: a.flip(2), (3, 4)),
        (lambda a: a.cumsum(3), (3, 4)), (lambda a: a.sort(3), (3, 4)),
        (lambda a: a.diagonal(0, 1, 1), (3, 4)))
declare("indices", REAL,
        (lambda a: a[5], (3, 4)), (lambda a: a[-4], (3, 4)),
        (lambda a: a.select(1, 4), (3, 4)),
        (lambda a: a.narrow(0, 2, 2), (3, 4)),
        (lambda a: a.as_strided((9, 9), (9, 1), 0), (3, 4)),
        (lambda a: a.unfold(0, 4, 1), (3, 4)),
        (lambda a: a.topk(9), (3, 4)), (lambda a: a.kthvalue(9), (3, 4)))
declare("empty", REAL,
        (lambda a: a.max(), (0,)), (lambda a: a.argmin(), (0, 3)),
        (lambda a: a.amax(0), (0, 3)), (lambda a: a.item(), (2,)),
        (lambda a: a.min(1), (3, 0)), (lambda a: bool(a) or a, (2,)))
declare("dtypes", ("int64", "bool"),
        (torch.mean, (3, 4)), (lambda a: torch.linalg.inv(a), (3, 3)),
        (lambda a: F.softmax(a, 0), (3,)), (lambda a: a.requires_grad_(), (3,)),
        (lambda a: a.add_(0.5), (3,)), (lambda a: a.uniform_() and a, ()))
declare("layers", ("float32",),
        (F.linear, (3, 4), (5, 3)), (F.conv2d, (1, 3, 4, 4), (2, 4, 3, 3)),
        (F.conv2d, (1, 3, 4, 4), (2, 3, 5, 5)),
        (lambda a: F.max_pool2d(a, 5), (1, 3, 4, 4)),
        (lambda a: F.layer_norm(a, (5,)), (3, 4)),
        (lambda a: F.avg_pool2d(a, 2, padding=3), (1, 3, 4, 4)),
        (lambda a, b: F.mse_loss(a, b).sum() if a.shape == b.shape else
         F.l1_loss(a, b), (3, 4), (5, 3)),
        (lambda a: torch.linalg.cholesky(-a @ a.t()), (3, 3)),
        (lambda a: torch.linalg.inv(a * 0), (3, 3)),
        (lambda a: torch.linalg.solve(a, a[:2]), (3, 3)))


@case("by_index", ("float32", "int64"), **ERRORS)
def _(make):
    """An index beyond the end is refused, in whatever form it comes."""
    far = torch.tensor([0, 7])
    wide = torch.tensor([[0, 7]])
    for fn in (lambda a, i: a[i], lambda a, i: a.index_select(0, i),
               lambda a, i: F.embedding(i, a),
               lambda a, i: a.index_add(0, i, a[:2]),
               lambda a, i: a.index_fill(0, i, 1),
               lambda a, i: a.take(i * 9)):
        yield whole(fn), (make(3, 4), far)
    for fn in (lambda a, i: a.gather(1, i), lambda a, i: a.scatter(1, i, 1)):
        yield whole(fn), (make(3, 4), wide)


@case("autograd", ("float32",), **ERRORS)
def _(make):
    def leaf_written(x):
        x = x.detach().requires_grad_()
        return x.add_(1)

    def version(x):
        x = x.detach().requires_grad_()
        y = x.exp()
        z = y * y
        y.add_(1)
        return torch.autograd.grad(z.sum(), x)

    def twice(x):
        x = x.detach().requires_grad_()
        y = (x * x).sum()
        torch.autograd.grad(y, x)
        return torch.autograd.grad(y, x)

    def no_graph(x):
        return torch.autograd.grad(x.sum(), x)

    def not_scalar(x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad(x * 2, x)
    for fn in (leaf_written, version, twice, no_graph, not_scalar):
        yield whole(fn), (make(3, 4),)


@case("after_an_error", ("float32",), **ERRORS)
def _(make):
    """A refusal leaves the device as it was."""
    def run(a, b):
        for fn in (lambda: a + b, lambda: a @ a, lambda: a[9],
                   lambda: a.view(7)):
            try:
                fn()
            except (RuntimeError, IndexError):
                pass
        return a * 2, b.sum(), a @ b
    yield run, (make(3, 4), make(4, 2))
