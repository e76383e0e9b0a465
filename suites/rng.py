"""Random numbers: not which, but that seeds, states and ranges are kept."""
import contextlib
import math

import torch
import torch.nn.functional as F
from suite import case
from torch.overrides import TorchFunctionMode

CPU = torch.device("cpu")
DRAWS = {
    "rand": lambda d: torch.rand(64, device=d),
    "randn": lambda d: torch.randn(64, device=d),
    "randint": lambda d: torch.randint(0, 1000, (64,), device=d),
    "randperm": lambda d: torch.randperm(64, device=d),
    "bernoulli": lambda d: torch.bernoulli(torch.full((64,), 0.5, device=d)),
    "dropout": lambda d: F.dropout(torch.ones(64, device=d), 0.5),
    "multinomial": lambda d: torch.multinomial(
        torch.ones(64, device=d), 64, True),
    "exponential": lambda d: torch.empty(64, device=d).exponential_(),
    "normal": lambda d: torch.empty(64, device=d).normal_(2, 3),
    "uniform": lambda d: torch.empty(64, device=d).uniform_(-1, 1),
}


def reseeded(draw):
    """Are draws the same after the same seed, and other ones without?"""
    def run(device):
        torch.manual_seed(5)
        a = draw(device).cpu()
        more = draw(device).cpu()
        torch.manual_seed(5)
        b = draw(device).cpu()
        torch.manual_seed(6)
        c = draw(device).cpu()
        return (torch.equal(a, b), torch.equal(a, more), torch.equal(a, c))
    return run


for name, draw in DRAWS.items():
    def declare(name=name, draw=draw):
        @case("seed_" + name, level=3, capability="rng")
        def _(make):
            yield reseeded(draw), (CPU,)
    declare()


@case("generator_state", level=3, capability="device_generator")
def _(make):
    def run(device):
        g = torch.Generator(device=device).manual_seed(3)
        for _ in range(2):
            torch.rand(7, device=device, generator=g)
        state = g.get_state()
        a = torch.rand(7, device=device, generator=g)
        h = torch.Generator(device=device)
        h.set_state(state)
        b = torch.rand(7, device=device, generator=h)
        fresh = torch.Generator(device=device).manual_seed(3)
        c = torch.rand(7, device=device, generator=fresh)
        return (torch.equal(a.cpu(), b.cpu()), torch.equal(a.cpu(), c.cpu()),
                g.initial_seed())

    yield run, (CPU,)


def within(draw, low, high, n=4096):
    """Are all of many draws in range, and do they differ?"""
    def run(device):
        torch.manual_seed(11)
        x = draw(n, device).cpu().double()
        return bool((x >= low).all()), bool((x <= high).all()), \
            len(x.unique()) > 1
    return run


@case("ranges", level=3, capability="rng_distributions")
def _(make):
    inf = float("inf")
    yield within(lambda n, d: torch.rand(n, device=d), 0, 1 - 2**-25), (CPU,)
    yield within(lambda n, d: torch.randint(3, 9, (n,), device=d), 3, 8), (
        CPU,)
    yield within(lambda n, d: torch.randint(6, (n,), device=d), 0, 5), (CPU,)
    yield within(lambda n, d: torch.randint(
        3, 9, (n,), device=d, dtype=torch.float32), 3, 8), (CPU,)
    yield within(lambda n, d: torch.randint(
        6, (n,), out=torch.zeros(n, device=d)), 0, 5), (CPU,)
    yield within(lambda n, d: torch.randint(
        3, 9, (n,), out=torch.zeros(n, device=d)), 3, 8), (CPU,)
    yield within(lambda n, d: torch.empty(n, device=d).exponential_(),
                 0, inf), (CPU,)
    yield within(lambda n, d: torch.empty(n, device=d).geometric_(0.3),
                 1, inf), (CPU,)


