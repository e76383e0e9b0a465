"""PyTorch's own operator database, as the toolkit reads it: what there is, and
the samples of one entry.  Only what has no other interface than Python."""
import itertools
import json
import multiprocessing
import platform
import warnings

import numpy
import torch
from torch.autograd.gradcheck import GradcheckError
from torch.testing._internal import common_methods_invocations, common_utils
from torch.testing._internal.opinfo import core
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import (
    BinaryUfuncInfo, ReductionOpInfo, SampleInput, UnaryUfuncInfo)

import derive
import suite
from suite import tensors

warnings.simplefilter("ignore")


class NoStack:
    """In the place of traceback, where a stack is only kept for a message."""
    @staticmethod
    def format_stack(*_):
        return []


def quicken():
    """Leave out what costs more than making samples does, and serves PyTorch's
    own tests alone: torch.manual_seed keeps a formatted stack for each kind of
    device that isn't there, and generators look for a unittest.TestCase among
    their callers."""
    for name in ("cuda", "xpu", "mtia"):
        module = getattr(torch, name, None)
        if hasattr(module, "traceback"):
            module.traceback = NoStack
    for module in (common_utils, core):
        if hasattr(module, "extract_test_fn"):
            module.extract_test_fn = lambda: None


quicken()


def seeded(op, *args, **kwargs):
    """In the place of wrapper_set_seed(): each call draws the same, but whether
    it has drawn shows by the generators, which that would put back."""
    torch.manual_seed(torch.initial_seed())
    return op(*args, **kwargs)


common_methods_invocations.wrapper_set_seed = seeded

SPARSE = ("supports_sparse", "supports_sparse_csr", "supports_sparse_csc",
          "supports_sparse_bsr", "supports_sparse_bsc")


def key_of(entry):
    """The entry's name in case ids: 'div:floor_rounding'."""
    if entry.variant_test_name:
        variant = "".join(c if c.isalnum() or c in "._+-" else "_"
                          for c in entry.variant_test_name)
        return entry.name + ":" + variant
    return entry.name


entries = {key_of(e): e for e in op_db}

# By which name of the database a case written by hand calls what it calls.
called = {e.op: e.name for e in op_db if not e.variant_test_name}


def short(dtype):
    return str(dtype).removeprefix("torch.")


def with_rank4(sample, grad):
    """The sample of an elementwise op with its values, as often as needed, in
    four dimensions; None where it is no such thing."""
    t = sample.input
    if not isinstance(t, torch.Tensor) or t.layout is not torch.strided or \
            t.dim() != 1 or not t.numel() or \
            tensors((sample.args, sample.kwargs)):
        return None
    t = t.detach()[torch.arange(36) % t.numel()].reshape(2, 3, 2, 3)
    return SampleInput(t.requires_grad_(
        grad and (t.is_floating_point() or t.is_complex())),
        args=sample.args, kwargs=sample.kwargs)


def samples_of(entry, dtype, grad=False):
    """The database's samples.  Those of unary elementwise ops have one
    dimension at most, which hides what other strides would show."""
    more = isinstance(entry, UnaryUfuncInfo)
    for s in entry.sample_inputs("cpu", dtype, requires_grad=grad):
        yield s
        wide = with_rank4(s, grad) if more else None
        if wide is not None:
            more = False
            yield wide


FEW = 12            # samples that others are made from, and asked about
asked = None        # those of the entry that is being described, by dtype


def first_samples(entry, dtype, n):
    """Its first samples, as far as the generator comes."""
    if asked is None:
        return fresh_samples(entry, dtype, n)
    if dtype not in asked:
        asked[dtype] = fresh_samples(entry, dtype, FEW)
    return asked[dtype][:n]


def fresh_samples(entry, dtype, n):
    batch = []
    try:
        for s in itertools.islice(samples_of(entry, dtype), n):
            batch.append(s)
    except Exception:
        pass
    return batch


def outcome(entry, sample, shift):
    """The tensors of a call whose every seed is moved by shift."""
    real = torch.manual_seed
    torch.manual_seed = lambda n: real(n + shift)
    try:
        torch.manual_seed(1)
        return tensors(entry.op(sample.input, *sample.args, **sample.kwargs))
    except Exception:
        return []
    finally:
        torch.manual_seed = real


