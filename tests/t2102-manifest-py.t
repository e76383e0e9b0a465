#!/bin/bash
# manifest.py, as TorchCTS has it: evaluated, without importing torch where it
# only names dtypes.
. "${0%/*}/lib.sh"
needs jq
[ -x "$top/libexec/cts-manifest-py" ] || {
	echo '1..0 # SKIP there is no Python to embed'
	exit 0
}

cat >m.py <<\END
import re
import torch

print("a manifest may print")
common = {torch.float32: True, torch.half: r"^(?!fft)"}
manifest = {
    "manifest_version": 1,
    "device_name": "cpu",
    "backend_import": None,
    "supported_dtypes": {**common, "torch.int64": bool(re.match("a", "a"))},
    "capabilities": {"inference": True, "ieee754": ("^add$", "mul")},
    "tolerance_overrides": {("mm", torch.float32): (1e-4, 1e-5)},
}
END
exits 0 'check' cts-manifest check m.py
exits 0 'resolve' cts-manifest resolve m.py
is "$(jq -c . out)" "$(printf '%s' '{"manifest_version":1,' \
	'"device_name":"cpu","supported_dtypes":{"int64":true,' \
	'"float16":"^(?!fft)","float32":true},"capabilities":' \
	'{"inference":true,"ieee754":["^add$","mul"]},"tolerance_overrides":' \
	'{"mm:float32":{"rtol":0.0001,"atol":1e-05}}}')" 'is as written'
like err '^a manifest may print$' 'what it prints goes to stderr'

# torch is not loaded: here it could not be.
mkdir torch
echo 'raise SystemExit("torch was imported")' >torch/__init__.py
PYTHONPATH=$PWD exits 0 'names of dtypes need no torch' cts-manifest check m.py
echo 'x = torch.__version__' >>m.py
PYTHONPATH=$PWD exits 4 'anything else does' cts-manifest check m.py
like err 'torch was imported' 'and has it'
rm -r torch

cat >bad.py <<\END
import torch
manifest = {
    "manifest_version": 1,
    "device_name": "cpu",
    "supported_dtypes": {
        torch.float32: "(",
        "float3": True,
    },
    "capabilities": {
        "generator": True,
        "rng": True,
        "rng": False,
    },
    "tolerance_overrides": {"mm:float32": {"rtol": float("nan")}},
}
END
exits 3 'a wrong one' cts-manifest check bad.py
is "$(wc -l <err)" 5 'all findings'
like err '^cts-manifest: bad.py:6: supported_dtypes.torch.float32: ' 'a dtype'
like err '^cts-manifest: bad.py:7: supported_dtypes.float3: ' 'a string'
like err '^cts-manifest: bad.py:10: capabilities.generator: ' 'a stale name'
like err '^cts-manifest: bad.py:12: capabilities.rng: a duplicate' 'a twin'
like err "^cts-manifest: bad.py:14: tolerance.*got 'nan'" 'a NaN'

# fails STATUS NAME RE: the manifest on stdin can't be evaluated.
fails()
{
	cat >f.py
	exits "$1" "$2" cts-manifest check f.py
	errline "$3" 'is one line'
	unlike err 'Traceback' 'without a traceback'
}
fails 3 'a name that is not there' "^cts-manifest: f.py:3: NameError: .*foo" \
	<<<$'import torch\n\nmanifest = foo'
fails 3 'a syntax error' "^cts-manifest: f.py:2: SyntaxError: " \
	<<<$'x = 1\nmanifest = {\n'
fails 3 'an error in a function' "^cts-manifest: f.py:2: ZeroDivisionError" \
	<<<$'def f():\n\treturn 1 / 0\nmanifest = f()'
fails 3 'one that leaves' "^cts-manifest: f.py:2: SystemExit" \
	<<<$'import sys\nsys.exit(0)'
fails 3 'no manifest' "f.py: it defines no 'manifest'" <<<'x = 1'
fails 3 'a manifest that is no dict' "f.py: 'manifest' is no dict" \
	<<<'manifest = 1'
