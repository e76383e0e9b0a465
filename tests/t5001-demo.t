#!/bin/bash
# make demo: a device that misbehaves is found out, and everything else stays.
. "${0%/*}/lib.sh"
needs torch jq parallel
export CTS_RESULTS=$T/results

exits 0 'the demo shows what it should' bash "$top/lib/run.sh" demo
like out '^  add: value, ' 'the wrong value'
like out '^  t: aliasing, ' 'the copy'
like out '^  mul: crash SIGSEGV, ' 'the crash'
like out '^    make run DEVICE=refdev CASE=' 'how to see each again'
zcat results/demo/stream.jsonl.gz | grep '"kind":"verdict"' >verdicts
is "$(jq -r 'select(.outcome != "pass") | "\(.id) \(.outcome)"' verdicts |
	sort)" 'opinfo/add/float32/plain fail
opinfo/mul/int32/plain crash
opinfo/t/int64/plain fail' 'these three and no others'
is "$(jq -r 'select(.outcome != "pass") | .order_dependent // false' verdicts |
	sort -u)" false 'which fail alone too'
done_testing
