"""Batches: what a DataLoader collates reaches the device as it was, in order,
without workers; what the device holds can be collated, too."""
import collections

import torch
from torch.utils.data import (ConcatDataset, DataLoader, IterableDataset,
                              Subset, TensorDataset, default_collate)
from suite import CPU, FLOATS, INTS, case

LOADS = {"level": 4, "capability": "dataloader"}
ALL = FLOATS + INTS + ("bool", "complex64")


def host(t):
    return t.to("c" + "pu", copy=True)


def sent(value, device):
    if isinstance(value, torch.Tensor):
        return value.to(device, copy=True)
    if isinstance(value, dict):
        return {k: sent(v, device) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [sent(v, device) for v in value]
    return value


@case("batches", ALL, **LOADS)
def _(make):
    def run(x, **how):
        data = TensorDataset(host(x), torch.arange(len(x)))
        return [sent(b, x.device) for b in DataLoader(data, **how)]
    for how in ({"batch_size": 4}, {"batch_size": 4, "drop_last": True},
                {"batch_size": 16}, {"batch_size": None}, {}):
        yield run, (make(10, 3),), how
    yield run, (make(6, 10).t()[:, ::2],), {"batch_size": 3}
    yield run, (make(7),), {"batch_size": 2}
    yield run, (make(5, 0),), {"batch_size": 2}


@case("shuffled", ("float32", "int64"), **LOADS)
def _(make):
    """The order comes from the host's generator, whatever the device."""
    def run(x):
        g = torch.Generator().manual_seed(7)
        data = TensorDataset(host(x))
        order = [sent(b, x.device) for b in DataLoader(
            data, batch_size=4, shuffle=True, generator=g)]
        torch.manual_seed(7)
        again = [sent(b, x.device) for b in DataLoader(
            data, batch_size=4, sampler=torch.utils.data.RandomSampler(
                data, replacement=True, num_samples=9))]
        return order, again
    yield run, (make(10, 3),)


@case("collated", ALL, **LOADS)
def _(make):
    """Every kind of thing that default_collate takes."""
    Pair = collections.namedtuple("Pair", "left right")

    def run(x):
        one = [{"x": host(r), "n": i, "f": i / 2, "s": "s%d" % i,
                "l": [host(r), i], "p": Pair(host(r), -i)}
               for i, r in enumerate(x)]
        b = default_collate(one)
        return sent({k: b[k] for k in ("x", "n", "f", "l")}, x.device), \
            str(b["s"]), type(b["p"]).__name__, sent(list(b["p"]), x.device)
    yield run, (make(4, 3),)


@case("on_the_device", ALL, **LOADS)
def _(make):
    """A dataset that lies on the device gives batches there."""
    def run(x):
        data = TensorDataset(x, x + x)
        out = list(DataLoader(data, batch_size=4))
        return [[t.clone() for t in b] for b in out], all(
            t.device == x.device for b in out for t in b)

    def stacked(x):
        b = default_collate(list(x))
        return b, b.device == x.device
    yield run, (make(10, 3),)
    yield run, (make(6, 10).t()[:, ::2],)
    yield stacked, (make(4, 3),)
    yield stacked, (make(3, 4).t(),)


@case("collated_by_hand", ("float32", "int64"), **LOADS)
def _(make):
    """A collate function that pads rows of other lengths, on the device."""
    def run(*rows):
        device = rows[0].device

        def pad(batch):
            return torch.nn.utils.rnn.pad_sequence(
                [b.to(device) for b in batch], batch_first=True,
                padding_value=-1), torch.tensor([len(b) for b in batch],
                                                device=device)
        return [list(b) for b in DataLoader([host(r) for r in rows],
                                            batch_size=2, collate_fn=pad)]
    yield run, tuple(make(n, 2) for n in (3, 1, 4, 2, 5))


@case("datasets", ("float32", "int64"), **LOADS)
def _(make):
    class Stream(IterableDataset):
        def __init__(self, rows):
            self.rows = rows

        def __iter__(self):
            return iter(self.rows)

    def run(x):
        rows = host(x)
        parts = ConcatDataset([TensorDataset(rows[:3]),
                               TensorDataset(rows[3:])])
        some = Subset(TensorDataset(rows), [4, 1, 1, 8])
        return ([sent(b, x.device) for b in DataLoader(Stream(rows), 3)],
                [sent(b, x.device) for b in DataLoader(parts, 4)],
                [sent(b, x.device) for b in DataLoader(some, 2)])
    yield run, (make(10, 3),)


@case("default_device", ("float32",), **LOADS)
def _(make):
    """With the device as the default, batches still come, of what the dataset
    makes there."""
    def run(x, d):
        class Rows(torch.utils.data.Dataset):
            def __len__(self):
                return 5

            def __getitem__(self, i):
                return torch.full((2,), float(i))
        with torch.device(d):
            out = list(DataLoader(Rows(), batch_size=2))
        return [b.clone() for b in out], all(b.device == x.device
                                             for b in out)
    yield run, (make(1), CPU)


@case("trained", ("float32",), **LOADS)
def _(make):
    def run(x, y, w):
        w = w.detach().clone().requires_grad_()
        opt = torch.optim.SGD([w], lr=0.05, momentum=0.9)
        for _ in range(2):
            for a, b in DataLoader(TensorDataset(host(x), host(y)), 4):
                opt.zero_grad()
                (a.to(w.device) @ w - b.to(w.device)).pow(2).mean().backward()
                opt.step()
        return w.detach()
    yield run, (make(10, 3, low=-1, high=1), make(10, 1, low=-1, high=1),
                make(3, 1, low=-1, high=1))
