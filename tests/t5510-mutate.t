#!/bin/bash
# The mutation score tells caught faults from those that are none.
. "${0%/*}/lib.sh"
needs torch jq parallel
[ -x "$top/build/mutate/try" ] || { echo '1..0 # SKIP not built'; exit 0; }

cat >rules.jsonl <<'END'
{"op":"add.Tensor","do":"no_offset","arg":"other"}
{"op":"add.Tensor","do":"dtype","to":"float64"}
{"op":"sum.dim_IntList","do":"scale"}
{"op":"add_.Tensor","do":"unwritten"}
{"op":"transpose.int","do":"view_copy"}
{"op":"add.out","do":"overrun","where":"after"}
{"op":"cumsum","do":"throw"}
{"op":"cumsum","do":"signal","signal":"SEGV"}
{"op":"cumsum","do":"sleep","seconds":3600}
{"op":"add.Tensor","do":"no_conj"}
{"op":"mul.Tensor","do":"swap"}
{"op":"add.Tensor","do":"cpu_fallback"}
{"op":"add.Tensor","do":"leak"}
END
export OP='^(add|mul|sum|cumsum|transpose)$' DTYPE=float32 LEVEL=3 TIMEOUT=15
exits 0 'given faults are tried' env RULES="$T/rules.jsonl" OUT="$T/given" \
	bash "$top/tests/mutate/mutate.sh"
jq -r '"\(.op) \(.do) \(.result) \(.check // "-")"' given/results.jsonl >got
cmp_file got - 'and each is told for what it is' <<'END'
aten::add.Tensor no_offset caught value
aten::add.Tensor dtype caught dtype
aten::sum.dim_IntList scale caught value
aten::add_.Tensor unwritten caught value
aten::transpose.int view_copy caught aliasing
aten::add.out overrun caught guard
aten::cumsum throw caught error_unexpected
aten::cumsum signal caught crash
aten::cumsum sleep caught hang
aten::add.Tensor no_conj not_reached -
aten::mul.Tensor swap permitted strides
aten::add.Tensor cpu_fallback caught fallback
aten::add.Tensor leak survived -
END
is "$(tail -n 1 out)" 'caught 10 of 11 mutants: 90.9 %' 'the score'
exits 0 'a draw' env N=5 SEED=3 OUT="$T/a" bash "$top/tests/mutate/mutate.sh"
like out '^caught [0-9]+ of [0-9]+ mutants: ' 'is reported'

for v in N=0 SEED=x LEVEL=9 CASES=0 JOBS=0 TIMEOUT=x; do
	exits 2 "$v is refused" env $v OUT="$T/no" \
		bash "$top/tests/mutate/mutate.sh"
	like err "^mutate: ${v%=*} needs a whole number from" 'in one line'
done
exits 2 'a wrong expression is refused' env OP='(' OUT="$T/no" \
	bash "$top/tests/mutate/mutate.sh"
printf '{"op":"add.Tensor","do":"dens"}\n' >wrong.jsonl
exits 3 'a wrong plan is refused' env RULES="$T/wrong.jsonl" OUT="$T/no" \
	bash "$top/tests/mutate/mutate.sh"
like err "^mutate: .*wrong.jsonl:1: unknown action 'dens'" 'and says where'

# Of many cases: the op's own, then each variant of each suite, and of these
# what reaches little else.
cat >sites.jsonl <<'END'
{"op":"aten::_linalg_svd","family":"linalg","args":["A"],"reads":["A"],"writes":[],"actions":[["throw","error"]]}
END
jq -nc '[["opinfo", "linalg.svd", "plain", 4], ["opinfo", "norm", "plain", 9],
	["opinfo", "cond", "plain", 8], ["opinfo", "cond", "offset", 3],
	["path_shapes", "svd_tall", "plain", 2], ["opinfo", "norm", "offset", 7],
	["opinfo", "svd_lowrank", "plain", 7]][] | . as [$suite, $op, $v, $n] |
	{id: "\($suite)/\($op)/float32/\($v)", outcome: "pass",
	 ops: (["aten::_linalg_svd"] + [range($n) | "aten::x\(.)"]),
	 case: {suite: $suite, op: $op, dtype: "float32", variant: $v,
		level: 1}}' >evidence.jsonl
exits 0 'few of many cases are drawn' "$top/build/mutate/draw" -N 1 -s 3 \
	--cases 4 "$top/tests/mutate/actions.jsonl" sites.jsonl evidence.jsonl
jq -r '.cases[].id' out | sort >got
cmp_file got - 'those of most kinds, and the most telling' <<'END'
opinfo/cond/float32/offset
opinfo/linalg.svd/float32/plain
opinfo/svd_lowrank/float32/plain
path_shapes/svd_tall/float32/plain
END
"$top/build/mutate/draw" -N 5 -s 3 "$top/tests/mutate/actions.jsonl" \
	a/sites.jsonl "$top"/build/mutate/none >out 2>err
is $? 4 'no evidence, no draw'
done_testing
