#!/bin/bash
# A disk that is full in mid-run: the run stops with status 4 and says how to go
# on, and then every case has exactly one result, the one that it would have.
# shellcheck disable=SC2154
. "${0%/*}/lib.sh"
needs torch jq parallel
mkdir disk
trap 'umount "$T/disk" 2>/dev/null; rm -rf "$T"' EXIT
mount -t tmpfs -o size=64k none disk 2>/dev/null || {
	echo '1..0 # SKIP no file system can be mounted here'
	exit 0
}
umount disk
export CTS_RESULTS=$T/results DEVICE=cpu LEVEL=1 SAMPLES=4 JOBS=2
export OP='^(add|mul|neg)$'
run() { bash "$top/lib/run.sh" "$@"; }
outcomes()
{
	zcat -f "$1"/stream.jsonl* | jq -r 'select(.kind == "verdict") |
		"\(.id) \(.outcome)"' | sort
}

OUT=$T/roomy exits 0 'with room for all' run run
outcomes roomy >want
size=$(zcat roomy/stream.jsonl.gz | wc -c)

# full KB NAME: run where there is room for so much, then with more room.
full()
{
	mount -t tmpfs -o "size=$1k" none disk || exit
	OUT=$T/disk/r run run >out 2>err
	rc=$?
	cp err said
	mount -o remount,size=64m disk
	RUN=$T/disk/r run resume >out 2>err
	again=$?
	outcomes disk/r >got 2>/dev/null
}
full $((size / 2 / 1024))
is "$rc" 4 'a disk that is full amid the cases'
like said '^cts-compare: cannot write record: No space left on device$' 'is said'
is "$(tail -n 1 said)" "run: a worker failed; make resume RUN=$T/disk/r tries again" \
	'and what to do'
is "$again" 0 'resume, with room'
cmp_file got want 'each case has its one result'
umount disk

# No room to list the cases: there is nothing to go on with.
full 4
is "$rc" 4 'a disk that is full before a case is run'
is "$again" 4 'is no run'
like err 'that run had not begun' 'and says so'
umount disk
done_testing
