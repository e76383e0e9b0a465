#!/bin/bash
# lib/run.sh around tools that are not ours: where a run lies, what is kept,
# and what becomes of it when a worker fails, or somebody stops it.
. "${0%/*}/lib.sh"
needs jq parallel

mkdir fake results
fake() { { echo '#!/bin/bash'; cat; } >"fake/$1"; chmod +x "fake/$1"; }
fake cts-manifest <<'END'
echo "$*" >>"$T/args"
[ ! -e "$T/no-manifest" ] || { echo "cts-manifest: bad" >&2; exit 3; }
echo '{"device_name":"dev:1"}'
END
fake cts-enum <<'END'
echo "$*" >>"$T/args"
echo '{"v":1,"kind":"run","id":"","run":"r","role":"selection","device":"dev:1","hardware":"hw","cases":30}'
n=$(cat "$T/cases" 2>/dev/null) || n=30
for i in $(seq "$n"); do
	cost=
	! grep -qx "$i" "$T/long" 2>/dev/null || cost=',"cost":"high"'
	echo '{"v":1,"kind":"case","id":"s/o'$i'/d/v","run":"r"'$cost'}'
done
echo '{"v":1,"kind":"account","id":"s/o/d/x","run":"r","reason":"x"}'
END
real=$CTS_BIN
export real
fake cts-isolate <<'END'
case $1 in
--resume | --settle | --triage | --list-history) exec "$real/cts-isolate" "$@" ;;
esac
printf '%s\n' "$*" >>"$T/args"
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
END
# Case s/o9 fails its worker where T/broken is, and stops it where T/wait is.
fake cts-exec <<'END'
while read -r l; do
	id=${l#*\"id\":\"} id=${id%%\"*}
	echo '{"v":1,"kind":"start","id":"'$id'","run":"r"}'
	if [ $id = s/o9/d/v ]; then
		[ ! -e "$T/killed" ] || kill -9 $$
		[ ! -e "$T/broken" ] || { echo 'cts-exec: no device' >&2; exit 4; }
		if [ -e "$T/wait" ]; then
			: >"$T/waiting"
			while [ -e "$T/wait" ]; do sleep 0.1; done
		fi
	fi
	echo '{"v":1,"kind":"end","id":"'$id'","run":"r"}'
done
END
fake cts-compare <<'END'
for in; do :; done
[ -f "$in" ] && exec <"$in"
while read -r l; do
	case $l in *'"verdict"'*) continue ;; esac
	printf '%s\n' "$l"
	case $l in *'"end"'*)
		o=pass
		case $l in */o7/*) o=fail ;; esac
		printf '%s\n' "${l/\"end\"/\"verdict\"}" |
			sed 's/}$/,"outcome":"'$o'"}/' ;;
	esac
done
END
fake cts-report <<'END'
for dir; do :; done
case "$*" in
*--failed*) grep '"case"' "$dir" | grep /o7/; exit 1 ;;
*--partial*) : >"$T/partial" ;;
esac
n=$(cat "$dir"/stream.jsonl* | grep -c '"verdict"')
c=$(cat "$dir"/stream.jsonl* | grep -c '"case"')
[ "$n" -eq "$c" ] && ok=true || ok=false
echo '{"complete":'$ok',"n":'$n'}' >"$dir/summary.json"
[ $ok = true ] && [ ! -e "$T/bad" ]
END
export T CTS_BIN=$T/fake CTS_RESULTS=$T/results
run() { JOBS=2 bash "$top/lib/run.sh" "$@"; }
folder() { echo results/dev-1_hw_history/*; }
# verdicts STREAM: how many cases have so many verdicts.
verdicts()
{
	zcat -f "$1" | sed -n 's/.*"verdict","id":"\([^"]*\)".*/\1/p' |
		sort | uniq -c | awk '{ print $1 }' | sort | uniq -c |
		tr -s ' \n' ' '
}

DEVICE=dev:1 LEVEL=3 OP='^x$' DTYPE=float32,int8 exits 0 'a run' run run
like args 'resolve.* --dtype float32 --dtype int8' 'dtypes narrow the claim'
like args "--level 3 --op \^x\\$" 'the rest the selection'
f=$(folder)
ok 'its name is device, hardware and time' test -d "$f"
is "$(verdicts "$f/stream.jsonl.gz")" ' 30 1 ' 'each case has one verdict'
is "$(zcat "$f/stream.jsonl.gz" | grep -c account)" 1 'accounts are kept'
ok 'what is complete is packed' test ! -e "$f/stream.jsonl"
is "$(jq -r .run results/dev-1_hw_latest.json)" "${f#results/}" \
	'the newest is referred to by relative path'
