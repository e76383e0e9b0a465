"""Names of dimensions: carried along, lined up, and refused where they differ.
Values come back without their names, which are said as text."""
import torch
from suite import case, refused

NAMED = {"level": 5, "capability": "named_tensor",
         "needs": "Tensor.refine_names"}
DTYPES = ("float32", "float64", "int64")


def told(*results):
    """Each result's names and the result without them."""
    return [(str(r.names), r.rename(None).clone()) for r in results]


@case("made", DTYPES, **NAMED)
def _(make):
    def run(x):
        n = ("rows", "columns")
        t = x.refine_names(*n)
        return told(t, x.rename("a", "b"), t.rename(rows="r"),
                    torch.zeros(2, 3, names=n, device=x.device),
                    t.clone(), t.to(torch.float64), t.cpu().to(x.device))
    yield run, (make(3, 4),)
    yield run, (make(4, 3).t(),)


@case("carried", DTYPES, **NAMED)
def _(make):
    def run(x):
        t = x.refine_names("a", "b")
        return told(t + 1, t * t, t.abs(), -t, t + t.sum("a"),
                    t.transpose("a", "b"), t.select("b", 1), t.cumsum("b"),
                    t.sum("a"), t.sum("b", keepdim=True), t.flatten(
                        ["a", "b"], "c"), t.max("b")[0], t == t)
    yield run, (make(3, 4),)


@case("aligned", DTYPES, **NAMED)
def _(make):
    def run(x, y):
        t, u = x.refine_names("a", "b", "c"), y.refine_names("c", "a")
        return told(t.align_to("c", "a", "b"), t.align_to("b", ...),
                    u.align_as(t), t * u.align_as(t),
                    t.unflatten("c", (("d", 2), ("e", 2))))
    yield run, (make(2, 3, 4), make(4, 2))


@case("multiplied", DTYPES[:2], **NAMED)
def _(make):
    def run(x, y):
        t, u = x.refine_names("a", "b"), y.refine_names("c", "d")
        return told(t @ u, torch.matmul(t.align_to("b", "a"),
                                        t.rename("a", "z")),
                    torch.mm(t, u))
    yield run, (make(3, 4), make(4, 5))


@case("refused", ("float32",), **NAMED)
def _(make):
    def named(x):
        return x.refine_names("a", "b")
    for fn in (lambda x: named(x) + x.rename("a", "c"),
               lambda x: named(x).sum("z"),
               lambda x: named(x).refine_names("q", "b"),
               lambda x: named(x).align_to("a"),
               lambda x: x.rename("a", "a")):
        yield refused(fn), (make(3, 3),)


@case("backward", DTYPES[:2], **NAMED)
def _(make):
    def run(x):
        leaf = x.detach().requires_grad_()
        t = leaf.refine_names("a", "b")
        y = (t * t.sum("a").align_as(t)).rename(None)
        return torch.autograd.grad(y.sum(), leaf)
    yield run, (make(3, 4),)
