"""Two devices of a kind in one process: each keeps what is its own.  The CPU
computes on its one device what the two must give."""
import io

import torch
from suite import CPU, FLOATS, INTS, case, claimed, refused

MANY = {"level": 7, "capability": "multi_device", "devices": 2}
ALL = FLOATS + INTS + ("bool", "complex64")


def other(device):
    """The next device; the CPU is its own neighbour."""
    if device.type == "cpu":
        return device
    return torch.device(device.type, 0 if device.index else 1)


def over(t):
    """A copy on the other one."""
    return t.to(other(t.device), copy=True)


def back(t, x):
    """A copy where x is."""
    return t.to(x.device, copy=True)


def apart(t, device):
    """Is it on the other one, where there is another?"""
    return device.type == "cpu" or t.device == other(device)


@case("copies", ALL, **MANY)
def _(make):
    def run(x):
        there = over(x)
        again = back(there, x)
        into = torch.empty_like(again)
        into.copy_(there)
        given = torch.zeros(x.shape, dtype=x.dtype, device=other(x.device))
        given.copy_(x)
        return apart(there, x.device), again, into, back(given, x)
    for x in (make(3, 4), make(4, 3).t(), make(4, 6)[1:, 1::2], make(),
              make(0, 3), make(3, 1).expand(3, 4)):
        yield run, (x,)


@case("arithmetic", ("float32", "float64", "int64"), **MANY)
def _(make):
    """The same work on both, while the current device is the first."""
    def run(a, b):
        def work(x, y):
            return x @ y + x.sum(0), (x * 3 - y).cumsum(0), x.sort(1)[0]
        there = work(over(a), over(b))
        return (all(apart(t, a.device) for t in there),
                [back(t, a) for t in there], work(a, b))
    yield run, (make(5, 5, low=-9, high=9), make(5, 5, low=-9, high=9))


@case("factories", ("float32", "int64"), **MANY)
def _(make):
    def run(x):
        d = other(x.device)
        made = [torch.full((3,), 7, dtype=x.dtype, device=d),
                torch.arange(5, dtype=x.dtype, device=d),
                torch.zeros_like(x, device=d), x.new_ones(2, device=d),
                torch.tensor([1, 2, 3], dtype=x.dtype, device=d)]
        return ([apart(t, x.device) for t in made],
                [back(t, x) for t in made])
    yield run, (make(2, 3),)


@case("mixed", ("float32",), **MANY)
def _(make):
    """Operands on two devices are refused, but for a number's tensor of the
    CPU."""
    def add(x):
        return (x + over(x)).cpu()

    def mm(x):
        return (x @ over(x)).cpu()

    def where(x):
        return torch.where(x > 0, x, over(x)).cpu()
    for fn in (add, mm, where):
        yield claimed(True, refused(fn)), (make(3, 3),)

    def number(x):
        y = over(x) * torch.tensor(3.)
        return apart(y, x.device), back(y, x)
    yield number, (make(3, 3),)


@case("current", ("float32",), **MANY)
def _(make):
    def run(d):
        m = getattr(torch, d.type)
        m.set_device(d)
        with m.device(other(d)):
            inside = m.current_device() == other(d).index
            made = torch.ones(2, device=d.type).device == other(d)
            kept = (torch.ones(2, device=d) * 2).device == d
        return inside, made, kept, m.current_device() == d.index
    yield claimed((True,) * 4, run), (CPU,)

    def indices(d):
        m = getattr(torch, d.type)
        n = m.device_count()
        return n > 1, all(torch.ones(1, device="%s:%d" % (d.type, i))
                          .device.index == i for i in range(n))
    yield claimed((True, True), indices), (CPU,)
    yield claimed(True, refused(lambda d: torch.ones(
        1, device="%s:%d" % (d.type, getattr(torch, d.type).device_count()))
        .cpu())), (CPU,)


