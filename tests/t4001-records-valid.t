#!/bin/bash
# What the tools write for real cases is what the page on records says, on the
# reference and on a device whose errors come late; twice the same bytes.
. "${0%/*}/lib.sh"
needs python3 jq torch

valid() { python3 "$top/tests/validate.py" "$top/docs/records.schema.json" "$@"; }
without_times() { jq -c 'delpaths([paths|select(.[-1]|strings|startswith("t_"))])' "$1"; }

ids_of() { jq -r --arg kind "$1" 'select(.kind==$kind).id' "$2" | sort; }

ops='^(add|div|sum|sort|index_select|nn.functional.relu|linalg.svd|rand_like)$'
for device in cpu lazy; do
	exits 0 "$device: cases are listed" \
		cts-enum -d $device -l 2 --max-samples 3 --op "$ops"
	mv out cases.jsonl
	ids_of case cases.jsonl >want.ids
	exits 0 'as valid records' valid cases.jsonl
	exits 0 'they run' cts-exec -d $device cases.jsonl
	mv out run.jsonl
	exits 0 'and give valid records' valid run.jsonl
	ids_of end run.jsonl >got
	cmp_file got want.ids 'with one end each'
	exits 0 'they are judged' cts-compare run.jsonl
	mv out verdicts.jsonl
	exits 0 'and the verdicts are valid' valid verdicts.jsonl
	ids_of verdict verdicts.jsonl >got
	cmp_file got want.ids 'with one verdict each'
done

cts-enum -d cpu -l 2 --suite strides 2>err | grep tail_of_vector/float32 |
	cts-exec 2>>err >by_hand.jsonl
is "$(jq -r 'select(.kind == "obs") | .called // "-"' by_hand.jsonl | xargs)" \
	'erfinv digamma lgamma exp neg - sigmoid abs' 'what a case calls is told'
exits 0 'in valid records' valid by_hand.jsonl

cts-exec -d lazy cases.jsonl 2>err >again.jsonl
without_times run.jsonl >a
without_times again.jsonl >b
cmp_file b a 'a second run gives the same, but for times'
shuf --random-source=/dev/zero cases.jsonl | cts-exec -d lazy 2>err >other.jsonl
without_times other.jsonl | grep -v '"kind":"run"' | sort >b
grep -v '"kind":"run"' a | sort >a.sorted
cmp_file b a.sorted 'and so does another order'

# Where only another device has an op, the CPU's refusal is no expected result:
# a device that answers would be at fault.
cts-enum -d cpu -l 2 --max-samples 1 2>err |
	jq -c 'select(.kind == "run" or .dtype == "float32" or
		(.op | strings | startswith("jiterator")))' |
	cts-exec 2>>err >all.jsonl
ok 'the forward matrix runs' test \
	"$(grep -c '"kind":"end"' all.jsonl)" -gt 600
is "$(jq -r 'select(.kind == "obs" and .ref.raised and
	(.ref.raised.message | test("CUDA|ROCm|GPU|XPU|MPS"))).id' all.jsonl)" '' \
	'what the CPU is not made for is no case'
is "$(cts-enum -d cpu -l 2 --op '^jiterator_binary$' 2>err |
	jq -r 'select(.kind == "account" and .id != "").reason' | sort -u)" \
	no_oracle 'but an account'
done_testing
