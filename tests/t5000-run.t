#!/bin/bash
# make run's way through the real tools, on three devices.
. "${0%/*}/lib.sh"
needs torch jq parallel
export CTS_RESULTS=$T/results

run() { env "$@" bash "$top/lib/run.sh" run; }

# outcomes FOLDER: "id outcome", sorted.
outcomes()
{
	zcat -f "$1"/stream.jsonl* | grep '"kind":"verdict"' |
		jq -r '"\(.id) \(.outcome)"' | sort
}

for dev in cpu refdev lazy; do
	exits 0 "a run on $dev" run DEVICE=$dev LEVEL=1 OP='^(add|cat)$' JOBS=2
	like out '^conformant: [1-9]' 'is conformant'
	f=$(echo results/${dev}*_history/*)
	ref=$(echo results/${dev}*_latest.json)
	for leaf in manifest.json summary.json report.md report.html junit.xml \
		runlog.txt stream.jsonl.gz; do
		ok "$leaf is there" test -s "$f/$leaf"
	done
	ok 'all cases passed' jq -e '.complete and .counts.cases > 0 and
		.counts.pass == .counts.cases' "$f/summary.json"
	zcat "$f/stream.jsonl.gz" >all
	is "$(grep -c '"kind":"case"' all)" \
		"$(grep -c '"kind":"verdict"' all)" 'a verdict for each case'
	is "$(jq .counts.cases "$f/summary.json")" \
		"$(grep -c '"kind":"case"' all)" 'and the summary counts them'
	exits 0 'the reference to it will do' cts-report "$ref"
	unlike "$f/summary.json" "$T|$top" 'no path of this machine'
	ok 'stages and memory are in the summary' jq -e '.peak_pss_mb > 0 and
		.t_wall_s > 0' "$f/summary.json"
done

# How many workers there are and where they run changes no result.
outcomes results/refdev*_history/* >two
exits 0 'one worker' run DEVICE=refdev LEVEL=1 OP='^(add|cat)$' JOBS=1 \
	OUT="$T/one" ISOLATE=case
outcomes one >got
cmp_file got two 'in case isolation: the same'

for i in 1 2; do
	exits 0 "shard $i of 2" run DEVICE=cpu LEVEL=1 OP='^(add|cat)$' \
		SHARD=$i/2 OUT="$T/s$i"
done
{ outcomes s1; outcomes s2; } | sort >got
outcomes results/cpu*_history/* >whole
cmp_file got whole 'shards are the whole'

exits 0 'rejudged' env RUN="$T/one" OUT="$T/again" \
	bash "$top/lib/run.sh" rejudge
outcomes again >got
cmp_file got two 'is the same'

exits 2 'a selection that matches nothing' run DEVICE=cpu OP='^no-such-op$'
errline '^cts-enum: ' 'is an error of one line'
exits 2 'a wrong level' run DEVICE=cpu LEVEL=9
done_testing
