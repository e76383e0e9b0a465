#!/bin/bash
# Faults that one form of a call alone can show, and that it does show.
. "${0%/*}/lib.sh"
needs torch jq
export PYTHONPATH=$top/build/refdev

declare -A healthy
well()
{
	exits 0 "$1 runs on the healthy device" \
		cts-isolate -- cts-exec <cases.jsonl
	mv out run.jsonl
	exits 0 'and is judged' cts-compare run.jsonl
	is "$(jq -r 'select(.kind == "verdict").outcome' out | sort -u)" pass \
		'and passes'
}

# alone OP VARIANT CHECK RULE: of all cases of the op at level 5, only that
# variant's fails, and by that check; without the rule none does.
alone()
{
	printf '%s\n' "$4" >plan.jsonl
	exits 0 "$1 is enumerated" cts-enum -d refdev -l 5 --dtype float32 \
		--op "^$1\$"
	grep '"kind":"case"' out >cases.jsonl
	[ -n "${healthy[$1]-}" ] || well "$1"
	healthy[$1]=1
	CTS_REFDEV_FAULTS=plan.jsonl exits 0 "runs with $4" \
		cts-isolate -- cts-exec <cases.jsonl
	mv out run.jsonl
	exits 0 'is judged' cts-compare run.jsonl
	jq -r 'select(.kind == "verdict" and .outcome != "pass") |
		"\(.variant) \(first(.checks | to_entries[] |
		select(.value.class == "contract" and (.value.ok | not)) |
		.key))"' out >got
	cmp_file got - "$2 alone sees it" <<<"$2 $3"
}

alone erf tiny error_unexpected \
	'{"op":"erf","if":{"arg":"self","shape":[1,1]},"do":"throw"}'
alone erf edges value \
	'{"op":"erf","if":{"numel":[256,512]},"do":"last_slice","dim":-1}'
alone bmm prefix value \
	'{"op":"bmm","if":{"arg":0,"size":[0,5]},"do":"last_slice"}'
alone atan2 host_scalar error_unexpected \
	'{"op":"atan2","if":{"arg":"other","host":true},"do":"throw"}'
alone atan2 host_scalar_first error_unexpected \
	'{"op":"atan2","if":{"arg":"self","host":true},"do":"throw"}'
alone tanh backward_offset value \
	'{"op":"tanh_backward","do":"no_offset","arg":0}'
alone sigmoid backward_permuted value '{"op":"sigmoid","do":"grad_dense"}'
alone addcmul backward_subsets value '{"op":"addcmul","do":"grad_mask"}'
alone erf out_special value \
	'{"op":"erf.out","do":"lose_input","arg":"self","what":"nan"}'
alone erf inplace_special value \
	'{"op":"erf_","do":"lose_input","arg":"self","what":"nan"}'
# A reduction needs more than a scalar to tell, and no others that hide it.
alone amax special value \
	'{"op":"amax","do":"lose_input","what":"nan"}'
alone sum special value \
	'{"op":"sum*","do":"lose_input","what":"inf"}'
alone erf refused error_missing '{"op":"erf.out","do":"swallow"}'
alone mode refused error_missing '{"op":"mode","do":"swallow"}'

# fails_in CASE RULE: the case, which passes on the healthy device, fails by a
# value.
fails_in()
{
	exits 0 "$1" cts-enum -d refdev --case "$1"
	grep '"kind":"case"' out >cases.jsonl
	well "$1"
	printf '%s\n' "$2" >plan.jsonl
	CTS_REFDEV_FAULTS=plan.jsonl exits 0 "runs with $2" \
		cts-exec cases.jsonl
	mv out run.jsonl
	exits 0 'is judged' cts-compare run.jsonl
	is "$(jq -r 'select(.kind == "verdict") |
		"\(.outcome) \(.checks.value.ok)"' out)" 'fail false' \
		'and fails by a value'
}

# What only one call in sixteen shows, in an op that has few cases.
fails_in aten/tanh_backward/float32/plain \
	'{"op":"tanh_backward","do":"drop_one","nth":"%16"}'
fails_in opinfo/erf/float32/repeat '{"op":"erf","do":"drop_one","nth":"%29"}'
# Neither small nor extreme.
fails_in opinfo/lerp/float32/out_large \
	'{"op":"lerp.Scalar_out","do":"wrap","bits":24}'

# A draw that nobody asked for: values don't show it.
printf '%s\n' \
	'{"op":"_scaled_dot_product_fused_attention*","do":"rng_clock"}' \
	>plan.jsonl
exits 0 'attention' cts-enum -d refdev \
	--case opinfo/nn.functional.scaled_dot_product_attention/float32/plain
