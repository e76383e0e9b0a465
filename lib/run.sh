#!/bin/bash
# run.sh VERB: what `make VERB` does around the tools: it names the run's
# folder, joins the pipes, spreads them over workers, and keeps nothing that a
# tool could.  `make help` lists the variables; an empty one is not set.
#
# Reads the environment; writes the run's folder.  Exit status: that of
# cts-report (0 conformant, 1 not), of the tool that failed (2, 3, 4), or 130
# when it was stopped; then the run can be resumed.
set -eu -o pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8

top=$PWD
bin=${CTS_BIN:-$top/bin}
results=${CTS_RESULTS:-results}
jobs=${JOBS:-$(nproc)}
run=			# the run's folder
began=$EPOCHREALTIME
stopped=

. lib/run_folder.sh
. lib/run_pool.sh

die()
{
	printf 'run: %s\n' "$2" >&2
	exit "$1"
}

# What this script itself can't write is no fault of the device.
no_room()
{
	die 4 "cannot write in '$run'; make resume RUN=$(quoted "$run") tries \
again"
}

# one_of NAME WORD...: the variable is empty or one of the words.
one_of()
{
	local name=$1 word
	shift
	for word in '' "$@"; do
		[ "${!name-}" != "$word" ] || return 0
	done
	word=$*
	die 2 "$name is ${word/ / or }, not '${!name}'"
}

# number NAME LEAST: the variable is empty or a whole number, not below LEAST.
number()
{
	local value=${!1-}
	[ -n "$value" ] || return 0
	if [[ ! $value =~ ^[0-9]{1,9}$ ]] || [ "$((10#$value))" -lt "$2" ]; then
		die 2 "$1 is a whole number from $2, not '$value'"
	fi
}

# What would only be found out when workers fail over it.
check_variables()
{
	[ -z "${GOLDEN-}" ] || [ -r "$GOLDEN" ] || [ -n "${HOSTS-}" ] ||
		die 4 "unable to read GOLDEN='$GOLDEN'"
	one_of CONFIRM auto off
	one_of ADAPTIVE auto off
	one_of ISOLATE batch case
	one_of KNOWN_CRASHES isolate off
	number JOBS 1
	number N 1
	[[ -z ${TIMEOUT-} || $TIMEOUT =~ ^[0-9]{1,9}(\.[0-9]{1,3})?$ ]] ||
		die 2 "TIMEOUT is a number of seconds, not '$TIMEOUT'"
}

# A path as it can be typed.
quoted() { printf '%q' "$1"; }

# seconds SINCE: from an $EPOCHREALTIME until now.
seconds()
{
	local us=$((${EPOCHREALTIME/[.,]/} - ${1/[.,]/}))
	printf '%d.%03d' $((us / 1000000)) $((us / 1000 % 1000))
}

# stage NAME SINCE: note how long it took.
stage()
{
	printf '{"stage":"%s","t_s":%s}\n' "$1" "$(seconds "$2")" \
		2>/dev/null >>"$run/stages.jsonl" || no_room
}

# add_opt ARRAY FLAG VALUE: append both where VALUE is not empty.
add_opt()
{
	local -n array=$1
	[ -z "$3" ] || array+=("$2" "$3")
}

# select_opts: fill sel with what narrows the run.
select_opts()
{
	local p picks
	sel=()
	add_opt sel --level-exact "${LEVEL_EXACT-}"
	add_opt sel --level-range "${LEVEL_RANGE-}"
	add_opt sel --level "${LEVEL-}"
	# A manifest of the user's own says how far it goes.
	[ "${#sel[@]}" -gt 0 ] || [ -n "${MANIFEST-}" ] || sel+=(--level 1)
	add_opt sel --op "${OP-}"
	add_opt sel --suite "${SUITE-}"
	add_opt sel --case "${CASE-}"
	add_opt sel --seed "${SEED-}"
	add_opt sel --max-samples "${SAMPLES-}"
	add_opt sel --shard "${SHARD-}"
	add_opt sel --limit "${LIMIT-}"
	add_opt sel --start-at "${START_AT-}"
	add_opt sel --start-after "${START_AFTER-}"
	add_opt sel --memory-mode "${MEMORY_MODE-}"
	add_opt sel --max-device-memory "${MAX_DEVICE_MEMORY-}"
	add_opt sel --max-tensor-size "${MAX_TENSOR_SIZE-}"
	read -ra picks <<<"${PICK-}"
	for p in "${picks[@]}"; do
		sel+=(--pick "$p")
	done
	[ "$verb" != validate ] || sel+=(--validate)
}

