#!/bin/bash
# cts-report: Markdown, HTML and JUnit XML of a run whose every byte is
# hostile, clusters, deaths, advice, and the terminal.
. "${0%/*}/lib.sh"
needs jq python3

# A summary is what docs/summary.schema.json says.
valid() { python3 -B "$top/tests/summary_schema.py" "$@"; }

# verdict ID OP DTYPE OUTCOME MORE
verdict()
{
	jq -cn --arg id "$1" --arg op "$2" --arg dtype "$3" --arg o "$4" \
		--argjson more "${5:-{\}}" '{v: 1, kind: "verdict", id: $id,
		run: "r", suite: "opinfo", op: $op, dtype: $dtype,
		variant: "plain", level: 1, device: "dev", outcome: $o,
		samples: 4, checks: {}} + $more'
}
value='{"why": "value: 8 ulp off", "first": 2, "args": "mul(x, 3)", "checks":
	{"value": {"ok": false, "n": 4, "bad": 1, "class": "contract",
	"max_ulp": "0x1p+3", "at": [0], "budget": "default: 4 ulp"},
	"strides": {"ok": false, "n": 4, "bad": 4, "class": "advice"}}}'

# Ten dtypes, one root cause.
for d in float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 bool
do
	verdict "opinfo/mul/$d/plain" mul "$d" fail "$value"
done >stream
verdict opinfo/mul/float32/offset mul float32 fail "$value" |
	jq -c '.variant = "offset"' >>stream
verdict opinfo/add/float32/plain add float32 pass '{"tier": "usable",
	"checks": {"strides": {"ok": false, "n": 1, "bad": 1, "class":
	"advice"}, "value": {"ok": true, "class": "contract", "budget":
	"override: rtol 1"}}}' >>stream
exits 1 'eleven failures of one kind' cts-report --summary s.json \
	--markdown r.md --html r.html --junit j.xml stream
is "$(jq '.failures | length' s.json)" 1 'are one entry'
ok 'the summary is as its schema says' valid s.json
is "$(jq -c '.failures[0] | [.op, .check, .cases, (.dtypes | length),
	.variants, .first, .sample, .args]' s.json)" \
	'["mul","value",11,10,{"offset":1,"plain":10},"opinfo/mul/float32/plain",2,"mul(x, 3)"]' \
	'with its dtypes, variants and first sample'
is "$(jq -r '.failures[0].figure' s.json)" \
	'max_ulp 8, at [0], budget default: 4 ulp' 'and its figures'
is "$(jq -r '.failures[0].make' s.json)" \
	'make run DEVICE=dev CASE=opinfo/mul/float32/plain' 'and a command'
is "$(jq -r '.failures[0].pipe' s.json)" \
	'bin/cts-enum --device dev --case opinfo/mul/float32/plain | bin/cts-exec | bin/cts-compare' \
	'and a pipeline'
is "$(jq -r '.bad | length' s.json)" 11 'every bad case is in the summary'
is "$(grep -c '<failure' j.xml)" 11 'and in the XML'
is "$(jq -c '[.advice[] | [.op, .check, .cases]]' s.json)" \
	'[["mul","strides",11],["add","strides",1]]' 'advice is apart'
is "$(jq -c .tiers s.json)" '{"strict":0,"usable":1}' 'tiers'
is "$(jq -c '[.budgets, .default_budgets, .overrides]' s.json)" \
	'[{"default":11,"manifest":1},{"mul":11},{"add":1}]' 'sources of budgets'
like r.md '^\| `mul` \| value \| 11 \|' 'a table of what is broken'

verdict opinfo/mul/int8/plain mul int8 fail '{"why": "value in sample 1: got 1",
	"checks": {"dtype": {"ok": false, "class": "contract"}, "value": {"ok":
	false, "class": "contract", "got": "1"}}}' >two
exits 1 'two checks are broken' cts-report --summary s.json two
is "$(jq -c '.failures[0] | [.check, .figure]' s.json)" '["value","got 1"]' \
	'the one that the judge names counts'

# Deaths.
id=opinfo/sum/float32/plain
verdict $id sum float32 crash '{"why": "killed by SIGSEGV", "level": 3}' >dead
jq -cn --arg id $id '{v: 1, kind: "death", id: $id, run: "r",
	outcome: "crash", signal: "SIGSEGV", stderr: "last words",
	stack: "#0 frame_one\n#1 frame_two", starts: [], sample: 7,
	t_s: 1}' >>dead
