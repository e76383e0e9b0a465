"""Quantised tensors: integers with a scale and a zero point, and functions that
only pretend to quantise.  Everything is looked at as integers and as floats."""
import io

import torch
import torch.nn.functional as F
from suite import case, refused

NATIVE = {"level": 5, "capability": "native_quantization"}
KINDS = (torch.quint8, torch.qint8, torch.qint32)


def told(*results):
    """Integers, parameters and the values that they stand for."""
    return [(r.int_repr(), r.dequantize(), parameters(r)) for r in results]


def parameters(q):
    if q.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        return str(q.qscheme()), q.q_scale(), q.q_zero_point()
    return (str(q.qscheme()), q.q_per_channel_scales(),
            q.q_per_channel_zero_points(), q.q_per_channel_axis())


def zero_of(kind):
    return 3 if kind is torch.quint8 else -2


def layouts(make):
    """Among them values far beyond what the integers hold."""
    yield make(3, 4, low=-4, high=4)
    yield make(4, 3, low=-40, high=40).t()
    yield make(4, 6, low=-4, high=4)[1:, 1::2]
    yield make(low=-4, high=4)
    yield make(0, 3)
    # Halves, which are rounded to even.
    yield torch.arange(-6, 7) * 0.05 + 0.025


def per_tensor(x, kind, scale=0.05):
    return torch.quantize_per_tensor(x, scale, zero_of(kind), kind)


def channels(x, axis, kind):
    n = x.shape[axis]
    scales = torch.linspace(0.02, 0.2, n, dtype=torch.float64)
    zeros = torch.arange(n) + zero_of(kind)
    if kind is torch.qint32:
        zeros = zeros * 0
    return torch.quantize_per_channel(x, scales.to(x.device),
                                      zeros.to(x.device), axis, kind)


@case("per_tensor", ("float32",), **NATIVE)
def _(make):
    for kind in KINDS:
        for x in layouts(make):
            yield lambda x, kind=kind: told(per_tensor(x, kind)), (x,)

    def by_tensors(x, scale, zero):
        return told(torch.quantize_per_tensor(x, scale, zero, torch.quint8))
    yield by_tensors, (make(3, 4, low=-4, high=4), torch.tensor(0.04),
                       torch.tensor(7))


@case("per_channel", ("float32",), **NATIVE)
def _(make):
    for kind in KINDS:
        for axis in (0, 1):
            def run(x, kind=kind, axis=axis):
                return told(channels(x, axis, kind))
            yield run, (make(3, 4, low=-4, high=4),)
            yield run, (make(4, 3, low=-4, high=4).t(),)
            yield run, (make(2, 3, 4, low=-4, high=4),)


@case("dynamic", ("float32",), **NATIVE)
def _(make):
    for kind in KINDS[:2]:
        for reduced in (False, True):
            yield lambda x, k=kind, r=reduced: told(
                torch.quantize_per_tensor_dynamic(x, k, r)), (
                make(5, 4, low=-3, high=8),)


@case("dequantized", ("float32",), **NATIVE)
def _(make):
    def several(x, y):
        return torch.dequantize([per_tensor(x, torch.qint8),
                                 per_tensor(y, torch.quint8)])
    yield several, (make(3, 4, low=-4, high=4), make(2, low=-4, high=4))

    def made(x):
        q = torch.quantize_per_tensor(x, 0.1, 5, torch.quint8)
        r = torch._make_per_tensor_quantized_tensor(q.int_repr() + 1, 0.2, 4)
        return told(r)
    yield made, (make(3, 4, low=-4, high=4),)


@case("views", ("float32",), **NATIVE)
def _(make):
    def run(x):
        q = per_tensor(x, torch.quint8)
        return told(q.view(4, 3), q.t(), q[1:, ::2], q.reshape(-1), q[2],
                    q.clone(), q.t().contiguous(), q.unsqueeze(0),
                    torch.cat([q, q]), q.flatten(), q.transpose(0, 1)[1:])
    yield run, (make(3, 4, low=-4, high=4),)

    def channelwise(x):
        q = channels(x, 0, torch.qint8)
        return told(q.clone(), q.view(3, 4), q.contiguous())
    yield channelwise, (make(3, 4, low=-4, high=4),)


@case("written", ("float32",), **NATIVE)
def _(make):
    def run(x, y):
        q = per_tensor(x, torch.quint8)
        r = q.clone().copy_(y)
        s = q.clone()
        s[1:] = 2.0
        t = q.clone().fill_(1.0)
        return told(r, s, t, q)
    yield run, (make(3, 4, low=-4, high=4), make(3, 4, low=-4, high=4))


