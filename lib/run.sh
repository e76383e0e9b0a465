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

# A record's kind stands at its start, so that nothing needs to parse it.
of_kind()
{
	grep -E "^\{\"v\":1,\"kind\":\"($1)\"," || [ $? -eq 1 ]
}

# read_stream RUN: its records, however they are kept.
read_stream()
{
	case $1 in
	*.gz) gzip -dc "$1" ;;
	*) cat "$1" ;;
	esac
}

# is_golden STREAM: was that compared with another machine's reference?
is_golden()
{
	[ -n "$(read_stream "$1" | of_kind run |
		sed -n '/"reference":"golden: /p')" ]
}

# same_reference RUN STREAM: what was compared with another machine's reference
# is not compared with this one's unasked.
same_reference()
{
	[ -n "${GOLDEN-}" ] || ! is_golden "$2" ||
		die 2 "'$1' has a golden reference: say GOLDEN=file, as before"
}

# find_run RUN: the folder that a folder, stream or reference means.
find_run()
{
	local r=$1 rel
	[ -n "$r" ] || die 2 "say which run: $2=folder"
	case $r in
	*_latest.json)
		rel=$(jq -er .run "$r") || die 3 "$r: not a reference to a run"
		r=$(dirname "$r")/$rel ;;
	*.jsonl | *.jsonl.gz)
		r=$(dirname "$r") ;;
	esac
	[ -d "$r" ] || die 4 "there is no run '$r'"
	printf '%s\n' "$r"
}

