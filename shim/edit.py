"""A sample made smaller, by one edit after the other, for `make repro`.

An edit is a word and a number, "half 0", and makes a sample simpler or is not
for it: what has been done to a sample can't be undone by a further edit, so that
trying them comes to an end.  docs/repro.md lists them."""
import torch

import opinfo


class Sample:
    """The arguments of a call, as they are edited."""

    def __init__(self, args, kwargs):
        self.args, self.kwargs = args, dict(kwargs)

    def tensors(self):
        """Those that can be edited, each once, in order."""
        found = []
        for t in opinfo.tensors((self.args, self.kwargs)):
            if t.layout is torch.strided and not t.is_nested and \
                    not t.is_quantized and t.device.type == "cpu" and \
                    not any(t is u for u in found):
                found.append(t)
        return found

    def replace(self, new):
        """Put new[id(t)] in the place of t; True if there is any."""
        def walk(value):
            if isinstance(value, torch.Tensor):
                return new.get(id(value), value)
            if type(value) in (list, tuple):
                return type(value)(walk(v) for v in value)
            if type(value) is dict:
                return {k: walk(v) for k, v in value.items()}
            return value
        self.args, self.kwargs = walk(self.args), walk(self.kwargs)
        return bool(new)


def memory(t):
    """All elements of t's storage."""
    return torch.empty(0, dtype=t.dtype).set_(t.untyped_storage())


def alone(t, others):
    """Is t dense, and all that there is in its storage?"""
    return t.is_contiguous() and memory(t).numel() == t.numel() and \
        not t.is_conj() and not t.is_neg() and \
        not any(u is not t and u.untyped_storage()._cdata ==
                t.untyped_storage()._cdata for u in others)


def over(t, flat, strides=None):
    """t with its elements in other memory."""
    v = flat.as_strided(t.shape, t.stride() if strides is None else strides,
                        t.storage_offset() if strides is None else 0)
    v = v.conj() if t.is_conj() else v
    return torch._neg_view(v) if t.is_neg() else v


def like(t, v):
    """v as an operand that t was."""
    return v.detach().requires_grad_(t.requires_grad)


def views(sample, make):
    """Each tensor t that make(t) gives a view of becomes that; one that was
    dense stays dense."""
    ts, new = sample.tensors(), {}
    for t in ts:
        v = make(t)
        if v is not None:
            new[id(t)] = like(t, v.clone(
                memory_format=torch.contiguous_format)
                if alone(t, ts) else v)
    return sample.replace(new)


def cut(first, count):
    """An edit: where a dimension has the N-th largest size n, it keeps
    count(n) elements from first(n) on, in all tensors."""
    def edit(sample, which):
        sizes = sorted({n for t in sample.tensors() for n in t.shape if n > 1},
                       reverse=True)
        if which >= len(sizes):
            return False
        n = sizes[which]

        def make(t):
            v = t
            for d in range(t.dim()):
                if t.shape[d] == n:
                    v = v.narrow(d, first(n), count(n))
            return None if v is t else v
        return views(sample, make)
    return edit