# resolve: the manifest in force, to $run/manifest.json.
resolve()
{
	local opts=() d dtypes=${DTYPE-} since=$EPOCHREALTIME
	add_opt opts --device "${DEVICE-}"
	for d in ${dtypes//,/ }; do
		opts+=(--dtype "$d")
	done
	[ -z "${BACKEND_IMPORT-}" ] || opts+=(--import "$BACKEND_IMPORT")
	[ -n "${MANIFEST-}${DEVICE-}" ] || opts+=(--device cpu)
	"$bin/cts-manifest" resolve "${opts[@]}" ${MANIFEST:+"$MANIFEST"} \
		>"$run/manifest.json"
	if [ "$verb" = validate ]; then
		jq --tab '.note = "The toolkit against itself, CPU alone."' \
			"$run/manifest.json" >"$run/.manifest"
		mv "$run/.manifest" "$run/manifest.json"
	fi
	stage resolve "$since"
}

# enumerate: what is to run and what is not, as the first of the stream; which
# is there when all of that is.
enumerate()
{
	local since=$EPOCHREALTIME
	select_opts
	"$bin/cts-enum" --manifest "$run/manifest.json" "${sel[@]}" \
		>"$run/.stream"
	mv "$run/.stream" "$run/stream.jsonl"
	name_device
	stage enum "$since"
}

# name_device: where the manifest says "auto", which one that turned out to be.
name_device()
{
	local name
	[ "$(jq -r .device_name "$run/manifest.json")" = auto ] || return 0
	name=$(of_kind run <"$run/stream.jsonl" | head -n 1 | jq -r .device)
	jq --tab --arg name "$name" '.device_name = $name' \
		"$run/manifest.json" >"$run/.manifest"
	mv "$run/.manifest" "$run/manifest.json"
}

# run_cases: those in $run/.cases; then each failure once more, alone in a
# fresh process, to know whether it depends on what ran before it.
run_cases()
{
	execute exec "$run/.cases" "$run/stream.jsonl" || return
	case ${CONFIRM:-auto} in
	auto) ;;
	off) return 0 ;;
	esac
	bad_cases "$run/stream.jsonl" >"$run/.cases"
	[ -s "$run/.cases" ] || return 0
	: >"$run/.again"
	ISOLATE=case execute confirm "$run/.cases" "$run/.again" || return
	"$bin/cts-isolate" --settle "$run/.again" "$run/stream.jsonl" \
		>"$run/.settled" || return
	rm -f "$run/.again" "$run/.settled"
}

