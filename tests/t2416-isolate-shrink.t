#!/bin/bash
# cts-isolate --shrink: the search for a smaller input, with a judge that is a
# line of jq: what it calls a failure decides, and nothing else.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"
needs jq

id=opinfo/add/float32/plain
case='{"v":1,"kind":"case","id":"'$id'","run":"r","suite":"opinfo","op":"add","variant":"plain","dtype":"float32","device":"dev","level":1,"oracle":"cpu","samples":4,"seed":67,"backend_import":["x"]}'
fail='{"v":1,"kind":"verdict","id":"'$id'","run":"r","outcome":"fail","check":"value","why":"x","samples":4,"failed":1,"first":0,"checks":{"value":{"ok":false,"sample":2}}}'
printf '%s\n' "$case" "$fail" >stream

# judge COND [REC]: a command that gives a verdict for each case, REC where
# COND holds of it, otherwise a pass.  $e: its edits.
judge()
{
	local rec='{outcome: "fail", check: "value", why: "x",
		checks: {value: {sample: 2}}}'
	rm -f log
	cat >judge <<-END
	tee -a $T/log | jq -c --unbuffered '(.edits // []) as \$e | . as \$c |
		{v: 1, kind: "verdict", id, run, samples: 1, failed: 1} +
		if ($1) then ${2-$rec} else {outcome: "pass"} end'
	END
}
shrink() { cts-isolate --shrink "$id" "$@" -- bash judge; }

judge '($e - ["half 0"]) == [] and ($e | length) <= 2'
exits 0 'what fails as well is kept' shrink stream
cmp_file err /dev/null 'without a word'
is "$(jq -c 'select(.kind == "case") | [.sample, .edits, .attempt]' out)" \
	'[2,["half 0","half 0"],null]' 'each edit as often as it helps'
is "$(jq -r .kind out | xargs)" 'case verdict' 'a case, and its verdict'
is "$(jq -c 'select(.kind == "case") | del(.sample, .edits)' out)" "$case" \
	'the rest of the case is as it was'
is "$(jq -s 'map(.attempt) == [range(1; length + 1)]' log)" true \
	'attempts are numbered'
is "$(jq -s 'map(.edits // [] | tojson) | length == (unique | length)' log)" \
	true 'and none is made twice'
gzip -k stream
exits 0 'a packed stream' shrink stream.gz
exits 0 'another sample' shrink --sample 3 stream
is "$(jq -r 'select(.kind == "case") | .sample' out)" 3 'is the one'

judge '$e == []'
exits 0 'nothing to be made smaller' shrink stream
is "$(jq -c 'select(.kind == "case") | has("edits")' out)" false 'no edits'
judge true '{outcome: "fail", checks: {value: {sample: 2}, dtype: {sample: 2}},
	check: (if $e == [] then "value" else "dtype" end)}'
exits 0 'another check that fails' shrink stream
is "$(jq -c 'select(.kind == "case") | has("edits")' out)" false \
	'is another failure'
judge true '{outcome: "error", check: "error_unexpected", checks: {
	error_unexpected: {sample: 2, got: (if ($e - ["half 0"]) == [] and
	($e | length) < 4 then "ValueError: of \($e | length)" else
	"IndexError: x" end)}}}'
exits 0 'an error' shrink stream
is "$(jq -c 'select(.kind == "case") | .edits' out)" \
	'["half 0","half 0","half 0"]' 'is known by its type, not its message'

# A process that dies: the CPU has to live.
judge true '{outcome: "pass"}'
cat >judge <<END
tee -a $T/log | jq -c --unbuffered '(.edits // []) as \$e |
	{v: 1, id, run} as \$r | if .device == "cpu" and \$e != ["ones 0"] then
	\$r + {kind: "verdict", outcome: "fail", check: "value"}
	elif .device == "cpu" then
	\$r + {kind: "verdict", outcome: "pass"} else
	(\$r + {kind: "death", outcome: "crash", signal: "SIGSEGV", sample: 1}),
	(\$r + {kind: "verdict", outcome: "crash", why: "x"}) end'
