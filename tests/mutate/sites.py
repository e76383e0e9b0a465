"""Which actions can show on the overloads named on stdin, one a line.

Writes a record for each that the reference device serves: its tensor
arguments, its family for the report, and the actions by group.
"""

import json
import sys

import torch
import torch_refdev

GROUP = dict(torch_refdev.actions())
SERVED = set(torch_refdev.overloads())
VALUES = ("misread", "compute")
NAMES = (
    ("linalg", "linalg_"), ("fft", "fft_"), ("foreach", "_foreach_"),
    ("convolution", "conv"), ("convolution", "slow_conv"),
    ("convolution", "_slow_conv"), ("special", "special_"),
)


def operator(name):
    """The OpOverload of aten::name.overload."""
    base, _, overload = name.removeprefix("aten::").partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def family(name, op):
    """A coarse kind of op."""
    base = name.removeprefix("aten::").partition(".")[0]
    if "_backward" in base:
        return "backward"
    for word, prefix in NAMES:
        if base.startswith(prefix):
            return word
    if torch.Tag.nondeterministic_seeded in op.tags:
        return "random"
    if torch.Tag.pointwise in op.tags:
        return "pointwise"
    returns = op._schema.returns
    if any(r.alias_info and not r.alias_info.is_write for r in returns):
        return "view"
    if "pool" in base or "norm" in base or "loss" in base:
        return "network"
    args = [a.name for a in op._schema.arguments]
    if "index" in args or "indices" in args or "mask" in args:
        return "index"
    if "dim" in args and ("keepdim" in args or "dtype" in args):
        return "reduction"
    return "other"


def written(arg):
    """Whether the schema marks it so: out=, or self in place."""
    return bool(arg.alias_info and arg.alias_info.is_write)


def bounded(name):
    """Whether draws have a bound that is no draw itself; of a coin it is."""
    return any(w in name for w in ("rand", "uniform")) and \
        "randn" not in name


def possible(name):
    """The actions that can show; the values of empty() are nobody's."""
    actions = torch_refdev.applicable(name)
    if not bounded(name):
        actions = [a for a in actions if a != "rng_bound"]
    if "rng_repeat" in actions:
        # Draws in another order, or with other last places, are draws; few
        # are as large as 2^15.
        actions = [a for a in actions
                   if a not in ("scrambled", "wrap", "ulp")]
    if any(a.is_out for a in operator(name)._schema.arguments):
        # A result that is given has no gradient: PyTorch refuses it.
        actions = [a for a in actions if GROUP[a] != "autograd"]
    if "empty" in name:
        actions = [a for a in actions if GROUP[a] not in VALUES]
    return [[a, GROUP[a]] for a in actions]


def main():
    """Read names, write records."""
    for line in sys.stdin:
        name = line.strip()
        if name not in SERVED:
            continue
        op = operator(name)
        tensors = [a for a in op._schema.arguments
                   if "Tensor" in str(a.type)]
        json.dump({"v": 1, "kind": "site", "op": name,
                   "family": family(name, op), "args": [a.name for a in tensors],
                   "reads": [a.name for a in tensors if not written(a)],
                   "writes": [a.name for a in tensors if written(a)],
                   "actions": possible(name)}, sys.stdout, separators=(",", ":"))
        print()


main()