@case("generators", ("float32", "int64"), **MANY)
def _(make):
    """Each device draws for itself; manual_seed sets all of them."""
    def drawn(x, d):
        if x.is_floating_point():
            return torch.rand(64, device=d, dtype=x.dtype)
        return torch.randint(1 << 20, (64,), device=d, dtype=x.dtype)

    def run(x):
        d, e = x.device, other(x.device)
        torch.manual_seed(3)
        a, b = drawn(x, d), drawn(x, e)
        torch.manual_seed(3)
        drawn(x, e)
        a2 = drawn(x, d)
        torch.manual_seed(3)
        b2 = drawn(x, e)
        return torch.equal(a, a2), torch.equal(b, b2)

    def one_seeded(x):
        m, d, e = getattr(torch, x.device.type), x.device, other(x.device)
        with m.device(e):
            m.manual_seed(8)
        a = drawn(x, e)
        with m.device(d):
            m.manual_seed(9)
            drawn(x, d)
        with m.device(e):
            m.manual_seed(8)
        return torch.equal(a, drawn(x, e))
    yield claimed((True, True), run), (make(1),)
    yield claimed(True, one_seeded), (make(1),)


@case("streams", ("float32",), **MANY)
def _(make):
    def run(x):
        y = over(x)
        s = torch.Stream(y.device)
        s.wait_stream(torch.accelerator.current_stream(y.device))
        with getattr(torch, x.device.type).stream(s):
            z = y * 3 + 1
        s.synchronize()
        return s.device == y.device, back(z, x)
    yield claimed(lambda x: (True, x * 3 + 1), run), (make(8, 8),)


@case("memory", ("float32",), **MANY)
def _(make):
    """What is allocated on one is not counted on the other."""
    def run(d):
        m, e = getattr(torch, d.type), other(d)
        before = m.memory_allocated(d), m.memory_allocated(e)
        x = torch.ones(1 << 16, device=e)
        now = m.memory_allocated(d), m.memory_allocated(e)
        return now[0] == before[0], now[1] - before[1] >= x.nbytes
    yield claimed((True, True), run), (CPU,)


@case("backward", ("float32", "float64"), **MANY)
def _(make):
    """A graph that goes over both devices and back."""
    def run(x, w):
        x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
        d = other(x.device)
        y = (x @ w).tanh().to(d)
        z = (y * w.to(d)[0]).to(x.device)
        n = torch.linspace(0.5, 1.5, z.numel(), dtype=z.dtype,
                           device=z.device).reshape(z.shape)
        return z.detach(), torch.autograd.grad(z, (x, w), n)
    yield run, (make(4, 4, low=-1, high=1), make(4, 4, low=-1, high=1))


@case("module", ("float32",), **MANY)
def _(make):
    """A model in two parts, trained."""
    def run(x, w, v):
        a = torch.nn.Linear(4, 4, bias=False)
        b = torch.nn.Linear(4, 2, bias=False)
        a.weight = torch.nn.Parameter(w.detach().clone())
        b.weight = torch.nn.Parameter(over(v.detach()))
        opt = torch.optim.SGD([a.weight, b.weight], lr=0.1, momentum=0.9)
        for _ in range(3):
            opt.zero_grad()
            y = b(a(x).tanh().to(other(x.device)))
            (y * y).sum().backward()
            opt.step()
        return a.weight.detach(), back(b.weight.detach(), x), \
            apart(b.weight, x.device)
    yield run, (make(3, 4, low=-1, high=1), make(4, 4, low=-1, high=1),
                make(2, 4, low=-1, high=1))


@case("serialization", ("float32", "int64"), **MANY)
def _(make):
    def run(x):
        f = io.BytesIO()
        torch.save([x, over(x)], f)
        f.seek(0)
        both = torch.load(f)
        f.seek(0)
        moved = torch.load(f, map_location=other(x.device))
        return (both[0].device == x.device, apart(both[1], x.device),
                apart(moved[0], x.device), [back(t, x) for t in both])
    yield run, (make(3, 4),)
