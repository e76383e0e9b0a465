#!/bin/bash
# The README and the overview name nothing that is not there.
. "${0%/*}/lib.sh"
cd "$top" || exit 4

grep -ohE '(bin/)?cts-(manifest|enum|exec|isolate|compare|report|coverage)' \
	README.md docs/*.md docs/cts.7 | sed 's|bin/||' | sort -u >"$T/tools"
for t in $(cat "$T/tools"); do
	ok "$t is a tool" test -f "tools/$t.c"
done
grep -ohE '(docs|templates|coverage|tests|lib)/[A-Za-z0-9_./*-]*[a-z0-9]' \
	README.md docs/CONTRIBUTING.md docs/cts.7 | grep -v NNN |
	grep -v NAME | sort -u >"$T/files"
for f in $(cat "$T/files"); do
	ok "$f is there" compgen -G "$f"
done
grep -ohE '(^|`| )make [a-z][a-z-]*' README.md docs/CONTRIBUTING.md |
	awk '{ print $NF }' | sort -u >"$T/targets"
for t in $(cat "$T/targets"); do
	ok "make $t is a target" grep -qE "^$t:" Makefile
done
for f in README.md docs/*.md docs/cts.7 docs/*.1; do
	ok "$f is no longer than 400 lines" test "$(wc -l <"$f")" -le 400
done
done_testing
