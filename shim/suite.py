"""Hand-written cases of suites/: what to compute, as a function of the device.

A suite file declares cases:

    @case("linear_k0", FLOATS, level=2)
    def _(make):
        yield torch.nn.functional.linear, (make(3, 4, 0), make(5, 0), make(5))

make(*shape) gives a CPU tensor of the case's dtype with values from its seed.
The engine calls the function twice, with the tensors (and any torch.device)
on the CPU and on the device, and looks at everything that comes back: a case
has no asserts of its own.
"""
import importlib.util
import itertools
import json
import os
import random

import numpy
import torch
from torch.testing import make_tensor

FLOATS = ("float32", "float16", "bfloat16", "float64")
INTS = ("int64", "int32", "int16", "int8", "uint8")
COMPLEX = ("complex64", "complex128")
CPU = torch.device("cpu")

cases = {}


class Case:
    def __init__(self, suite, op, dtypes, level, capability, oracle, mb,
                 make):
        self.suite, self.op, self.dtypes = suite, op, dtypes
        self.level, self.capability, self.oracle = level, capability, oracle
        self.mb, self.make = mb, make


loading = None


def case(op, dtypes=("float32",), level=2, capability="inference",
         oracle=None, mb=0):
    """Declare a case.  oracle "metadata": values are not compared; mb: memory
    that it needs, where that is much."""
    def declare(make):
        key = loading, op
        if key in cases:
            raise ValueError("case '%s' of suite '%s' comes twice" %
                             (op, loading))
        cases[key] = Case(loading, op, tuple(dtypes), level, capability,
                          oracle, mb, make)
        return make
    return declare


def load(folder):
    """Run every suite file below a folder, in the order of their names."""
    global loading
    for name in sorted(os.listdir(folder)):
        stem, ext = os.path.splitext(name)
        if ext != ".py":
            continue
        path = os.path.join(folder, name)
        loading = stem
        spec = importlib.util.spec_from_file_location("suites_" + stem, path)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    loading = None


def describe(c):
    record = {"v": 1, "kind": "suite", "id": "", "run": "",
              "suite": c.suite, "op": c.op, "dtypes": sorted(c.dtypes),
              "level": c.level, "capability": c.capability}
    if c.oracle:
        record["oracle"] = c.oracle
    if c.mb:
        record["mb"] = c.mb
    return record


def inventory():
    for key in sorted(cases):
        yield json.dumps(describe(cases[key]), separators=(",", ":"))


def seed(n):
    """Seed all that sample generators draw from."""
    torch.manual_seed(n)
    random.seed(n)
    numpy.random.seed(n % 2**32)


def samples(suite, op, dtype, mode, n, limit):
    """[(callable, args, kwargs, random), …] of a case; at most limit, 0: all."""
    c = cases.get((suite, op))
    if c is None:
        raise LookupError("unknown case '%s' of suite '%s'" % (op, suite))
    if mode != "call":
        raise LookupError("suite '%s' has no '%s' form" % (suite, mode))
    kind = getattr(torch, dtype)

    def make(*shape, low=None, high=None, grad=False, dtype=kind):
        return make_tensor(shape, dtype=dtype, device="cpu", low=low,
                           high=high, requires_grad=grad)

    seed(n)
    batch = c.make(make)
    if limit:
        batch = itertools.islice(batch, limit)
    return [(s[0], tuple(s[1]), dict(s[2]) if len(s) > 2 else {},
             c.oracle == "metadata") for s in batch]


load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "suites"))