# finish RC: report, and pack what is complete.
finish()
{
	local rc=0 worst=$1 since=$EPOCHREALTIME
	printf '{"t_wall_s":%s,"peak_pss_mb":%s}\n' "$(seconds "$began")" \
		"$(cat "$run/.peak" 2>/dev/null || echo 0)" \
		2>/dev/null >>"$run/stages.jsonl" || no_room
	rm -f "$run/.peak" "$run/.cases" "$run/.again" "$run/.settled" \
		"$run/.history"
	report=()
	[ -z "$stopped" ] && [ "$worst" -eq 0 ] || report+=(--partial)
	add_opt report --baseline "${BASELINE-}"
	add_opt report --waivers "${WAIVERS-}"
	case ${REPORT_SKIPS-} in
	"" | 0 | no | off) ;;
	*) report+=(--skips) ;;
	esac
	"$bin/cts-report" "${report[@]}" "$run" || rc=$?
	if [ -f "$run/summary.json" ] &&
	    jq -e .complete "$run/summary.json" >/dev/null; then
		gzip -nc "$run/stream.jsonl" 2>/dev/null \
			>"$run/stream.jsonl.gz.tmp" || no_room
		mv "$run/stream.jsonl.gz.tmp" "$run/stream.jsonl.gz"
		rm -f "$run/stream.jsonl" "$run/.lock" "$run/.workers" \
			"$run/.options"
	fi
	point_latest
	if [ -n "$stopped" ]; then
		die 130 "stopped; make resume RUN=$(quoted "$run") goes on from \
here"
	elif [ "$worst" -ne 0 ]; then
		die "$worst" "a worker failed; make resume RUN=$(quoted "$run") tries \
again"
	fi
	return "$rc"
}

do_run()
{
	local rc=0
	start_run
	resolve
	enumerate
	name_run
	keep_options
	hold
	of_kind case <"$run/stream.jsonl" >"$run/.cases" || no_room
	run_cases || rc=$?
	finish "$rc"
}

# What a stopped run left half done is taken out, then run again.
do_resume()
{
	local rc=0 s
	run=$(find_run "${RUN-}" RUN)
	s=$(stream_of "$run")
	family=$(basename "$(dirname "$(realpath "$run")")")
	family=${family%_history}
	case $s in
	*.gz) die 2 "'$run' is complete; make rerun FROM=$(quoted "$run") \
runs failures" ;;
	esac
	take_options
	same_reference "$run" "$s"
	hold
	"$bin/cts-isolate" --resume "$s" >"$run/.cases"
	# It goes on as it began.
	DEVICE=$(jq -r .device_name "$run/manifest.json")
	export DEVICE
	run_cases || rc=$?
	finish "$rc"
}

# derive FROM FILTER: a new run over records of an old one.
derive()
{
	local from s
	from=$(find_run "$1" "$2")
	s=$(stream_of "$from")
	start_run
	cp "$from/manifest.json" "$run/"
	read_stream "$s" >"$run/.old"
}

# promise OLD: begin a run of the cases in $run/.cases, as the stream OLD
# began that they come from.
promise()
{
	local old=$1
	[ -s "$run/.cases" ] || die 2 "there is nothing bad in '$RUN'"
	of_kind run <"$old" | head -n 1 | jq -c --argjson n \
		"$(wc -l <"$run/.cases")" '.cases = $n | .accounts = {}' \
		>"$run/stream.jsonl"
	cat "$run/.cases" >>"$run/stream.jsonl"
	DEVICE=${DEVICE:-$(jq -r .device_name "$run/manifest.json")}
	export DEVICE
}

# bad_cases STREAM: the case records of what did not pass.
bad_cases()
{
	"$bin/cts-report" --failed --records "$1" || [ $? -eq 1 ]
}

do_rerun()
{
	local rc=0 name
	for name in SEED LEVEL LEVEL_EXACT LEVEL_RANGE DTYPE OP SUITE CASE \
		SAMPLES SHARD MANIFEST; do
		[ -z "${!name-}" ] || die 2 "rerun takes the run's own $name"
	done
	RUN=${FROM-}
	derive "$RUN" FROM
	same_reference "$RUN" "$run/.old"
	bad_cases "$run/.old" >"$run/.cases"
	promise "$run/.old"
	rm -f "$run/.old"
	name_run
	keep_options
	run_cases || rc=$?
	finish "$rc"
}

