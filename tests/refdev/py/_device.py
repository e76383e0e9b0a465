"""torch.refdev: what programs expect below torch.<device>."""

import contextlib

import torch

from . import _C

_generators = ()


def _index(dev=None):
    if dev is None:
        return _C.current_device()
    if isinstance(dev, int):
        return dev
    dev = torch.device(dev)
    if dev.type != "refdev":
        raise ValueError(f"not a refdev device: {dev}")
    return _C.current_device() if dev.index is None else dev.index


# Devices.

def is_available():
    return True


def is_initialized():
    return _C.initialized()


def init():
    pass


def _lazy_init():
    if _C.in_bad_fork():
        raise RuntimeError(
            "Cannot re-initialize refdev in forked subprocess. To use refdev "
            "with multiprocessing, you must use the 'spawn' start method")


def _is_in_bad_fork():
    return _C.in_bad_fork()


def device_count():
    return _C.device_count()


def current_device():
    return _C.current_device()


def set_device(dev):
    index = _index(dev)
    if index >= 0:
        _C.set_device(index)


def _exchange_device(index):
    old = _C.current_device()
    if index >= 0:
        _C.set_device(index)
    return old


_maybe_exchange_device = _exchange_device


def get_device_name(dev=None):
    return f"reference device {_index(dev)}"


def get_device_capability(dev=None):
    return (1, 0)


def get_device_properties(dev=None):
    return {"name": get_device_name(dev), "total_memory": _C.memory_limit()}


def synchronize(dev=None):
    _lazy_init()
    _C.synchronize(_index(dev))


class device:
    def __init__(self, dev):
        self.idx = _index(dev)
        self.prev_idx = -1

    def __enter__(self):
        self.prev_idx = _exchange_device(self.idx)

    def __exit__(self, *exc):
        _C.set_device(self.prev_idx)
        return False


class device_of(device):
    def __init__(self, obj):
        dev = obj.device
        super().__init__(dev if dev.type == "refdev" else None)


# Streams and events.

class _Kind(type):
    """A class whose instances are PyTorch's own, which it insists on."""

    def __instancecheck__(cls, obj):
        return isinstance(obj, cls.base) and obj.device.type == "refdev"


class Stream(metaclass=_Kind):
    base = torch.Stream

    def __new__(cls, device=None, priority=0, **kwargs):
        if kwargs:
            return torch.Stream(**kwargs)
        return torch.Stream(device=torch.device("refdev", _index(device)),
                            priority=priority)


class Event(metaclass=_Kind):
    base = torch.Event

    def __new__(cls, enable_timing=False, blocking=False, interprocess=False):
        return torch.Event("refdev", enable_timing=enable_timing,
                           blocking=blocking, interprocess=interprocess)


def current_stream(dev=None):
    return torch.accelerator.current_stream(
        torch.device("refdev", _index(dev)))


def default_stream(dev=None):
    s = current_stream(dev)
    return torch.Stream(stream_id=0, device_index=s.device_index,
                        device_type=s.device_type)


def set_stream(s):
    torch.accelerator.set_stream(s)


@contextlib.contextmanager
def stream(s):
    if s is None:
        yield
        return
    old = current_stream(s.device)
    dev = _C.current_device()
    set_stream(s)
    try:
        yield
    finally:
        set_stream(old)
        _C.set_device(dev)


# Random numbers.

def _default_generators():
    global _generators
    if not _generators:
        _generators = tuple(_C.default_generator(i)
                            for i in range(_C.device_count()))
    return _generators


def __getattr__(name):
    if name == "default_generators":
        return _default_generators()
    if name == "_initialized":      # what torch.utils.checkpoint looks at
        return _C.initialized()
    raise AttributeError(f"module 'torch.refdev' has no attribute {name!r}")


def manual_seed(value):
    if not _C.in_bad_fork():
        _default_generators()[_C.current_device()].manual_seed(int(value))


def manual_seed_all(value):
    if not _C.in_bad_fork():
        for g in _default_generators():
            g.manual_seed(int(value))


def seed():
    _default_generators()[_C.current_device()].seed()


def seed_all():
    value = _default_generators()[0].seed()
    manual_seed_all(value)


def initial_seed():
    return _default_generators()[_C.current_device()].initial_seed()


def get_rng_state(dev="refdev"):
    return _default_generators()[_index(dev)].get_state()


def set_rng_state(state, dev="refdev"):
    _default_generators()[_index(dev)].set_state(state)


def get_rng_state_all():
    return [g.get_state() for g in _default_generators()]


def set_rng_state_all(states):
    for g, s in zip(_default_generators(), states):
        g.set_state(s)


# Memory.

def memory_allocated(dev=None):
    return _C.stats(_index(dev))["current"]


def max_memory_allocated(dev=None):
    return _C.stats(_index(dev))["peak"]


memory_reserved = memory_allocated
max_memory_reserved = max_memory_allocated


def memory_stats(dev=None):
    s = _C.stats(_index(dev))
    r = {}
    for key in ("allocated_bytes", "reserved_bytes", "active_bytes",
                "requested_bytes"):
        r[f"{key}.all.current"] = s["current"]
        r[f"{key}.all.peak"] = s["peak"]
        r[f"{key}.all.allocated"] = s["total"]
        r[f"{key}.all.freed"] = s["freed"]
    r["allocation.all.current"] = s["blocks"]
    r["allocation.all.peak"] = s["peak_blocks"]
    r["allocation.all.allocated"] = s["allocs"]
    r["allocation.all.freed"] = s["frees"]
    r["num_ooms"] = s["ooms"]
    return r


def reset_peak_memory_stats(dev=None):
    _C.reset_peak(_index(dev))


def reset_max_memory_allocated(dev=None):
    reset_peak_memory_stats(dev)


def reset_accumulated_memory_stats(dev=None):
    _C.reset_accumulated(_index(dev))


def mem_get_info(dev=None):
    total = _C.memory_limit()
    return (max(0, total - memory_allocated(dev)), total)


def empty_cache():
    pass


# Numbers.

def is_bf16_supported(including_emulation=True):
    return True


def get_amp_supported_dtype():
    return [torch.float16, torch.bfloat16]
