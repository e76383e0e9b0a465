"""Nested tensors, in rows that lie one behind the other (strided) and in the
jagged layout, against the same work row by row."""
import torch
import torch.nn.functional as F
from suite import FLOATS, case

NESTED = {"level": 5, "capability": "nested"}
LAYOUTS = (torch.strided, torch.jagged)


def nest(rows, layout):
    return torch.nested.nested_tensor(list(rows), layout=layout)


def rows_of(t):
    return [r.clone() for r in t.unbind()]


def ragged(make, *tails, rows=(3, 1, 5), low=-2, high=2):
    return [make(n, *tails, low=low, high=high) for n in rows]


def each_layout(make, fn, *lists):
    for layout in LAYOUTS:
        yield lambda *a, layout=layout: fn(layout, *a), lists


@case("made", FLOATS + ("int64", "bool", "complex64"), **NESTED)
def _(make):
    def run(layout, rows):
        t = nest(rows, layout)
        return (rows_of(t), t.is_nested, str(t.layout), t.dim(), t.size(0),
                t.device == rows[0].device, str(t.dtype), t.numel())
    yield from each_layout(make, run, ragged(make, 4))
    yield from each_layout(make, run, ragged(make, 2, 3))
    yield from each_layout(make, run, [r.t().contiguous().t()
                                       for r in ragged(make, 4)])
    yield from each_layout(make, run, ragged(make, 4, rows=(2, 0, 3)))
    yield from each_layout(make, run, [make(4, 6)[1:, ::2], make(2, 6)[:, ::2]])


@case("kept", FLOATS[:2], **NESTED)
def _(make):
    """Copies, conversions and the way to the host and back."""
    def run(layout, rows):
        t = nest(rows, layout)
        return (rows_of(t.clone()), rows_of(t.double()),
                rows_of(t.cpu().to(rows[0].device)), rows_of(t.detach()),
                rows_of(torch.zeros_like(t)), rows_of(t.contiguous()))
    yield from each_layout(make, run, ragged(make, 4))


@case("padded", FLOATS, **NESTED)
def _(make):
    def run(layout, rows):
        t = nest(rows, layout)
        return (torch.nested.to_padded_tensor(t, 0.),
                torch.nested.to_padded_tensor(t, -3.))
    yield from each_layout(make, run, ragged(make, 4))
    yield from each_layout(make, run, ragged(make, 2, 3))

    def sized(rows):
        return torch.nested.to_padded_tensor(nest(rows, torch.strided), 7.,
                                             (3, 6, 5))
    yield sized, (ragged(make, 4),)


UNARY = {
    "neg": torch.neg, "abs": torch.abs, "sin": torch.sin, "cos": torch.cos,
    "tanh": torch.tanh, "relu": torch.relu, "gelu": F.gelu, "silu": F.silu,
    "sgn": torch.sgn, "logical_not": torch.logical_not,
}


@case("unary", FLOATS[:3], **NESTED)
def _(make):
    for fn in UNARY.values():
        yield from each_layout(
            make, lambda layout, rows, fn=fn: rows_of(fn(nest(rows, layout))),
            ragged(make, 4))


@case("binary", FLOATS[:3], **NESTED)
def _(make):
    def run(layout, rows, others):
        t, u = nest(rows, layout), nest(others, layout)
        if layout is torch.jagged:      # the sizes must be the same ones
            u = t.sin() + 0.5
        return [rows_of(r) for r in (t + u, t * u, t - u, t * 3, t / 2,
                                     t + t)]
    yield from each_layout(make, run, ragged(make, 4), ragged(make, 4))


@case("in_place", FLOATS[:2], **NESTED)
def _(make):
    def run(layout, rows):
        t = nest(rows, layout)
        u = t.mul_(2)
        v = rows_of(u)
        t.relu_()
        return v, rows_of(t), u is t
    yield run_strided(run), (ragged(make, 4),)


def run_strided(fn):
    return lambda *a: fn(torch.strided, *a)


@case("softmax", ("float32", "float64"), **NESTED)
def _(make):
    def run(layout, rows, w, b):
        t = nest(rows, layout)
        return rows_of(torch.softmax(t, -1)), rows_of(
            F.layer_norm(t, (rows[0].shape[-1],), w, b))
    yield from each_layout(make, run, ragged(make, 4), make(4), make(4))


@case("linear", FLOATS, **NESTED)
def _(make):
    def run(layout, rows, w, b):
        return rows_of(F.linear(nest(rows, layout), w, b))
    yield from each_layout(make, run, ragged(make, 4), make(5, 4, low=-1,
                                                            high=1), make(5))


@case("matmul", ("float32", "float64"), **NESTED)
def _(make):
    def run(rows, others):
        a, b = nest(rows, torch.strided), nest(others, torch.strided)
        return rows_of(torch.matmul(a, b)), rows_of(torch.bmm(a, b))
    yield run, (ragged(make, 4), [make(4, n, low=-1, high=1)
                                  for n in (2, 5, 1)])


