#!/bin/bash
# The real worker on a device that takes its process along in every way: each
# is its case's, and of the right kind; all others are as they are without.
# shellcheck disable=SC2046,SC2086,SC2094
. "${0%/*}/lib.sh"
needs jq torch refdev

cts-enum --device refdev --op '^(add|mul|sum|neg|exp)$' --level 1 \
	>enumerated 2>err || tail_of err
grep '"kind":"case"' enumerated >in
ok 'there are cases enough' test "$(wc -l <in)" -ge 29
jq -r .id in >ids

# rule N JSON: what the N-th case is to suffer, and what must come of it.
: >want
fault()
{
	local id
	id=$(sed -n "$1p" ids)
	printf '{"op":["add.Tensor","mul.Tensor","sum*","neg","exp"],' >>plan
	printf '"case":"%s","do":%s}\n' "$id" "$2" >>plan
	[ -z "$3" ] || echo "$id $3" >>want
}
fault 3 '"signal","signal":"SEGV"' 'crash SIGSEGV'
fault 5 '"signal","signal":"ABRT"' 'crash SIGABRT'
fault 7 '"signal","signal":"BUS"' 'crash SIGBUS'
fault 9 '"signal","signal":"FPE"' 'crash SIGFPE'
fault 11 '"stack_overflow"' 'crash SIGSEGV'
fault 13 '"exit","status":0' 'crash 0'
fault 15 '"spin"' 'timeout SIGKILL'
fault 17 '"sleep","seconds":1000' 'hang SIGKILL'
fault 19 '"deadlock"' 'hang SIGKILL'
fault 21 '"exit","status":3' 'crash 3'
fault 23 '"signal","signal":"KILL"' 'crash SIGKILL'
fault 25 '"poison"' ''
fault 27 '"async_error"' ''
fault 29 '"exhaust","bytes":100000000' ''

# outcomes: of every case, as cts-compare has it.
judge()
{
	cts-compare <"$1" 2>>err | jq -r 'select(.kind == "verdict") |
		"\(.id) \(.outcome)"' | sort
}
iso=(cts-isolate -t 20 --silence 6 --known-crashes off)
exits 0 'healthy' "${iso[@]}" in -- cts-exec --blobs "$T/blobs"
judge out >healthy
CTS_REFDEV_FAULTS=$T/plan exits 0 'faulty' "${iso[@]}" in -- \
	cts-exec --blobs "$T/blobs"
cp out faulty
jq -r 'select(.kind == "death") | "\(.id) \(.outcome) \(.signal // .exit)"' \
	faulty | sort >got
sort want >wanted
cmp_file got wanted 'each death is the right case'\''s, and kind'
is "$(jq -r 'select(.kind == "end" or .kind == "death").id' faulty | sort |
	uniq -c | awk '$1 != 1' | wc -l)" 0 'one end or death each'
is "$(jq -r 'select(.name == "poisoned").note' faulty)" "$(sed -n 25p ids)" \
	'the case that poisoned the device is named'
judge faulty >verdicts
is "$(grep -cF -f <(sed -n '25p;27p;29p' ids) <(grep -v ' pass$' verdicts))" 3 \
	'poison, late errors and a lack of memory are no pass'
grep -vF -f <(sed -n '3p;5p;7p;9p;11p;13p;15p;17p;19p;21p;23p;25p;27p;29p' \
	ids) healthy >others
grep -F -f <(cut -d ' ' -f 1 others) verdicts >others.got
cmp_file others.got others 'others are what they are on a healthy device'
done_testing