def differ(a, b):
    if a.layout is not torch.strided:
        return False
    try:
        return a.shape != b.shape or bool(
            ((a != b) & ((a == a) | (b == b))).any())
    except Exception:
        return False


def sets_seed(entry):
    """Whether the database's call seeds the generator."""
    code = getattr(entry.op, "__code__", None)
    return code is not None and "wrapper_set_seed" in code.co_names


def is_random(entry, sample):
    """Whether another seed gives another result."""
    return any(differ(a, b) for a, b in zip(outcome(entry, sample, 0),
                                            outcome(entry, sample, 9)))


def takes_inplace(entry, dtype):
    fn = entry.get_inplace()
    return fn is not None and any(
        not s.broadcasts_input and refuses_not(fn, s.input, s.args, s.kwargs)
        for s in first_samples(entry, dtype, 4))


def takes_out(entry, dtype):
    return entry.supports_out and any(
        True for _ in itertools.islice(
            MODES["out"](entry, dtype)[1], 1))


def has_errors(entry, dtype):
    """Whether the CPU refuses any of the inputs that are to be refused."""
    try:
        fn, batch = errors(entry, dtype)
        return any(refuses(fn, *sample) for sample in batch)
    except Exception:
        return False


def refuses(fn, args, kwargs):
    try:
        fn(*args, **kwargs)
        return False
    except Exception:
        return True


def takes(mode):
    """Whether that mode has a sample."""
    def holds(entry, dtype):
        try:
            return any(True for _ in MODES[mode](entry, dtype)[1])
        except Exception:
            return False
    return holds


def is_arithmetic(entry):
    """Elementwise, or a reduction."""
    return isinstance(entry, (UnaryUfuncInfo, BinaryUfuncInfo,
                              ReductionOpInfo))


def names_where(holds, entry, dtypes):
    return sorted(short(d) for d in dtypes if holds(entry, d))


def describe(entry):
    main = torch.float32 if torch.float32 in entry.dtypes else \
        min(entry.dtypes, key=str, default=None)
    batch = first_samples(entry, main, 10) if main else []
    dense = [t for s in batch for t in tensors((s.input, s.args, s.kwargs))
             if t.layout is torch.strided]
    arithmetic = is_arithmetic(entry)
    first = [main] if main else []
    sizes = entry.dtypes if arithmetic else first
    return {
        "v": 1, "kind": "opinfo", "id": "", "run": "",
        "op": key_of(entry), "name": entry.name,
        "variant": entry.variant_test_name or "",
        "aten": entry.aten_name or "",
        "dtypes": sorted(short(d) for d in entry.dtypes),
        "backward_dtypes": sorted(short(d) for d in entry.backward_dtypes),
        "inplace_dtypes": names_where(takes_inplace, entry, entry.dtypes),
        "out_dtypes": names_where(takes_out, entry, entry.dtypes),
        "tiny_dtypes": names_where(takes("tiny"), entry, sizes),
        "edge_dtypes": names_where(takes("edges"), entry, sizes),
        "refused_dtypes": names_where(takes("refused"), entry, sizes),
        "prefix_dtypes": names_where(takes("prefix"), entry, first),
        "scalar_dtypes": names_where(takes("host_scalar"), entry, entry.dtypes)
        if isinstance(entry, BinaryUfuncInfo) else [],
        "subset_dtypes": names_where(takes("backward_subsets"), entry, first)
        if entry.supports_autograd else [],
        "error_dtypes": sorted(map(short, entry.dtypes))
        if has_errors(entry, main) else [],
        "supports_out": bool(entry.supports_out),
        "inplace": entry.get_inplace() is not None,
        "supports_autograd": bool(entry.supports_autograd),
        "supports_forward_ad": bool(entry.supports_forward_ad),
        "supports_gradgrad": bool(entry.supports_gradgrad),
        "sparse": any(getattr(entry, a, False) for a in SPARSE),
        "factory": bool(entry.is_factory_function),
        "random": sets_seed(entry) and
        any(is_random(entry, s) for s in batch),
        "has_ref": has_ref(entry),
        "error_inputs": entry.error_inputs_func is not None,
        "arithmetic": arithmetic,
        "elements": suite.extent((s.input, s.args, s.kwargs) for s in batch),
        "has_some": any(t.numel() for t in dense),
        "has_many": any(t.numel() > 1 for t in dense),
        "has_rank2": any(t.dim() > 1 and min(t.shape[-2:]) > 1
                         for t in dense),
        "has_rank3": any(t.dim() > 2 and t.numel() > 1 for t in dense),
        "has_image": any(t.dim() in (4, 5) and t.shape[1] > 1 for t in dense),
        "db": "op_db",
    }


