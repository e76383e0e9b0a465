"""Shapes at which kernels change their path: one more or less than a power of
two, an inner dimension of 0 or 1, sizes that no tile divides."""
import torch
import torch.nn.functional as F
from suite import FLOATS, INTS, case

HALVES = ("float32", "float16", "bfloat16")
EDGES = (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129,
         255, 256, 257, 1023, 1024, 1025)


@case("add_edges", FLOATS + INTS, level=2)
def _(make):
    for n in EDGES:
        yield torch.add, (make(n), make(n))


@case("reduce_edges", ("float32", "int64", "int32"), level=2)
def _(make):
    for n in EDGES:
        x = make(2, n)
        yield torch.sum, (x,)
        yield torch.sum, (x, 0)
        yield torch.amax, (x, 1)
        yield torch.mean if x.is_floating_point() else torch.prod, (x, 1)


@case("any_all_edges", ("bool",), level=2)
def _(make):
    for n in EDGES:
        for x in (torch.zeros(1, n, dtype=torch.bool),
                  torch.ones(1, n, dtype=torch.bool), make(1, n)):
            yield torch.any, (x,)
            yield torch.all, (x,)


@case("matmul_edges", HALVES, level=2)
def _(make):
    for n in EDGES[:18]:
        yield torch.mm, (make(n, 5), make(5, n))
        yield torch.mm, (make(3, n), make(n, 4))


@case("bmm_edges", HALVES, level=3)
def _(make):
    for n in EDGES[:18]:
        yield torch.bmm, (make(2, n, 3), make(2, n, 3).transpose(1, 2))


@case("linear_inner_0", FLOATS, level=2)
def _(make):
    yield F.linear, (make(3, 4, 0), make(5, 0), make(5))
    yield F.linear, (make(3, 4, 0), make(5, 0))
    yield torch.mm, (make(3, 0), make(0, 4))
    yield torch.bmm, (make(2, 3, 0), make(2, 0, 4))
    yield torch.addmm, (make(3, 4), make(3, 0), make(0, 4))


@case("linear_batch_expanded", FLOATS, level=3)
def _(make):
    yield F.linear, (make(1, 49, 76).expand(5, 49, 76), make(7, 76), make(7))


@case("linear_many_rows", ("float32",), level=4)
def _(make):
    for rows in (32767, 32768, 32769):
        yield gradients_of(F.linear), (make(rows, 3, grad=True),
                                       make(2, 3, grad=True),
                                       make(2, grad=True))


def gradients_of(fn):
    def backward(*args):
        leaves = [a for a in args if a.requires_grad]
        return torch.autograd.grad(fn(*args).sum(), leaves)
    return backward


@case("conv1d_many_channels", ("float32",), level=4)
def _(make):
    for n in (65535, 65536, 65537):
        yield F.conv1d, (make(1, 1, 3), make(n, 1, 1))


@case("conv2d_kernel_and_stride", ("float32",), level=3)
def _(make):
    for size, kernel, stride in ((66, 16, 10), (17, 5, 4), (9, 4, 3)):
        yield F.conv2d, (make(2, 1, size, size), make(8, 1, kernel, kernel)), \
            {"stride": stride}


@case("conv2d_weight_slice", ("float32", "float16"), level=3)
def _(make):
    yield F.conv2d, (make(2, 8, 9, 9), make(3, 8, 3, 3, 3)[:, :, 1])


@case("conv_transpose_stride", ("float32",), level=2)
def _(make):
    yield F.conv_transpose1d, (make(1, 1, 2), make(1, 1, 2)), {"stride": 2}
    yield F.conv_transpose1d, (make(2, 3, 5), make(3, 4, 3)), {"stride": 3}
    yield F.conv_transpose2d, (make(1, 2, 3, 4), make(2, 3, 2, 3)), \
        {"stride": (2, 3)}


@case("conv_transpose_output_padding", ("float32",), level=3)
def _(make):
    for padding in (1, 2):
        yield refused(F.conv_transpose1d), (make(1, 1, 4), make(1, 1, 3)), \
            {"output_padding": padding}


def refused(fn):
    """fn as a value: the name of what it raises, or what it gives."""
    def call(*args, **kwargs):
        try:
            return fn(*args, **kwargs)
        except Exception as e:
            return type(e).__name__
    return call


@case("replication_pad_batch", ("float32",), level=4)
def _(make):
    for n in (65535, 65536, 65537):
        yield gradients_of(lambda x: F.pad(x, (3, 4), mode="replicate")), (
            make(n, 2, 4, grad=True),)


@case("adaptive_pool_sizes", ("float32",), level=3)
def _(make):
    for size, out in ((5, 3), (2, 4), (7, 2), (6, 6), (9, 4)):
        yield F.adaptive_max_pool2d, (make(1, 2, size, size), out), \
            {"return_indices": True}
        yield F.adaptive_avg_pool2d, (make(1, 2, size, size), out)


@case("max_pool_ceil", ("float32",), level=3)
def _(make):
    for kernel, stride, size in ((1, 2, (4, 6)), (2, 2, (5, 7)),
                                 (3, 2, (6, 9)), (3, 3, (7, 10))):
        yield F.max_pool2d, (make(1, 1, *size), kernel), \
            {"stride": stride, "ceil_mode": True, "return_indices": True}


@case("interpolate_sizes", ("float32",), level=3)
def _(make):
    for mode in ("nearest", "nearest-exact", "linear"):
        for size in (1, 2, 3, 7, 20):
            for out in (1, 3, 11, 20):
                corners = {"align_corners": True} if mode == "linear" else {}
                yield F.interpolate, (make(3, 2, size),), \
                    {"size": out, "mode": mode, **corners}


@case("cat_channels_last", ("float32", "int32"), level=3)
def _(make):
    x = make(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    y = make(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    for dim in range(4):
        yield torch.cat, ([x, y], dim)


@case("channels_last_with_offset", ("float32",), level=3)
def _(make):
    x = make(1, 65, 64)[:, 1:].reshape(1, 8, 8, 64).permute(0, 3, 1, 2)
    yield F.avg_pool2d, (x, 2)
    yield F.batch_norm, (x, None, None), {"training": True}
    yield F.batch_norm, (x, make(64), make(64, low=0.5, high=2))
    yield torch.mul, (x, 3)


@case("arange_large", ("int64",), level=8, mb=34000)
def _(make):
    yield lambda device: torch.arange(2**32 + 2**20, device=device)[
        [0, 2**31, 2**32 - 1, 2**32, -1]], (torch.device("cpu"),)


@case("column_slice_of_large", ("float32",), level=4)
def _(make):
    x = make(4096, 464)[:, 100:146]
    yield torch.isfinite, (x,)
    yield torch.isinf, (x,)
    yield torch.neg, (x,)
