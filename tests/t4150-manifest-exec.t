#!/bin/bash
# What a manifest asks of cts-exec: how the device is reached, how often its
# memory is cared for, cases of one's own, decoders of container formats.
. "${0%/*}/lib.sh"
needs jq torch
export PYTHONPATH=$T

cat >count.py <<\END
import ctypes
import os

getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p

def note(what):
    case = getenv(b"CTS_CASE") or b""
    with open("calls", "a") as f:
        f.write(" ".join(case.decode().split("/")[1:2] + [what]) + "\n")

def sync(): note("sync")
def empty(): note("empty")
def seed(n): note("seed")
def init(): note(os.environ.get("COUNT_ENV", "no environment"))
def memory():
    note("memory")
    return 900 << 20
def broken(): raise RuntimeError("no such device")
def refuses():
    if os.path.exists("calls"):
        raise RuntimeError("lost in the end")
    note("sync")
END
base='.device_name = "cpu" | .adapter = {"sync": "count:sync",
	"empty": "count:empty", "memory": "count:memory", "seed": "count:seed",
	"init": ["count:init"], "env": {"COUNT_ENV": "set"}} |
	.resource_limits = {"max_device_memory_mb": 1000,
		"cleanup_threshold_pct": 80}'
# one FILTER ARGS...: the plain add with that manifest, to out.
one()
{
	jq "$base | $1" "$top/templates/complete.json" >m.json
	shift
	cts-enum -m m.json --case opinfo/add/float32/plain --max-samples 3 \
		"$@" >cases || return
	rm -f calls
	cts-exec <cases
}
verdict() { cts-compare <out | jq -r 'select(.kind == "verdict").outcome'; }

# One case for each mode, by another op, in one process.
jq "$base" "$top/templates/complete.json" >m.json
exits 0 'cases' cts-enum -m m.json --case opinfo/add/float32/plain \
	--max-samples 3 --memory-mode balanced
jq -c 'select(.kind == "case")' out >case
while read -r op filter; do
	jq -c ".op = \"$op\" | .id = \"opinfo/$op/float32/plain\" | $filter" \
		case
done >cases <<\END
add .memory_mode = "conservative"
sub .memory_mode = "synchronize"
mul .
neg .memory_mode = "performance"
maximum del(.memory_mode)
exp .cleanup_mb = 950
fmod del(.cleanup_mb)
END
exits 0 'all modes' cts-exec cases
is "$(verdict | uniq -c | awk '{ print $1, $2 }')" '7 pass' \
	'the results are the same'
is "$(sort calls | uniq -c | awk '{ print $2, $3 ? $3 " " $1 : $1 }')" \
	'add empty 3
add sync 6
exp memory 1
exp sync 3
fmod sync 3
maximum empty 1
maximum memory 1
maximum sync 3
mul empty 1
mul memory 1
mul sync 3
neg sync 1
set 1
sub sync 6' 'memory is cared for as each says'
exits 0 'lost in the end' one \
	'.adapter.sync = "count:refuses" | del(.adapter.init)' \
	--memory-mode performance
is "$(jq -r 'select(.kind == "end") | .status' out)" ran 'the first is well'
touch calls
exits 0 'the second' cts-exec cases
is "$(jq -r 'select(.kind == "end") | "\(.status): \(.error.message)"' out)" \
	'error: after its last sample: RuntimeError: lost in the end' \
	'is an error of its case'
cts-enum -m m.json --limit 1 --memory-mode balanced |
	sed 's/balanced/fast/' >bad
exits 3 'a mode that is none' cts-exec bad
errline "bad:2: 'memory_mode' is 'fast'" 'is refused'

exits 4 'a call that fails' one '.adapter.init = ["count:broken"]'
errline "unable to start 'cpu': RuntimeError: no such device" 'is one line'
exits 4 'a call that is not there' one '.adapter.sync = "count:nothing"'
errline "no attribute 'nothing'" 'is one line'
exits 4 'memory that is not there' one '.adapter.memory = "nocount:x"'
errline "No module named 'nocount'" 'is one line'
jq "$base" "$top/templates/complete.json" >m.json
rm -f calls
exits 0 'a probe' cts-manifest probe -m m.json --dtype float32
is "$(sort -u calls)" set 'starts the device as the manifest says'
exits 4 'an import that is not there' cts-exec --probe -d cpu --import nocount
errline "unable to import 'nocount'" 'is one line'
exits 4 'a device that nobody knows' cts-exec --probe -d cudda
errline "PyTorch knows no device 'cudda', the nearest is 'cuda'" 'is one line'
exits 4 'a device that nobody registers' cts-exec --probe -d no_such_thing
errline "knows no device 'no_such_thing'; name the module" 'is one line'
exits 4 'an index that is not there' cts-exec --probe -d cpu:1
errline "there is no 'cpu:1': the device count is 1" 'is one line'
printf 'def none():\n    return 0\n' >nodevice.py
exits 4 'a machine without the device' one '.adapter.count = "nodevice:none"'
errline "there is no 'cpu' here: its device count is 0" 'is one line'
exits 2 'an adapter that is none' cts-exec --probe -d cpu --adapter '[]'

# Cases of one's own.
cts-enum -d cpu >/dev/null 2>&1	# have the inventory in the cache
mkdir -p own/mine
cat >own/mine/mine.py <<\END
import torch
from suite import case

@case("halve", ("float32", "int64"), level=1, tags={"family": "mine"})
def _(make):
    for n in (1, 7):
        yield torch.add, (make(n), make(n))

