#!/bin/bash
# run.sh [FILE...]: run test scripts (*.t) and unit tests, two at a time, and
# count test points.  The last line is "N passed, N failed".  A script that
# dies, has no plan or another number of points than planned has failed once
# more; so has a run with no point at all.  Exits 0 if none failed, else 1.
set -u
cd "$(dirname "$0")/.." || exit 4
unset MAKEFLAGS MAKELEVEL DEVICE LEVEL LEVEL_EXACT LEVEL_RANGE DTYPE OP SUITE \
	CASE MANIFEST BACKEND_IMPORT OUT JOBS SEED SAMPLES TIMEOUT ISOLATE \
	ADAPTIVE KNOWN_CRASHES CONFIRM BASELINE WAIVERS HOSTS SHARD REPORT_SKIPS RUN \
	FROM N CORPUS GOLDEN

build=build
if [ -n "${CTS_SAN-}" ]; then
	# Light tools only; one that embeds Python is taken as it is.
	build=build/san
	export CTS_ROOT=$PWD CTS_BIN=$PWD/build/san/bin
	[ ! -x bin/cts-exec ] || ln -sf "$PWD/bin/cts-exec" "$CTS_BIN/"
	# A finding must look like a crash, never like a status of ours.
	export ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1
	export UBSAN_OPTIONS=print_stacktrace=1:abort_on_error=1
	export LSAN_OPTIONS=exitcode=134
fi
export TAP_DIR=${TAP_DIR:-$build/tap}
rm -rf "$TAP_DIR"
mkdir -p "$TAP_DIR"

# count RC: passed and failed of the TAP on stdin, then what to show.
count()
{
	awk -v rc="$1" '
	/^1\.\.[0-9]+/ { plans++; plan = substr($1, 4) + 0
		if (/# *[Ss][Kk][Ii][Pp]/) skip = $0; next }
	/^ok .*# *[Ss][Kk][Ii][Pp]/ { n++; show = show $0 "\n"; next }
	/^ok/ { n++; good++; hot = 0; next }
	/^not ok/ { n++; bad++; hot = 1; show = show $0 "\n"; next }
	/^#/ { if (hot) show = show "  " $0 "\n" }
	END {
		if (plans != 1) why = "it has no plan"
		else if (plan != n) why = "it planned " plan ", ran " n+0
		else if (rc == 124 || rc == 137) why = "it took too long"
		else if (rc && !bad) why = "it exited " rc
		if (why) { bad++; show = show "not ok - " why "\n" }
		if (skip) show = show skip "\n"
		printf "%d %d\n%s", good, bad, show
	}'
}

one()
{
	local name=${1##*/} rc=0 sum since=$SECONDS
	local tap=$TAP_DIR/$name
	timeout -k 10 "${TEST_TIMEOUT:-900}" "$1" </dev/null \
		>"$tap.tap" 2>"$tap.err" || rc=$?
	count "$rc" <"$tap.tap" >"$tap.sum"
	read -r good bad <"$tap.sum"
	sum=$(sed 1d "$tap.sum")
	[ "$bad" -eq 0 ] || sum+=$'\n'$(tail -n 15 "$tap.err" | sed 's/^/  | /')
	printf '%-32s %5d passed, %d failed, %d s\n%s' "$name" "$good" "$bad" \
		$((SECONDS - since)) "${sum:+$sum$'\n'}"
}
export -f one count

# The long ones have high numbers: they go first.
if [ $# -eq 0 ]; then
	shopt -s nullglob
	set -- tests/*.t "$build"/unit/u-*
	for f; do
		case $f in *.[a-z]*) [ "${f##*.}" = t ] || continue ;; esac
		printf '%s\n' "$f"
	done | sort -t / -k 2r >"$TAP_DIR/list"
else
	printf '%s\n' "$@" >"$TAP_DIR/list"
fi
xargs -r -d '\n' -P "${TEST_JOBS:-2}" -I{} bash -c 'one "$1"' _ {} \
	<"$TAP_DIR/list"

read -r passed failed < <(find "$TAP_DIR" -name '*.sum' -exec head -qn 1 {} + |
	awk '{ p += $1; f += $2 } END { print p + 0, f + 0 }')
[ "$(find "$TAP_DIR" -name '*.sum' | wc -l)" -eq "$(wc -l <"$TAP_DIR/list")" ] ||
	failed=$((failed + 1))
if [ $((passed + failed)) -eq 0 ]; then
	echo 'no test ran'
	failed=1
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
