#!/bin/bash
# For each check, a stream in which it alone fails.
. "${0%/*}/lib.sh"
needs jq

# float32 [1,2,3,4] and [5,6,7,8], and the float64 twin of the former.
one=AACAPwAAAEAAAEBAAACAQA==
two=AACgQAAAwEAAAOBAAAAAQQ==
one64=AAAAAAAA8D8AAAAAAAAAQAAAAAAAAAhAAAAAAAAAEEA=

jq -nc --arg one "$one" --arg two "$two" --arg one64 "$one64" '
def t($d): {dtype: "float32", shape: [2,2], strides: [2,1], offset: 0,
	layout: "strided", device: $d, data: $one};
{v: 1, kind: "obs", id: "opinfo/some_op/float32/plain", run: "r", sample: 3,
 op: "some_op", dtype: "float32", device: "refdev:0", oracle: "float64",
 tier: "clean", args: "some_op(x)", inputs: [t("cpu") | .data = $two],
 ref: {tree: "*", outs: [t("cpu")]},
 dev: {tree: "*", outs: [t("refdev:0")]},
 hp: {tree: "*", outs: [t("cpu") | .dtype = "float64" | .data = $one64]},
 alias: {ref: [""], dev: [""]}, mutated: {ref: [], dev: []}, guard: [],
 where: {"aten::some_op": "device"}, repeat: "same",
 version: {ref: [0], dev: [0]}, drew: false,
 sensitivity: {arg: "alpha", ref: "differs", dev: "differs"}}' >base

# stream FILTER: start, the base observation through FILTER, end.
stream()
{
	echo '{"v":1,"kind":"start","id":"opinfo/some_op/float32/plain",'\
'"run":"r","device":"refdev:0","op":"some_op","dtype":"float32"}'
	jq -c "$1" base
	echo '{"v":1,"kind":"end","id":"opinfo/some_op/float32/plain",'\
'"run":"r","samples":1,"status":"ran"}'
}

stream . >good
exits 0 'a right device is judged' cts-compare -q good
is "$(jq -r '.outcome, .tier, .oracle, .samples, .failed' out | xargs)" \
	'pass strict float64 1 0' 'and passes, by the float64 oracle'
is "$(jq -r '[.checks[].ok] | all' out)" true 'each check holds'
is "$(jq -r '.default_budget' out)" true 'an unknown op has the default budget'

while IFS='|' read -r check class outcome filter; do
	stream "$filter" >in
	exits 0 "$check: judged" cts-compare -q in
	is "$(jq -r '[.checks | to_entries[] | select(.value.ok | not) |
		.key + " " + .value.class] | join(",")' out)" \
		"$check $class" "$check alone fails, and is $class"
	is "$(jq -r .outcome out)" "$outcome" "$check: the outcome is $outcome"
