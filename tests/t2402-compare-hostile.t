#!/bin/bash
# Observations that are not what they should be: one line with file and line
# number, status 3, and what came before is judged and written.
. "${0%/*}/lib.sh"
needs jq sha256sum

id=s/a/float32/plain
jq -nc '
def t($d): {dtype: "float32", shape: [2], strides: [1], offset: 0,
	layout: "strided", device: $d, data: "AACAPwAAAEA="};
{v: 1, kind: "obs", id: "s/a/float32/plain", run: "r", sample: 0,
 op: "some_op", dtype: "float32", device: "d",
 inputs: [t("cpu")], ref: {tree: "*", outs: [t("cpu")]},
 dev: {tree: "*", outs: [t("d")]}}' >base
printf '{"v":1,"kind":"start","id":"%s","run":"r"}\n' $id >start
printf '{"v":1,"kind":"end","id":"%s","run":"r","samples":1}\n' $id >end
{ cat start base end; sed 's/s.a/s\/b/' start; } >before

while IFS='|' read -r name filter; do
	{ cat before; jq -c "$filter" base; } >in
	exits 3 "$name is refused" cts-compare in
	errline '^cts-compare: in:5: observation: ' "$name: says where"
	is "$(jq -r 'select(.kind=="verdict").outcome' out)" pass \
		"$name: what came before stands"
done <<'END'
bad base64|.ref.outs[0].data = "AACAPwAAAE!="
cut base64|.ref.outs[0].data = "AACAPwAAAEA"
too few bytes|.ref.outs[0].data = "AACAPw=="
too many bytes|.ref.outs[0].shape = [1]
bytes of an empty shape|.ref.outs[0].shape = [0]
a shape whose product overflows|.ref.outs[0].shape = [4294967296, 4294967296]
a shape beyond any memory|.ref.outs[0].shape = [4611686018427387904]
a shape as a huge string|.ref.outs[0].shape = ["9223372036854775807"]
a negative size|.ref.outs[0].shape = [-2]
a fraction|.ref.outs[0].shape = [1.5]
a size that is no number|.ref.outs[0].shape = ["2x"]
a shape that is no list|.ref.outs[0].shape = 2
no shape|del(.ref.outs[0].shape)
too many dimensions|.ref.outs[0].shape = [range(65) | 1]
other strides than sizes|.ref.outs[0].strides = [1, 1]
an unknown dtype|.ref.outs[0].dtype = "float3"
a dtype that is a number|.ref.outs[0].dtype = 3
data that is a number|.ref.outs[0].data = 3
data in two ways|.ref.outs[0].meta = true
same as nothing|.dev.outs += [{dtype: "float32", shape: [2], same: "ref"}]
same as a place without bytes|.ref.outs[0] |= (del(.data) | .meta = true) | .dev.outs[0] |= (del(.data) | .same = "ref")
same as something else|.dev.outs[0] |= (del(.data) | .same = "hp")
the reference the same as itself|.ref.outs[0] |= (del(.data) | .same = "ref")
a path as a blob|.ref.outs[0] |= (del(.data) | .blob = "sha256:../../../../etc/passwd")
a blob of a short digest|.ref.outs[0] |= (del(.data) | .blob = "sha256:00")
a blob that is not there|.ref.outs[0] |= (del(.data) | .blob = "sha256:" + ("0" * 64))
a checksum that is none|.ref.outs[0] |= (del(.data) | .crc = "12")
a checksum of no digits|.ref.outs[0] |= (del(.data) | .crc = "0000000g")
a checksum for what is not the same|.ref.outs[0] |= (del(.data) | .crc = "00000000")
a checksum for what is not looked at|.ref.outs[0] |= (del(.data) | .crc = "00000000") | .dev.outs[0] |= (del(.data, .same) | .meta = true)
parts that are no object|.ref.outs[0] |= (del(.data) | .parts = [1])
parts within parts without end|.ref.outs[0] |= reduce range(12) as $i (.; {dtype: "float32", shape: [2], parts: {x: .}})
an output that is a number|.ref.outs = [1]
outputs that are no list|.ref.outs = {}
no device side|del(.dev)
no reference|del(.ref)
both raised and returned|.dev.raised = {type: "E", message: "m", kind: "error"}
neither raised nor returned|.dev = {}
a sample below 0|.sample = -1
no sample number|del(.sample)
guards that are no list|.guard = {}
a generator that is neither still nor moved|.drew = 1
aliases that are no object|.alias = []
a magnitude that is none|.inputs[0].amax = "-0x1p+0"
too many values|.ref.outs = [range(5000) | {py: "int", value: "1"}]
END

# Blobs, right and wrong.
mkdir -p run/blobs
printf '\0\0\200\77\0\0\0\100' >bytes
sum=$(sha256sum <bytes | cut -d' ' -f1)
cp bytes run/blobs/"$sum"
{ cat start
jq -c --arg s "$sum" '.ref.outs[0] |= (del(.data) | .blob = "sha256:" + $s)' base
cat end; } >run/stream.jsonl
exits 0 'a blob beside the stream' cts-compare -q run/stream.jsonl
is "$(jq -r .outcome out)" pass 'is read'
exits 0 'or where --blobs says' cts-compare -q --blobs run/blobs - \
	<run/stream.jsonl
printf x >>run/blobs/"$sum"
exits 3 'a blob with another digest' cts-compare run/stream.jsonl
errline "run/stream.jsonl:2: .*has another digest" 'is refused'

done_testing
