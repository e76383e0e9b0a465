#!/bin/bash
# cts-enum: what runs, what does not and why; the selectors and how they
# compose.  A small inventory stands in for PyTorch's.
. "${0%/*}/lib.sh"
needs jq

# item OP FLAG DTYPE...
item()
{
	local op=$1 flag=$2 dtypes
	shift 2
	dtypes=$*
	printf '{"v":1,"kind":"opinfo","id":"","run":"","op":"%s",' "$op"
	printf '"%s":true,"dtypes":["%s"],"backward_dtypes":["float32"],' \
		"$flag" "${dtypes// /\",\"}"
	printf '"has_some":true,"has_many":true,"has_rank2":true,"has_rank3":true,'
	printf '"out_dtypes":["%s"],"inplace_dtypes":["float32"]}\n' \
		"${dtypes// /\",\"}"
}
{
	printf '{"v":1,"kind":"torch","id":"","run":"","version":"2.9.9",'
	printf '"python":"3.11.1"}\n'
	item add inplace float32 int64 float64 bool
	item div:floor_rounding inplace float32 int64
	item fft.fft supports_out float32 complex64
	item randn random float32 float64
	item sparse.mm sparse float32
	item to factory float32 float8_e5m2 complex32
} >inv
all=14

# The tables are the real ones, but for the variants.
mkdir -p root/coverage
ln -s "$top/templates" root/templates
ln -s "$top"/coverage/*.jsonl root/coverage/
rm root/coverage/variants.jsonl
echo '{"variant":"plain","engine":true,"level":1,"reason":"as it is"}' \
	>root/coverage/variants.jsonl
export CTS_ROOT=$PWD/root

# enum ARGS...: with that inventory, into out and err.
enum() { cts-enum --inventory inv "$@"; }
cases() { jq -r 'select(.kind == "case") | .id' out; }
# reasons: "reason n" a line, as the account records add up.
reasons()
{
	jq -rn '[inputs | select(.kind == "account")] |
		group_by(.reason)[] | "\(.[0].reason) \(map(.n // 1) | add)"' out
}
# adds_up NAME: cases and accounts are all that there is, each once, and the
# run record says the same.
adds_up()
{
	is "$(jq -n '[inputs | select(.kind == "case" or .kind == "account") |
		.n // 1] | add' out)" "$all" "$1: every case is there"
	is "$(jq -r '.id // "" | select(. != "")' out | sort | uniq -d)" '' \
		'and once'
	is "$(jq -r 'select(.kind == "run").accounts | to_entries | sort_by(.key)[] |
		"\(.key) \(.value)"' out)" "$(reasons)" 'and counted in run'
	is "$(jq -r 'select(.kind == "run").cases' out)" \
		"$(cases | wc -l)" 'as are the cases'
}

exits 0 'everything' enum -d cpu
adds_up 'everything'
is "$(cases | wc -l)" $all 'all of it runs'
is "$(head -n 1 out | jq -c '[.kind, .role, .device, .torch, .level, .seed]')" \
	'["run","selection","cpu","2.9.9",[1,8],67]' 'the run record is first'
is "$(jq -c 'select(.id == "opinfo/add/float32/plain") | [.suite, .op, .dtype,
	.variant, .device, .level, .capability, .oracle, .samples, .seed]' out)" \
	'["opinfo","add","float32","plain","cpu",1,"inference","float64",10,67]' \
	'a case record'
is "$(jq -r 'select(.op == "randn") | "\(.capability) \(.oracle)"' out |
	uniq)" 'rng metadata' 'by the flag'
is "$(jq -r 'select(.kind == "case").level' out | sort -c && echo sorted)" \
	sorted 'by level'
cp out first
exits 0 'once more' enum -d cpu
cmp_file out first 'the same bytes'

# Levels.
exits 0 '--level 1' enum -d cpu -l 1
adds_up '--level 1'
is "$(reasons)" "level_filtered $((all - $(cases | wc -l)))" 'the others'
one=$(cases | wc -l)
exits 0 '--level-exact 2' enum -d cpu --level-exact 2
adds_up '--level-exact 2'
is "$(cases | wc -l)" $((all - one)) 'the rest'
exits 0 '--level-range 1:2' enum -d cpu --level-range 1:2
is "$(cases | wc -l)" $all 'both'
exits 1 '--level-exact 8' enum -d cpu --level-exact 8
errline 'nothing is left to run: 14 cases are accounted for' 'no empty success'
adds_up '--level-exact 8'
for x in '--level 0' '--level 9' '--level x' '--level-range 2' \
	'--level-range 3:2' '--level-exact -1' '--limit 0' '--shard 3/2' \
	'--shard 1' '--op (' '--memory-mode fast' '--max-samples -1' \
	'--seed x' '--no-such' 'operand'; do
	# shellcheck disable=SC2086
	exits 2 "wrong: $x" enum -d cpu $x
	is "$(cat out)" '' 'writes nothing'
done
exits 2 'neither -m nor -d' enum

# A regex that no op matches claims nothing, which is hardly meant.
cts-manifest init --template smoke --device cpu -o claim.json 2>err
regex()
{
	jq "$1" claim.json >slip.json
	exits 0 "$2: is listed" enum -m slip.json
}
regex '.supported_ops = ["^add$", "^randm$"]' 'supported_ops'
errline "warning: supported_ops: no op matches '\^randm\\$', did you mean 'randn'" \
	'and one pattern warned about'
regex '.supported_ops = "^(add|qqqqqqqqqq)$"' 'one alternative that is there'
is "$(cat err)" '' 'is enough'
regex '.supported_ops = ["^add", "^(qqq|ppp)$"]' 'no word to go by'
errline "no op matches '\^\(qqq\|ppp\)\\$'\$" 'no proposal'
regex '.skip_ops = ["^fft[.]fff$"]' 'skip_ops'
errline "skip_ops: no op matches" 'too'
regex '.supported_dtypes.float32 = "^(add|div)$"' 'div, which is a variant'
is "$(cat err)" '' 'is there'
regex '.supported_dtypes.float32 = "^dif$"' 'dtypes'
errline "supported_dtypes.float32: no op matches '\^dif\\$', did you mean 'div" \
	'too'

# Selectors.
exits 0 '--op' enum -d cpu --op '^add$'
adds_up '--op'
is "$(reasons)" 'deselected 10' 'the others were not asked for'
is "$(cases | cut -d/ -f2 | uniq)" add 'that op alone'
exits 0 '--op of a variant' enum -d cpu --op '^div$'
is "$(cases | wc -l)" 2 'by the name before the colon'
exits 2 '--op, a slip' enum -d cpu --op '^randm$'
errline "matches nothing: --op '\^randm\\$', did you mean 'randn'" 'a proposal'
is "$(cat out)" '' 'and no record'
exits 2 '--suite, unknown' enum -d cpu --suite opinf
errline "there is no suite 'opinf'" 'is named'
errline "did you mean 'opinfo'" 'with a proposal'
exits 0 '--suite' enum -d cpu --suite opinfo
is "$(cases | wc -l)" $all 'all of it'
exits 0 '--case' enum -d cpu -l 1 --case opinfo/fft.fft/complex64/plain \
	--case opinfo/add/bool/plain
adds_up '--case'
is "$(cases | sort | tr '\n' ' ')" \
	'opinfo/add/bool/plain opinfo/fft.fft/complex64/plain ' \
	'those, at whatever level'
exits 2 '--case, unknown' enum -d cpu --case opinfo/ad/bool/plain
errline "did you mean 'opinfo/add/bool/plain'" 'a proposal'
exits 2 '--case, dtype' enum -d cpu --case opinfo/add/boool/plain
errline "did you mean 'opinfo/add/bool/plain'" 'a proposal too'
exits 2 '--case, no id' enum -d cpu --case add
exits 0 '--limit' enum -d cpu --limit 3
adds_up '--limit'
is "$(cases)" "$(jq -r 'select(.kind == "case").id' first | head -n 3)" \
	'the first three'
third=$(cases | tail -n 1)
exits 0 '--start-at' enum -d cpu --start-at "$third"
adds_up '--start-at'
is "$(cases)" "$(jq -r 'select(.kind == "case").id' first | tail -n +3)" \
	'from there'
exits 0 '--start-after --limit' enum -d cpu --start-after "$third" --limit 2
adds_up '--start-after --limit'
is "$(cases)" "$(jq -r 'select(.kind == "case").id' first |
	sed -n 4,5p)" 'two after that'
exits 0 'both starts' enum -d cpu --start-at "$third" --start-after "$third"
cp out both
exits 0 'the later of them' enum -d cpu --start-after "$third"
is "$(jq -r 'select(.kind == "case").id' both)" \
	"$(jq -r 'select(.kind == "case").id' out)" 'counts'
exits 2 'levels said twice' enum -d cpu -l 3 --level-exact 2
like err -- '--level-exact beside --level' 'is refused'
exits 2 'an op said twice' enum -d cpu --op add --op mul
like err -- "--op twice: join the two with" 'is refused'
exits 2 'a case that is left out' enum -d cpu --op '^fft' \
	--case opinfo/add/bool/plain
errline 'is there, but what else was selected leaves it out' 'is told'
exits 2 '--start-at, unknown' enum -d cpu --start-at opinfo/x/bool/plain
errline 'is not among the cases' 'is said'
for i in 1 2 3; do
	exits 0 "--shard $i/3" enum -d cpu --shard $i/3
	adds_up "--shard $i/3"
	cases >>shards
done
is "$(sort shards)" "$(jq -r 'select(.kind == "case").id' first | sort)" \
	'the shards are everything, once'
exits 0 'several at once' enum -d cpu -l 2 --op 'a|f' --suite opinfo \
	--dtype float --dtype torch.complex64 --limit 2 --max-samples 4 -s 5 \
	--memory-mode performance
adds_up 'several'
is "$(jq -rc 'select(.kind == "case") | [.samples, .seed, .memory_mode]' out |
	uniq)" '[4,5,"performance"]' 'what the cases say'
is "$(jq -c 'select(.kind == "run") | [.dtypes, .memory_mode, .seed]' out)" \
	'[["float32","complex64"],"performance",5]' 'and the run'

# What the manifest excludes, by reason; the level does not matter.
base='.device_name = "cpu" | .supported_dtypes = {"float32": true, "int64": true,
	"float64": true, "bool": true, "complex64": true, "complex32": true,
	"float8_e5m2": true}'
# policy NAME FILTER REASON N CLAIM
policy()
{
	jq "$base | $2" "$top/templates/complete.json" >m.json
	exits 0 "$1" enum -m m.json
	adds_up "$1"
	is "$(reasons)" "$3 $4" 'by reason'
	is "$(jq -r 'select(.reason == "'"$3"'").claim' out | sort -u)" "$5" \
		'and the claim'
}
jq "$base" "$top/templates/complete.json" >m.json
exits 0 'all claimed' enum -m m.json
is "$(reasons)" '' 'no account'
policy 'a dtype is denied' '.supported_dtypes.int64 = false' \
	dtype_not_supported 2 supported_dtypes.int64
policy 'a dtype is not listed' 'del(.supported_dtypes.int64)' \
	dtype_not_listed 2 supported_dtypes.int64
policy 'a dtype for some ops' '.supported_dtypes.int64 = "^add$"' \
	dtype_regex_filtered 1 supported_dtypes.int64
policy 'a capability is denied' '.capabilities.rng = false' \
	capability_not_declared 2 capabilities.rng
policy 'a capability is not there' 'del(.capabilities.sparse)' \
	capability_not_declared 1 capabilities.sparse
policy 'a capability for some ops' '.capabilities.inference = "^(?!fft)"' \
	capability_regex_filtered 2 capabilities.inference
policy 'narrow floats' '.capabilities.fp8 = false' \
	capability_not_declared 1 capabilities.fp8
policy 'an op is excluded' '.skip_ops = ["add"]' op_excluded 4 skip_ops
policy 'ops are excluded' '.skip_ops = ["^fft\\.", "div"]' op_excluded 4 \
	skip_ops
policy 'ops are listed' '.supported_ops = "^(add|to)$"' op_not_listed 7 \
	supported_ops
policy 'ops are listed one by one' '.supported_ops = ["^add$", "^to$"]' \
	op_not_listed 7 supported_ops
jq "$base | .skip_ops = [\"randm\"]" "$top/templates/complete.json" >m.json
exits 0 'an op that is not there' enum -m m.json
errline "skip_ops: no op is named 'randm', did you mean 'randn'" 'is said'

# Other levels are counted op by op, or named one by one.
exits 0 '-l 1' enum -d cpu -l 1
is "$(jq -r 'select(.kind == "account") | "\(.op) \(.level) \(.n)"' out |
	grep -E 'add|fft')" $'add 2 1\nfft.fft 2 2' 'op by op'
exits 0 '--each' enum -d cpu -l 1 --each
adds_up '--each'
is "$(jq -r 'select(.op == "fft.fft").id' out | wc -l)" 2 'one by one'

# --skips and --table.
exits 0 '--skips' enum -d cpu -l 1 --skips
is "$(jq -r .kind out | sort -u | tr '\n' ' ')" 'account run ' 'no case'
exits 0 '--table' enum -d cpu -l 1 --table
like out "^ *$one cases would run$" 'counts'
like out '^level_filtered +2 +2 +fft.fft +plain float32 complex64$' 'and lists'

# Devices.
exits 0 'auto' enum -m "$top/templates/smoke.json"
like err "'auto' and PyTorch 2.9.9 has no accelerator: taking 'cpu'" 'is said'
sed 's/"python"/"accelerator":"xpu","python"/' inv >inv2
exits 0 'auto with an accelerator' cts-enum --inventory inv2 \
	-m "$top/templates/smoke.json"
is "$(head -n 1 out | jq -r .device)" xpu 'takes that'
exits 0 'imports' enum -d refdev --limit 1
is "$(jq -c 'select(.kind == "case").backend_import' out)" \
	'["torch_refdev"]' 'go with the case'
exits 0 '--validate' enum -d cpu --validate --limit 1
is "$(head -n 1 out | jq -r .mode)" validate 'says so'
exits 2 '--validate elsewhere' enum -d refdev --validate

# Cases by what describes them.
shape()
{
	printf '{"v":1,"kind":"suite","id":"","run":"","suite":"shapes",'
	printf '"op":"%s","dtypes":["float16","float32","int8"],"level":%s,' \
		"$1" "$2"
	printf '"capability":"inference","tags":{"family":"%s","tier":"%s"%s}}\n' \
		"$3" "$4" "${5:+,\"cost\":\"$5\"}"
}
{
	cat inv
	shape mm_edges 2 matmul smoke
	shape mm_large 3 matmul heavy high
	shape sum_edges 2 reduction standard
} >inv3
pick() { cts-enum --inventory inv3 -d cpu "$@"; }
all=23
exits 0 'no -k' pick
adds_up 'no -k'
exits 0 '-k family' pick -l 7 -k 'family=mat*'
adds_up '-k family'
is "$(cases | cut -d/ -f2 | uniq)" mm_edges 'but for the heavy ones'
is "$(reasons)" $'deselected 17\nlevel_filtered 3' 'which belong to level 8'
exits 0 '-k family at level 8' pick -k 'family=mat*'
is "$(cases | cut -d/ -f2 | uniq)" $'mm_edges\nmm_large' 'all of it'
is "$(jq -r 'select(.op == "mm_large") | "\(.level) \(.level_reason)"' out |
	uniq)" '8 a heavy case' 'with the reason'
is "$(jq -r 'select(.kind == "case") | "\(.op) \(.cost)"' out | uniq)" \
	$'mm_edges null\nmm_large high' 'and says what is costly'
exits 0 '-k tier' pick -l 3 -k tier=heavy
adds_up '-k tier'
is "$(cases | cut -d/ -f2 | uniq)" mm_large 'who asks for it gets it'
exits 1 '-k tier below its level' pick -l 2 -k tier=heavy
exits 0 'several -k' pick -k family='*' -k case='*_edges' -k dtype-group=half
adds_up 'several -k'
is "$(cases)" $'shapes/mm_edges/float16/plain\nshapes/sum_edges/float16/plain' \
	'must all hold'
exits 0 '-k with the others' pick -l 3 -k case='[as]*' --op '^s' --dtype int8
adds_up '-k with the others'
is "$(cases)" shapes/sum_edges/int8/plain 'composes'
is "$(jq -r 'select(.id == "shapes/sum_edges/int8/plain").samples' out)" 0 \
	'all samples of a hand-written case'
for x in 'famly=x|did you mean .family' 'size=x|expected family' \
	'family|not of the form' 'family=|not of the form' '=x|not of the form' \
	'family=matmull|did you mean .matmul' 'role=x|no case has a role' \
	'dtype-group=halfs|did you mean .half' 'case=nothing|matches nothing'; do
	exits 2 "wrong: -k ${x%|*}" pick -k "${x%|*}"
	like err "${x#*|}" 'is said'
	is "$(cat out)" '' 'and no record'
done
exits 1 'a pick of nothing that runs' pick -k family=reduction --level-exact 8

# A manifest's own numbers for special values.
echo '{"variant":"special","engine":true,"level":1,"reason":"x"}' \
	>>root/coverage/variants.jsonl
jq "$base | .ieee754_seed = 5 | .max_samples_ieee754 = 2" \
	"$top/templates/complete.json" >m.json
numbers()
{
	jq -rc 'select(.kind == "case" and .op == "add") |
		[.variant, .seed, .samples]' out | sort -u | tr '\n' ' '
}
exits 0 'special values' enum -m m.json
is "$(numbers)" '["plain",67,10] ["special",5,2] ' 'have their own'
exits 0 'unless told otherwise' enum -m m.json -s 9 --max-samples 4
is "$(numbers)" '["plain",9,4] ["special",9,4] ' 'as all others'

# Names in tolerances.
jq "$base | .tolerance_overrides = {\"randm:float32\": {\"ulp\": 3},
	\"sum:float32\": {\"ulp\": 3}, \"add:torch.float16\": {\"ulp\": 2}}" \
	"$top/templates/complete.json" >m.json
exits 0 'a tolerance for nothing' enum -m m.json
errline "tolerance_overrides: no op is named 'randm', did you mean 'randn'" \
	'is said'

# Dtypes that the installed PyTorch is too old for.
sed '1s/"python"/"dtypes":["float32","int64"],"python"/' inv >inv5
jq "$base | .supported_dtypes = {\"float32\": true, \"uint1\": false,
	\"float4_e2m1fn_x2\": true}" "$top/templates/complete.json" >m.json
exits 0 'a new dtype' cts-enum --inventory inv5 -m m.json
errline 'supported_dtypes.float4_e2m1fn_x2: PyTorch 2.9.9 has no such dtype' \
	'is said'

# How the device is reached goes with the case.
jq "$base | .adapter = {\"sync\": \"m:f\", \"fork\": \"bare\"} |
	.resource_limits = {\"max_device_memory_mb\": 500,
		\"cleanup_threshold_pct\": 50}" \
	"$top/templates/complete.json" >m.json
exits 0 'an adapter' enum -m m.json --limit 1
is "$(jq -c 'select(.kind == "case") | [.adapter, .cleanup_mb]' out)" \
	'[{"sync":"m:f","fork":"bare"},250]' 'is in the case'

echo '{"variant":"plain","engine":true,"level":1,"reason":"as it is"}' \
	>root/coverage/variants.jsonl

# Memory.
{
	cat inv
	printf '{"v":1,"kind":"suite","id":"","run":"","suite":"big","op":"x",'
	printf '"dtypes":["float32"],"level":1,"capability":"inference",'
	printf '"mb":3000}\n'
} >inv6
all=15
# memory NAME FILTER CLAIM ARGS...: the big case, with that manifest.
memory()
{
	local name=$1 want=$3
	jq "$base | .hardware = {} | .resource_limits = {} | $2" \
		"$top/templates/complete.json" >m.json
	shift 3
	exits 0 "$name" cts-enum --inventory inv6 -m m.json "$@"
	adds_up "$name"
	is "$(jq -r 'select(.reason == "resource_limit") | "\(.id) \(.claim)"' \
		out)" "${want:+big/x/float32/plain }$want" 'who is left out, and why'
}
memory 'no limit' . ''
memory 'a high limit' '.resource_limits.max_device_memory_mb = 3000' ''
memory 'device memory' '.resource_limits.max_device_memory_mb = 2999' \
	resource_limits.max_device_memory_mb
memory 'system memory' '.resource_limits.max_system_memory_mb = 5' \
	resource_limits.max_system_memory_mb
memory 'tensor size' '.resource_limits.max_tensor_size_mb = 100' \
	resource_limits.max_tensor_size_mb
memory 'the least of them' '.resource_limits = {"max_tensor_size_mb": 100,
	"max_device_memory_mb": 200}' resource_limits.max_tensor_size_mb
two='.device_count = 2 | .hardware.device_memory_gb = [2.5, 8]'
memory 'what the device has' "$two" hardware.device_memory_gb
memory 'what another has' "$two | .device_name = \"cpu:1\"" ''
memory 'what the machine has' '.hardware.system_memory_gb = 1' \
	hardware.system_memory_gb
both='.hardware = {"memory_model": "unified"}'
memory 'one memory for both' "$both | .hardware.system_memory_gb = 5" \
	hardware.system_memory_gb
memory 'two memories' '.hardware = {"memory_model": "discrete",
	"system_memory_gb": 5}' ''
memory 'enough for both' "$both | .hardware.device_memory_gb = 6" ''
memory 'a quota for both' "$both | .resource_limits.max_system_memory_mb =
	5999" resource_limits.max_system_memory_mb
memory 'a quota of the device' "$both | .resource_limits.max_device_memory_mb =
	3000" ''
memory 'enough' '.hardware = {"system_memory_gb": 3, "device_memory_gb": 3}' ''
memory 'unknown' '.hardware.device_memory_gb = "auto"' ''
# What is known of a case's tensors counts, too: 2 MB of float32.
sed '/"suite":"big"/s/"mb":3000/"elements":[500000,700000]/' inv6 >inv7
mv inv7 inv6
memory 'a tensor that is too large' '.resource_limits.max_tensor_size_mb = 1.9' \
	resource_limits.max_tensor_size_mb
memory 'one that is not' '.resource_limits.max_tensor_size_mb = 2' ''
memory 'all of a sample' '.resource_limits.max_device_memory_mb = 5' \
	resource_limits.max_device_memory_mb
memory 'which fits' '.resource_limits.max_device_memory_mb = 6' ''
sed '/"suite":"big"/s/"elements":.500000,700000./"mb":3000/' inv6 >inv7
mv inv7 inv6
memory '--max-device-memory' . null --max-device-memory 100
memory '--max-tensor-size' . null --max-tensor-size 100
exits 0 'oom' cts-enum --inventory inv6 -m - --limit 1 < <(
	jq '.hardware.oom_recoverable = false' m.json)
is "$(jq -c 'select(.kind == "case").oom_recoverable' out)" false \
	'goes with the case where it is the end'

# Container formats.
box()
{
	printf '{"v":1,"kind":"suite","id":"","run":"","suite":"boxes",'
	printf '"op":"%s","dtypes":["uint8"],"level":1,"capability":"%s",' \
		"$1" "$2"
	printf '"container":"%s"}\n' "$3"
}
{
	cat inv
	box nf4 quantized_container_plumbing nf4
	box decode.nf4 custom_quantized_decode nf4
	box decode.mxfp4 custom_quantized_decode mxfp4
} >inv4
boxes() { cts-enum --inventory inv4 -m m.json --suite boxes; }
# claim FILTER: a manifest that says so of containers.
claim()
{
	jq ".device_name = \"cpu\" | $1" "$top/templates/complete.json" >m.json
}
says()
{
	jq -r 'select(.kind == "account" and .op) |
		"\(.op) \(.reason) \(.claim)"' out
}
claim '.capabilities.custom_quantized_decode = true |
	.custom_container_decoders = {"nf4": "m:f"}'
exits 0 'formats' boxes
is "$(jq -r 'select(.kind == "case") | "\(.op) \(.decoder)"' out)" \
	$'nf4 m:f\ndecode.nf4 m:f' 'a decoder goes with the case'
is "$(says)" 'decode.mxfp4 container_format custom_container_decoders.mxfp4' \
	'a format without one is accounted for'
claim '.supported_container_formats.nf4 = false'
exits 1 'a format that is not claimed' boxes
is "$(says)" 'nf4 container_format supported_container_formats.nf4
decode.nf4 capability_not_declared capabilities.custom_quantized_decode
decode.mxfp4 capability_not_declared capabilities.custom_quantized_decode' \
	'is accounted for'

# The real variants.
cp "$top/coverage/variants.jsonl" root/coverage/
all=$(enum -d cpu | jq -r 'select(.kind == "case").id' | wc -l)
exits 0 'all variants' enum -d cpu --level-range 1:4
adds_up 'all variants'
ok 'are many' test "$all" -gt 150
is "$(cases | grep /errors)" '' 'none without the flag'
is "$(cases | grep /out$ | cut -d/ -f2 | uniq)" fft.fft 'one with it'
is "$(jq -r 'select(.variant == "out").level' out | uniq)" 3 'at its level'
is "$(jq -r 'select(.variant == "out").level_reason' out | uniq)" \
	'the result goes to a tensor that is given' 'with its reason'

# Tables that are wrong.
echo '{"variant":"x","engine":true,"level":9,"reason":"x"}' \
	>root/coverage/variants.jsonl
exits 4 'a wrong table' enum -d cpu
errline 'coverage/variants.jsonl:1: ' 'is named, with its line'
rm root/coverage/variants.jsonl
exits 4 'no table' enum -d cpu

# Bad input.
cp "$top/coverage/variants.jsonl" root/coverage/
exits 3 'a wrong manifest' enum -m - <<<'{}'
is "$(cat out)" '' 'no record'
exits 4 'no such manifest' enum -m none.json
sed '$d' inv | head -c -3 >short
exits 3 'a cut inventory' cts-enum --inventory short -d cpu
errline 'short:6: the last line is cut' 'is named'
for level in -1 9 200 255 1e300; do
	jq -c --argjson l $level 'if .op then .level = $l else . end' inv >bad
	exits 3 "level $level in one" cts-enum --inventory bad -d cpu
	errline 'cts-enum: bad:2: level .*, expected 1 to 8' 'has its line'
done
exits 3 'an empty one' cts-enum --inventory /dev/null -d cpu
exits 4 'none' cts-enum --inventory none -d cpu
done_testing
