#!/bin/bash
# The value check: specials, budgets by op and dtype, the manifest's overrides,
# the two tiers, Python values, sparse parts.
. "${0%/*}/lib.sh"
needs jq python3

# b64 FORMAT NUMBER...: packed as Python's struct says, in base64.
b64()
{
	python3 -c 'import base64, struct, sys
f, v = sys.argv[1], [float(x) if sys.argv[1] in "fd" else int(x, 0)
		     for x in sys.argv[2].split()]
print(base64.b64encode(struct.pack("<%d%s" % (len(v), f), *v)).decode())' "$@"
}

# tensor DTYPE FORMAT "VALUES" [KEYS]
tensor()
{
	local n
	n=$(wc -w <<<"$3")
	printf '{"dtype":"%s","shape":[%d],"strides":[1],"offset":0,%s' \
		"$1" "$n" "\"layout\":\"strided\",\"device\":\"cpu\","
	printf '"data":"%s"%s}' "$(b64 "$2" "$3")" "${4-}"
}

# case OP DTYPE REF DEV [HP [INPUTS [ARGS]]]: a stream of one sample, in `in`.
case_of()
{
	local id=opinfo/$1/$2/plain
	{
	printf '{"v":1,"kind":"start","id":"%s","run":"r"}\n' "$id"
	printf '{"v":1,"kind":"obs","id":"%s","run":"r","sample":0,' "$id"
	printf '"op":"%s","dtype":"%s","device":"cpu","args":"%s",' "$1" "$2" \
		"${7-}"
	printf '"inputs":[%s],"ref":{"tree":"*","outs":[%s]},' "${6-}" "$3"
	[ -z "${5-}" ] || printf '"hp":{"tree":"*","outs":[%s]},' "$5"
	printf '"dev":{"tree":"*","outs":[%s]}}\n' "$4"
	printf '{"v":1,"kind":"end","id":"%s","run":"r","samples":1}\n' "$id"
	} >in
}

# gives OUTCOME NAME [OPTION...]: what the stream in `in` is judged to be.
gives()
{
	local want=$1 name=$2
	shift 2
	exits 0 "$name: judged" cts-compare -q "$@" in
	is "$(jq -r '.outcome + if .tier then " " + .tier else "" end' out)" \
		"$want" "$name: $want"
}

# floats OP "REF" "DEV" "HP": of float32.
floats()
{
	case_of "$1" float32 "$(tensor float32 f "$2")" \
		"$(tensor float32 f "$3")" \
		"${4:+$(tensor float64 d "$4")}"
}

# 1 ulp of 1 is 1.1920929e-07.
u1=1.00000011920928955 u2=1.00000023841857910 u3=1.00000035762786865
u4=1.00000047683715820 u9=1.0000010728836

# An op that nobody knows: conservative, and it says so.
floats no_such_op 1 $u2 1
gives 'pass strict' '2 ulp of an unknown op'
is "$(jq -c .default_budget out)" true 'the verdict says default budget'
like out '"budget":"default: 2 ulp strict, 3 usable: ' 'and what it is'
floats no_such_op 1 $u3 1
gives 'pass usable' '3 ulp of an unknown op'
gives fail '3 ulp, where strict is asked' --tier strict
floats no_such_op 1 $u4 1
gives fail '4 ulp of an unknown op'
floats no_such_op '0 0 0' '1 1 1' '0 0 0'
gives fail 'ones for zeros'
floats no_such_op '1e-7 2e-7 3e-7' '0 0 0' '1e-7 2e-7 3e-7'
gives fail 'zeros for small numbers'
floats nn.functional.gelu '1e-8 2e-8 3e-8' '0 0 0' '1e-8 2e-8 3e-8'
gives fail 'zeros within an absolute bound'

# Each op by its own budget.
floats clone 1 $u1 1
gives fail '1 ulp of an exact op'
floats nextafter $u1 1 1
gives fail 'nextafter that does nothing'
floats nextafter $u1 $u1 1
gives 'pass strict' 'nextafter as the reference, whatever float64 says'
floats add 1 $u1 1
gives 'pass usable' '1 ulp of a sum'
floats add 1 $u2 1
gives fail '2 ulp of a sum'
floats tan 1 $u4 1
gives 'pass strict' '4 ulp of a tangent'
floats exp 1 $u9 1
gives fail '9 ulp of an exponential'
floats aten_add.out 1 $u4 1
gives fail 'an overload of an unknown op'
floats _foreach_tan 1 $u4 1
gives 'pass strict' 'a foreach op is as its op'

# A sum is measured by what it sums.
in=$(tensor float32 f '1e6 -1e6 0.5')
case_of sum float32 "$(tensor float32 f 0.5)" "$(tensor float32 f 0.5625)" \
	"$(tensor float64 d 0.5)" "$in"
