#!/bin/bash
# Special values of each kind that get lost on the way are seen by the forms
# that have them, in ops that pass them on and in those that only ask for them.
. "${0%/*}/lib.sh"
needs torch refdev jq
export PYTHONPATH=$top/build/refdev

# What goes wrong, in which dtype and variant, what sees it, in which ops.
cat >kinds <<'END'
{"do":"lose","what":"nan","out":"all"}|float32/special|value|where clamp dot masked_fill amax var cumsum mm
{"do":"lose_input","what":"nan"}|float32/special|value|any count_nonzero clamp dot isnan sum inner std
{"do":"lose","what":"inf","out":"all"}|float32/special|value|where clamp cat prod logsumexp exp
{"do":"lose_input","what":"inf"}|float32/special|value|any count_nonzero std dot isinf median
{"do":"lose","what":"extreme","out":"all"}|float32/special|value|where clamp neg abs
{"do":"lose_input","what":"negzero"}|float32/special|value|signbit reciprocal rsqrt
{"do":"lose","what":"negzero","out":"all"}|float32/special|zero_sign|neg cat flip
{"do":"lose_input","what":"subnormal"}|float32/special|value|sign
{"do":"nan_least"}|float32/special|value|sort argsort msort topk kthvalue
{"do":"nan_least"}|bfloat16/special|value|sort topk
{"do":"saturate"}|uint8/wide|value|add mul sub
{"do":"wrap","bits":32,"out":"all"}|int64/wide|value|add mul where amax cumsum sort
{"do":"via","as":"float32"}|int64/wide|value|add maximum remainder sub
END

args=()
while IFS='|' read -r _ form _ ops; do
	for op in $ops; do
		args+=(--case "opinfo/$op/$form")
	done
done <kinds
exits 0 'there are cases' cts-enum -d refdev "${args[@]}"
grep '"kind":"case"' out >all.jsonl
exits 0 'they run on the healthy device' cts-isolate -- cts-exec <all.jsonl
mv out run.jsonl
exits 0 'and are judged' cts-compare run.jsonl
is "$(jq -r 'select(.kind == "verdict").outcome' out | sort -u)" pass \
	'and pass'

while IFS='|' read -r rule form check ops; do
	: >some.jsonl
	: >plan.jsonl
	: >ids
	for op in $ops; do
		id=opinfo/$op/$form
		grep -F "\"id\":\"$id\"" all.jsonl >>some.jsonl
		# Some are made of others.
		case $op in
		argsort|msort) op='sort' ;;
		inner) op='dot' ;;
		esac
		printf '{"op":["%s","%s.*"],"case":"%s",%s\n' "$op" "$op" \
			"$id" "${rule#\{}" >>plan.jsonl
		printf '%s\n' "$id" >>ids
	done
	CTS_REFDEV_FAULTS=plan.jsonl exits 0 "runs with $rule" \
		cts-isolate -- cts-exec <some.jsonl
	mv out run.jsonl
	exits 0 'is judged' cts-compare run.jsonl
	jq -r --arg c "$check" 'select(.kind == "verdict" and
		.checks[$c].ok == false).id' out | sort >got
	sort -o ids ids
	cmp_file got - "$check shows it in each of $ops" <ids
done <kinds
done_testing
