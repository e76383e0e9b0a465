#!/bin/bash
# The examples of the man pages work as typed, from top to bottom.
. "${0%/*}/lib.sh"
needs torch jq
set -o pipefail

sed -n 's/^	//p' "$top/docs/examples.txt" >commands
while read -r line <&3; do
	exits 0 "$line" bash -o pipefail -c "$line"
done 3<commands
ok 'and there were many' test "$(wc -l <commands)" -ge 9
ok 'the last left what it should' test -s evidence.jsonl

# The overview's pipeline, as typed.
exits 0 'the pipeline by hand' bash -o pipefail -c "cts-enum --device cpu \
	--op '^add\$' --level 1 | cts-exec | cts-compare | \
	jq -r 'select(.outcome) | .outcome' | sort -u"
is "$(cat out)" pass 'add works on the CPU'
done_testing
