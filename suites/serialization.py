"""What is saved comes back: values, types, strides, shared storages, the device
that it was on, and whatever holds tensors."""
import copy
import io
import pickle

import torch
from suite import CPU, FLOATS, INTS, case

KIND = "serialization"
LEVEL = 3
ALL = FLOATS + INTS + ("bool", "complex64", "complex128", "uint16", "uint32",
                       "float8_e4m3fn", "float8_e5m2")


def saved(value):
    f = io.BytesIO()
    torch.save(value, f)
    f.seek(0)
    return f


def again(value, **how):
    return torch.load(saved(value), **how)


def layouts(make):
    yield make(3, 4)
    yield make(4, 3).t()
    yield make(4, 6)[1:, 1::2]
    yield make(3, 1).expand(3, 4)
    yield make()
    yield make(0, 3)
    yield make(2, 3, 2, 2).to(memory_format=torch.channels_last)


@case("tensor", ALL, level=LEVEL, capability=KIND)
def _(make):
    def run(x):
        y = again(x)
        return (y, str(y.stride()), y.storage_offset(),
                y.untyped_storage().nbytes() == x.untyped_storage().nbytes(),
                y.device == x.device, type(y).__name__)
    for x in layouts(make):
        # The engine copies a storage with a guard, which is saved as well.
        yield run, (x,)


@case("mapped", ALL, level=LEVEL, capability=KIND)
def _(make):
    """Loaded elsewhere: on the host, and from the host to the device."""
    def to_host(x):
        y = again(x, map_location="c" + "pu")
        z = again({"a": [x]}, map_location=lambda storage, place: storage)
        return (y.device.type, y.to(x.device, copy=True),
                z["a"][0].device.type, z["a"][0].to(x.device, copy=True),
                str(y.stride()))

    def from_host(x, d):
        f = saved(x.to("c" + "pu", copy=True))
        y = torch.load(f, map_location=d)
        f.seek(0)
        z = torch.load(f, map_location=str(d))
        f.seek(0)
        w = torch.load(f, map_location={"c" + "pu": str(d)})
        return y, z, w, y.device == x.device
    for x in layouts(make):
        yield to_host, (x,)
        yield from_host, (x, CPU)


@case("shared", ("float32", "int64", "bool", "complex64"), level=LEVEL,
      capability=KIND)
def _(make):
    """Views of one storage are views of one storage afterwards."""
    def run(x):
        got = again({"whole": x, "row": x[1], "turned": x.t(), "twice": x})
        got["row"].zero_()
        return (got["whole"].clone(), got["turned"].clone(),
                got["twice"] is got["whole"],
                got["row"].data_ptr() != x[1].data_ptr())
    yield run, (make(3, 4),)


@case("lazy_bits", ("complex64", "complex128"), level=LEVEL, capability=KIND)
def _(make):
    def run(x):
        y, z = again(x.conj()), again(x.conj().imag)
        return y.is_conj(), z.is_neg(), y.clone(), z.clone()
    yield run, (make(3, 4),)


@case("parameter", ("float32", "bfloat16"), level=LEVEL, capability=KIND)
def _(make):
    def run(x):
        p = torch.nn.Parameter(x.detach().clone())
        b = torch.nn.Buffer(x.detach().clone())
        p.note = "kept"
        q, c, r = again([p, b, x.detach().requires_grad_()])
        return (type(q).__name__, q.requires_grad, type(c).__name__,
                r.requires_grad, q.detach(), c.clone(), r.detach())
    yield run, (make(3, 4),)


@case("state_dict", ("float32", "float64", "bfloat16"), level=LEVEL,
      capability=KIND)
def _(make):
    def model(x):
        torch.manual_seed(5)
        m = torch.nn.Sequential(torch.nn.Linear(4, 3),
                                torch.nn.BatchNorm1d(3), torch.nn.Tanh(),
                                torch.nn.Linear(3, 2, bias=False))
        return m.to(device=x.device, dtype=x.dtype)

    def run(x):
        a, b = model(x), model(x)
        with torch.no_grad():
            for p in a.parameters():
                p.mul_(1.5)
        a(x)
        report = b.load_state_dict(again(a.state_dict()))
        return (str(report), [t.clone() for t in b.state_dict().values()],
                list(b.state_dict()), b.eval()(x).detach())
    yield run, (make(5, 4, low=-1, high=1),)


