# cases.sh: what tests of cts-isolate share; sourced after lib.sh.

fake=$top/build/fake/fake-exec
[ -x "$fake" ] || { echo '1..0 # SKIP make fakes was not run'; exit 0; }
# shellcheck disable=SC2034
zy=$T/z			# where the zygote of this test serves

# cases OP...: a case record for each OP, or OP/VARIANT, whose variant is
# otherwise its number.  extra: further keys for all.
extra=
cases()
{
	local i=0 op v
	for op; do
		i=$((i + 1)) v=v$i
		case $op in */*) v=${op#*/} op=${op%%/*} ;; esac
		printf '{"v":1,"kind":"case","id":"fake/%s/float32/%s",' \
			"$op" "$v"
		printf '"run":"r","suite":"fake","op":"%s","variant":"%s",' \
			"$op" "$v"
		printf '"dtype":"float32","device":"cpu","level":1,'
		printf '"level_reason":"x","capability":"inference",'
		printf '"oracle":"cpu","samples":1,"seed":67%s}\n' "$extra"
	done
}

# results FILE: one line a case: its op and what came of it.
results()
{
	jq -r 'select(.kind == "end" or .kind == "death") |
		"\(.id | split("/")[1]) \(.outcome // .status) " +
		"\(.signal // .exit // "")"' "$1"
}

# once CASES FILE: each case has exactly one end or death, and no other has.
once()
{
	jq -r 'select(.kind == "case").id' "$1" | sort >ids.want
	jq -r 'select(.kind == "end" or .kind == "death").id' "$2" |
		sort >ids.got
	diff ids.want ids.got
}

# none_left PATTERN: soon no process has that in its command line.  A zygote
# that was only warmed up waits 10 s for the worker that somebody killed.
none_left()
{
	local i
	for i in {1..300}; do
		pgrep -f -- "$1" >/dev/null || return 0
		sleep 0.05
	done
	pgrep -af -- "$1"
	return 1
}