exits 1 'a death' cts-report --summary s.json --markdown r.md --junit j.xml dead
is "$(jq -c '.failures[0] | [.check, .signal, .sample]' s.json)" \
	'["crash SIGSEGV","SIGSEGV",7]' 'has its signal'
like r.md '^    #1 frame_two$' 'its stack'
like r.md 'last words' 'what it said'
like r.md '\| bin/cts-isolate -- bin/cts-exec \|' 'is run under watch'
is "$(grep -c '<error type="crash"' j.xml)" 1 'and is an error'

# Hostile text everywhere that text can be.
evil='</pre></td><script>alert(1)</script>|`x`**]](javascript:x)&amp;"'"'"
evil+=$'\x1b[31m\r\n# not a heading\n\x01\u202e'
{
verdict "opinfo/$evil/$evil/plain" "$evil" "$evil" fail "$(jq -n --arg e \
	"$evil" '{why: $e, args: $e, variant: $e, device: $e, suite: $e,
	checks: {($e): {ok: false, class: "contract", got: $e}}}')"
jq -cn --arg e "$evil" '{v: 1, kind: "run", id: "", run: $e, role: "worker",
	device: $e, hardware: $e, torch: $e, manifest: $e}'
jq -cn --arg e "$evil" '{v: 1, kind: "account", id: "", run: "r", op: $e,
	reason: $e, level: 1}'
jq -cn --arg e "$evil" '{v: 1, kind: "probe", id: "", run: "r", probe: $e,
	name: $e, status: $e, note: $e}'
jq -cn --arg e "$evil" '{v: 1, kind: "oracle_failure", id: "x", run: "r",
	sample: 1, reason: $e, detail: $e}'
jq -cn --arg e "$evil" '{v: 1, kind: "death", id: "x", run: "r", signal: $e,
	stack: $e, stderr: $e}'
} >evil.jsonl
exits 1 'hostile text' cts-report --skips --summary s.json --markdown r.md \
	--html r.html --junit j.xml --note "$evil" evil.jsonl
ok 'the summary is as its schema says' valid s.json
is "$(jq -r '.failures[] | select(.check != "missing") | .op' s.json)" "$evil" \
	'and keeps what it was told'
ok 'HTML and JUnit are well-formed' python3 - <<-\END
	import xml.dom.minidom as m
	for f in "j.xml", "r.html":
	    d = m.parse(f)
	tags = {e.tagName for e in d.getElementsByTagName("*")}
	assert not tags & {"script", "img", "iframe", "link"}, tags
	END
unlike r.html '<script' 'no element comes from outside'
# In an indented block, text is text.
unlike r.md '^[^ ].*<script|^# not' 'nor any in Markdown'
ok 'no control byte is left' bash -c \
	"! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]' r.md r.html j.xml out"
is "$(python3 -c 'import xml.dom.minidom as m
print(*[e.getAttribute("tests") + "/" + e.getAttribute("failures") + "/" +
	e.getAttribute("errors") for e in
	m.parse("j.xml").getElementsByTagName("testsuites")])')" 3/1/1 \
	'JUnit counts add up'
unlike out '^# not' 'no text starts a line on the terminal'

# A message as long as a record may be.
{ printf '{"v":1,"kind":"verdict","id":"opinfo/add/int8/plain","run":"r",'
  printf '"outcome":"fail","why":"'
  head -c 1040000 /dev/zero | tr '\0' '<'
  printf '"}\n'; } >long
exits 1 'a message of a megabyte' cts-report --html r.html --junit j.xml long
ok 'is cut short' test "$(wc -c <r.html)" -lt 20000
ok 'but for one byte' test "$(wc -c <j.xml)" -lt 5000

# The terminal.
unlike out $'\033' 'no colour in a file'
if command -v script >/dev/null; then
	script -qec 'cts-report stream' /dev/null </dev/null >tty.txt 2>&1
	like tty.txt $'\033\\[1;31m' 'colour on a terminal'
	NO_COLOR=1 script -qec 'cts-report stream' /dev/null </dev/null >tty.txt
	unlike tty.txt $'\033' 'unless it is not wanted'
fi
for i in $(seq 30); do
	verdict "opinfo/op$i/int8/plain" "op$i" int8 error
done >many
exits 1 'thirty things broken' cts-report --markdown r.md many
like out 'and 10 more' 'are not all on the terminal'
is "$(grep -c '^### op' r.md)" 30 'but all in the report'
exits 1 'unless they are asked for' cts-report -v many
is "$(grep -c ': error, 1 case' out)" 30 'with -v'
done_testing
