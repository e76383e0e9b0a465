#!/bin/bash
# mutate.sh: the mutation score.  Draws N random faults of the reference device
# and says how many of them the suite notices; docs/mutation.md has the rules.
#
# Reads the environment: N SEED LEVEL DTYPE OP CASES JOBS TIMEOUT OUT RULES.
# Writes results.jsonl and report.txt to OUT (build/mutate/last); the report,
# and as its last line the score, to stdout.  Exit status: 0, 1 where the healthy
# device is not green, else that of the tool that failed.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
export LC_ALL=C.UTF-8 SHELL=/bin/bash

top=$PWD
here=tests/mutate
bin=${CTS_BIN:-$top/bin}
tools=$top/build/mutate
level=${LEVEL:-3}
dtypes=${DTYPE:-float32,int64}
jobs=${JOBS:-$(nproc)}
out=${OUT:-build/mutate/last}
seed=${SEED:-67}
python=$(sed -n 's/^PYTHON_EXE := //p' build/torch.mk)
export CTS_ROOT=$top PYTHONPATH=$top/build/refdev
export TORCH_DEVICE_BACKEND_AUTOLOAD=0 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
export top bin tools out jobs
unset CTS_REFDEV_FAULTS CTS_REFDEV_FAULTS_LOG

# whole NAME VALUE LO HI: a usage error unless VALUE is a whole number in range.
whole()
{
	if [[ ! $2 =~ ^[0-9]{1,16}$ ]] || [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
		echo "mutate: $1 needs a whole number from $3 to $4, not '$2'" >&2
		exit 2
	fi
}
whole N "${N:-100}" 1 1000000
whole SEED "$seed" 0 9007199254740992
whole LEVEL "$level" 1 8
whole CASES "${CASES:-40}" 1 1000
whole JOBS "$jobs" 1 1024
whole TIMEOUT "${TIMEOUT:-10}" 1 1000000
[ -z "${RULES-}" ] || CTS_REFDEV_FAULTS=$RULES "$python" -c 'import torch_refdev' \
	2>"${TMPDIR:-/tmp}/cts-mutate.$$" || {
	sed -n 's/^ImportError: /mutate: /p' "${TMPDIR:-/tmp}/cts-mutate.$$" >&2
	rm -f "${TMPDIR:-/tmp}/cts-mutate.$$"
	exit 3
}
rm -f "${TMPDIR:-/tmp}/cts-mutate.$$"

# spread COMMAND [N]: stdin over workers, N records at a time.
spread()
{
	parallel --will-cite --pipe --round-robin -N "${2:-4}" \
		--jobs "$jobs" --line-buffer --halt now,fail=1 "set -o pipefail; $1"
}

# The healthy device, once for the same software and the same choice of cases.
observe()
{
	local dev=() d
	for d in ${dtypes//,/ }; do
		dev+=(--dtype "$d")
	done
	"$bin/cts-manifest" resolve --device refdev "${dev[@]}" \
		>"$out/manifest.json"
	"$bin/cts-enum" --manifest "$out/manifest.json" --level "$level" \
		--op "${OP:-}" | sed -n '/"kind":"case"/p' >"$out/cases.jsonl"
	key=$(cat "$out/manifest.json" "$out/cases.jsonl" "$bin"/cts-* \
		build/*.so build/refdev/torch_refdev/*.* coverage/*.jsonl \
		suites/*.py shim/*.py "$tools/evidence" 2>/dev/null | sha256sum | cut -c 1-16)
	evidence=$tools/evidence-$key.jsonl
	[ ! -s "$evidence" ] || return 0
	echo "mutate: $(wc -l <"$out/cases.jsonl") cases on the healthy device" >&2
	spread '"$bin/cts-isolate" --zygote "$work/h" -- "$bin/cts-exec" \
		-d refdev:0 --blobs "$work/blobs" |
		"$bin/cts-compare" -m "$out/manifest.json" \
		--blobs "$work/blobs" - |
		"$tools/evidence" "$out/cases.jsonl"' <"$out/cases.jsonl" \
		>"$evidence.new"
	sort "$evidence.new" >"$evidence.sorted"
	rm "$evidence.new"
	mv "$evidence.sorted" "$evidence"
}

mkdir -p "$out" "$tools"
work=$(mktemp -d "${TMPDIR:-/tmp}/cts-mutate.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/blobs"
export work
PYTHONPATH=$work:$PYTHONPATH
observe
jq -r '.ops[]' "$evidence" | sort -u | "$python" $here/sites.py \
	>"$out/sites.jsonl"
rules=()
[ -z "${RULES-}" ] || rules=(--rules "$RULES")
"$tools/draw" -N "${N:-100}" -s "$seed" -l "$level" --cases "${CASES:-40}" \
	"${rules[@]}" $here/actions.jsonl "$out/sites.jsonl" "$evidence" >"$out/mutants.jsonl"
export TIMEOUT=${TIMEOUT:-10}
spread '"$tools/try" -m "$out/manifest.json" -t "$TIMEOUT" --zygote "$work/z" \
	--work "$work" "$bin/cts-exec" "$bin/cts-compare" -' 1 \
	<"$out/mutants.jsonl" >"$out/results.new"
sort "$out/results.new" >"$out/results.jsonl"
rm "$out/results.new"
sick=$(jq -r 'select(.outcome != "pass") | .id' "$evidence" | wc -l)
[ "$sick" -eq 0 ] || echo "the healthy device fails $sick cases:" \
	"$(jq -r 'select(.outcome != "pass") | .id' "$evidence" | head -n 5 |
	xargs)" >&2
jq -rs --argjson seed "$seed" --argjson level "$level" -f $here/report.jq \
	"$out/results.jsonl" | tee "$out/report.txt"
[ "$sick" -eq 0 ]
