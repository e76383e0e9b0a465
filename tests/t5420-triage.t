#!/bin/bash
# make triage on a device that crashes, hangs, computes wrongly, and does so only
# after another op: each is classed, what takes its process gets a rule for the
# ledger, and what is reproducible a program that shows it.
# shellcheck disable=SC2154
. "${0%/*}/lib.sh"
needs torch jq parallel refdev
python=$(make -s -C "$top" print-python)
cat >plan <<'END'
{"op":"add.Tensor","dtype":"float32","do":"ulp","k":40}
{"op":"mul.Tensor","dtype":"int32","do":"signal","signal":"SEGV"}
{"op":"neg","dtype":"int64","do":"sleep","seconds":1000}
{"op":"exp","dtype":"float32","after":"add.Tensor","do":"scale"}
END
export CTS_RESULTS=$T/results DEVICE=refdev LEVEL=1 SAMPLES=2 TIMEOUT=4 JOBS=1
export OP='^(add|mul|neg|exp)$' CTS_REFDEV_FAULTS=$T/plan
verb() { bash "$top/lib/run.sh" "$1"; }
exits 1 'the run' verb run
latest=$T/results/refdev_$(uname -m)_latest.json
RUN=$latest N=2 exits 0 'triage' verb triage
f=$T/results/$(jq -r .run "$latest")
jq -r '"\(.id) \(.class) \(.outcome) \(.rate)"' "$f/triage.jsonl" | sort |
	sed 's/ timeout / hang /' >got
cmp_file got - 'each is classed' <<'END'
opinfo/add/float32/plain reproducible fail 2/2
opinfo/exp/float32/plain order-dependent fail 0/2
opinfo/mul/int32/plain reproducible crash 2/2
opinfo/neg/int64/plain reproducible hang 2/2
END
is "$(jq -r .match "$f/known-crash-candidates.jsonl" | sort | xargs)" \
	'opinfo/mul/int32/plain opinfo/neg/int64/plain' \
	'what takes its process has a rule'
is "$(cd "$f/repro" && echo *)" "opinfo-add-float32-plain.py \
opinfo-mul-int32-plain.py opinfo-neg-int64-plain.py" \
	'what is reproducible has a program'
export PYTHONPATH=$top/build/refdev
for p in add-float32 mul-int32; do
	exits 1 "$p: it shows it" "$python" "$f/repro/opinfo-$p-plain.py"
	CTS_REFDEV_FAULTS='' exits 0 "$p: or that it is gone" \
		"$python" "$f/repro/opinfo-$p-plain.py"
done
like "$f/report.md" 'make repro CASE=opinfo/mul/int32/plain' \
	'the report says how to have one'
done_testing
