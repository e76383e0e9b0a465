"""Ops where arguments, types and values meet in ways that samples leave out."""
import torch
import torch.nn.functional as F
from suite import FLOATS, INTS, case

HALVES = ("float32", "float16", "bfloat16")


@case("clamp_promotes", ("int64", "int32"), level=2)
def _(make):
    x = make(5)
    yield torch.clamp, (x, 0.1)
    yield torch.clamp, (torch.tensor(0, dtype=x.dtype), 0.1)
    yield torch.clamp, (x,), {"max": 2.5}
    yield torch.clamp, (x,), {"min": -1.5, "max": 1.5}


@case("scalar_promotion", ("int64", "int32", "uint8", "bool", "float16"),
      level=2)
def _(make):
    x = make(5)
    for fn in (torch.add, torch.mul, torch.sub if x.dtype is not torch.bool
               else torch.mul):
        yield fn, (x, 2)
        yield fn, (x, 2.5)
        yield fn, (x, torch.tensor(2.5, dtype=torch.float64))
        yield fn, (torch.tensor(3, dtype=torch.int64), x)


@case("cpu_scalar_mixed", ("float32", "int64"), level=2)
def _(make):
    for fn in (torch.add, torch.mul, torch.sub, torch.maximum):
        yield keep_second_on_cpu(fn), (make(4, 3), 5)


def keep_second_on_cpu(fn):
    def call(x, n):
        return fn(x, torch.tensor(n, dtype=x.dtype))
    return call


@case("shift_by_0dim", ("int64", "int32", "uint8"), level=2)
def _(make):
    order = torch.tensor([0, 1, 2])
    x = torch.arange(-12, 12).to(make(1).dtype).reshape(4, 6)
    for i in range(3):
        yield lambda x, o, i=i: x >> (o[i] * 2).to(x.dtype), (x, order)
        yield lambda x, o, i=i: x << o[i].to(x.dtype), (x, order)


# What a device that has 32 bits for 64 gets wrong.
@case("shift_beyond_32_bits", ("int64",), level=2)
def _(make):
    one, many = torch.tensor([1, -1, 3, 5]), torch.arange(0, 61)
    wide = torch.tensor([2 ** 62 + 1, -2 ** 62 - 3, 2 ** 40 + 7, -2 ** 33])
    yield torch.bitwise_left_shift, (one[:, None], many)
    yield torch.bitwise_right_shift, (wide[:, None], many)
    yield torch.bitwise_left_shift, (one, 40)
    yield torch.bitwise_right_shift, (wide, 35)
    yield lambda x, n: x.__ilshift__(n), (one.clone(), many[33:37])


@case("pow_beyond_32_bits", ("int64",), level=2)
def _(make):
    x = torch.tensor([3, -3, 46341, -65537, 2097151])
    n = torch.tensor([39, 37, 3, 3, 2])
    yield torch.pow, (x, n)
    yield torch.pow, (x, 2)
    yield torch.pow, (x, 3)
    yield torch.pow, (3, torch.arange(40))
    yield lambda x, n: x.pow_(n), (x.clone(), n)


# The database's samples have a divisor that leaves the padding no part.
@case("avg_pool_counts_padding", FLOATS, level=2)
def _(make):
    for fn, sizes in ((F.avg_pool1d, (7,)), (F.avg_pool2d, (7, 6)),
                      (F.avg_pool3d, (5, 6, 7))):
        for count in (False, True):
            for stride in (1, 2):
                yield fn, (make(2, 3, *sizes), 3, stride, 1), {
                    "count_include_pad": count}
                yield fn, (make(2, 3, *sizes), 3, stride, 1), {
                    "count_include_pad": count, "ceil_mode": True}


