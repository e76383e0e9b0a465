#!/bin/bash
# The reference device does what programs expect of a device.
. "${0%/*}/lib.sh"
needs torch
py=$(sed -n 's/^PYTHON_EXE := //p' "$top/build/torch.mk")
export PYTHONPATH=$top/build/refdev
exec "$py" "$top/tests/refdev/device.py"