# scripts FROM: in its folder repro/, a program for each thing that is broken
# and each rule that is a candidate, as far as there can be one.
scripts()
{
	local id f n=0
	mkdir -p "$1/repro"
	while read -r id; do
		f=$1/repro/${id//\//-}.py
		[ $((n += 1)) -le "${SCRIPTS:-20}" ] || {
			echo "run: no more than ${SCRIPTS:-20} programs" >&2
			break
		}
		if FROM=$1 CASE=$id SAMPLE='' bash lib/run.sh repro \
		    >"$f.tmp" </dev/null; then
			mv "$f.tmp" "$f"
		else
			rm -f "$f.tmp"
		fi
	done < <({
		jq -r .match "$1/known-crash-candidates.jsonl"
		[ ! -f "$1/summary.json" ] ||
			jq -r '.failures[]?.first' "$1/summary.json" |
			grep -xF -f <(jq -r 'select(.class == "reproducible") |
				.id' "$1/triage.jsonl")
	} | awk '!seen[$0]++')
}

# Run what was bad N times more, each case in a process of its own, and say of
# each whether that is how it always goes.
do_triage()
{
	local from s old n=${N:-3} i again=()
	from=$(find_run "${RUN-}" RUN)
	s=$(stream_of "$from")
	family=none
	same_reference "$from" "$s"
	old=$(mktemp)
	# shellcheck disable=SC2064	# as it is now
	trap "rm -f '$old'" EXIT
	read_stream "$s" >"$old"
	bad_cases "$old" | grep -q . || die 2 "there is nothing bad in '$from'"
	export ISOLATE=case
	for ((i = 1; i <= n; i++)); do
		run=$from/triage/$i
		rm -rf "$run"
		mkdir -p "$run"
		cp "$from/manifest.json" "$run/"
		bad_cases "$old" >"$run/.cases"
		promise "$old"
		execute exec "$run/.cases" "$run/stream.jsonl" ||
			[ -n "$stopped" ] || exit
		[ -z "$stopped" ] || die 130 'stopped'
		rm -f "$run/.cases" "$run/.peak" "$run/.history"
		again+=("$run/stream.jsonl")
	done
	"$bin/cts-isolate" --triage \
		--candidates "$from/known-crash-candidates.jsonl" \
		"$old" "${again[@]}" >"$from/triage.jsonl"
	scripts "$from"
	jq -r '[.class, .rate, .outcome, .id] | @tsv' "$from/triage.jsonl" |
		sort | column -t -s $'\t'
}

# tries: a pipe that stays, from a case tried in some way to its verdict.
tries()
{
	local iso=(--silence 10 --known-crashes off)
	add_opt iso --timeout "${TIMEOUT:-20}"
	# Whoever waits for a verdict learns of the end of either.
	exec > >(exec "$bin/cts-compare" --blobs "$CTS_RUN/blobs" \
		--manifest "$CTS_RUN/manifest.json")
	exec "$bin/cts-isolate" "${iso[@]}" -- "$bin/cts-exec" --no-trace \
		--blobs "$CTS_RUN/blobs"
}

# A program that shows by itself how CASE fails, with an input as small as it
# can be: on standard output.
do_repro()
{
	local from s one=()
	[ -n "${CASE-}" ] || die 2 'say which case: CASE=id'
	run=$(mktemp -d)
	trap 'rm -rf "$run"' EXIT
	if [ -n "${FROM-}" ]; then
		from=$(find_run "$FROM" FROM)
		s=$(stream_of "$from")
		! is_golden "$s" || printf 'run: %s\n' "'$from' has a golden \
reference, this program compares with the CPU it runs on" >&2
		cp "$from/manifest.json" "$run/"
	else
		resolve
		LEVEL=${LEVEL:-8} enumerate
		s=$run/stream.jsonl
	fi
	add_opt one --sample "${SAMPLE-}"
	export CTS_RUN=$run OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
	"$bin/cts-isolate" --shrink "$CASE" "${one[@]}" "$s" -- \
		bash lib/run.sh tries >"$run/small"
	"$bin/cts-exec" --script "$run/small" >"$run/script"
	cat "$run/script"
}

do_rejudge()
{
	local since from
	derive "${RUN-}" RUN
	from=$(find_run "$RUN" RUN)
	if [ -n "${MANIFEST-}" ]; then
		"$bin/cts-manifest" resolve "$MANIFEST" >"$run/manifest.json"
	fi
	[ ! -d "$from/blobs" ] || cp -R "$from/blobs" "$run/"
	since=$EPOCHREALTIME
	"$bin/cts-compare" --manifest "$run/manifest.json" "$run/.old" \
		>"$run/stream.jsonl"
	rm -f "$run/.old"
	stage compare "$since"
	name_run
	finish 0
}

# The toolkit tests itself: with the CPU on both sides, all must pass.
do_validate()
{
	case ${DEVICE:-cpu} in
	cpu) ;;
	*) die 2 "validate is for the CPU alone, not for '$DEVICE'" ;;
	esac
	export DEVICE=cpu
	do_run
}