@case("order_of_infinities", FLOATS, level=2)
def _(make):
    inf = float("inf")
    x = torch.tensor([[3, -inf, 7, 0.5, inf, -2],
                      [-inf, 4, 1, -1, 2, -8],
                      [-7, inf, -3, -1, -5, -9]]).to(make.dtype)
    for descending in (False, True):
        yield torch.sort, (x,), {"descending": descending}
        yield torch.argsort, (x,), {"descending": descending}
    for largest in (False, True):
        yield torch.topk, (x, 3), {"largest": largest}
        yield torch.topk, (x, 2, 0), {"largest": largest}
    yield torch.msort, (x,)
    for k in (1, 2, 6):
        yield torch.kthvalue, (x, k)
    yield torch.median, (x, 1)


@case("floor_divide_exact", ("int32", "int64", "int16", "float32"), level=2)
def _(make):
    n = torch.arange(-22, 23)
    d = torch.tensor([28, -28, 3, -3, 7, 49, 1, -1])
    kind = make(1).dtype
    x, y = (n[:, None] * d).to(kind), d.to(kind)
    yield torch.floor_divide, (x, y)
    yield torch.div, (x, y), {"rounding_mode": "floor"}
    yield torch.div, (x, y), {"rounding_mode": "trunc"}
    yield torch.remainder, (x, y)


@case("sum_wraps", ("uint8", "int8", "int32"), level=2)
def _(make):
    info = torch.iinfo(make(1).dtype)
    x = torch.tensor([info.max, 10, 7], dtype=make(1).dtype)
    yield torch.sum, (x,), {"dtype": x.dtype}
    yield torch.add, (x, x)
    yield torch.mul, (x, x)
    yield torch.cumsum, (x, 0), {"dtype": x.dtype}
    yield torch.prod, (x,), {"dtype": x.dtype}


@case("wide_integers", ("int64",), level=2)
def _(make):
    x = torch.tensor([2**24 + 1, -(2**24 + 3), 2**31 + 5, 2**32 + 7,
                      -(2**33 + 7), 2**53 + 1, -(2**63 - 1), 2**62 + 3])
    for fn in (torch.abs, torch.neg, torch.sign, torch.bitwise_not,
               torch.clone, torch.amax, torch.sum):
        yield fn, (x,)
    yield torch.add, (torch.arange(6), 2**32)
    yield torch.mul, (torch.arange(6), 2**33 + 1)
    yield torch.eq, (x, x + 1)
    yield torch.sort, (x,)
    yield torch.maximum, (x, x + 1)


@case("float64_is_float64", ("float64",), level=2)
def _(make):
    x = 1 + torch.arange(1, 17, dtype=torch.float64).reshape(4, 4) * 2.0**-45
    y = 1 + torch.arange(17, 1, -1, dtype=torch.float64).reshape(4, 4) / 2**40
    for fn in (torch.add, torch.sub, torch.mul, torch.div, torch.mm):
        yield fn, (x, y)
    for fn in (torch.exp, torch.log, torch.sin, torch.sqrt, torch.sum):
        yield fn, (x,)