@case("moved", ("float32",), **NATIVE)
def _(make):
    def run(x):
        q = per_tensor(x, torch.qint8)
        c = channels(x, 1, torch.qint8)
        host = q.cpu()
        f = io.BytesIO()
        torch.save([q, c], f)
        f.seek(0)
        loaded = torch.load(f, weights_only=False)
        return (told(host.to(x.device), c.cpu().to(x.device), *loaded),
                host.device.type, loaded[0].device == x.device)
    yield run, (make(3, 4, low=-4, high=4),)


@case("compared", ("float32",), **NATIVE)
def _(make):
    def run(x):
        q = per_tensor(x, torch.quint8)
        other = torch.quantize_per_tensor(x, 0.06, 3, torch.quint8)
        return (torch.equal(q, q.clone()), torch.equal(q, other),
                q.is_quantized, x.is_quantized, q.dequantize() > 0.5)
    yield run, (make(3, 4, low=-4, high=4),)


@case("activations", ("float32",), **NATIVE)
def _(make):
    for kind in KINDS[:2]:
        def run(x, kind=kind):
            q = per_tensor(x, kind)
            return told(torch.relu(q), F.hardtanh(q, -1., 1.),
                        torch.clamp(q, -0.5, 0.75), torch.sigmoid(q),
                        torch.tanh(q), F.leaky_relu(q, 0.25))
        yield run, (make(3, 4, low=-4, high=4),)


@case("images", ("float32",), **NATIVE)
def _(make):
    def run(x):
        q = per_tensor(x, torch.quint8)
        return told(F.max_pool2d(q, 2), F.avg_pool2d(q, 2),
                    F.adaptive_avg_pool2d(q, 2),
                    F.interpolate(q, scale_factor=2, mode="nearest"),
                    torch.mean(q, (2, 3)), F.pad(q, (1, 1, 0, 2)))
    yield run, (make(2, 3, 4, 6, low=-4, high=4),)


@case("arithmetic", ("float32",), **NATIVE)
def _(make):
    """PyTorch's own quantised ops."""
    def run(x, y):
        q, r = per_tensor(x, torch.quint8), per_tensor(y, torch.quint8)
        ops = torch.ops.quantized
        return told(ops.add(q, r, 0.1, 4), ops.mul(q, r, 0.3, 9),
                    ops.add_relu(q, r, 0.1, 4), ops.cat([q, r], 0, 0.08, 2))
    yield run, (make(3, 4, low=-4, high=4), make(3, 4, low=-4, high=4))


@case("pretended", ("float32", "float16", "bfloat16", "float64"), **NATIVE)
def _(make):
    for lo, hi in ((0, 255), (-128, 127), (-8, 7)):
        zero = (lo + hi + 1) // 2

        def run(x, lo=lo, hi=hi, zero=zero):
            return torch.fake_quantize_per_tensor_affine(x, 0.05, zero, lo, hi)

        def grad(x, lo=lo, hi=hi, zero=zero):
            x = x.detach().requires_grad_()
            y = torch.fake_quantize_per_tensor_affine(x, 0.05, zero, lo, hi)
            return torch.autograd.grad(y, x, torch.full_like(y, 1.5))
        for x in (make(3, 4, low=-8, high=8), make(4, 6, low=-8,
                                                   high=8)[1:, 1::2]):
            yield run, (x,)
            yield grad, (x,)


@case("pretended_by_channel", ("float32",), **NATIVE)
def _(make):
    def run(x, scale, zero, axis):
        x = x.detach().requires_grad_()
        y = torch.fake_quantize_per_channel_affine(x, scale, zero, axis, -128,
                                                   127)
        return y.detach(), torch.autograd.grad(y, x, torch.full_like(y, 1.5))
    for axis in (0, 1):
        n = (3, 4)[axis]
        yield run, (make(3, 4, low=-30, high=30), torch.linspace(0.02, 0.2, n),
                    torch.arange(n, dtype=torch.int32) - 1, axis)


@case("learned", ("float32",), **NATIVE)
def _(make):
    """The scale and the zero point have gradients, too."""
    def run(x, scale, zero):
        x, scale, zero = (t.detach().requires_grad_()
                          for t in (x, scale, zero))
        y = torch._fake_quantize_learnable_per_tensor_affine(
            x, scale, zero, -128, 127, 0.5)
        return y.detach(), torch.autograd.grad(y, (x, scale, zero),
                                               torch.full_like(y, 1.5))
    yield run, (make(3, 4, low=-8, high=8), torch.tensor([0.05]),
                torch.tensor([2.0]))


@case("refused", ("float32",), **NATIVE)
def _(make):
    for fn in (lambda x: torch.quantize_per_tensor(x, 0.1, 300, torch.quint8),
               lambda x: per_tensor(per_tensor(x, torch.quint8), torch.qint8),
               lambda x: x.int_repr(),
               lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 5,
                                                               -5)):
        yield refused(fn), (make(3, 4),)
