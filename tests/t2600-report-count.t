#!/bin/bash
# cts-report: what it counts, and what it says of a run by its exit status.
. "${0%/*}/lib.sh"
needs jq python3

# A summary is what docs/summary.schema.json says.
valid() { python3 -B "$top/tests/summary_schema.py" "$@"; }

# What a stream is made of; every function prints one record.
sel() { printf '{"v":1,"kind":"run","id":"","run":"r1","tool":"cts-enum 0.1.0",'
	printf '"role":"selection","device":"dev","hardware":"x86_64","torch":'
	printf '"2.13.0","level":[1,2],"seed":67,"cases":%d}\n' "$1"; }
case_() { printf '{"v":1,"kind":"case","id":"opinfo/%s/%s/plain","run":"r1",' \
	"$1" "$2"; printf '"suite":"opinfo","op":"%s","variant":"plain",' "$1"
	printf '"dtype":"%s","device":"dev","level":%d}\n' "$2" "${3:-1}"; }
begin() { printf '{"v":1,"kind":"start","id":"opinfo/%s/%s/plain","run":"r1"}\n' \
	"$1" "$2"; }
end() { printf '{"v":1,"kind":"end","id":"opinfo/%s/%s/plain","run":"r1",' \
	"$1" "$2"; printf '"samples":1,"status":"ran","t_s":0.5}\n'; }
verdict() { printf '{"v":1,"kind":"verdict","id":"opinfo/%s/%s/plain",' \
	"$1" "$2"; printf '"run":"r1","outcome":"%s","samples":3%s}\n' "$3" \
	"${4:+,$4}"; }
account() { printf '{"v":1,"kind":"account","id":"opinfo/%s/%s/plain",' \
	"$1" "$2"; printf '"run":"r1","suite":"opinfo","op":"%s","dtype":"%s",' \
	"$1" "$2"; printf '"level":%d,"reason":"%s"}\n' "$4" "$3"; }
pass() { case_ "$1" "$2" "${3:-1}"; begin "$1" "$2"; end "$1" "$2"
	verdict "$1" "$2" pass '"tier":"strict"'; }

# counted NAME WANT: the counts that are not 0, as "cases 2 pass 2".
counted()
{
	is "$(jq -r '.counts | to_entries | map(select(.value > 0) |
		"\(.key) \(.value)") | join(" ")' s.json)" "$2" "$1"
}

{ sel 2; pass add float32; pass add int64 2; } >good
exits 0 'all pass' cts-report --summary s.json good
counted 'both count' 'cases 2 pass 2'
is "$(jq -c '[.v, .complete, .conformant, .device, .torch, .level, .seed]' \
	s.json)" '[1,true,true,"dev","2.13.0",[1,2],67]' 'facts of the run'
is "$(jq -c '[.by_level["1"].pass, .by_level["2"].pass, .by_suite.opinfo.cases,
	.by_op.add.cases, .by_dtype.int64.cases]' s.json)" '[1,1,2,2,1]' \
	'by level, suite, op and dtype'
is "$(jq -c '.counts | keys_unsorted' s.json)" "$(jq -cn '["cases","pass",
	"fail","error","unsupported","crash","timeout","hang","oom","missing",
	"duplicate"]')" 'every outcome is named'
is "$(jq -c 'has("t_wall_s") and has("t_import_s") and has("peak_pss_mb")' \
	s.json)" true 'times and memory'
ok 'the summary is as its schema says' valid s.json
like out '^conformant: 2 cases' 'the scorecard says so'
is "$(cat err)" '' 'and stderr nothing'

tac good >back
exits 0 'any order of records' cts-report --summary s2.json back
cmp_file s2.json s.json 'gives the same bytes'
exits 0 'from a pipe' cts-report --json <good
cmp_file out s.json 'gives the same bytes'
head -n 3 good >shard1
sed 1,3d good >shard2
exits 0 'shards' cts-report --json shard1 shard2
cmp_file out s.json 'give the same bytes'
gzip -c good >good.gz
exits 0 'compressed' cts-report --json good.gz
cmp_file out s.json 'gives the same bytes'
grep -v '"kind":"case"' good >nocase
exits 0 'verdicts do without case records' cts-report --summary s.json nocase
counted 'they name their cases' 'cases 2 pass 2'

sel 2 | sed 's/"seed"/"mode":"validate","seed"/' | cat - good >own
exits 0 'the toolkit against itself' cts-report --markdown r.md own
like r.md 'this says nothing of any device' 'is stated'
like out 'this says nothing of any device' 'everywhere'

# What is not a pass.
for o in fail error unsupported crash timeout hang oom; do
	{ pass add float32; case_ mul int8; verdict mul int8 "$o"; } >one
	exits 1 "one $o" cts-report --summary s.json one
	counted 'is counted' "cases 2 pass 1 $o 1"
	is "$(jq -c .complete s.json)" true 'the run is complete all the same'
