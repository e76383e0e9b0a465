"""What programs ask of a device besides arithmetic: devices, streams, events,
page-locked memory, generators and memory figures.  The CPU has none of these, so
it answers what must be seen on a device."""
import torch
from suite import CPU, FLOATS, INTS, case, claimed, refused

API = {"level": 6, "capability": "device_api"}
STREAMS = {"level": 6, "capability": "streams"}
EVENTS = {"level": 6, "capability": "events"}
PINNED = {"level": 6, "capability": "pinned_memory"}


def module_of(device):
    return getattr(torch, device.type)


def here(device):
    return 0 if device.index is None else device.index


# Devices.

@case("module", ("float32",), **API)
def _(make):
    yield claimed(True, lambda d: module_of(d).is_available()), (CPU,)
    yield claimed(True, lambda d: module_of(d).device_count() > here(d)), (CPU,)
    yield claimed(True, lambda d: torch.get_device_module(d) is module_of(d)), \
        (CPU,)
    yield claimed(False, lambda d: module_of(d)._is_in_bad_fork()), (CPU,)


@case("current_device", ("float32",), **API)
def _(make):
    def current(d):
        m = module_of(d)
        m.set_device(here(d))
        made = torch.ones(3, device=d.type).device
        return m.current_device() == here(d), made.index == here(d)

    def inside(d):
        m = module_of(d)
        before = m.current_device()
        with m.device(here(d)):
            known = m.current_device() == here(d)
        return known, m.current_device() == before
    yield claimed((True, True), current), (CPU,)
    yield claimed((True, True), inside), (CPU,)
    yield claimed(True, refused(lambda d: module_of(d).set_device(1 << 6) or
                                torch.ones(1, device=d.type).cpu())), (CPU,)


@case("accelerator", ("float32",), **API)
def _(make):
    a = getattr(torch, "accelerator", None)

    def index(d):
        known = getattr(a, "current_device_index", None) or \
            a.current_device_idx
        return known() == module_of(d).current_device()
    yield claimed(True, lambda d: a.is_available()), (CPU,)
    yield claimed(True, lambda d: a.current_accelerator().type == d.type), \
        (CPU,)
    yield claimed(True, lambda d: a.device_count() ==
                  module_of(d).device_count()), (CPU,)
    yield claimed(True, index), (CPU,)
    yield claimed("None", lambda d: str(a.synchronize())), (CPU,)


@case("synchronize", ("float32",), **API)
def _(make):
    def run(x):
        y = work(x)
        module_of(x.device).synchronize()
        return y
    yield claimed(work, run), (make(16, 16, low=-1, high=1),)


@case("default_device", FLOATS[:2], **API)
def _(make):
    """The device that factories take when none is named."""
    def with_mode(d, x):
        with torch.device(d):
            made = torch.full((3,), 2.5, dtype=x.dtype)
        return made, made.device == x.device

    def with_default(d, x):
        torch.set_default_device(d)
        try:
            made = torch.arange(4, dtype=x.dtype)
        finally:
            torch.set_default_device(None)
        return made, made.device == x.device, torch.ones(1).device.type
    yield with_mode, (CPU, make(2))
    yield with_default, (CPU, make(2))


@case("default_generator", ("float32", "bfloat16", "int64"), **API)
def _(make):
    """A state that is kept and given back gives the same draws again."""
    def drawn(x):
        if x.is_floating_point():
            return torch.randn_like(x)
        return torch.randint_like(x, 1 << 20)

    def run(x):
        m = module_of(x.device) if x.device.type != "cpu" else torch
        drawn(x)
        state = m.get_rng_state()
        a, b = drawn(x), drawn(x)
        m.set_rng_state(state)
        c, d = drawn(x), drawn(x)
        return (torch.equal(a, c), torch.equal(b, d), torch.equal(a, b),
                state.device.type, str(state.dtype))

    def seeded(x):
        got = []
        for n in (3, 4, 3):
            torch.manual_seed(n)
            got.append(drawn(x))
        return torch.equal(got[0], got[2]), torch.equal(got[0], got[1])

    def forked(x):
        torch.manual_seed(5)
        with torch.random.fork_rng(
                [] if x.device.type == "cpu" else [here(x.device)],
                device_type="cuda" if x.device.type == "cpu" else
                x.device.type):
            a = drawn(x)
        return torch.equal(a, drawn(x))
    for fn in (run, seeded, forked):
        yield fn, (make(64),)


