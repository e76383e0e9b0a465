#!/bin/bash
# Where a case runs: the ledger, earlier runs and modes decide that, and
# nothing about the results.
# shellcheck disable=SC2046,SC2086,SC2094
. "${0%/*}/lib.sh"
. "$top/tests/fake/cases.sh"
needs jq

rule()
{
	printf '{"id":"%s","match":"%s","device":"%s","hardware":"*",' \
		"$1" "$2" "$3"
	printf '"torch":"%s","signal":"SIGSEGV","reason":"x","review":"%s"}\n' \
		"$4" "${5:-2999-01-01}"
}

cases ok/a ok/b segv/c ok/d exit.0/e spin/f ok/g sleep/h ok/i kill/j ok/k >in
rule one 'fake/segv/*' cpu '*' >ledger
rule two 'fake/ok/float32/[ag]' 'c*' '>=2.0,<99' >>ledger
mkdir -p history/20260101T000000Z
lim='-t 1 --silence 0.4'
for how in '--known-crashes off' '--ledger ledger' '--mode case' \
	'--history history' '--ledger ledger --history history' \
	'--plain --ledger ledger' '--batch 1'; do
	exits 0 "outcomes with $how" cts-isolate --zygote "$zy" $lim $how in -- \
		"$fake"
	results out >got
	[ -f want ] || cp got want
	cmp_file got want 'are the same'
	ok 'one each' once in out
	[ -f history/20260101T000000Z/stream.jsonl ] || {
		echo '{"v":1,"kind":"run","id":"","run":"r","torch":"2.13.0"}'
		cat out
	} >history/20260101T000000Z/stream.jsonl
done
is "$(wc -l <want)" 11 'all of them'

# Who was alone shows in the starts of those that die.
alone() { jq -r 'select(.kind == "death" and .op == "segv") |
	.starts | length' out; }
exits 0 'no ledger' cts-isolate --zygote "$zy" $lim --known-crashes off in -- \
	"$fake"
is "$(alone)" 3 'it died among others'
exits 0 'a ledger' cts-isolate --zygote "$zy" $lim --ledger ledger in -- "$fake"
is "$(alone)" 1 'it died alone'
rule one 'fake/segv/*' cuda '*' >other
exits 0 'for another device' cts-isolate --zygote "$zy" $lim --ledger other in \
	-- "$fake"
is "$(alone)" 3 'does not apply'
rule one 'fake/segv/*' '*' '<2.13' >other
exits 0 'for another version' cts-isolate --zygote "$zy" $lim --ledger other \
	--torch 2.13.0+cpu in -- "$fake"
is "$(alone)" 3 'does not apply'
rule one 'fake/segv/*' 'cpu' '>=2.13,<2.14' >other
exits 0 'for this version' cts-isolate --zygote "$zy" $lim --ledger other \
	--torch 2.13.0+cpu in -- "$fake"
is "$(alone)" 1 'applies'

# Earlier runs.
exits 0 'history' cts-isolate --list-history --torch 2.13.1 history
cp out list
cmp_file out - 'what died, sorted' <<-\END
	fake/exit.0/float32/e
	fake/kill/float32/j
	fake/segv/float32/c
	fake/sleep/float32/h
	fake/spin/float32/f
END
exits 0 'another minor version' cts-isolate --list-history --torch 2.12.1 history
is "$(cat out)" '' 'does not count'
gzip history/*/stream.jsonl
exits 0 'compressed' cts-isolate --list-history history
cmp_file out list 'is the same'
exits 0 'no folder' cts-isolate --list-history nowhere
is "$(cat out err)" '' 'no history'
exits 0 'a list' cts-isolate --zygote "$zy" $lim --history list in -- "$fake"
is "$(alone)" 1 'does as well as the folder'
extra=',"isolate":"case"' cases segv/c | cat <(head -n 2 in) - >asks
exits 0 'a case that asks for it' cts-isolate --zygote "$zy" asks -- "$fake"
is "$(alone)" 1 'is alone'

# The audit.
audit() { exits "$1" "$2" cts-isolate --audit --ledger "$3" \
	--today 2026-06-01 in; }
audit 0 'a good ledger' ledger
is "$(cat out err)" '' 'is nothing to talk about'
{
	rule one 'fake/segv/*' cpu '*' 2026-05-31
	rule two 'fake/no-such/*' cpu '*'
	rule three 'fake/s*' cpu '*'
	rule four 'fake/*' cuda '*'
} >bad
audit 1 'a ledger with faults' bad
cmp_file out - 'each has a line' <<-\END
	bad:3: rule 'three' matches 'fake/segv/float32/c', which rule 'one' does already
	bad:1: rule 'one' was to be reviewed by 2026-05-31
	bad:2: rule 'two' matches no case: 'fake/no-such/*'
END
cases $(printf 'ok %.0s' {1..80}) >in
rule all 'fake/ok/*' cpu '*' >bad
audit 1 'a rule that is too broad' bad
like out 'too broad: it matches 80 of 80' 'is found'
for what in 's/"one"/""/' 's/"SIGSEGV"/"sigsegv"/' 's/2999-01-01/soon/' \
	's/"\*"}/"x"}/;s/"torch":"\*"/"torch":"new"/' 's/"reason":"x",//' \
	's/fake\/segv//' 's/"id"/"name"/' 's/}//'; do
	rule one 'fake/segv/*' cpu '*' | sed "$what" >bad
	audit 3 "a ledger with $what" bad
	errline '^cts-isolate: bad:1: ' 'is refused'
done
{ rule one 'fake/a/*' cpu '*'; rule one 'fake/b/*' cpu '*'; } >bad
audit 3 'an id twice' bad
errline "bad:2: .*'one'" 'is named'
exits 4 'no ledger' cts-isolate --audit --ledger none in
exits 3 'bad rules stop a run' cts-isolate --ledger bad in -- "$fake"
exits 3 'no cases' cts-isolate --audit --ledger ledger </dev/null
ok 'ours is in order' cts-isolate --audit --today 2026-01-01 in
done_testing