def accelerator():
    """The device that "auto" means, where PyTorch knows of one."""
    try:
        return {"accelerator": torch.accelerator.current_accelerator().type}
    except Exception:
        return {}


def line_of(record):
    return json.dumps(record, separators=(",", ":"))


def described(key):
    global asked
    asked = {}
    suite.seed(0)
    return line_of(describe(entries[key]))


def surveyed(source):
    import aten
    suite.seed(0)
    return source[0], aten.survey(*source)


def inventory():
    """The lines of the inventory, first the PyTorch that it is of."""
    import aten     # which imports this
    yield line_of({"v": 1, "kind": "torch", "id": "", "run": "",
                   "version": torch.__version__,
                   "python": platform.python_version(),
                   "dtypes": sorted({short(d) for d in vars(torch).values()
                                     if isinstance(d, torch.dtype)}),
                   **accelerator()})
    aten.surface()      # once, before the processes part
    # A core each: nothing here depends on what was asked before.
    with multiprocessing.get_context("fork").Pool() as pool:
        ops = pool.imap(described, sorted(entries), 8)
        surveys = pool.imap(surveyed, sorted(aten.sources().items()), 8)
        cases = pool.imap(suite.record_of, sorted(suite.cases), 8)
        yield from ops
        yield from map(line_of, aten.items(dict(surveys)))
        yield from filter(None, cases)


def call(entry, dtype, grad=False):
    """(callable, samples as (args, kwargs)) of a plain call."""
    seeded = sets_seed(entry)
    return entry.op, (((s.input, *s.args), s.kwargs, entry.op,
                       seeded and is_random(entry, s)) for s in
                      samples_of(entry, dtype, grad))


def errors(entry, dtype):
    """Inputs that the op must refuse."""
    def each():
        for e in entry.error_inputs("cpu"):
            s = e.sample_input
            yield (s.input, *s.args), s.kwargs
    return entry.op, each()


def inplace(entry, dtype):
    """The in-place form, where the result has the input's shape and type."""
    fn = entry.get_inplace()
    return fn, (((s.input, *s.args), s.kwargs)
                for s in samples_of(entry, dtype)
                if not s.broadcasts_input and
                refuses_not(fn, s.input, s.args, s.kwargs))


def refuses_not(fn, first, args, kwargs):
    """Whether the CPU does it at all: a refusal is no sample."""
    try:
        fn(first.clone(), *args, **kwargs)
        return True
    except Exception:
        return False


def poison(shape, like):
    """A tensor to be overwritten, full of what no op should leave behind."""
    t = torch.empty(shape, dtype=like.dtype)
    if t.dtype is torch.bool:
        return t.fill_(True)
    return t.fill_(91)


def out_right(like):
    return poison(like.shape, like)


def out_stepped(like):
    if not like.dim():
        return poison((2,), like)[1]
    *outer, last = like.shape
    return poison((*outer, 2 * last), like)[..., ::2]


def out_offset(like):
    return poison((like.numel() + 7,), like)[7:].view(like.shape)


def out_resize(like):
    return poison((0,), like)


def giving_out(op):
    """op, with what it was given to write to as its result where it has none:
    what nobody returns, nobody compares."""
    def run(*args, out, **kwargs):
        ret = op(*args, out=out, **kwargs)
        return out if ret is None else ret
    return run


