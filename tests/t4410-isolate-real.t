#!/bin/bash
# The real worker: a crash costs one case, and the others' records are what
# they are without it.
# shellcheck disable=SC2046,SC2086,SC2094
. "${0%/*}/lib.sh"
needs jq torch pgrep

zy=$T/z
cts-enum --device cpu --op '^(add|mul|sum|cat)$' --level 3 \
	--dtype float32 --dtype int64 >in 2>err ||
	tail_of err
n=$(grep -c '"kind":"case"' in)
ok 'there are cases' test "$n" -gt 5
untimed() { jq -c 'walk(if type == "object" then with_entries(select(
	.key | startswith("t_") | not)) else . end)' "$1" | sort; }

exits 0 'a run' cts-isolate --zygote "$zy" in -- cts-exec --blobs "$T/blobs"
cp out whole
is "$(grep -c '"kind":"end"' whole)" "$n" 'every case has its end'
sleep 0.1

# Killed by SIGSEGV in mid-run, through no fault of the case.  The signal may
# come between two cases: then once more.
for _ in {1..12}; do
	rm -f log
	cts-isolate --zygote "$zy" --runlog log in -- cts-exec \
		--blobs "$T/blobs" >out 2>err &
	pid=$!
	for _ in {1..3000}; do
		[ "$(wc -l 2>/dev/null <log || echo 0)" -lt 5 ] || break
		sleep 0.01
	done
	kill -SEGV "$(tail -n 1 log | cut -d ' ' -f 2)" 2>/dev/null || :
	rc=0
	wait $pid || rc=$?
	! grep -q '"kind":"death"' out || break
done
is $rc 0 'a worker is killed, and the run goes on'
is "$(grep -c '"kind":"death"' out)" 1 'one death'
is "$(jq -r 'select(.kind == "death") | .outcome + " " + .signal' out)" \
	'crash SIGSEGV' 'a crash'
ok 'with a Python stack' jq -es 'any(.kind == "death" and
	(.stack | contains("Fatal Python error: Segmentation fault")))' out
ok 'and a native one' jq -es 'any(.kind == "death" and
	(.stack | contains("native stack:")))' out
id=$(jq -r 'select(.kind == "death").id' out)
untimed whole | grep -vF "\"id\":\"$id\"" >want
untimed out | grep -vF "\"id\":\"$id\"" >got
cmp_file got want 'all others have the same records'

exits 0 'each alone' cts-isolate --zygote "$zy" --mode case -- cts-exec \
	--blobs "$T/blobs" < <(head -n 4 in)
untimed out | grep -E '"(obs|end)"' >got
untimed whole | grep -F -f <(head -n 4 in | jq -r 'select(.kind == "case") |
	"\"id\":\"\(.id)\""') | grep -E '"(obs|end)"' >want
cmp_file got want 'has the same records, too'

# What forward-mode derivatives take is loaded once for all processes.
cts-enum --device cpu --op '^(neg|sin|cos)$' --dtype float32 2>err |
	grep -E '"kind":"run"|/jvp"' >in || tail_of err
is "$(grep -c '"kind":"case"' in)" 3 'cases of forward mode'
mkdir site
cat >site/sitecustomize.py <<END
import sys
def note(event, args):
    if event == "import" and args[0] == "torch._decomp.decompositions_for_jvp":
        with open("$T/loads", "a") as f:
            f.write("x")
sys.addaudithook(note)
END
export PYTHONPATH=$T/site
loads() { local n=0; read -r n <loads || :; rm -f loads; echo ${#n}; }
each() { cts-isolate --zygote "$zy" --mode case in -- cts-exec "$@"; }
exits 0 'each alone' each
cp out whole
is "$(loads)" 3 'each process loads it'
exits 0 'with what they take' each --load jvp
is "$(loads)" 1 'or the zygote does'
cmp_file <(untimed out) <(untimed whole) 'the records are the same'
exits 0 'a run of them' env DEVICE=cpu LEVEL=5 SUITE=opinfo OP='^(neg|sin)$' \
	DTYPE=float32 JOBS=2 OUT="$T/run" CTS_RESULTS="$T" \
	bash "$top/lib/run.sh" run
is "$(loads)" 1 'has it loaded before'
unset PYTHONPATH
exits 2 'nothing else is loaded' cts-exec --zygote z --load vjp
like err "--load takes jvp, not 'vjp'" 'it says so'
exits 2 'nor without a zygote' cts-exec --load jvp
like err '--load needs --zygote' 'it says so'
done_testing
