#!/bin/bash
# What stands around a manifest in a run: show-skips, validate, probe.
. "${0%/*}/lib.sh"
needs jq parallel torch
export CTS_RESULTS=$T/results
glue() { bash "$top/lib/run.sh" "$@"; }

DEVICE=cpu LEVEL=1 OP='^add$' exits 0 'show-skips' glue show-skips
like out '^ *[0-9]+ cases would run$' 'counts'
like out '^level_filtered +2 +[0-9]+ +add +plain .*float64' 'and lists'
ok 'without a run' test ! -e results

exits 0 'a manifest' cts-manifest init --template smoke -d cpu
jq '.skip_ops = ["add"]' manifest.json >m.json
MANIFEST=$T/m.json LEVEL=1 OP='^(add|sub)$' exits 0 'show-skips of it' \
	glue show-skips
like out '^op_excluded +1 +[0-9]+ +add ' 'has its reason'

LEVEL=1 OP='^sub$' DTYPE=float32 OUT=$T/run exits 0 'validate' glue validate
for f in manifest.json summary.json report.md report.html junit.xml; do
	like "run/$f" '[Tt]he toolkit' "$f says that it is the toolkit itself"
done
gzip -dc run/stream.jsonl.gz >stream
is "$(head -n 1 stream | jq -c '[.mode, .dtypes, .cases]')" \
	'["validate",["float32"],1]' 'and so does the stream'
DEVICE=refdev exits 2 'validate of a device' glue validate
errline 'CPU alone' 'is refused'

# "auto" is settled by the run, and stays so.
jq '.device_name = "auto" | .semantic_level = 2' manifest.json >auto.json
MANIFEST=$T/auto.json OP='^sub$' DTYPE=float32 OUT=$T/runa exits 0 'auto' glue run
is "$(jq -r '.device_name' runa/manifest.json)" \
	"$(jq -r .device runa/summary.json)" 'is a device now'
is "$(jq -c .level runa/summary.json)" '[1,2]' 'up to the manifest'\''s level'
like runa/report.md 'Narrowed by --dtype to float32' 'which was narrowed'
FROM=$T/runa OUT=$T/runb exits 2 'nothing to rerun' glue rerun
exits 0 'a probe of auto' cts-manifest probe auto.json

# The accounts of a run are what the manifest excludes.
jq '.supported_dtypes.int64 = false | .capabilities.rng = false' manifest.json \
	>m.json
MANIFEST=$T/m.json LEVEL=2 OP='^(add|randn)$' OUT=$T/run2 \
	exits 0 'a run' glue run
is "$(jq -c '.accounts | [.dtype_not_supported, .capability_not_declared]' \
	run2/summary.json)" '[1,1]' 'counts them by reason'
is "$(jq '.counts.cases == .counts.pass' run2/summary.json)" true 'all pass'

MANIFEST=$T/manifest.json LEVEL=2 PICK='family=matmul tier=smoke' \
	MEMORY_MODE=conservative LIMIT=1 OUT=$T/run3 exits 0 'picked' glue run
gzip -dc run3/stream.jsonl.gz >stream
is "$(jq -r 'select(.kind == "case") | "\(.id) \(.memory_mode)"' stream)" \
	'path_shapes/matmul_edges/float32/plain conservative' 'is what was asked'

MANIFEST=$T/manifest.json exits 0 'probe' glue probe
like out '^dtype +float32 +ok' 'a table'
is "$(jq -r .name results/cpu_*_probes.jsonl | sort | tr '\n' ' ')" \
	'bool count float32 inference int64 ' 'of what is claimed'
is "$(cat results/cpu_*_probe_failures.jsonl)" '' 'and no failure'

jq '.device_count = 2' manifest.json >two.json
exits 1 'more devices than there are' cts-manifest probe -e --failures bad two.json
is "$(jq -c '[.probe, .name, .status, .note]' bad)" \
	'["device","count","failed","2 claimed, there is 1"]' 'is a claim that fails'
jq '.device_count = 1' manifest.json >one.json
exits 0 'as many as there are' cts-manifest probe -e one.json

exits 0 'a draft' cts-manifest init --probe -d cpu -o draft.json
exits 0 'which is right' cts-manifest check draft.json
errline 'draft.json:[0-9]+: draft: a draft: review' 'but to be reviewed'
is "$(jq -c '[.supported_dtypes.float32, .device_count]' draft.json)" \
	'[true,1]' 'and claims'
done_testing