@case("multinomial_support", level=3, capability="rng_distributions")
def _(make):
    def drawn(p, n):
        def run(device):
            torch.manual_seed(2)
            w = torch.tensor(p, device=device)
            got = torch.multinomial(w, n, True).cpu()
            return sorted(set(got.tolist()))
        return run

    yield drawn([0.0, 0.5], 100), (CPU,)
    yield drawn([0.5, 0.5], 100), (CPU,)
    yield drawn([0.0, 1.0, 0.0, 3.0], 300), (CPU,)
    yield drawn([1.0] * 10, 5000), (CPU,)


# Bounds at which a right generator fails with a probability below 1e-12: seven
# and a half standard errors of the mean of n draws.
def mean_is(draw, mean, deviation, n=1 << 16):
    def run(device):
        torch.manual_seed(13)
        x = draw(n, device).cpu().double()
        return abs(x.mean().item() - mean) < 7.5 * deviation / n**0.5
    return run


@case("means", level=3, capability="rng_distributions")
def _(make):
    yield mean_is(lambda n, d: torch.rand(n, device=d), 0.5, 12**-0.5), (CPU,)
    yield mean_is(lambda n, d: torch.randn(n, device=d), 0, 1), (CPU,)
    yield mean_is(lambda n, d: torch.randn(n, device=d) ** 2, 1, 2**0.5), (
        CPU,)
    yield mean_is(lambda n, d: torch.empty(n, device=d).exponential_(2.0),
                  0.5, 0.5), (CPU,)
    yield mean_is(lambda n, d: torch.bernoulli(
        torch.full((n,), 0.3, device=d)), 0.3, 0.21**0.5), (CPU,)


@case("lanes_differ", level=3, capability="rng_distributions")
def _(make):
    def correlation(device):
        torch.manual_seed(17)
        x = torch.randn(2, 1 << 15, device=device).cpu().double()
        far = (x[0] * x[1]).mean().item()
        near = (x[0, 1:] * x[0, :-1]).mean().item()
        return abs(far) < 7.5 / 2**7.5, abs(near) < 7.5 / 2**7.5

    yield correlation, (CPU,)


# Drawing with parameters that leave nothing to chance: all of the result is
# known, so that a parameter that is misread shows.
def layouts(t):
    """The same values as a dense, an offset, a stepped and a transposed one."""
    yield t
    yield torch.cat([t.new_full((3,), 7), t.flatten()])[3:].view_as(t)
    yield torch.stack([t, t + 1], -1)[..., 0]
    yield t.t().contiguous().t()


