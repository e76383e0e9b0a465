"""Operations on lists of tensors, from PyTorch's own table of them: as a list
of other tensors and in place, with lists of one, with empty tensors in between,
with other strides."""
import itertools

import torch
from torch.testing._internal import common_methods_invocations as database
from suite import COMPLEX, FLOATS, INTS, case, seed

TABLES = ("unary", "binary", "pointwise", "reduce", "other")
DTYPES = FLOATS + INTS + COMPLEX + ("bool",)


def entries():
    for table in TABLES:
        yield from getattr(database, "foreach_%s_op_db" % table, ())


def parted(sample):
    """The sample's first tensor of a list as one with gaps, the next turned."""
    def other(x, i):
        if not isinstance(x, torch.Tensor) or x.dim() != 2 or i % 3 == 2:
            return x
        if i % 3:
            return x.t().contiguous().t()
        room = torch.zeros(x.shape[0], 2 * x.shape[1] + 1, dtype=x.dtype)
        view = room[:, 1::2][:, :x.shape[1]]
        view.copy_(x)
        return view
    return [other(x, i) for i, x in enumerate(sample)]


def samples_of(entry, dtype):
    """(list, args, kwargs), few tensors a list and few lists."""
    sizes = itertools.chain(
        entry.sample_inputs("cpu", dtype, num_input_tensors=[3],
                            intersperse_empty_tensors=[False]),
        entry.sample_inputs("cpu", dtype, num_input_tensors=[5],
                            intersperse_empty_tensors=[True]))
    for s in sizes:
        args, kwargs = list(s.args), dict(s.kwargs)
        yield s.input, args, kwargs
        yield parted(s.input), args, kwargs


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


def declare(entry, name, fn):
    def dtypes():
        """Those that the CPU takes in that form."""
        seed(0)
        kinds = [d for d in DTYPES if getattr(torch, d) in entry.dtypes]
        return [d for d in kinds
                if any(True for _ in usable(entry, fn, getattr(torch, d)))]

    def make_samples(make):
        for tensors, args, kwargs in usable(entry, fn, make.dtype):
            yield fn, (tensors, *args), kwargs
    case(name, dtypes, level=4, capability="foreach",
         tags={"family": "foreach"})(make_samples)


for e in entries():
    out_of_place = getattr(torch, e.name, None)
    inplace = e.inplace_variant
    if out_of_place is not None:
        declare(e, e.name, out_of_place)
    if inplace is not None:
        declare(e, e.name + "_", in_place(inplace))
