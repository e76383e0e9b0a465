"""Samples made from the database's own: at other sizes, of a part of a batch,
with a scalar that stays on the host, with some of the gradients wanted."""
import itertools
import math

import torch

# Elements of a result at the smallest size, and at any.
SMALL, LARGE = 1 << 12, 1 << 16
EDGES = (31, 32, 33, 255, 256, 257, 1023, 1024, 1025)


def rebuilt(value, f):
    """value with each tensor in it replaced by what f makes of it."""
    if isinstance(value, torch.Tensor):
        return f(value)
    if type(value) in (tuple, list):
        return type(value)(rebuilt(v, f) for v in value)
    if type(value) is dict:
        return {k: rebuilt(v, f) for k, v in value.items()}
    return value


def tensors(value):
    found = []
    rebuilt(value, found.append)
    return found


ROOM = 4            # elements, for an odd value among others
WALK = 24           # samples among which there may be such


def with_room(batch, n):
    """n of the samples whose first floats are ROOM or more, from all over and
    again where there are fewer; none where none has room."""
    def has_room(sample):
        floats = (t.numel() for t in tensors(sample[:2])
                  if t.is_floating_point())
        return next(floats, 0) >= ROOM
    found = list(filter(has_room, batch))
    return [found[i * len(found) // n] for i in range(n if found else 0)]


def telling(batch, limit, roomy=0):
    """At most limit samples; those without elements come last but for two, as
    far as there are others among the first.  Then as many as roomy that have
    room, be they there before or not."""
    if roomy:
        batch = list(itertools.islice(batch, max(WALK, 4 * limit)))
        few = telling(iter(batch), limit)
        # What comes after the limit is told by its place.
        return (few * limit)[:limit] + with_room(batch, roomy)
    kept, rest, empty = [], [], 0
    for sample in itertools.islice(batch, 4 * limit):
        sized = all(t.numel() for t in tensors(sample[:2])
                    if t.layout is torch.strided)
        empty += not sized
        (kept if sized or empty <= 2 else rest).append(sample)
        if len(kept) == limit:
            break
    return (kept + rest)[:limit]


def result_size(fn, args, kwargs):
    """How many elements the CPU's result has, -1 where it refuses; on copies,
    for what it may write to."""
    try:
        return sum(t.numel() for t in tensors(fn(
            *rebuilt(args, torch.clone), **rebuilt(kwargs, torch.clone))))
    except Exception:
        return -1


def common_shape(args, kwargs, dtype):
    """What the operands broadcast to; None where other sizes make no sense:
    an operand is an index, a list, sparse, or has a shape of its own."""
    ts = tensors((args, kwargs))
    if not ts or len(ts) != sum(isinstance(v, torch.Tensor) for v in
                                (*args, *kwargs.values())) or not all(t.layout is torch.strided and t.numel() and
                         not t.is_quantized and
                         t.dtype in (dtype, torch.bool) for t in ts):
        return None
    try:
        return tuple(torch.broadcast_shapes(*(t.shape for t in ts)))
    except RuntimeError:
        return None


def picked(t, shape):
    """t's values, in an order without a period, as a tensor of that shape."""
    at = (torch.arange(math.prod(shape)) * 2654435761 >> 7) % t.numel()
    return t.detach().reshape(-1)[at].reshape(shape)


def resized(args, kwargs, was, shape):
    """The call with operands that broadcast to shape instead of was."""
    def other(t):
        lead = len(was) - t.dim()
        keep = [1 if n == 1 and old != 1 else new for n, old, new in
                zip(t.shape, was[lead:], shape[lead:])]
        return picked(t, keep if shape else ())
    return rebuilt(args, other), rebuilt(kwargs, other)


def tiny(was):
    """No dimensions; each of them 0 or 1; all of them 1."""
    shapes = [was[:d] + (n,) + was[d + 1:]
              for d in range(len(was)) for n in (0, 1)]
    return [(), *shapes, *([(1,) * len(was)] if len(was) > 1 else [])]


def edges(was):
    """The last dimension around powers of two, in one row and two by turns."""
    rows = len(was) - 1
    return [((1 + i % 2,) + (1,) * (rows - 1) if rows else ()) + (edge,)
            for i, edge in enumerate(EDGES)] if was else []


def at_sizes(fn, batch, dtype, shapes):
    """(args, kwargs) at the sizes that shapes() names, by turns of the samples
    of most dimensions, as far as the CPU takes them."""
    found = []
    for args, kwargs in batch:
        was = common_shape(args, kwargs, dtype)
        if was is not None:
            found.append((args, kwargs, was))
    rank = max((len(f[2]) for f in found), default=0)
    # One that grows faster than its operands is large at the smallest size.
    found = [f for f in found if len(f[2]) == rank and (
        not rank or result_size(fn, *resized(*f, shapes(f[2])[0])) < SMALL)]
    for i in range(len(shapes((2,) * rank)) if found else 0):
        for turn in range(min(len(found), 3)):
            args, kwargs, was = found[(i + turn) % len(found)]
            call = resized(args, kwargs, was, shapes(was)[i])
            size = result_size(fn, *call)
            if size > LARGE:
                return
            if size >= 0:
                yield call
                break


def heads(value, n, k):
    """value with each tensor of n rows cut to its first k."""
    return rebuilt(value, lambda t: t[:k] if t.dim() and t.shape[0] == n
                   else t)


def whole_and_part(fn):
    """fn made into a call that gives the first rows of its result, and its
    result for the first rows: half of those that its first operand has."""
    def run(*args, **kwargs):
        n = args[0].shape[0]
        k = n // 2
        whole = fn(*args, **kwargs)
        part = fn(*heads(args, n, k), **heads(kwargs, n, k))
        return heads(tensors(whole), n, k), tensors(part)
    return run


def agree(whole, part, k):
    return len(whole) == len(part) > 0 and all(
        a.layout is b.layout is torch.strided and a.dtype is b.dtype and
        a.shape == b.shape and a.dim() > 0 and a.shape[0] == k and
        torch.allclose(a, b, rtol=1e-3, atol=1e-5, equal_nan=True)
        for a, b in zip(whole, part))


def prefixes(fn, batch):
    """(args, kwargs) of the samples in which the CPU treats the rows of the
    first operand apart."""
    run = whole_and_part(fn)
    for args, kwargs in batch:
        first = args[0] if args else None
        if not isinstance(first, torch.Tensor) or \
                first.layout is not torch.strided or not first.dim() or \
                first.shape[0] < 2 or first.is_quantized:
            continue
        n = first.shape[0]
        try:
            fit = agree(*run(*rebuilt(args, torch.clone),
                             **rebuilt(kwargs, torch.clone)), n // 2)
        except Exception:
            continue
        if fit:
            yield args, kwargs


def proper_subsets(n):
    """Of n things, neither none nor all: every set of up to three, else each
    alone, neighbours, and all but one."""
    if n <= 3:
        return [set(c) for k in range(1, n)
                for c in itertools.combinations(range(n), k)]
    every = set(range(n))
    return [{i} for i in range(n)] + [{i, i + 1} for i in range(n - 1)] + \
        [every - {i} for i in range(n)]


def grads(value):
    """The tensors that want a gradient, each once."""
    return list({id(t): t for t in tensors(value)
                 if t.requires_grad}.values())


def wanting(args, kwargs, keep):
    """The call in which only some of the operands want a gradient."""
    number = {id(t): i for i, t in enumerate(grads((args, kwargs)))}

    def one(t):
        return t.detach() if number.get(id(t), -1) not in keep | {-1} else t
    return rebuilt(args, one), rebuilt(kwargs, one)


def by_subsets(batch):
    """(args, kwargs, what else came with the sample): the samples with most
    gradients, by turns, each subset of which is wanted once."""
    most = max((len(grads(s[:2])) for s in batch), default=0)
    batch = [s for s in batch if len(grads(s[:2])) == most]
    for i, keep in enumerate(proper_subsets(most)):
        args, kwargs, *more = batch[i % len(batch)]
        yield (*wanting(args, kwargs, keep), *more)


def with_scalar(batch, place):
    """(args, kwargs) with a tensor without dimensions as the operand at place
    of the first two."""
    for args, kwargs in batch:
        if len(args) < 2 or not all(isinstance(a, torch.Tensor) and a.numel()
                                    for a in args[:2]):
            continue
        two = list(args)
        two[place] = two[place].detach().reshape(-1)[-1].clone()
        if two[1 - place].dim():
            yield tuple(two), kwargs


NARROWER = {"complex": torch.float32, "float": torch.int64, "int": torch.bool}


def kind_of(dtype):
    return "complex" if dtype.is_complex else \
        "float" if dtype.is_floating_point else \
        "bool" if dtype is torch.bool else "int"


def with_value(args, i, value):
    return (*args[:i], value, *args[i + 1:])


def plain_one(t):
    return isinstance(t, torch.Tensor) and t.layout is torch.strided and \
        t.numel() > 0 and not t.is_quantized


def with_operand(make):
    """A kind of call: with what make() gives for each operand, or for the last
    of a list of them."""
    def kind(fn, args, kwargs):
        for i, a in enumerate(args):
            if plain_one(a):
                for other in make(a):
                    yield with_value(args, i, other), kwargs, fn
            elif type(a) in (list, tuple) and len(a) > 1 and plain_one(a[-1]):
                for other in make(a[-1]):
                    yield with_value(args, i, type(a)((*a[:-1], other))), \
                        kwargs, fn
    return kind


def longer(t):
    """Too long for the others, or not square any more."""
    if t.dim():
        yield picked(t, (*t.shape[:-1], t.shape[-1] + 2))


def of_rank(t):
    """With no dimension, and with two that are too many."""
    if t.dim():
        yield picked(t, ())
    yield t.detach()[None, None]


def singular(t):
    """A square matrix of zeros: all machines find it singular alike."""
    if t.dim() > 1 and t.shape[-1] == t.shape[-2] and \
            kind_of(t.dtype) in ("float", "complex"):
        yield torch.zeros_like(t)


def fractional(t):
    """An index that is no whole number."""
    if t.dtype in (torch.int64, torch.int32):
        yield t.to(torch.float32)


def no_such_dim(fn, args, kwargs):
    """A dimension, or whatever number or list of them it is, of 64."""
    if "dim" in kwargs:
        yield args, {**kwargs, "dim": 64}, fn
    for i, a in enumerate(args):
        if type(a) is int:
            yield with_value(args, i, 64), kwargs, fn
        elif type(a) in (list, tuple) and a and type(a[-1]) is int:
            yield with_value(args, i, type(a)((*a[:-1], 64))), kwargs, fn


def narrow_out(fn, args, kwargs):
    """A result that goes to a tensor of a narrower kind."""
    try:
        got = fn(*rebuilt(args, torch.clone), **kwargs)
    except Exception:
        return
    several = type(got) is not torch.Tensor
    outs = tensors(got)
    if outs and kind_of(outs[0].dtype) in NARROWER and \
            (not several or len(outs) == len(got)):
        outs[0] = torch.ones(outs[0].shape,
                             dtype=NARROWER[kind_of(outs[0].dtype)])
        yield args, {**kwargs, "out": tuple(outs) if several else outs[0]}, fn


def narrow_self(inplace):
    """In place to a tensor of a narrower kind."""
    def kind(_, args, kwargs):
        if args and plain_one(args[0]) and kind_of(args[0].dtype) in NARROWER:
            narrow = args[0].detach().to(NARROWER[kind_of(args[0].dtype)])
            yield with_value(args, 0, narrow), kwargs, inplace
    return kind


def small_self(inplace):
    """In place to a tensor without dimensions."""
    def kind(_, args, kwargs):
        if args and plain_one(args[0]) and args[0].dim() and \
                len(tensors(args)) > 1:
            yield with_value(args, 0, picked(args[0], ())), kwargs, inplace
    return kind


def refuses(fn, args, kwargs):
    """Whether the CPU refuses it, and not only because it lacks the kernel."""
    try:
        fn(*rebuilt(args, torch.clone), **rebuilt(kwargs, torch.clone))
        return False
    except NotImplementedError:
        return False
    except Exception as e:
        return "not implemented" not in str(e)


def refusals(fn, inplace, takes_out, batch):
    """(args, kwargs, callable) of what the CPU refuses: each kind by turns."""
    kinds = [with_operand(longer), no_such_dim,
             *([narrow_out] if takes_out else []),
             *([small_self(inplace), narrow_self(inplace)] if inplace else []),
             with_operand(of_rank), with_operand(fractional),
             with_operand(singular)]

    def calls(kind):
        for args, kwargs in batch:
            for call in kind(fn, args, kwargs):
                if refuses(call[2], *call[:2]):
                    yield call
    turns = [calls(kind) for kind in kinds]
    while turns:
        for turn in list(turns):
            call = next(turn, None)
            if call is None:
                turns.remove(turn)
            else:
                yield call