@case("no_chance", level=3, capability="rng_distributions")
def _(make):
    for t in layouts(make(4, 6)):
        zero, half = torch.zeros(4, 6), (t > 0).float()
        yield torch.normal, (t, 0.0)
        yield torch.normal, (t, zero)
        yield (lambda m, s: torch.normal(
            m, s, out=torch.empty_like(m))), (t, zero)
        yield (lambda m: torch.normal(m, 0.0, out=torch.empty_like(m))), (t,)
        yield torch.bernoulli, (half,)
        yield torch.poisson, (half * 0,)
        yield torch.multinomial, (half * 0 + torch.eye(4, 6), 3, True)
    # A chance and a weight, too, may be anywhere in memory.
    for p in layouts(torch.eye(4, 6)):
        yield torch.bernoulli, (p,)
        yield (lambda p: torch.bernoulli(p, out=torch.empty_like(p))), (p,)
        yield (lambda p: torch.zeros_like(p).bernoulli_(p)), (p,)
        yield torch.multinomial, (p, 3, True)
        yield (lambda p, o: torch.multinomial(p, 3, True, out=o)), (
            p, torch.zeros(4, 3, dtype=torch.int64))
        yield torch.poisson, (p * 0,)
        yield (lambda p: torch.empty_like(p).bernoulli_(p)), (half,)
        yield (lambda x: F.dropout(x, 0.0)), (t,)
        yield (lambda x: F.dropout(x, 1.0)), (t,)
        yield (lambda x: F.rrelu(x, 0.25, 0.25, True)), (t,)
        yield (lambda x: x.normal_(2, 0)), (t,)
        yield (lambda x: x.log_normal_(2, 1e-30)), (t,)
        yield (lambda x: x.bernoulli_(1.0)), (t,)
        yield (lambda x: x.random_(5, 6)), (t,)
        yield (lambda x: x.uniform_(3, 3)), (t,)
    for t in layouts(torch.zeros(4, 6)):
        yield (lambda s: torch.normal(2.0, s)), (t,)
    # All rows but the first leave nothing to chance.
    for std in layouts(torch.cat([torch.ones(1, 6), torch.zeros(3, 6)])):
        yield (lambda m, s: torch.normal(m, s)[1:]), (make(4, 6), std)
        yield (lambda m, s: torch.normal(
            m, s, out=torch.empty_like(m))[1:]), (make(4, 6), std)
        yield (lambda s: torch.normal(2.0, s)[1:]), (std,)
    # A mean and a deviation that are one for all, and the latter is not 0.
    t, one = make(1, 6).expand(4, 6), torch.ones(1, 6).expand(4, 6)
    for o in ({}, {"out": torch.zeros(4, 6)}):
        yield torch.normal, (t, 0.0), o
        yield torch.normal, (t, torch.zeros(4, 6)), o
    for like in (lambda t: {}, lambda t: {"out": torch.zeros_like(t)}):
        yield (lambda s, like=like: torch.normal(0.0, s, **like(s)) == 0), (
            one,)
        yield (lambda m, s, like=like: torch.normal(m, s, **like(m)) == m), (
            t, one)
    yield torch.bernoulli, ((t > 0).float()[:1].expand(4, 6),)
    pool = torch.tensor([[[0.1, 0.7]]]).expand(2, 3, 2)
    pool3 = torch.tensor([[[0.1, 0.7, 0.4]]]).expand(2, 3, 3)
    for x in (*layouts(make(6, 56)), 1e6 * make(6, 56)):
        x = x.unflatten(1, (7, 8)).unflatten(0, (2, 3))
        yield (lambda x, r: F.fractional_max_pool2d(
            x, 2, output_size=3, _random_samples=r,
            return_indices=True)), (x, pool)
    for x in (*layouts(make(6, 210)), 1e6 * make(6, 210)):
        x = x.unflatten(1, (5, 6, 7)).unflatten(0, (2, 3))
        yield (lambda x, r: F.fractional_max_pool3d(
            x, 2, output_size=3, _random_samples=r,
            return_indices=True)), (x, pool3)


# Draws into a tensor that is given write to that and to nothing beside it.
@case("into_given", level=3, capability="rng", oracle="metadata")
def _(make):
    for t in layouts(make(4, 6)):
        half = torch.full((4, 6), 0.5)
        yield (lambda o: torch.rand(4, 6, out=o)), (t,)
        yield (lambda o: torch.randn(4, 6, out=o)), (t,)
        yield (lambda o: torch.randint(9, (4, 6), out=o)), (t,)
        yield (lambda o: torch.randint(3, 9, (4, 6), out=o)), (t,)
        yield (lambda o: torch.normal(0.0, 1.0, (4, 6), out=o)), (t,)
        yield (lambda p, o: torch.normal(p, 1.0, out=o)), (half, t)
        yield (lambda p, o: torch.normal(1.0, p, out=o)), (half, t)
        yield (lambda p, o: torch.normal(p, p, out=o)), (half, t)
        yield (lambda p, o: torch.bernoulli(p, out=o)), (half, t)
        yield (lambda o: torch.nn.init.normal_(o)), (t,)
    for t in layouts(torch.zeros(4, 6, dtype=torch.int64)):
        yield (lambda p, o: torch.multinomial(p, 6, True, out=o)), (
            torch.ones(4, 3), t)
        yield (lambda o: torch.randperm(6, out=o)), (t[0],)
    for t in layouts(make(4, 6)):
        yield (lambda o: torch.randperm(6, out=o)), (t[0],)


