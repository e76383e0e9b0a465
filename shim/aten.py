"""Overloads of the dispatcher, called as such: with what they are called with on
the way of an entry of PyTorch's databases, forward or backward; those that
write to an argument also with what their functional form is called with."""
import copy
import functools
import itertools

import torch

import boxed
import derive
import opinfo
import suite
from suite import extent, tensors

FEW = 3     # samples of a source that are asked what they reach
DATABASES = "foreach", "modules", "optim"   # suites made of PyTorch's own


def schemas():
    return [s for s in torch._C._jit_get_all_schemas()
            if s.name.startswith("aten::")]


def name_of(schema):
    base = schema.name.removeprefix("aten::")
    return "%s.%s" % (base, schema.overload_name) if schema.overload_name \
        else base


def outs(schema):
    return [a.name for a in schema.arguments if a.is_out]


def writes(schema):
    return any(a.alias_info is not None and a.alias_info.is_write
               for a in schema.arguments)


def inputs(schema):
    """What tells overloads of one name apart, less where results go."""
    return tuple((a.name, str(a.type)) for a in schema.arguments
                 if not a.is_out)


def base_of(schema):
    base = schema.name.removeprefix("aten::")
    return base if outs(schema) or not writes(schema) else \
        base.removesuffix("_")


@functools.cache
def surface():
    """{overload: (variant, the names of its results' arguments, the overload
    that gives the same as a new tensor, or None)}."""
    every = schemas()
    plain = {(base_of(s), inputs(s)): name_of(s) for s in every
             if not writes(s)}
    found = {}
    for s in every:
        variant = "out" if outs(s) else "inplace" if writes(s) else "plain"
        found[name_of(s)] = variant, outs(s), None if variant == "plain" \
            else plain.get((base_of(s), inputs(s)))
    return found


@functools.cache
def partners():
    """{overload: those that write what it gives as a new tensor}."""
    found = {}
    for name, (_, _, of) in surface().items():
        if of:
            found.setdefault(of, []).append(name)
    return found


def copies(args, kwargs):
    return derive.rebuilt(args, torch.clone), \
        derive.rebuilt(kwargs, torch.clone)


def given(names, want):
    """What a call whose results are want is given to write them to."""
    values = [want] if isinstance(want, torch.Tensor) or len(names) == 1 \
        else list(want)
    if len(values) != len(names):
        raise LookupError("results without a place")
    return dict(zip(names, (derive.rebuilt(v, opinfo.out_right)
                            for v in values)))


def same_form(first, want):
    """Could want be written to first, or to a list of such?"""
    old, new = tensors(first), tensors(want)
    return len(old) == len(new) and all(
        a.shape == b.shape and a.dtype == b.dtype for a, b in zip(old, new))


def writing(name, args, kwargs):
    """The call of an overload that writes, given that of its functional form;
    None where that is none: the result has another shape or type."""
    variant, into, of = surface()[name]
    call = boxed.find(name)
    try:
        a, k = copies(args, kwargs)
        want = boxed.find(of)(*a, **k)
        if variant == "out":
            kwargs = {**kwargs, **given(into, want)}
        elif not same_form(args[0], want):
            return None
        a, k = copies(args, kwargs)
        call(*a, **k)
    except Exception:
        return None
    return args, kwargs


def recorded(fn, args, kwargs):
    """Calls on the way of a call, {overload: (args, kwargs)}; the first one of
    each."""
    try:
        with torch.no_grad():
            calls = boxed.record(fn, args, kwargs)
    except Exception:
        return {}
    return {name: (args, kwargs) for name, args, kwargs in calls}


def forward(entry, dtype):
    for s in opinfo.samples_of(entry, dtype):
        yield entry.op, (s.input, *s.args), s.kwargs


def backward(entry, dtype):
    fn = torch.enable_grad()(opinfo.gradients(entry.op, "dense", 1))
    for s in opinfo.samples_of(entry, dtype, True):
        yield fn, (s.input, *s.args), s.kwargs


def of_suite(via, dtype, n):
    for fn, args, kwargs, *_ in suite.samples(*via.split("/"), opinfo.short(
            dtype), "call", n, 0):
        yield torch.enable_grad()(fn), args, kwargs


