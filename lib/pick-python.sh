#!/bin/sh
# Print the interpreter to use: the active python3 if it can see torch, else
# the one of .venv, which set-up makes.
has_torch='import importlib.util as u, sys
sys.exit(not u.find_spec("torch"))'
py=$(command -v python3) &&
	"$py" -c "$has_torch" 2>/dev/null && { echo "$py"; exit; }
echo "$PWD/.venv/bin/python"
