"""What a device holds on to, and what it gives back."""
import os

import torch
from suite import case

CALLS = 100
ROOM = 32 << 20		# bytes that so many small calls may come to


def held(device):
    """Bytes that the process and the device's allocator hold."""
    with open("/proc/self/statm") as f:
        size = int(f.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    module = getattr(torch, device.type, None)
    figure = getattr(module, "memory_allocated", None)
    return size + (figure() if figure else 0)


def steady(fn):
    """Does what is held stay the same over many calls?"""
    def run(x):
        for i in range(10):
            fn(x, i)
        before = held(x.device)
        for i in range(CALLS):
            fn(x, i)
        return held(x.device) - before < ROOM
    return run


@case("calls_do_not_leak", ("float32",), level=6)
def _(make):
    yield steady(lambda x, i: torch.clamp(x, -i, i + 0.5)), (make(16),)
    yield steady(lambda x, i: x + i * 0.25), (make(16),)
    yield steady(lambda x, i: torch.sum(x * i)), (make(16, 3),)
    yield steady(lambda x, i: torch.mm(x, x)), (make(5, 5),)
    yield steady(lambda x, i: x.cpu()), (make(64),)


@case("freed_memory_is_counted", ("float32",), level=6,
      capability="guard_alloc")
def _(make):
    def run(device):
        figure = getattr(getattr(torch, device.type, None),
                         "memory_allocated", None)
        if figure is None:
            return True, True
        before = figure()
        x = torch.ones(1 << 16, device=device)
        grown = figure() - before >= x.nbytes
        del x
        return grown, figure() <= before
    yield run, (torch.device("cpu"),)
