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
import importlib
import importlib.util
import itertools
import json
import os
import random
import re
import traceback

import numpy
import torch
from torch.testing import make_tensor

FLOATS = ("float32", "float16", "bfloat16", "float64")
INTS = ("int64", "int32", "int16", "int8", "uint8")
COMPLEX = ("complex64", "complex128")
CPU = torch.device("cpu")

TAGS = ("family", "category", "tier", "cost", "role", "runner")
TIERS = ("smoke", "standard", "heavy", "stress")

cases = {}


class Case:
    def __init__(self, suite, op, dtypes, level, capability, oracle, mb,
                 tags, container, make):
        self.suite, self.op, self.dtypes = suite, op, dtypes
        self.level, self.capability, self.oracle = level, capability, oracle
        self.mb, self.tags, self.container = mb, tags, container
        self.make = make


class SuiteError(Exception):
    """A suite file that can't be used: where, and what is wrong with it."""


loading = None


def check_tags(tags):
    for key, value in tags.items():
        if key not in TAGS:
            raise ValueError("unknown tag '%s', expected one of %s" %
                             (key, ", ".join(TAGS)))
        if not re.fullmatch("[a-z0-9_]+", value):
            raise ValueError("the tag '%s' is '%s', which is no plain word" %
                             (key, value))
    if tags.get("tier", TIERS[0]) not in TIERS:
        raise ValueError("unknown tier '%s', expected one of %s" %
                         (tags["tier"], ", ".join(TIERS)))
    return dict(tags)


def case(op, dtypes=("float32",), level=2, capability="inference",
         oracle=None, mb=0, tags=(), container=None):
    """Declare a case.  oracle "metadata": values are not compared; mb: memory
    that it needs, where that is much; tags: words that cts-enum -k selects by;
    container: the format that the manifest must claim."""
    tags = check_tags(dict(tags))
    # A dtype that the installed PyTorch doesn't have is not there to be run.
    dtypes = tuple(d for d in dtypes if hasattr(torch, d))

    def declare(make):
        key = loading, op
        if key in cases:
            raise ValueError("case '%s' of suite '%s' comes twice" %
                             (op, loading))
        if dtypes:
            cases[key] = Case(loading, op, dtypes, level, capability, oracle,
                              mb, tags, container, make)
        return make
    return declare


def where(path, error):
    """'path:line: what', for an error of a suite file."""
    line = getattr(error, "lineno", None) \
        if isinstance(error, SyntaxError) else None
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == path:
            line = frame.lineno
    text = str(error).splitlines() or [""]
    return "%s:%s: %s: %s" % (path, line or 1, type(error).__name__, text[0])


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
        try:
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
        except (Exception, SystemExit) as e:
            raise SuiteError(where(path, e)) from None
        finally:
            loading = None


loaded = set()


def load_extra(folder):
    """As load(), of a folder that the manifest names; once."""
    if folder in loaded:
        return
    known = {suite for suite, _ in cases} | {"opinfo", "aten"}
    for name in sorted(os.listdir(folder)):
        stem, ext = os.path.splitext(name)
        if ext == ".py" and stem in known:
            raise SuiteError("%s:1: a suite is called '%s' already" %
                             (os.path.join(folder, name), stem))
    load(folder)
    loaded.add(folder)


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from tensors_in(tuple(value.values()))
    elif isinstance(value, (tuple, list)):
        for v in value:
            yield from tensors_in(v)


def extent(samples):
    """[elements of the largest tensor, of all tensors of the largest sample],
    which is what limits of memory are held against."""
    one = total = 0
    for values in samples:
        sizes = [t.numel() for t in tensors_in(values)]
        one = max([one, *sizes])
        total = max(total, sum(sizes))
    return [one, total]


def extent_of(c):
    """That of a case; nothing where it says itself what it needs, or can't be
    asked now: a decoder, say, is not there."""
    if c.mb:
        return None
    try:
        return extent(s[1:3] for s in samples(c.suite, c.op, c.dtypes[0],
                                              "call", 0, 0))
    except Exception:
        return None


def describe(c):
    record = {"v": 1, "kind": "suite", "id": "", "run": "",
              "suite": c.suite, "op": c.op, "dtypes": sorted(c.dtypes),
              "level": c.level, "capability": c.capability}
    for key in ("oracle", "mb", "tags", "container"):
        value = getattr(c, key)
        if value:
            record[key] = value
    size = extent_of(c)
    if size:
        record["elements"] = size
    return record


def inventory():
    for key in sorted(cases):
        yield json.dumps(describe(cases[key]), separators=(",", ":"))


def inventory_of(folder):
    """The cases of such a folder; or one record that says what is wrong."""
    own = set(cases)
    try:
        load_extra(folder)
    except (SuiteError, OSError) as e:
        text = str(e) if isinstance(e, SuiteError) else \
            "%s: %s" % (folder, e.strerror)
        yield json.dumps({"v": 1, "kind": "suite_error", "id": "", "run": "",
                          "message": text}, separators=(",", ":"))
        return
    for key in sorted(set(cases) - own):
        yield json.dumps(describe(cases[key]), separators=(",", ":"))


def seed(n):
    """Seed all that sample generators draw from."""
    torch.manual_seed(n)
    random.seed(n)
    numpy.random.seed(n % 2**32)


def find_decoder(text):
    module, _, path = text.partition(":")
    found = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found


def samples(suite, op, dtype, mode, n, limit, folder=None, decoder=None):
    """[(callable, args, kwargs, random, own), …] of a case; at most limit,
    0: all.  folder: where the suite is, if not in suites/."""
    if folder:
        load_extra(folder)
    c = cases.get((suite, op))
    if c is None:
        raise LookupError("unknown case '%s' of suite '%s'" % (op, suite))
    if mode != "call":
        raise LookupError("suite '%s' has no '%s' form" % (suite, mode))
    kind = getattr(torch, dtype)

    def make(*shape, low=None, high=None, grad=False, dtype=kind):
        return make_tensor(shape, dtype=dtype, device="cpu", low=low,
                           high=high, requires_grad=grad)

    make.decoder = find_decoder(decoder) if decoder else None
    seed(n)
    batch = c.make(make)
    if limit:
        batch = itertools.islice(batch, limit)
    return [(s[0], tuple(s[1]), dict(s[2]) if len(s) > 2 else {},
             c.oracle == "metadata", True) for s in batch]


load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "suites"))