done <<'END'
value|contract|fail|.dev.outs[0].data = "AACAPwAAAEAAAEBAAAAAQA=="
dtype|contract|fail|.dev.outs[0].dtype = "int32"
shape|contract|fail|.dev.outs[0] |= (.shape = [4] | .strides = [1])
layout|contract|fail|.dev.outs[0].layout = "mkldnn"
device|contract|fail|.dev.outs[0].device = "cpu"
device|contract|fail|.dev.outs[0].device = "refdev:1"
outputs|contract|fail|.dev.tree = "(*,)"
outputs|contract|fail|.dev.outs += .dev.outs
outputs|contract|fail|.dev.outs[0] = {py: "float", value: "0x1p+0"}
readable|contract|fail|.dev.outs[0] |= (del(.data) | .lost = "device lost")
readable|contract|fail|.dev.outs[0].data = "AACAPw=="
aliasing|contract|fail|.alias.dev = ["in0"]
aliasing|contract|fail|.alias.ref = ["in0"]
aliasing|contract|fail|.alias = {ref: ["in0"], dev: ["in0"]} | .follows = []
aliasing|contract|fail|.follows = [0]
aliasing|contract|fail|.alias = {ref: ["in0"], dev: ["in0"]} | .follows = [0] | .leads = [""]
aliasing|contract|fail|.leads = ["in"]
out|contract|fail|.alias = {ref: ["in0="], dev: ["in0"]}
mutation|contract|fail|.mutated.ref = [0]
inputs_unmodified|contract|fail|.mutated.dev = [0]
guard|contract|fail|.guard = [{tensor: 0, where: "after", at: 7}]
generator|contract|fail|.drew = true
sensitivity|contract|fail|.sensitivity.dev = "same"
error_missing|contract|fail|.ref = {raised: {type: "ValueError", message: "no", kind: "error"}}
error_unexpected|contract|error|.dev = {raised: {type: "RuntimeError", message: "no", kind: "error"}}
error_unexpected|contract|unsupported|.dev = {raised: {type: "NotImplementedError", message: "no", kind: "unsupported"}}
error_unexpected|contract|oom|.dev = {raised: {type: "OutOfMemoryError", message: "no", kind: "oom"}}
error_type|advice|pass|(.ref, .dev) = {raised: {type: "ValueError", message: "no", kind: "error"}} | .dev.raised.type = "TypeError"
strides|advice|pass|.dev.outs[0].strides = [1,2]
conj|advice|pass|.dev.outs[0].conj = true
neg|advice|pass|.dev.outs[0].neg = true
repeat|advice|pass|.repeat = "differs"
version|advice|pass|.version.dev = [1]
fallback|advice|pass|.where["aten::some_op"] = "fallback"
zero_sign|advice|pass|.ref.outs[0].data = "AAAAAAAAAEAAAEBAAACAQA==" | .hp.outs[0].data = "AAAAAAAAAAAAAAAAAAAAQAAAAAAAAAhAAAAAAAAAEEA=" | .dev.outs[0].data = "AAAAgAAAAEAAAEBAAACAQA=="
ref_error|advice|pass|(.ref, .dev).outs[0].data = "AADAfwAAAEAAAEBAAACAQA=="
END

# The table has no check without a line above.
sed -n "/<<'END'\$/,/^END\$/s/|.*//p" \
	"$top/tests/t2400-compare-checks.t" | sort -u >tested
jq -r .check "$top/coverage/checks.jsonl" | sort -u >known
cmp_file tested known 'each check of the table fails alone above'

# What couldn't be tried says nothing.
stream '.alias = {ref: ["in0"], dev: ["in0"]} | .follows = [0] |
	.leads = ["untried"]' >in
exits 0 'an output that no write was tried on' cts-compare in
is "$(jq -r 'select(.kind == "verdict").outcome' out)" pass 'is no failure'

# Whether a matrix is singular hangs on rounding; one of zeros is.
singular='.ref = {raised: {type: "_LinAlgError", message: "no", kind: "error"}}'
stream "$singular" >in
exits 0 'a device that finds no singular matrix' cts-compare in
is "$(jq -r 'select(.kind == "verdict") | "\(.outcome) \(.unjudged)"' out)" \
	'error 1' 'is not judged by that'
stream "$singular" | sed 's,float32/plain,float32/refused,g' >in
exits 0 'where one must be refused' cts-compare in
is "$(jq -r 'select(.kind == "verdict") | .outcome + " " + .why' out)" \
	'fail error_missing in sample 3: got no error, want _LinAlgError: no' \
	'it is'

# What no write shows.
empty='(.ref, .dev, .hp).outs[0] |= (.shape = [0,2] | .data = "")'
stream "$empty | .alias.dev = [\"in0\"]" >in
exits 0 'an empty view' cts-compare in
is "$(jq -r 'select(.kind == "verdict").outcome' out)" pass 'is as good as fresh'
stream "$empty | .alias.dev = [\"in0=\"]" >in
exits 0 'the input itself, empty' cts-compare in
is "$(jq -r 'select(.kind == "verdict").why' out)" \
	'aliasing in sample 3: got in0=, want fresh' 'is not: it can be resized'

done_testing