def ways(via, dtype, n):
    """The calls by which a source can reach overloads, one kind after the
    other: those that come first are taken where they do."""
    if "/" in via:
        return [of_suite(via, dtype, n)]
    entry = opinfo.find(via)
    return [forward(entry, dtype)] + [backward(entry, dtype)] * (
        dtype in entry.backward_dtypes and dtype.is_floating_point)


def call_of(name, calls):
    """What of these calls the overload is to be called with, or None."""
    if name in calls:
        return calls[name]
    of = surface()[name][2]
    return writing(name, *calls[of]) if of in calls else None


def sources():
    """{source: the dtypes that it has}: PyTorch's databases."""
    found = {key: sorted(map(opinfo.short, e.dtypes))
             for key, e in opinfo.entries.items()}
    for (name, op), c in suite.cases.items():
        if name in DATABASES and not c.absent:
            found["%s/%s" % (name, op)] = list(
                c.dtypes() if callable(c.dtypes) else c.dtypes)
    return found


def some_of(batch):
    """Its first samples, as far as the generator comes."""
    try:
        yield from itertools.islice(batch, FEW)
    except Exception:
        pass


def survey(via, dtypes):
    """{overload: {dtype: facts()}}, as far as the first samples of a source
    reach."""
    found = {}
    for name in dtypes:
        dtype = getattr(torch, name)
        for i, batch in enumerate(ways(via, dtype, 0)):
            for call in some_of(batch):
                note(found, name, recorded(*call), i > 0)
    return {name: kinds for name, kinds in found.items() if kinds}


def note(found, dtype, calls, training):
    for of in calls:
        for name in (of, *partners().get(of, ())):
            kinds = found.setdefault(name, {})
            call = name in surface() and dtype not in kinds and \
                call_of(name, calls)
            if call:
                kinds[dtype] = facts(call, training)


def facts(call, training):
    ts = tensors(call)
    return {"elements": extent([call]), "training": training,
            "sparse": any(t.layout is not torch.strided for t in ts)}


def rank(name, via):
    """How near a source is to an overload, least first."""
    base = name.partition(".")[0]
    entry = opinfo.entries.get(via)
    if entry is None:
        return True, base not in via, True, via
    return (entry.name != base, entry.aten_name != base,
            bool(entry.variant_test_name), via)


def tags_of(name):
    base, _, overload = name.partition(".")
    packet = getattr(torch.ops.aten, base)
    return getattr(packet, overload or "default").tags


def items(surveys):
    """The inventory of what surveys ({source: survey}) found: for each overload
    and each of the nearest sources that reach it, the dtypes of that one."""
    by_name = {}
    for via, found in surveys.items():
        for name, kinds in found.items():
            by_name.setdefault(name, {})[via] = kinds
    for name in sorted(by_name):
        done = set()
        for via in sorted(by_name[name], key=lambda v: rank(name, v)):
            kinds = {d: f for d, f in by_name[name][via].items()
                     if d not in done}
            if kinds:
                done.update(kinds)
                yield describe(name, via, kinds)


def called_of(name):
    """The database's name of what an overload computes; None where it has no
    entry for that."""
    base = name.partition(".")[0]
    if surface()[name][0] == "inplace":
        base = base.removesuffix("_")
    names, by_aten = database_names()
    for other in base, "nn.functional." + base:
        if other in names:
            return other
    return by_aten.get(base)


@functools.cache
def database_names():
    """The database's names, and the first one by the name in aten."""
    by_aten = {}
    for e in opinfo.op_db:
        by_aten.setdefault(e.aten_name, e.name)
    return {e.name for e in opinfo.op_db}, by_aten


def describe(name, via, kinds):
    variant = surface()[name][0]
    dtypes = sorted(kinds)
    record = {
        "v": 1, "kind": "overload", "id": "", "run": "", "suite": "aten",
        "op": name, "via": via, "aten": name.partition(".")[0],
        "dtypes": dtypes,
        "supports_out": variant == "out", "inplace": variant == "inplace",
        "random": torch.Tag.nondeterministic_seeded in tags_of(name),
        "elements": [max(f["elements"][i] for f in kinds.values())
                     for i in (0, 1)],
    }
    if variant != "plain":
        record[variant + "_dtypes"] = dtypes
    for capability in "training", "sparse":
        if any(f[capability] for f in kinds.values()):
            record["capability"] = capability
    called = called_of(name)
    return {**record, "called": called} if called else record