# finds NAME TEXT RE...: what is wrong with that manifest is all found.
finds()
{
	local n
	printf 'import copy\nimport torch\nmanifest = {"manifest_version": 1,
"device_name": "cpu", "capabilities": {}, "supported_dtypes": {}}\n%s\n' "$2" \
		>f.py
	exits 3 "$1" cts-manifest check f.py
	n=$(($# - 2))
	is "$(grep -vc warning err)" $n "has $n findings"
	shift 2
	for re; do
		like err "^cts-manifest: f.py:?[0-9]*: $re" 'of which one'
	done
}
finds 'an object in it' 'manifest["note"] = object()' \
	"note: a manifest can't hold an object of type object"
finds 'odd keys and values' 'manifest[1] = 2; manifest["note"] = b"x"
manifest["supported_dtypes"] = {"float31": True, "float32": float("nan")}' \
	'a key must be a string or a dtype, got int' \
	"note: a manifest can't hold an object of type bytes" \
	'supported_dtypes.float31: unknown dtype' \
	"supported_dtypes.float32: expected a finite number, got 'nan'"
finds 'texts' 'manifest["note"] = "a\0b"
manifest["skip_ops"] = ["\ud800"]' 'note: expected a text of valid' \
	'skip_ops.0.: expected a text of valid'
finds 'a dtype under two names' 'manifest = {"manifest_version": 1,
"device_name": "cpu", "capabilities": {}, "supported_dtypes": {
torch.float32: True, torch.float: False},
"tolerance_overrides": {("mm", torch.float32): (1e-3, 1e-3),
("mm", torch.float32): (1e-4, 1e-4)}}' 'supported_dtypes.*duplicate key' \
	'tolerance_overrides.mm:torch.float32: a duplicate key'
cat >t.py <<\END
import copy
import torch


class Tol:
    def __init__(self, rtol, atol):
        self.rtol, self.atol = rtol, atol


class Tiers:
    golden, usable = Tol(1e-5, 1e-6), Tol(1e-3, 1e-4)


manifest = copy.deepcopy({
    "manifest_version": 1, "device_name": "cpu", "capabilities": {},
    "supported_dtypes": {torch.float32: True}})
manifest["tolerance_overrides"] = {("mm", torch.float32): Tol(0.01, 0.02),
                                   "add:float16": Tiers()}
END
exits 0 'a copy, and tolerances that are objects' cts-manifest resolve t.py
is "$(jq -c '[.supported_dtypes, .tolerance_overrides]' out)" \
	'[{"float32":true},{"mm:float32":{"rtol":0.01,"atol":0.02},'\
'"add:float16":{"rtol":0.001,"atol":0.0001}}]' 'is what they say'
fails 3 'one that ends Python' 'f.py' <<<$'import os\nos._exit(0)'
fails 4 'one that kills it' 'f.py' <<<$'import os\nos.abort()'
exits 4 'no such file' cts-manifest check none.py
errline "'none.py'" 'is named'

# From JSON to Python and back.
exits 0 'init --format py' cts-manifest init --format py -d refdev
like manifest.py '^        torch\.float32: True,$' 'has dtypes'
exits 0 'which is right' cts-manifest check manifest.py
exits 0 'and the same' cts-manifest resolve manifest.py
cp out py
exits 0 'as the JSON' cts-manifest resolve -d refdev
cmp_file py out 'byte for byte'
exits 2 'init again' cts-manifest init --format py

# Without a torch, that is all.
[ -x "$CTS_BIN/cts-exec" ] || done_testing

# Whatever dtype the installed torch has can be claimed.
cat >every.py <<\END
import torch
every = {v for v in vars(torch).values() if isinstance(v, torch.dtype)}
assert len(every) > 40 and torch.__version__
manifest = {"manifest_version": 1, "device_name": "cpu", "capabilities": {},
            "supported_dtypes": {d: True for d in every}}
END
exits 0 'every dtype' cts-manifest check every.py

cat >real.py <<\END
import torch
from torch import float32
import torch.nn
name = "cpu" if torch.tensor(1).item() else "cuda"
manifest = {"manifest_version": 1, "device_name": name, "capabilities": {},
            "supported_dtypes": {torch.float16: True, float32: False}}
END
exits 0 'one that needs torch' cts-manifest resolve real.py
is "$(jq -c '[.device_name, .supported_dtypes]' out)" \
	'["cpu",{"float16":true,"float32":false}]' 'has it'
done_testing