# What is kept of PyTorch is forgotten and made again.
do_sync()
{
	[ "${CORPUS:-auto}" = auto ] ||
		die 2 "sync-opinfo is about the cache, not CORPUS='$CORPUS'"
	"$bin/cts-exec" --forget
	OUT=$(mktemp -d)
	trap 'rm -rf "$OUT"' EXIT
	export OUT DEVICE=cpu
	bash lib/run.sh run
}

# in_scratch COMMAND...: with the manifest in force, and no run.
in_scratch()
{
	run=$(mktemp -d)
	trap 'rm -rf "$run"' EXIT
	resolve
	"$@"
}

show_skips()
{
	select_opts
	"$bin/cts-enum" --manifest "$run/manifest.json" "${sel[@]}" --table
}

# Is each rule of the ledger of known crashes still about something?
crash_audit()
{
	"$bin/cts-enum" --manifest "$run/manifest.json" --level 8 |
		"$bin/cts-isolate" --audit
}

# Probes are notes beside the results: they never change what runs.
probe()
{
	local key
	key=$(jq -r .device_name "$run/manifest.json" |
		tr -c 'A-Za-z0-9._+\n-' -)_$(uname -m)
	mkdir -p "$results"
	"$bin/cts-manifest" probe --manifest "$run/manifest.json" \
		--output "$results/${key}_probes.jsonl" \
		--failures "$results/${key}_probe_failures.jsonl"
}

# A device that misbehaves as told; well if all of it is found.
do_demo()
{
	local rc=0
	run=$results/demo
	rm -rf "$run"
	mkdir -p "$results"
	DEVICE=refdev LEVEL=2 OP='^(add|mul|sub|t)$' SAMPLES=3 OUT=$run \
		CTS_REFDEV_FAULTS=$top/tests/refdev/demo.jsonl \
		bash lib/run.sh run || rc=$?
	[ "$rc" -eq 1 ] || die 4 "the misbehaving device came to $rc, not 1"
	jq -e '.counts | .fail > 0 and .crash == 1 and
		.pass + .fail + .crash == .cases' "$run/summary.json" \
		>/dev/null || die 4 "the faults were not found, see $run"
	printf '\n%s\n' "So does a device look that adds wrongly, copies where \
a view is due, and crashes once
(tests/refdev/demo.jsonl).  Every other case has its result.  More in
$run/report.md"
}

verb=${1-}
check_variables
case $verb in
run) do_run ;;
validate) do_validate ;;
sync-opinfo) do_sync ;;
show-skips) in_scratch show_skips ;;
probe) in_scratch probe ;;
crash-audit) in_scratch crash_audit ;;
resume) do_resume ;;
rerun) do_rerun ;;
rejudge) do_rejudge ;;
demo) do_demo ;;
triage) do_triage ;;
repro) do_repro ;;
tries) tries ;;
worker) worker ;;
remote) remote ;;
*) die 2 "unknown verb '$verb'" ;;
esac
