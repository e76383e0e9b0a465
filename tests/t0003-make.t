#!/bin/bash
# The Makefile: nothing is done twice, and it says what there is.
. "${0%/*}/lib.sh"
[ -z "${CTS_SAN-}" ] || needs no-sanitizer
cd "$top" || exit 4

exits() # as in lib.sh, with its files kept out of the tree
{
	local want=$1 name=$2
	shift 2
	rc=0
	"$@" >"$T/out" 2>"$T/err" || rc=$?
	is "$rc" "$want" "$name"
}

exits 0 'after a build there is nothing to do' make -q all
exits 0 'help' make help
for t in run test resume demo bench check-san lint install clean; do
	like "$T/out" "^  $t +[A-Za-z]" "help has $t"
done
for v in DEVICE LEVEL OP JOBS OUT SEED TIMEOUT PYTHON; do
	like "$T/out" "^  (.*, )?${v}" "help has $v"
done
exits 0 'print-python' make -s print-python
ok 'is an interpreter' test -x "$(cat "$T/out")"
exits 0 'and it has torch' "$(cat "$T/out")" -c 'import importlib.util as u
assert u.find_spec("torch")'

# A variable reaches the tools as it was typed; these are no regex.
for op in '(add|mul)(\.|$)(' 'a#b(' '$(shell echo hi)(' 'x\$$, y ('; do
	exits 2 "OP is '$op'" make -s show-skips DEVICE=cpu OP="$op"
	ok 'it is that' grep -qF -- "--op '$op'" "$T/err"
done

# Another flag rebuilds; the same flag twice does not.  Nothing is built here.
exits 0 'a flag that changed' make -n WERROR= CFLAGS=-O0 "B=$T/b" \
	"$T/b/libcts.a"
like "$T/out" 'CC ' 'builds anew'
exits 0 'install' make -s install DESTDIR="$T/d" PREFIX=/p
ok 'programs are there' test -x "$T/d/p/bin/cts-compare"
exits 0 'and run from there' "$T/d/p/bin/cts-compare" --version
exits 0 'uninstall' make -s uninstall DESTDIR="$T/d" PREFIX=/p
is "$(find "$T/d" -type f -o -type l)" '' 'leaves nothing'
exits 0 'goals that build nothing spoil nothing' make -q all
done_testing
