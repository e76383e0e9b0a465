"""Casts between all pairs of dtypes, and which dtype an operation on two of them
gives: for tensors, tensors without dimensions and Python numbers."""
import torch
from suite import COMPLEX, FLOATS, INTS, case

ALL = FLOATS + INTS + COMPLEX + ("bool",)
WIDE = ("uint16", "uint32", "uint64")
NARROW = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
          "float8_e5m2fnuz")
TAGS = {"family": "dtypes"}


def kinds(names):
    return [getattr(torch, n) for n in names if hasattr(torch, n)]


def source(make, *shape):
    """Values that every dtype holds in some form: none is negative, so that no
    cast to an unsigned type is undefined."""
    x = make(*shape, low=0, high=100) if make.dtype is not torch.bool else \
        make(*shape)
    return x.abs() if x.is_complex() else x



@case("cast", ALL, level=2, tags=TAGS)
def _(make):
    for kind in kinds(ALL + WIDE):
        def run(x, kind=kind):
            return x.to(kind)
        yield run, (source(make, 3, 4),)
        yield run, (source(make, 4, 3).t(),)
        yield run, (source(make, 4, 6)[1:, 1::2],)
        yield run, (source(make),)
        yield run, (source(make, 0, 3),)
        yield run, (source(make, 3, 1).expand(3, 4),)


@case("cast_narrow", FLOATS, level=4, capability="fp8", tags=TAGS)
def _(make):
    """To eight bits and back: each value is rounded to the nearest, and halves
    to even; what is beyond is as PyTorch says."""
    steps = torch.arange(-40, 41) / 16
    for kind in kinds(NARROW):
        def run(x, kind=kind):
            y = x.to(kind)
            return y.view(torch.uint8), y.to(torch.float32)
        yield run, (make(3, 4, low=-9, high=9),)
        yield run, (steps.to(make.dtype),)
        yield run, (make(4, 6, low=-9, high=9)[1:, 1::2],)


@case("written_across", ALL, level=3, tags=TAGS)
def _(make):
    """A copy into a tensor of another dtype, into a part of it as well."""
    for kind in kinds(ALL):
        def run(x, y):
            y.copy_(x)
            return y

        def part(x, y):
            y[1:, ::2] = x[1:, ::2]
            return y
        for fn in (run, part):
            yield fn, (source(make, 3, 4), torch.zeros(3, 4, dtype=kind))
            yield fn, (source(make, 4, 3).t(),
                       torch.zeros(3, 9, dtype=kind)[:, 1::2])


def told(x):
    return x, str(x.dtype)


OPS = {
    "add": torch.add, "mul": torch.mul, "div": torch.div, "eq": torch.eq,
    "maximum": torch.maximum, "where": lambda a, b: torch.where(a == a, a, b),
    "cat": lambda a, b: torch.cat([a.reshape(-1), b.reshape(-1)]),
}


def takes(fn, *args):
    try:
        fn(*args)
    except Exception:
        return False
    return True


@case("promoted", ALL, level=2, tags=TAGS)
def _(make):
    for kind in kinds(ALL):
        for fn in OPS.values():
            def run(a, b, fn=fn):
                return told(fn(a, b))
            for a, b in ((source(make, 3, 4), torch.full((3, 4), 1)),
                         (source(make, 3, 4), torch.tensor(1)),
                         (source(make), torch.full((4,), 1))):
                b = b.to(kind)
                if takes(fn, a, b):
                    yield run, (a, b)


@case("promoted_numbers", ALL, level=2, tags=TAGS)
def _(make):
    for number in (True, 3, 2.5, 1 + 2j):
        for fn in (torch.add, torch.mul, torch.eq):
            def run(a, number=number, fn=fn):
                return told(fn(a, number))
            for a in (source(make, 3, 4), source(make), source(make, 0)):
                if takes(fn, a, number):
                    yield run, (a,)


@case("promoted_in_place", ALL, level=3, tags=TAGS)
def _(make):
    """What fits into the first operand is written there, and what doesn't is
    refused and leaves it as it was."""
    for kind in kinds(ALL):
        def run(a, b):
            try:
                a.add_(b)
            except RuntimeError:
                return True, a
            return False, a
        yield run, (source(make, 3, 4), torch.full((3, 4), 1).to(kind))


@case("results_of_reductions", ALL, level=2, tags=TAGS)
def _(make):
    for fn in (torch.sum, torch.prod, lambda x: torch.cumsum(x, 0),
               torch.any, torch.mean):
        def run(x, fn=fn):
            return told(fn(x))
        x = (source(make, 4) != 0).to(make.dtype)
        if takes(fn, x):
            yield run, (x,)
    for kind in kinds(ALL):
        def into(x, kind=kind):
            return told(torch.sum(x, 0, dtype=kind))
        yield into, ((source(make, 3, 4) != 0).to(make.dtype),)


@case("bits", ("float32", "int32", "int64", "float64", "complex64", "int16",
               "bfloat16"), level=3, tags=TAGS)
def _(make):
    """The same memory, seen as another dtype."""
    for kind in kinds(("uint8", "int16", "int32", "float32", "float16",
                       "int64", "bfloat16")):
        def run(x, kind=kind):
            return x.view(kind)
        for x in (make(3, 8, low=1, high=9), make(2, 3, 8, low=1,
                                                  high=9)[1:, 1:]):
            if takes(run, x):
                yield run, (x,)
