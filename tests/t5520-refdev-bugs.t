#!/bin/bash
# The public bugs that tests/bugs has plans for are found, each by its check.
. "${0%/*}/lib.sh"
needs torch jq
py=$(sed -n 's/^PYTHON_EXE := //p' "$top/build/torch.mk")
export PYTHONPATH=$top/build/refdev PYTHONDONTWRITEBYTECODE=1
exec "$py" "$top/tests/refdev/bugs.py"
