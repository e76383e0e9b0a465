# run_folder.sh: where a run lies, what it is called, who has it, and how its
# stream is read.  A part of run.sh.
# shellcheck shell=bash disable=SC2154	# run.sh's variables

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

# alive PID: it runs, and is not only waiting to be buried.
alive()
{
	local state=Z
	{ read -r _ _ state _ <"/proc/$1/stat"; } 2>/dev/null || :
	[ "$state" != Z ]
}

# What decides how a run is made and judged, beside its manifest and cases.
kept=(CORPUS GOLDEN TIMEOUT ISOLATE KNOWN_CRASHES CONFIRM ADAPTIVE BASELINE
	WAIVERS REPORT_SKIPS)

# keep_options: so that the run can go on as it began.
keep_options()
{
	local name
	for name in "${kept[@]}"; do
		[ -z "${!name-}" ] || printf '%s\0%s\0' "$name" "${!name}"
	done 2>/dev/null >"$run/.options" || no_room
}

# take_options: as the run began, but for what is said anew.
take_options()
{
	local name value
	[ -f "$run/.options" ] || return 0
	while IFS= read -r -d '' name && IFS= read -r -d '' value; do
		[[ " ${kept[*]} " == *" $name "* ]] || continue
		[ -n "${!name-}" ] || export "$name=$value"
	done <"$run/.options"
	check_variables
}
