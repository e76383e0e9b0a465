"""Functions that torch.compile takes apart, against themselves in eager mode on
the reference: what goes wrong only in the traced form shows here."""
import torch
import torch.nn.functional as F
from suite import case


def compiled(fn):
    """fn traced through autograd's graph capture, with the eager kernels."""
    def run(*args):
        torch._dynamo.reset()
        return torch.compile(fn, backend="aot_eager")(*args)
    return run


def on_reference(fn):
    """Eager on the CPU, compiled elsewhere."""
    traced = compiled(fn)
    return lambda *a: fn(*a) if a[0].is_cpu else traced(*a)


@case("broadcast_sum", ("float32",), level=6, capability="compile")
def _(make):
    yield on_reference(lambda a, b: (a[:, None] - b[None]).sum()), (
        make(32), make(64))


@case("layer_norm", ("float32",), level=6, capability="compile")
def _(make):
    for n in (7, 64, 512):
        yield on_reference(lambda x: F.layer_norm(x, x.shape[-1:])), (
            make(4, n),)


@case("index_add_expanded", ("float32",), level=6, capability="compile")
def _(make):
    def fn(v, i):
        x = torch.zeros(1, 8, device=v.device).expand(4, 8)
        return torch.index_add(x, 0, i, v)
    yield on_reference(fn), (make(3, 8), torch.tensor([0, 1, 0]))


@case("mutation_and_views", ("float32",), level=6, capability="compile")
def _(make):
    def fn(x):
        y = x.clone()
        y[1:].mul_(2)
        y.t()[0].add_(1)
        return y, y.sum(0)
    yield on_reference(fn), (make(4, 3),)