def out_for(make, want):
    """What a call whose result is want is given to write to, as make() builds
    it; None where that is no tensor."""
    many = isinstance(want, (tuple, list))
    if not all(isinstance(t, torch.Tensor)
               for t in (want if many else (want,))):
        return None
    return tuple(map(make, want)) if many else make(want)


def with_out(make):
    """A mode that passes out= tensors as make() builds them."""
    def mode(entry, dtype):
        def each():
            for s in samples_of(entry, dtype):
                try:
                    want = entry.op(s.input, *s.args, **s.kwargs)
                except Exception:
                    continue
                out = out_for(make, want)
                if out is not None:
                    yield (s.input, *s.args), {**s.kwargs, "out": out}
        return giving_out(entry.op), each()
    return mode


def leaves(value):
    """The tensors of nested arguments or results that can have gradients."""
    if isinstance(value, torch.Tensor):
        return [value] if value.requires_grad else []
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in leaves(v)]
    if isinstance(value, dict):
        return [t for v in value.values() for t in leaves(v)]
    return []


def cotangent(like, layout, n):
    """An incoming gradient: the same values on every device."""
    g = torch.Generator().manual_seed(n)
    real = torch.rand(like.shape, generator=g, dtype=torch.float64) + 0.5
    t = real.to(like.dtype)
    if layout == "expanded" and t.dim():
        t = t.select(0, 0).unsqueeze(0) if t.shape[0] else t
        return t.to(like.device).expand(like.shape)
    if layout == "permuted" and t.dim() > 1:
        return t.mT.contiguous().to(like.device).mT
    if layout == "offset" and t.numel():
        room = torch.zeros(t.numel() + 3, dtype=t.dtype)
        room[3:] = t.reshape(-1)
        return room.to(like.device)[3:].view(t.shape)
    if layout == "stepped" and t.dim() and t.numel():
        wide = torch.zeros((*t.shape[:-1], 2 * t.shape[-1]), dtype=t.dtype)
        wide[..., ::2] = t
        return wide.to(like.device)[..., ::2]
    return t.to(like.device)


def gradients(fn, layout, order):
    """fn made into a call that gives its gradients, of first or second order."""
    def backward(*args, **kwargs):
        inputs = leaves((args, kwargs))
        outs = leaves(fn(*args, **kwargs))
        if not inputs or not outs:
            return ()
        grads = torch.autograd.grad(
            outs, inputs, [cotangent(t, layout, i)
                           for i, t in enumerate(outs)],
            create_graph=order > 1, allow_unused=True)
        if order == 1:
            return grads
        outs = [g for g in grads if g is not None and g.requires_grad]
        if not outs:
            return ()
        return torch.autograd.grad(
            outs, inputs, [cotangent(t, layout, 100 + i)
                           for i, t in enumerate(outs)], allow_unused=True)
    return backward


AS_IS = SampleInput(None).output_process_fn_grad.__code__
AS_GIVEN = core.OpInfo.__dataclass_fields__[
    "gradcheck_wrapper"].default.__code__


def process(entry, sample):
    """The sample's result as the database wants it compared."""
    if getattr(sample.output_process_fn_grad, "__code__", None) is AS_IS:
        return entry.op

    def fn(*args, **kwargs):
        return sample.output_process_fn_grad(entry.op(*args, **kwargs))
    return fn


def of_sample(entry, sample, wrap, fn):
    """wrap() of the sample's own call; fn where that is wrap(entry.op)."""
    own = process(entry, sample)
    if own is entry.op:
        return fn
    made = wrap(own)
    made.finish = True      # for script.py: it is more than the op
    return made


def with_gradients(layout="dense", order=1):
    def wrap(op):
        return gradients(op, layout, order)

    def mode(entry, dtype):
        fn = wrap(entry.op)

        def each():
            for s in samples_of(entry, dtype, True):
                yield ((s.input, *s.args), s.kwargs,
                       of_sample(entry, s, wrap, fn),
                       sets_seed(entry) and is_random(entry, s))
        return fn, each()
    return mode


