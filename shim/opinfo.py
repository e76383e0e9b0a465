"""PyTorch's own operator database, as the toolkit reads it: what there is, and
the samples of one entry.  Only what has no other interface than Python."""
import itertools
import json
import platform
import random
import warnings

import numpy
import torch
from torch.testing._internal.common_methods_invocations import op_db

warnings.simplefilter("ignore")

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


def short(dtype):
    return str(dtype).removeprefix("torch.")


def is_random(entry):
    """Whether the first sample draws from the default generator."""
    dtypes = sorted(entry.dtypes, key=str)
    for dtype in (torch.float32, *dtypes):
        if dtype not in entry.dtypes:
            continue
        try:
            sample = next(iter(entry.sample_inputs("cpu", dtype)))
            before = torch.get_rng_state()
            entry.op(sample.input, *sample.args, **sample.kwargs)
            return not torch.equal(before, torch.get_rng_state())
        except Exception:
            return False
    return False


def describe(entry):
    return {
        "v": 1, "kind": "opinfo", "id": "", "run": "",
        "op": key_of(entry), "name": entry.name,
        "variant": entry.variant_test_name or "",
        "aten": entry.aten_name or "",
        "dtypes": sorted(short(d) for d in entry.dtypes),
        "backward_dtypes": sorted(short(d) for d in entry.backward_dtypes),
        "supports_out": bool(entry.supports_out),
        "inplace": entry.get_inplace() is not None,
        "supports_autograd": bool(entry.supports_autograd),
        "supports_forward_ad": bool(entry.supports_forward_ad),
        "supports_gradgrad": bool(entry.supports_gradgrad),
        "sparse": any(getattr(entry, a, False) for a in SPARSE),
        "factory": bool(entry.is_factory_function),
        "random": is_random(entry),
        "has_ref": callable(entry.ref) and
        getattr(entry.ref, "__name__", "") != "_NOTHING",
        "error_inputs": entry.error_inputs_func is not None,
        "db": "op_db",
    }


def inventory():
    """The lines of the inventory, first the PyTorch that it is of."""
    yield json.dumps({"v": 1, "kind": "torch", "id": "", "run": "",
                      "version": torch.__version__,
                      "python": platform.python_version()})
    for key in sorted(entries):
        yield json.dumps(describe(entries[key]))


def seed(n):
    """Seed all that sample generators draw from."""
    torch.manual_seed(n)
    random.seed(n)
    numpy.random.seed(n % 2**32)


def samples(key, dtype, n, limit):
    """(callable, [(args, kwargs), …]) of an entry; at most limit, 0: all."""
    entry = entries.get(key)
    if entry is None:
        raise LookupError("unknown op '%s'" % key)
    seed(n)
    batch = entry.sample_inputs("cpu", getattr(torch, dtype))
    if limit:
        batch = itertools.islice(batch, limit)
    return entry.op, [((s.input, *s.args), s.kwargs) for s in batch]
