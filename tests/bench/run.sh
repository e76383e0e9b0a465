#!/bin/bash
# run.sh: the forward matrix, by make run and by a bare Python loop over the
# same samples, by turns in the same minutes; then what a worker adds, and what
# more cases cost.  Prints one JSON object a measurement, then the ratios with
# what they are meant to be at most (or least).  Imports are apart on both
# sides.  OP and DTYPE narrow it; JOBS workers (2); PAIRS of one worker and two
# (5); LARGE=1 adds 100,000 cases.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
python=$(make -s print-python)
jobs=${JOBS:-2} pairs=${PAIRS:-5}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# What a warm run finds, a cold one must not.
export XDG_CACHE_HOME=$dir/cache
unset CTS_CACHE

bare()
{
	"$python" tests/bench/bareloop.py --op "${OP-}" \
		${DTYPE:+--dtype "$DTYPE"}
}

# A worker is a pipeline, whose judge takes another core where there is one.
# Two workers on two cores have none, so one is measured on one core, too.
on=()
one_core=(taskset -c 0)
command -v taskset >/dev/null || one_core=()

# run NAME VARIABLE=VALUE...: what a run took, as JSON; net: less imports and,
# where PyTorch was asked what there is, less that; exec: its workers alone.
run()
{
	local name=$1
	shift
	"${on[@]}" env JOBS="$jobs" DEVICE=cpu LEVEL=2 SUITE=opinfo SAMPLES=10 \
		OUT="$dir/$name" "$@" bash lib/run.sh run \
		>"$dir/$name.log" 2>&1 || [ $? -eq 1 ] || {
		tail -n 5 "$dir/$name.log" >&2
		exit 4
	}
	jq -c --arg name "$name" '(.stages | map({(.stage): .t_s}) | add) as $s |
		{run: $name, cases: .counts.cases, samples, live_samples,
		t_wall_s, t_import_s, t_enum_s: $s.enum,
		t_net_s: (.t_wall_s - .t_import_s),
		t_exec_s: ($s.exec - .t_import_s), peak_pss_mb}' \
		"$dir/$name/summary.json" | tee "$dir/$name.json"
}

# best_enum: the shortest of 20 times to list level 1 from the inventory.
best_enum()
{
	local i t least=
	for i in {1..20}; do
		t=$EPOCHREALTIME
		bin/cts-enum -d cpu -l 1 >"$dir/enum.out"
		t=$(((${EPOCHREALTIME/[.,]/} - ${t/[.,]/}) / 100))
		[ -n "$least" ] && [ "$least" -le "$t" ] || least=$t
	done
	jq -nc --argjson t "$least" '{run: "enum", t_wall_s: ($t / 1e4)}' |
		tee "$dir/enum.json"
}

# ratio TEXT FILTER LIMIT: a line on what FILTER makes of all measurements.
ratio()
{
	jq -rn --arg text "$1" --arg limit "$3" --argjson pairs "$pairs" \
		--slurpfile all "$dir/all.json" \
		"def median: sort | .[length / 2 | floor];
		def each(f): [range(1; \$pairs + 1) | tostring | f];
		(\$all | map({(.run): .}) | add) as \$r | ($2) as \$x |
		\"\\(\$text): \\(\$x * 100 | round / 100) (\\(\$limit))\""
}

{ grep -m 1 -E '^(model name|CPU part)' /proc/cpuinfo ||
	echo 'cpu: unknown'; } | jq -Rc --arg n "$(nproc)" \
	--arg mb "$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)" \
	--arg load "$(cut -d ' ' -f 1 /proc/loadavg)" --arg t \
	"$("$python" -c 'import importlib.metadata as m; print(m.version("torch"))')" \
	'{cpu: sub("^[^:]*: *"; ""), cores: ($n | tonumber),
	memory_mb: ($mb | tonumber), load: ($load | tonumber), torch: $t}'
bare | jq -c '{run: "bare"} + .' | tee "$dir/bare.json"
run cold ${OP:+OP="$OP"} ${DTYPE:+DTYPE="$DTYPE"}
run warm ${OP:+OP="$OP"} ${DTYPE:+DTYPE="$DTYPE"}
bare | jq -c '{run: "bare2"} + .' | tee "$dir/bare2.json"
run warm2 ${OP:+OP="$OP"} ${DTYPE:+DTYPE="$DTYPE"}
run level1 LEVEL=1
best_enum
# Every 100th and every 10th case of all levels.
export CORPUS=off
run cases1k LEVEL=8 SAMPLES=2 SHARD=1/100
# Pairs, each within a minute or so: a machine's speed changes between them.
for ((i = 1; i <= pairs; i++)); do
	run alone$i LEVEL=8 SAMPLES=2 SHARD=1/10 JOBS=1
	run two$i LEVEL=8 SAMPLES=2 SHARD=1/10 JOBS=2
done
run four10k LEVEL=8 SAMPLES=2 SHARD=1/10 JOBS=4
on=("${one_core[@]}")
run core10k LEVEL=8 SAMPLES=2 SHARD=1/10 JOBS=1
on=()
[ -z "${LARGE-}" ] || run cases100k LEVEL=8 SAMPLES=2
cat "$dir"/*.json >"$dir/all.json"

b='([$r.bare.t_wall_s, $r.bare2.t_wall_s] | min)'
# Of each pair, what one worker took to what two did.
gain='each($r["alone" + .].t_exec_s / $r["two" + .].t_exec_s)'
echo
ratio 'cold, to the bare loop' "(\$r.cold.t_net_s - \$r.cold.t_enum_s) / $b" \
	'at most 1.5'
ratio '  with the inventory, which is asked for once a PyTorch' \
	"(\$r.cold.t_net_s - \$r.cold.t_import_s) / $b" 'as above'
ratio 'warm, to the bare loop' \
	"([\$r.warm.t_net_s, \$r.warm2.t_net_s] | min) / $b" 'at most 0.6'
ratio 'warm make run DEVICE=cpu LEVEL=1, seconds' '$r.level1.t_wall_s' \
	'at most 15'
ratio '  of which imports' '$r.level1.t_import_s' 'at most 7'
ratio 'cts-enum -d cpu -l 1 from its inventory, milliseconds' \
	'$r.enum.t_wall_s * 1000' 'at most 50'
ratio 'memory that a second worker adds, MB' \
	'(each($r["two" + .].peak_pss_mb) | median) -
	(each($r["alone" + .].peak_pss_mb) | median)' 'at most 150'
ratio '  each of three more' '($r.four10k.peak_pss_mb -
	(each($r["alone" + .].peak_pss_mb) | median)) / 3' 'at most 150'
ratio "work of two workers ($(nproc) cores), to that of one" "$gain | median" \
	'at least 1.7'
ratio '  the least of the pairs' "$gain | min" 'as above'
ratio '  the most' "$gain | max" 'as above'
ratio '  to that of one that has one core' \
	'$r.core10k.t_exec_s / (each($r["two" + .].t_exec_s) | median)' \
	'as above'
ratio 'time a case, of 10,000 to that of 1,000' \
	'(each($r["two" + .].t_exec_s) | median) / $r.two1.cases /
	($r.cases1k | .t_exec_s / .cases)' 'about 1'
[ -z "${LARGE-}" ] || ratio 'time a case, of 100,000 to that of 10,000' \
	'($r.cases100k | .t_exec_s / .cases) /
	(each($r["two" + .].t_exec_s) | median) * $r.two1.cases' 'about 1'