def tangents(fn):
    """fn made into a call that gives its forward-mode derivatives, and its
    results beside them: to find the ones must not change the others."""
    import torch.autograd.forward_ad as ad

    def dual(value):
        if isinstance(value, torch.Tensor) and value.requires_grad:
            return ad.make_dual(value.detach(),
                                cotangent(value, "dense", value.dim()))
        if isinstance(value, (tuple, list)):
            return type(value)(dual(v) for v in value)
        if isinstance(value, dict):
            return {k: dual(v) for k, v in value.items()}
        return value

    def forward(*args, **kwargs):
        with ad.dual_level():
            outs = fn(*dual(list(args)), **dual(kwargs))
            outs = outs if isinstance(outs, (tuple, list)) else (outs,)
            both = [ad.unpack_dual(t) for t in outs
                    if isinstance(t, torch.Tensor)]
            return [b.tangent for b in both], [b.primal for b in both]
    return forward


def load_forward_mode():
    """What PyTorch loads for the first of these derivatives in a process."""
    import torch.autograd.forward_ad as ad
    with ad.dual_level():
        ad.make_dual(torch.ones(1), torch.ones(1))


def jvp(entry, dtype):
    fn = tangents(entry.op)
    return fn, ((args, kwargs, fn, random) for args, kwargs, _, random
                in call(entry, dtype, grad=True)[1])


def shaken(t):
    """t with every element changed, by an amount of its own: no op that is
    invariant to a shift or a scale takes it for the same."""
    n = torch.arange(t.numel(), dtype=torch.float64).reshape(t.shape)
    return t + (0.25 + 0.5 * torch.cos(1.7 * n)).to(t.dtype).to(t.device)


def far(a, b):
    a, b = a.detach().cpu().double(), b.detach().cpu().double()
    return a.shape != b.shape or bool(
        ((a - b).abs() > 1e-3 * (1 + a.abs())).any())


def effects(fn):
    """fn made into a call that says which of its operands have an effect."""
    def run(*args, **kwargs):
        base = tensors(fn(*args, **kwargs))
        found = []
        for i, t in enumerate(args):
            if not isinstance(t, torch.Tensor) or \
                    not t.is_floating_point() or \
                    t.layout is not torch.strided:
                continue
            other = (*args[:i], shaken(t), *args[i + 1:])
            try:
                got = tensors(fn(*other, **kwargs))
                found.append(len(got) != len(base) or
                             any(map(far, got, base)))
            except RuntimeError:
                found.append("refused")
        return found
    return run


def sensitivity(entry, dtype):
    fn = effects(entry.op)
    return fn, ((args, kwargs, fn, random) for args, kwargs, _, random
                in call(entry, dtype)[1])


def own_wrapper(entry):
    """How the database has its gradients checked, where not by plain calls: a
    Hermitian matrix, say, has to stay one."""
    w = entry.gradcheck_wrapper
    return None if getattr(w, "__code__", None) is AS_GIVEN else w


def checked(fn, wrapper=None):
    """fn made into a call that says whether its gradients are right.  Where the
    reference says no, the sample is no place to ask."""
    def run(*args, **kwargs):
        inputs = leaves((args, kwargs))

        def of_inputs(*_):
            made = wrapper(fn, *args, **kwargs) if wrapper else \
                fn(*args, **kwargs)
            return [t for t in tensors(made)
                    if t.is_floating_point() or t.is_complex()]
        try:
            return torch.autograd.gradcheck(of_inputs, inputs,
                                            fast_mode=True)
        except GradcheckError:
            if inputs[0].is_cpu:
                raise
            return False
    return run


def gradcheck(entry, dtype):
    def wrap(fn):
        return checked(fn, own_wrapper(entry))
    fn = wrap(entry.op)

    def each():
        for s in samples_of(entry, dtype, True):
            yield ((s.input, *s.args), s.kwargs,
                   of_sample(entry, s, wrap, fn),
                   sets_seed(entry) and is_random(entry, s))
    return fn, each()


def plain(entry, dtype):
    """(args, kwargs) of the first samples, as far as the generator comes."""
    return [((s.input, *s.args), s.kwargs)
            for s in first_samples(entry, dtype, FEW)]


def later(make):
    """What make() gives, from the moment that it is asked for."""
    yield from make()


