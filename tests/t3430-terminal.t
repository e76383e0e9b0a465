#!/bin/bash
# A terminal that goes while make waits for a run: the run stops, and its part
# is kept.  What can't be meant is said before anything runs.
# shellcheck disable=SC2046,SC2086,SC2094
. "${0%/*}/lib.sh"
. "$top/tests/fake/cases.sh"
needs jq parallel setsid python3

mkdir fakebin results
for t in manifest isolate compare report; do
	ln -s "$CTS_BIN/cts-$t" fakebin/
done
script() { { echo '#!/bin/bash'; cat; } >"fakebin/$1"; chmod +x "fakebin/$1"; }
{
	printf '{"v":1,"kind":"run","id":"","run":"r","tool":"cts-enum 0",'
	printf '"role":"selection","device":"cpu","hardware":"hw",'
	printf '"torch":"2.13.0","manifest":"sha256:0","level":[1,1],'
	printf '"seed":67,"cases":400,"accounts":{},"command":[]}\n'
	cases $(for ((i = 0; i < 400; i++)); do echo nap.300; done)
} >enumerated
script cts-enum <<<"cat '$T/enumerated'"
script cts-exec <<<"exec '$fake' --obs 0 \"\$@\""
export CTS_BIN=$T/fakebin CTS_RESULTS=$T/results TMPDIR=$T
export JOBS=2 DEVICE=cpu ADAPTIVE=off CORPUS=off OUT

# As make does: the session's leader waits for its child whatever comes.
cat >leader.py <<'END'
import os, pty, select, signal, sys, time

pid, fd = pty.fork()
if pid == 0:
    child = os.fork()
    if child == 0:
        os.execvp("bash", ["bash", sys.argv[1], "run"])
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.waitpid(child, 0)
    os._exit(0)
end = time.time() + 60
stream = os.path.join(os.environ["OUT"], "stream.jsonl")
while time.time() < end:
    if select.select([fd], [], [], 0.2)[0]:
        os.read(fd, 65536)
    if os.path.exists(stream) and b'"kind":"end"' in open(stream, "rb").read():
        break
os.close(fd)
os.waitpid(pid, 0)
END
OUT=$T/results/lost
exits 0 'a terminal is lost' python3 leader.py "$top/lib/run.sh"
is "$(jq -c '[.complete, .partial]' "$OUT/summary.json")" '[false,true]' \
	'the run is stopped, and its part kept'
ok 'no process is left' none_left "$T/"

# wrong VARIABLE VALUE WORDS: refused at once.
wrong()
{
	OUT=$T/results/wrong exits 2 "$1=$2" env "$1=$2" bash "$top/lib/run.sh" run
	errline "$3" 'is told'
	ok 'before anything was written' test ! -e results/wrong
}
wrong JOBS 0 "JOBS is a whole number from 1, not '0'"
wrong JOBS abc "JOBS is a whole number from 1, not 'abc'"
wrong TIMEOUT -3 "TIMEOUT is a number of seconds, not '-3'"
wrong CONFIRM foo "CONFIRM is auto or off, not 'foo'"
wrong ADAPTIVE foo "ADAPTIVE is auto or off, not 'foo'"
wrong ISOLATE foo "ISOLATE is batch or case, not 'foo'"
wrong KNOWN_CRASHES foo "KNOWN_CRASHES is isolate or off, not 'foo'"
RUN=$OUT exits 2 'N=abc' env N=abc bash "$top/lib/run.sh" triage
errline "N is a whole number from 1, not 'abc'" 'is told'
done_testing