END
exits 0 'a death' shrink stream
is "$(jq -c 'select(.kind == "case") | .edits' out)" '["ones 0"]' \
	'is only that where the CPU lives'
is "$(jq -c 'select(.device == "cpu") | has("backend_import")' log | sort -u)" \
	false 'and is not asked for the backend'

# Bounds.
judge true
exits 0 'a bound on attempts' shrink --attempts 7 stream
is "$(wc -l <log)" 7 'holds'
exits 0 'a bound on time' shrink --seconds 0 stream
is "$(jq -c 'select(.kind == "case") | has("edits")' out)" false 'holds, too'

# Without a verdict in the stream the case itself is run first.
echo "$case" >only
judge '$c.sample == null or $c.sample == 2'
exits 0 'a case that has no verdict yet' shrink --attempts 3 only
is "$(jq -c '[.sample, .edits]' log | head -n 2 | xargs)" \
	'[null,null] [2,null]' 'is run, then the sample that fails'

# Nothing to show.
judge '$c.sample == null'
exits 1 'a sample that alone is fine' shrink only
errline "^cts-isolate: case '$id' was 'fail', but sample 2 alone is not$" 'is said'
cmp_file out /dev/null 'and nothing is printed'
is "$(wc -l <log)" 4 'after three tries'
judge '$c.sample != 1' '{outcome: "error", why: "nothing was observed"}'
exits 2 'a sample that there is not' shrink --sample 99 stream
errline "^cts-isolate: case '$id' has no sample 99$" 'is said'
exits 1 'a sample that passes' shrink --sample 1 stream
errline "^cts-isolate: case '$id' was 'fail', but sample 1 alone is not$" \
	'is another matter'
judge false
exits 2 'a case that passes' shrink only
errline "^cts-isolate: case '$id' passes: there is nothing to reproduce$" 'is said'
exits 2 'an unknown case' cts-isolate --shrink opinfo/addd/float32/plain \
	stream -- bash judge
errline "no case 'opinfo/addd/float32/plain', the nearest is '$id'" \
	'the nearest is named'
exits 2 'a name with quotes' cts-isolate --shrink "x'\"\`\$(y)
z" stream -- bash judge
errline 'there is no case' 'is one line'
exits 4 'a stream that is not there' shrink absent
exits 2 'no command' cts-isolate --shrink "$id" stream
exits 2 'no stream' cts-isolate --shrink "$id" -- bash judge
exits 2 'a number that is none' shrink --sample x stream
exits 127 'a command that is not there' cts-isolate --shrink "$id" stream \
	-- ./absent
exits 4 'a command that says nothing' cts-isolate --shrink "$id" stream -- true
errline 'no verdict|takes no more' 'is told'

# The keys themselves.
bad()
{
	jq -c "$2" only >bad
	exits 3 "$1" cts-isolate bad -- true
	errline "$3" 'is refused'
}
bad 'edits without a sample' '.edits = ["half 0"]' "no 'sample'"
bad 'edits that are no list' '.edits = "x" | .sample = 1' "'edits' needs a list"
bad 'edits that are no text' '.edits = [1] | .sample = 1' "'edits' needs a list"
bad 'an attempt 0' '.attempt = 0' attempt
ends=(jq -c --unbuffered '{v: 1, kind: ("start", "end"), id, run, samples: 0}')
jq -c '.attempt = (1, 2, 0, 2)' only | jq -c 'if .attempt == 0 then
	del(.attempt) else . end' >bad
exits 3 'the same attempt again' cts-isolate bad -- "${ends[@]}"
errline "^cts-isolate: bad:4: case '$id' is here a second time" 'is refused'
is "$(grep -c '"kind":"end"' out)" 3 'others are not'
done_testing