@case("nan_in_extremes", ("float32", "float16", "float64"), level=2)
def _(make):
    for n in (3, 32):
        for at in (0, n // 2, n - 1):
            x = make(n)
            x[at] = float("nan")
            for fn in (torch.max, torch.min, torch.argmax, torch.argmin,
                       torch.amax, torch.amin, torch.sum, torch.median):
                yield fn, (x,)
            yield torch.max, (x, 0)
            yield torch.maximum, (x, make(n))
            yield F.max_pool1d, (x.reshape(1, 1, n), 3)


@case("limits_of_activations", ("float32", "float16", "bfloat16", "float64"),
      level=2)
def _(make):
    x = torch.tensor([-float("inf"), -100.0, -0.0, 0.0, 100.0,
                      float("inf")]).to(make(1).dtype)
    for fn in (F.silu, F.gelu, F.mish, F.softplus, torch.sigmoid, torch.tanh,
               F.elu, F.selu, F.relu, F.hardswish, F.logsigmoid, torch.exp,
               torch.expm1, torch.log1p, torch.atan, torch.sign,
               torch.erf, torch.rsqrt):
        yield fn, (x,)


@case("nextafter_moves", ("float32", "float64"), level=2)
def _(make):
    x = torch.tensor([0.0, 1.0, -1.0, 1e-40, 3e38]).to(make(1).dtype)
    yield torch.nextafter, (x, x + 1)
    yield torch.nextafter, (x, x - 1)


@case("small_values_survive", FLOATS, level=2)
def _(make):
    x = (make(4, 2000) * 1e-2)
    yield F.softmax, (x, 1)
    yield torch.mul, (x, 1e-3)
    yield F.normalize, (x, 2.0, 1)


@case("out_of_range_refused", ("float32",), level=3)
def _(make):
    for i in (10, -11):
        yield refused(lambda w, i=i: w[torch.tensor([0, i], device="cpu")
                                       .to(w.device)]), (make(10, 3),)
    yield refused(F.embedding), (torch.tensor([0, 10]), make(10, 3))
    for target in ([1, 0, -100], [1, 5, -1]):
        yield refused(F.cross_entropy), (make(3, 2), torch.tensor(target)), \
            {"ignore_index": -1}


def refused(fn):
    """fn as a value: that it raises, or what it gives."""
    def call(*args, **kwargs):
        try:
            result = fn(*args, **kwargs)
            return result.cpu(), result
        except Exception:
            return "refused"
    return call


@case("mixed_devices_refused", ("float32",), level=3)
def _(make):
    def mixed(fn):
        def call(x):
            if x.device.type == "cpu":
                return "refused"
            try:
                fn(x, torch.ones(x.shape))
            except Exception:
                return "refused"
            return "accepted"
        return call

    for fn in (torch.add, torch.mm, torch.maximum):
        yield mixed(fn), (make(3, 3),)
    yield mixed(lambda x, y: F.conv1d(y[None], x[:, :, None])), (make(3, 3),)


@case("batch_norm_mixed_types", ("float16", "bfloat16"), level=3)
def _(make):
    x = make(2, 3, 4)
    yield F.batch_norm, (x, torch.zeros(3), torch.ones(3)),  \
        {"weight": torch.ones(3), "bias": torch.zeros(3)}


@case("index_put_repeated", ("float32", "bfloat16", "int64"), level=2)
def _(make):
    yield put, (make(9), torch.tensor([5, 5, 5, 7]), make(4))
    yield torch.index_add, (make(9), 0, torch.tensor([5, 5, 5, 7]), make(4))
    yield torch.scatter_add, (make(9), 0, torch.tensor([5, 5, 5, 7]), make(4))


def put(x, index, value):
    return x.clone().index_put_((index,), value, accumulate=True)


@case("index_empty", ("float32", "int32"), level=2)
def _(make):
    none = torch.zeros(0, dtype=torch.int64)
    yield torch.scatter, (make(4), 0, none, make(0))
    yield torch.index_add, (make(4), 0, none, make(0))
    yield torch.index_select, (make(4, 2), 0, none)
    yield torch.index_copy, (make(4), 0, none, make(0))
    yield lambda x, i, v: x.clone().index_add_(0, i, v), (make(4), none,
                                                          make(0))


@case("index_put_mask", ("float32", "float16"), level=2)
def _(make):
    mask = torch.arange(171) % 8 == 0

    def assign(x, m, v):
        x = x.clone()
        x[m] = v
        return x, x.sum(0)

    yield assign, (make(171, 20), mask, make(int(mask.sum()), 20))


@case("attention", HALVES, level=2)
def _(make):
    sdpa = F.scaled_dot_product_attention
    q, k, v = make(2, 4, 8, 16), make(2, 4, 8, 16), make(2, 4, 8, 16)
    mask = torch.ones(2, 1, 8, 8, dtype=torch.bool)
    mask[0, 0, :, 5:] = False
    yield sdpa, (q, k, v)
    yield sdpa, (q, k, v), {"attn_mask": mask}
    yield sdpa, (q, k, v), {"is_causal": True}
    yield sdpa, (make(1, 4, 64, 64), make(1, 4, 64, 64),
                 make(1, 4, 64, 64)), {"is_causal": True}


@case("attention_sees_no_future", HALVES, level=3)
def _(make):
    def change_of_past(q, k, v):
        sdpa = F.scaled_dot_product_attention
        other = k.clone()
        other[:, :, -1] += 3
        a = sdpa(q, k, v, is_causal=True)
        b = sdpa(q, other, v, is_causal=True)
        return torch.equal(a[:, :, :-1], b[:, :, :-1])

    for n in (5, 8, 64):
        yield change_of_past, (make(1, 2, n, 16), make(1, 2, n, 16),
                               make(1, 2, n, 16))


@case("complex_lazy_bits", ("complex64",), level=2)
def _(make):
    x, y = make(4, 3, 5), make(4, 5, 2)
    yield torch.bmm, (x, y.conj())
    yield torch.bmm, (x, make(4, 2, 5).mH)
    yield torch.mm, (x[0].conj(), y[0])
    yield torch.einsum, ("bij,bjk->bik", x.conj(), y)
    yield torch.mul, (x, x.conj())
    yield torch.sum, (x.conj(),)


@case("sparse_broadcast", ("float32",), level=5, capability="sparse")
def _(make):
    yield lambda a, b: (a.to_sparse() * b).to_dense(), (make(1, 3),
                                                       make(4, 3))


@case("solve", ("float32", "float64"), level=3)
def _(make):
    a = make(3, 4, 4) + 8 * torch.eye(4)
    yield torch.linalg.solve, (a, make(3, 4, 2))
    yield torch.linalg.inv, (a,)
    yield torch.linalg.det, (a,)


# Statistics that are kept are written to where they are, and not beside that.
@case("running_statistics", ("float32",), level=3)
def _(make):
    aten = torch.ops.aten
    x = make(3, 4, 5)
    for fn in (
            lambda *a: F.batch_norm(*a, training=True, momentum=0.25),
            lambda x, m, v: F.instance_norm(x, m, v, momentum=0.25),
            lambda x, m, v: aten.native_batch_norm(
                x, None, None, m, v, True, 0.25, 1e-5)[0],
            lambda x, m, v: aten._native_batch_norm_legit(
                x, None, None, m, v, True, 0.25, 1e-5)[0]):
        for place in (slice(2, 6), slice(1, 9, 2)):
            yield fn, (x, make(9)[place], make(9, low=0.5, high=2)[place])


# Overloads that Python's operators don't lead to: C++ calls them, as do models
# that were exported.
SCALAR = ("add", "sub", "rsub", "mul", "div", "floor_divide", "remainder",
          "fmod", "pow", "copysign", "xlogy", "eq", "ne", "lt", "le", "gt",
          "ge", "bitwise_and", "bitwise_or", "bitwise_xor",
          "bitwise_left_shift", "bitwise_right_shift", "clamp_min",
          "clamp_max", "fill", "where", "bucketize", "searchsorted")


def with_scalars(name):
    """(overload, name) of those of an op that take a tensor and a number."""
    for op in (name, name + "_"):
        packet = getattr(torch.ops.aten, op, None)
        for overload in packet.overloads() if packet else ():
            fn = getattr(packet, overload)
            args = fn._schema.arguments
            kinds = [str(a.type) for a in args[:2]]
            if kinds == ["Tensor", "number"] and not any(
                    a.alias_info and a.is_out for a in args):
                yield fn


@case("scalar_overloads", ("float32", "int64", "bool", "complex64"), level=3)
def _(make):
    x, within = make(3, 5), make(6, 11)[1:, 1::2]
    for name in SCALAR:
        for fn in with_scalars(name):
            for n in (3, 0.75):
                try:
                    fn(x.clone(), n)
                except RuntimeError:
                    continue
                yield fn, (x, n)
                yield fn, (x.t(), n)
                yield fn, (within, n)
