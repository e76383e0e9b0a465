#!/bin/bash
# cts-report: runs by folder and reference, baselines, waivers, stages, reruns
# and progress.
. "${0%/*}/lib.sh"
needs jq python3

# A summary is what docs/summary.schema.json says.
valid() { python3 -B "$top/tests/summary_schema.py" "$@"; }

# v OP OUTCOME: a verdict.
v() { printf '{"v":1,"kind":"verdict","id":"opinfo/%s/int8/plain","run":"r1",' \
	"$1"; printf '"device":"dev","outcome":"%s","level":1}\n' "$2"; }
c() { printf '{"v":1,"kind":"case","id":"opinfo/%s/int8/plain","run":"r1",' \
	"$1"; printf '"op":"%s"}\n' "$1"; }

# Folders.
mkdir -p res/dev_x_history/t1 outside
{ c add; v add pass; c mul; v mul pass; } >res/dev_x_history/t1/stream.jsonl
printf '{"t_wall_s":2.5,"peak_pss_mb":100}\n' >res/dev_x_history/t1/stages.jsonl
printf '{"stage":"exec","t_s":1.25}\n' >>res/dev_x_history/t1/stages.jsonl
printf '{"t_wall_s":1.5,"peak_pss_mb":90}\n' >>res/dev_x_history/t1/stages.jsonl
printf '{"v":1,"run":"dev_x_history/t1"}\n' >res/dev_x_latest.json
exits 0 'a folder' cts-report res/dev_x_history/t1
like out '^conformant' 'gives a scorecard'
is "$(cd res/dev_x_history/t1 && echo *)" \
	'junit.xml report.html report.md stages.jsonl stream.jsonl summary.json' \
	'and all reports in the folder'
is "$(jq -c '[.t_wall_s, .peak_pss_mb, .stages]' \
	res/dev_x_history/t1/summary.json)" \
	'[4,100,[{"stage":"exec","t_s":1.25}]]' 'with what stages measured'
cp res/dev_x_history/t1/summary.json want
ok 'summaries of folders are as their schema says' valid want
exits 0 'a reference' cts-report --json res/dev_x_latest.json
is "$(jq -c .counts out)" "$(jq -c .counts want)" 'leads there'
gzip res/dev_x_history/t1/stream.jsonl
exits 0 'a packed stream' cts-report res/dev_x_history/t1
cmp_file res/dev_x_history/t1/summary.json want 'is the same'
exits 0 'by reference too' cts-report --json res/dev_x_latest.json

v add pass >outside/stream.jsonl
for r in ../outside /etc . .. dev_x_history/../../outside ''; do
	jq -cn --arg r "$r" '{v: 1, run: $r}' >res/bad_latest.json
	exits 3 "a reference to '$r' is refused" cts-report res/bad_latest.json
	errline '^cts-report: ' 'in one line'
done
ln -s "$T/outside" res/link
echo '{"v":1,"run":"link"}' >res/bad_latest.json
exits 3 'a link that leads out' cts-report res/bad_latest.json
errline 'leads out of' 'is refused'
echo '{"v":2,"run":"dev_x_history/t1"}' >res/bad_latest.json
exits 3 'an unknown version' cts-report res/bad_latest.json
echo 'nonsense' >res/bad_latest.json
exits 3 'no reference at all' cts-report res/bad_latest.json
errline 'bad_latest.json: not a reference' 'is named'
echo '{"v":1,"run":"gone"}' >res/bad_latest.json
exits 4 'a run that is gone' cts-report res/bad_latest.json
mkdir hollow
exits 4 'a folder without a run' cts-report hollow
errline "'hollow' holds no run" 'is named'

# A stopped run says so by itself, and its last line may be cut.
mkdir cut
{ v add pass; printf '{"v":1,"kind":"verd'; } >cut/stream.jsonl
echo '{"t_wall_s":1,"peak_pss_mb":0,"partial":true}' >cut/stages.jsonl
exits 1 'a stopped run' cts-report cut
is "$(jq -c '[.partial, .complete, .counts.pass]' cut/summary.json)" \
	'[true,false,1]' 'is partial'
like cut/report.md '^> Partial' 'and its report says so'
exits 1 'a note' cts-report --note 'harness check' cut
for f in summary.json report.md report.html; do
	like cut/$f 'harness check' "stands in $f"
done
echo '[]' >bad
exits 3 'wrong stages' cts-report --stages bad res/dev_x_history/t1
errline 'bad:1: not a JSON object' 'are named'

