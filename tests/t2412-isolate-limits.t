#!/bin/bash
# Limits of time, silence and memory, and what can't be ended politely.
# shellcheck disable=SC2046,SC2086,SC2094
. "${0%/*}/lib.sh"
. "$top/tests/fake/cases.sh"
needs jq

cases ok spin ok sleep deadlock ok stubborn ok >in
cat >want <<-\END
	ok ran 
	spin timeout SIGKILL
	ok ran 
	sleep hang SIGKILL
	deadlock hang SIGKILL
	ok ran 
	stubborn hang SIGKILL
	ok ran 
END
for how in --plain "--zygote $zy"; do
	exits 0 "limits: $how" cts-isolate $how -t 1.5 --silence 0.5 in -- "$fake"
	results out >got
	cmp_file got want 'who computes has a timeout, who does nothing hangs'
	ok 'one result each' once in out
	ok 'a hang has a stack' jq -es 'any(.kind == "death" and
		.op == "deadlock" and (.stack | contains("native stack")))' out
done
exits 0 'no limit on silence' cts-isolate --plain -t 0.6 --silence 0 in -- "$fake"
results out >got
cmp_file got want 'the kinds are the same'

cases nap.700 >in
exits 0 'a slow one, within its time' cts-isolate --plain -t 10 in -- "$fake"
is "$(results out)" 'nap.700 ran ' 'has its time'
extra=',"timeout_s":0.3' cases busy.2000 >in
exits 0 'a case with a time of its own' cts-isolate --plain -t 10 in -- "$fake"
is "$(results out)" 'busy.2000 timeout SIGKILL' 'has no more'

cases ok hog ok >in
for how in --plain "--zygote $zy"; do
	exits 0 "memory: $how" cts-isolate $how --max-memory 200 in -- "$fake"
	results out >got
	cmp_file got - 'too much is an oom, not a crash' <<-\END
		ok ran 
		hog oom SIGKILL
		ok ran 
	END
done

# A worker that has grown is replaced between cases.
cases hog.150/a hog.150/b hog.150/c hog.150/d >in
exits 0 'leaks' cts-isolate --plain --max-memory 260 in -- "$fake"
is "$(results out | sort | uniq -c | xargs)" '4 hog.150 ran' 'all are done'

# Devices whose forked workers hang are found out.
cases forkhang ok forkhang/b ok/c >in
exits 0 'forked workers hang' cts-isolate --zygote "$zy" --silence 0.4 -t 2 \
	in -- "$fake"
results out >got
cmp_file got - 'fresh ones do the work' <<-\END
	forkhang ran 
	ok ran 
	forkhang ran 
	ok ran 
END
errline "device 'cpu' hangs in a forked worker" 'is told'
is "$(jq -r 'select(.kind == "probe").name' out)" fork 'and in the stream'
mkdir -p history/20260101T000000Z
mv out history/20260101T000000Z/stream.jsonl
exits 0 'the next run' cts-isolate --zygote "$zy" --silence 0.4 -t 2 \
	--history history in -- "$fake"
is "$(cat err)" '' 'remembers'
is "$(results out | grep -c ran)" 4 'and does not fork'

exits 2 'a bad time' cts-isolate -t x -- "$fake"
exits 2 'a negative time' cts-isolate --silence=-1 -- "$fake"
exits 2 'a bad mode' cts-isolate --mode both -- "$fake"
like err "'both'" 'is named'
done_testing
