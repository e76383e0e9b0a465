#!/bin/bash
# What is recorded comes back the same, value by value and record by record,
# however many workers there are and whatever happened to the corpus.
. "${0%/*}/lib.sh"
needs torch jq parallel

CTS_ROOT=$top PYTHONPATH=$top/tests/freeze \
	exits 0 'values of all kinds' "$top/build/freeze/roundtrip" values
is "$(grep -c '^not ok' out)" 0 'all come back the same, or are refused'
ok 'there were many' test "$(grep -c '^ok' out)" -gt 60

# records FILE: all but who did it and how long it took, in one order.
records()
{
	zcat -f "$1" | grep -v '"role":"worker"' |
		sed -E 's/,"t_[a-z_]+":[0-9.e+-]+//g' | sort
}
note() { jq -r 'select(.role == "worker").corpus.note // empty' "$1"; }
entries() { jq 'select(.role == "worker").corpus.entries' "$1"; }

ops='^(add|cat|sort|index_put|__getitem__|linalg.svd|nn.functional.dropout|'
ops+='nn.functional.batch_norm|rand_like|empty_like|to_sparse|split|'
ops+='nn.functional.triplet_margin_with_distance_loss|transpose|conj)$'
exits 0 'cases' cts-enum -d cpu -l 5 --max-samples 4 --op "$ops" \
	--dtype float32 --dtype complex64 --dtype int64
grep '"kind":"case"' out | shuf --random-source=/dev/zero -n 300 >cases
is "$(wc -l <cases)" 300 'of many forms'

exits 0 'without a corpus' cts-exec --corpus off cases
ok 'nothing is kept' test ! -e off
grep -v '"role":"worker"' out | sed -E 's/,"live":[0-9]+//' >plain
exits 0 'cold' cts-exec --corpus corpus cases
records out >cold
is "$(entries out)" 0 'nothing was recorded'
sed -E 's/,"live":[0-9]+//' cold >got
records plain >want
cmp_file got want 'a corpus changes no record'
like cold '"end".*"live":[1-9]' 'what has a callable of its own is live'
exits 0 'warm' cts-exec --corpus corpus cases
records out >got
cmp_file got cold 'the same records'
ok 'all cases were recorded' test "$(entries out)" -ge 300
head -n 120 cases >one
tail -n +121 cases | shuf --random-source=/dev/zero >two
cts-exec --corpus corpus two >parts 2>err
cts-exec --corpus corpus one >>parts 2>>err
records parts >got
cmp_file got cold 'in two processes and another order, the same'
exits 0 'one sample alone' cts-exec --corpus corpus <(head -n 1 cases |
	jq -c '.sample = 1')
exits 0 'other samples' cts-exec --corpus corpus <(head -n 1 cases |
	jq -c '.seed = 68')
is "$(grep -c '"kind":"obs"' out)" \
	"$(head -n 1 cases | cts-exec | grep -c '"kind":"obs"')" \
	'another seed is another entry'

# PyTorch makes the samples of meshgrid in the order of a set of strings.
exits 0 'of a set' cts-enum -d cpu --op meshgrid --dtype float32 --level 2 \
	--limit 1
grep '"kind":"case"' out >drawn
for seed in 1 4 5; do
	PYTHONHASHSEED=$seed cts-exec drawn 2>err | jq -r .args >drawn.$seed
done
ok 'a set was seen' grep -q xy drawn.1
cmp_file drawn.4 drawn.1 "the samples don't depend on how strings are hashed"
cmp_file drawn.5 drawn.1 'nor does their order'

# What nobody wrote differs from process to process, and is in no record, even
# where PyTorch's own kernel reads it.
exits 0 'of memory as it is' cts-enum -d cpu -l 5 --dtype float32 \
	--op '^(new_empty_strided|resize_as_|empty_like|linalg.lstsq)$'
grep '"kind":"case"' out >memory
ok 'and of what reads such' grep -q '"op":"linalg.lstsq"' memory
exits 0 'once' cts-exec memory
records out >want
MALLOC_PERTURB_=85 exits 0 'and again, of other memory' cts-exec memory
records out >got
cmp_file got want 'the same records'

