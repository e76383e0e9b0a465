#!/bin/bash
# Process faults of every kind, at random among cases drawn at random: each is
# its case's, of the right kind, and no other case is any the worse for it.
# FAULTS of them (12) among CASES (180); SEED repeats a draw; JOBS processes.
# shellcheck disable=SC2046,SC2086,SC2094
. "${0%/*}/lib.sh"
needs jq torch refdev
cases=${CASES:-180} faults=${FAULTS:-12} seed=${SEED:-$$} jobs=${JOBS:-2}
echo "# SEED=$seed"

# Each kind of fault, and what must come of it.
cat >kinds <<'END'
"signal","signal":"SEGV"	crash SIGSEGV
"signal","signal":"ABRT"	crash SIGABRT
"signal","signal":"BUS"	crash SIGBUS
"signal","signal":"FPE"	crash SIGFPE
"stack_overflow"	crash SIGSEGV
"exit","status":0	crash 0
"spin"	timeout SIGKILL
"sleep","seconds":1000	hang SIGKILL
"deadlock"	hang SIGKILL
"exhaust","bytes":100000000	error
"async_error"	error
"poison"	error
END
# draw N: as many lines of stdin, the same for the same seed.
draw()
{
	awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand() "\t" $0 }' |
		sort -g | cut -f 2- | head -n "$1"
}

cts-enum -d refdev -l 3 --seed "$((seed % 100000))" 2>err |
	grep '"kind":"case"' | draw "$cases" >in
is "$(wc -l <in)" "$cases" 'there are cases enough'
jq -r .id in | draw "$faults" >faulty.ids
i=0
while read -r id; do
	i=$((i % $(wc -l <kinds) + 1))
	IFS=$'\t' read -r kind end < <(sed -n "${i}p" kinds)
	printf '{"op":"*","case":"%s","do":%s}\n' "$id" "$kind" >>plan
	echo "$id $end" >>want
done <faulty.ids
sort want >wanted

# go NAME: run all cases with processes of a zygote of their own.
split -n "l/$jobs" in part.
go()
{
	local part
	for part in part.??; do
		cts-isolate -t 6 --silence 4 --known-crashes off --zygote \
			"$T/z.$1" "$part" -- cts-exec -d refdev \
			--blobs "$T/blobs" >"$part.$1" 2>"$part.$1.err" &
	done
	wait
	cat part.??."$1" >"$1"
	cts-compare "$1" 2>>err | jq -r 'select(.kind == "verdict") |
		"\(.id) \(.outcome)"' | sort >"$1.verdicts"
}
go healthy
is "$(grep -v ' pass$' healthy.verdicts)" '' 'a healthy device passes'
export CTS_REFDEV_FAULTS=$T/plan
go faulty
is "$(cut -d ' ' -f 1 faulty.verdicts | uniq -c | awk '$1 != 1' | wc -l)" 0 \
	'no case has two verdicts'
is "$(wc -l <faulty.verdicts)" "$cases" 'each has one'
{
	jq -r 'select(.kind == "death") |
		"\(.id) \(.outcome) \(.signal // .exit)"' faulty
	# Without a death: some outcome that is not good.
	awk 'NR == FNR { if ($2 != "error") died[$1]; next }
		!($1 in died) && $2 != "pass" { print $1, "error" }' \
		wanted faulty.verdicts
} | sort >got
cmp_file got wanted "all $faults faults, each its case's, each of its kind"
awk 'NR == FNR { bad[$1]; next } !($1 in bad)' wanted healthy.verdicts >others
awk 'NR == FNR { bad[$1]; next } !($1 in bad)' wanted faulty.verdicts \
	>others.got
cmp_file others.got others 'all others are what they are without faults'
done_testing
