# run_pool.sh: cases are spread over workers, on this host or others, which are
# watched while they run.  A part of run.sh.
# shellcheck shell=bash disable=SC2154	# run.sh's variables

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

# What a worker on another host has to know.
remote_vars=(DEVICE TIMEOUT ISOLATE KNOWN_CRASHES CTS_RUN CTS_SCRATCH CTS_BIN
	CTS_RESULTS CTS_ROOT CTS_LOAD OMP_NUM_THREADS MKL_NUM_THREADS CORPUS
	GOLDEN)

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
