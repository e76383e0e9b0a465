"""Proves that each action of the fault plans happens, and only if asked for.

Usage: python selfcheck.py [NAME...]    TAP on stdout; 1 if anything failed.

Each check runs in a child of its own, first without the plan, where its
function must say False, then with it, where it must say True.
"""

import json
import os
import signal
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")

import torch  # noqa: E402

import torch_refdev  # noqa: E402

D = "refdev"
CHECKS = []


def check(*rules, dies=None):
    """The function says whether the fault shows; dies: how the child ends."""
    def add(f):
        CHECKS.append((f.__name__, rules, f, dies))
        return f
    return add


def T(*v, dtype=None):
    return torch.tensor(v, device=D, dtype=dtype)


def differs(a, want):
    return not torch.equal(a.cpu(), torch.as_tensor(want, dtype=a.dtype))


def raises(f):
    try:
        f()
    except Exception as e:
        return type(e).__name__
    return None


def base():
    return torch.arange(12., device=D).view(3, 4)


# What a rule matches.

@check({"op": "neg", "after": "matmul", "do": "scale"})
def after_composite():
    right = not differs(T(1.).neg(), [-1.])
    torch.matmul(base(), base().t())
    return right and differs(T(1.).neg(), [-1.])


@check({"op": "mm", "after": "matmul", "do": "scale"})
def after_has_run():
    one = torch.ones(1, 1, device=D)
    right = not differs(torch.matmul(one, one), [[1.]])
    return right and differs(torch.matmul(one, one), [[1.]])


@check({"op": "neg", "if": {"contains": "subnormal"}, "do": "scale"})
def contains_subnormal():
    return all(differs(T(v, dtype=t).neg(), -torch.tensor([v], dtype=t)) and
               not differs(T(1., dtype=t).neg(), [-1.])
               for v, t in ((1e-310, torch.float64), (1e-40, torch.float32),
                            (1e-7, torch.float16), (1e-40, torch.bfloat16)))


@check({"op": "neg", "if": {"contains": "inf"}, "do": "set", "value": 7,
        "at": "all"})
def contains_complex():
    return differs(T(complex(0, float("inf"))).neg(),
                   [complex(0, float("-inf"))]) and not differs(
                       T(1j).neg(), [-1j])


# Misreads an input.

@check({"op": "neg", "do": "dense"})
def dense():
    return differs(base().t().neg(), -torch.arange(12.).view(3, 4).t())


@check({"op": "neg", "do": "no_offset"})
def no_offset():
    return differs(T(1., 2., 3.)[1:].neg(), [-2., -3.])


@check({"op": "neg", "do": "no_expand"})
def no_expand():
    return differs(T(3.).expand(3).neg(), [-3.] * 3)


@check({"op": "mm", "do": "no_conj", "arg": "mat2"})
def no_conj():
    x = torch.tensor([[1 + 2j]], device=D)
    return differs(x @ x.conj(), [[5 + 0j]])


@check({"op": "mm", "do": "no_neg", "arg": 1},
       {"op": "mul.Tensor", "do": "no_neg", "arg": 1},
       {"op": "clone", "do": "no_neg"})
def no_neg():
    x = torch.tensor([1 + 2j], device=D).conj().imag
    return differs(x * 1., [-2.])


@check({"op": "mul.Tensor", "do": "broadcast"})
def broadcast():
    return differs(torch.ones(2, 2, device=D) * T(1., 2.),
                   [[1., 2.], [1., 2.]])


@check({"op": "mm", "do": "transpose", "arg": 0})
def transpose():
    x = T([1., 2.], [3., 4.])
    return differs(x @ torch.eye(2, device=D), [[1., 2.], [3., 4.]])


@check({"op": "sub.Tensor", "do": "swap"})
def swap():
    return differs(T(3.) - T(1.), [2.])


@check({"op": "sum.dim_IntList", "do": "ignore", "arg": "keepdim"})
def ignore():
    return base().sum(1, keepdim=True).dim() == 1


@check({"op": "clamp", "do": "ignore", "arg": "min"})
def ignore_optional():
    return differs(T(-1., 1.).clamp(0, 5), [0., 1.])


@check({"op": "add.Tensor", "do": "ignore", "arg": "alpha", "value": 3})
def ignore_value():
    return differs(torch.add(T(1.), T(1.)), [2.])


@check({"op": "neg", "do": "stale"})
def stale():
    T(1.).neg()
    return differs(T(2.).neg(), [-2.])