def less(sample, which):
    """The longest dimension of one tensor alone is halved."""
    ts = sample.tensors()
    if which >= len(ts) or max(ts[which].shape, default=0) < 2:
        return False
    shape = ts[which].shape
    d = shape.index(max(shape))
    return views(sample, lambda t: t.narrow(d, 0, shape[d] // 2)
                 if t is ts[which] else None)


def flat(sample, which):
    """One dimension less: the first (0) or last (1) of all tensors that have
    the most; or (2, 3, ...) the first of one tensor alone."""
    ts = sample.tensors()
    most = max((t.dim() for t in ts), default=0)

    def make(t):
        d = -1 if which == 1 else 0
        chosen = t.dim() == most if which < 2 else ts[which - 2] is t
        return t.select(d, 0) if chosen and t.dim() and t.shape[d] else None
    return most > 0 and which - 2 < len(ts) and views(sample, make)


def dense(sample, which):
    """One tensor has its own memory, without gaps and in order."""
    ts = sample.tensors()
    if which >= len(ts) or alone(ts[which], ts):
        return False
    t = ts[which]
    v = t.detach().resolve_conj().resolve_neg()
    return sample.replace({id(t): like(t, v.clone(
        memory_format=torch.contiguous_format))})


def packed(sample, which):
    """One tensor has its own memory without gaps, in the order it had."""
    ts = sample.tensors()
    if which >= len(ts):
        return False
    t, step = ts[which], 1
    strides = [0] * t.dim()
    for d in sorted(range(t.dim()), key=lambda d: (t.stride(d), -d)):
        if t.stride(d):
            strides[d] = step
            step *= t.shape[d]
    if memory(t).numel() <= step or not t.numel():
        return False
    v = over(t, torch.zeros(step, dtype=t.dtype), strides)
    for d in range(t.dim()):
        if not t.stride(d) and t.shape[d] > 1:
            t, v = t.narrow(d, 0, 1), v.narrow(d, 0, 1)
    v.copy_(t.detach())
    t = ts[which]
    v = over(t, memory(v), strides)
    return sample.replace({id(t): like(t, v)})


def same_bits(a, b):
    return torch.equal(a.view(torch.uint8), b.view(torch.uint8))


def values(change):
    """An edit: what change() makes of all elements of the tensors' memory, of
    all (0), or of that of one (1, 2, ...)."""
    def edit(sample, which):
        ts, made, new = sample.tensors(), {}, {}
        if which > len(ts):
            return False
        for t in ts[which - 1:which] if which else ts:
            key = t.untyped_storage()._cdata
            old = memory(t)
            if key not in made:
                made[key] = change(old)
            if not same_bits(made[key], old):
                new[id(t)] = like(t, over(t, made[key]))
        return sample.replace(new)
    return edit


def rounded(old):
    if old.is_complex():
        return torch.view_as_complex(torch.view_as_real(old).round())
    return old.round() if old.is_floating_point() else old


def fewer(sample, which):
    """A list of tensors is one shorter."""
    lists = [(i, v) for i, v in enumerate(sample.args)
             if isinstance(v, (list, tuple)) and len(v) > 1 and
             isinstance(v[0], torch.Tensor)]
    if which >= len(lists):
        return False
    i, v = lists[which]
    sample.args = (*sample.args[:i], v[:-1], *sample.args[i + 1:])
    return True


def without(sample, which):
    """An argument that is given by name is not."""
    names = sorted(sample.kwargs)
    if which >= len(names):
        return False
    del sample.kwargs[names[which]]
    return True


EDITS = {
    "one": cut(lambda n: 0, lambda n: 1),
    "half": cut(lambda n: 0, lambda n: n // 2),
    "rest": cut(lambda n: n // 2, lambda n: n - n // 2),
    "shorter": cut(lambda n: 0, lambda n: n - 1),
    "later": cut(lambda n: 1, lambda n: n - 1),
    "less": less, "flat": flat, "dense": dense, "packed": packed,
    "ones": values(torch.ones_like), "rounded": values(rounded),
    "fewer": fewer, "without": without,
}


def apply(key, mode, sample, edits):
    """The sample as edited; None where an edit is not for it."""
    fn, args, kwargs, *rest = sample
    kwargs = dict(kwargs)
    out = kwargs.pop("out", None) if mode in opinfo.OUTS else None
    s = Sample(args, kwargs)
    try:
        for edit in edits:
            word, number = edit.split()
            with torch.no_grad():
                if not EDITS[word](s, int(number)):
                    return None
        if out is not None:
            s.kwargs["out"] = opinfo.out_for(
                opinfo.OUTS[mode], opinfo.entries[key].op(*s.args, **s.kwargs))
    except Exception:
        return None
    return (fn, s.args, s.kwargs, *rest)
