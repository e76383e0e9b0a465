#!/bin/bash
# Kill a process of a run at random, resume, and so on: no result is lost, none
# is there twice, none is another.  KILLS says how many (8); SEED repeats one.
# shellcheck disable=SC2046,SC2086,SC2094
. "${0%/*}/lib.sh"
. "$top/tests/fake/cases.sh"
needs jq parallel setsid

RANDOM=${SEED:-$$}
echo "# SEED=${SEED:-$$}"
mkdir fakebin results
for t in manifest isolate compare report; do
	ln -s "$CTS_BIN/cts-$t" fakebin/
done
script() { { echo '#!/bin/bash'; cat; } >"fakebin/$1"; chmod +x "fakebin/$1"; }
ops=()
for ((i = 0; i < 160; i++)); do
	op=nap.8
	((i % 40 != 7)) || op=segv
	((i % 40 != 27)) || op=exit.0
	ops+=("$op")
done
{
	printf '{"v":1,"kind":"run","id":"","run":"r","tool":"cts-enum 0",'
	printf '"role":"selection","device":"cpu","hardware":"hw",'
	printf '"torch":"2.13.0","manifest":"sha256:0","level":[1,1],'
	printf '"seed":67,"cases":%d,"accounts":{},"command":[]}\n' ${#ops[@]}
	cases "${ops[@]}"
} >enumerated
script cts-enum <<<"cat '$T/enumerated'"
script cts-exec <<<"exec '$fake' --obs 0 \"\$@\""
export CTS_BIN=$T/fakebin CTS_RESULTS=$T/results TMPDIR=$T
export JOBS=2 DEVICE=cpu ADAPTIVE=off CORPUS=off OUT

# outcomes FOLDER: id and outcome of each verdict, and of nothing twice.
outcomes() { zcat -f "$1"/stream.jsonl* | jq -r 'select(.kind == "verdict") |
	"\(.id) \(.outcome) \(.order_dependent // "")"' | sort; }
# ends FOLDER: how often each case has an end or a death.
ends() { zcat -f "$1"/stream.jsonl* | jq -r 'select(.kind == "end" or
	.kind == "death").id' | sort | uniq -c | awk '{ print $1 }' |
	sort -u | xargs; }

OUT=$T/results/whole
bash "$top/lib/run.sh" run >out 2>err
ok 'a whole run is complete' jq -e '.complete and .counts.cases == 160' \
	"$OUT/summary.json"
outcomes "$OUT" >want
is "$(cut -d ' ' -f 2 want | sort | uniq -c | xargs)" \
	"$(awk '/crash/ { c++ } END { print c " crash " NR - c " " other }
	!/crash/ { other = $2 }' want)" 'with crashes, and all others alike'

# One of the processes of the run: of its sessions, or working in its folder.
victim()
{
	{ pgrep -s "$1"; pgrep -f -- "$T/"; } | grep -vx "$$" | sort -u | shuf \
		--random-source=<(while :; do echo $RANDOM; done) -n 1
}

kills=0 runs=0 lost=0 resumes=0
while [ "$kills" -lt "${KILLS:-8}" ]; do
	runs=$((runs + 1)) OUT=$T/results/$runs
	verb=run
	for ((tries = 0; tries < 60; tries++)); do
		setsid bash "$top/lib/run.sh" $verb >out.$runs 2>err.$runs \
			</dev/null &
		job=$!
		if [ "$kills" -lt "${KILLS:-8}" ]; then
			sleep "$((RANDOM % 2)).$((RANDOM % 10))"
			v=$(victim $job)
			[ -z "$v" ] || ! kill -KILL "$v" 2>/dev/null ||
				kills=$((kills + 1))
		fi
		wait $job 2>/dev/null
		if [ ! -f "$OUT/stream.jsonl" ] &&
		    [ ! -f "$OUT/stream.jsonl.gz" ]; then
			rm -rf "$OUT"	# it had not begun
			verb=run
			continue
		fi
		[ ! -f "$OUT/stream.jsonl.gz" ] || break
		grep -q '"kind":"case"' "$OUT/stream.jsonl" ||
			{ rm -rf "$OUT"; verb=run; continue; }
		verb=resume RUN=$OUT
		export RUN
		resumes=$((resumes + 1))
	done
	outcomes "$OUT" >got
	if ! diff want got >diff.$runs || [ "$(ends "$OUT")" != 1 ] ||
	    ! jq -e .complete "$OUT/summary.json" >/dev/null; then
		lost=$((lost + 1))
		echo "# run $runs:"
		head -n 20 diff.$runs | diag
		tail_of err.$runs
	fi
done
echo "# $kills kills in $runs runs, resumed $resumes times"
is "$lost" 0 'every run has the results of one that nobody disturbed'
ok 'no process is left' none_left "$T/"
done_testing
