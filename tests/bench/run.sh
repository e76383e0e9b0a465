#!/bin/bash
# run.sh: the forward matrix, by make run and by a bare Python loop over the
# same samples, in the same minute.  Prints one JSON object a measurement and
# then the ratios of wall time, imports apart on both sides.  OP and DTYPE
# narrow it; JOBS workers.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
python=$(make -s print-python)
jobs=${JOBS:-2}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# What a warm run finds, a cold one must not.
export XDG_CACHE_HOME=$dir/cache

bare()
{
	"$python" tests/bench/bareloop.py --op "${OP-}" \
		${DTYPE:+--dtype "$DTYPE"}
}

# run NAME: what a run took, without its imports.
run()
{
	JOBS=$jobs DEVICE=cpu LEVEL=${LEVEL:-2} SUITE=opinfo SAMPLES=10 \
		OUT=$dir/$1 bash lib/run.sh run >"$dir/$1.log" 2>&1 || {
		tail -n 5 "$dir/$1.log" >&2
		exit 4
	}
	jq -c --arg name "$1" '{run: $name, cases: .counts.cases, t_wall_s,
		t_import_s, peak_pss_mb}' "$dir/$1/summary.json"
}

grep -m 1 'model name' /proc/cpuinfo | jq -Rc --arg n "$(nproc)" --arg t \
	"$("$python" -c 'import importlib.metadata as m; print(m.version("torch"))')" \
	'{cpu: sub(".*: "; ""), cores: ($n | tonumber), torch: $t}'
bare | tee "$dir/bare.json"
run cold | tee "$dir/cold.json"
run warm | tee "$dir/warm.json"
jq -rn --slurpfile b "$dir/bare.json" --slurpfile c "$dir/cold.json" \
	--slurpfile w "$dir/warm.json" '
	def net: .t_wall_s - (.t_import_s // 0);
	def r: . * 100 | round / 100;
	"ratio to the bare loop: cold \($c[0] | net / $b[0].t_wall_s | r), " +
	"warm \($w[0] | net / $b[0].t_wall_s | r)"'
