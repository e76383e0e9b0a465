#!/bin/bash
# HOSTS: workers on other hosts, by a stand-in for ssh that runs the command
# here with nothing of our environment but what a login has.
# shellcheck disable=SC2046,SC2086,SC2094
. "${0%/*}/lib.sh"
. "$top/tests/fake/cases.sh"
needs jq parallel setsid

mkdir fakebin results tmp
for t in manifest isolate compare report; do
	ln -s "$CTS_BIN/cts-$t" fakebin/
done
script() { { echo '#!/bin/bash'; cat; } >"$1"; chmod +x "$1"; }
{
	printf '{"v":1,"kind":"run","id":"","run":"r","tool":"cts-enum 0",'
	printf '"role":"selection","device":"cpu","hardware":"hw",'
	printf '"torch":"2.13.0","manifest":"sha256:0","level":[1,1],'
	printf '"seed":67,"cases":40,"accounts":{},"command":[]}\n'
	cases $(for ((i = 0; i < 39; i++)); do echo nap.8; done) segv
} >enumerated
script fakebin/cts-enum <<<"cat '$T/enumerated'"
script fakebin/cts-exec <<<"exec '$fake' --obs 0 \"\$@\""
script ssh <<END
while [[ \$1 == -* ]]; do
	case \$1 in
	-l) shift 2 ;;
	--) shift; break ;;
	*) shift ;;
	esac
done
echo "\$1" >>'$T/hosts'
[ "\$1" != nowhere ] || { echo 'ssh: no such host' >&2; exit 255; }
shift
[ "\$1" != -- ] || shift
exec env -i HOME="\$HOME" SHELL=/bin/bash PATH="\$PATH" TMPDIR='$T/tmp' \\
	bash -c "\$*"
END
export CTS_BIN=$T/fakebin CTS_RESULTS=$T/results TMPDIR=$T
export JOBS=2 DEVICE=cpu ADAPTIVE=off CORPUS=off OUT PARALLEL_SSH=$T/ssh

outcomes() { zcat -f "$1"/stream.jsonl* | jq -r 'select(.kind == "verdict") |
	"\(.id) \(.outcome)"' | sort; }
OUT=$T/results/here exits 1 'a run here' bash "$top/lib/run.sh" run
outcomes results/here >want
is "$(wc -l <want)" 40 'has all results'
HOSTS=alpha,user@beta OUT=$T/results/there exits 1 'a run there' \
	bash "$top/lib/run.sh" run
outcomes results/there >got
cmp_file got want 'has the same ones'
is "$(sort -u hosts | xargs)" 'alpha beta' 'on both hosts'
is "$(ls tmp)" '' 'and leaves nothing there'

HOSTS=nowhere OUT=$T/results/lost exits 4 'a host that is not there' \
	bash "$top/lib/run.sh" run
like err 'make resume RUN=' 'is no loss'
HOSTS=alpha RUN=$T/results/lost exits 1 'resumed elsewhere' \
	bash "$top/lib/run.sh" resume
outcomes results/lost >got
cmp_file got want 'has them all'
done_testing
