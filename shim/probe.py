"""Small diagnostics of a live device: what it seems to be able to do.  They
never change what runs; a failing one says where to look first."""
import io
import json
import warnings

import torch

warnings.simplefilter("ignore")

DTYPES = sorted({d for d in vars(torch).values()
                 if isinstance(d, torch.dtype)}, key=str)


class Skipped(Exception):
    """Nobody can have it."""


class Unavailable(Exception):
    """The device's Python module has nothing of the kind."""


def module_of(device):
    m = getattr(torch, torch.device(device).type, None)
    if m is None:
        raise Unavailable("there is no torch.%s" % torch.device(device).type)
    return m


def need(device, *names):
    m = module_of(device)
    for name in names:
        if not hasattr(m, name):
            raise Unavailable("torch.%s has no %s" %
                              (torch.device(device).type, name))
    return m


def same(got, want):
    assert torch.equal(got.cpu(), want), "wrong value"


def dtype_probe(device, dtype):
    raw = torch.tensor([0, 1, 2, 1], dtype=torch.uint8)
    size = torch.empty(0, dtype=dtype).element_size()
    bits = raw.repeat(size)
    host = bits.view(torch.uint8).view(dtype) if size == 1 else \
        bits.view(dtype)
    if dtype is torch.bool:
        host = torch.tensor([False, True, True, False])
    back = host.to(device).cpu()
    assert back.dtype is dtype, "came back as %s" % back.dtype
    same(back.view(torch.uint8), host.view(torch.uint8))


def inference(device):
    x = torch.arange(6.0).reshape(2, 3)
    same(x.to(device) @ x.T.to(device), x @ x.T)


def training(device):
    x = torch.arange(3.0).to(device).requires_grad_()
    (x * x).sum().backward()
    same(x.grad, torch.tensor([0.0, 2.0, 4.0]))


def double_backward(device):
    x = torch.arange(3.0).to(device).requires_grad_()
    g, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
    h, = torch.autograd.grad(g.sum(), x)
    same(h, torch.tensor([0.0, 6.0, 12.0]))


def gradcheck(device):
    x = torch.rand(3, dtype=torch.float64).to(device).requires_grad_()
    assert torch.autograd.gradcheck(torch.sin, (x,)), "gradients differ"


def gradient_checkpointing(device):
    from torch.utils.checkpoint import checkpoint
    x = torch.arange(3.0).to(device).requires_grad_()
    checkpoint(torch.square, x, use_reentrant=False).sum().backward()
    same(x.grad, torch.tensor([0.0, 2.0, 4.0]))


def serialization(device):
    f = io.BytesIO()
    x = torch.arange(3.0)
    torch.save(x.to(device), f)
    f.seek(0)
    got = torch.load(f)
    assert got.device.type == torch.device(device).type, "another device"
    same(got, x)


def rng(device):
    torch.manual_seed(7)
    a = torch.rand(8, device=device).cpu()
    torch.manual_seed(7)
    same(torch.rand(8, device=device), a)
    assert not torch.equal(torch.rand(8, device=device).cpu(), a), \
        "draws repeat"


def device_generator(device):
    g = torch.Generator(device=device).manual_seed(3)
    state = g.get_state()
    a = torch.rand(8, device=device, generator=g).cpu()
    g.set_state(state)
    same(torch.rand(8, device=device, generator=g), a)


def rng_distributions(device):
    x = torch.empty(1000, device=device)
    for fill in (x.normal_, x.exponential_, x.cauchy_, x.log_normal_):
        assert torch.isfinite(fill().cpu()).all(), "not finite"


def autocast(device):
    kind = torch.device(device).type
    x = torch.rand(4, 4).to(device)
    with torch.autocast(kind, dtype=torch.bfloat16):
        got = x @ x
    assert got.dtype is torch.bfloat16, "result is %s" % got.dtype


def fused_optimizer(device):
    p = torch.rand(3).to(device).requires_grad_()
    p.grad = torch.ones(3).to(device)
    torch.optim.Adam([p], fused=True).step()
    p.detach().cpu()


def dataloader(device):
    data = torch.utils.data.TensorDataset(torch.arange(8.0))
    got = [b[0].to(device).sum().cpu().item()
           for b in torch.utils.data.DataLoader(data, batch_size=4)]
    assert got == [6.0, 22.0], "wrong batches"


def module_hooks(device):
    m, seen = torch.nn.Linear(3, 2).to(device), []
    m.register_forward_hook(lambda *a: seen.append(1))
    m(torch.rand(1, 3).to(device)).cpu()
    assert seen, "the hook was not called"


def channels_last(device):
    x = torch.rand(1, 2, 3, 3).to(device)
    x = x.to(memory_format=torch.channels_last)
    assert x.is_contiguous(memory_format=torch.channels_last), "not kept"


