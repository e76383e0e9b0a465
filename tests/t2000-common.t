#!/bin/bash
# What all tools have in common: help, version, options, lost writes, and
# input that nobody should have written.
. "${0%/*}/lib.sh"

tools='cts-manifest cts-enum cts-exec cts-isolate cts-compare cts-report
	cts-coverage'
version=$(sed -n 's/^#define CTS_VERSION "\(.*\)"/\1/p' "$top/lib/prog.h")

# to FILE COMMAND...: with its standard output there; "-" closes it.
to()
{
	local f=$1
	shift
	if [ "$f" = - ]; then "$@" >&-; else "$@" >"$f"; fi
}

for t in $tools; do
	ok "$t is built" test -x "$CTS_BIN/$t"
	exits 0 "$t --help" "$t" --help
	like out "^usage: $t( |\$)" 'begins with the usage'
	is "$(cat err)" '' 'and says nothing else'
	cp out help
	exits 0 "$t -h" "$t" -h
	cmp_file out help 'is the same'
	like help '(^|[^0-9])4([^0-9]|$)' 'help names the exit statuses'
	exits 0 "$t --version" "$t" --version
	is "$(cat out)" "$t $version" 'is name and version'
	exits 2 "$t: an unknown option" "$t" --no-such-option
	like err "^$t: .*no-such-option" 'is named'
	is "$(cat out)" '' 'nothing on stdout'
	exits 4 "$t --help to a full disk" to /dev/full "$t" --help
	errline "^$t: " 'is said in one line'
	exits 4 "$t --help to a closed stdout" to - "$t" --help
	exits 4 "$t --version to a full disk" to /dev/full "$t" --version
done

# Tools that read records, and what they then are called with.
case_line='{"v":1,"kind":"case","id":"opinfo/add/float32/plain","run":"r",'
case_line+='"suite":"opinfo","op":"add","variant":"plain","dtype":"float32",'
case_line+='"device":"cpu","level":1,"level_reason":"x","capability":'
case_line+='"inference","oracle":"cpu","samples":1,"seed":67}'
first='{"v":1,"kind":"x-unknown","id":"","run":"r","n":12345678901234567}'

# bad NAME FORMAT [TEXT]: a file with that as its second record.
bad()
{
	local name=$1
	shift
	# shellcheck disable=SC2059
	{ echo "$first"; printf "$@"; } >"bad.$name"
}
bad text 'hello\n'
bad array '[1]\n'
bad half '{"v":1,"kind":"ca\n'
bad trailing '%s}\n' "$case_line"
bad cut '%s' "$case_line"
bad nul '{"v":1,"kind":"x","id":"\0","run":"r"}\n'
bad noversion '{"kind":"x","id":"","run":"r"}\n'
bad version '{"v":2,"kind":"x","id":"","run":"r"}\n'
bad type '{"v":1,"kind":7,"id":"","run":"r"}\n'
bad id '{"v":1,"kind":"case","id":[],"run":"r"}\n'
bad utf8 '{"v":1,"kind":"x","id":"","run":"r","s":"\xff"}\n'
bad deep '{"v":1,"kind":"x","id":"","run":"r","s":%s\n' \
	"$(printf '[%.0s' $(seq 5000))"
bad long '{"v":1,"kind":"x","id":"","run":"r","s":"'
head -c 100000000 /dev/zero | tr '\0' a >>bad.long
echo '"}' >>bad.long
printf '%s\n%s\n' "$case_line" "$case_line" >bad.twice

reads()
{
	case $1 in
	cts-isolate) shift; cts-isolate "$@" -- "$CTS_BIN/cts-exec" ;;
	cts-report) shift; cts-report --summary - "$@" ;;
	*) "$@" ;;
	esac
}

for t in cts-exec cts-isolate cts-compare cts-report; do
	for f in bad.*; do
		exits 3 "$t: ${f#bad.}" reads "$t" "$f"
		errline "^$t: $f:2: " 'file and line'
		case $t,$f in
		cts-report,* | *,bad.twice) continue ;;
		esac
		is "$(head -n 1 out)" "$first" 'what came before it is kept'
	done
	exits 4 "$t: a file that is not there" reads "$t" no-such-file
	errline "^$t: .*no-such-file.*No such file" 'is named'
	exits 4 "$t: a folder for a file" reads "$t" "$T"
	errline "^$t: " 'is one line'
done

printf '%s\n' "$first" >one
for t in cts-exec cts-isolate cts-compare; do
	exits 0 "$t: an unknown record" reads "$t" one
	cmp_file out one 'goes through byte for byte'
	exits 4 "$t to a full disk" to /dev/full reads "$t" one
	errline "^$t: " 'is said in one line'
	exits 4 "$t to a closed stdout" to - reads "$t" one
done

for t in 'cts-manifest check' 'cts-enum --manifest'; do
	for f in text array half nul utf8 deep; do
		sed 1d "bad.$f" >m.json
		# shellcheck disable=SC2086
		exits 3 "$t: $f" $t m.json
		like err "^${t%% *}: m.json:" 'is named with its file'
	done
	# shellcheck disable=SC2086
	exits 4 "$t: a file that is not there" $t no-such-file
	errline "^${t%% *}: .*no-such-file" 'is named'
done
done_testing
