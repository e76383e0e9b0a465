"""Views, slices and what is written through them."""
import torch
from suite import FLOATS, INTS, case

SOME = ("float32", "int64", "float16", "bool")


@case("slice_two_dims", SOME, level=2)
def _(make):
    x = make(3, 4)
    for rows in (slice(2, None), slice(0, 2), slice(1, 3)):
        for columns in (slice(0, 2), slice(2, None), slice(1, 3)):
            yield lambda x, r=rows, c=columns: x[r, c], (x,)
            yield lambda x, r=rows, c=columns: x[r, c].clone(), (x,)


@case("assign_column", SOME, level=2)
def _(make):
    def assign(x, column, value):
        x[:, column] = value
        return x

    for column in range(3):
        yield assign, (make(2, 3), column, 7)
        yield assign, (make(3, 2).t(), column, 7)


@case("assign_back_to_back", SOME, level=2)
def _(make):
    def assign(x):
        x[1] = 1
        x[2] = 0
        x[0] = x[1] + x[2] if x.dtype is not torch.bool else 1
        return x

    yield assign, (make(4),)


@case("copy_into_select", SOME, level=2)
def _(make):
    def copy(x, v):
        x.select(0, 2).copy_(v)
        return x

    yield copy, (make(4), make())
    yield copy, (make(4, 3), make(3))
    yield copy, (make(4, 6)[:, ::2], make(3))


@case("device_to_cpu_view", SOME, level=2)
def _(make):
    def collect(x):
        out = torch.zeros(4, 4, 3, dtype=x.dtype)
        for i in range(4):
            for j in range(4):
                out[i, j] = x[i, j]
        return out.to(x.device)

    yield collect, (make(4, 4, 3),)


@case("cpu_to_device_strided", SOME, level=2)
def _(make):
    def move(device, host):
        return host.to(device)

    x = make(1, 5, 6, 3)
    for host in (x.permute(0, 3, 1, 2), x.transpose(1, 2), x[..., ::2],
                 x[:, 1:], x.expand(2, 5, 6, 3)):
        yield on_host(host), (torch.device("cpu"),)


def on_host(host):
    """The host's tensor is part of the case, not one of its arguments."""
    return lambda device: (host.to(device).clone(),
                           host.to(device).contiguous().clone())


@case("upload_in_a_loop", ("float32",), level=3)
def _(make):
    def upload(device):
        parts = []
        for i in range(3):
            host = torch.full((5,), float(i + 1))
            parts.append(host.to(device, non_blocking=True))
            del host
            torch.full((5,), -9.0)
        return torch.cat(parts)

    yield upload, (torch.device("cpu"),)


@case("split_shares_memory", SOME, level=2)
def _(make):
    def write_through(x, take):
        part = take(x)[0]
        x[0] = 1
        part[1] = 0
        return part, x

    for take in (lambda x: x.split(2), lambda x: x.chunk(2),
                 lambda x: x.unbind(0) if x.dim() > 1 else x.split(3),
                 lambda x: [x[:3]], lambda x: [x.view(2, -1)[0]],
                 lambda x: [x.narrow(0, 0, 3)], lambda x: [x.unfold(0, 3, 1)[0]]):
        yield write_through, (make(4), take)


@case("inplace_through_view", ("float32",), level=3)
def _(make):
    def addmv(x, m, v):
        y = x.view(1, -1).view(-1)
        y.addmv_(m, v, beta=2.0)
        return x, y

    def fill(x):
        x.t()[1].mul_(3)
        x[:, 0].add_(1)
        return x

    yield addmv, (make(3), make(3, 4), make(4))
    yield fill, (make(3, 3),)


@case("tail_of_vector", FLOATS, level=2)
def _(make):
    for fn in (torch.erfinv, torch.digamma, torch.lgamma, torch.exp, torch.neg,
               torch.relu, torch.sigmoid, torch.abs):
        if fn in (torch.digamma, torch.lgamma, torch.erfinv) and \
                make(1).dtype is torch.float16:
            continue
        yield fn, (make(5, low=0.1, high=0.9)[2:],)


@case("axes_moved", ("float32", "float16"), level=2)
def _(make):
    import torch.nn.functional as F
    x = torch.linspace(-3, 3, 6).reshape(2, 3).to(make(1).dtype)
    for fn in (F.softplus, F.selu, F.gelu, F.elu, F.hardtanh,
               lambda t: F.threshold(t, 0.5, 2.0), torch.sort, torch.argsort,
               lambda t: torch.sort(t, 0)):
        yield fn, (x.moveaxis(0, 1),)
    yield F.prelu, (x.moveaxis(0, 1), make(1))
