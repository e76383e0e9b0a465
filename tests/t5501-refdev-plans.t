#!/bin/bash
# A fault plan is read strictly, and says what it did.
. "${0%/*}/lib.sh"
needs torch jq
py=$(sed -n 's/^PYTHON_EXE := //p' "$top/build/torch.mk")
export PYTHONPATH=$top/build/refdev

# plan LINE NAME ERE: the device is imported with the plan and says ERE.
bad()
{
	printf '%s\n' '{"op":"neg","do":"ulp"}' "$1" >plan.jsonl
	CTS_REFDEV_FAULTS=plan.jsonl exits 1 "$2" "$py" -c \
		'import torch_refdev'
	like err "^ImportError: plan.jsonl:2: $3" 'and says so'
}
bad '{"op":"neg","do":"ulp"' 'no JSON' 'cannot parse at column'
bad '[1]' 'no object' 'not an object'
bad '{"opp":"neg","do":"ulp"}' 'an unknown key' \
	"unknown key 'opp', did you mean 'op'\?"
bad '{"op":"neg","do":"ulpp"}' 'an unknown action' \
	"unknown action 'ulpp', did you mean 'ulp'\?"
bad '{"op":"neg","do":"ulp","by":2}' "another action's key" \
	"unknown key 'by', did you mean"
bad '{"do":"ulp"}' 'no op' "no op: 'op' is missing"
bad '{"op":"neg"}' 'no action' "no action: 'do'"
bad '{"op":3,"do":"ulp"}' 'a wrong type' "'op' is no string"
bad '{"op":"neg","do":"ulp","form":"backwards"}' 'an unknown form' \
	"unknown form 'backwards', did you mean 'backward'\?"
bad '{"op":"neg","do":"ulp","if":{"rnk":2}}' 'an unknown predicate' \
	"unknown predicate 'rnk', did you mean 'rank'\?"
bad '{"op":"neg","do":"ulp","if":{"rank":">x"}}' 'no condition' \
	"not a condition for 'rank': '>x'"
bad '{"op":"neg","do":"ulp","op":"abs"}' 'a key twice' "key 'op' twice"
bad '{"plan":"x","levle":2}' 'an unknown header key' \
	"unknown header key 'levle', did you mean 'level'\?"
CTS_REFDEV_FAULTS=none.jsonl exits 1 'no file' "$py" -c 'import torch_refdev'
like err '^ImportError: none.jsonl: cannot open' 'and says so'

cat >plan.jsonl <<'END'
{"plan":"two rules","note":"the second changes nothing"}
{"name":"wrong","op":"neg","do":"add"}

{"name":"idle","op":"neg","do":"no_offset"}
{"name":"dies","op":"cos","do":"signal","signal":"KILL"}
END
export CTS_REFDEV_FAULTS=plan.jsonl CTS_REFDEV_FAULTS_LOG=log.jsonl
exits 0 'a good plan' "$py" -c '
import torch, torch_refdev
print(torch.ones(2, device="refdev").neg().tolist())
print(torch_refdev.faults_fired())'
cmp_file out - 'is carried out' <<'END'
[0.0, 0.0]
{'wrong': 1, 'idle': 0, 'dies': 0}
END
jq -r '"\(.rule) \(.when) \(.matched) \(.fired)"' log.jsonl >log.txt
cmp_file log.txt - 'and logged' <<'END'
wrong first 1 1
wrong exit 1 1
idle exit 1 0
dies exit 0 0
END
rm log.jsonl
exits 137 'a rule that kills' "$py" -c '
import torch, torch_refdev
torch.ones(2, device="refdev").cos()'
is "$(jq -r '.rule, .fired' log.jsonl | xargs)" 'dies 1' 'is logged first'
done_testing
