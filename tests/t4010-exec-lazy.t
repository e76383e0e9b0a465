#!/bin/bash
# A device that nobody here wrote, whose work and errors come late: what is
# reported as wrong there is wrong, and is what the report says it is.  Each
# line below was seen by hand, with nothing but PyTorch.
. "${0%/*}/lib.sh"
needs jq torch

case $(cts-enum -d cpu -l 1 --op '^add$' | cts-exec |
    jq -r 'select(.role == "worker").torch') in
2.13.*) ;;
*) echo '1..0 # SKIP these faults are of another PyTorch'; exit 0 ;;
esac

cases() { jq -c --arg id "opinfo/$1/plain" 'select(.id==$id)' all.jsonl; }

exits 0 'cases are listed' cts-enum -d lazy -l 2
jq -c 'select(.kind=="case")' out >all.jsonl

# judge WHAT...: those, in that order, by one worker; verdicts to the file v.
judge()
{
	local c
	for c; do
		cases "$c"
	done >some.jsonl
	exits 0 "$* run" cts-isolate -- cts-exec <some.jsonl
	mv out run.jsonl
	exits 0 'and are judged' cts-compare run.jsonl
	jq -r 'select(.kind=="verdict")|"\(.outcome) \(.why // "")"' out >v
}

judge unbind_copy/float32 histogramdd/float32
like v '^fail device in sample 0: got cpu' \
	'a wrapper that the device lets out is looked into'
unlike v crash 'and takes no process along'

judge sparse.sampled_addmm/float32
like v '^unsupported .*NotImplementedError' \
	'"not implemented" is that in a copy too'

judge remainder/float32 __rmod__/float32
is "$(cut -d ' ' -f 1 v | paste -sd ' ')" 'pass fail' \
	'after a%b the device takes b%a for the same'
judge __rmod__/float32
is "$(cat v)" 'pass ' 'and alone does it right'

judge as_strided:partial_views/float32
is "$(jq -r 'select(.kind=="verdict").failed' out)" 2 \
	'a view is a view of its base, where there is no storage too'

judge t/float32
is "$(cat v)" 'pass ' 'a view without storage'
is "$(jq -c 'select(.kind=="obs" and .sample==0)|[.follows,.leads]' run.jsonl)" \
	'[[0],["in"]]' 'is one, as writes on both sides show'

judge clone/complex32 add/float32
is "$(cut -d ' ' -f 1 v | paste -sd ' ')" 'error pass' \
	'a late error is that of the case it belongs to'
cases transpose/float32 | jq -c '.id |= sub("plain"; "inplace") |
	.variant = "inplace"' >some.jsonl
exits 0 'a tensor is turned in place' cts-exec some.jsonl
mv out run.jsonl
exits 0 'which is judged' cts-compare run.jsonl
is "$(jq -r 'select(.kind=="verdict").outcome' out)" pass \
	'and is no write, where there is no storage too'
done_testing