gives 'pass usable' 'a sum that cancels, off by a rounding of its terms'
case_of sum float32 "$(tensor float32 f 0.5)" "$(tensor float32 f 3)" \
	"$(tensor float64 d 0.5)" "$in"
gives fail 'off by more'
case_of sum float32 "$(tensor float32 f 0.5)" "$(tensor float32 f 0.5625)" \
	"$(tensor float64 d 0.5)" "$(tensor float32 f '0.25 0.25')"
gives fail 'the same error where nothing cancels'
case_of sum float32 "$(tensor float32 f 0.53)" "$(tensor float32 f 0.2)" \
	"$(tensor float64 d 0.5)"
gives 'pass usable' "an error like the reference's own"

# Specials.
floats exp '1 nan' '1 nan' '1 nan'
gives 'pass strict' 'NaN for NaN'
floats exp '1 nan' '1 0' '1 nan'
gives fail 'a number for NaN'
floats exp '1 1' 'nan 1' '1 1'
gives fail 'NaN for a number'
floats exp 'inf' 'inf' '1e39'
gives 'pass strict' 'overflow as the reference'
floats exp 'inf' '3e38' '1e39'
gives fail 'a number instead of overflow'
floats exp '-inf' 'inf' '-inf'
gives fail 'the other infinity'
floats exp 'inf' '1' '1'
gives 'pass strict' 'right where the reference overflows in between'
is "$(jq -c '.checks.ref_error | .ok, .class' out | xargs)" 'false advice' \
	"and the reference's fault is reported"
floats exp 'nan' 'nan' '1'
gives 'pass strict' "the reference's own NaN"

# Whole numbers, bits, halves.
case_of add int64 "$(tensor int64 q 9007199254740993)" \
	"$(tensor int64 q 9007199254740992)"
gives fail 'int64 that went through float64'
is "$(jq -r '.checks.value | .got + " " + .want' out)" \
	'9007199254740992 9007199254740993' 'is shown exactly'
case_of sum uint8 "$(tensor uint8 B 16)" "$(tensor uint8 B 255)"
gives fail 'uint8 that saturates'
case_of eq bool "$(tensor bool B '1 0')" "$(tensor bool B '1 1')"
gives fail 'a wrong truth'
case_of eq bool "$(tensor bool B '1 1')" "$(tensor bool B '1 2')"
gives fail 'a bool that is 2'
like out 'got the byte 2, which is no bool at \[1\]' 'is shown as it is'
case_of exp float16 "$(tensor float16 H '0x3c00')" \
	"$(tensor float16 H '0x3c03')" "$(tensor float64 d 1)"
gives fail '3 ulp of float16'
case_of mul float64 "$(tensor float64 d 1)" "$(tensor float64 d $u1)"
gives fail 'float64 computed in float32'
for t in float8_e4m3fn float8_e5m2 float4_e2m1fn_x2 bits8 qint8; do
	case_of clone $t "$(tensor $t B '1 2')" "$(tensor $t B '1 2')"
	gives 'pass strict' "$t"
	case_of clone $t "$(tensor $t B '1 2')" "$(tensor $t B '1 3')"
	gives fail "$t, another"
done

# Python values.
py() { printf '{"py":"%s","value":"%s"}' "$1" "$2"; }
case_of item float32 "$(py float 0x1p+0)" "$(py float 0x1p+0)"
gives 'pass strict' 'a Python float'
case_of item float32 "$(py float 0x1p+0)" "$(py float 0x1.8p+0)"
gives fail 'another'
case_of item int32 "$(py int 3)" "$(py int 4)"
gives fail 'a Python int'
case_of item int32 "$(py int 3)" "$(py float 0x1.8p+1)"
gives fail 'a float for an int'
is "$(jq -r '[.checks[] | select(.ok | not)] | length' out)" 1 \
	'is one broken check'

# Sparse parts.
sparse()
{
	printf '{"dtype":"float32","shape":[9],"layout":"sparse_coo",'
	printf '"device":"cpu","parts":{"indices":%s,"values":%s}}' \
		"$(tensor int64 q "$1")" "$(tensor float32 f "$2")"
}
case_of to_sparse float32 "$(sparse '1 2' '1 2')" "$(sparse '1 2' '1 2')"
gives 'pass strict' 'a sparse tensor'
case_of to_sparse float32 "$(sparse '1 2' '1 2')" "$(sparse '1 2' '1 3')"
gives fail 'a wrong value'
case_of to_sparse float32 "$(sparse '1 2' '1 2')" "$(sparse '1 3' '1 2')"
gives fail 'a wrong index'

# What isn't to be looked at.
case_of rand_like float32 "$(tensor float32 f 1)" "$(tensor float32 f 2)"
gives 'pass strict' 'random numbers'
is "$(jq -r '.oracle, (.checks | has("value"))' out | xargs)" \
	'metadata false' 'are not compared'

