"""The least that any suite must do: make each OpInfo entry's samples on the
CPU and call the op on them, with nothing watched, compared or written down.

usage: bareloop.py [--samples N] [--op REGEX] [--dtype NAME]...

Prints one JSON object: cases, samples, calls that raised, and seconds: for
imports, making samples, calling ops, and the two latter together.
"""
import argparse
import json
import re
import time
import warnings


def load():
    began = time.monotonic()
    import torch
    from torch.testing._internal import common_methods_invocations as db
    torch.set_num_threads(1)
    return torch, db.op_db, time.monotonic() - began


def one_case(info, dtype, limit, tally):
    """Make at most `limit` samples, then run them all."""
    began = time.monotonic()
    made = []
    try:
        for s in info.sample_inputs("cpu", dtype, requires_grad=False):
            made.append(s)
            if len(made) == limit:
                break
    except Exception:
        tally["raised"] += 1
    ready = time.monotonic()
    for s in made:
        try:
            info(s.input, *s.args, **s.kwargs)
        except Exception:
            tally["raised"] += 1
    done = time.monotonic()
    tally["cases"] += 1
    tally["samples"] += len(made)
    tally["t_make_s"] += ready - began
    tally["t_call_s"] += done - ready


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--samples", type=int, default=10)
    ap.add_argument("--op", default="")
    ap.add_argument("--dtype", action="append", default=[])
    opts = ap.parse_args()
    warnings.simplefilter("ignore")

    torch, infos, t_import = load()
    wanted = {getattr(torch, d) for d in opts.dtype}
    tally = {"cases": 0, "samples": 0, "raised": 0,
             "t_import_s": t_import, "t_make_s": 0.0, "t_call_s": 0.0}
    for info in infos:
        # A jiterator is a program for another device, in a run as well.
        if not re.search(opts.op, info.name) or \
                info.name.startswith("jiterator_"):
            continue
        for dtype in sorted(info.supported_dtypes("cpu"), key=repr):
            if not wanted or dtype in wanted:
                one_case(info, dtype, opts.samples, tally)
    tally["t_wall_s"] = tally["t_make_s"] + tally["t_call_s"]
    print(json.dumps({k: round(v, 3) for k, v in tally.items()}))


main()
