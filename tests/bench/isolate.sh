#!/bin/bash
# What isolation costs: the same cases with and without cts-isolate, by turns,
# the best of each; and what a crash costs.  N turns (5).
set -eu -o pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
PATH=${CTS_BIN:-$top/bin}:$PATH
fake=$top/build/fake/fake-exec
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
N=${N:-5}

# cases N OP...: N cases, whose ops are these in turn.
cases()
{
	local n=$1 i ops=("${@:2}")
	for ((i = 0; i < n; i++)); do
		op=${ops[i % ${#ops[@]}]}
		printf '{"v":1,"kind":"case","id":"fake/%s/float32/v%d",' \
			"$op" $i
		printf '"run":"r","suite":"fake","op":"%s","variant":"v%d",' \
			"$op" $i
		printf '"dtype":"float32","device":"cpu","level":1,'
		printf '"level_reason":"x","capability":"inference",'
		printf '"oracle":"cpu","samples":1,"seed":67}\n'
	done
}

# time_of COMMAND...: seconds, into $s.
time_of()
{
	local t=$EPOCHREALTIME
	"$@" >"$T/out" 2>"$T/err" || { cat "$T/err" >&2; exit 4; }
	t=$((${EPOCHREALTIME/[.,]/} - ${t/[.,]/}))
	s=$((t / 1000000)).$(printf %06d $((t % 1000000)))
}

least() { printf '%s\n' "$@" | sort -g | head -n 1; }

# ratio NAME CASES COMMAND...: print the best times and their ratio.
ratio()
{
	local name=$1 in=$2 i with=() without=()
	shift 2
	for ((i = 0; i < N; i++)); do
		time_of "$@" <"$in"
		without+=("$s")
		time_of cts-isolate -- "$@" <"$in"
		with+=("$s")
	done
	awk -v n="$name" -v a="$(least "${without[@]}")" \
		-v b="$(least "${with[@]}")" 'BEGIN {
		printf "isolate: %s: %.3f s without, %.3f s with, ratio %.3f\n",
			n, a, b, b / a }'
}

if [ -x "$fake" ]; then
	cases 400 ok >"$T/in"
	ratio 'fake, 10 samples of 1 ms' "$T/in" \
		"$fake" --obs 10 --work 1000 --pad 4000
	cases 100 ok >"$T/ok"
	cases 100 ok segv >"$T/bad"
	time_of cts-isolate --zygote "$T/z" "$T/ok" -- "$fake"
	a=$s
	time_of cts-isolate --zygote "$T/z" "$T/bad" -- "$fake"
	awk -v a="$a" -v b="$s" 'BEGIN { printf "isolate: a crash of a fake " \
		"costs %.4f s\n", (b - a) / 50 }'
fi
if [ -x "${CTS_BIN:-$top/bin}/cts-exec" ] &&
    cts-enum --device cpu --level 7 --op '^(add|mul|sum|cat)$' >"$T/real" 2>"$T/err"; then
	ratio "cts-exec, $(grep -c '"kind":"case"' "$T/real") cases" "$T/real" \
		cts-exec --blobs "$T/blobs"
fi