@case("memory_figures", ("float32",), **API)
def _(make):
    def grows(d):
        m = module_of(d)
        before = m.memory_allocated()
        x = torch.ones(1 << 16, device=d)
        during = m.memory_allocated()
        peak = m.max_memory_allocated()
        n = x.nbytes
        del x
        after = m.memory_allocated()
        return (during - before >= n, peak >= during, after <= before,
                m.memory_reserved() >= 0)

    def emptied(d):
        m = module_of(d)
        x = torch.ones(1 << 16, device=d)
        m.empty_cache()
        return float(x.sum()) == 1 << 16
    yield claimed((True,) * 4, grows), (CPU,)
    yield claimed(True, emptied), (CPU,)


@case("names", ("float32",), **API)
def _(make):
    """A device is what it is called, with and without its index."""
    def run(x):
        d = x.device
        again = torch.device(str(d))
        y = torch.ones(2, device=str(d)) * x[0]
        return again == d, y.device == d, (x + y).device == d, y
    yield run, (make(2),)


@case("storage", ("float32", "uint8", "complex64"), **API)
def _(make):
    def run(x):
        s = x.untyped_storage()
        n = x.storage_offset() * x.element_size()
        raw = torch.tensor(list(s.cpu())[n:n + 8], dtype=torch.uint8)
        y = torch.empty(0, dtype=x.dtype, device=x.device)
        y.set_(s.clone(), x.storage_offset(), x.size(), x.stride())
        return (s.device == x.device, raw.to(x.device), y,
                y.data_ptr() == x.data_ptr())
    yield run, (make(3, 4),)
    yield run, (make(4, 6)[1:, ::2],)


@case("to_and_from", FLOATS + INTS + ("bool", "complex64", "complex128"), **API)
def _(make):
    """There and back, in each layout, waited for or not."""
    def run(x, wait):
        host = x.to("cpu", non_blocking=wait, copy=True)
        getattr(torch, x.device.type).synchronize()
        back = host.to(x.device, non_blocking=wait, copy=True)
        return back, back.stride() == host.stride(), host.device.type
    for wait in (False, True):
        for x in (make(3, 4), make(4, 3).t(), make(4, 6)[1:, 1::2], make(),
                  make(0, 3), make(3, 1).expand(3, 4)):
            yield run, (x, wait)


# Streams.

def on(stream):
    """As torch.cuda.stream() does, for any device."""
    return module_of(stream.device).stream(stream)


def work(x):
    y = x
    for _ in range(10):
        y = torch.tanh(y @ x) + 0.125
    return y


@case("streams.results", ("float32", "float64"), **STREAMS)
def _(make):
    def one(x):
        s = torch.Stream(x.device)
        s.wait_stream(torch.accelerator.current_stream())
        with on(s):
            y = work(x)
        s.synchronize()
        return y

    def several(x):
        main, made = torch.accelerator.current_stream(), []
        for i in range(4):
            s = torch.Stream(x.device)
            s.wait_stream(main)
            with on(s):
                made.append((s, work(x + i)))
        for s, y in made:
            main.wait_stream(s)
        return [y * 2 for _, y in made]

    def chained(x):
        main = torch.accelerator.current_stream()
        a, b = torch.Stream(x.device), torch.Stream(x.device)
        a.wait_stream(main)
        with on(a):
            y = work(x)
        b.wait_stream(a)
        with on(b):
            z = work(y)
        main.wait_stream(b)
        return z + y
    yield claimed(work, one), (make(24, 24, low=-1, high=1),)
    yield claimed(lambda x: [work(x + i) * 2 for i in range(4)], several), (
        make(24, 24, low=-1, high=1),)
    yield claimed(lambda x: work(work(x)) + work(x), chained), (
        make(24, 24, low=-1, high=1),)