# Failure-only files.
mkdir odd
{ v add pass
  echo '{"v":1,"kind":"oracle_failure","id":"opinfo/add/int8/plain","run":"r1","sample":1,"reason":"raised","detail":"d"}'
  echo '{"v":1,"kind":"probe","id":"","run":"r1","probe":"dtype","name":"int8","status":"ok","note":""}'
  echo '{"v":1,"kind":"probe","id":"","run":"r1","probe":"dtype","name":"int4","status":"failed","note":"n"}'
} >odd/stream.jsonl
exits 0 'oracle failures and probes are no failures' cts-report odd
is "$(jq -r .reason odd/oracle_failures.jsonl)" raised 'have files of their own'
is "$(jq -r .name odd/probe_failures.jsonl)" int4 'for what failed'
like odd/report.md '^\| dtype \| int4 \| failed \| n \|' 'probes are a table'

# Baselines.
{ v a pass; v b pass; v d fail; v e fail; v g pass; } >before
{ v a pass; v b fail; v d pass; v e crash; v h fail; } >now
exits 1 'against a baseline' cts-report --baseline before --summary s.json now
is "$(jq -c '.baseline | [(.regressions, .fixes, .added, .gone |
	map(.id | split("/")[1])), .still]' s.json)" \
	'[["b"],["d"],["h"],["g"],1]' 'what got worse and better'
ok 'and as the schema says' valid s.json
like out 'regression: opinfo/b/int8/plain .was pass, is fail' 'is said'
like out 'fixed: opinfo/d/int8/plain' 'known failures that pass too'
exits 1 'by folder' cts-report --baseline res/dev_x_latest.json now
exits 3 'an empty baseline' cts-report --baseline /dev/null now
exits 4 'a baseline that is not there' cts-report --baseline nowhere now

# Waivers.
w() { jq -cn --arg m "$1" --arg e "$2" '{device: "d*", match: $m,
	url: "https://example.org/1", reason: "known", expires: $e}'; }
{ w 'opinfo/b/*' 2999-12-31; w '*/d/*' 2999-12-31; w '*/e/*' 2001-01-01
} >waivers
exits 1 'a waived failure is one all the same' cts-report --waivers waivers \
	--summary s.json --markdown r.md --junit j.xml now
is "$(jq -c '[.waived, .counts.fail, .counts.crash]' s.json)" '[1,2,1]' \
	'counted, and marked'
is "$(jq -c '[.waivers[] | [.expired, .waived, .passing]]' s.json)" \
	'[[false,1,0],[false,0,1],[true,0,0]]' 'who marks what'
cp err err1
ok 'and as the schema says' valid s.json
cp err1 err
errline 'waivers:3: waiver .* expired on 2001-01-01' 'an expired one is named'
like j.xml 'waived until 2999-12-31: known' 'in the XML'
like r.md '<https://example.org/1>' 'and linked'
v a pass >one
for change in 'del(.device)' 'del(.url)' 'del(.reason)' 'del(.expires)' \
	'.url = "javascript:x"' '.expires = "2999-02-30"' '.expires = "soon"' \
	'.reason = " "' '.match = "*"' '.more = 1' '.device = 7' \
	'.match = "**/*"'; do
	w 'opinfo/b/*' 2999-12-31 | jq -c "$change" >wrong
	exits 3 "a waiver with $change" cts-report --waivers wrong one
	errline '^cts-report: wrong:1: ' 'is refused'
done

# Reruns.
{ c a; c b; c d; v a pass; v b fail; } >run
exits 0 'what failed' cts-report --failed run
cmp_file out - 'by id' <<-END2
	opinfo/b/int8/plain
	opinfo/d/int8/plain
	END2
exits 0 'as records' cts-report --failed --records run
grep -E '"kind":"case","id":"opinfo/[bd]/' run >want
cmp_file out want 'byte for byte'
exits 2 'records need a file' cts-report --failed --records <run
exits 0 'nothing failed' cts-report --failed one
is "$(cat out)" '' 'is nothing'

{ c a; c b; c d; c x; } >cases
{ v a pass; v b fail; printf '{"v":1,"ki'; } >run
exits 0 'what is left to run' cts-report --remaining cases run
grep -E '/(d|x)/' cases >want
cmp_file out want 'is what has no verdict'
exits 0 'before anything ran' cts-report --remaining cases /dev/null
cmp_file out cases 'is everything'

# Progress.
exits 0 'no progress in a log' cts-report --follow 2 run
is "$(cat out err)" '' 'not a byte'
exits 2 'a total is a number' cts-report --follow x run
exits 2 'one stream' cts-report --follow 2
if command -v script >/dev/null; then
	{ v a pass; head -c 300000 /dev/zero | tr '\0' a; echo; v b fail
	  printf '{"v":1,"kind":"verdict"'; } >grows
	script -qec 'cts-report --follow 2 grows' /dev/null </dev/null >tty.txt
	like tty.txt $'^\r2 of 2  100%  1 fail' 'a line on a terminal'
	script -qec 'timeout -s TERM 1 cts-report --follow 9 grows; echo $?' \
		/dev/null </dev/null >tty.txt
	like tty.txt '2 of 9  22%' 'what there is'
	unlike tty.txt '^139' 'and it ends when it is told to'
fi
done_testing