stream_of()
{
	local f
	for f in "$1/stream.jsonl" "$1/stream.jsonl.gz"; do
		[ ! -f "$f" ] || { printf '%s\n' "$f"; return; }
	done
	die 4 "there is no stream in '$1': that run had not begun"
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

# A new run starts in a folder without a name: the hardware key, which is
# part of the name, is known when it is enumerated.
start_run()
{
	mkdir -p "$results"
	if [ -n "${OUT-}" ]; then
		run=$OUT
		! compgen -G "$run/stream.jsonl*" >/dev/null ||
			die 2 "OUT='$OUT' holds a run already"
		mkdir -p "$run"
	else
		run=$(mktemp -d "$results/.new.XXXXXX")
		chmod 755 "$run"
		trap 'rm -rf "$run"' EXIT
	fi
}

name_run()
{
	local key dir i=
	key=$(of_kind run <"$run/stream.jsonl" | head -n 1 |
		jq -r '"\(.device)_\(.hardware)"' | tr -c 'A-Za-z0-9._+\n-' -)
	family=$key
	[ -z "${OUT-}" ] || return 0
	mkdir -p "$results/${key}_history"
	dir=$results/${key}_history/$(date -u +%Y%m%dT%H%M%SZ)
	while ! mv -T -n "$run" "$dir$i" || [ -d "$run" ]; do
		i=.$((${i#.} + 1))
	done
	run=$dir$i
	trap - EXIT
}

# The reference to the newest run is replaced whole or not at all.
point_latest()
{
	local rel ref=$results/${family}_latest.json
	rel=$(realpath --relative-to="$results" "$run")
	case $rel in
	../* | /*) return 0 ;;	# a run elsewhere is the caller's affair
	esac
	jq -cn --arg run "$rel" '{v: 1, run: $run}' >"$ref.tmp"
	mv "$ref.tmp" "$ref"
}

# patiently: from here on nothing of ours takes the processor from who uses it
# as soon as there is something to do, but waits for its turn: each such change
# costs the worker its caches.  Where that can't be had, it is slower.
patiently()
{
	chrt --batch --pid 0 "$BASHPID" >/dev/null 2>&1 || :
}

# worker: one pipe, as often as there are jobs.  Its stdout is $CTS_STREAM, to
# which every record is appended by one write.  One zygote serves all workers.
worker()
{
	exec 8>>"$CTS_RUN/.workers"
	flock -s 8
	alive "$CTS_MASTER" || exit 4	# our run.sh: see hold
	work "$CTS_SCRATCH" >>"$CTS_STREAM"
}

# remote: a worker on another host, which has the toolkit and the run's folder
# under the same path.  Its records go home through its stdout.
remote()
{
	local scratch
	patiently
	[ -r "$CTS_RUN/manifest.json" ] ||
		die 4 "$(uname -n) has no '$CTS_RUN'"
	scratch=${TMPDIR:-/tmp}/cts-$(id -u)-${CTS_SCRATCH##*.}
	mkdir -m 700 "$scratch" 2>/dev/null || :
	if [ ! -O "$scratch" ] || [ -L "$scratch" ]; then
		die 4 "'$scratch' is somebody else's"
	fi
	exec 8>"$scratch/.use"
	flock -s 8
	work "$scratch"
	! flock -n 8 || rm -rf "$scratch"	# the last one cleans up
}

# worker_opts SCRATCH: fill iso and exec with what the workers' tools are told.
worker_opts()
{
	iso=(--zygote "$1/z" --runlog "$CTS_RUN/runlog.txt")
	add_opt iso --timeout "${TIMEOUT-}"
	add_opt iso --mode "${ISOLATE-}"
	add_opt iso --known-crashes "${KNOWN_CRASHES-}"
	add_opt iso --device "${DEVICE-}"
	[ ! -s "$CTS_RUN/.history" ] ||
		iso+=(--history "$CTS_RUN/.history")
	exec=(--blobs "$CTS_RUN/blobs")
	add_opt exec --device "${DEVICE-}"
	if [ -n "${GOLDEN-}" ]; then
		exec+=(--golden "$GOLDEN")
	elif [ "${CORPUS:-auto}" != off ]; then
		exec+=(--corpus "${CORPUS:-auto}")
	fi
	add_opt exec --load "${CTS_LOAD-}"
}

# work SCRATCH: cases to verdicts.
work()
{
	local iso exec
	worker_opts "$1"
	# PyTorch itself takes half a gigabyte before the first case.
	add_opt iso --max-memory "$(jq -r '.resource_limits.max_system_memory_mb
		| numbers | ceil + 512' "$CTS_RUN/manifest.json")"
	"$bin/cts-isolate" "${iso[@]}" -- "$bin/cts-exec" "${exec[@]}" |
		"$bin/cts-compare" --manifest "$CTS_RUN/manifest.json" \
		--blobs "$CTS_RUN/blobs"
}

# warm_up CASES: import PyTorch while the workers are still being started.
warm_up()
{
	local iso exec
	worker_opts "$CTS_SCRATCH"
	patiently
	exec "$bin/cts-isolate" --warm-up "${iso[@]}" "$1" -- \
		"$bin/cts-exec" "${exec[@]}" >/dev/null 2>&1
}

# alive PID: it runs, and is not only waiting to be buried.
alive()
{
	local state=Z
	{ read -r _ _ state _ <"/proc/$1/stat"; } 2>/dev/null || :
	[ "$state" != Z ]
}

# hold: nobody else works in the run's folder while we do, nor the workers of a
# run.sh that was killed; these end soon, since their input has ended.
hold()
{
	exec 9>"$run/.lock" 8>"$run/.workers"
	{ flock -n 9 && flock -n 8; } || {
		echo "run: waiting for the last workers in '$run'" >&2
		flock 9
		flock 8
	}
	exec 8>&-
}

# sample_memory: note the most that the workers of this run had in memory,
# together, what they share counted once.  To look takes the more the larger
# they are, and they wait for it: no more than a hundredth of the time.
sample_memory()
{
	local peak now pids since pause
	trap 'exit 0' TERM
	# What ran of it before counts, too.
	peak=$(grep -xE '[0-9]{1,9}' "$CTS_RUN/.peak" 2>/dev/null) || peak=0
	while alive $$; do
		since=${EPOCHREALTIME/[.,]/}
		pids=$(grep -lsz "^CTS_RUN=$CTS_RUN\$" /proc/[0-9]*/environ |
			sed 's/environ$/smaps_rollup/') || :
		# shellcheck disable=SC2086
		now=$(cat $pids /dev/null 2>/dev/null |
			awk '/^Pss:/ { s += $2 } END { print int(s / 1024) }')
		if [ "$now" -gt "$peak" ]; then
			peak=$now
			echo "$peak" >"$CTS_RUN/.peak"
		fi
		pause=$(((${EPOCHREALTIME/[.,]/} - since) * 100 / 1000))
		[ "$pause" -ge 1000 ] || pause=1000
		# Nobody is there to wait yet: a short run has a peak, too.
		[ "$now" -gt 0 ] || pause=100
		sleep "$(printf '%d.%03d' $((pause / 1000)) \
			$((pause % 1000)))" & wait $!
	done
}

# watch_terminal: a terminal that goes tells its session's leader alone; where
# that is make, which waits for us, nobody tells us.
watch_terminal()
{
	trap 'exit 0' TERM
	while alive $$ && [ -t 2 ]; do
		sleep 1 & wait $!
	done
	kill -HUP $$ 2>/dev/null || :
}

# earlier: which cases died in earlier runs like this one, for the workers.
earlier()
{
	local dir=$results/${family}_history torch
	rm -f "$CTS_RUN/.history"
	case ${ADAPTIVE:-auto} in
	auto) ;;
	off) return 0 ;;
	esac
	[ -d "$dir" ] || return 0
	torch=$(of_kind run <"$run/stream.jsonl" | head -n 1 |
		jq -r '.torch // empty')
	"$bin/cts-isolate" --list-history ${torch:+--torch "$torch"} "$dir" \
		>"$CTS_RUN/.history"
}

# What a worker on another host has to know.
remote_vars=(DEVICE TIMEOUT ISOLATE KNOWN_CRASHES CTS_RUN CTS_SCRATCH CTS_BIN
	CTS_RESULTS CTS_ROOT CTS_LOAD OMP_NUM_THREADS MKL_NUM_THREADS CORPUS
	GOLDEN)

# spread N CASES: so that each of the cases that take long begins a block of N,
# from the first block on: no worker gets many, and none is the last to run.
spread()
{
	grep -qF '"cost":"high"' "$2" || return 0
	awk -v n="$1" '
	/"cost":"high"/ { if (NR == FNR) long[have++] = $0; next }
	NR == FNR { next }
	{
		for (; put < have && at % n == 0; at++)
			print long[put++]
		print
		at++
	}
	END { while (put < have) print long[put++] }' "$2" "$2" >"$2.new" ||
		no_room
	mv "$2.new" "$2"
}

# execute STAGE CASES STREAM: run cases through the workers, into the stream.
execute()
{
	local rc=0 since=$EPOCHREALTIME total helpers=() job how name block
	total=$(wc -l <"$2")
	CTS_RUN=$(realpath "$run")
	CTS_STREAM=$(realpath "$3")
	CTS_SCRATCH=$(mktemp -d)	# a socket's path has to be short
	CTS_MASTER=$$
	export CTS_RUN CTS_STREAM CTS_SCRATCH CTS_MASTER
	CTS_LOAD=
	! grep -q -m 1 '"variant":"jvp"' "$2" || CTS_LOAD=jvp
	export CTS_LOAD
	# Workers share the cores among them already.
	export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
	earlier
	trap 'stopped=1; kill -TERM "$job" 2>/dev/null || :' INT TERM HUP
	if [ -z "${HOSTS-}" ]; then
		warm_up "$2" 9>&- &
		helpers+=($!)
	fi
	sample_memory 9>&- &
	helpers+=($!)
	if [ -t 2 ]; then
		watch_terminal 9>&- &
		helpers+=($!)
		"$bin/cts-report" --follow "$total" "$3" >&2 9>&- &
		helpers+=($!)
	fi
	# Some dozens of blocks a worker, so that all end at about one time.
	block=$((total / jobs / 32))
	[ "$block" -ge 1 ] || block=1
	[ "$block" -le 64 ] || block=64
	spread "$block" "$2"
	# A worker that fails has met the end of the world, not a bad case.
	# To stop at a lost terminal is for us to say, not for parallel.
	how=(--will-cite --pipe --round-robin -N "$block" --jobs "$jobs"
		--halt "now,fail=1" --joblog "$run/joblog.tsv")
	if [ -z "${HOSTS-}" ]; then
		(
			trap '' HUP
			patiently
			exec setpriv --pdeathsig KILL parallel "${how[@]}" \
				--ungroup bash lib/run.sh worker
		) <"$2" 9>&- &
	else
		for name in "${remote_vars[@]}"; do
			[ -z "${!name-}" ] || how+=(--env "$name")
		done
		(
			trap '' HUP
			exec setpriv --pdeathsig KILL parallel "${how[@]}" \
				--line-buffer --sshlogin "$HOSTS" \
				--workdir "$top" bash lib/run.sh remote
		) <"$2" >>"$3" 9>&- &
	fi
	job=$!
	wait "$job" || rc=$?
	[ -z "$stopped" ] || { wait "$job" || :; }
	kill "${helpers[@]}" 2>/dev/null || :
	wait "${helpers[@]}" 2>/dev/null || :
	rm -rf "$CTS_SCRATCH"
	trap - INT TERM HUP
	stage "$1" "$since"
	[ "$rc" -eq 0 ] || [ -n "$stopped" ] || rc=$(awk -F '\t' \
		'NR > 1 && $7 { rc = $7; exit }
		END { print (rc > 0 && rc < 128 ? rc : 4) }' \
		"$run/joblog.tsv")
	[ "$rc" -ne 0 ] || rm -f "$run/joblog.tsv"
	[ "$rc" -ne 255 ] || rc=4	# ssh reached nobody
	return "$rc"
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
		rm -f "$run/stream.jsonl" "$run/.lock" "$run/.workers"
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
