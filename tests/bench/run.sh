#!/bin/bash
# run.sh: the forward matrix, by make run and by a bare Python loop over the
# same samples, by turns in the same minutes; then what a worker adds, and what
# more cases cost.  Prints one JSON object a measurement, then the ratios with
# what they are meant to be at most (or least).  Imports are apart on both
# sides.  OP and DTYPE narrow it; JOBS workers (2); LARGE=1 adds 100,000 cases.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
python=$(make -s print-python)
jobs=${JOBS:-2}
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

# ratio TEXT FILTER LIMIT: a line on what FILTER makes of all measurements.
ratio()
{
	jq -rn --arg text "$1" --arg limit "$3" --slurpfile all "$dir/all.json" \
		"(\$all | map({(.run): .}) | add) as \$r | ($2) as \$x |
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
run alone JOBS=1 ${OP:+OP="$OP"} ${DTYPE:+DTYPE="$DTYPE"}
run four JOBS=4 ${OP:+OP="$OP"} ${DTYPE:+DTYPE="$DTYPE"}
run level1 LEVEL=1
# Every 100th and every 10th case of all levels.
export CORPUS=off
run cases1k LEVEL=8 SAMPLES=2 SHARD=1/100
# By turns, the best of three: what else the machine does goes one way only.
for i in '' 2 3; do
	run cases10k$i LEVEL=8 SAMPLES=2 SHARD=1/10
	run cases10k_alone$i LEVEL=8 SAMPLES=2 SHARD=1/10 JOBS=1
done
on=("${one_core[@]}")
run cases10k_core LEVEL=8 SAMPLES=2 SHARD=1/10 JOBS=1
on=()
[ -z "${LARGE-}" ] || run cases100k LEVEL=8 SAMPLES=2
cat "$dir"/*.json >"$dir/all.json"

b='([$r.bare.t_wall_s, $r.bare2.t_wall_s] | min)'
two='([$r.cases10k, $r.cases10k2, $r.cases10k3 | .t_exec_s] | min)'
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
ratio 'memory that a worker adds, MB' \
	'($r.four.peak_pss_mb - $r.alone.peak_pss_mb) / 3' 'at most 150'
ratio "work of two workers ($(nproc) cores), to that of one" \
	"([\$r.cases10k_alone, \$r.cases10k_alone2, \$r.cases10k_alone3 |
	.t_exec_s] | min) / $two" \
	'at least 1.7'
ratio '  to that of one that has one core' \
	"\$r.cases10k_core.t_exec_s / $two" \
	'as above'
ratio 'time a case, of 10,000 to that of 1,000' \
	'($r.cases10k | .t_exec_s / .cases) / ($r.cases1k | .t_exec_s / .cases)' \
	'about 1'
[ -z "${LARGE-}" ] || ratio 'time a case, of 100,000 to that of 10,000' \
	'($r.cases100k | .t_exec_s / .cases) /
	($r.cases10k | .t_exec_s / .cases)' 'about 1'
