#!/bin/bash
# mkman.sh TOOL: print TOOL's man page, made of its --help, its line in cts.7
# and its part of examples.txt.  `make man` writes them all.
set -eu -o pipefail
tool=$1
here=$(dirname "$0")

roff() { sed -e 's/\\/\\e/g' -e "s/^\([.']\)/\\\\\&\1/"; }

what=$(awk -v t="$tool" '$0 == ".It Xr " t " 1" { on = 1; next }
	on && /^\./ { exit } on { printf "%s%s", sep, $0; sep = " " }' \
	"$here/cts.7")

cat <<END
.\" Made by docs/mkman.sh from $tool --help.
.Dd January 1, 2026
.Dt ${tool^^} 1
.Os
.Sh NAME
.Nm $tool
.Nd $what
.Sh SYNOPSIS
.Bd -literal
END
"${CTS_BIN:-bin}/$tool" --help >"${TMPDIR:-/tmp}/help.$$"
trap 'rm -f "${TMPDIR:-/tmp}/help.$$"' EXIT
sed -e '/^$/,$d' -e 's/^usage: //' -e 's/^       //' \
	<"${TMPDIR:-/tmp}/help.$$" | roff
echo .Ed
echo .Sh DESCRIPTION
sed '1,/^$/d' <"${TMPDIR:-/tmp}/help.$$" | roff | awk '
	# A line "  -o, --option ARG   text" or "  verb   text" is an item; what
	# is indented further goes on with it; the rest is running text.
	function text(s) { print s ~ /^[.\047]/ ? "\\&" s : s }
	function close_list() { if (list) print ".El"; list = 0 }
	/^Exit status: / { close_list(); sub(/Exit status: /, "")
		print ".Sh EXIT STATUS"; gap = 0; print; next }
	/^$/ { gap = 1; next }
	/^  +-/ || /^  [a-z]/ {
		if (!list) print ".Bl -tag -width Ds"
		list = 1; gap = 0
		sub(/^ +/, "")
		if (match($0, /   */)) {
			print ".It " substr($0, 1, RSTART - 1)
			text(substr($0, RSTART + RLENGTH))
		} else
			print ".It " $0
		next
	}
	/^   / { sub(/^ +/, ""); text($0); next }
	{ close_list(); if (gap) print ".Pp"; gap = 0; print }
	END { close_list() }'
echo .Sh EXAMPLES
awk -v t="$tool" '/^[^\t#]/ && !on { if ($0 == t) on = 1; next }
	on && /^cts-[a-z]+$/ { exit } on' "$here/examples.txt" | roff | awk '
	/^$/ { next }
	/^\t/ { if (!lit) print ".Bd -literal -offset indent"; lit = 1
		sub(/^\t/, ""); print; next }
	{ if (lit) print ".Ed\n.Pp"; lit = 0; print }
	END { if (lit) print ".Ed" }'
cat <<END
.Sh SEE ALSO
.Xr cts 7 ,
.Pa docs/records.md
END