# The device differs, so that float64 results are made, recorded, and found.
export CTS_REFDEV_FAULTS=$top/tests/refdev/demo.jsonl
grep '"op":"add"' cases | grep float32 | head -n 20 >adds
exits 0 'on a device that adds wrongly' cts-exec -d refdev --corpus hp adds
records out >cold.hp
like cold.hp '"hp":' 'there are float64 results'
exits 0 'once more' cts-exec -d refdev --corpus hp adds
records out >got
cmp_file got cold.hp 'the same records'

# What a cut takes is recorded again by the run that misses it, float64 results
# and all; what is before the cut stays.
is "$(find hp -name '*.seg' | wc -l)" 1 'recorded in one segment'
seg=$(basename hp/*.seg)
whole=$(entries out)
size=$(stat -c %s "hp/$seg")
for at in 4 $((size / 3)) $((size / 2)) $((size - 1)); do
	rm -rf torn
	cp -r hp torn
	truncate -s "$at" "torn/$seg"
	exits 0 "cut after $at of $size bytes" \
		cts-exec -d refdev --corpus torn adds
	left=$(entries out)
	ok 'something is lost' test "$left" -lt "$whole"
	is "$(grep -cE "^cts-exec: warning: torn/$seg: (torn after $left entries|not a corpus); recorded anew$" err)" \
		1 'one line says so'
	records out >got
	cmp_file got cold.hp 'the same records'
	exits 0 'the next run' cts-exec -d refdev --corpus torn adds
	is "$(entries out) $(note out)" "$whole " 'has all of it, and none to say'
	records out >got
	cmp_file got cold.hp 'the same records'
done
ok 'some was left of the last' test "$left" -gt 0
unset CTS_REFDEV_FAULTS

# hurt WHAT COMMAND...: run warm after COMMAND; the records are the same.
hurt()
{
	local what=$1
	shift
	"$@"
	exits 0 "$what" cts-exec --corpus corpus one
	mv out hurt
	records hurt >got
	grep -v '"kind":"case"' cold | grep -F -f <(jq -r '"\"" + .id + "\""' \
		one) >want
	cmp_file got want 'the same records'
}
largest()
{
	find corpus -type f -printf '%s %p\n' | sort -rn | head -n 1 |
		cut -d ' ' -f 2
}
main=corpus/corpus.cts
hurt 'with nothing wrong' :
is "$(note hurt)" '' 'there is nothing to say'
f=$(largest)
size=$(stat -c %s "$f")
hurt 'cut in the middle' truncate -s $((size / 2)) "$f"
f=$(largest)
hurt 'with a byte changed' dd of="$f" bs=1 seek=$((size / 4)) conv=notrunc \
	status=none <<<X
ok 'what is damaged is recorded anew' test "$(cat corpus/* | wc -c)" -gt 0
python3 - "$(head -n 1 one | jq -r .id)" corpus/* <<\END
import sys
for path in sys.argv[2:]:
    b = bytearray(open(path, "rb").read())
    at = b.rfind(sys.argv[1].encode() + b" seed=67 samples=4")
    if at >= 0:
        b[at + len(sys.argv[1]) + 30] ^= 1
        open(path, "r+b").write(b)
END
hurt 'with an entry damaged' :
like err '^cts-exec: warning: corpus/.*: an entry is damaged; recorded anew$' \
	'one line says so'
hurt 'which is whole again' :
is "$(grep damaged err)" '' 'and nothing is said'
hurt 'with a foreign file' cp "$top/README.md" "$main"
like err '^cts-exec: warning: corpus/corpus.cts: not a corpus; recorded anew$' \
	'one line says so'
is "$(note hurt)" 'corpus/corpus.cts: not a corpus; recorded anew' \
	'and so does the record'
mkdir old
cp corpus/*.seg old/
for f in old/*.seg; do
	sed -i '0,/python 3/s//python 2/' "$f"
done
rm -f corpus/*
cp old/*.seg corpus/
hurt 'with a head that is damaged' :
like err 'its head is damaged' 'said'
exits 0 'a folder that cannot be' cts-exec --corpus /dev/null/x one
mv out hurt
sed -i -E 's/,"live":[0-9]+//' want
records hurt >got
cmp_file got want 'costs no result'
errline "^cts-exec: warning: unable to make '/dev/null/x'" 'and is said in one line'
is "$(note hurt)" "unable to make '/dev/null/x': Not a directory" \
	'and in the record'

# What is installed has no sources; another build of it is another engine.
mkdir -p tree/bin tree/build tree/shim
cp "$top/bin/cts-exec" tree/bin/
cp "$top/build/libcts_torch.so" tree/build/
cp "$top"/shim/*.py tree/shim/
cp -r "$top/coverage" "$top/suites" "$top/templates" tree/
head -n 3 cases >three
exits 0 'an installed toolkit' env -u CTS_ROOT tree/bin/cts-exec --corpus installed three
exits 0 'once more' env -u CTS_ROOT tree/bin/cts-exec --corpus installed three
ok 'knows what it recorded' test "$(entries out)" -gt 0
printf x >>tree/build/libcts_torch.so
exits 0 'another build' env -u CTS_ROOT tree/bin/cts-exec --corpus installed three
is "$(entries out)" 0 'relies on none of it'
like err 'recorded by another engine or PyTorch; recorded anew$' 'and says so'

# So is another PyTorch of the same version.
python=$(make -s -C "$top" print-python)
site=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))')
mkdir site
cp -rs "$site" site/torch
rm site/torch/version.py
cp "$site/version.py" site/torch/
PYTHONPATH=$T/site exits 0 'a PyTorch built anew' cts-exec --corpus corpus three
is "$(entries out)" 0 'relies on nothing that another gave'

for both in '--corpus a --record b' '--record a --golden b' \
	'--golden a --corpus b'; do
	# shellcheck disable=SC2086
	exits 2 "$both" cts-exec $both
done
exits 2 'a file has one writer' cts-exec --record a --zygote z

# Through make run: with 2 workers and nothing recorded, 8 and all, and 1.
export CTS_RESULTS=$T/results XDG_CACHE_HOME=$T/cache
unset CTS_CACHE
run()
{
	env DEVICE=cpu LEVEL=3 DTYPE=float32 SAMPLES=3 \
		OP='^(add|cat|sort|linalg.svd|rand_like|split)$' "$@" \
		bash "$top/lib/run.sh" run
}
exits 0 'make run, cold' run JOBS=2 OUT="$T/r2"
exits 0 'warm, 8 workers' run JOBS=8 OUT="$T/r8"
exits 0 'warm, 1 worker' run JOBS=1 OUT="$T/r1"
exits 0 'without' run JOBS=2 OUT="$T/r0" CORPUS=off
for r in r2 r8 r1 r0; do
	records $r/stream.jsonl.gz >$r.txt
done
ok 'there are records' grep -q '"kind":"verdict"' r2.txt
cmp_file r8.txt r2.txt 'the same records'
cmp_file r1.txt r2.txt 'the same records'
# Only a run with a corpus counts what can't be in it.
for r in r0 r2; do
	sed -E 's/,"live":[0-9]+//' $r.txt >$r.bare
done
cmp_file r0.bare r2.bare 'and the same where nothing is kept'
ok 'the corpus lies in the cache' compgen -G "$XDG_CACHE_HOME/cts/*/corpus-*/*"
CTS_CACHE=/dev/null/x exits 0 'a cache that cannot be written' cts-enum \
	-d cpu --op '^add$'
like err 'PyTorch is asked anew each time: unable to make .*/x.: Not a dir' \
	'costs time, and is said'
exits 0 'it is forgotten' cts-exec --forget
ok 'and gone' test -z "$(ls "$XDG_CACHE_HOME/cts")"
# A folder that can't be one, or takes nothing, is told; another's file stays.
echo mine >a-file
unset CTS_REFDEV_FAULTS
head -n 30 cases >thirty
exits 0 'a file for a folder' cts-exec --corpus a-file thirty
errline "^cts-exec: warning: 'a-file' is no folder" 'is told'
is "$(jq -r 'select(.role == "worker").corpus.note' out)" "'a-file' is no folder" \
	'in the records, too'
mkdir others
echo mine | tee others/brain.seg >others/notes.txt
exits 0 'a folder of other files' cts-exec --corpus others thirty
is "$(cat err)$(cat others/brain.seg others/notes.txt | xargs)" 'mine mine' \
	'they stay'
if mount -t tmpfs -o size=16k none others 2>/dev/null; then
	exits 0 'a full disk' cts-exec --corpus others thirty
	errline '^cts-exec: warning: unable to write .*No space left on device; '\
'nothing more is recorded' 'is told'
	mount -o remount,ro others
	exits 0 'a read-only folder' cts-exec --corpus others thirty
	errline "^cts-exec: warning: unable to write to 'others': Read-only file "\
'system; nothing more is recorded' 'is told'
	umount others
fi
done_testing