def sparse(device):
    x = torch.eye(3).to_sparse()
    same(x.to(device).to_dense(), torch.eye(3))


def nested(device):
    x = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    got = x.to(device).to_padded_tensor(0.0)
    same(got, x.to_padded_tensor(0.0))


def named_tensor(device):
    if not hasattr(torch.Tensor, "refine_names"):
        raise Skipped("this PyTorch has no named tensors")
    x = torch.ones(2, 3).to(device).refine_names("N", "C")
    assert x.sum("C").names == ("N",), "names lost"


def foreach(device):
    got = torch._foreach_add([torch.ones(2).to(device)], 1.0)
    same(got[0], torch.full((2,), 2.0))


def fp8(device):
    x = torch.tensor([1.0, 2.0]).to(torch.float8_e4m3fn)
    same(x.to(device).to(torch.float32), torch.tensor([1.0, 2.0]))


def native_quantization(device):
    x = torch.quantize_per_tensor(torch.ones(3), 0.5, 0, torch.quint8)
    same(x.to(device).dequantize(), torch.ones(3))


def quantized_container_plumbing(device):
    x = torch.tensor([1, 2], dtype=torch.uint8).to(device)
    same(x.view(torch.int8), torch.tensor([1, 2], dtype=torch.int8))


def compile_(device):
    fn = torch.compile(lambda x: x + 1, backend="aot_eager")
    same(fn(torch.ones(2).to(device)), torch.full((2,), 2.0))


def pinned_memory(device):
    x = torch.ones(4).pin_memory()
    assert x.is_pinned(), "not pinned"
    same(x.to(device, non_blocking=True), torch.ones(4))


def streams(device):
    m = need(device, "Stream", "stream", "synchronize")
    with m.stream(m.Stream()):
        x = torch.ones(2, device=device)
    m.synchronize()
    same(x, torch.ones(2))


def events(device):
    m = need(device, "Event", "synchronize")
    e = m.Event()
    e.record()
    e.synchronize()
    assert e.query(), "not done after synchronize"


def deterministic(device):
    x = torch.rand(1000).to(device)
    same(x.sum(), x.sum().cpu())


def device_api(device):
    m = need(device, "is_available", "device_count", "current_device",
             "synchronize")
    assert m.is_available() and m.device_count() > 0, "not available"
    m.synchronize()


def multi_device(device):
    m = need(device, "device_count")
    if m.device_count() < 2:
        raise Unavailable("there is one device")
    kind = torch.device(device).type
    x = torch.ones(2, device=kind + ":0").to(kind + ":1")
    assert x.device.index == 1, "stayed on device 0"


def guard_alloc(device):
    m = need(device, "memory_allocated")
    before = m.memory_allocated()
    x = torch.ones(1 << 16, device=device)
    assert m.memory_allocated() >= before + x.nbytes, "memory not counted"


def ieee754(device):
    x = torch.tensor([float("nan"), float("inf"), -0.0, 1e-40])
    got = (x.to(device) * 1).cpu()
    same(got.view(torch.int32)[1:], x.view(torch.int32)[1:])
    assert got.isnan()[0], "NaN lost"


CAPABILITIES = (
    inference, training, serialization, compile_, rng, device_generator,
    rng_distributions, double_backward, gradcheck, gradient_checkpointing,
    autocast, fused_optimizer, dataloader, module_hooks, channels_last,
    sparse, nested, named_tensor, foreach, fp8, quantized_container_plumbing,
    native_quantization, pinned_memory, streams, events, deterministic,
    guard_alloc, device_api, multi_device, ieee754)


def attempt(fn, *args):
    """(status, note) of one probe."""
    try:
        return "ok", fn(*args) or ""
    except Skipped as e:
        return "skipped", str(e)
    except Unavailable as e:
        return "unavailable", str(e)
    except NotImplementedError as e:
        return "unavailable", first_line(e)
    except Exception as e:
        return "failed", "%s: %s" % (type(e).__name__, first_line(e))


def first_line(e):
    lines = str(e).splitlines()
    return lines[0][:300] if lines else ""


def count_probe(count):
    """How many devices there are: the note says it."""
    if count < 0:
        raise Unavailable("the device doesn't say how many there are")
    return str(count)


def probe(device, count):
    """The lines of the probe records of a device; count: how many there are,
    as its adapter says, -1 where it doesn't."""
    for kind, name, fn, args in [
            ("device", "count", count_probe, (count,)),
            *(("dtype", str(d).removeprefix("torch."), dtype_probe,
               (device, d)) for d in DTYPES),
            *(("capability", f.__name__.rstrip("_"), f, (device,))
              for f in CAPABILITIES)]:
        status, note = attempt(fn, *args)
        yield json.dumps({"v": 1, "kind": "probe", "id": "", "run": "",
                          "probe": kind, "name": name, "status": status,
                          "note": note}, separators=(",", ":"))