mv out cases.jsonl
exits 0 'runs' cts-exec cases.jsonl
mv out run.jsonl
is "$(jq -s 'map(select(.kind == "obs")) | any(.drew == false) and
	all(.drew != true)' run.jsonl)" true \
	'and leaves the generator as it was, where nothing is dropped'
CTS_REFDEV_FAULTS=plan.jsonl exits 0 'attention that seeds by the clock' \
	cts-exec cases.jsonl
mv out run.jsonl
exits 0 'is judged' cts-compare run.jsonl
is "$(jq -r 'select(.kind == "verdict") | .outcome, (.checks | to_entries[] |
	select(.value.ok | not) | .key)' out | xargs)" 'fail generator' \
	'and fails by the generator alone'

# What is kept of the call before shows where that had other values.
printf '%s\n' '{"op":"erf","do":"stale"}' >plan.jsonl
exits 0 'cases' cts-enum -d refdev --case opinfo/erf/float32/repeat \
	--case opinfo/erf/float32/plain
mv out cases.jsonl
CTS_REFDEV_FAULTS=plan.jsonl exits 0 'a stale argument' \
	cts-isolate -- cts-exec <cases.jsonl
mv out run.jsonl
exits 0 'is judged' cts-compare run.jsonl
jq -r 'select(.kind == "verdict") | "\(.variant) \(.outcome)"' out |
	sort >got
cmp_file got - 'a second call with other values shows it' <<'END2'
plain pass
repeat fail
END2

# An op that works on the CPU in silence.
printf '%s\n' '{"op":"mv","do":"cpu_fallback"}' >plan.jsonl
exits 0 'a case' cts-enum -d refdev --case opinfo/mv/float32/plain
mv out cases.jsonl
CTS_REFDEV_FAULTS=plan.jsonl exits 0 'falls back' cts-exec cases.jsonl
mv out run.jsonl
is "$(jq -r 'select(.kind == "obs" and .sample == 0).where["aten::mv"]' \
	run.jsonl)" fallback 'is seen where it began'
exits 0 'and is judged' cts-compare run.jsonl
is "$(jq -r 'select(.kind == "verdict") |
	"\(.outcome) \(.checks.fallback.ok)"' out)" 'pass false' 'as advice'

# Memory that is shared in secret shows by a write alone.
printf '%s\n' '{"op":"clone","do":"hidden_view"}' >plan.jsonl
exits 0 'a case' cts-enum -d refdev --case opinfo/clone/float32/plain
mv out cases.jsonl
CTS_REFDEV_FAULTS=plan.jsonl exits 0 'shared memory without a word' \
	cts-exec cases.jsonl
mv out run.jsonl
is "$(jq -c 'select(.kind == "obs" and .sample == 0) |
	[.follows, .alias]' run.jsonl)" '[[0],null]' 'is seen by a write'
exits 0 'and is judged' cts-compare run.jsonl
is "$(jq -r 'select(.kind == "verdict") | .why' out)" \
	'aliasing in sample 0: got memory of an input, want fresh' \
	'as an alias that should be none'
jq -c 'if .kind == "obs" then .follows = [] | .alias = {ref: ["in0"],
	dev: ["in0"]} else . end' run.jsonl >lied.jsonl
exits 0 'a view in name alone' cts-compare lied.jsonl
is "$(jq -r 'select(.kind == "verdict") | .why' out)" \
	'aliasing in sample 0: got memory of its own, want in0' \
	'is none either'

# A view to which writes are lost still follows what it is a view of.
printf '%s\n' '{"op":"copy_","if":{"arg":0,"offset":"!=0"},"do":"unwritten"}' \
	>plan.jsonl
exits 0 'a case' cts-enum -d refdev -l 3 --case opinfo/select/float32/plain
mv out cases.jsonl
for how in healthy faulty; do
	[ $how = healthy ] || export CTS_REFDEV_FAULTS=plan.jsonl
	exits 0 "a view, $how" cts-exec cases.jsonl
	unset CTS_REFDEV_FAULTS
	jq -c 'select(.kind == "obs") | [.follows, .leads]' out |
		sort -u >$how
	mv out run.jsonl
done
cmp_file healthy - 'a view leads what it is a view of' <<'END2'
[[0],["in"]]
END2
like faulty '^\[\[0\],\[""\]\]$' 'and without some of the writes does not'
exits 0 'and is judged' cts-compare -q run.jsonl
is "$(jq -c '[.checks | to_entries[] | select(.value.ok | not) | .key]' out)" \
	'["aliasing"]' 'which no other check sees'
like out 'got a write to it that no input shows, want in0' 'and is said so'
done_testing
