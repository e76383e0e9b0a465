"""Random numbers: not which, but that seeds, states and ranges are kept."""
import torch
import torch.nn.functional as F
from suite import case

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