is "$(jq -s 'map(select(.stage).stage) | sort | join(" ")' \
	"$f/stages.jsonl")" '"confirm enum exec resolve"' 'stages are timed'
ok 'the whole too' jq -se 'any(.t_wall_s > 0)' "$f/stages.jsonl"
like args '--mode case .*--' 'a failure is confirmed alone'
is "$(zcat "$f/stream.jsonl.gz" | grep '"verdict"' | grep /o7/ | jq .again)" \
	'"fail"' 'and says what came of it'
ls -A results >list
unlike list new 'no folder is left without a name'

# order N: whose turn it was first, of all that one worker ran.
order()
{
	zcat "$1/stream.jsonl.gz" | sed -n \
		's/.*"start","id":"s\/o\([0-9]*\)\/.*/\1/p' | head -n "$2" |
		tr '\n' ' '
}
seq 20 5 30 >long
one() { JOBS=1 bash "$top/lib/run.sh" "$@"; }
DEVICE=dev:1 OUT=$T/few CONFIRM=off exits 0 'few cases, some long' one run
is "$(order few 6)" '20 25 30 1 2 3 ' 'begin with those that take long'
is "$(verdicts few/stream.jsonl.gz)" ' 30 1 ' 'and run each once'
echo 130 >cases
sed -i 's/"cases":30/"cases":130/' fake/cts-enum
DEVICE=dev:1 OUT=$T/many CONFIRM=off exits 0 'many cases, some long' one run
is "$(order many 14)" '20 1 2 3 25 4 5 6 30 7 8 9 10 11 ' \
	'are dealt in blocks, each of which begins with such a case'
is "$(verdicts many/stream.jsonl.gz)" ' 130 1 ' 'and run each once'
sed -i 's/"cases":130/"cases":30/' fake/cts-enum
rm long cases

touch bad
DEVICE=dev:1 OUT=$T/o exits 1 'not conformant' run run
ok 'OUT is the folder' test -s o/summary.json
is "$(jq -r .run results/dev-1_hw_latest.json)" "${f#results/}" \
	'a run elsewhere is not referred to'
DEVICE=dev:1 OUT=$T/o exits 2 'OUT is not overwritten' run run
errline 'holds a run already' 'and said so'
rm bad

SEED=5 FROM=$T/o OUT=$T/again exits 2 'another seed is another run' run rerun
errline "rerun takes the run's own SEED" 'and said so'
FROM=$T/o OUT=$T/again exits 0 'rerun' run rerun
is "$(zcat again/stream.jsonl.gz | grep '"verdict"' | jq -r .id)" s/o7/d/v \
	'runs what was not good'
is "$(zcat again/stream.jsonl.gz | head -n 1 | jq .cases)" 1 \
	'and promises no more'
RUN=$T/$f OUT=$T/judged exits 0 'rejudge' run rejudge
is "$(verdicts judged/stream.jsonl.gz)" ' 30 1 ' 'judges all again'

RUN=$T/o N=2 exits 0 'triage' run triage
is "$(cat out)" 'reproducible  2/2  fail  s/o7/d/v' \
	'says how often what was bad is bad'
is "$(jq -c '[.id, .class, .again]' o/triage.jsonl)" \
	'["s/o7/d/v","reproducible",["fail","fail"]]' 'and keeps it'
is "$(cat o/known-crash-candidates.jsonl)" '' 'a wrong value is no crash'

touch no-manifest
exits 3 'a wrong manifest' run run
errline '^cts-manifest: bad' 'is one line, of the tool'
ls -A results >list
unlike list new 'and leaves nothing behind'
rm no-manifest

touch broken
DEVICE=dev:1 OUT=$T/p exits 4 'a worker that fails' run run
like err '^cts-exec: no device' 'says why'
like err '^run: a worker failed; make resume RUN=' 'and what to do'
ok 'what was done is kept' test -s p/stream.jsonl
rm broken
printf '{"v":1,"kind":"obs","id":"s/o30/d/v","ru' >>p/stream.jsonl
RUN=$T/p exits 0 'resume' run resume
is "$(verdicts p/stream.jsonl.gz)" ' 30 1 ' 'each case has one verdict'
zcat p/stream.jsonl.gz >all
is "$(jq -c 'select(.kind == "start")' all | sort | uniq -d)" '' \
	'what was half done is out'
