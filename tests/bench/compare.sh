#!/bin/bash
# compare.sh: how fast cts-compare compares, in MB a second and core: the
# comparison alone, then a stream of records, whole.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
make -s build/bench/compare bin/cts-compare
build/bench/compare

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# 256 records of 60,000 float32 on both sides.
head -c 240000 /dev/zero | tr '\0' '\100' | base64 -w 0 >"$dir/data"
jq -nc --rawfile d "$dir/data" '
def t($p): {dtype: "float32", shape: [60000], strides: [1], offset: 0,
	layout: "strided", device: $p, data: $d};
range(256) | {v: 1, kind: "obs", id: "s/a/float32/plain", run: "r",
	sample: ., op: "exp", dtype: "float32", device: "d",
	ref: {tree: "*", outs: [t("cpu")]},
	dev: {tree: "*", outs: [t("d")]}}' >"$dir/in"
t=$( { TIMEFORMAT=%U; time bin/cts-compare -q "$dir/in" >/dev/null; } 2>&1 )
jq -nc --arg t "$t" '{compare: "records of float32, base64 and all",
	mb_per_s: (256 * 0.24 / ($t | tonumber) | floor)}'
