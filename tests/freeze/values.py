"""Values that calls have as arguments, and whether two are the same."""
import collections
import math
import struct

import torch

Point = collections.namedtuple("Point", "x y")


def shared():
    base = torch.arange(24.0)
    view = base[4:20].view(4, 4)
    return [base, view, view.t(), base, base.view(torch.int32)[1::2]]


def overlapping():
    t = torch.randn(3, 5)
    return {"input": t, "out": t[:2], "list": [t[1], (t, t[:, 1])]}


def nested():
    return torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)])


def parameters():
    p = torch.nn.Parameter(torch.ones(2))
    return [p, {"same": p}, torch.nn.Parameter(torch.ones(3, 2).t(), False)]


def with_gradient():
    t = torch.ones(3, requires_grad=True)
    t.grad = torch.ones(3)
    return t


def with_attribute():
    t = torch.ones(3)
    t.scale = 2
    return t


def exact():
    torch.manual_seed(1)
    m = torch.randn(4, 6)
    c = torch.randn(3, 3, dtype=torch.complex64)
    sparse = m.relu()
    return {
        "singles": (None, True, False, ...),
        "ints": [0, 1, -1, 2**63 - 1, -2**63, 2**63, -2**200, 10**30],
        "floats": (0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324,
                   struct.unpack("d", b"\1\2\3\4\5\6\xf8\x7f")[0]),
        "complex": [1j, complex(-0.0, math.nan), complex(math.inf, -0.0)],
        "text": ["", "mean", "ü€𝄞", "a b"],
        "bytes": (b"", b"\0\xff"),
        "of torch": [torch.float32, torch.complex32, torch.uint16,
                     torch.float8_e4m3fn, torch.strided, torch.sparse_csr,
                     torch.channels_last, torch.preserve_format,
                     torch.device("cpu"), torch.device("meta"),
                     torch.device("cuda:1")],
        "slices": (slice(None), slice(1, None, -2), slice(0, 2**40)),
        "size": torch.Size([2, 0, 3]),
        "containers": {"a": [(), [], {}], 1: ({"b": [None]},), None: 2},
        "sparse layouts": [sparse.to_sparse(), sparse.to_sparse_csr(),
                           sparse.to_sparse_csc(), sparse.to_sparse_bsr((2, 3)),
                           sparse.to_sparse_bsc((2, 2))],
        "uncoalesced": torch.sparse_coo_tensor(
            [[1, 0, 1]], [1.0, 2.0, 3.0], (4,)),
        "hybrid": torch.sparse_coo_tensor([[0, 2]], torch.ones(2, 3), (3, 3)),
        "sparse with gradient": sparse.to_sparse().requires_grad_(),
        "nested": nested(),
        "strides": [m.t(), m[1:3, ::2], m[0, 3], m.expand(2, 4, 6),
                    torch.empty(2, 3, 4, 5).to(
                        memory_format=torch.channels_last),
                    torch.ones(9).as_strided((3, 3), (1, 2), 1)],
        "sizes of 0 and 1": [torch.empty(0), torch.empty(2, 0, 3),
                             torch.ones(1, 1), torch.tensor(4),
                             torch.ones(5)[5:], torch.ones(3, 0).t()],
        "bits": [c.conj(), c.t().conj(), c.imag, c.conj().imag,
                 torch._neg_view(m)],
        "gradients": [torch.ones(2, requires_grad=True),
                      torch.nn.Parameter(torch.ones(2)).detach(), m],
        "parameters": parameters(),
        "dtypes": [torch.ones(3).to(d) for d in (
            torch.bool, torch.uint8, torch.int8, torch.int16, torch.uint16,
            torch.uint32, torch.uint64, torch.float16, torch.bfloat16,
            torch.complex32, torch.complex128, torch.float8_e5m2)],
        "values": torch.tensor([math.nan, -0.0, math.inf, 1e-45]),
        "shared storage": shared(),
        "arguments that overlap": overlapping(),
    }


class Text(str):
    pass


def live():
    return {
        "a function": [torch.relu],
        "an object": object(),
        "a generator": torch.Generator(),
        "a set": {1},
        "a named tuple": Point(1, 2),
        "a text that is more": Text("x"),
        "a text with half a letter": "\ud800",
        "a quantized tensor": torch.quantize_per_tensor(
            torch.ones(2), 0.1, 0, torch.qint8),
        "a meta tensor": torch.empty(2, device="meta"),
        "a jagged tensor": torch.nested.nested_tensor(
            [torch.ones(2), torch.ones(3)], layout=torch.jagged),
        "an mkldnn tensor": torch.ones(2, 2).to_mkldnn(),
        "a result with a history": torch.ones(2, requires_grad=True) * 2,
        "a view of a leaf": torch.ones(2, requires_grad=True)[1:],
        "a tensor with a gradient": with_gradient(),
        "a tensor with attributes": with_attribute(),
        "a nested tensor of none": torch.nested.nested_tensor([]),
        "too deep": __import__("functools").reduce(
            lambda a, _: [a], range(50), 0),
        "too big": torch.zeros(1 << 20),
    }


def bits(x):
    if isinstance(x, float):
        return struct.pack("d", x)
    if isinstance(x, complex):
        return struct.pack("dd", x.real, x.imag)
    return x


def parts(t):
    if t.is_nested:
        return [t.values(), t._nested_tensor_size(),
                t._nested_tensor_strides(), t._nested_tensor_storage_offsets()]
    if t.layout is torch.sparse_coo:
        return [t.detach()._indices(), t.detach()._values()]
    if t.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [t.crow_indices(), t.col_indices(), t.values()]
    return [t.ccol_indices(), t.row_indices(), t.values()]


def facts(t):
    f = [t.dtype, t.layout, t.device, t.requires_grad, t.is_conj(), t.is_neg(),
         t.is_nested]
    if not t.is_nested:
        f.append(t.shape)
    if t.layout is torch.sparse_coo:
        f.append(t.is_coalesced())
    if t.layout is torch.strided and not t.is_nested:
        f += [t.stride(), t.storage_offset(), t.untyped_storage().nbytes(),
              bytes(t.untyped_storage())]
    return f


def same(a, b, seen=None):
    """In type, bits, geometry, and in what is the same as what."""
    seen = {} if seen is None else seen
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        if seen.setdefault(("t", id(a)), id(b)) != id(b):
            return False
        if facts(a) != facts(b):
            return False
        if a.layout is torch.strided and not a.is_nested:
            x = a.untyped_storage()._cdata, b.untyped_storage()._cdata
            return seen.setdefault(("s", x[0]), x[1]) == x[1] and \
                seen.setdefault(("r", x[1]), x[0]) == x[0]
        keep = parts(a), parts(b)
        seen.setdefault("keep", []).append(keep)
        return all(facts(x) == facts(y) for x, y in zip(*keep))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k], seen) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(
            same(x, y, seen) for x, y in zip(a, b))
    return bits(a) == bits(b)
