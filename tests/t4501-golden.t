#!/bin/bash
# Results of one machine's reference are recorded, and a device of another is
# compared with them.
. "${0%/*}/lib.sh"
needs torch jq python3

exits 0 'cases' cts-enum -d cpu -l 2 --max-samples 4 --dtype float32 \
	--op '^(add|mul|sort|linalg.svd|rand_like|split|empty_like)$'
grep '"kind":"case"' out >cases
exits 0 'are recorded' cts-exec -d cpu --record golden.cts cases
mv out recording
ok 'in a file' test -s golden.cts
is "$(ls ./golden.cts*)" ./golden.cts 'and nothing beside it'
exits 0 'the same stream' cts-exec -d cpu cases
strip() { grep -v '"role":"worker"' "$1" |
	sed -E 's/,"t_[a-z_]+":[0-9.e+-]+|,"live":[0-9]+//g'; }
strip out >want
strip recording >got
cmp_file got want 'as of any other run'

# elsewhere WHAT TO: golden.cts as if its head said TO in place of WHAT.
elsewhere()
{
	python3 - "$1" "$2" <<-\END
	import struct, sys, zlib
	b = bytearray(open("golden.cts", "rb").read())
	n = struct.unpack_from("I", b, 16)[0]
	text = bytes(b[24:24 + n]).replace(*(a.encode() for a in sys.argv[1:]))
	assert len(text) == n and text != b[24:24 + n]
	b[24:24 + n] = text
	struct.pack_into("I", b, 20, zlib.crc32(text))
	open("other.cts", "wb").write(b)
	END
}
elsewhere "cpu $(uname -m)" "cpu $(uname -m | tr a-z0-9 b-za1-90)"
exits 0 'on another machine' cts-exec -d refdev --golden other.cts cases
mv out played
is "$(jq -r 'select(.role == "worker").reference' played | cut -d ' ' -f 1-3)" \
	"golden: cpu $(uname -m | tr a-z0-9 b-za1-90)" \
	'the stream says whose reference it was'
times() { jq -c 'select(.kind == "obs") | [.id, .sample, .t_ref_us]' "$1"; }
times recording >want
times played >got
cmp_file got want 'and what it took there: nothing was computed again'
exits 0 'judged' cts-compare -e played
is "$(jq -r 'select(.kind == "verdict").outcome' out | sort -u)" pass \
	'all pass'
CTS_REFDEV_FAULTS=$top/tests/refdev/demo.jsonl \
	cts-exec -d refdev --golden other.cts cases >played 2>err
exits 1 'a device that adds wrongly' cts-compare -e played
ok 'is seen' jq -se 'any(.[]; .kind == "verdict" and .outcome == "fail" and
	.op == "add")' out
ok 'against the recorded float64 result' jq -se 'any(.[]; .kind == "obs" and
	.op == "add" and .hp)' played

head -n 1 cases | jq -c '.seed = 68' >else
exits 0 'a case that is not in it' cts-exec -d refdev --golden golden.cts else
is "$(jq -r 'select(.kind == "end").error.message' out)" \
	'the golden corpus has no such case (seed 68, at most 4 samples)' \
	'is an error of that case'
# spoil KEY: a bit of what golden.cts has under KEY is another in other.cts.
spoil()
{
	python3 - "$1" <<-\END
	import sys
	b = bytearray(open("golden.cts", "rb").read())
	b[b.index(sys.argv[1].encode()) + len(sys.argv[1]) + 5] ^= 1
	open("other.cts", "wb").write(b)
	END
}
id=$(head -n 1 cases | jq -r .id)
for hp in '' ' hp'; do
	spoil "$id seed=67 samples=4$hp"
	exits 0 "a damaged entry '$hp'" cts-exec -d refdev --golden other.cts \
		cases
	is "$(jq -r 'select(.kind == "end" and .error) |
		.id + ": " + .error.message' out)" "$id: the golden corpus is \
damaged at this case (seed 67, at most 4 samples)" 'is an error of its case'
	is "$(cat err)" 'cts-exec: warning: other.cts: an entry is damaged' \
		'and said once'
