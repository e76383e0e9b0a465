#!/bin/bash
# What an interrupted run leaves, what it still owes, and what a second look at
# its failures says.
# shellcheck disable=SC2046,SC2086,SC2094
. "${0%/*}/lib.sh"
. "$top/tests/fake/cases.sh"
needs jq

rec() { printf '{"v":1,"kind":"%s","id":"%s","run":"r"%s}\n' "$@"; }
group() { rec start "$1" ''; rec obs "$1" ',"sample":0'; rec end "$1" ''; }
verdict() { rec verdict "$1" ",\"outcome\":\"$2\"${3-}"; }
a=fake/ok/float32/a b=fake/ok/float32/b c=fake/ok/float32/c

{
	rec run '' ',"torch":"2.13.0","hardware":"hw"'
	cases ok/a ok/b ok/c
	rec account x/y/z/w ''
	group $a; verdict $a pass
} >whole
cp whole s
inode=$(stat -c %i s)
exits 0 'a stream without a wound' cts-isolate --resume s
is "$(jq -r .id out | xargs)" "$b $c" 'what it owes'
cmp_file out <(grep -E '"case".*/[bc]",' whole) 'byte for byte' 
cmp_file s whole 'it is as it was'
is "$(stat -c %i s)" "$inode" 'and not even touched'

wound()
{
	cp "$2" s
	chmod 640 s
	exits 0 "$1" cts-isolate --resume s
	is "$(jq -r .id out | xargs)" "$b $c" 'it owes the same'
	cmp_file s whole 'what is left is whole'
	is "$(stat -c %a s)" 640 'with its mode'
	is "$(find . -name 's.*')" '' 'and no other file'
}
{ cat whole; rec start $b '' | tr -d '\n'; } >hurt
wound 'a cut last line' hurt
errline 'warning: s: 1 broken lines and 0 second verdicts are taken out' 'told'
{ cat whole; rec start $b ''; rec obs $b ''; } >hurt
wound 'a case half done' hurt
is "$(cat err)" '' 'is nothing to talk about'
{ cat whole; group $c; rec death $b ''; rec oracle_failure $b ''; } >hurt
wound 'cases without a verdict' hurt
{ cat whole; verdict $a fail; } >hurt
wound 'a second verdict' hurt
{ head -n 5 whole; head -c 3000 /dev/zero; echo; tail -n +6 whole; } >hurt
wound 'a hole of zeros, as after a power cut' hurt
{ head -n 5 whole; printf '{"v":1,"kind":"obs","id":"x","data":"AAAA'
	tail -n +6 whole; } >hurt
wound 'half a record in front of a whole one' hurt
{ cat whole; printf '\xff\xfe\n[]\nx\n\n{"v":1}\n'; } >hurt
wound 'bytes of another kind' hurt
{ cat whole; head -c 3000000 /dev/zero | tr '\0' x; echo; } >hurt
wound 'a line of 3 MB' hurt

: >s
exits 0 'an empty stream' cts-isolate --resume s
is "$(cat out err)" '' 'owes nothing'
exits 4 'none' cts-isolate --resume none
errline "'none'" 'is named'
cp hurt s
exits 4 'no room for what it owes' bash -c 'cts-isolate --resume s >/dev/full'
exits 2 'two streams' cts-isolate --resume s s
exits 2 'and a command' cts-isolate --resume s -- "$fake"
exits 2 'two modes' cts-isolate --resume --settle s s

# Failures that were run again, alone.
{
	verdict $a fail ',"checks":{}'
	verdict $b crash
	verdict $c pass
	verdict fake/ok/float32/d fail
	rec obs $a ',"sample":0,"outcome":"fail"'
} >s
{ verdict $a pass; verdict $b crash; verdict $c fail; } >again
exits 0 'settle' cts-isolate --settle again s
is "$(cat out err)" '' 'in silence'
cp s settled
cmp_file s - 'marks, and changes no outcome' <<-END
	{"v":1,"kind":"verdict","id":"$a","run":"r","outcome":"fail","checks":{},"again":"pass","order_dependent":true}
	{"v":1,"kind":"verdict","id":"$b","run":"r","outcome":"crash","again":"crash"}
	{"v":1,"kind":"verdict","id":"$c","run":"r","outcome":"pass"}
	{"v":1,"kind":"verdict","id":"fake/ok/float32/d","run":"r","outcome":"fail"}
	{"v":1,"kind":"obs","id":"$a","run":"r","sample":0,"outcome":"fail"}
END
exits 0 'settle again' cts-isolate --settle again s
cmp_file s settled 'changes nothing more'
exits 4 'no second run' cts-isolate --settle none s
cmp_file s settled 'leaves the stream alone'

# Triage.
{
	rec run '' ',"torch":"2.13.0+cpu","hardware":"hw"'
	for i in a:fail b:crash c:timeout d:fail e:crash f:pass g:crash; do
		id=fake/ok/float32/${i%:*}
		[ "$i" != b:crash ] || rec death $id ',"signal":"SIGSEGV"'
		[ "$i" != e:crash ] || rec death $id ',"exit":0'
		[ "$i" != g:crash ] || rec death $id ',"signal":"SIGKILL"'
		verdict $id "${i#*:}" ',"device":"cpu"'
	done
} >first
n=0
for o in 'fail crash pass pass crash pass' 'fail crash pass fail crash pass' \
	'fail crash pass pass crash pass'; do
	n=$((n + 1))
	for i in a b c d e g; do
		verdict fake/ok/float32/$i "${o%% *}"
		o=${o#* }
	done >again.$n
done
exits 0 'triage' cts-isolate --triage --candidates rules --today 2026-06-01 \
	first again.1 again.2 again.3
jq -r '[.id[-1:], .class, .rate, .outcome] | join(" ")' out >got
cmp_file got - 'each failure has its class' <<-\END
	a reproducible 3/3 fail
	b reproducible 3/3 crash
	c environment 0/3 timeout
	d flaky 1/3 fail
	e reproducible 3/3 crash
	g environment 0/3 crash
END
like out "cts-enum --device 'cpu' --case 'fake/ok/float32/a' \| " 'a repro'
cmp_file rules - 'and what takes its process along is a candidate' <<-\END
	{"id":"fake-ok-float32-b","match":"fake/ok/float32/b","device":"cpu","hardware":"hw","torch":"==2.13.0","signal":"SIGSEGV","reason":"found by triage, not looked at yet","review":"2026-06-01"}
	{"id":"fake-ok-float32-e","match":"fake/ok/float32/e","device":"cpu","hardware":"hw","torch":"==2.13.0","signal":"exit","reason":"found by triage, not looked at yet","review":"2026-06-01"}
END
cases ok/a ok/b ok/e >in
exits 0 'which is a ledger' cts-isolate --audit --ledger rules \
	--today 2026-06-01 in
done_testing
