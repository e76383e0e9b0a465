#!/bin/bash
# 200 faults among 5,000 cases, spread over two at a time: each is reported
# with the right case and the right kind, and no other case is any different.
# shellcheck disable=SC2046,SC2086,SC2094
. "${0%/*}/lib.sh"
. "$top/tests/fake/cases.sh"
needs jq parallel

# What comes of each.
declare -A want=([ok]='ran ' [late]='ran ' [segv]='crash SIGSEGV'
	[abort]='crash SIGABRT' [bus]='crash SIGBUS' [fpe]='crash SIGFPE'
	[stack]='crash SIGSEGV' [exit.0]='crash 0' [exit.3]='crash 3'
	[kill]='crash SIGKILL' [cut]='crash 0' [badalloc]='oom SIGABRT'
	[spin]='timeout SIGKILL' [sleep]='hang SIGKILL'
	[deadlock]='hang SIGKILL' [stubborn]='hang SIGKILL'
	[close]='crash SIGKILL' [hog]='oom SIGKILL')
quick=(segv abort bus fpe stack exit.0 exit.3 kill cut badalloc late)
slow=(spin sleep deadlock close stubborn hog)
ops=() n=0
for ((i = 0; i < 5000; i++)); do
	op=ok
	((i % 25 != 5)) || op=${quick[n++ % ${#quick[@]}]}
	((i % 250 != 5)) || op=${slow[i / 250 % ${#slow[@]}]}
	ops+=("$op")
	echo "$op ${want[$op]}" >>results
done
cases "${ops[@]}" >in
is "$(grep -cv '^ok ' results)" 200 'there are 200 faults'

run()
{
	parallel --will-cite --pipe --round-robin -N 4 -j 2 --ungroup \
		--halt now,fail=1 "cts-isolate --zygote $zy --max-memory 150 \
		-t 1.5 --silence 0.6 --runlog log $1 -- $fake >>$2" <in
}
exits 0 'a run with faults' run '' got
ok 'every case has exactly one result' once in got
results got | sort >came
sort results >wanted
cmp_file came wanted 'each of the right kind'
grep '"op":"ok"' in | "$fake" | sort >healthy
grep -E '^\{"v":1,"kind":"(start|obs|end)","id":"fake/ok/' got | sort >others
cmp_file others healthy 'others have the very records that they have alone'
is "$(wc -l <log)" 32 'the runlog of all has 32 starts'
ok 'no process is left' none_left "--zygote $zy"
done_testing