is "$(jq -c 'select(.kind == "obs")' all)" '' 'so is a cut line'
RUN=$T/p exits 2 'resume of a complete run' run resume
errline 'is complete' 'is refused'

# A run goes on as it began, but for what is said anew.
touch broken
DEVICE=dev:1 OUT=$T/w TIMEOUT=7 ISOLATE=case CORPUS="$T/my corpus" CONFIRM=off \
	exits 4 'a run with options' run run
printf '%s\0' PATH /nowhere >>w/.options
cp -r w w2
cp -r w w3
rm broken
: >args
RUN=$T/w exits 0 'resumed' run resume
like args "--timeout 7 --mode case .*--corpus $T/my corpus" 'has them still'
ok 'forgets them when it is whole' test ! -e w/.options
: >args
RUN=$T/w2 TIMEOUT=9 exits 0 'resumed with another' run resume
like args "--timeout 9 --mode case .*--corpus $T/my corpus" 'has that'
printf '%s\0' TIMEOUT soon >w3/.options
RUN=$T/w3 exits 2 'resumed with a wrong one' run resume
errline "TIMEOUT is a number of seconds, not 'soon'" 'is refused'

# A worker that is killed with all that watches over it: the run says so.
touch killed
DEVICE=dev:1 OUT=$T/k exits 4 'a worker that is killed' run run
is "$(tail -n 1 err)" "run: a worker failed; make resume RUN=$T/k tries again" \
	'is told'
rm killed
RUN=$T/k exits 0 'and resumed' run resume
is "$(verdicts k/stream.jsonl.gz)" ' 30 1 ' 'each case has one verdict'

# No room to pack what is complete: gzip says so, and so do we.
mkdir full
printf '#!/bin/sh\necho "gzip: No space left on device" >&2\nexit 1\n' >full/gzip
chmod +x full/gzip
PATH=$T/full:$PATH DEVICE=dev:1 OUT=$T/s exits 4 'a disk without room' run run
errline "^run: cannot write in '$T/s'; make resume RUN=$T/s tries again$" \
	'is one line'
RUN=$T/s exits 0 'resume, with room' run resume
is "$(verdicts s/stream.jsonl.gz)" ' 30 1 ' 'each case has one verdict'
mkdir t
: >t/.stream
RUN=$T/t exits 4 'resume of a run that was cut before it began' run resume
errline 'that run had not begun' 'is no run'
for verb in rerun rejudge triage repro; do
	case=
	[ "$verb" != repro ] || case=s/o1/d/v
	RUN=$T/t FROM=$T/t CASE=$case OUT=$T/none exits 4 "$verb of it" \
		run "$verb"
	is "$(cat err)" \
		"run: there is no stream in '$T/t': that run had not begun" \
		'says so'
done
ok 'and nothing is begun' test ! -e none

# What took most memory may have been before a run was cut, or before failures
# were tried again.
mkdir cut
zcat s/stream.jsonl.gz | grep -v '"verdict"' >cut/stream.jsonl
cp s/manifest.json cut/
echo 999999 >cut/.peak
RUN=$T/cut exits 0 'resume of a run that took much memory' run resume
is "$(grep -o '"peak_pss_mb":[0-9]*' cut/stages.jsonl)" '"peak_pss_mb":999999' \
	'still knows of it'

touch wait
JOBS=2 DEVICE=dev:1 OUT=$T/q bash "$top/lib/run.sh" run >out 2>err &
pid=$!
while [ ! -e waiting ] && kill -0 $pid; do sleep 0.1; done
kill -TERM $pid
rc=0
wait $pid || rc=$?
is $rc 130 'a run that is stopped'
like err '^run: stopped; make resume RUN=' 'says how to go on'
is "$(jq .complete q/summary.json)" false 'with a report of what is there'
ok 'that knows' test -e partial
rm wait
RUN=$T/q exits 0 'resume' run resume
is "$(verdicts q/stream.jsonl.gz)" ' 30 1 ' 'each case has one verdict'
mkdir tmp
touch broken
TMPDIR=$T/tmp exits 4 'a corpus that cannot be made' run sync-opinfo </dev/null
is "$(ls -A tmp)" '' 'leaves nothing behind'
rm broken
TMPDIR=$T/tmp exits 0 'one that can' run sync-opinfo </dev/null
is "$(ls -A tmp)" '' 'neither'
exits 2 'a wrong verb' run nonsense
exits 2 'resume of nothing' run resume
exits 4 'resume of what is not there' env RUN="$T/none" bash "$top/lib/run.sh" \
	resume
done_testing
