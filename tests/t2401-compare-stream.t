#!/bin/bash
# cts-compare as a filter: what passes through, what is judged when, options.
. "${0%/*}/lib.sh"
needs jq

# rec KIND ID JSON: a record with these keys beside.
rec()
{
	printf '{"v":1,"kind":"%s","id":"%s","run":"%s"%s}\n' "$1" "$2" \
		"${run-r}" "${3:+,$3}"
}
start() { rec start "$1" '"device":"d","op":"some_op","dtype":"int32"'; }
end() { rec end "$1" "\"samples\":${2-1},\"status\":\"ran\""; }
# obs ID SAMPLE DATA: an int32 of one element on both sides, right for AQAAAA==.
obs()
{
	local t='"dtype":"int32","shape":[1],"layout":"strided"'
	rec obs "$1" "\"sample\":$2,\"op\":\"some_op\",\"dtype\":\"int32\",\
\"device\":\"d\",\"ref\":{\"tree\":\"*\",\"outs\":[{$t,\"device\":\"cpu\",\
\"data\":\"AQAAAA==\"}]},\"dev\":{\"tree\":\"*\",\"outs\":[{$t,\
\"device\":\"d\",\"data\":\"$3\"}]}"
}
right=AQAAAA== wrong=AgAAAA==
A=s/a/int32/plain B=s/b/int32/plain C=s/c/int32/plain

# outcomes FILE: "id outcome" of each verdict, in order.
outcomes()
{
	jq -r 'select(.kind=="verdict") | .id[2:3] + " " + .outcome' "$1" |
		xargs
}

{
	rec run '' '"tool":"x"'
	rec case $A '"level":3,"device":"d"'
	start $A
	rec novelty $A '"x" : 1.50'
	start $B
	obs $A 0 $right
	obs $B 0 $wrong
	end $A
	rec account s/z/int32/plain '"reason":"level_filtered"'
	end $B
	start $C
	obs $C 0 $right
} >in
exits 0 'cases of two workers, interleaved' cts-compare in
is "$(outcomes out)" 'a pass b fail' 'each gets its own verdict'
grep -v '"kind":"verdict"' out >rest
cmp_file rest in 'all else comes through, byte for byte and in order'
is "$(grep -n '"kind":"verdict"' out | cut -d: -f1 | xargs)" '9 12' \
	'a verdict stands right after its end'
is "$(jq -r 'select(.kind=="verdict" and .id=="'$A'") |
	"\(.suite) \(.op) \(.dtype) \(.variant) \(.level) \(.device)"' out)" \
	's a int32 plain 3 d' 'a verdict says what the case is'
cp out once
exits 0 'what was judged is judged again' cts-compare once
cmp_file out once 'and comes out the same'
exits 0 'only verdicts' cts-compare -q once
is "$(jq -r .kind out | sort -u)" verdict 'with -q there is nothing else'

# Many go on together, but none waits for input that isn't there.
verdict_is_there()
{
	local i
	for ((i = 0; i < 200; i++)); do
		! grep -q '"kind":"verdict"' live || return 0
		sleep 0.1
	done
	return 1
}
mkfifo pipe
cts-compare -q pipe >live 2>err &
exec 3>pipe
{ start $A; obs $A 0 $right; end $A; } >&3
ok 'a verdict comes while the input stays open' verdict_is_there
{ start $B; obs $B 0 $wrong; end $B; } >&3
exec 3>&-
wait $!
is "$? $(outcomes live)" '0 a pass b fail' 'and so does the next'
{ start $A; obs $A 0 $right; end $A; echo '{"v":1}'; } >half
exits 3 'bad input' cts-compare -q half
is "$(outcomes out)" 'a pass' 'keeps what came before it'
gzip -c in >in.gz
exits 0 'gzip' cts-compare in.gz
cmp_file out once 'is read as well'
exits 0 'standard input' cts-compare <in
cmp_file out once 'likewise'
exits 0 'a file' cts-compare -o there in
cmp_file there once 'is written with -o'

# Status.
exits 1 'a failure, with -e' cts-compare -e in
{ start $A; obs $A 0 $right; end $A; } >pass
exits 0 'all pass, with -e' cts-compare -e pass
{ cat pass; start $B; } >unended
exits 1 'a case without an end, with -e' cts-compare -e unended
{ cat pass; rec case $B '"level":1'; } >listed
exits 1 'a case that never started, with -e' cts-compare -e listed
exits 1 'nothing at all, with -e' cts-compare -e /dev/null
exits 0 'and without' cts-compare /dev/null
rec verdict s/y/int32/plain '"outcome":"pass"' >old
exits 0 'an old verdict with nothing to judge' cts-compare -q once old
is "$(outcomes out)" 'a pass b fail y pass' 'is kept'

# Deaths, restarts, and cases of which nothing was seen.
{ start $A; obs $A 0 $wrong; start $A; obs $A 0 $right; end $A; } >in
exits 0 'a case that starts again' cts-compare in
is "$(outcomes out)" 'a pass' 'is judged by its last start'
for o in crash timeout hang oom; do
	{ start $A; obs $A 0 $right
	rec death $A "\"outcome\":\"$o\",\"sample\":0"; } >in
	exits 0 "a death: $o" cts-compare in
	is "$(outcomes out)" "a $o" "gives the outcome $o"
	is "$(jq -r '.why // empty' out)" "$o after sample 0" 'and says where'
done
{ start $A; rec death $A '"outcome":"crash","signal":"SIGSEGV"'; } >in
exits 0 'a death with nothing seen' cts-compare in
is "$(jq -r '.why // empty' out)" 'crash in its first sample: SIGSEGV' \
	'came in the first sample'
{ start $A; end $A 0; } >in
exits 0 'no sample' cts-compare in
is "$(outcomes out)" 'a error' 'is no success'
{ start $A; rec oracle_failure $A '"sample":0,"reason":"raised"'; end $A 1; } >in
exits 0 'no reference' cts-compare in
is "$(outcomes out)" 'a error' 'is no success either'
{ start $A; rec oracle_failure $A '"sample":0,"reason":"raised"'
obs $A 1 $right; end $A 2; } >in
exits 0 'a sample without a reference beside others' cts-compare in
is "$(outcomes out) $(jq -r '.unjudged // empty' out)" 'a pass 1' \
	'is counted, and no failure'
{ start $A; obs $A 0 $right; end $A 3; } >in
exits 0 'samples that are not in the stream' cts-compare in
is "$(outcomes out)" 'a error' 'are missed'
{ start $A; rec end $A '"samples":0,"status":"error","error":{"type":"T","message":"M"}'; } >in
exits 0 'a case that could not be set up' cts-compare in
is "$(outcomes out) $(jq -r '.why // empty' out)" \
	'a error the case could not be set up: T: M' 'is an error, in words'

# Usage and the outer world.
exits 2 'an unknown option' cts-compare --sideways
exits 2 'an unknown tier' cts-compare --tier=brave in
exits 4 'a missing file' cts-compare nowhere.jsonl
errline "'nowhere.jsonl': No such file" 'is named'
exits 4 'a full disk' bash -c 'exec cts-compare in >/dev/full'
exits 4 'a closed stdout' bash -c 'exec cts-compare in >&-'
exits 4 'budgets that are not there' cts-compare --budgets=none in
echo '{"class":"default"}' >b
exits 3 'budgets without their default' cts-compare --budgets=b in
errline '^cts-compare: b: ' 'names the file'

done_testing
