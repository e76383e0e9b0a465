"""Sparse layouts: made, taken apart, converted, added, multiplied, reduced and
differentiated.  Each result is looked at as its parts and as what it stands for."""
import torch
from suite import FLOATS, case, refused

SPARSE = {"level": 5, "capability": "sparse", "tags": {"family": "sparse"}}
COMPRESSED = (torch.sparse_csr, torch.sparse_csc)


def holed(make, *shape):
    """About half of it is zero."""
    x = make(*shape, low=-3, high=3)
    return x * (torch.arange(x.numel()).reshape(x.shape) % 5 > 1)


def told(s):
    """Its parts, copied, and the dense tensor."""
    if s.layout is torch.sparse_coo:
        s = s.coalesce()
        parts = [s.indices().clone(), s.values().clone(), s.sparse_dim()]
    elif s.layout in (torch.sparse_csr, torch.sparse_bsr):
        parts = [s.crow_indices().clone(), s.col_indices().clone(),
                 s.values().clone()]
    else:
        parts = [s.ccol_indices().clone(), s.row_indices().clone(),
                 s.values().clone()]
    return parts, s.to_dense(), str(s.layout), str(tuple(s.shape))


@case("made", FLOATS + ("int64", "complex64"), **SPARSE)
def _(make):
    # Indices are no operands: others in their place would be undefined.
    def index(v, *values):
        return [torch.tensor(i, device=v.device, dtype=torch.int64)
                for i in values]

    def coo(v, at):
        return told(torch.sparse_coo_tensor(*index(v, at), v, (3, 4)))

    def csr(v, c, j):
        return told(torch.sparse_csr_tensor(*index(v, c, j), v, (3, 4)))

    def csc(v, c, j):
        return told(torch.sparse_csc_tensor(*index(v, c, j), v, (4, 3)))
    # One of them twice; none; rows.
    yield coo, (make(4), [[0, 2, 2, 0], [1, 0, 3, 1]])
    yield coo, (make(0), [[], []])
    yield coo, (make(2, 4), [[2, 0]])
    for fn in (csr, csc):
        yield fn, (make(3), [0, 1, 1, 3], [1, 0, 3 if fn is csr else 2])


@case("converted", FLOATS + ("complex64",), **SPARSE)
def _(make):
    def run(x):
        coo = x.to_sparse()
        other = [x.to_sparse(layout=k) for k in COMPRESSED]
        return (told(coo), [told(s) for s in other],
                [told(s.to_sparse()) for s in other],
                [told(coo.to_sparse(layout=k)) for k in COMPRESSED])
    yield run, (holed(make, 3, 4),)
    yield run, (holed(make, 4, 3).t(),)
    yield run, (holed(make, 4, 6)[1:, 1::2],)
    yield run, (holed(make, 3, 4) * 0,)

    def blocks(x):
        return told(x.to_sparse_bsr((2, 2))), told(x.to_sparse_bsc((2, 3)))
    yield blocks, (holed(make, 4, 6),)


@case("arithmetic", ("float32", "float64"), **SPARSE)
def _(make):
    def coo(x, y):
        a, b = x.to_sparse(), y.to_sparse()
        return [told(s) for s in (a + b, a * b, a - b, a * 2.5, a / 2, -a,
                                  a.t(), a.abs(), a.sin(), a.sqrt())] + [
            x + b]

    def csr(x, y):
        a, b = x.to_sparse_csr(), y.to_sparse_csr()
        return [told(s) for s in (a + b, a * 2.5, a.sin(), -a)]
    x, y = holed(make, 3, 4).abs(), holed(make, 4, 3).t()
    yield coo, (x, y)
    yield csr, (x, y)


@case("products", ("float32", "float64"), **SPARSE)
def _(make):
    def coo(x, y):
        a = x.to_sparse()
        return (a @ y, torch.sparse.mm(a, y), a @ y[:, 0],
                told(torch.sparse.mm(a, y.to_sparse())),
                torch.sparse.addmm(x @ y, a, y, beta=2, alpha=3))

    def csr(x, y):
        a = x.to_sparse_csr()
        return a @ y, a @ y[:, 0], told(a @ y.to_sparse_csr()), \
            torch.addmm(x @ y, a, y, beta=2, alpha=3)
    for fn in (coo, csr):
        yield fn, (holed(make, 3, 4), holed(make, 4, 5))


@case("reductions", ("float32", "float64"), **SPARSE)
def _(make):
    def run(x):
        a = x.to_sparse()
        return (a.sum(), told(torch.sparse.sum(a, 0)),
                told(torch.sparse.sum(a, 1)), torch.sparse.sum(a),
                told(torch.sparse.softmax(a, 1)),
                told(torch.sparse.log_softmax(a, 0)), a._nnz())
    yield run, (holed(make, 3, 4),)


@case("taken", ("float32", "int64"), **SPARSE)
def _(make):
    def run(x):
        a = x.to_sparse()
        return (told(a.index_select(0, torch.tensor([2, 0]).to(x.device))),
                told(torch.cat([a, a])), told(a.transpose(0, 1)), a[1].to_dense(),
                told(a.clone()), x.sparse_mask(a.coalesce()).to_dense())
    yield run, (holed(make, 3, 4),)


@case("written", ("float32", "float64"), **SPARSE)
def _(make):
    def run(x, y):
        a = x.to_sparse()
        a.add_(y.to_sparse())
        b = a.clone()
        b.mul_(2)
        c = y.clone()
        c.add_(x.to_sparse(), alpha=3)
        return told(a), told(b), c, told(a.clone().zero_())
    yield run, (holed(make, 3, 4), holed(make, 3, 4))


@case("backward", ("float32", "float64"), **SPARSE)
def _(make):
    def run(x, y):
        v, y = (t.detach().requires_grad_() for t in (x, y))
        out = torch.sparse.mm(v.to_sparse(), y)
        n = torch.linspace(0.5, 1.5, out.numel(), dtype=out.dtype,
                           device=out.device).reshape(out.shape)
        grads = torch.autograd.grad(out, (v, y), n)
        return out.detach(), [g.to_dense() if g.is_sparse else g
                              for g in grads]
    yield run, (holed(make, 3, 4), make(4, 5))

    def embedded(w):
        w = w.detach().requires_grad_()
        i = torch.tensor([4, 0, 4, 2], device=w.device)
        y = torch.nn.functional.embedding(i, w, sparse=True)
        g, = torch.autograd.grad(y.pow(2).sum(), w)
        return told(g)
    yield embedded, (make(6, 3),)


@case("moved", FLOATS, **SPARSE)
def _(make):
    def run(x):
        return [told(x.to_sparse(layout=k).cpu().to(x.device))
                for k in (torch.sparse_coo, *COMPRESSED)] + [
            told(x.to_sparse().to(torch.float64))]
    yield run, (holed(make, 3, 4),)


@case("refused", ("float32",), **SPARSE)
def _(make):
    def beyond(i, v):
        return torch.sparse_coo_tensor(i, v, (2, 2),
                                       check_invariants=True).to_dense().cpu()

    def shapes(x):
        return (x.to_sparse() @ x).cpu()
    yield refused(beyond), (torch.tensor([[0, 5], [1, 0]]), make(2))
    yield refused(shapes), (make(3, 4),)
