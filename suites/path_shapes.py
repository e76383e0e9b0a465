"""Shapes at which kernels change their path: one more or less than a power of
two, an inner dimension of 0 or 1, sizes that no tile divides."""
import torch
import torch.nn.functional as F
from suite import FLOATS, INTS, case as declare


def case(name, dtypes=("float32",), tier="standard", cost="low",
         role="boundary", **more):
    """@case, with tags: name is "family/category/op"."""
    family, category, op = name.split("/")
    return declare(op, dtypes, tags={
        "family": family, "category": category, "tier": tier, "cost": cost,
        "role": role, "runner": "eager"}, **more)


HALVES = ("float32", "float16", "bfloat16")
EDGES = (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129,
         255, 256, 257, 1023, 1024, 1025)
# One more or less than what a 16-bit count can hold.
GRID = (65535, 65536, 65537)


def around(*powers):
    return [n + d for n in powers for d in (-1, 0, 1)]


def each(name, fn, args, dtypes=("float32",), **more):
    """A case with a sample for each of what args(make) gives, a tuple or a
    tuple and a dict."""
    @case(name, dtypes, **more)
    def _(make):
        for sample in args(make):
            if isinstance(sample[-1], dict):
                yield fn, sample[:-1], sample[-1]
            else:
                yield fn, sample


@case("broadcasting/vector_tail/add_edges", FLOATS + INTS, level=2,
      tier="smoke")
def _(make):
    for n in EDGES:
        yield torch.add, (make(n), make(n))


@case("reduction/vector_tail/reduce_edges", ("float32", "int64", "int32"),
      level=2, tier="smoke")
def _(make):
    for n in EDGES:
        x = make(2, n)
        yield torch.sum, (x,)
        yield torch.sum, (x, 0)
        yield torch.amax, (x, 1)
        yield torch.mean if x.is_floating_point() else torch.prod, (x, 1)


@case("reduction/vector_tail/any_all_edges", ("bool",), level=2)
def _(make):
    for n in EDGES:
        for x in (torch.zeros(1, n, dtype=torch.bool),
                  torch.ones(1, n, dtype=torch.bool), make(1, n)):
            yield torch.any, (x,)
            yield torch.all, (x,)


@case("matmul/tile_edge/matmul_edges", HALVES, level=2, tier="smoke")
def _(make):
    for n in EDGES[:18]:
        yield torch.mm, (make(n, 5), make(5, n))
        yield torch.mm, (make(3, n), make(n, 4))


@case("matmul/tile_edge/bmm_edges", HALVES, level=3)
def _(make):
    for n in EDGES[:18]:
        yield torch.bmm, (make(2, n, 3), make(2, n, 3).transpose(1, 2))


@case("matmul/empty/linear_inner_0", FLOATS, level=2)
def _(make):
    yield F.linear, (make(3, 4, 0), make(5, 0), make(5))
    yield F.linear, (make(3, 4, 0), make(5, 0))
    yield torch.mm, (make(3, 0), make(0, 4))
    yield torch.bmm, (make(2, 3, 0), make(2, 0, 4))
    yield torch.addmm, (make(3, 4), make(3, 0), make(0, 4))


@case("matmul/layout/linear_batch_expanded", FLOATS, level=3)
def _(make):
    yield F.linear, (make(1, 49, 76).expand(5, 49, 76), make(7, 76), make(7))


@case("matmul/grid_limit/linear_many_rows", ("float32",), level=4)
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


@case("convolution/grid_limit/conv1d_many_channels", ("float32",), level=4)
def _(make):
    for n in (65535, 65536, 65537):
        yield F.conv1d, (make(1, 1, 3), make(n, 1, 1))


@case("convolution/window/conv2d_kernel_and_stride", ("float32",), level=3)
def _(make):
    for size, kernel, stride in ((66, 16, 10), (17, 5, 4), (9, 4, 3)):
        yield F.conv2d, (make(2, 1, size, size), make(8, 1, kernel, kernel)), \
            {"stride": stride}


@case("convolution/layout/conv2d_weight_slice", ("float32", "float16"),
      level=3)
def _(make):
    yield F.conv2d, (make(2, 8, 9, 9), make(3, 8, 3, 3, 3)[:, :, 1])


