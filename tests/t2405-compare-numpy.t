#!/bin/bash
# NumPy's result as a second oracle, where float64 is none: what agrees with
# it or with the CPU is right, and one that means something else is no oracle.
. "${0%/*}/lib.sh"
needs jq python3

# tensor DTYPE FORMAT VALUE...: packed as Python's struct says.
tensor()
{
	python3 -c 'import base64, json, struct, sys
dtype, f, *v = sys.argv[1:]
v = [float.fromhex(x) if f in "fd" else int(x) for x in v]
n = len(v) // (2 if "complex" in dtype else 1)
data = base64.b64encode(struct.pack("<%d%s" % (len(v), f), *v)).decode()
print(json.dumps({"dtype": dtype, "shape": [n], "strides": [1], "offset": 0,
	"layout": "strided", "device": "cpu", "data": data}))' "$@"
}

# judge OP CPU DEVICE NUMPY [OPTION...]: tensors; a stream of one sample.
judge()
{
	local op=$1 ref=$2 dev=$3 np=$4
	shift 4
	jq -nc --arg op "$op" --argjson ref "$ref" --argjson dev "$dev" \
		--argjson np "$np" '
	def one($t): {tree: "*", outs: [$t]};
	{v: 1, id: "opinfo/\($op)/\($ref.dtype)/plain", run: "r"} as $h |
	$h + {kind: "start"}, $h + {kind: "obs", sample: 0, op: $op,
		dtype: $ref.dtype, device: "cpu", inputs: [],
		ref: one($ref), dev: one($dev), numpy: one($np)},
	$h + {kind: "end", samples: 1}' >in
	exits 0 'judged' cts-compare -q "$@" in
}

# is_judged "OUTCOME ORACLE REF_ULP" NAME
is_judged()
{
	is "$(jq -r '[.outcome, .oracle, .checks.value.ref_ulp // "-"] |
		join(" ")' out)" "$1" "$2"
}

f64() { tensor float64 d "$@"; }
i64() { tensor int64 q "$@"; }
one=0x1p0 up1=0x1.0000000000001p0 up10=0x1.000000000000ap0
up2=0x1.0000000000002p0 up20=0x1.0000000000014p0 up1000=0x1.00000000003e8p0

# neg is exact, exp has 1 ulp, 3 with the oracle's own.
judge exp "$(f64 $up20 1)" "$(f64 $up1 1)" "$(f64 $one 1)"
is_judged 'pass numpy 0x1.4p+4' 'the CPU is 20 ulp off, and the device is not'
is "$(jq -r '.tier, .checks.value.max_ulp' out | xargs)" 'strict 0x1p+0' \
	"the device's own error stands beside that"
judge exp "$(f64 $up20 1)" "$(f64 $up20 2)" "$(f64 $one 2)"
is_judged 'fail cpu -' "far from the CPU's, it is no oracle"
judge exp "$(f64 $up2 1)" "$(f64 $up20 1)" "$(f64 $one 1)"
is_judged 'fail numpy 0x1p+1' 'wrong by both'
is "$(jq -r '.checks.value.want, .checks.value.got' out | xargs)" \
	"0x1p+0 ${up20%p*}p+0" "is held against NumPy's"
judge exp "$(f64 $one 1)" "$(f64 $up1 1)" "$(f64 $up20 1)"
is_judged 'pass cpu -' 'the CPU alone bears it out'
judge exp "$(f64 $one 1)" "$(f64 $up1000 1)" "$(f64 $up1000 1)"
is_judged 'fail cpu -' 'with it against the CPU, when they are far apart'
judge exp "$(f64 nan 1)" "$(f64 $one 1)" "$(f64 $one 1)"
is_judged 'fail cpu -' 'or one is not finite'
judge exp "$(f64 $one inf)" "$(f64 $up1 inf)" "$(f64 $one inf)"
is_judged 'pass numpy 0x0p+0' 'both infinite'
judge exp "$(f64 $up10 1)" "$(f64 $one 1)" "$(tensor float32 f 1 1)"
is_judged 'fail cpu -' 'float32 is no oracle of float64'
judge exp "$(f64 $up10 1)" "$(f64 $one 1)" "$(f64 1 1 1)"
is_judged 'fail cpu -' 'nor is another shape'
judge neg "$(f64 $up1 1)" "$(f64 $one 1)" "$(f64 $one 1)"
is_judged 'fail cpu -' 'where nothing is rounded, one of two is too many'

judge exp "$(tensor complex128 d $up20 0 1 1)" \
	"$(tensor complex128 d $one 0 1 1)" "$(tensor complex128 d $one 0 1 1)"
is_judged 'pass numpy 0x1.4p+4' 'complex128'

# Whole numbers are equal or wrong: one in sixteen may be the CPU's fault.
fifteen=(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
judge add "$(i64 16 "${fifteen[@]}")" "$(i64 17 "${fifteen[@]}")" "$(i64 17 "${fifteen[@]}")"
is_judged 'pass numpy 0x1p+0' "whole numbers that are NumPy's"
judge add "$(i64 16 "${fifteen[@]}")" "$(i64 18 "${fifteen[@]}")" "$(i64 17 "${fifteen[@]}")"
is_judged 'fail numpy 0x1p+0' "and neither's"
judge add "$(i64 16 2)" "$(i64 17 2)" "$(i64 17 2)"
is_judged 'fail cpu -' 'one in two is another meaning'
judge add "$(i64 16 2)" "$(i64 17 2)" "$(i64 16 2)"
is_judged 'fail numpy 0x0p+0' 'a wrong one, by two witnesses'
judge add "$(i64 16 "${fifteen[@]}")" "$(i64 17 "${fifteen[@]}")" \
	"$(tensor int32 i 17 "${fifteen[@]}")"
is_judged 'fail cpu -' 'another type'
judge eq "$(tensor bool B 1 0)" "$(tensor bool B 0 0)" "$(tensor bool B 1 0)"
is_judged 'fail numpy 0x0p+0' 'truth values'

# Where float64 is an oracle, NumPy is not asked.
half=$(tensor float32 f 1 1)
judge exp "$half" "$half" "$half"
is_judged 'pass numpy 0x0p+0' 'float32, for want of a float64 result'
jq -c --argjson t "$(f64 1 1)" 'if .kind == "obs" then
	.hp = {tree: "*", outs: [$t]} else . end' in >both
exits 0 'with a float64 result' cts-compare -q both
is "$(jq -r .oracle out)" float64 'that is the oracle'
jq -c 'if .kind == "obs" then .numpy = {raised: {type: "TypeError",
	message: "no", kind: "error"}} else . end' in >raised
exits 0 'one that raised' cts-compare -q raised
is "$(jq -r .oracle out)" cpu 'is none'
jq -c 'if .kind == "obs" then .numpy.outs = [{py: "int", value: "1"}]
	else . end' in >py
exits 0 'a Python number' cts-compare -q py
is "$(jq -r .oracle out)" cpu 'is none'
jq -c 'if .kind == "obs" then .numpy.outs[0].data = "AAAA" else . end' in \
	>short
exits 3 'too few bytes' cts-compare -q short
errline 'numpy: 0: 3 bytes where dtype and shape make 8' 'are bad input'

done_testing