def at_sizes(shapes):
    def mode(entry, dtype):
        return entry.op, later(lambda: derive.at_sizes(
            entry.op, plain(entry, dtype), dtype, shapes))
    return mode


def prefix(entry, dtype):
    return derive.whole_and_part(entry.op), later(lambda: derive.prefixes(
        entry.op, plain(entry, dtype)))


def host_scalar(place):
    def mode(entry, dtype):
        return entry.op, later(lambda: derive.with_scalar(
            plain(entry, dtype), place))
    return mode


def backward_subsets(entry, dtype):
    fn, batch = with_gradients()(entry, dtype)
    return fn, later(lambda: derive.by_subsets(
        list(itertools.islice(batch, FEW))))


def refused(entry, dtype):
    return None, derive.refusals(entry.op, entry.get_inplace(),
                                 entry.supports_out, plain(entry, dtype))


OUTS = {"out": out_right, "out_stepped": out_stepped,
        "out_offset": out_offset, "out_resize": out_resize}
MODES = {
    "refused": refused,
    "tiny": at_sizes(derive.tiny), "edges": at_sizes(derive.edges),
    "prefix": prefix, "host_scalar": host_scalar(1),
    "host_scalar_first": host_scalar(0),
    "backward_subsets": backward_subsets,
    "sensitivity": sensitivity, "gradcheck": gradcheck,
    "call": call, "errors": errors, "inplace": inplace,
    **{name: with_out(make) for name, make in OUTS.items()},
    "backward": with_gradients(),
    "backward_expanded": with_gradients("expanded"),
    "backward_stepped": with_gradients("stepped"),
    "backward_permuted": with_gradients("permuted"),
    "backward_offset": with_gradients("offset"),
    "gradgrad": with_gradients(order=2), "jvp": jvp,
}


def find(key):
    entry = entries.get(key)
    if entry is None:
        raise LookupError("unknown op '%s'" % key)
    return entry


def function(key, dtype, mode):
    """What is called with each sample of an entry, but for those that samples()
    says have a callable of their own."""
    return MODES[mode](find(key), getattr(torch, dtype))[0]


def as_tensors(value):
    """NumPy's arrays and numbers as tensors."""
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return torch.from_numpy(numpy.array(value))
    if isinstance(value, (tuple, list)):
        made = map(as_tensors, value)
        return list(made) if type(value) is list else tuple(made)
    return value


# Modes whose result is that of a plain call.
AS_CALLED = {"call", "tiny", "edges", "host_scalar", "host_scalar_first",
             "inplace", *OUTS}


def has_ref(entry):
    return callable(entry.ref) and \
        getattr(entry.ref, "__name__", "") != "_NOTHING"


def by_numpy(key, mode):
    """What the database says that mode's call is in NumPy, as a call with the
    same arguments; None where it says nothing.  It raises where NumPy's has
    other arguments."""
    entry = entries.get(key)
    if entry is None or mode not in AS_CALLED or not has_ref(entry):
        return None

    def run(*args, out=None, **kwargs):
        args, kwargs = derive.rebuilt(
            (args, kwargs), lambda t: t.detach().resolve_conj().resolve_neg())
        s = SampleInput(args[0], args=args[1:], kwargs=kwargs).numpy()
        return as_tensors(entry.ref(s.input, *s.args, **s.kwargs))
    return run


def samples(name, key, dtype, mode, n, limit, folder=None, decoder=None,
            via=None, roomy=0, variant=None):
    """[(callable, args, kwargs, random, own), …] of an entry; at most limit,
    0: all, and then as many that are roomy.  own: the callable is that
    sample's, not the entry's.  LookupError: there is no such case."""
    if name == "aten":
        import aten
        return aten.samples(key, via, dtype, variant, n, limit)
    if name != "opinfo":
        return suite.samples(name, key, dtype, mode, n, limit, folder,
                             decoder)
    entry = find(key)
    suite.seed(n)
    fn, batch = MODES[mode](entry, getattr(torch, dtype))
    if limit:
        batch = derive.telling(batch, limit, roomy)
    return [(s[2] if len(s) > 2 else fn, s[0], s[1],
             len(s) > 3 and s[3], len(s) > 2 and s[2] is not fn)
            for s in batch]
