# The report of a mutation run, from its results (slurped).
def pct($a; $b): if $b == 0 then "-" else
	"\($a * 1000 / $b | round / 10) %" end;
def counts: map(select(.result == "caught" or .result == "survived"));
def pad($n): tostring | . + " " * ([$n - length, 1] | max);
def shares($key):
	counts | group_by(getpath([$key])) | map({
		k: .[0][$key], n: length,
		c: map(select(.result == "caught")) | length
	}) | sort_by(-.n)[] | "  \(.k | pad(20))\("\(.c) of \(.n)" | pad(14))\(
		pct(.c; .n))";
def tallies($key):
	map(select(.result == "caught")) | group_by(.[$key]) |
	sort_by(-length)[] | "  \(.[0][$key] | pad(20))\(length)";
def of($r): map(select(.result == $r));
def list($r): of($r)[] | "  \(.id) \(.rule | del(.name) | tojson)\n    \(
	if .by then "\(.check): \(.by); " else "" end
	)\(.cases | length) cases: \(.cases[:6] | join(" "))\(
	if (.cases | length) > 6 then " ..." else "" end)";

"Faults drawn with seed \($seed), cases up to level \($level): \(length)",
"  caught               \(of("caught") | length)",
"  survived             \(of("survived") | length)",
"not counted:",
"  permitted            \(of("permitted") | length)",
"  no effect            \(of("no_effect") | length)",
"  not reached          \(of("not_reached") | length)",
"  broken               \(of("broken") | length)",
"",
"By action", shares("do"),
"", "By kind of action", shares("group"),
"", "By kind of op", shares("family"),
"", "Caught by check", tallies("check"),
"", "Caught in variant", tallies("variant"),
"", "First seen at level", tallies("level"),
"", "Survivors", list("survived"),
"", "Permitted: advice alone", list("permitted"),
"", "No effect, by action", (of("no_effect") | group_by(.do)[] |
	"  \(.[0].do | pad(20))\(map(.op) | unique | join(" "))"),
"", "Not reached, by action", (of("not_reached") | group_by(.do)[] |
	"  \(.[0].do | pad(20))\(map(.op) | unique | join(" "))"),
"", "Broken", list("broken"),
"",
(counts | "caught \(of("caught") | length) of \(length) mutants: \(
	pct(of("caught") | length; length))")
