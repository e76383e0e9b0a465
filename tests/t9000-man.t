#!/bin/bash
# Man pages say what the tools say.
. "${0%/*}/lib.sh"

for t in cts-manifest cts-enum cts-exec cts-isolate cts-compare cts-report \
	cts-coverage; do
	exits 0 "$t: its page can be made" bash "$top/docs/mkman.sh" "$t"
	cmp_file out "$top/docs/$t.1" "$t: page and --help agree (make man)"
	sed -n '/^\.Sh SYNOPSIS/,/^\.Ed/p' "$top/docs/$t.1" | sed '1,2d;$d' >syn
	"$t" --help >help
	sed -e '/^$/,$d' -e 's/^usage: //' -e 's/^       //' help >text
	cmp_file syn text 'the synopsis is the usage'
	like "$top/docs/$t.1" '^\.Sh EXIT STATUS' 'exit statuses are there'
	like "$top/docs/$t.1" '^\.Sh EXAMPLES' 'so are examples'
	like "$top/docs/cts.7" "^\.It Xr $t 1" 'the overview names it'
	if command -v mandoc >/dev/null; then
		is "$(mandoc -T lint -W error "$top/docs/$t.1" 2>&1)" '' \
			'it is well-formed'
	fi
done
done_testing
