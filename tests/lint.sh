#!/bin/bash
# lint.sh: style that a machine can check, over tracked files.  Prints
# "file:line: what" and exits 1 if there is anything.
set -u
cd "$(dirname "$0")/.." || exit 4
shopt -s lastpipe	# complain sets found in this shell
found=0
git rev-parse 2>/dev/null || { echo 'lint: not a git checkout'; exit 0; }

# complain WHAT: stdin is "file:line:text", shown where there is any.
complain()
{
	local hits
	hits=$(cut -c 1-160 | head -n 20)
	[ -n "$hits" ] || return 0
	printf '%s:\n%s\n' "$1" "$hits"
	found=1
}

# names PATTERN...: tracked files of these kinds that are there.
names()
{
	git ls-files -- "$@" | while read -r f; do
		[ ! -f "$f" ] || [ -L "$f" ] || printf '%s\n' "$f"
	done
}

code=$(names '*.c' '*.h' '*.cc' '*.hpp')
text=$(names '*.c' '*.h' '*.cc' '*.hpp' '*.sh' '*.t' '*.py' '*.md' '*.mk' \
	Makefile)
# shellcheck disable=SC2046,SC2086
{
awk '	{ s = $0; w = 0
	  gsub(/[\200-\277]/, "", s)	# characters, not bytes
	  while ((i = index(s, "\t"))) { w += i - 1; w += 8 - w % 8
		s = substr(s, i + 1) }
	  # A text is as wide as what it prints.
	  if (w + length(s) > 80 && $0 !~ /^[\t ]*"/)
		print FILENAME ":" FNR ":" $0 }' \
	$code Makefile | complain 'over 80 columns'
grep -nE '[ 	]+$' $(grep -v '\.t$' <<<"$text") | complain 'white space at the end'
grep -nE '^ {8}' $code /dev/null | complain 'indented by spaces'
for f in $text; do
	[ -z "$(tail -c 1 "$f")" ] || echo "$f:1:"
done | complain 'no newline at the end'
# Notes to oneself belong elsewhere; so do paths of one machine.
grep -nwE 'TO''DO|FIX''ME|XX''X|HA''CK' $text | complain 'unfinished work'
grep -nE '(/ro''ot|/wo''rk)/' $text | complain 'a path of one machine'
grep -nE '^(#include.*"[a-z_]+\.hpp?"|using namespace)' $(names 'lib/*' \
	'tools/*') /dev/null | complain 'C++ outside the shim'
grep -nE '#include +<Python\.h>' $(names 'lib/*' 'tools/*') /dev/null |
	complain 'Python outside the shim'
}

for f in $(names 'tests/*.t'); do
	[ -x "$f" ] || echo "$f:1:"
done | complain 'a test that is not executable'

if command -v shellcheck >/dev/null; then
	# shellcheck disable=SC2046
	shellcheck -s bash -e SC1091,SC2013,SC2154,SC2016,SC2317 -f gcc \
		$(names '*.sh' '*.t' .ci/run) | complain 'shellcheck'
else
	echo 'lint: no shellcheck; shell scripts were not checked'
fi
[ "$found" -eq 0 ] && echo 'lint: clean'
exit "$found"