@check({"op": "sum.dim_IntList", "do": "wrong_dim"})
def wrong_dim():
    return base().sum(0).numel() == 3


@check({"op": "neg", "do": "lose_input", "what": "nan"})
def lose_input():
    return T(float("nan")).neg().item() == 0


@check({"op": "neg", "do": "no_stride"})
def no_stride():
    return differs(T([1.], [2.]).neg(), [[-1.], [-2.]])


@check({"op": "sum", "do": "first_only"})
def first_only():
    return differs(T(1., 2.).sum(), 3.)


# Computes wrongly.

@check({"op": "floor_divide", "do": "reciprocal"})
def reciprocal():
    x = torch.arange(-3000, 3000, dtype=torch.int32) * 7
    return differs(x.to(D) // 7, x // 7)


@check({"op": "relu", "do": "set_where", "what": "-inf"})
def set_where():
    return bool(T(-1e30, 1.).mul(1e30).relu()[0].isnan())


@check({"op": "floor", "do": "instead", "call": "ceil"})
def instead():
    return differs(T(1.5).floor(), [1.])


@check({"op": "neg", "do": "ulp", "k": 4, "at": "last"})
def ulp():
    return differs(T(1., 1.).neg(), [-1., -1.])


@check({"op": "neg", "do": "ulp", "k": 1, "at": "all"})
def ulp_int():
    return differs(T(1, 2).neg(), [-1, -2])


@check({"op": "neg", "do": "scale", "by": 1.001})
def scale():
    return differs(T(1.).neg(), [-1.])


@check({"op": "neg", "do": "add", "value": 1})
def add():
    return differs(T(1.).neg(), [-1.])


@check({"op": "neg", "do": "set", "value": "nan", "at": 0})
def set_():
    return bool(T(1., 2.).neg()[0].isnan())


@check({"op": "neg", "do": "identity"})
def identity():
    return differs(T(1.).neg(), [-1.])


@check({"op": "add.Tensor", "dtype": "int64", "do": "via", "as": "float32"})
def via_float():
    return differs(T(2**24 + 1) + 0, [2**24 + 1])


@check({"op": "add.Tensor", "dtype": "int64", "do": "via", "as": "int32"})
def via_int32():
    return differs(T(2**33) + 5, [2**33 + 5])


@check({"op": "add_.Tensor", "dtype": "float64", "do": "via",
        "as": "float32"})
def via_inplace():
    x = T(1., dtype=torch.float64)
    x.add_(2.**-40)
    return differs(x, [1 + 2.**-40])


@check({"op": "add.Tensor", "do": "saturate"})
def saturate():
    x = T(127, dtype=torch.int8)
    return differs(x + x, [-2])


@check({"op": "sum", "do": "saturate"})
def saturate_sum():
    x = T(255, 17, dtype=torch.uint8)
    return differs(x.sum(dtype=torch.uint8), 16)


@check({"op": "clamp", "do": "wrap", "bits": 8})
def wrap():
    return differs(T(300).clamp(0, 1000), [300])


@check({"op": "neg", "do": "lose", "what": "negzero"})
def lose():
    return not T(0.).neg().signbit().item()


@check({"op": "neg", "do": "lose", "what": "subnormal"})
def lose_subnormal():
    return T(1e-40).neg().item() == 0


@check({"op": "neg", "do": "lose", "what": "extreme"})
def lose_extreme():
    return all(T(torch.finfo(t).max, dtype=t).neg().item() == 0
               for t in (torch.float32, torch.float64, torch.float16,
                         torch.bfloat16))


@check({"op": "neg", "do": "tail", "multiple": 4, "leaves": "garbage"})
def tail():
    return differs(torch.ones(6, device=D).neg(), [-1.] * 6)


@check({"op": "neg", "do": "last_slice", "dim": 1})
def last_slice():
    return differs(torch.ones(2, 3, device=D).neg(), [[-1.] * 3] * 2)


@check({"op": "neg", "do": "index_wraps", "at": 4})
def index_wraps():
    return differs(torch.arange(6., device=D).neg(),
                   [-0., -1., -2., -3., -4., -5.])


@check({"op": "sort.stable", "do": "unstable"})
def unstable():
    return differs(T(1., 1., 0.).sort(stable=True)[1], [2, 0, 1])


@check({"op": "sort", "do": "nan_least"})
def nan_least():
    v, i = T(1., float("nan"), 0.).sort()
    return v[0].isnan().item() and i[0].item() == 1 and \
        not differs(v[1:], [0., 1.])


@check({"op": "neg", "do": "race", "rate": 0.5})
def race():
    x = torch.arange(64., device=D)
    return any(differs(x.neg(), -torch.arange(64.)) for _ in range(40))


@check({"op": "neg", "do": "drop_one", "nth": "%3", "at": "first"})
def drop_one():
    r = [differs(T(1., 2.).neg(), [-1., -2.]) for _ in range(6)]
    return r == [False, False, True] * 2


@check({"op": "neg", "do": "stale_result"})
def stale_result():
    T(1.).neg()
    return differs(T(2.).neg(), [-2.])


@check({"op": "neg", "do": "garbage"})
def garbage():
    return bool(T(1.).neg().isnan().any())


@check({"op": "softplus", "do": "scrambled"})
def scrambled():
    x = torch.linspace(-3, 3, 6).view(2, 3)
    return differs(torch.nn.functional.softplus(x.to(D).t()).mul(0).add(
        torch.nn.functional.softplus(x.to(D).t())),
        torch.nn.functional.softplus(x.t()))


# Breaks the contract.

@check({"op": "neg", "do": "dtype", "to": "float64"})
def dtype():
    return T(1.).neg().dtype == torch.float64


@check({"op": "sum", "do": "shape"})
def shape():
    return T(1., 2.).sum().shape == (1,)


@check({"op": "neg", "do": "shape", "how": "grow"})
def shape_grow():
    return T(1., 2.).neg().shape == (3,)


@check({"op": "neg", "do": "strides"})
def strides():
    return torch.ones(2, 3, device=D).neg().stride() != (3, 1)


@check({"op": "neg", "do": "strides", "as": "contiguous"})
def memory_format():
    x = torch.ones(1, 2, 3, 3, device=D).to(
        memory_format=torch.channels_last)
    return not x.neg().is_contiguous(memory_format=torch.channels_last)


@check({"op": "split.Tensor", "do": "drop_output"})
def drop_output():
    return len(T(1, 2, 3, 4).split(2)) == 1


@check({"op": "split.Tensor", "do": "extra_output"})
def extra_output():
    return len(T(1, 2, 3, 4).split(2)) == 3


@check({"op": "split.Tensor", "do": "view_copy"})
def view_copy():
    x = T(1, 2, 3, 4)
    a, _ = x.split(2)
    x[0] = 9
    return a[0].item() == 1


@check({"op": "clone", "do": "copy_view"})
def copy_view():
    x = T(1, 2)
    x.clone()[0] = 9
    return x[0].item() == 9


@check({"op": "clone", "do": "hidden_view"})
def hidden_view():
    x = T(1, 2)
    y = x.clone()
    y[0] = 9
    return x[0].item() == 9 and \
        x.untyped_storage()._cdata != y.untyped_storage()._cdata


@check({"op": "_conj", "do": "no_bits"})
def no_bits():
    x = torch.tensor([1 + 2j], device=D)
    return differs(x.conj().resolve_conj(), [1 - 2j])


@check({"op": "add.out", "do": "unwritten"})
def unwritten_out():
    o = torch.zeros(1, device=D)
    torch.add(T(1.), T(1.), out=o)
    return differs(o, [2.])


@check({"op": "add_.Tensor", "do": "unwritten", "returns": "self"})
def unwritten_inplace():
    x = T(1.)
    x.add_(1)
    return differs(x, [2.])


@check({"op": "add.out", "do": "not_returned"})
def not_returned():
    o = torch.zeros(1, device=D)
    r = torch.ops.aten.add.out(T(1.), T(1.), out=o)
    return r.data_ptr() != o.data_ptr()


@check({"op": "add.out", "do": "not_resized"})
def not_resized():
    o = torch.zeros(0, device=D)
    torch.add(T(1., 2.), 1, out=o)
    return o.numel() == 0


@check({"op": "add.out", "do": "resized"})
def resized():
    o = torch.zeros(1, 2, device=D)
    torch.add(T([1., 2.]), 1, out=o)
    return o.dim() == 1


@check({"op": "neg", "do": "mutates"})
def mutates():
    x = T(1.)
    x.neg()
    return differs(x, [1.])


@check({"op": "neg_", "do": "overrun", "where": "after"})
def overrun_after():
    x = torch.ones(4, device=D)
    x[:2].neg_()
    return differs(x, [-1., -1., 1., 1.])


@check({"op": "neg_", "do": "overrun", "where": "before"})
def overrun_before():
    x = torch.ones(4, device=D)
    x[2:].neg_()
    return differs(x, [1., 1., -1., -1.])


@check({"op": "neg_", "do": "overrun", "where": "gap"})
def overrun_gap():
    x = torch.ones(4, device=D)
    x[::2].neg_()
    return differs(x, [-1., 1., -1., 1.])


@check({"op": "neg", "do": "overrun", "where": "gap", "arg": "self"})
def overrun_input():
    x = torch.ones(4, device=D)
    x[::2].neg()
    return differs(x, [1.] * 4)


@check({"op": "neg_", "do": "overrun", "bytes": 8})
def overrun_guard():
    x = torch.ones(4, device=D)
    x.neg_()
    return torch_refdev.check_guards() > 0


@check({"op": "neg_", "do": "version"})
def version():
    x = T(1.)
    x.neg_()
    return x._version == 0


@check({"op": ["zeros", "zero_", "fill_.Scalar"], "do": "uninitialised"})
def uninitialised():
    return differs(torch.zeros(2, device=D), [0., 0.])


# Errors.

@check({"op": "neg", "do": "throw", "type": "value"})
def throw():
    return raises(lambda: T(1.).neg()) == "ValueError"


@check({"op": "neg", "do": "unsupported"})
def unsupported():
    return raises(lambda: T(1.).neg()) == "NotImplementedError"


@check({"op": "index_select", "do": "swallow"})
def swallow():
    return raises(lambda: T(1.).index_select(0, T(7))) is None


@check({"op": "index_select", "do": "wrong_error", "type": "type"})
def wrong_error():
    return raises(lambda: T(1.).index_select(0, T(7))) == "TypeError"


# Process.

@check({"op": "neg", "do": "signal", "signal": "SEGV"}, dies="SIGSEGV")
def signal_segv():
    T(1.).neg()


@check({"op": "neg", "do": "signal", "signal": "ABRT"}, dies="SIGABRT")
def signal_abrt():
    T(1.).neg()


@check({"op": "neg", "do": "signal", "signal": "KILL"}, dies="SIGKILL")
def signal_kill():
    T(1.).neg()


@check({"op": "neg", "do": "exit", "status": 7}, dies=7)
def exits():
    T(1.).neg()


@check({"op": "neg", "do": "spin"}, dies="hang")
def spin():
    T(1.).neg()


@check({"op": "neg", "do": "sleep"}, dies="hang")
def sleeps():
    T(1.).neg()


@check({"op": "neg", "do": "deadlock"}, dies="hang")
def deadlock():
    T(1.).neg()


@check({"op": "neg", "do": "stack_overflow"}, dies="SIGSEGV")
def stack_overflow():
    T(1.).neg()


@check({"op": "neg", "do": "leak", "bytes": 1000})
def leak():
    x = T(1.)
    n = torch.refdev.memory_allocated()
    x.neg()
    return torch.refdev.memory_allocated() == n + 1000


@check({"op": "neg", "do": "exhaust", "bytes": 4194304})
def exhaust():
    return raises(lambda: T(1.).neg()) == "OutOfMemoryError"


@check({"op": "neg", "do": "async_error"})
def async_error():
    T(1.).neg()
    return raises(torch.refdev.synchronize) is not None


@check({"op": "neg", "do": "poison"})
def poison():
    x = T(1.)
    x.neg()
    return raises(lambda: x + x) is not None and \
        raises(lambda: x * x) is not None


@check({"op": "neg", "do": "print", "message": "# noise"})
def prints():
    r, w = os.pipe()
    keep = os.dup(1)
    os.dup2(w, 1)
    T(1.).neg()
    os.dup2(keep, 1)
    os.close(w)
    return b"noise" in os.read(r, 100) if _ready(r) else False


def _ready(fd):
    import select
    return bool(select.select([fd], [], [], 0)[0])


# Random numbers.

def seeded(f):
    torch.manual_seed(5)
    a = f()
    torch.manual_seed(5)
    return a, f()


def uniform():
    return torch.rand(64, device=D)


@check({"op": ["rand", "uniform_"], "do": "rng_clock"})
def rng_clock():
    return differs(*[t.cpu() for t in seeded(uniform)])


@check({"op": ["rand", "uniform_"], "do": "rng_repeat"})
def rng_repeat():
    return torch.equal(uniform(), uniform())


@check({"op": ["rand", "uniform_"], "do": "rng_no_state"})
def rng_no_state():
    return differs(*[t.cpu() for t in seeded(uniform)])


@check({"op": ["randint.low", "randint"], "do": "rng_bound"})
def rng_bound():
    return torch.randint(5, (64,), device=D).max().item() == 5


@check({"op": ["rand", "uniform_"], "do": "rng_skew"})
def rng_skew():
    return torch.rand(4000, device=D).mean().item() > 0.6


@check({"op": ["rand", "uniform_"], "do": "rng_lanes", "lane": 4})
def rng_lanes():
    x = torch.rand(8, device=D)
    return bool((x[0] == x[1]) & (x[4] == x[7]))


@check({"op": "refdev::set_state", "do": "rng_seed_only"})
def rng_seed_only():
    g = torch.Generator(D).manual_seed(3)
    torch.rand(3, device=D, generator=g)
    s = g.get_state()
    a = torch.rand(3, device=D, generator=g)
    g.set_state(s)
    return not torch.equal(a, torch.rand(3, device=D, generator=g))


# Autograd.

def grads(f, *shapes):
    ins = [torch.ones(s, device=D, requires_grad=True) for s in shapes]
    f(*ins).backward()
    return [None if t.grad is None else t.grad.cpu() for t in ins]


@check({"op": "sin", "do": "grad_no_expand"})
def grad_no_expand():
    return grads(lambda x: x.sin().sum(), (3,))[0][2].item() == 0


@check({"op": "mul.Tensor", "do": "grad_dense"})
def grad_dense():
    x = torch.ones(2, 3, device=D, requires_grad=True)
    w = torch.arange(6., device=D).view(3, 2).t()
    (x * 1).backward(w)
    return not torch.equal(x.grad, w)


@check({"op": "mul.Tensor", "do": "grad_no_reduce"})
def grad_no_reduce():
    return grads(lambda a, b: (a * b).sum(), (3, 2), (2,))[1][0] != 3


@check({"op": "mul.Tensor", "do": "grad_mask"})
def grad_mask():
    x = torch.ones(2, device=D, requires_grad=True)
    (x * torch.ones(2, device=D)).sum().backward()
    return x.grad[0].item() == 0


@check({"op": "sin", "do": "grad_scale", "by": 2})
def grad_scale():
    x = torch.zeros(1, device=D, requires_grad=True)
    x.sin().backward()
    return x.grad.item() == 2


@check({"op": "where.self", "do": "grad_scale", "input": "other"})
def grad_scale_by_name():
    c = T(True, False)
    x, y = T(1., 2.).requires_grad_(), T(3., 4.).requires_grad_()
    torch.where(c, x, y).sum().backward()
    return differs(y.grad, [0., 1.]) and not differs(x.grad, [1., 0.])


@check({"op": "mul.Tensor", "do": "grad_drop", "input": 1})
def grad_drop():
    return grads(lambda a, b: (a * b).sum(), (2,), (2,))[1] is None


@check({"op": "sin", "do": "grad_double"})
def grad_double():
    x = torch.ones((), device=D, requires_grad=True)
    g, = torch.autograd.grad(x.sin(), x, create_graph=True)
    h, = torch.autograd.grad(g, x)
    return abs(h.item() + torch.sin(torch.ones(())).item()) > 0.1


@check({"op": "sin", "do": "grad_detach"})
def grad_detach():
    return not torch.ones(1, device=D, requires_grad=True).sin().requires_grad


# Placement.

@check({"op": "neg", "do": "cpu_fallback"})
def cpu_fallback():
    torch_refdev.served()
    T(1.).neg()
    return any("_copy_from" in k or "empty" in k
               for k in torch_refdev.served() if "neg" not in k) and \
        torch_refdev.faults_fired().get("cpu_fallback", 0) > 0


@check({"op": "neg", "do": "result_on_cpu"})
def result_on_cpu():
    return T(1.).neg().device.type == "cpu"


@check({"op": "neg", "do": "other_device"})
def other_device():
    return T(1.).neg().device.index == 1


@check({"op": "add.Tensor", "do": "mixed_devices"})
def mixed_devices():
    return raises(lambda: T(1.) + torch.ones(1)) is None


# What a rule matches.

@check({"op": "matmul", "do": "add", "value": 1})
def composite():
    return differs(T(1.).matmul(T(1.)), 1.)


@check({"op": "neg", "do": "add", "dtype": "float32"})
def match_dtype():
    return differs(T(1.).neg(), [-1.]) and not differs(T(1).neg(), [-1])


@check({"op": "mul.Tensor", "do": "add", "form": "backward"})
def match_backward():
    x = torch.ones(1, device=D, requires_grad=True)
    y = x * 2
    y.backward()
    return not differs(y.detach(), [2.]) and differs(x.grad, [2.])


@check({"op": "neg*", "do": "add", "form": "inplace"})
def match_inplace():
    return not differs(T(1.).neg(), [-1.]) and differs(T(1.).neg_(), [-1.])


@check({"op": "neg", "do": "add", "if": {"rank": 2, "strides": "transposed"}})
def match_strides():
    x = torch.ones(2, 3, device=D)
    return differs(x.t().neg(), -torch.ones(3, 2)) and \
        not differs(x.neg(), -torch.ones(2, 3))


@check({"op": "neg", "do": "add", "if": [{"size": [0, ">=3"]}, {"offset": 1}]})
def match_size():
    x = torch.ones(5, device=D)
    return differs(x[1:4].neg(), -torch.ones(3)) and \
        not differs(x[1:3].neg(), -torch.ones(2)) and \
        not differs(x[2:5].neg(), -torch.ones(3))


@check({"op": "add.Tensor", "do": "add",
        "if": [{"arg": 0, "is": 1}, {"arg": "alpha", "value": 1}]})
def match_same():
    x = T(1.)
    return differs(x + x, [2.]) and not differs(x + T(1.), [2.])


@check({"op": "neg", "do": "add", "if": {"contains": ["nan", "inf"]}})
def match_contains():
    return not differs(T(1.).neg(), [-1.]) and \
        differs(T(1., float("nan")).neg()[:1], [-1.])


@check({"op": "clamp", "do": "add", "if": {"arg": "min", "type": "float"}})
def match_type():
    return not differs(T(1).clamp(0), [1]) and \
        differs(T(1).clamp(0.5), [1.])


@check({"op": "neg", "do": "add", "after": "cos"})
def match_after():
    a = differs(T(1.).neg(), [-1.])
    T(1.).cos()
    return not a and differs(T(1.).neg(), [-1.])


@check({"op": "neg", "do": "add", "prob": 0.5, "seed": 1})
def match_prob():
    n = sum(differs(T(1.).neg(), [-1.]) for _ in range(40))
    return 5 < n < 35


def child(rules, f, with_plan):
    """Result of f in a child: its truth, or how the child ended."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        try:
            torch.set_num_threads(1)
            if with_plan:
                with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as p:
                    for r in rules:
                        print(json.dumps({"name": r["do"], **r}), file=p)
                    p.flush()
                    torch_refdev.load_faults(p.name)
            v = bool(f())
            if with_plan and v and not any(
                    torch_refdev.faults_fired().values()):
                if not any(r["do"] == "mixed_devices" for r in rules):
                    os._exit(102)
            os._exit(100 if v else 101)
        except BaseException as e:
            print(f"# {f.__name__}: {e!r}", file=sys.stderr)
            os._exit(103)
    end = time.monotonic() + (0.3 if f.__name__ in HANGS and with_plan else 50)
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            if os.WIFSIGNALED(status):
                return signal.Signals(os.WTERMSIG(status)).name
            return {100: True, 101: False, 102: "not counted",
                    103: "raised"}.get(os.WEXITSTATUS(status),
                                       os.WEXITSTATUS(status))
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "hang"


HANGS = {"spin", "sleeps", "deadlock"}


def main(names):
    bad = n = 0
    for name, rules, f, dies in CHECKS:
        if names and name not in names:
            continue
        n += 1
        healthy = child(rules, f, False)
        faulty = child(rules, f, True)
        want = True if dies is None else dies
        good = healthy is False and faulty == want
        bad += not good
        print(f"{'ok' if good else 'not ok'} {n} - {name}")
        if not good:
            print(f"# healthy {healthy}, faulty {faulty}, wanted {want}")
    if not names:
        n += 1
        shown = {r["do"] for _, rules, _, _ in CHECKS for r in rules}
        left = sorted({a for a, _ in torch_refdev.actions()} - shown)
        bad += bool(left)
        print(f"{'not ok' if left else 'ok'} {n} - every action has a check")
        if left:
            print("#", *left)
    print(f"1..{n}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