@case("convolution/window/conv_transpose_stride", ("float32",), level=2)
def _(make):
    yield F.conv_transpose1d, (make(1, 1, 2), make(1, 1, 2)), {"stride": 2}
    yield F.conv_transpose1d, (make(2, 3, 5), make(3, 4, 3)), {"stride": 3}
    yield F.conv_transpose2d, (make(1, 2, 3, 4), make(2, 3, 2, 3)), \
        {"stride": (2, 3)}


@case("convolution/window/conv_transpose_output_padding", ("float32",),
      level=3)
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


@case("indexing/grid_limit/replication_pad_batch", ("float32",), level=4)
def _(make):
    for n in (65535, 65536, 65537):
        yield gradients_of(lambda x: F.pad(x, (3, 4), mode="replicate")), (
            make(n, 2, 4, grad=True),)


@case("reduction/window/adaptive_pool_sizes", ("float32",), level=3)
def _(make):
    for size, out in ((5, 3), (2, 4), (7, 2), (6, 6), (9, 4)):
        yield F.adaptive_max_pool2d, (make(1, 2, size, size), out), \
            {"return_indices": True}
        yield F.adaptive_avg_pool2d, (make(1, 2, size, size), out)


@case("reduction/window/max_pool_ceil", ("float32",), level=3)
def _(make):
    for kernel, stride, size in ((1, 2, (4, 6)), (2, 2, (5, 7)),
                                 (3, 2, (6, 9)), (3, 3, (7, 10))):
        yield F.max_pool2d, (make(1, 1, *size), kernel), \
            {"stride": stride, "ceil_mode": True, "return_indices": True}


@case("indexing/window/interpolate_sizes", ("float32",), level=3)
def _(make):
    for mode in ("nearest", "nearest-exact", "linear"):
        for size in (1, 2, 3, 7, 20):
            for out in (1, 3, 11, 20):
                corners = {"align_corners": True} if mode == "linear" else {}
                yield F.interpolate, (make(3, 2, size),), \
                    {"size": out, "mode": mode, **corners}


