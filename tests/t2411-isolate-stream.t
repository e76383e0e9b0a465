#!/bin/bash
# What goes through cts-isolate: whole records, in order, nobody else's.
# shellcheck disable=SC2046,SC2086,SC2094
. "${0%/*}/lib.sh"
. "$top/tests/fake/cases.sh"
needs jq

cases garbage ok forge long.2 ok glue ok >in
exits 0 'garbage on stdout' cts-isolate --zygote "$zy" in -- "$fake"
results out >got
cmp_file got - 'does no harm, unless it hides a record' <<-\END
	garbage ran 
	ok ran 
	forge ran 
	long.2 ran 
	ok ran 
	glue crash SIGKILL
	ok ran 
END
errline 'lines of the command.s output' 'is told in one line'
ok 'every line is a record' jq -es 'all(.v == 1)' out
is "$(jq -r 'select(.id == "fake/ok/float32/none" or .outcome == "pass")' \
	out)" '' 'forged records are left out'

# Others pass, in order.
other='{"v":1,"kind":"note","id":"","run":"r","n":12345678901234567890}'
{
	echo "$other"
	cases ok/a
	echo '{"v":1,"kind":"account","id":"x/y/z/w","run":"r"}'
	cases segv/b
	printf '{ "v" : 1, "kind":"odd","id":"","run":"" }\n'
	cases ok/c
	echo "$other"
} >in
exits 0 'other records' cts-isolate --plain in -- "$fake"
jq -r '"\(.kind) \(.id)"' out | grep -v ^obs >got
cmp_file got - 'keep their place' <<-\END
	note 
	start fake/ok/float32/a
	end fake/ok/float32/a
	account x/y/z/w
	start fake/segv/float32/b
	death fake/segv/float32/b
	odd 
	start fake/ok/float32/c
	end fake/ok/float32/c
	note 
END
is "$(head -n 1 out)" "$other" 'and every byte'
is "$(grep odd out)" '{ "v" : 1, "kind":"odd","id":"","run":"" }' 'spaces too'

# More than is read ahead, and the end of it in sight.
{
	cases nap.500
	for i in {1..700}; do
		echo "$other"
	done
	cases ok
} >in
exits 0 'many others behind a slow case' cts-isolate in -- "$fake"
is "$(grep -c '"note"' out)" 700 'all pass'

exits 0 'no input' cts-isolate -- "$fake" </dev/null
is "$(cat out err)" '' 'no output'
exits 0 'no case: the command is not run' cts-isolate -- /no/such <<<"$other"
is "$(cat out)" "$other" 'and records pass'

# Same bytes with and without.
cases $(printf 'ok %.0s' {1..50}) >in
"$fake" --pad 2000 --obs 7 <in >plain
for how in --plain "--zygote $zy.1" "--zygote $zy.1 --batch 7" \
	'--plain --batch 1'; do
	exits 0 "healthy: $how" cts-isolate $how in -- "$fake" --pad 2000 --obs 7
	cmp_file out plain 'the same bytes as without'
done
exits 0 'large records' cts-isolate --plain -- "$fake" --pad 900000 --obs 12 \
	< <(head -n 2 in)
is "$(wc -l <out)" 28 'are all there'

# Bad input: what came before is done.
{ cases ok/a ok/b; echo nonsense; cases ok/c; } >in
exits 3 'bad input' cts-isolate --plain in -- "$fake"
errline '^cts-isolate: in:3: cannot parse record' 'file and line'
is "$(results out | wc -l)" 2 'what came before it has results'
{ cases ok/a ok/b ok/a; } >in
exits 3 'an id twice' cts-isolate --plain in -- "$fake"
errline "^cts-isolate: in:3: .*fake/ok/float32/a" 'is named'
is "$(results out | wc -l)" 2 'others have results'
{ cases ok/a; cases ok/b | tr -d '\n'; } >in
exits 3 'a cut line' cts-isolate --plain in -- "$fake"
errline '^cts-isolate: in:2: ' 'file and line'

# A slow feeder does not stop the watch over what runs.
{ cases sleep ok/b; } >in
exits 0 'half a line and then nothing' cts-isolate --plain --silence 0.3 -t 1 \
	-- "$fake" < <(head -n 1 in; head -c 20 <(tail -n 1 in); sleep 2
		tail -c +21 <(tail -n 1 in))
results out >got
cmp_file got - 'the hang is seen meanwhile' <<-\END
	sleep hang SIGKILL
	ok ran 
END

# The file of the last starts.
cases $(printf 'ok %.0s' {1..50}) segv >in
exits 0 'a runlog' cts-isolate --zygote "$zy" --runlog log in -- "$fake"
is "$(wc -l <log)" 32 'has the last 32 starts'
like log '^[0-9-]+T[0-9:.]+Z [0-9]+ fake/segv/float32/v51$' 'time, pid, id'
is "$(tail -n 1 log | cut -d ' ' -f 3)" fake/segv/float32/v51 'the last is last'
exits 4 'a runlog that cannot be' cts-isolate --runlog /no/dir/log in -- "$fake"
errline '/no/dir/log' 'is named'
done_testing
