#!/bin/bash
# How cts-isolate itself ends, and that nothing of it is left then.
# shellcheck disable=SC2046,SC2086,SC2094
. "${0%/*}/lib.sh"
. "$top/tests/fake/cases.sh"
needs jq pgrep

cp "$fake" "fake-$$"		# a name that is nobody else's
fake=$T/fake-$$
cases ok ok >in

exits 127 'no such command' cts-isolate in -- ./no-such
errline "cannot run './no-such'" 'is named'
echo >script
exits 126 'not a program' cts-isolate in -- ./script
errline "cannot run './script'" 'is named'
exits 2 'no command' cts-isolate in
like err 'a command is needed' 'one is asked for'

# A command that can't work at all.
exits 4 'a command that says nothing' cts-isolate in -- true
errline 'ends before its first case \(exit 0\)' 'is no worker'
exits 3 'one that refuses' cts-isolate in -- sh -c 'echo "x: bad thing" >&2
	exit 3'
errline 'exit 3\): x: bad thing' 'its last words and status are ours'
exits 4 'one that crashes' cts-isolate in -- sh -c 'kill -SEGV $$'
errline 'SIGSEGV' 'is told'
exits 4 'a zygote that cannot start' cts-isolate --zygote "$zy" in -- \
	sh -c 'echo oops >&2; exit 4'
errline 'ended \(exit 4\): oops' 'its last words'
exits 127 'a zygote that is not found' cts-isolate --zygote "$zy" in -- ./none
errline "cannot run './none'" 'is named'
exits 0 'workers that are cat' cts-isolate --plain -- cat <<<'{"v":1,"kind":"x","id":"","run":""}'

# Lost writes.
to() { local f=$1; shift; "$@" >"$f"; }
exits 4 'a full disk' to /dev/full cts-isolate --plain in -- "$fake"
errline 'No space left' 'is told'
cases $(printf 'ok %.0s' {1..3000}) >big
exits 0 'a reader that leaves' bash -c '
	cts-isolate --plain big -- "$1" | head -n 1 >/dev/null
	[ "${PIPESTATUS[0]}" -eq 4 ]' _ "$fake"
ok 'no process is left' none_left "$fake"

# Asked to stop, or killed: no worker outlives it.
cases ok stubborn >in
wait_for() { for _ in {1..200}; do grep -q "$1" "$2" && return; sleep 0.02
	done; return 1; }
for how in --plain "--zygote $zy"; do
	for sig in TERM INT HUP KILL; do
			env --default-signal=INT cts-isolate $how --runlog log in -- "$fake" >out 2>err &
		pid=$!
		ok "$how: a case runs" wait_for stubborn log
		kill -$sig $pid
		rc=0
		wait $pid 2>/dev/null || rc=$?
		is $rc $((128 + $(kill -l $sig))) "it ends by SIG$sig"
		is "$(results out 2>/dev/null)" 'ok ran ' 'what was done is there'
		rm -f log
		[ $sig = KILL ] || is "$(cat err)" '' 'and it says nothing'
	done
	ok 'no process is left' none_left "$fake"
done
trap '' HUP
cts-isolate --plain --silence 0.5 --runlog log in -- "$fake" >out 2>err &
pid=$!
trap - HUP
ok 'with SIGHUP ignored' wait_for stubborn log
kill -HUP $pid
rc=0
wait $pid || rc=$?
is $rc 0 'it goes on'
is "$(results out | tail -n 1)" 'stubborn hang SIGKILL' 'to the end'

# Several share one zygote and leave none.
for i in 1 2 3 4; do
	cases ok/a$i segv/b$i ok/c$i nap.900/d$i >in.$i
	cts-isolate --zygote "$zy" in.$i -- "$fake" >out.$i 2>err.$i &
done
sleep 0.3
is "$(ls "$zy"*)" "$zy
$zy.err
$zy.lock" 'they share a zygote'
wait
is "$(cat err.?)" '' 'nobody complains'
is "$(cat out.? | jq -r 'select(.kind == "end" or .kind == "death").id' |
	sort | uniq -c | grep -c '^ *1 ')" 16 'every case has one result'
ok 'the zygote leaves' none_left "$fake"
ok 'and takes its socket along' test ! -e "$zy"

# Started beforehand, for those who come.
{ echo '{"v":1,"kind":"run","id":"","run":"r"}'; cases ok segv ok; } >in
exits 0 '--warm-up' cts-isolate --warm-up --zygote "$zy" in -- "$fake"
is "$(cat out err)" '' 'runs nothing'
ok 'and has a zygote' test -S "$zy"
before=$(pgrep -f -- "$fake")
rm log
cases nap.500 >nap
cts-isolate --zygote "$zy" --runlog log nap -- "$fake" >out 2>err &
ok 'a run' wait_for nap log
is "$(awk '{ print $4 }' "/proc/$(awk '{ print $2; exit }' log)/stat")" \
	"$before" 'has its worker from that'
wait $!
is "$(results out; cat err)" 'nap.500 ran ' 'and its result'
ok 'then it leaves, as always' none_left "$fake"
exits 0 '--warm-up without a case' cts-isolate --warm-up --zygote "$zy" \
	/dev/null -- "$fake"
ok 'starts none' test ! -e "$zy"
cases ok | sed 's/"seed"/"adapter":{"fork":"never"},&/' >never
exits 0 '--warm-up for what can not be forked' cts-isolate --warm-up \
	--zygote "$zy" never -- "$fake"
ok 'starts none' test ! -e "$zy"
exits 4 '--warm-up of what can not start' cts-isolate --warm-up --zygote "$zy" \
	in -- sh -c 'echo oops >&2; exit 4'
errline 'ended \(exit 4\): oops' 'says so'
exits 3 '--warm-up for no stream' cts-isolate --warm-up --zygote "$zy" \
	"$fake" -- "$fake"
exits 2 '--warm-up without --zygote' cts-isolate --warm-up in -- "$fake"
like err 'needs --zygote' 'says what it needs'

# A path that no socket address can hold.
long=$T/$(printf 'x%.0s' {1..150})
mkdir "$long"
cases ok segv >in
exits 0 'a long path' cts-isolate --zygote "$long/z" in -- "$fake"
is "$(results out | wc -l)" 2 'serves as well'

# A worker that never starts a case.
exits 4 'no case is ever begun' cts-isolate --plain --start-limit 0.3 in -- \
	sleep 100
errline 'ends before its first case' 'is told'
done_testing