@case("optimizer", ("float32",), level=LEVEL, capability=KIND)
def _(make):
    """Training goes on as if it had not been interrupted."""
    def run(x, g):
        def steps(p, opt, n):
            for i in range(n):
                p.grad = g * (i + 1)
                opt.step()

        def made(p):
            return torch.optim.AdamW([p], lr=0.05, amsgrad=True)
        p = x.detach().clone().requires_grad_()
        opt = made(p)
        steps(p, opt, 2)
        q = again(p.detach()).requires_grad_()
        other = made(q)
        other.load_state_dict(again(opt.state_dict()))
        steps(p, opt, 2)
        steps(q, other, 2)
        kept = other.state[q]
        return (torch.equal(p, q), q.detach(),
                [kept[k].clone() for k in sorted(kept) if k != "step"],
                [kept[k].device == x.device for k in sorted(kept)
                 if k != "step"])
    yield run, (make(3, 4), make(3, 4))


@case("pickled", ALL[:12], level=LEVEL, capability=KIND)
def _(make):
    def run(x):
        y = pickle.loads(pickle.dumps(x))
        z = copy.deepcopy(x)
        w = copy.copy(x)
        return (y, z, y.device == x.device, str(y.stride()), str(z.stride()),
                z.data_ptr() != x.data_ptr() or not x.numel(),
                w.data_ptr() == x.data_ptr())
    for x in layouts(make):
        yield run, (x,)


@case("deep_copies", ("float32",), level=LEVEL, capability=KIND)
def _(make):
    def run(x):
        m = torch.nn.Linear(4, 2, bias=False)
        m.weight = torch.nn.Parameter(x.detach().clone())
        twin = copy.deepcopy(torch.nn.ModuleList([m, m]))
        with torch.no_grad():
            twin[0].weight.add_(1)
        views = copy.deepcopy([x, x[1]])
        views[1].zero_()
        return (twin[0] is twin[1], twin[1].weight.detach(),
                m.weight.detach(), views[0])
    yield run, (make(2, 4),)


@case("storages", ("float32", "uint8"), level=LEVEL, capability=KIND)
def _(make):
    def run(x):
        s = x.clone().untyped_storage()
        t = again(s)
        y = torch.empty(0, dtype=x.dtype, device=x.device)
        y.set_(t if isinstance(t, torch.UntypedStorage) else t.untyped(), 0,
               x.shape)
        return t.device == x.device, t.nbytes() == s.nbytes(), y
    yield run, (make(3, 4),)


@case("sparse", ("float32", "complex64"), level=LEVEL, capability=KIND)
def _(make):
    def run(x):
        x = x * (x.real > 0)
        coo, csr, csc = again([x.to_sparse(), x.to_sparse_csr(),
                               x.to_sparse_csc()])
        return (str(coo.layout), coo.coalesce().indices().clone(),
                coo.coalesce().values().clone(), csr.crow_indices().clone(),
                csr.values().clone(), csc.to_dense(),
                coo.device == x.device)
    yield run, (make(4, 5, low=-2, high=2),)


@case("weights_only", ("float32",), level=LEVEL, capability=KIND)
def _(make):
    """The careful way of loading takes tensors, and refuses what runs code."""
    class Odd:
        def __reduce__(self):
            return print, ("run",)

    def run(x):
        y = again({"a": x, "n": [1, 2.5, "s"]}, weights_only=True)
        try:
            again({"a": x, "odd": Odd()}, weights_only=True)
            refused = False
        except pickle.UnpicklingError:
            refused = True
        return y["a"], str(y["n"]), refused
    yield run, (make(3, 4),)


@case("old_format", ("float32", "int64", "bool"), level=LEVEL,
      capability=KIND)
def _(make):
    """The format without a zip archive."""
    def run(x):
        f = io.BytesIO()
        torch.save([x, x[1:]], f, _use_new_zipfile_serialization=False)
        f.seek(0)
        y, z = torch.load(f)
        z.zero_()
        return y, y.device == x.device
    yield run, (make(3, 4),)
    yield run, (make(4, 3).t(),)


@case("cut", ("float32",), level=LEVEL, capability=KIND)
def _(make):
    """Half a file is no file."""
    def run(x):
        data = saved(x).getvalue()
        try:
            torch.load(io.BytesIO(data[:len(data) // 2]))
        except Exception:
            return True
        return False
    yield run, (make(64, 64),)


@case("generator", ("float32", "int64"), level=LEVEL, capability="rng")
def _(make):
    """A generator's state, saved, gives the same draws later."""
    def run(x):
        g = torch.Generator(x.device).manual_seed(4)
        torch.rand(7, device=x.device, generator=g)
        state = again(g.get_state())
        a = torch.rand(8, device=x.device, generator=g)
        h = torch.Generator(x.device)
        h.set_state(state)
        return torch.equal(a, torch.rand(8, device=x.device, generator=h))
    yield run, (make(2),)