@case("reductions", ("float32", "float64"), **NESTED)
def _(make):
    def run(layout, rows):
        t = nest(rows, layout)
        return rows_of(t.sum(-1, keepdim=True))

    def jagged(rows):
        t = nest(rows, torch.jagged)
        return t.sum(1), t.mean(1), rows_of(t.sum(-1)), t.amax(1), t.sum()
    yield run_strided(run), (ragged(make, 4),)
    yield jagged, (ragged(make, 4),)


@case("values", ("float32", "int64"), **NESTED)
def _(make):
    def run(rows):
        t = nest(rows, torch.jagged)
        u = torch.nested.nested_tensor_from_jagged(t.values() + 1, t.offsets())
        return (t.values().clone(), t.offsets().clone(), rows_of(u),
                t.values().is_contiguous())
    yield run, (ragged(make, 4),)

    def lengths(x, at):
        t = torch.nested.nested_tensor_from_jagged(x, at)
        return rows_of(t), rows_of(t * 2)
    yield lengths, (make(9, 4), torch.tensor([0, 3, 3, 9]))


@case("views", ("float32",), **NESTED)
def _(make):
    def strided(rows):
        t = nest(rows, torch.strided)
        return rows_of(t.transpose(1, 2)), t.select(0, 1).clone(), \
            t[2].clone()

    def jagged(rows):
        t = nest(rows, torch.jagged)
        return (rows_of(t.unflatten(-1, (2, 2))), rows_of(t[..., 1:3]),
                [r.t().clone() for r in t.transpose(1, 2).unbind()],
                [rows_of(p) for p in t.chunk(2, dim=-1)])
    yield strided, (ragged(make, 4),)
    yield jagged, (ragged(make, 4),)


@case("row_is_a_view", ("float32",), **NESTED)
def _(make):
    """A write to a row reaches the whole."""
    def run(layout, rows):
        t = nest(rows, layout)
        t.unbind()[1].fill_(9)
        return rows_of(t)
    yield from each_layout(make, run, ragged(make, 4))


@case("backward", ("float32", "float64"), level=5, capability="nested")
def _(make):
    def run(layout, rows, w):
        leaves = [r.detach().requires_grad_() for r in rows]
        w = w.detach().requires_grad_()
        t = torch.nested.as_nested_tensor(leaves, layout=layout)
        y = torch.nested.to_padded_tensor(F.linear(t, w).sin(), 0.)
        n = torch.linspace(0.5, 1.5, y.numel(), dtype=y.dtype,
                           device=y.device).reshape(y.shape)
        return torch.autograd.grad(y, [*leaves, w], n)
    yield from each_layout(make, run, ragged(make, 4), make(5, 4, low=-1,
                                                            high=1))


@case("attention", ("float32", "float64"), level=5, capability="nested")
def _(make):
    """Rows of different lengths attend to themselves alone."""
    def run(q, k, v):
        t = [nest(x, torch.jagged) for x in (q, k, v)]
        # One set of lengths for all three.
        t[1:] = [torch.nested.nested_tensor_from_jagged(x.values(),
                                                        t[0].offsets())
                 for x in t[1:]]
        heads = [x.unflatten(-1, (2, 2)).transpose(1, 2) for x in t]
        y = F.scaled_dot_product_attention(*heads)
        return rows_of(y.transpose(1, 2).flatten(-2))

    def row_by_row(q, k, v):
        return [F.scaled_dot_product_attention(*(
            x.unflatten(-1, (2, 2)).transpose(0, 1) for x in row))
            .transpose(0, 1).flatten(-2) for row in zip(q, k, v)]

    yield lambda *a: row_by_row(*a) if a[0][0].is_cpu else run(*a), (
        ragged(make, 4), ragged(make, 4), ragged(make, 4))


@case("embedding_bag", ("float32",), level=5, capability="nested")
def _(make):
    def run(w, *ids):
        t = torch.nested.nested_tensor(list(ids), layout=torch.jagged)
        return rows_of(F.embedding(t, w)), F.embedding_bag(
            t.values(), w, t.offsets()[:-1], mode="sum")
    yield run, (make(7, 3), torch.tensor([1, 5]), torch.tensor([6]),
                torch.tensor([0, 0, 2, 3]))


@case("refused", ("float32",), level=5, capability="nested")
def _(make):
    def differ(layout, a, b):
        return raises(lambda: rows_of(nest(a, layout) + nest(b, layout)))
    yield from each_layout(make, differ, ragged(make, 4),
                           ragged(make, 4, rows=(2, 2, 4)))

    def shape(a):
        return raises(lambda: nest(a, torch.strided).view(7, 7))
    yield shape, (ragged(make, 4),)


def raises(fn):
    try:
        fn()
    except Exception:
        return True
    return False
