#!/bin/bash
# A corpus that somebody made up, with every checksum right: an entry that lies
# is a damaged one, and costs neither the run nor a result.
. "${0%/*}/lib.sh"
needs torch jq python3
forge() { python3 "$top/tests/corpus/forge.py" "$@"; }
# records FILE: all but who did it and how long it took.
records()
{
	grep -v '"role":"worker"' "$1" | sed -E 's/,"t_[a-z_]+":[0-9.e+-]+//g'
}

exits 0 'cases' cts-enum -d cpu -l 5 --max-samples 2 --op '^(matmul|tril)$' \
	--dtype float32
grep '"kind":"case"' out | grep -E '/(plain|transposed|offset|neg|expanded|'\
'stepped|offset_transposed|special|large)"' | head -n 13 >cases
n=$(wc -l <cases)
is "$n" 13 'one for each lie'
exits 0 'are recorded' cts-exec -d cpu --record golden.cts cases
records out >want

mkdir corpus
forge lies golden.cts corpus/corpus.cts
cp corpus/corpus.cts lying.cts
exits 0 'what lies' cts-exec -d cpu --corpus corpus cases
records out >got
cmp_file got want 'is made again'
is "$(cat err)" "cts-exec: warning: corpus/corpus.cts: an entry is damaged; \
recorded anew" 'and said once, in one line'
exits 0 'once more' cts-exec -d cpu --corpus corpus cases
records out >got
cmp_file got want 'the same'
is "$(cat err)" '' 'and all was recorded anew'

exits 0 'as a golden one' cts-exec -d cpu --golden lying.cts cases
is "$(jq -r 'select(.kind == "end").error.message' out | sort | uniq -c |
	sed 's/^ *//')" "$n the golden corpus is damaged at this case (seed 67, \
at most 2 samples)" 'it is no reference of any of them'
is "$(cat err)" 'cts-exec: warning: lying.cts: an entry is damaged' \
	'and said once'

# Whatever is changed, each case ends; what is wrong beyond doubt is made again.
exits 0 'more cases' cts-enum -d cpu -l 3 --max-samples 3 --dtype float32 \
	--dtype complex64 --dtype int64 --op "^(add|cat|sort|index_put|split|\
to_sparse|linalg.svd|nn.functional.batch_norm|__getitem__|empty_like)\$"
grep '"kind":"case"' out | shuf --random-source=/dev/zero -n 120 >cases
exits 0 'are recorded' cts-exec -d cpu --record whole.cts cases
for seed in 1 2 3; do
	rm -rf corpus
	mkdir corpus
	forge drawn $seed whole.cts corpus/corpus.cts
	exits 0 "changes drawn for $seed" cts-exec -d cpu --corpus corpus cases
	is "$(grep -c '"kind":"end"' out)" 120 'every case has its end'
	like err '^cts-exec: warning: .*: an entry is damaged; recorded anew$' \
		'what makes no sense is said'
done
done_testing