# What every drawing op owes: the seed decides, draws go on and don't repeat,
# nothing is left undrawn, and the bounds are kept.
def like(n, device):
    return torch.zeros(n, device=device)


BELOW_1 = 1 - 2**-25
EVERY = {
    "rand": (lambda n, d: torch.rand(n, device=d), 0, BELOW_1, 0.5),
    "rand_dtype": (lambda n, d: torch.rand(
        n, device=d, dtype=torch.float32), 0, BELOW_1, 0.5),
    "rand_like": (lambda n, d: torch.rand_like(like(n, d)), 0, BELOW_1, 0.5),
    "randn": (lambda n, d: torch.randn(n, device=d), -9, 9, 0),
    "randn_dtype": (lambda n, d: torch.randn(
        n, device=d, dtype=torch.float32), -9, 9, 0),
    "randn_like": (lambda n, d: torch.randn_like(like(n, d)), -9, 9, 0),
    "randint": (lambda n, d: torch.randint(1 << 20, (n,), device=d),
                0, (1 << 20) - 1, (1 << 19)),
    "rand_complex": (lambda n, d: torch.view_as_real(torch.rand(
        n, device=d, dtype=torch.complex64)).flatten(), 0, BELOW_1, 0.5),
    "randn_complex": (lambda n, d: torch.view_as_real(torch.randn(
        n, device=d, dtype=torch.complex64)).flatten(), -9, 9, 0),
    "normal_complex_": (lambda n, d: torch.view_as_real(
        like(n, d).cfloat().normal_(0, 1)).flatten(), -9, 9, 0),
    "randint_dtype": (lambda n, d: torch.randint(
        1 << 20, (n,), device=d, dtype=torch.float32),
        0, (1 << 20) - 1, (1 << 19)),
    "randint_low_dtype": (lambda n, d: torch.randint(
        9, 9 + (1 << 20), (n,), device=d, dtype=torch.int64),
        9, 8 + (1 << 20), 9 + (1 << 19)),
    "randint_low_float": (lambda n, d: torch.randint(
        9, 9 + (1 << 20), (n,), device=d, dtype=torch.float32),
        9, 8 + (1 << 20), 9 + (1 << 19)),
    "randint_low": (lambda n, d: torch.randint(
        9, 9 + (1 << 20), (n,), device=d), 9, 8 + (1 << 20), 9 + (1 << 19)),
    "randint_like": (lambda n, d: torch.randint_like(like(n, d), 1 << 20),
                     0, (1 << 20) - 1, (1 << 19)),
    # Not so wide that 16 bits can't hold it, but wider than a significand of
    # 11 bits is.
    "randint_30000": (lambda n, d: torch.randint(30000, (n,), device=d),
                      0, 29999, 14999.5),
    "randint_like_30000": (lambda n, d: torch.randint_like(
        like(n, d), 30000), 0, 29999, 14999.5),
    "randint_like_low_30000": (lambda n, d: torch.randint_like(
        like(n, d), 9, 30009), 9, 30008, 15008.5),
    "random_30000": (lambda n, d: like(n, d).random_(30000), 0, 29999,
                     14999.5),
    "random_low_30000": (lambda n, d: like(n, d).random_(9, 30009), 9, 30008,
                         15008.5),
    "randint_like_low": (lambda n, d: torch.randint_like(
        like(n, d), 9, 9 + (1 << 20)), 9, 8 + (1 << 20), 9 + (1 << 19)),
    "randint_out": (lambda n, d: torch.randint(
        1 << 20, (n,), out=like(n, d)), 0, (1 << 20) - 1, (1 << 19)),
    "randint_low_out": (lambda n, d: torch.randint(
        9, 9 + (1 << 20), (n,), out=like(n, d)),
        9, 8 + (1 << 20), 9 + (1 << 19)),
    "normal": (lambda n, d: torch.normal(3.0, 1.0, (n,), device=d),
               -6, 12, 3),
    "normal_mean": (lambda n, d: torch.normal(like(n, d) + 3, 1.0),
                    -6, 12, 3),
    "normal_std": (lambda n, d: torch.normal(3.0, like(n, d) + 1),
                   -6, 12, 3),
    "normal_both": (lambda n, d: torch.normal(like(n, d) + 3,
                                              like(n, d) + 1), -6, 12, 3),
    "rand_out": (lambda n, d: torch.rand(n, out=like(n, d)), 0, BELOW_1,
                 0.5),
    "randn_out": (lambda n, d: torch.randn(n, out=like(n, d)), -9, 9, 0),
    "normal_out": (lambda n, d: torch.normal(
        3.0, 1.0, (n,), out=like(n, d)), -6, 12, 3),
    "normal_mean_out": (lambda n, d: torch.normal(
        like(n, d) + 3, 1.0, out=like(n, d)), -6, 12, 3),
    "normal_std_out": (lambda n, d: torch.normal(
        3.0, like(n, d) + 1, out=like(n, d)), -6, 12, 3),
    "normal_both_out": (lambda n, d: torch.normal(
        like(n, d) + 3, like(n, d) + 1, out=like(n, d)), -6, 12, 3),
    "normal_": (lambda n, d: like(n, d).normal_(3, 1), -6, 12, 3),
    "uniform_": (lambda n, d: like(n, d).uniform_(2, 4), 2, 4 - 2**-23,
                 3),
    "exponential_": (lambda n, d: like(n, d).exponential_(2), 0, 40, 0.5),
    "log_normal_": (lambda n, d: like(n, d).log_normal_(0, 0.25),
                    0, 12, 1.0317),
    "cauchy_": (lambda n, d: like(n, d).cauchy_(0, 1).atan(),
                -1.5708, 1.5708, 0),
    "geometric_": (lambda n, d: like(n, d).geometric_(2**-12),
                   1, 1 << 18, 4096),
    "rrelu": (lambda n, d: F.rrelu(like(n, d) - 1, 0.0, 1.0, True),
              -1, 0, -0.5),
    "rrelu_": (lambda n, d: F.rrelu_(like(n, d) - 1, 0.0, 1.0, True),
               -1, 0, -0.5),
}