@case("indexing/layout/cat_channels_last", ("float32", "int32"), level=3)
def _(make):
    x = make(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    y = make(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    for dim in range(4):
        yield torch.cat, ([x, y], dim)


@case("normalization/layout/channels_last_with_offset", ("float32",), level=3)
def _(make):
    x = make(1, 65, 64)[:, 1:].reshape(1, 8, 8, 64).permute(0, 3, 1, 2)
    yield F.avg_pool2d, (x, 2)
    yield F.batch_norm, (x, None, None), {"training": True}
    yield F.batch_norm, (x, make(64), make(64, low=0.5, high=2))
    yield torch.mul, (x, 3)


@case("indexing/index_limit/arange_large", ("int64",), level=8,
      mb=34000, tier="stress")
def _(make):
    yield lambda device: torch.arange(2**32 + 2**20, device=device)[
        [0, 2**31, 2**32 - 1, 2**32, -1]], (torch.device("cpu"),)


@case("broadcasting/layout/column_slice_of_large", ("float32",), level=4)
def _(make):
    x = make(4096, 464)[:, 100:146]
    yield torch.isfinite, (x,)
    yield torch.isinf, (x,)
    yield torch.neg, (x,)


# Matrix products: each of the three sizes by itself, then vectors, batches,
# and operands that are read along the other way.

each("matmul/tile_edge/mm_rows", torch.mm,
     lambda make: ((make(n, 17), make(17, 9)) for n in around(16, 64, 128)),
     HALVES)
each("matmul/tile_edge/mm_columns", torch.mm,
     lambda make: ((make(9, 17), make(17, n)) for n in around(16, 64, 128)),
     HALVES)
each("matmul/tile_edge/mm_inner", torch.mm,
     lambda make: ((make(3, n), make(n, 5)) for n in around(256, 1024, 4096)),
     HALVES, role="accumulation")
each("matmul/tile_edge/mm_square", torch.mm,
     lambda make: ((make(n, n), make(n, n)) for n in around(32, 128)),
     HALVES, cost="medium")
each("matmul/layout/mm_transposed", torch.mm,
     lambda make: ((make(n, 31).t(), make(33, n).t())
                   for n in around(8, 32, 64)), HALVES, level=3)
each("matmul/layout/mm_column_slice", torch.mm,
     lambda make: ((make(7, n + 3)[:, 1:n + 1], make(n, 12)[:, ::2])
                   for n in around(16, 64)), HALVES, level=3)
each("matmul/vector/mv", torch.mv,
     lambda make: ((make(n, m), make(m))
                   for n, m in ((1, 1025), (1025, 1), (129, 127), (3, 4097))),
     HALVES)
each("matmul/vector/dot", torch.dot,
     lambda make: ((make(n), make(n)) for n in around(32, 1024, 65536)),
     HALVES, role="accumulation")
each("matmul/vector/outer", torch.outer,
     lambda make: ((make(n), make(7)) for n in (*around(32), *GRID)),
     HALVES)
each("matmul/grid_limit/bmm_many", torch.bmm,
     lambda make: ((make(n, 1, 2), make(n, 2, 1)) for n in GRID), level=3)
each("matmul/grid_limit/mm_many_rows", torch.mm,
     lambda make: ((make(n, 2), make(2, 3)) for n in GRID), level=3)
each("matmul/grid_limit/mm_many_columns", torch.mm,
     lambda make: ((make(2, 3), make(3, n)) for n in GRID), level=3)
each("matmul/fused/addmm_scaled", torch.addmm,
     lambda make: ((make(n), make(5, n), make(n, n), {"beta": b, "alpha": a})
                   for n in around(16) for b, a in ((0, 1), (1, 2), (0.5, 0))),
     HALVES, role="scalars")
each("matmul/fused/baddbmm", torch.baddbmm,
     lambda make: ((make(3, 1, n), make(3, 5, 8), make(3, 8, n))
                   for n in around(16, 64)), HALVES, level=3)
each("matmul/fused/linear_bias", F.linear,
     lambda make: ((make(2, 3, n), make(m, n), make(m))
                   for n in around(64) for m in around(32)), HALVES)
each("matmul/tile_edge/einsum_bhqk", torch.einsum,
     lambda make: (("bhqd,bhkd->bhqk", make(2, 3, n, 8), make(2, 3, n + 1, 8))
                   for n in around(8, 32)), level=4)
each("matmul/tile_edge/mm_heavy", torch.mm,
     lambda make: ((make(n, n), make(n, n)) for n in around(1024)),
     tier="heavy", cost="high")

# Convolutions: every parameter that chooses another algorithm.

each("convolution/channels/conv2d_channels", F.conv2d,
     lambda make: ((make(1, n, 6, 6), make(5, n, 3, 3))
                   for n in (1, 3, 4, *around(8, 32))), HALVES)
each("convolution/channels/conv2d_filters", F.conv2d,
     lambda make: ((make(1, 3, 6, 6), make(n, 3, 3, 3))
                   for n in (1, *around(8, 32))), HALVES)
each("convolution/window/conv2d_kernels", F.conv2d,
     lambda make: ((make(2, 3, 12, 13), make(4, 3, k, m), {"padding": p})
                   for k, m, p in ((1, 1, 0), (1, 3, 1), (2, 2, 1), (3, 3, 1),
                                   (5, 5, 2), (7, 7, 3), (12, 13, 0),
                                   (11, 1, 5)))
     , HALVES)
each("convolution/window/conv2d_stride_dilation", F.conv2d,
     lambda make: ((make(1, 2, 17, 17), make(3, 2, 3, 3),
                    {"stride": s, "dilation": d, "padding": p})
                   for s, d, p in ((1, 2, 0), (2, 1, 1), (2, 2, 2), (3, 3, 3),
                                   (1, 7, 1), ((1, 2), (2, 1), (0, 3)))))
each("convolution/groups/conv2d_groups", F.conv2d,
     lambda make: ((make(2, n, 7, 7), make(n * m, n // g, 3, 3), {"groups": g})
                   for n, m, g in ((4, 1, 2), (4, 2, 4), (33, 1, 33),
                                   (32, 2, 8), (6, 3, 3))), HALVES, level=3)
each("convolution/groups/conv1d_depthwise", F.conv1d,
     lambda make: ((make(1, n, 9), make(n, 1, 3), make(n),
                    {"groups": n, "padding": 1}) for n in around(16, 64)),
     level=3)
each("convolution/tile_edge/conv1d_lengths", F.conv1d,
     lambda make: ((make(2, 3, n), make(4, 3, 3), make(4))
                   for n in (3, *around(16, 64, 1024))), HALVES)
each("convolution/tile_edge/conv3d_sizes", F.conv3d,
     lambda make: ((make(1, 2, n, n, n), make(3, 2, 3, 3, 3))
                   for n in (3, *around(8))), level=3)
each("convolution/grid_limit/conv1d_long", F.conv1d,
     lambda make: ((make(1, 1, n), make(1, 1, 3)) for n in GRID), level=4)
each("convolution/grid_limit/conv2d_batch", F.conv2d,
     lambda make: ((make(n, 1, 2, 2), make(1, 1, 2, 2)) for n in GRID),
     level=4)
each("convolution/layout/conv2d_channels_last", F.conv2d,
     lambda make: ((make(2, n, 6, 6).contiguous(
                       memory_format=torch.channels_last),
                    make(4, n, 3, 3).contiguous(
                       memory_format=torch.channels_last))
                   for n in (1, *around(8, 32))), HALVES, level=3,
     capability="channels_last")
each("convolution/window/conv_transpose2d_dilation", F.conv_transpose2d,
     lambda make: ((make(1, 3, 5, 6), make(3, 2, 3, 3),
                    {"stride": s, "padding": p, "output_padding": o,
                     "dilation": d})
                   for s, p, o, d in ((2, 0, 0, 1), (2, 1, 1, 1),
                                      (3, 1, 2, 1), (2, 1, 0, 2))), level=3)

# Reductions: what one group, one block and one grid can add up.

for fn in (torch.sum, torch.amax, torch.argmin, torch.cumsum,
           torch.logsumexp, torch.var, torch.softmax):
    each("reduction/rows/" + fn.__name__ + "_last", fn,
         lambda make: ((make(3, n), 1) for n in around(32, 256, 1024)),
         role="accumulation")
    each("reduction/columns/" + fn.__name__ + "_first", fn,
         lambda make: ((make(n, 3), 0) for n in around(32, 256, 1024)),
         role="accumulation")
each("reduction/grid_limit/sum_many_rows", torch.sum,
     lambda make: ((make(n, 2), d) for n in GRID for d in (0, 1)), level=3)
each("reduction/grid_limit/argmax_long", torch.argmax,
     lambda make: ((make(n),) for n in GRID), level=3)
each("reduction/dims/sum_several", torch.sum,
     lambda make: ((make(2, 3, 4, 5), dims, keep)
                   for dims in ((0, 1), (0, 2), (1, 3), (0, 1, 2, 3), (-1, 0))
                   for keep in (False, True)), FLOATS + INTS)
each("reduction/empty/reduce_nothing", torch.sum,
     lambda make: ((make(0, 3), 0), (make(3, 0), 1), (make(0, 3), 1),
                   (make(2, 0, 3), (1, 2)), (make(0),)), FLOATS + INTS)
each("reduction/sorting/sort_edges", torch.sort,
     lambda make: ((make(2, n), 1) for n in (1, 2, *around(32, 256, 1024))),
     ("float32", "int64"))
each("reduction/sorting/topk_edges", torch.topk,
     lambda make: ((make(2, n), k) for n in around(32, 256)
                   for k in (1, 8, n)))
each("reduction/sorting/median_even_odd", torch.median,
     lambda make: ((make(3, n), 1) for n in (1, 2, *around(16, 64))))
each("reduction/accumulation/sum_million", torch.sum,
     lambda make: ((make(1 << 20),), (make((1 << 20) + 1),),
                   (make(1024, 1025), 0), (make(1024, 1025), 1)),
     ("float32", "float16", "bfloat16"), cost="medium", level=3)

# Normalisation: the size that is averaged over.

each("normalization/rows/layer_norm_edges", F.layer_norm,
     lambda make: ((make(3, n), (n,), make(n), make(n))
                   for n in (2, *around(32, 256, 1024))), HALVES)
each("normalization/rows/layer_norm_two_dims", F.layer_norm,
     lambda make: ((make(2, m, n), (m, n)) for m, n in
                   ((1, 7), (7, 1), (16, 16), (31, 33))))
each("normalization/rows/softmax_edges", F.log_softmax,
     lambda make: ((make(3, n), 1) for n in around(32, 256, 1024, 4096)),
     HALVES)
each("normalization/columns/softmax_inner", F.softmax,
     lambda make: ((make(2, n, 3), 1) for n in around(32, 256)), HALVES)
each("normalization/channels/batch_norm_edges", F.batch_norm,
     lambda make: ((make(3, n, 2), make(n), make(n, low=0.5, high=2),
                    make(n), make(n)) for n in (1, *around(16, 64))))
each("normalization/channels/batch_norm_training", F.batch_norm,
     lambda make: ((make(m, n, 5), None, None, make(n), make(n),
                    {"training": True})
                   for m, n in ((1, 3), (2, 1), (4, 33), (31, 2))), level=3)
each("normalization/groups/group_norm_edges", F.group_norm,
     lambda make: ((make(2, n, 5), g, make(n), make(n))
                   for n, g in ((1, 1), (6, 3), (32, 8), (33, 33), (64, 1))))
each("normalization/channels/instance_norm", F.instance_norm,
     lambda make: ((make(2, 3, n),) for n in (2, *around(16, 256))))
each("normalization/grid_limit/layer_norm_many", F.layer_norm,
     lambda make: ((make(n, 4), (4,)) for n in GRID), level=4)

# Attention: queries, keys and head sizes that no tile divides.

ATTEND = F.scaled_dot_product_attention
each("attention/tile_edge/attend_lengths", ATTEND,
     lambda make: ((make(1, 2, n, 8), make(1, 2, m, 8), make(1, 2, m, 8))
                   for n in (1, *around(16)) for m in (1, *around(32))),
     level=4)
each("attention/tile_edge/attend_heads", ATTEND,
     lambda make: ((make(2, 2, 9, e), make(2, 2, 11, e), make(2, 2, 11, e))
                   for e in (1, *around(8, 64, 128))), HALVES, level=4)
each("attention/masks/attend_causal", ATTEND,
     lambda make: ((make(1, 2, n, 8), make(1, 2, n, 8), make(1, 2, n, 8),
                    {"is_causal": True}) for n in (1, *around(16, 64))),
     HALVES, level=4)
each("attention/masks/attend_mask", ATTEND,
     lambda make: ((make(2, 2, n, 4), make(2, 2, 9, 4), make(2, 2, 9, 4),
                    {"attn_mask": make(n, 9, dtype=kind)})
                   for n in around(8) for kind in (torch.float32,)), level=4)
each("attention/scale/attend_scale", ATTEND,
     lambda make: ((make(1, 1, 5, 4), make(1, 1, 6, 4), make(1, 1, 6, 4),
                    {"scale": s}) for s in (0.1, 1.0, 3.0)), level=4,
     role="scalars")
each("attention/value_size/attend_other_size", ATTEND,
     lambda make: ((make(1, 2, 5, 8), make(1, 2, 7, 8), make(1, 2, 7, v))
                   for v in (1, 3, 8, 17)), level=4)

# Indexing: how many, from how far, and none.


def indices(make, n, size):
    return make(n, low=0, high=size, dtype=torch.int64)


each("indexing/tile_edge/index_select_edges", torch.index_select,
     lambda make: ((make(n, 3), 0, indices(make, n + 1, n))
                   for n in (1, *around(32, 1024))), FLOATS + INTS)
each("indexing/rows/gather_edges", torch.gather,
     lambda make: ((make(3, n), 1, make(3, n, low=0, high=n,
                                        dtype=torch.int64))
                   for n in (1, *around(32, 256))), ("float32", "int64"))
each("indexing/rows/scatter_add_edges", torch.scatter_add,
     lambda make: ((make(3, n), 1, torch.arange(n).flip(0).expand(3, n),
                    make(3, n)) for n in (1, *around(32, 256))),
     ("float32", "int64"))
each("indexing/rows/index_add_edges", torch.index_add,
     lambda make: ((make(n, 3), 0, torch.randperm(n), make(n, 3))
                   for n in (1, *around(32, 256))), ("float32", "int64"))
each("indexing/rows/embedding_edges", F.embedding,
     lambda make: ((indices(make, 9, n), make(n, m))
                   for n, m in ((1, 1), (3, 33), (1025, 7), (17, 1024))),
     HALVES)
each("indexing/count/masked_select_edges", torch.masked_select,
     lambda make: ((make(n), make(n, dtype=torch.bool))
                   for n in (1, *around(32, 1024))), ("float32", "int64"))
each("indexing/count/nonzero_edges", torch.nonzero,
     lambda make: ((make(2, n),) for n in (0, 1, *around(32, 1024))),
     ("bool", "int32"))
each("indexing/count/unique_edges", torch.unique,
     lambda make: ((make(n, low=0, high=9),) for n in (1, *around(32, 256))),
     ("int64", "int32"))
each("indexing/empty/index_nothing", torch.index_select,
     lambda make: ((make(4, 3), 0, indices(make, 0, 4)),
                   (make(4, 0), 0, indices(make, 3, 4)),
                   (make(0, 3), 0, indices(make, 0, 1))))
each("indexing/grid_limit/gather_long", torch.gather,
     lambda make: ((make(n), 0, indices(make, n, n)) for n in GRID), level=3)
each("indexing/grid_limit/flip_long", torch.flip,
     lambda make: ((make(n, 2), (d,)) for n in GRID for d in (0, 1)), level=3)
each("indexing/shift/roll_edges", torch.roll,
     lambda make: ((make(2, n), s, 1) for n in around(32)
                   for s in (-1, 0, 1, n)), ("float32", "int8"))
each("indexing/triangle/tril_edges", torch.tril,
     lambda make: ((make(n, m), k) for n, m in ((1, 9), (33, 31), (65, 65))
                   for k in (-2, 0, 3)), ("float32", "int64", "bool"))
each("indexing/repeat/repeat_interleave", torch.repeat_interleave,
     lambda make: ((make(n), make(n, low=0, high=4, dtype=torch.int64))
                   for n in (1, *around(32, 256))), ("float32", "int64"))

# Fourier transforms: radix sizes, primes and what lies between.

FFT = (1, 2, 3, 5, 7, 13, *around(16, 64, 256), 97, 120)
each("fft/size/fft_sizes", torch.fft.fft,
     lambda make: ((make(2, n),) for n in FFT), ("complex64", "float32"),
     level=5)
each("fft/size/rfft_sizes", torch.fft.rfft,
     lambda make: ((make(2, n),) for n in FFT), level=5)
each("fft/size/irfft_sizes", torch.fft.irfft,
     lambda make: ((make(2, n // 2 + 1), n) for n in FFT[1:]), ("complex64",),
     level=5)
each("fft/dims/fft2_sizes", torch.fft.fft2,
     lambda make: ((make(n, m),) for n, m in ((1, 1), (3, 5), (16, 17),
                                              (31, 32))), ("complex64",),
     level=5)
each("fft/dims/fft_other_dim", torch.fft.fft,
     lambda make: ((make(n, 3, 2), None, d) for n in around(16)
                   for d in (0, 1, -1)), ("complex64",), level=5)
each("fft/padding/fft_cut_and_padded", torch.fft.fft,
     lambda make: ((make(9), n, -1, norm) for n in (4, 9, 16)
                   for norm in ("ortho", "forward", "backward")),
     ("complex64",), level=5, role="scalars")

# Broadcasting: which side repeats, over how many dimensions.

SHAPES = (((1,), (7,)), ((7, 1), (1, 9)), ((3, 1, 5), (4, 1)), ((), (2, 3)),
          ((33, 1, 31), (1, 17, 31)), ((0, 3), (1, 3)), ((1, 0), (5, 1)),
          ((1,) * 8, (2, 1, 1, 3, 1, 1, 2, 1)), ((2, 3, 1, 1, 4), (5, 4)))
for fn in (torch.add, torch.mul, torch.maximum, torch.eq):
    each("broadcasting/shapes/" + fn.__name__ + "_shapes", fn,
         lambda make: ((make(*a), make(*b)) for x, y in SHAPES
                       for a, b in ((x, y), (y, x))),
         ("float32", "int64"))
each("broadcasting/shapes/where_shapes", torch.where,
     lambda make: ((make(*a, dtype=torch.bool), make(*b), make(*a))
                   for a, b in SHAPES), ("float32", "int64"))
each("broadcasting/grid_limit/add_long_rows", torch.add,
     lambda make: ((make(n, 1), make(1, 2)) for n in GRID), level=3)
each("broadcasting/dims/add_many_dims", torch.add,
     lambda make: ((make(*[2] * d), make(*[1] * (d - 1), 2))
                   for d in range(1, 13)), level=3)
each("broadcasting/types/add_mixed_types", torch.add,
     lambda make: ((make(3, n), make(n, dtype=kind)) for n in around(16)
                   for kind in (torch.int64, torch.float32, torch.bool)),
     ("float32", "int32", "float16"), role="promotion")

# Linear algebra: sizes of one block and beyond; well conditioned.


def regular(make, *shape):
    n = shape[-1]
    return make(*shape, low=-1, high=1) + 2 * n * torch.eye(n)


SIZES = (1, 2, 3, *around(16, 32))
for name, fn in (("inv", torch.linalg.inv), ("det", torch.linalg.det),
                 ("slogdet", torch.linalg.slogdet)):
    each("linear_algebra/size/" + name + "_sizes", fn,
         lambda make: ((regular(make, n, n),) for n in SIZES), level=5)
each("linear_algebra/size/solve_sizes", torch.linalg.solve,
     lambda make: ((regular(make, n, n), make(n, 3)) for n in SIZES), level=5)
each("linear_algebra/size/solve_triangular_sizes",
     torch.linalg.solve_triangular,
     lambda make: ((regular(make, n, n).triu(), make(n, 3), {"upper": True})
                   for n in SIZES), level=5)
each("linear_algebra/size/cholesky_sizes", torch.linalg.cholesky,
     lambda make: (((lambda a: a @ a.mT)(regular(make, n, n)),)
                   for n in SIZES), level=5)
each("linear_algebra/batch/inv_batches", torch.linalg.inv,
     lambda make: ((regular(make, b, 3, 3),) for b in (0, 1, *around(32))),
     level=5)
each("linear_algebra/power/matrix_power", torch.linalg.matrix_power,
     lambda make: ((make(2, 5, 5, low=-0.5, high=0.5), n) for n in range(5)),
     level=5)
each("linear_algebra/norm/vector_norm_edges", torch.linalg.vector_norm,
     lambda make: ((make(3, n), p, 1) for n in around(32, 1024)
                   for p in (1, 2, 3)), level=5)

# Pieces of models at the sizes at which they are used, and one beside.


def mlp(x, a, b, c, d):
    return F.linear(F.gelu(F.linear(x, a, b)), c, d)


def residual(x, w, scale, shift):
    y = F.conv2d(x, w, padding=1)
    y = F.batch_norm(y, None, None, scale, shift, training=True)
    return F.relu(x + y)


def self_attention(x, qkv, out):
    b, n, e = x.shape
    q, k, v = F.linear(x, qkv).view(b, n, 3, 2, e // 2).permute(
        2, 0, 3, 1, 4)
    y = F.softmax(q @ k.mT / 2, -1) @ v
    return F.linear(y.transpose(1, 2).reshape(b, n, e), out)


def gate(x, w, v):
    return F.silu(F.linear(x, w)) * F.linear(x, v)


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


def pooled(table, ids, weight):
    return F.linear(F.embedding(ids, table).mean(1), weight)


each("model_patterns/mlp/mlp_block", mlp,
     lambda make: ((make(2, 5, n), make(4 * n, n), make(4 * n),
                    make(n, 4 * n), make(n)) for n in around(16, 64)),
     HALVES, role="workload", level=4)
each("model_patterns/convolution/residual_block", residual,
     lambda make: ((make(2, n, 8, 8), make(n, n, 3, 3), make(n), make(n))
                   for n in around(8, 16)), role="workload", level=4)
each("model_patterns/attention/self_attention", self_attention,
     lambda make: ((make(2, n, 8), make(24, 8), make(8, 8))
                   for n in around(8, 32)), HALVES, role="workload", level=4)
each("model_patterns/mlp/gated_unit", gate,
     lambda make: ((make(2, 3, n), make(2 * n, n), make(2 * n, n))
                   for n in around(16, 64)), HALVES, role="workload", level=4)
each("model_patterns/attention/rotary", rotate,
     lambda make: ((make(2, n, 16), make(n, 16), make(n, 16))
                   for n in around(16)), HALVES, role="workload", level=4)
each("model_patterns/embedding/mean_of_rows", pooled,
     lambda make: ((make(50, n), make(4, 7, low=0, high=50,
                                      dtype=torch.int64), make(3, n))
                   for n in around(16)), HALVES, role="workload", level=4)
each("model_patterns/mlp/mlp_heavy", mlp,
     lambda make: ((make(8, 128, n), make(4 * n, n), make(4 * n),
                    make(n, 4 * n), make(n)) for n in (767, 768, 1024)),
     tier="heavy", cost="high", role="workload", level=7)