# What is drawn may be what was there, on either side: with few elements.
# drawn N REF DEV [OP [ALIAS [DREW]]]: N elements, the inputs that each changed.
drawn()
{
	local t
	t="{\"dtype\":\"float32\",\"shape\":[$1],\"strides\":[1],\"offset\":0,"
	t+='"layout":"strided","device":"cpu","meta":true}'
	case_of "${4-bernoulli}" float32 "$t" "$t" '' "$t"
	sed -i "s/\"inputs\"/\"alias\":{\"ref\":[\"${5-in0=}\"],\
\"dev\":[\"${5-in0=}\"]},\"mutated\":{\"ref\":[$2],\"dev\":[$3]},${6-}&/" in
}
drawn 3 0 ''
gives 'pass strict' 'a device that draws what was there'
drawn 3 '' 0
gives 'pass strict' 'a reference that does'
drawn 40 '' 0
gives 'pass strict' 'however many elements it has'
drawn 40 0 ''
gives fail 'forty that all stay as they were'
drawn 3 '' 0 bernoulli ''
gives fail 'an input that is not what is drawn into'
drawn 3 0 '' add
gives fail 'an op that draws nothing'
drawn 3 '' 0 resize_ in0= '"drew":false,'
gives fail 'an op that leaves elements unwritten'

case_of nn.functional.dropout float32 "$(tensor float32 f 1)" \
	"$(tensor float32 f 2)" '' '' 'x, training=False'
gives fail 'but dropout that does nothing is'
floats no_such_op 1 2 1
jq -c 'if .kind=="obs" then .ref.outs[0] |= (del(.data) | .crc="00000000") |
	.dev.outs[0] |= (del(.data) | .same="ref") else . end' in >in2
mv in2 in
gives 'pass strict' 'the same bits, not kept'
floats no_such_op 1 2 1
jq -c 'if .kind=="obs" then .dev.outs[0] |= (del(.data, .same) | .meta=true)
	else . end' in >in2
mv in2 in
gives fail 'a device that is not looked at where the reference is'

# Other budgets.
floats no_such_op 1 $u9 1
gives fail '9 ulp by our budgets'
jq -c 'if .class=="default" then .usable=9 else . end' \
	"$top/coverage/budgets.jsonl" >b.jsonl
gives 'pass usable' 'the same stream by others' --budgets b.jsonl

# The manifest.
manifest()
{
	jq -n --argjson o "$1" '{manifest_version: 1, device_name: "cpu",
		supported_dtypes: {float32: true}, semantic_level: 1,
		capabilities: {}} + $o' >m.json
}
floats clone 1 $u9 1
manifest '{"tolerance_overrides": {"clone:torch.float32": {"ulp": 9}}}'
gives 'pass strict' 'an override in ulp' -m m.json
like out '"budget":"override: manifest' 'is named in the verdict'
manifest '{"tolerance_overrides": {"clone:torch.float32": {"rtol": 1e-5, "atol": 0}}}'
gives 'pass strict' 'an override in rtol' -m m.json
manifest '{"tolerance_overrides": {"clone:torch.float64": {"ulp": 9}}}'
gives fail 'one for another dtype' -m m.json
manifest '{"tolerance_overrides": {"neg:torch.float32": {"ulp": 9}}}'
gives fail 'one for another op' -m m.json
manifest '{"tolerance_overrides": {"exact:float32": {"ulp": 9}}}'
gives 'pass strict' 'one for a class of ops' -m m.json
floats exp 1 $u2 1
manifest '{"tolerance_overrides": {"exp:float32": {"ulp": 1}}}'
gives fail 'one that is narrower' -m m.json
floats clone 1 $u9 1
jq -c 'if .kind=="obs" then .dev.outs[0].shape=[1,1] |
	.dev.outs[0].strides=[1,1] else . end' in >in2
mv in2 in
manifest '{"tolerance_overrides": {"clone:torch.float32": {"ulp": 9}}}'
gives fail 'none widens the shape' -m m.json

floats clone 1 1 1
jq -c 'if .kind=="obs" then .repeat="differs" |
	.where={"aten::clone":"fallback"} else . end' in >in2
mv in2 in
gives 'pass strict' 'advice alone'
manifest '{"capabilities": {"deterministic": true}}'
gives fail 'repetition under the deterministic claim' -m m.json
manifest '{"must_not_fall_back": ["clone"]}'
gives fail 'a fallback of an op that must not' -m m.json
manifest '{"must_not_fall_back": ["neg"]}'
gives 'pass strict' 'of another it is advice' -m m.json
echo '{"manifest_version": 1, "device_nam": "x"}' >m.json
exits 3 'a wrong manifest' cts-compare -m m.json in

done_testing
