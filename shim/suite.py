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
import inspect
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
                 tags, container, devices, absent, make):
        self.suite, self.op, self.dtypes = suite, op, dtypes
        self.level, self.capability, self.oracle = level, capability, oracle
        self.mb, self.tags, self.container = mb, tags, container
        self.devices, self.absent = devices, absent
        self.make = make


class SuiteError(Exception):
    """A suite file that can't be used: where, and what is wrong with it."""


class DecoderError(Exception):
    """A decoder that the manifest names, and that gives no tensor."""


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


def there(dtypes):
    """A dtype that the installed PyTorch lacks is not there to be run."""
    return tuple(d for d in dtypes if hasattr(torch, d))


def lacks(path):
    """Is there no such thing below torch: "Tensor.refine_names"?"""
    here = torch
    for name in path.split("."):
        here = getattr(here, name, None)
    return here is None


def case(op, dtypes=("float32",), level=2, capability="inference",
         oracle=None, mb=0, tags=(), container=None, devices=1, needs=None):
    """Declare a case.  dtypes may be a function that gives them, for what takes
    time to find out: it is asked when the inventory is made.  oracle
    "metadata": values are not compared; mb: memory that it needs, where that
    is much; tags: words that cts-enum -k selects by; container: the format that
    the manifest must claim; devices: how many must be there; needs: what
    PyTorch must have, such as "Tensor.refine_names"."""
    tags = check_tags(dict(tags))
    absent = needs is not None and lacks(needs)
    if not callable(dtypes):
        dtypes = there(dtypes)

    def declare(make):
        key = loading, op
        if key in cases:
            raise ValueError("case '%s' of suite '%s' comes twice" %
                             (op, loading))
        if dtypes:
            cases[key] = Case(loading, op, dtypes, level, capability, oracle,
                              mb, tags, container, devices, absent, make)
        return make
    return declare


def claimed(want, fn):
    """A call that on a device is fn; the CPU, which has no such thing, answers
    with what must be seen there: want, or want(the same arguments)."""
    def run(*args):
        first = args[0]
        device = first if isinstance(first, torch.device) else first.device
        if device.type != "cpu":
            return fn(*args)
        return want(*args) if callable(want) else want
    return run


def refused(fn):
    """Whether it is refused, of a call that PyTorch says must be."""
    def run(*args, **kwargs):
        try:
            fn(*args, **kwargs)
        except Exception:
            return True
        return False
    return run


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