# The generator that a call is given, in place of the default one.
TAKE_GENERATOR = {
    "rand", "rand_like", "randn", "randn_like", "randint", "randint_like",
    "randperm", "normal", "bernoulli", "multinomial", "poisson", "normal_",
    "uniform_", "exponential_", "log_normal_", "cauchy_", "geometric_",
    "random_", "bernoulli_"}


class Given(TorchFunctionMode):
    """Whatever can draws from this generator."""
    def __init__(self, generator):
        super().__init__()
        self.generator = generator

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") in TAKE_GENERATOR:
            kwargs = {**kwargs, "generator": self.generator}
        return func(*args, **kwargs)


def source(device, given):
    """What seeds a call's generator, and the mode in which it is drawn from:
    the default one, or one that is given."""
    if not given:
        return torch.manual_seed, contextlib.nullcontext()
    g = torch.Generator(device=device)
    return g.manual_seed, Given(g)


def aside(run):
    """run(device) as it is, and whether it left the default generator alone."""
    def both(device):
        torch.manual_seed(9)
        was = torch.rand(5, device=device)
        torch.manual_seed(9)
        return run(device), torch.equal(was, torch.rand(5, device=device))
    return both


def owes(draw, low, high, mean, given=False, n=8195):
    """Kept promises, each a truth value; 8 deviations for the means."""
    def run(device):
        seed, mode = source(device, given)
        with mode:
            return promises(seed, lambda n: draw(n, device).cpu().double())

    def promises(seed, drawn):
        seed(5)
        a, more = drawn(n), drawn(n)
        seed(5)
        b = drawn(n)
        seed(6)
        c = drawn(n)
        four = torch.stack([a, more, c, drawn(n)])
        error = (a.std() / n**0.5).item()
        lanes = [((x[:-k] - x.mean()) * (x[k:] - x.mean())).mean().item()
                 for x in (a, more) for k in (1, 2, 4)]
        return (torch.equal(a, b), torch.equal(a, more), torch.equal(a, c),
                bool((a >= low).all()), bool((a <= high).all()),
                abs(a.mean().item() - mean) < 8 * error,
                len(a.unique()) > n // 2, len(a[-3:].unique()) == 3,
                [len(four[:, i].unique()) > 1 for i in (0, n // 2, -1)],
                max(map(abs, lanes)) < 8 * a.var().item() / n**0.5,
                always(seed, lambda: drawn(n)))
    return aside(run) if given else run


def always(seed, draw):
    """Whether a seed gives the same each time: a race may not show in two."""
    def after_seed():
        seed(5)
        return draw()
    want = after_seed()
    return all(torch.equal(after_seed(), want) for _ in range(24))


def takes_generator(draw):
    """Whether draw() draws from a generator that it is given."""
    g = torch.Generator()
    state = g.get_state()
    try:
        with Given(g):
            draw()
    except (TypeError, RuntimeError):
        return False
    return not torch.equal(state, g.get_state())


def promised(name, dtypes, draw, run):
    """Two cases: run(make, given) of the default generator and, where draw()
    takes one, of one that is given."""
    @case("owes_" + name, dtypes, level=3, capability="rng_distributions")
    def _(make):
        yield from ((r, (CPU,)) for r in run(make, False))

    @case("owes_given_" + name, lambda: dtypes if takes_generator(draw) else
          (), level=3, capability="device_generator")
    def _(make):
        yield from ((r, (CPU,)) for r in run(make, True))


for name, args in EVERY.items():
    def declare_owes(name=name, args=args):
        # Where a dtype is named, it may not be the case's.
        promised(name, ("float32", "int64") if "randint" in name else
                 ("float32",), lambda: args[0](8, CPU),
                 lambda make, given: [owes(*args, given=given)])
    declare_owes()


# The same of other dtypes: how many values they have, and the bounds, differ.
INTEGERS = ("int64", "int32", "int16", "uint8")
TYPED = {
    "rand": (lambda z: torch.rand_like(z), 0, 1, 0.5),
    "uniform_": (lambda z: z.uniform_(-1, 1), -1, 1, 0),
    "randn": (lambda z: torch.randn_like(z), -9, 9, 0),
    "normal_": (lambda z: z.normal_(3, 1), -6, 12, 3),
    "exponential_": (lambda z: z.exponential_(2), 0, 40, 0.5),
    "log_normal_": (lambda z: z.log_normal_(0, 0.25), 0, 12, 1.0317),
    "cauchy_": (lambda z: z.cauchy_(0, 1).atan(), -1.5708, 1.5708, 0),
    "normal_both": (lambda z: torch.normal(z + 3, z + 1), -6, 12, 3),
}
WHOLE = {
    "random_": (lambda z: z.random_(), None),
    "random_to": (lambda z: z.random_(100), 49.5),
    "random_from": (lambda z: z.random_(5, 105), 54.5),
    "randint_like": (lambda z: torch.randint_like(z, 100), 49.5),
    "randint_like_low": (lambda z: torch.randint_like(z, 5, 105), 54.5),
    "geometric_": (lambda z: z.geometric_(0.25), 4),
}


def draws(seed, drawn):
    """Two draws of a seed, the first of the same again, that of another."""
    seed(5)
    a, more = drawn(), drawn()
    seed(5)
    b = drawn()
    seed(6)
    return a, more, b, drawn()


def owes_typed(draw, kind, levels, low=None, high=None, mean=None,
               given=False, n=8195):
    """As owes(), of draws that have so many values at most."""
    def run(device):
        seed, mode = source(device, given)
        with mode:
            return promises(seed, lambda: draw(torch.zeros(
                n, dtype=kind, device=device)).cpu().double())

    def promises(seed, drawn):
        a, more, b, c = draws(seed, drawn)
        error = (a.std() / n**0.5).item()
        lanes = [((x[:-k] - x.mean()) * (x[k:] - x.mean())).mean().item()
                 for x in (a, more) for k in (1, 2, 4)]
        return (torch.equal(a, b), torch.equal(a, more), torch.equal(a, c),
                low is None or bool((a >= low).all()),
                high is None or bool((a <= high).all()),
                mean is None or
                abs(a.mean().item() - mean) < 8 * error + abs(mean) / 250,
                len(a.unique()) > levels,
                max(map(abs, lanes)) < 8 * a.var().item() / n**0.5,
                always(seed, drawn))
    return aside(run) if given else run


for name, args in TYPED.items():
    def declare_typed(name=name, draw=args[0], bounds=args[1:]):
        promised("typed_" + name, ("float64", "float16", "bfloat16"),
                 lambda: draw(torch.zeros(8)),
                 lambda make, given: [owes_typed(draw, make.dtype, 90, *bounds,
                                                 given=given)])
    declare_typed()

for name, args in WHOLE.items():
    def declare_whole(name=name, draw=args[0], mean=args[1]):
        low, high = {"random_": (0, None), "geometric_": (1, None)}.get(
            name, (mean and mean - 49.5, mean and mean + 49.5))
        promised("whole_" + name, INTEGERS + ("float32", "float64"),
                 lambda: draw(torch.zeros(8)),
                 lambda make, given: [owes_typed(draw, make.dtype, 20, low,
                                                 high, mean, given)])
    declare_whole()


def owes_order(draw, n, given):
    """Of a permutation of n: the seed decides, all are there, in no order."""
    def run(device):
        seed, mode = source(device, given)
        with mode:
            return promises(seed, lambda: draw(device).cpu().double())

    def promises(seed, drawn):
        a, more, b, c = draws(seed, drawn)
        rank = torch.arange(n, dtype=torch.float64)
        even = a - a.mean()
        lean = (even * (rank - rank.mean())).mean().item()
        near = (even[1:] * even[:-1]).mean().item()
        bound = 8 * a.var().item() / n**0.5
        return (torch.equal(a, b), torch.equal(a, more), torch.equal(a, c),
                torch.equal(a.sort().values, rank), abs(lean) < bound,
                abs(near) < bound, always(seed, drawn))
    return aside(run) if given else run


promised("randperm", ("int64", "int32", "float32"),
         lambda: torch.randperm(8), lambda make, given: [
             owes_order(lambda d: torch.randperm(
                 4097, device=d, dtype=make.dtype), 4097, given),
             owes_order(lambda d: torch.randperm(4097, out=torch.empty(
                 4097, device=d, dtype=make.dtype)), 4097, given)])


def owes_coins(draw, wanted, given):
    """Of draws that are one of two values, or else the second."""
    def run(device):
        seed, mode = source(device, given)
        with mode:
            return promises(seed, lambda: draw(8192, device).cpu())

    def promises(seed, drawn):
        a, more, b, c = draws(seed, drawn)
        share = [(a == w).double().mean().item() for w in wanted]
        pairs = (a[1:] == a[:-1]).double().mean().item()
        return (torch.equal(a, b), torch.equal(a, more),
                torch.equal(a, c), abs(share[0] - 0.5) < 0.05,
                sum(share) == 1, abs(pairs - 0.5) < 0.05, always(seed, drawn))
    return aside(run) if given else run


COINS = [
    lambda n, d: torch.bernoulli(like(n, d) + 0.5),
    lambda n, d: like(n, d).bernoulli_(0.5),
    lambda n, d: torch.bernoulli(like(n, d) + 0.5, out=like(n, d)),
    lambda n, d: like(n, d).bernoulli_(like(n, d) + 0.5),
    lambda n, d: torch.multinomial(torch.ones(2, device=d), n, True),
    lambda n, d: torch.multinomial(
        torch.ones(2, device=d), n, True,
        out=torch.zeros(n, dtype=torch.int64, device=d)),
    lambda n, d: torch.poisson(like(n, d) + math.log(2)).clamp(max=1),
]
DROPPED = lambda n, d: F.dropout(like(n, d) + 1, 0.5)
promised("bernoulli", ("float32",), lambda: COINS[0](8, CPU),
         lambda make, given: [owes_coins(f, (0, 1), given) for f in COINS] +
         ([] if given else [owes_coins(DROPPED, (0, 2), False)]))


def attended(n, device):
    """What attention drops of equal shares of an identity matrix: coins."""
    q = torch.zeros(n // 4096, 1, 64, 64, device=device)
    v = torch.eye(64, device=device).expand_as(q)
    return (32 * F.scaled_dot_product_attention(
        q, q, v, dropout_p=0.5)).round().flatten()


@case("owes_attention", level=3, capability="rng_distributions")
def _(make):
    yield owes_coins(attended, (0, 1), False), (CPU,)


# What is dropped is random; what is kept is not.
@case("kept", level=3, capability="rng")
def _(make):
    def of(drop, kept):
        def run(x):
            torch.manual_seed(23)
            y = drop(x)
            return torch.where(y == 0, kept(x), y)
        return run

    x = make(4, 6, low=1, high=9)
    twice = of(lambda x: F.dropout(x, 0.5), lambda x: 2 * x)
    for t in layouts(x):
        yield twice, (t,)
        yield of(lambda x: F.dropout(x.clone(), 0.5, inplace=True),
                 lambda x: 2 * x), (t,)
        yield of(lambda x: torch.native_dropout(x, 0.5, True)[0],
                 lambda x: 2 * x), (t,)
        yield of(lambda x: torch.feature_dropout(x, 0.5, True),
                 lambda x: 2 * x), (t,)
        yield of(lambda x: F.rrelu(x, 0.1, 0.3, True), lambda x: x), (t,)
        yield (lambda x: F.rrelu(-x, 0.25, 0.25, True)), (t,)


# Nor are the derivatives of what is kept.
@case("kept_gradients", level=4, capability="double_backward")
def _(make):
    def of(drop):
        def run(x):
            torch.manual_seed(23)
            x = x.detach().requires_grad_()
            g, = torch.autograd.grad((drop(x) ** 3).sum(), x,
                                     create_graph=True)
            gg, = torch.autograd.grad(g.sum(), x)
            return (torch.where(g == 0, 24 * x**2, g).detach(),
                    torch.where(gg == 0, 48 * x, gg).detach())
        return run

    for t in layouts(make(4, 6, low=1, high=9)):
        yield of(lambda x: F.dropout(x, 0.5)), (t,)
        yield of(lambda x: torch.feature_dropout(x, 0.5, True)), (t,)
        yield of(lambda x: F.rrelu(-x, 0.25, 0.25, True)), (t,)


# Chances and rates that lose their meaning in a narrower type: what is all but
# certain does not come once in a while, and a large count is odd or even.
@case("fine_chances", level=3, capability="rng_distributions")
def _(make):
    def rare(draw):
        def run(device):
            torch.manual_seed(19)
            x = draw(torch.full((1 << 20,), 1 - 5e-5, device=device)).cpu()
            return bool((x == 0).any()), x.mean().item() > 0.9998
        return run

    def odd(device):
        torch.manual_seed(19)
        x = torch.poisson(torch.full((8192,), 20000.0, device=device)).cpu()
        return abs((x % 2).mean().item() - 0.5) < 0.05

    yield rare(torch.bernoulli), (CPU,)
    yield rare(lambda p: torch.zeros_like(p).bernoulli_(p)), (CPU,)
    yield rare(lambda p: torch.bernoulli(p, out=torch.zeros_like(p))), (CPU,)
    yield odd, (CPU,)
