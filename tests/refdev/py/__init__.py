"""The reference device: importing this makes 'refdev' known to PyTorch."""

import atexit
import glob
import time

import torch

from . import _C
from . import _device


def _setup():
    torch.utils.rename_privateuse1_backend("refdev")
    torch._register_device_module("refdev", _device)
    _C._init()
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)


def _let_autograd_finish():
    """Autograd's device threads drop Python objects after a backward returns.

    One that first asks for the interpreter once that is being torn down
    aborts the process, so let those that wait have it now.
    """
    for name in glob.glob("/proc/self/task/*/comm"):
        try:
            with open(name) as f:
                if f.read().startswith("pt_autograd"):
                    time.sleep(0.05)
                    return
        except OSError:
            pass


_setup()
atexit.register(_let_autograd_finish)

served = _C.served
overloads = _C.overloads
check_guards = _C.check_guards
actions = _C.actions
applicable = _C.applicable
load_faults = _C.load_faults
clear_faults = _C.clear_faults
faults = _C.faults


def faults_fired():
    """How often each rule of the plan in force changed something."""
    fired = {}
    for f in _C.faults():
        fired[f["rule"]] = fired.get(f["rule"], 0) + f["fired"]
    return fired
