"""The same call gives the same bits, however many additions meet in a place:
with torch.use_deterministic_algorithms, again and again."""
import torch
import torch.nn.functional as F
from suite import FLOATS, case

DETERMINISTIC = {"level": 6, "capability": "deterministic"}
TIMES = 4


def settled(fn):
    """The result with deterministic algorithms, and whether it was the same
    each time."""
    def run(*args):
        was = torch.are_deterministic_algorithms_enabled()
        torch.use_deterministic_algorithms(True)
        try:
            got = [flat(fn(*[fresh(a) for a in args])) for _ in range(TIMES)]
        finally:
            torch.use_deterministic_algorithms(was)
        return got[0], all(same(got[0], other) for other in got[1:])
    return run


def fresh(a):
    return a.clone() if isinstance(a, torch.Tensor) else a


def flat(result):
    return [result] if isinstance(result, torch.Tensor) else list(result)


def same(a, b):
    """To the last bit."""
    return all(torch.equal(bits(x), bits(y)) for x, y in zip(a, b))


def bits(t):
    return t.detach().contiguous().view(torch.uint8) if t.dim() else \
        t.detach().reshape(1).view(torch.uint8)


N = 3000            # additions
BINS = 7            # places that they meet in


def indices():
    return (torch.arange(N) * 31 + torch.arange(N) // 13) % BINS


@case("added_by_index", FLOATS, **DETERMINISTIC)
def _(make):
    def index_add(x, i):
        return torch.zeros(BINS, 3, dtype=x.dtype,
                           device=x.device).index_add_(0, i, x)

    def scatter_add(x, i):
        return torch.zeros(BINS, 3, dtype=x.dtype, device=x.device) \
            .scatter_add_(0, i[:, None].expand(-1, 3), x)

    def index_put(x, i):
        return torch.zeros(BINS, 3, dtype=x.dtype, device=x.device) \
            .index_put_((i,), x, accumulate=True)

    def put(x, i):
        return torch.zeros(BINS, dtype=x.dtype, device=x.device).put_(
            i, x[:, 0], accumulate=True)
    for fn in (index_add, scatter_add, index_put, put):
        yield settled(fn), (make(N, 3, low=-1, high=1), indices())


@case("gathered_gradients", ("float32", "bfloat16"), **DETERMINISTIC)
def _(make):
    """The backward pass of reading by index is adding by index."""
    def grad(fn):
        def run(w, i):
            w = w.detach().requires_grad_()
            y = fn(w, i)
            n = torch.linspace(-1, 1, y.numel(), dtype=y.dtype,
                               device=y.device).reshape(y.shape)
            return torch.autograd.grad(y, w, n)
        return run
    for fn in (lambda w, i: w[i], lambda w, i: w.index_select(0, i),
               lambda w, i: F.embedding(i, w),
               lambda w, i: w.gather(0, i[:, None].expand(-1, 3)),
               lambda w, i: w.repeat_interleave(300, 0)):
        yield settled(grad(fn)), (make(BINS, 3, low=-1, high=1), indices())


@case("sums", FLOATS, **DETERMINISTIC)
def _(make):
    for fn in (lambda x: x.sum(), lambda x: x.mean(0), lambda x: x.var(1),
               lambda x: x.norm(), lambda x: x.sum(1)):
        yield settled(fn), (make(300, 70, low=-1, high=1),)


@case("scans", ("float32", "float64", "int64"), **DETERMINISTIC)
def _(make):
    for fn in (lambda x: x.cumsum(0), lambda x: x.cumsum(1),
               lambda x: x.sort(0)[0], lambda x: x.sort(dim=1, stable=True)[1]):
        yield settled(fn), (make(300, 7, low=-9, high=9),)


@case("counted", ("int64", "int32"), **DETERMINISTIC)
def _(make):
    for fn in (lambda x: torch.bincount(x), lambda x: torch.unique(x),
               lambda x: torch.unique(x, return_counts=True)[1]):
        yield settled(fn), (make(N, low=0, high=BINS),)


@case("products", ("float32", "bfloat16"), **DETERMINISTIC)
def _(make):
    for fn in (lambda a, b: a @ b, lambda a, b: F.linear(a, b.t()),
               lambda a, b: torch.addmm(a @ b, a, b),
               lambda a, b: torch.bmm(a[None], b[None])):
        yield settled(fn), (make(40, 300, low=-1, high=1),
                            make(300, 30, low=-1, high=1))


def trained(fn):
    """Gradients of all arguments."""
    def run(*args):
        leaves = [a.detach().requires_grad_() for a in args]
        y = fn(*leaves)
        n = torch.linspace(-1, 1, y.numel(), dtype=y.dtype,
                           device=y.device).reshape(y.shape)
        return (y.detach(), *torch.autograd.grad(y, leaves, n))
    return settled(run)


@case("convolutions", ("float32",), **DETERMINISTIC)
def _(make):
    x, w = make(4, 6, 12, 12, low=-1, high=1), make(8, 6, 3, 3, low=-1, high=1)
    yield trained(lambda x, w: F.conv2d(x, w, padding=1)), (x, w)
    yield trained(lambda x, w: F.conv2d(x, w, stride=2, dilation=2)), (x, w)
    yield trained(lambda x, w: F.conv_transpose2d(x, w.transpose(0, 1))), (x,
                                                                           w)
    yield trained(F.conv1d), (make(4, 6, 40, low=-1, high=1),
                              make(8, 6, 3, low=-1, high=1))


@case("layers", ("float32",), **DETERMINISTIC)
def _(make):
    x = make(16, 64, low=-1, high=1)
    yield trained(lambda x: F.layer_norm(x, (64,))), (x,)
    yield trained(lambda x, w, b: F.batch_norm(x, None, None, w, b, True)), (
        x, make(64), make(64))
    yield trained(lambda x: F.softmax(x, 1)), (x,)
    yield trained(F.gelu), (x,)
    q = make(2, 4, 24, 8, low=-1, high=1)
    yield trained(lambda q, k: F.scaled_dot_product_attention(q, k, k + 1)), (
        q, make(2, 4, 24, 8, low=-1, high=1))


@case("pooled", ("float32",), **DETERMINISTIC)
def _(make):
    """Overlapping windows give their gradients to the same elements."""
    x = make(2, 3, 12, 12, low=-1, high=1)
    yield trained(lambda x: F.avg_pool2d(x, 3, 1)), (x,)
    yield trained(lambda x: F.unfold(x, 3)), (x,)
    yield trained(lambda x: F.fold(F.unfold(x, 3), (12, 12), 3)), (x,)


@case("steps", ("float32",), **DETERMINISTIC)
def _(make):
    """A training from the start, several times."""
    def run(x, w, v):
        w, v = (t.detach().clone().requires_grad_() for t in (w, v))
        opt = torch.optim.Adam([w, v], lr=0.05)
        for _ in range(5):
            opt.zero_grad()
            (F.gelu(x @ w) @ v).pow(2).mean().backward()
            opt.step()
        return w.detach(), v.detach()
    yield settled(run), (make(64, 32, low=-1, high=1),
                         make(32, 48, low=-1, high=1),
                         make(48, 5, low=-1, high=1))


@case("draws", ("float32", "bfloat16"), **DETERMINISTIC)
def _(make):
    """The same seed, the same mask, the same result."""
    def run(x):
        got = []
        for _ in range(TIMES):
            torch.manual_seed(3)
            got.append(F.dropout(x, 0.5).sum(0))
        return all(torch.equal(got[0], g) for g in got)
    yield run, (make(300, 20, low=1, high=2),)


@case("asked", ("float32",), **DETERMINISTIC)
def _(make):
    """Whether algorithms are deterministic can be asked, and put back."""
    def run(x):
        before = torch.are_deterministic_algorithms_enabled()
        torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            y = x.cumsum(0)
            inside = torch.is_deterministic_algorithms_warn_only_enabled()
        finally:
            torch.use_deterministic_algorithms(before)
        return inside, torch.are_deterministic_algorithms_enabled(), y
    yield run, (make(5),)
