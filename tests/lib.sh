# lib.sh: TAP for shell tests.  A test sources it first:
#
#	. "${0%/*}/lib.sh"
#	needs jq
#	exits 0 'add is found' cts-enum --op '^add$'
#	cmp_file out - 'and nothing else' <<-\END
#		...
#	END
#	done_testing
#
# The tools are first in PATH.  The current folder is a fresh one, $T; $top is
# the project's.  exits leaves what a command said in the files out and err and
# its status in $rc; standard input is the caller's.  Never put a tool under
# test left of a pipe: its status would be lost.
#
# Test points, NAME being what is then true:
#	ok NAME COMMAND...	 COMMAND succeeds (a shell function will do)
#	is GOT WANT NAME	 two texts are the same
#	exits WANT NAME COMMAND...	its status is WANT; a crash never is, unless
#				 WANT is that very status, 126 or above
#	like FILE ERE NAME	 a line matches
#	unlike FILE ERE NAME	 no line does
#	cmp_file GOT WANT NAME	 two files are the same; "-" is standard input
#	errline RE NAME	 err is one line, and matches

set -u
LC_ALL=C.UTF-8
TZ=UTC
export LC_ALL TZ
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
: "${CTS_BIN:=$top/bin}"
PATH=$CTS_BIN:$PATH
export CTS_BIN PATH top
unset MAKEFLAGS MAKELEVEL CTS_REFDEV_FAULTS

T=$(mktemp -d "${TMPDIR:-/tmp}/cts-test.XXXXXX") || exit 4
trap 'rm -rf "$T"' EXIT
trap 'exit 130' INT TERM HUP
cd "$T" || exit 4
points=0 bad=0 rc=0

diag() { sed 's/^/# /'; }

# tail_of FILE: its end, as a diagnostic.
tail_of()
{
	[ ! -s "$1" ] || { echo "$1:"; tail -n 20 "$1" | cut -c 1-400; } | diag
}

# point RESULT NAME: RESULT 0 is good.
point()
{
	points=$((points + 1))
	[ "$1" -eq 0 ] && { echo "ok $points - $2"; return 0; }
	bad=$((bad + 1))
	echo "not ok $points - $2"
	echo "#   at ${BASH_SOURCE[2]##*/} line ${BASH_LINENO[1]}"
	return 1
}

ok()
{
	local name=$1
	shift
	"$@" >"$T/ok.log" 2>&1
	point $? "$name" || tail_of "$T/ok.log"
}

is()
{
	[ "$1" = "$2" ]
	point $? "$3" || { echo "got:  '$1'"; echo "want: '$2'"; } | diag
}

exits()
{
	local want=$1 name=$2
	shift 2
	rc=0
	"$@" >out 2>err || rc=$?
	[ "$rc" -eq "$want" ]
	point $? "$name" && return
	echo "# $* exited $rc, not $want"
	tail_of out
	tail_of err
}

like()
{
	grep -qE -e "$2" "$1"
	point $? "$3" || { echo "# no match for $2 in:"; tail_of "$1"; }
}

unlike()
{
	! grep -qE -e "$2" "$1"
	point $? "$3" || grep -E -e "$2" "$1" | head -n 20 | diag
}

cmp_file()
{
	local want=$2 res=0
	[ "$want" != - ] || { cat >want; want=want; }
	diff -u "$want" "$1" >cmp.log 2>&1 || res=1
	point $res "$3" || head -n 40 cmp.log | diag
}

errline()
{
	[ "$(wc -l <err)" -eq 1 ] && grep -qE -e "$1" err
	point $? "$2" || { echo "# want one line like $1"; tail_of err; }
}

# needs WHAT...: a command, torch or refdev; else the rest of the script is skipped,
# or, where CTS_REQUIRE is set, is a failure.
needs()
{
	local what
	for what; do
		case $what in
		torch) [ -x "$CTS_BIN/cts-exec" ] ;;
		refdev) [ -e "$top/build/refdev/torch_refdev/_C.so" ] ;;
		*) command -v "$what" >/dev/null ;;
		esac && continue
		[ -z "${CTS_REQUIRE-}" ] || {
			echo "not ok 1 - there is no $what"
			echo 1..1
			exit 1
		}
		echo "1..0 # SKIP there is no $what"
		exit 0
	done
}

done_testing()
{
	echo "1..$points"
	[ "$bad" -eq 0 ]
	exit
}