@case("streams.current", ("float32",), **STREAMS)
def _(make):
    def run(d):
        m = module_of(d)
        before = m.current_stream()
        s = torch.Stream(d)
        with on(s):
            inside = m.current_stream() == s
            t = torch.Stream(d)
            with on(t):
                nested = m.current_stream() == t
            back = m.current_stream() == s
        return inside, nested, back, m.current_stream() == before, s == t

    def default(d):
        m = module_of(d)
        return m.current_stream() == m.default_stream(), \
            m.Stream() == m.default_stream()

    def by_accelerator(d):
        s, before = torch.Stream(d), torch.accelerator.current_stream()
        torch.accelerator.set_stream(s)
        known = torch.accelerator.current_stream() == s
        torch.accelerator.set_stream(before)
        return known, torch.accelerator.current_stream() == before
    yield claimed((True,) * 4 + (False,), run), (CPU,)
    yield claimed((True, False), default), (CPU,)
    yield claimed((True, True), by_accelerator), (CPU,)


@case("streams.idle", ("float32",), **STREAMS)
def _(make):
    def run(x):
        s = torch.Stream(x.device)
        with on(s):
            work(x)
        s.synchronize()
        return s.query(), s.device == x.device, isinstance(
            s, module_of(x.device).Stream)
    yield claimed((True,) * 3, run), (make(24, 24, low=-1, high=1),)


