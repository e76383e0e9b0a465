#!/bin/bash
# Each action of the fault plans happens, and only when it is asked for.
. "${0%/*}/lib.sh"
needs torch
py=$(sed -n 's/^PYTHON_EXE := //p' "$top/build/torch.mk")
export PYTHONPATH=$top/build/refdev
exec "$py" "$top/tests/refdev/selfcheck.py"
