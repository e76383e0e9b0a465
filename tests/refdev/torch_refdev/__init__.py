"""The reference device: importing this makes 'refdev' known to PyTorch."""

import torch

from . import _C
from . import _device


def _setup():
    torch.utils.rename_privateuse1_backend("refdev")
    torch._register_device_module("refdev", _device)
    _C._init()
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)


_setup()

served = _C.served
overloads = _C.overloads
check_guards = _C.check_guards