def lost(x):
    raise MemoryError("no room")

@case("lost", level=1)
def _(make):
    yield lost, (make(3),)

@case("broken", level=1)
def _(make):
    yield torch.add, (make(3), nothing)

def find(x, out):
    return torch.nonzero(x, out=out)

@case("grown", level=1)
def _(make):
    for n in (0, 1, 3, 5):
        yield find, (make(5).abs_().add_(1), torch.zeros(n, 1).long())

@case("slip", level=1)
def _(make):
    yield torch.add, (make(3), [][0])
END
own()
{
	jq ".device_name = \"cpu\" | .custom_test_dirs = $1" \
		"$top/templates/minimal.json" >own/m.json
	shift
	cts-enum -m own/m.json "$@"
}
exits 0 'a folder' own '["mine"]' -k family=mine
is "$(jq -r 'select(.kind == "case").id' out)" \
	$'mine/halve/int64/plain\nmine/halve/float32/plain' 'its cases are there'
is "$(jq -r 'select(.kind == "case").suite_dir' out | sort -u)" \
	"$(realpath own/mine)" 'and where they are'
cp out cases
exits 0 'run' cts-exec cases
is "$(verdict)" $'pass\npass' 'and pass'
exits 0 'in workers' cts-isolate -- cts-exec -d cpu <cases
is "$(verdict)" $'pass\npass' 'and there, too'
exits 0 'resolve' cts-manifest resolve own/m.json
is "$(jq -r '.custom_test_dirs[0]' out)" "$(realpath own/mine)" \
	'the effective manifest can lie elsewhere'
own '["mine"]' --case mine/broken/float32/plain >cases
exits 0 'a wrong case' cts-exec cases
is "$(jq -r 'select(.kind == "end") | .status + ": " + .error.message' out)" \
	"error: NameError: name 'nothing' is not defined" 'is an error of its own'
own '["mine"]' --case mine/grown/float32/plain >cases
exits 0 'a result that is larger than what is given for it' cts-exec cases
is "$(verdict)" pass 'may take the room behind it'
own '["mine"]' --case mine/slip/float32/plain --case mine/halve/int64/plain \
	>cases
exits 0 'an index that is not there' cts-exec cases
is "$(jq -r 'select(.kind == "end") | "\(.id) \(.status) \(.error.message)"' out | sort)" \
	'mine/halve/int64/plain ran null
mine/slip/float32/plain error IndexError: list index out of range' \
	'is one, too, and the next case runs'

own '["mine"] | .hardware.oom_recoverable = false' \
	--case mine/lost/float32/plain --case mine/halve/float32/plain >cases
exits 0 'out of memory' cts-exec cases
is "$(jq -r 'select(.kind == "probe" or .kind == "end") |
	"\(.kind) \(.name // .id) \(.note // .status)"' out)" \
	'end mine/halve/float32/plain ran
probe poisoned mine/lost/float32/plain
end mine/lost/float32/plain ran' 'ends the process, where the manifest says so'

echo 'import nowhere' >own/mine/wrong.py
exits 3 'a wrong file' own '["mine"]' --suite mine
errline 'own/mine/wrong.py:1: ModuleNotFoundError: No module named .nowhere' \
	'is named, with its line'
printf '\n\ndef f(:\n' >own/mine/wrong.py
exits 3 'no Python' own '["mine"]' --suite mine
errline 'own/mine/wrong.py:3: SyntaxError: ' 'is named, with its line'
printf 'from suite import case\n@case("a", tags={"size": "x"})\ndef _(m): pass\n' \
	>own/mine/wrong.py
exits 3 'a tag that is none' own '["mine"]' --suite mine
errline "own/mine/wrong.py:2: ValueError: unknown tag 'size', expected" \
	'is named, with its line'
mv own/mine/wrong.py own/mine/rng.py
exits 3 'a name that is taken' own '["mine"]' --suite mine
errline "own/mine/rng.py:1: a suite is called 'rng' already" 'is refused'
rm own/mine/rng.py
exits 3 'a folder outside' own '["../mine"]' --suite mine
errline "custom_test_dirs\[0\]: '../mine' leads out of the manifest's folder" \
	'is refused'
ln -s "$T" own/link
exits 3 'a link to the outside' own '["link"]' --suite mine
errline "'link' leads out of the manifest's folder" 'is refused'
exits 3 'no folder' own '["none"]' --suite mine
like err "there is no folder 'none'" 'is refused'

# Containers.
cat >decode.py <<\END
import torch

def good(parts):
    return parts["data"].to(torch.float32) * parts["absmax"][:, None]

def wrong(parts):
    return parts["data"].nothing
END
boxes()
{
	jq ".device_name = \"cpu\" | .capabilities.custom_quantized_decode = true |
		.custom_container_decoders = {\"nf4\": \"$1\"}" \
		"$top/templates/complete.json" >m.json
	cts-enum -m m.json --suite containers --op 'nf4$' >cases && cts-exec cases
}
exits 0 'containers' boxes decode:good
is "$(cts-compare <out | jq -r 'select(.kind == "verdict" and
	.variant == "plain") | "\(.op) \(.outcome)"')" \
	$'decode.nf4 pass\nnf4 pass' 'are moved, and decoded'
exits 0 'no decoder' boxes decode:none
is "$(jq -r 'select(.kind == "end" and .id == "containers/decode.nf4/uint8/plain")
	| .status' out)" error 'is an error of that case'
done_testing
