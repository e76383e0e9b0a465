#!/bin/bash
# Cases of suites/large.py need gigabytes: they are of level 8, and what a
# manifest says of memory leaves them out where there isn't so much.
. "${0%/*}/lib.sh"
needs torch jq

# plan "ARGUMENT..." [FILTER]: the suite as a manifest changed by FILTER has it
plan()
{
	jq "${2-.}" "$top/templates/complete.json" >m.json
	# shellcheck disable=SC2086
	exits "${3-0}" "$1 ${2-}: is listed" \
		cts-enum -m m.json -d cpu --suite large $1
}
# reasons: "reason claim n" a line; what runs has none
reasons()
{
	jq -rn '[inputs | select(.variant == "plain")] |
		group_by([.reason, .claim])[] |
		"\(.[0].reason // "runs") \(.[0].claim // "-") \(length)"' out
}

plan '-l 7 --each' . 1
like err 'nothing is left to run' 'level 7 has none'
is "$(reasons)" 'level_filtered - 40' 'of forty'
plan '-l 8' '.hardware.system_memory_gb = 64'
is "$(reasons)" 'runs - 40' 'level 8 has all, with memory'
is "$(jq -r 'select(.kind == "case").dtype' out | sort -u | xargs)" \
	'bool int16 int8 uint8' 'of small types'
plan '-l 8' '.hardware.system_memory_gb = 4'
is "$(reasons)" 'runs - 25
resource_limit hardware.system_memory_gb 15' 'what needs more than one tensor is left out of 4 GB'
plan '-l 8' '.hardware |= (.system_memory_gb = 4 | .memory_model = "unified")'
is "$(reasons)" 'runs - 1
resource_limit hardware.system_memory_gb 39' 'where both sides share them, all but the smallest'
plan '-l 8' '.resource_limits.max_tensor_size_mb = 1000' 1
is "$(reasons)" 'resource_limit resource_limits.max_tensor_size_mb 40' \
	'a limit for tensors leaves out all'
done_testing