@case("streams.backward", ("float32",), **STREAMS)
def _(make):
    """The backward pass runs on the stream of the forward one."""
    def plain(x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad(work(x).sum(), x)[0]

    def run(x):
        s, main = torch.Stream(x.device), torch.accelerator.current_stream()
        x = x.detach().requires_grad_()
        s.wait_stream(main)
        with on(s):
            y = work(x).sum()
        main.wait_stream(s)
        return torch.autograd.grad(y, x)[0]
    yield claimed(plain, run), (make(8, 8, low=-1, high=1),)


@case("streams.memory_kept", ("float32",), **STREAMS)
def _(make):
    """What another stream still reads is not given to the next allocation."""
    def plain(x):
        return (x + 1) * 3

    def run(x):
        s, main = torch.Stream(x.device), torch.accelerator.current_stream()
        y = x + 1
        s.wait_stream(main)
        with on(s):
            z = y * 3
        y.record_stream(s)
        del y
        for _ in range(4):
            torch.full_like(x, -1)
        main.wait_stream(s)
        return z
    yield claimed(plain, run), (make(64, 64),)


# Events.

@case("events.order", ("float32",), **EVENTS)
def _(make):
    def run(x):
        s, main = torch.Stream(x.device), torch.accelerator.current_stream()
        ready, done = torch.Event(x.device), torch.Event(x.device)
        y = work(x)
        ready.record(main)
        s.wait_event(ready)
        with on(s):
            z = work(y)
            done.record(s)
        main.wait_event(done)
        return z * 2, y
    yield claimed(lambda x: (work(work(x)) * 2, work(x)), run), (
        make(24, 24, low=-1, high=1),)


@case("events.state", ("float32",), **EVENTS)
def _(make):
    def run(x):
        e = torch.Event(x.device)
        fresh = e.query()
        e.record()
        e.synchronize()
        after = e.query()
        work(x)
        e.record()
        e.synchronize()
        return fresh, after, e.query(), e.device.type == x.device.type
    yield claimed((True,) * 4, run), (make(24, 24, low=-1, high=1),)


@case("events.time", ("float32",), **EVENTS)
def _(make):
    def run(x):
        marks = [torch.Event(x.device, enable_timing=True) for _ in range(3)]
        marks[0].record()
        work(x)
        marks[1].record()
        work(x)
        marks[2].record()
        marks[2].synchronize()
        a = marks[0].elapsed_time(marks[1])
        b = marks[1].elapsed_time(marks[2])
        both = marks[0].elapsed_time(marks[2])
        return (0 <= a < 1e6, 0 <= b < 1e6, abs(both - a - b) < 1 + both / 2,
                isinstance(a, float))
    yield claimed((True,) * 4, run), (make(24, 24, low=-1, high=1),)

    def untimed(x):
        a, b = torch.Event(x.device), torch.Event(x.device)
        a.record()
        b.record()
        return a.elapsed_time(b)
    yield claimed(True, refused(untimed)), (make(4, 4),)

    def unrecorded(x):
        a = torch.Event(x.device, enable_timing=True)
        b = torch.Event(x.device, enable_timing=True)
        return a.elapsed_time(b)
    yield claimed(True, refused(unrecorded)), (make(4, 4),)


@case("events.of_a_stream", ("float32",), **EVENTS)
def _(make):
    def run(x):
        s = torch.Stream(x.device)
        with on(s):
            y = work(x)
        e = s.record_event()
        e.synchronize()
        e.wait(torch.accelerator.current_stream())
        return e.query(), y
    yield claimed(lambda x: (True, work(x)), run), (
        make(24, 24, low=-1, high=1),)


# Page-locked memory.

ALL = FLOATS + INTS + ("bool", "complex64")


@case("pinned.copies", ALL, **PINNED)
def _(make):
    def run(x, host):
        p = host.cpu().pin_memory()
        y = p.to(x.device, non_blocking=True)
        back = torch.empty(p.shape, dtype=p.dtype, pin_memory=True)
        back.copy_(y, non_blocking=True)
        module_of(x.device).synchronize()
        return (p.is_pinned(), back.is_pinned(), y, back.to(x.device),
                host.is_pinned(), y.is_pinned())
    for host in (make(3, 4), make(4, 3).t(), make(4, 6)[1:, 1::2], make(),
                 make(5, 1).expand(5, 3)):
        yield claimed(lambda x, h: (True, True, h.clone(), h.clone(), False,
                                    False), run), (make(1), host)


@case("pinned.views", ("float32", "int64"), **PINNED)
def _(make):
    def run(x):
        p = x.cpu().pin_memory()
        v = p[1:, 1::2]
        w = p.t()
        part = v.to(x.device, non_blocking=True)
        p[1:, 1::2].copy_(part + 1, non_blocking=True)
        module_of(x.device).synchronize()
        return (v.is_pinned(), w.is_pinned(), p.clone().is_pinned(), part,
                p.to(x.device), w.to(x.device))

    def plain(x):
        p = x.clone()
        part = p[1:, 1::2].clone()
        p[1:, 1::2] += 1
        return True, True, False, part, p.clone(), p.t().clone()
    yield claimed(plain, run), (make(4, 6),)


@case("pinned.made", ("float32", "int64"), **PINNED)
def _(make):
    def run(x):
        got = [torch.zeros(3, dtype=x.dtype, pin_memory=True),
               torch.full((2,), 2, dtype=x.dtype, pin_memory=True),
               torch.arange(4, dtype=x.dtype, pin_memory=True),
               torch.tensor([1, 2], dtype=x.dtype, pin_memory=True)]
        return [t.is_pinned() for t in got], [t.to(x.device) for t in got]

    def plain(x):
        return [True] * 4, [torch.zeros(3, dtype=x.dtype),
                            torch.full((2,), 2, dtype=x.dtype),
                            torch.arange(4, dtype=x.dtype),
                            torch.tensor([1, 2], dtype=x.dtype)]
    yield claimed(plain, run), (make(1),)


@case("pinned.refused", ("float32",), **PINNED)
def _(make):
    """Memory of the device is not the host's to lock."""
    yield claimed(True, refused(lambda x: x.pin_memory())), (make(3),)


@case("pinned.batches", ("float32", "int64"), **PINNED)
def _(make):
    """A DataLoader's batches, locked on the way."""
    def batches(x, pin):
        data = torch.utils.data.TensorDataset(x.cpu(), torch.arange(len(x)))
        return torch.utils.data.DataLoader(data, batch_size=4, pin_memory=pin)

    def run(x):
        got = [(a.is_pinned(), i.is_pinned(),
                a.to(x.device, non_blocking=True), i.to(x.device))
               for a, i in batches(x, True)]
        module_of(x.device).synchronize()
        return got
    yield claimed(lambda x: [(True, True, a, i) for a, i in
                             batches(x, False)], run), (make(10, 3),)