done
elsewhere 'torch 2' 'torch 9'
exits 3 'of another PyTorch' cts-exec -d refdev --golden other.cts cases
errline '^cts-exec: other.cts: recorded with another PyTorch, .9.* expected' \
	'it is refused'
head -c -1 golden.cts >cut.cts
exits 3 'a cut file' cts-exec -d refdev --golden cut.cts cases
errline '^cts-exec: cut.cts: torn after [0-9]+ entries$' 'is refused'
exits 4 'no file' cts-exec -d refdev --golden none.cts cases
errline "^cts-exec: unable to read 'none.cts': No such file" 'is an error'
exits 4 'no place to record' cts-exec -d cpu --record /dev/null/x cases
errline "^cts-exec: unable to create '/dev/null/x'" 'is an error'
# Where there is room for no more than the head, and a file system to be had.
mkdir disk
if mount -t tmpfs -o size=8k none disk 2>/dev/null; then
	exits 4 'a disk that is full' cts-exec -d cpu --record disk/new.cts cases
	is "$(cat err)" "cts-exec: unable to write 'disk/new.cts': No space left \
on device" 'is said in one line'
	is "$(ls -A disk)" '' 'and leaves no file'
	umount disk
fi
exits 3 'a stream that is cut' cts-exec -d cpu --record new.cts <<<'{"v":1'
ok 'leaves no file' test ! -e new.cts

exits 0 'make run with it' env DEVICE=refdev LEVEL=1 DTYPE=float32 SAMPLES=4 \
	OP='^(add|mul)$' GOLDEN="$T/golden.cts" OUT="$T/run" JOBS=2 \
	bash "$top/lib/run.sh" run
mkdir cut
zcat run/stream.jsonl.gz >cut/stream.jsonl
cp run/manifest.json cut/
exits 2 'resumed without it' env RUN="$T/cut" bash "$top/lib/run.sh" resume
errline '^run: .*cut. has a golden reference: say GOLDEN=file' 'is refused'
exits 1 'a run that it fails' env DEVICE=refdev LEVEL=1 DTYPE=float32 SAMPLES=4 \
	OP='^(add|sub)$' GOLDEN="$T/golden.cts" OUT="$T/bad" JOBS=2 \
	bash "$top/lib/run.sh" run
like bad/report.md 'make run .* GOLDEN=file' 'says how it is seen again'
for verb in rerun triage; do
	exits 2 "$verb without it" env RUN="$T/bad" FROM="$T/bad" \
		bash "$top/lib/run.sh" $verb
	errline '^run: .*bad. has a golden reference: say GOLDEN=file' 'is refused'
done
exits 1 'a rerun with it' env FROM="$T/bad" GOLDEN="$T/golden.cts" OUT="$T/re" \
	JOBS=1 bash "$top/lib/run.sh" rerun
is "$(jq -r .reference re/summary.json | cut -c 1-12)" 'golden: cpu ' \
	'has the same reference'
echo '{"op":"mul.Tensor","do":"scale"}' >plan
exits 1 'a case that fails' env DEVICE=refdev LEVEL=1 DTYPE=float32 SAMPLES=4 \
	OP='^mul$' GOLDEN="$T/golden.cts" OUT="$T/lies" JOBS=1 \
	CTS_REFDEV_FAULTS="$T/plan" bash "$top/lib/run.sh" run
CTS_REFDEV_FAULTS=$T/plan exits 0 'as a program' env FROM="$T/lies" \
	CASE=opinfo/mul/float32/plain bash "$top/lib/run.sh" repro
errline '^run: .*lies. has a golden reference, this program compares with' \
	'whose reference is told'
exits 4 'a run without the file' env DEVICE=refdev LEVEL=1 GOLDEN=none.cts \
	OUT="$T/no" bash "$top/lib/run.sh" run
errline "^run: unable to read GOLDEN='none.cts'" 'does not begin'
is "$(jq -r .reference run/summary.json | cut -c 1-12)" 'golden: cpu ' \
	'says so in its summary'
done_testing
