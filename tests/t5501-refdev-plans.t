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
bad '{"op":"ad.Tensor","do":"scale"}' 'no such op' \
	"unknown op 'ad.Tensor', did you mean 'add.Tensor'\?"
bad '{"op":"ceil","do":"instead","call":"flor"}' 'no such op to call' \
	"unknown op 'flor', did you mean 'floor'\?"
bad '{"op":"neg","do":"dense","arg":"slef"}' 'no such argument' \
	"unknown argument 'slef', did you mean 'self'\?"
bad '{"op":"neg","do":"shape","how":"unsqeeze"}' "an action's unknown word" \
	"unknown how 'unsqeeze', did you mean 'unsqueeze'\?"
bad '{"op":"neg","do":"scale","by":"two"}' "an action's wrong type" \
	"'by' is not a number"
bad '{"op":"neg","do":"tail","multiple":0}' 'out of range' \
	"'multiple' is not in 1 to"
bad '{"op":"neg","do":"ulp","dtype":"flaot32"}' 'an unknown dtype' \
	"unknown dtype 'flaot32', did you mean 'float32'\?"
bad '{"op":"neg","do":"ulp","if":{"strides":"chanels_last"}}' \
	"a predicate's unknown word" \
	"unknown strides 'chanels_last', did you mean 'channels_last'\?"
bad '{"op":"neg","do":"ulp","if":{"rank":"two"}}' 'a word for a number' \
	"not a condition for 'rank': 'two'"
bad '{"op":"neg","do":"ulp","if":{"rank":1,"not":"yes"}}' \
	'a word for a truth' "'not' is not true or false"
bad '{"op":"neg","do":"ulp","if":{"shape":["a",2]}}' 'a shape of words' \
	"'shape' is not a number"
bad '{"op":"neg","do":"ulp","nth":"first"}' 'no number of a call' \
	"not a condition for 'nth': 'first'"
bad '{"op":"neg","do":"ulp","prob":5}' 'no probability' \
	"'prob' is not in 0 to 1"
bad '{"op":"neg","do":"ulp","grad":"yes"}' 'no truth' \
	"'grad' is not true or false"
bad "$(printf '{"op":"neg","do":"ul\377p"}')" 'bytes that are no text' \
	"unknown action 'ul\?p', did you mean 'ulp'\?"
CTS_REFDEV_FAULTS=. exits 1 'a folder' "$py" -c 'import torch_refdev'
like err '^ImportError: .: cannot read' 'and says so'
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
rm log.jsonl
cts-enum -d refdev -l 1 --case opinfo/neg/float32/plain \
	--case opinfo/cos/float32/plain 2>err | grep '"kind":"case"' >cases
is "$(wc -l <cases)" 2 'a case for each'
for mode in batch case; do
	exits 0 "in workers that live for a $mode" \
		cts-isolate --mode $mode cases -- cts-exec
	is "$(jq -r 'select(.when == "exit") | "\(.rule) \(.fired)"' \
		log.jsonl | sort -u | xargs)" 'dies 0 idle 0 wrong 1' \
		'those that end by themselves say what they did'
	is "$(jq -r 'select(.when == "first") | .rule' log.jsonl | sort -u |
		xargs)" 'dies wrong' 'those that die do not'
	rm log.jsonl
done
unset CTS_REFDEV_FAULTS
exits 0 'a plan that a program loads' "$py" -c '
import torch, torch_refdev
torch_refdev.load_faults("plan.jsonl")
torch_refdev.load_faults("plan.jsonl")'
is "$(jq -r '"\(.rule) \(.when)"' log.jsonl | xargs)" \
	'wrong exit idle exit dies exit wrong exit idle exit dies exit' \
	'is logged at its end, each rule once'
unset CTS_REFDEV_FAULTS_LOG
for op in cos neg; do
	printf '{"op":"%s","do":"add"}\n' $op >$op.jsonl
done
exits 0 'one plan after another' "$py" -c '
import torch, torch_refdev
x = torch.zeros(1, device="refdev")
for plan in "cos", "neg":
    torch_refdev.load_faults(plan + ".jsonl")
    print(x.cos().item(), x.neg().item() + 0.)
    torch_refdev.clear_faults()'
cmp_file out - 'and each alone acts' <<'END'
2.0 0.0
1.0 1.0
END
done_testing
