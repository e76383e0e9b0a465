"""Tensors of about 2^31 elements, and indices beyond: what counts in 32 bits,
signed, is wrong there.  Types of a byte or two, so that it fits many machines.

A case makes its large tensors on the device, from a small one, and gives small
results: what lies at both ends and around 2^31, or a number.  One side holds
them at a time.  mb says how much that is, by which a manifest's limits leave a
case out where there isn't so much.
"""
import torch
from suite import case

BIG = 2**31
AROUND = (BIG - 1, BIG, BIG + 1)
BEYOND = (BIG + 1,)
EVEN = (BIG, BIG + 2)
# On the way there: one more or less than what float32 can count, and so on.
LADDER = tuple((1 << p) + d for p in (20, 24, 28, 30) for d in (-1, 0, 1))
PERIOD = 65521          # a prime: no power of two is a multiple


def filled(base, n):
    """n elements: those of base, over and over."""
    return base.repeat(n // base.numel() + 1)[:n]


def windows(t):
    """What lies at both ends of t and around 2^31, each a small copy."""
    n = t.numel()
    return [t[max(at, 0):at + 8].clone() for at in (0, BIG - 4, n - 8)]


def places(t):
    """Indices at both ends of t's elements and around 2^31."""
    n = t.numel()
    return torch.tensor([0, 1, BIG // 2, *(BIG + d for d in (-2, -1, 0, 1)
                                           if BIG + d < n), n - 1],
                        device=t.device)


def large(category, op, fn, dtypes=("uint8",), sizes=AROUND, copies=1):
    """A case of fn(t), where t has each of these sizes in turn and values of
    all kinds; copies: how many tensors of that size there are at a time."""
    mb = copies * max(sizes) * (2 if "int16" in dtypes else 1) // 2**20 + 300

    @case(op, dtypes, level=8, mb=mb, tags={
        "family": "large", "category": category, "tier": "stress",
        "cost": "high", "role": "boundary"})
    def _(make):
        for n in sizes:
            yield lambda base, n: fn(filled(base, n)), (make(PERIOD), n)


# Copies.

large("copy", "repeat", windows)
large("copy", "clone", lambda t: windows(t.clone()), copies=2)
large("copy", "clone_int16", lambda t: windows(t.clone()), ("int16",),
      BEYOND, copies=2)
large("copy", "copy_shifted", lambda t: windows(
    torch.empty_like(t).copy_(t.roll(1))), sizes=BEYOND, copies=3)
large("copy", "to_bool", lambda t: windows(t.to(torch.bool)), ("int8",),
      BEYOND, copies=2)
large("copy", "stepped", lambda t: windows(t[1::2].contiguous()),
      sizes=BEYOND, copies=2)
large("copy", "from_host", lambda t: windows(
    filled(t[:PERIOD].cpu(), t.numel()).to(t.device)), sizes=BEYOND, copies=3)
large("copy", "transposed", lambda t: windows(
    t[:46341 * 46341].view(46341, 46341).t().contiguous().view(-1)),
    sizes=(46341 * 46341 + 1,), copies=2)
large("copy", "cat", lambda t: windows(torch.cat([t[5:], t[:5]])), copies=2)

# Writes.

large("fill", "fill", lambda t: windows(t.fill_(91)), ("int8", "bool"))
large("fill", "zero_last", lambda t: [t[-5:].zero_().clone(), *windows(t)],
      sizes=BEYOND)
large("fill", "masked_fill", lambda t: windows(
    t.masked_fill_(t > 4, 77)), sizes=BEYOND, copies=2)

# Elementwise, by operands that begin at different places.

large("elementwise", "add", lambda t: windows(t[:-3] + t[3:]), copies=2,
      sizes=[n + 3 for n in AROUND])
large("elementwise", "add_int16", lambda t: windows(t[:-3] + t[3:]),
      ("int16",), (BIG + 4,), copies=2)
large("elementwise", "mul_inplace", lambda t: windows(t.mul_(3)), ("int8",),
      BEYOND)
large("elementwise", "equal", lambda t: windows(t[:-3] == t[3:]), copies=2,
      sizes=(BIG + 4,))
large("elementwise", "ladder", lambda t: windows(t[:-3] ^ t[3:]),
      sizes=[n + 3 for n in LADDER], copies=2)

# Reductions: a whole, many rows, long rows, and one element far out.  Sums are
# in the type itself, for which the CPU needs no wider copy.


def total(t, *dim):
    return t.sum(*dim, dtype=t.dtype)


def planted(t, value):
    """t, all else less, with one element of that value last but one."""
    t.clamp_(max=value - 1)
    t[-2] = value
    return t


large("reduction", "sum", total)
large("reduction", "sum_ladder", lambda t: [total(t), t.max()], sizes=LADDER)
large("reduction", "count_nonzero", torch.count_nonzero, sizes=BEYOND)
large("reduction", "argmax", lambda t: planted(t, 7).argmax(), sizes=BEYOND)
large("reduction", "max_dim", lambda t: list(planted(t, 7).max(0)))
large("reduction", "amin", lambda t: planted(t, 7).neg_().amin(), ("int8",),
      BEYOND)
large("reduction", "any_last", lambda t: [
    t.zero_().any(), t.index_fill_(0, places(t)[-1:], True).any()],
    ("bool",), BEYOND)
large("reduction", "many_rows", lambda t: windows(total(t.view(-1, 2), 1)),
      sizes=EVEN, copies=2)
large("reduction", "long_rows", lambda t: total(t.view(2, -1), 1), sizes=EVEN)
large("reduction", "columns", lambda t: windows(t.view(2, -1).amax(0)),
      sizes=EVEN, copies=2)

# Indices beyond 2^31.


def index(op, fn, dtypes=("uint8",), sizes=BEYOND):
    large("indexing", op, fn, dtypes, sizes)


def some(t):
    """As many values as there are places, none of them what is there."""
    return t[:places(t).numel()].clone() + 1


index("index_select", lambda t: t.index_select(0, places(t)),
      ("uint8", "bool"))
index("index_select_int16", lambda t: t.index_select(0, places(t)),
      ("int16",))
index("gather", lambda t: t.gather(0, places(t)))
index("take", lambda t: t.take(places(t)))
index("index", lambda t: t[places(t)])
index("rows", lambda t: [
    t.view(65537, -1)[-1, -8:].clone(),
    t.view(65537, -1).index_select(1, places(t)[:1] + 32768)[-8:].clone()],
    sizes=(65537 * 32769,))
index("index_fill", lambda t: windows(t.index_fill_(0, places(t), 77)))
index("index_copy", lambda t: windows(t.index_copy_(0, places(t), some(t))))
index("index_put", lambda t: windows(t.index_put_((places(t),), some(t))))
index("scatter", lambda t: windows(t.scatter_(0, places(t), some(t))))
index("nonzero", lambda t: t.zero_().index_fill_(
    0, places(t), True).nonzero(), ("bool",))