def tensors(value):
    """The tensors in nested arguments or results, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (tuple, list)):
        return []
    return [t for v in value for t in tensors(v)]


def extent(samples):
    """[elements of the largest tensor, of all tensors of the largest sample],
    which is what limits of memory are held against."""
    one = total = 0
    for values in samples:
        sizes = [t.numel() for t in tensors(values)]
        one = max([one, *sizes])
        total = max(total, sum(sizes))
    return [one, total]


def extent_of(c, dtype):
    """That of a case; nothing where it says itself what it needs, or can't be
    asked now: a decoder, say, is not there."""
    if c.mb:
        return None
    try:
        return extent(s[1:3] for s in samples(c.suite, c.op, dtype, "call",
                                              0, 0))
    except Exception:
        return None


def describe(c):
    """Its record, or None where it is for no dtype."""
    dtypes = there(c.dtypes()) if callable(c.dtypes) else c.dtypes
    if not dtypes:
        return None
    record = {"v": 1, "kind": "suite", "id": "", "run": "",
              "suite": c.suite, "op": c.op, "dtypes": sorted(dtypes),
              "level": c.level, "capability": c.capability}
    for key in ("oracle", "mb", "tags", "container", "absent"):
        value = getattr(c, key)
        if value:
            record[key] = value
    size = extent_of(c, dtypes[0])
    if size:
        record["elements"] = size
    if c.devices > 1:
        record["devices"] = c.devices
    return record


def record_of(key):
    """The line of the inventory of a case, or None where it is for no dtype."""
    record = describe(cases[key])
    return json.dumps(record, separators=(",", ":")) if record else None


def records(keys):
    yield from filter(None, map(record_of, sorted(keys)))


def inventory_of(folder):
    """The cases of such a folder, and the files that have none, or one record
    that says what is wrong; then a record that says that this was all."""
    yield from parts_of(folder)
    yield json.dumps({"v": 1, "kind": "suite_end", "id": "", "run": ""},
                     separators=(",", ":"))


def parts_of(folder):
    own = set(cases)
    try:
        load_extra(folder)
    except (SuiteError, OSError) as e:
        text = str(e) if isinstance(e, SuiteError) else \
            "%s: %s" % (folder, e.strerror)
        yield json.dumps({"v": 1, "kind": "suite_error", "id": "", "run": "",
                          "message": text}, separators=(",", ":"))
        return
    new = set(cases) - own
    for name in sorted(os.listdir(folder)):
        stem, ext = os.path.splitext(name)
        if ext == ".py" and not any(suite == stem for suite, _ in new):
            yield json.dumps({
                "v": 1, "kind": "suite_note", "id": "", "run": "",
                "message": "%s: declares no case; docs/suites.md says how to "
                "write one" % os.path.join(folder, name)},
                separators=(",", ":"))
    yield from records(new)


def seed(n):
    """Seed all that sample generators draw from."""
    torch.manual_seed(n)
    random.seed(n)
    numpy.random.seed(n % 2**32)


def resolve(text):
    """What "module:path" names."""
    module, _, path = text.partition(":")
    found = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found


def parts_alone(decoder):
    """Does it take the parts as one object, or one by one, as TorchCTS's do:
    packed, scale, zero_point, shape, dtype, device?"""
    try:
        signature = inspect.signature(decoder)
    except ValueError:
        return True     # built in: nothing is said
    needed = [p for p in signature.parameters.values()
              if p.default is p.empty and p.kind in
              (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(needed) <= 1:
        return True
    try:
        signature.bind(*range(6))
    except TypeError:
        raise TypeError("it takes neither the parts as one object nor packed, "
                        "scale, zero_point, shape, dtype, device") from None
    return False


def guarded(name, what, fn, *args):
    """fn(*args); whatever keeps it from an answer is said of the decoder."""
    try:
        return fn(*args)
    except (Exception, SystemExit) as e:
        text = (str(e).splitlines() or [""])[0]
        raise DecoderError("the decoder '%s' %s: %s: %s" % (
            name, what, type(e).__name__, text)) from None


class Decoder:
    """A decoder of the manifest, made to be called with (parts, shape)."""

    def __init__(self, name):
        self.name = name
        self.fn = guarded(name, "can't be had", resolve, name)
        if not callable(self.fn):
            raise DecoderError("the decoder '%s' can't be called: it is of "
                               "type %s" % (name, type(self.fn).__name__))
        self.alone = guarded(name, "can't be called", parts_alone, self.fn)

    def __call__(self, parts, shape):
        if self.alone:
            return self.fn(parts)
        return self.fn(parts["data"], parts.get("scale", parts.get("absmax")),
                       parts.get("zero"), tuple(shape), torch.float32,
                       parts["data"].device)

    def check(self, parts, shape):
        """Nothing can be compared with a decoder that gives no tensor on the
        CPU, so that is said at once."""
        copy = {k: v.clone() for k, v in parts.items()}
        got = guarded(self.name, "raises on the CPU", self, copy, shape)
        if not isinstance(got, torch.Tensor):
            raise DecoderError("the decoder '%s' gives no tensor on the CPU, "
                               "but a value of type %s" % (
                                   self.name, type(got).__name__))


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

    make.dtype = kind
    make.decoder = lambda: Decoder(decoder)
    seed(n)
    batch = c.make(make)
    if limit:
        batch = itertools.islice(batch, limit)
    return [(s[0], tuple(s[1]), dict(s[2]) if len(s) > 2 else {},
             c.oracle == "metadata", True) for s in batch]


load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "suites"))
