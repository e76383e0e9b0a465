#!/bin/bash
# cts-coverage and cts-report on what the installed PyTorch really does.
. "${0%/*}/lib.sh"
needs torch jq

exits 0 'the inventory of the CPU' cts-coverage inventory -d cpu -o inv
ok 'has thousands of overloads' test "$(wc -l <inv)" -gt 2500
is "$(jq -r 'select(.op == "aten::add.Tensor") | .kernel' inv)" own \
	'add has a kernel'
is "$(jq -r 'select(.op == "aten::addmm.out") | .surface' inv)" out 'out='
is "$(jq -r .kernel inv | sort -u | tr '\n' ' ')" \
	'composite composite_explicit none own ' 'kinds of kernels'
exits 4 'a device that is not there' cts-coverage inventory -d nonsuch
like err '^cts-coverage: cts-exec .* failed' 'is named'

exits 0 'cases' cts-enum --device cpu --case opinfo/add/float32/plain \
	--case opinfo/mul/int64/plain
mv out cases
exits 0 'run' cts-exec cases
mv out obs
exits 0 'and judged' cts-compare obs
mv out stream
exits 0 'prove the claim' cts-report --json stream
is "$(jq -c '[.complete, .conformant, .counts.cases, .counts.pass]' out)" \
	'[true,true,2,2]' 'of two cases'
exits 0 'they reach overloads' cts-coverage evidence stream
like out '"op":"aten::add.Tensor","pass":{"device":1,' 'by the device'
exits 1 'but not all' cts-coverage check -i inv stream
like out '^aten::sub.Tensor: unreached, kernel own$' 'as check says'
exits 0 'the ledger' cts-coverage audit -i inv stream
is "$(jq -r 'select(.state == "excluded") | .kernel' out | sort -u | grep none)" \
	none 'explains what the CPU has no kernel for'
ok 'and leaves few of those' test "$(jq -r 'select(.state == "no_kernel") |
	.op' out | wc -l)" -lt 20
done_testing