done
{ pass add float32; case_ mul int8; } >one
exits 1 'a case without a verdict' cts-report --summary s.json one
counted 'is missing' 'cases 2 pass 1 missing 1'
is "$(jq -c .complete s.json)" false 'the run is not complete'
is "$(jq -r '.failures[0].why' s.json)" 'never began' 'and why'
{ pass add float32; begin mul int8; } >one
exits 1 'a case that only began' cts-report --summary s.json one
counted 'is missing' 'cases 2 pass 1 missing 1'
{ pass add float32; case_ mul int8; begin mul int8; end mul int8; } >one
exits 1 'a case that nobody judged' cts-report --summary s.json one
counted 'is missing' 'cases 2 pass 1 missing 1'
like out 'cts-compare' 'and the scorecard says what helps'
{ sel 3; pass add float32; } >one
exits 1 'cases that were promised' cts-report --summary s.json one
counted 'are missing' 'cases 3 pass 1 missing 2'
{ sel 1; sel 1; pass add float32; } >one
exits 0 'a resumed run promises again' cts-report --summary s.json one
counted 'and not twice as much' 'cases 1 pass 1'
{ pass add float32; verdict add float32 pass; } >one
exits 1 'two verdicts' cts-report --summary s.json one
counted 'are a duplicate, even if both pass' 'cases 1 duplicate 1'
is "$(jq -r '.failures[0].why' s.json)" '2 verdicts (pass)' 'and why'
{ pass add float32; verdict add float32 fail; } >one
exits 1 'two verdicts that differ' cts-report --summary s.json one
is "$(jq -r '.failures[0].why' s.json)" '2 verdicts (pass, fail)' 'and why'

# What did not run.
{ pass add float32; account add float16 dtype_not_supported 1
  account mul float16 dtype_not_supported 2; account mul int8 op_excluded 2
  account mul int8 op_excluded 2; } >skips
exits 0 'accounts are no cases' cts-report --summary s.json skips
counted 'and count apart' 'cases 1 pass 1'
is "$(jq -c .accounts s.json)" '{"dtype_not_supported":2,"op_excluded":1}' \
	'by reason, each id once'
is "$(jq -c .skips s.json)" null 'rows only on request'
exits 0 'with the skips' cts-report --skips --summary s.json --junit j.xml skips
is "$(jq -c '.skips[] | [.reason, .level, .op, .n]' s.json)" \
'["dtype_not_supported",1,"add",1]
["dtype_not_supported",2,"mul",1]
["op_excluded",2,"mul",1]' 'by reason, level and op'
like out 'op_excluded +2 +1  mul' 'on the scorecard too'
like j.xml '<skipped message="op_excluded"/>' 'and in the XML'
{ pass add float32; printf '{"v":1,"kind":"account","id":"","run":"r1",'
  printf '"reason":"deselected","n":6083}\n'; } >one
exits 0 'accounts that are counted, not named' cts-report --summary s.json one
is "$(jq -c .accounts s.json)" '{"deselected":6083}' 'count as many'
{ pass add float32; account add float32 op_excluded 1; } >one
exits 1 'run and accounted for as not run' cts-report --summary s.json one
counted 'is a contradiction' 'cases 1 duplicate 1'

# Nothing is no success.
: >empty
exits 1 'no input' cts-report --summary s.json empty
errline '^cts-report: nothing ran' 'is said'
is "$(jq -c '[.complete, .counts.cases]' s.json)" '[false,0]' \
	'a summary is written'
ok 'as its schema says' valid s.json
exits 1 'nothing on stdin' cts-report </dev/null
account add int8 op_excluded 1 >one
exits 1 'only accounts' cts-report one
errline 'nothing ran' 'are nothing'
sel 0 >one
exits 1 'an empty selection' cts-report one
exits 1 'all good, but partial' cts-report --partial --summary s.json good
is "$(jq -c '[.complete, .partial]' s.json)" '[false,true]' 'is not complete'

# Wrong records.
verdict add int8 missing >one
exits 3 'an outcome that is not a judge'"'"'s to give' cts-report one
errline "^cts-report: one:1: outcome: 'missing'" 'is named'
verdict add int8 great >one
exits 3 'an unknown outcome' cts-report one
printf '{"v":1,"kind":"verdict","id":"","run":"r","outcome":"pass"}\n' >one
exits 3 'a verdict of no case' cts-report one
printf '{"v":1,"kind":"account","id":"a/b/c/d","run":"r"}\n' >one
exits 3 'an account without a reason' cts-report one
errline "one:1:.*'reason'" 'is named'
{ cat good; verdict mul int8 great; } >one
exits 3 'a wrong record behind good ones' cts-report --summary s.json one
counted 'what came before is in the summary' 'cases 2 pass 2'
is "$(jq -c '[.complete, .input_error != null]' s.json)" '[false,true]' \
	'which is not complete, and says why'
{ cat good; printf '{"v":1,"ki'; } >one
exits 3 'a cut last line' cts-report one
exits 1 'is passed over in a partial run' cts-report --partial \
	--summary s.json one
like err 'warning: one:[0-9]+: record is cut' 'with a warning'
counted 'the rest counts' 'cases 2 pass 2'

exits 4 'a full disk' bash -c 'cts-report good >/dev/full'
exits 4 'a file that can'"'"'t be written' cts-report --html no/dir good
errline "^cts-report: cannot write 'no/dir': No such" 'is named'
exits 4 'a summary to a full disk' cts-report --summary /dev/full good
exits 2 'a wrong option' cts-report --nonsense good
exits 2 '--records alone' cts-report --records good
done_testing