def function(name):
    found = boxed.find(name)
    if found is None:
        raise LookupError("unknown overload 'aten::%s'" % name)
    return found


def moved(make):
    """A tensor's values in another place, where it has one of its own."""
    def move(t):
        if t.layout is not torch.strided or t.requires_grad or \
                t.is_quantized or not t.numel():
            return t
        return make(t).copy_(t)
    return move


OUTS = (opinfo.out_right, opinfo.out_offset, opinfo.out_stepped,
        opinfo.out_resize)
SELVES = (lambda t: t, moved(opinfo.out_offset), moved(opinfo.out_stepped))


def grown(before, after):
    """Has a tensor with elements been given other memory, or more?  Then what
    is around it was not left alone, or is not around it any more."""
    return any(a.numel() and a.layout is torch.strided and
               a.untyped_storage().nbytes() != b.untyped_storage().nbytes()
               for a, b in zip(tensors(before), tensors(after)))


def same_results(call, one, other):
    """Does the CPU give the same for both, and write the same?"""
    found = []
    for args, kwargs in copy.deepcopy((one, other)):
        got = call(*args, **kwargs)
        found.append(tensors((got, args, kwargs)))
    return not grown(other, (args, kwargs)) and \
        len(found[0]) == len(found[1]) and all(
            a.shape == b.shape and torch.allclose(a, b, equal_nan=True)
            for a, b in zip(*found))


def elsewhere(name, args, kwargs, turn):
    """The call with what it writes to in the middle of other memory, with gaps,
    or to be resized, by turns."""
    variant, into, _ = surface()[name]
    if variant != "out":
        return (derive.rebuilt(args[0], SELVES[turn % len(SELVES)]),
                *args[1:]), kwargs
    # Of the size that the results have, whatever was given.
    a, k = copy.deepcopy((args, kwargs))
    boxed.find(name)(*a, **k)
    return args, {**kwargs, **{
        n: derive.rebuilt(k[n], OUTS[turn % len(OUTS)])
        for n in into if n in kwargs}}


def placed(name, args, kwargs, turn):
    """The same, or the call as it is where that makes a difference to the
    CPU."""
    try:
        other = elsewhere(name, args, kwargs, turn)
        if same_results(boxed.find(name), (args, kwargs), other):
            return other
    except Exception:
        pass
    return args, kwargs


def in_places(name, found):
    """The samples of an overload that writes to what it is given, each in one
    of the places, and every place at least once."""
    if surface()[name][0] == "plain" or not found:
        yield from found
        return
    for i in range(max(len(found), len(OUTS))):
        args, kwargs, fn, random, own = found[i % len(found)]
        if not random:
            args, kwargs = placed(name, args, kwargs, i)
        yield args, kwargs, fn, random, own


def samples(name, via, dtype, variant, n, limit):
    """As opinfo.samples(): what the overload is called with on the way of a
    source's samples.  Its variant is what its schema makes it."""
    if not via:
        raise LookupError("no 'via': whose samples call '%s'" % name)
    fn, found = function(name), []
    if variant != surface()[name][0]:
        raise LookupError("overload 'aten::%s' has no variant '%s', only '%s'"
                          % (name, variant, surface()[name][0]))
    random = torch.Tag.nondeterministic_seeded in tags_of(name)
    suite.seed(n)

    def each(batch):
        for call in batch:
            made = call_of(name, recorded(*call))
            if made:
                yield *made, fn, random, False
    for batch in ways(via, getattr(torch, dtype), n):
        found = found or (derive.telling(each(batch), limit) if limit else
                          list(each(batch)))
    if not found:
        raise ValueError("no sample of '%s' calls 'aten::%s' with %s"
                         % (via, name, dtype))
    return [(fn, args, kwargs, random, own)
            for args, kwargs, fn, random, own in in_places(name, found)]
