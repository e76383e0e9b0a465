"""What programs expect of a device, asked of the reference device.

Usage: python device.py [NAME...]    TAP on stdout; 1 if anything failed.
"""

import copy
import io
import os
import pickle
import sys
import traceback
import warnings

warnings.filterwarnings("ignore")

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import torch_refdev  # noqa: E402

D = "refdev"
CHECKS = []


def check(f):
    CHECKS.append(f)
    return f


def raises(kind, f, word=""):
    try:
        f()
    except kind as e:
        return word in str(e)
    return False


@check
def forked_child():
    torch.ones(2, device=D)
    pid = os.fork()
    if pid == 0:
        try:
            torch.ones(2, device=D)
        except RuntimeError as e:
            os._exit(7 if "forked" in str(e) else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


@check
def devices():
    assert torch.refdev.is_available() and torch.refdev.device_count() == 2
    with torch.refdev.device(1):
        assert torch.refdev.current_device() == 1
        assert torch.ones(2, device=D).device.index == 1
    assert torch.refdev.current_device() == 0
    x = torch.ones(3, device="refdev:1")
    assert (x + x).device.index == 1
    y = x.to("refdev:0")
    assert y.device.index == 0 and torch.equal(x.cpu(), y.cpu())
    assert raises(RuntimeError, lambda: x + y, "same device")
    assert raises(RuntimeError, lambda: y + torch.ones(3), "same device")
    assert (y + torch.tensor(2.)).device.type == D
    with torch.device(D):
        assert torch.zeros(2).device.type == D
    assert torch.zeros_like(y, device="refdev:1").device.index == 1
    assert torch.zeros_like(y, device="cpu").device.type == "cpu"
    assert raises(RuntimeError, lambda: torch.ones(1, device="refdev:9"))


@check
def streams_and_events():
    s = torch.refdev.Stream()
    a = torch.refdev.Event(enable_timing=True)
    b = torch.refdev.Event(enable_timing=True)
    with torch.refdev.stream(s):
        assert torch.refdev.current_stream() == s
        a.record()
        torch.ones(100, device=D) * 2
        b.record()
    assert torch.refdev.current_stream() != s
    s.synchronize()
    b.synchronize()
    assert b.query() and a.elapsed_time(b) >= 0
    s.wait_event(a)
    plain = torch.refdev.Event()
    plain.record()
    assert raises((RuntimeError, ValueError),
                  lambda: plain.elapsed_time(b), "timing")
    assert isinstance(s, torch.refdev.Stream)


@check
def generators():
    torch.manual_seed(5)
    want = torch.randn(5)
    torch.manual_seed(5)
    assert torch.equal(torch.randn(5, device=D).cpu(), want)
    s = torch.refdev.get_rng_state()
    a = torch.randn(5, device=D)
    torch.refdev.set_rng_state(s)
    assert torch.equal(a, torch.randn(5, device=D))
    g = torch.Generator(D).manual_seed(3)
    c = torch.Generator().manual_seed(3)
    assert torch.equal(torch.rand(4, device=D, generator=g).cpu(),
                       torch.rand(4, generator=c))
    assert raises(RuntimeError,
                  lambda: torch.rand(4, device=D, generator=c))
    torch.manual_seed(1)
    want = F.dropout(torch.ones(9))
    torch.manual_seed(1)
    assert torch.equal(F.dropout(torch.ones(9, device=D)).cpu(), want)
    cpu = torch.get_rng_state()
    torch.randperm(5, device=D)
    assert torch.equal(cpu, torch.get_rng_state())


@check
def memory():
    n = torch.refdev.memory_allocated()
    x = torch.empty(1000, device=D)
    assert torch.refdev.memory_allocated() == n + 4000
    del x
    assert torch.refdev.memory_allocated() == n
    assert torch.refdev.max_memory_allocated() >= n + 4000
    torch.refdev.reset_peak_memory_stats()
    assert torch.refdev.max_memory_allocated() == n
    assert raises(torch.OutOfMemoryError,
                  lambda: torch.empty(1 << 50, device=D))
    if hasattr(torch.accelerator, "memory_allocated"):
        assert torch.accelerator.memory_allocated() == n
    assert torch_refdev.check_guards() == 0


@check
def views_alias():
    x = torch.arange(12., device=D).view(3, 4)
    for v in (x.t(), x[1:], x.view(4, 3), x.diagonal(), x.unfold(1, 2, 1),
              x.expand(2, 3, 4), x.split(2)[0], x.unbind(1)[2], x.detach(),
              x.as_strided((2,), (3,), 1), x.movedim(0, 1), x[None]):
        assert v.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    x.t()[0] = 9
    assert x[:, 0].tolist() == [9.] * 3
    z = torch.tensor([1 + 2j], device=D)
    w = z.conj()
    assert w.is_conj() and w.imag.is_neg()
    assert w.cpu().tolist() == [1 - 2j]
    z[0] = 3 + 4j
    assert w.imag.tolist() == [-4.]


@check
def out_and_resize():
    o = torch.empty(0, device=D)
    r = torch.add(torch.ones(3, device=D), 1, out=o)
    assert r is o and o.tolist() == [2.] * 3
    o.resize_(5)
    assert o.untyped_storage().nbytes() == 20 and o[:3].tolist() == [2.] * 3
    o.set_(torch.zeros(2, device=D))
    assert o.tolist() == [0., 0.]
    o = torch.ones(4, device=D)
    torch.mul(o[::2], 3, out=o[::2])
    assert o.tolist() == [3., 1., 3., 1.]


@check
def serialization():
    x = torch.randn(3, 4, device=D)
    f = io.BytesIO()
    torch.save({"a": x, "b": x[1]}, f)
    f.seek(0)
    r = torch.load(f)
    assert r["a"].device.type == D and torch.equal(r["a"], x)
    r["a"][1] = 0
    assert r["b"].eq(0).all()
    f.seek(0)
    assert torch.load(f, map_location="cpu")["a"].device.type == "cpu"
    assert torch.equal(pickle.loads(pickle.dumps(x)), x)
    y = copy.deepcopy(x)
    assert torch.equal(x, y) and y.data_ptr() != x.data_ptr()
    u = torch.UntypedStorage(10, device=D)
    u.fill_(3)
    assert u.is_refdev and list(u.cpu()) == [3] * 10


@check
def pinned_memory():
    assert torch.ones(3).pin_memory().is_pinned()
    assert not torch.ones(3).is_pinned()
    assert not torch.ones(3, device=D).is_pinned()
    assert raises(RuntimeError, lambda: torch.ones(3, device=D).pin_memory())
    data = torch.utils.data.TensorDataset(torch.arange(10.))
    for b, in torch.utils.data.DataLoader(data, 2, pin_memory=True):
        assert b.is_pinned() and b.to(D, non_blocking=True).device.type == D


@check
def sparse():
    x = torch.randn(4, 4).relu()
    for layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
        s = x.to(D).to_sparse(layout=layout)
        assert s.layout == layout and s.device.type == D
        assert torch.equal(s.to_dense().cpu(), x)
        assert torch.equal(s.cpu().to_dense(), x)
        assert torch.equal(x.to_sparse(layout=layout).to(D).to_dense().cpu(),
                           x)
    s = x.to(D).to_sparse()
    s.add_(s)
    assert torch.equal(s.to_dense().cpu(), 2 * x)
    s.coalesce()._values().zero_()
    b = x.to(D).to_sparse_bsr((2, 2))
    assert torch.equal(b.to_dense().cpu(), x)
    e = torch.nn.Embedding(5, 3, sparse=True).to(D)
    e(torch.tensor([1, 2], device=D)).sum().backward()
    assert e.weight.grad.is_sparse
    torch.optim.SGD(e.parameters(), lr=.1).step()
    assert torch.zeros(2, 3, layout=torch.sparse_csr, device=D)._nnz() == 0


@check
def nested_and_quantized():
    a, b = torch.randn(2, 3, device=D), torch.randn(4, 3, device=D)
    n = torch.nested.nested_tensor([a, b])
    assert n.device.type == D and torch.equal((n * 2).unbind()[1], b * 2)
    assert torch.nested.to_padded_tensor(n, 0.).shape == (2, 4, 3)
    F.linear(n, torch.randn(5, 3, device=D))
    torch.nested.nested_tensor([a, b], layout=torch.jagged).unbind()
    q = torch.quantize_per_tensor(a, .1, 0, torch.qint8)
    want = torch.quantize_per_tensor(a.cpu(), .1, 0, torch.qint8)
    assert torch.equal(q.dequantize().cpu(), want.dequantize())
    assert torch.equal(q.cpu().int_repr(), want.int_repr())


@check
def training():
    for kw in ({}, {"foreach": True}, {"fused": True}):
        got = []
        for dev in ("cpu", D):
            torch.manual_seed(0)
            m = torch.nn.Linear(4, 4).to(dev)
            o = torch.optim.Adam(m.parameters(), lr=.01, **kw)
            x = torch.linspace(-1, 1, 8).view(2, 4).to(dev)
            for _ in range(3):
                o.zero_grad()
                m(x).pow(2).sum().backward()
                o.step()
            got.append(m.weight.detach().cpu())
        assert torch.allclose(*got, atol=1e-6)


@check
def autocast():
    x = torch.randn(4, 4, device=D)
    with torch.autocast(D, dtype=torch.bfloat16):
        assert (x @ x).dtype == torch.bfloat16
        assert torch.exp(x.half()).dtype == torch.float32
    with torch.autocast("cpu"):
        assert (x @ x).dtype == torch.float32
    w = torch.ones(3, device=D, requires_grad=True)
    o = torch.optim.SGD([w], .1)
    s = torch.amp.GradScaler(D)
    s.scale((w * 2).sum()).backward()
    s.step(o)
    assert torch.allclose(w.detach().cpu(), torch.full((3,), .8))


@check
def recurrent():
    for kind in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
        torch.manual_seed(0)
        m = kind(4, 5, 2, batch_first=True, bidirectional=True)
        d = copy.deepcopy(m).to(D)
        x = torch.randn(2, 3, 4)
        m(x)[0].pow(2).sum().backward()
        d(x.to(D))[0].pow(2).sum().backward()
        for p, q in zip(m.parameters(), d.parameters()):
            assert torch.allclose(p.grad, q.grad.cpu(), atol=1e-5)
        p = torch.nn.utils.rnn.pack_padded_sequence(x.to(D), [3, 2], True)
        torch.nn.utils.rnn.pad_packed_sequence(d(p)[0])


@check
def attention():
    q = torch.randn(2, 4, 8, 16)
    got = [F.scaled_dot_product_attention(t, t, t, is_causal=True).cpu()
           for t in (q, q.to(D))]
    assert torch.equal(*got)


@check
def transforms():
    x = torch.randn(3, 4, device=D)
    torch.func.vmap(lambda a: a.sin().sum())(x)
    torch.func.grad(lambda a: a.sin().sum())(x)
    torch.func.jvp(torch.sin, (x,), (x,))
    y = torch.randn(3, device=D, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(torch.sin, (y,))
    assert torch.autograd.gradgradcheck(torch.sin, (y,))
    f = torch.compile(lambda a: a.sin() + a.cos(), backend="aot_eager")
    assert torch.allclose(f(x), x.sin() + x.cos())
    repr(x)


def main(names):
    bad = n = 0
    for f in CHECKS:
        if names and f.__name__ not in names:
            continue
        n += 1
        try:
            f()
            print(f"ok {n} - {f.__name__}", flush=True)
        except Exception:
            bad += 1
            print(f"not ok {n} - {f.__name__}")
            for line in traceback.format_exc().splitlines():
                print("#", line)
    print(f"1..{n}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
