"""Operations on lists of tensors, from PyTorch's own table of them: as a list
of other tensors and in place, with lists of one, with empty tensors in between,
with other strides, and with lists that don't match, which are refused."""
import itertools

import torch
from torch.testing._internal import common_methods_invocations as database
from suite import COMPLEX, FLOATS, INTS, case, refused, seed

TABLES = ("unary", "binary", "pointwise", "reduce", "other")
DTYPES = FLOATS + INTS + COMPLEX + ("bool",)


def entries():
    for table in TABLES:
        yield from getattr(database, "foreach_%s_op_db" % table, ())


def in_lists(fn, value, shift=0):
    """The value with fn(tensor, place) for each tensor of a list."""
    if not isinstance(value, (list, tuple)):
        return value
    return [fn(x, i + shift) if isinstance(x, torch.Tensor) else x
            for i, x in enumerate(value)]


def parted(x, i):
    """One with gaps, the next turned, the third as it is."""
    if x.dim() != 2 or i % 3 == 2:
        return x
    if i % 3:
        return x.t().contiguous().t()
    room = torch.zeros(x.shape[0], 2 * x.shape[1] + 1, dtype=x.dtype)
    view = room[:, 1::2][:, :x.shape[1]]
    view.copy_(x)
    return view


def hollow(x, i):
    """The first of three is empty."""
    return x[:0] if x.dim() and i % 3 == 0 else x


def large(x, _):
    """Beyond what 24 bits hold, and its root, too."""
    return x * 2.0**50


def samples_of(entry, dtype):
    """(list, args, kwargs): a list of one, and lists with other layouts."""
    def made(n):
        # Not by sample_inputs(), which notes where each sample comes from.
        return entry.sample_inputs_func(entry, "cpu", dtype, False,
                                        num_input_tensors=[n])
    for s in itertools.chain(made(4), made(1)):
        yield s.input, list(s.args), dict(s.kwargs)
        if len(s.input) == 1:
            continue
        yield in_lists(parted, s.input), [in_lists(parted, a, 1)
                                          for a in s.args], dict(s.kwargs)
        yield in_lists(hollow, s.input), [in_lists(hollow, a)
                                          for a in s.args], dict(s.kwargs)
        if dtype in (torch.float32, torch.float64):
            yield in_lists(large, s.input), list(s.args), dict(s.kwargs)


def works(fn, sample):
    """What the CPU refuses of the table is no sample."""
    tensors, args, kwargs = sample
    copies = [[x.clone() for x in tensors]] + [
        [y.clone() if isinstance(y, torch.Tensor) else y for y in a]
        if isinstance(a, (list, tuple)) else a for a in args]
    try:
        fn(*copies, **kwargs)
    except Exception:
        return False
    return True


def in_place(fn):
    """The list itself is what is written to, so it is what is looked at."""
    def run(tensors, *args, **kwargs):
        fn(tensors, *args, **kwargs)
        return tensors
    return run


def usable(entry, fn, dtype):
    for sample in samples_of(entry, dtype):
        if works(fn, sample):
            yield sample


def misfits(sample):
    """The sample with a list, of tensors or numbers, that is one too short."""
    tensors, args, kwargs = sample
    for i, a in enumerate(args):
        if isinstance(a, (list, tuple)) and len(a) > 1:
            yield tensors, (*args[:i], a[:-1], *args[i + 1:]), kwargs


def declare(entry, name, fn):
    def dtypes():
        """Those that the CPU takes in that form."""
        seed(0)
        kinds = [d for d in DTYPES if getattr(torch, d) in entry.dtypes]
        return [d for d in kinds
                if any(True for _ in usable(entry, fn, getattr(torch, d)))]

    def make_samples(make):
        batch = list(usable(entry, fn, make.dtype))
        for tensors, args, kwargs in batch:
            yield fn, (tensors, *args), kwargs
        for tensors, args, kwargs in itertools.chain.from_iterable(
                map(misfits, batch[:1])):
            yield refused(fn), (tensors, *args), kwargs
    case(name, dtypes, level=4, capability="foreach",
         tags={"family": "foreach"})(make_samples)


for e in entries():
    out_of_place = getattr(torch, e.name, None)
    inplace = e.inplace_variant
    if out_of_place is not None:
        declare(e, e.name, out_of_place)
    if inplace is not None:
        declare(e, e.name + "_", in_place(inplace))
