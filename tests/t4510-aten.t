#!/bin/bash
# Overloads of the dispatcher as cases: enumerated, run, judged, replayed
# without Python, shown as programs.
# shellcheck disable=SC2154
. "${0%/*}/lib.sh"
needs torch jq parallel refdev
python=$(make -s -C "$top" print-python)
fails() { jq -r 'select(.outcome and .outcome != "pass") | .id' "$1"; }
passed() { jq -r 'select(.outcome == "pass") | .id' "$1" | wc -l; }

exits 0 'overloads have cases' cts-enum -d refdev -l 5 --suite aten \
	--max-samples 3
jq -c 'select(.kind == "case")' out >all
ok 'more than a thousand' test \
	"$(jq -r .op all | sort -u | wc -l)" -gt 1000
is "$(jq -r .id all | sort | uniq -d | wc -l)" 0 'no id comes twice'
for id in aten/add.out/float32/out aten/add.Tensor/int64/plain \
	aten/add_.Tensor/bool/inplace aten/native_layer_norm/float32/plain \
	aten/index.Tensor/complex64/plain aten/_softmax.out/float32/out \
	aten/sum.dim_IntList/float16/plain aten/_foreach_add_.List/float32/inplace; do
	like all "\"id\":\"$id\"" "$id is there"
done
is "$(jq -r 'select(.id == "aten/silu/float32/plain") | [.via, .called] | join(" ")' all)" \
	'nn.functional.silu nn.functional.silu' \
	'it says on whose way it is called, and what it is judged as'
is "$(jq -r 'select(.id == "aten/tanh_backward/float32/plain") |
	.capability' all)" training 'what only gradients reach belongs to training'
exits 1 'at level 4' cts-enum -d cpu -l 4 --suite aten
is "$(grep -c '"kind":"case"' out)" 0 'there are none'
cts-manifest resolve --device cpu | jq '.skip_ops = ["add"]' >m.json
exits 0 'an op that is skipped' cts-enum -m m.json -l 5 --suite aten \
	--op '^(add|sub)$' --dtype float32
is "$(jq -r 'select(.kind == "case").op' out | grep -c '^add')" 0 \
	'is skipped in all its overloads'
like out '"id":"aten/add_.Scalar/.*"reason":"op_excluded"' 'and in place'
like out '"kind":"case","id":"aten/sub.out/' 'and no other'

ops='^(add|mul|sum|index|sort|linalg.qr|_softmax|native_dropout|bernoulli|'
ops+='empty|_foreach_add|_foreach_mul_|tensor_split|narrow|to|_to_copy|where|'
ops+='native_layer_norm|nn.functional.silu|convolution|_linalg_svd|max|as_strided|copy_|full)(\.[A-Za-z_]*)?$'
cts-enum -d refdev -l 5 --suite aten --max-samples 4 --op "$ops" \
	--dtype float32 --dtype int64 --dtype complex64 |
	grep '"kind":"case"' >cases
ok 'cases of all kinds' test "$(wc -l <cases)" -gt 100
jq -c 'del(.backend_import)' cases >here
for d in cpu refdev; do
	exits 0 "on $d" cts-exec -d $d here
	mv out obs
	exits 0 'judged' cts-compare obs
	is "$(fails out)" '' 'all pass'
	is "$(passed out)" "$(wc -l <cases)" 'each has a verdict'
done
like obs '"called":"nn.functional.silu"' \
	'what an overload is judged as stands in its observations'
is "$(jq -r 'select(.id == "aten/add.out/float32/out" and .kind == "obs") |
	.where | keys[]' obs | sort -u)" aten::add.out 'that overload was called'

# A module of the backend's that counts calls of Python functions.
cat >counter.py <<'END'
import os
import sys

log = os.open(os.environ["CALLS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def seen(frame, event, arg):
    if event == "call" and "importlib" not in frame.f_code.co_filename:
        os.write(log, (frame.f_code.co_name + "\n").encode())


sys.setprofile(seen)
END
export CALLS=$T/calls PYTHONPATH=$T
jq -c '.backend_import = ["counter"]' cases >counted
head -n 5 counted >few
exits 0 'recorded' cts-exec -d cpu --corpus corpus counted
ok 'making samples is Python' test "$(wc -l <calls)" -gt 1000
mv out cold
: >calls
exits 0 'five replayed' cts-exec -d cpu --corpus corpus few
sort calls >once
: >calls
exits 0 'all replayed' cts-exec -d cpu --corpus corpus counted
sort calls >got
cmp_file got once 'a case more is no call of a Python function more'
strip() { grep -v '"role":"worker"' "$1" | sed -E 's/,"t_[a-z_]+":[0-9.e+-]+//g'; }
strip cold >want
strip out >got
cmp_file got want 'with the same records'
unset PYTHONPATH

cat >plan <<'END'
{"op":"_softmax.out","do":"unwritten"}
{"op":"add.out","do":"ulp","k":4096}
{"op":"native_layer_norm","do":"scale"}
{"op":"mul.Tensor","do":"throw","type":"value"}
END
CTS_REFDEV_FAULTS=$T/plan exits 0 'on a faulty device' cts-exec -d refdev cases
mv out obs
exits 0 'judged' cts-compare obs
mv out verdicts
for id in aten/_softmax.out/float32/out aten/add.out/float32/out \
	aten/native_layer_norm/float32/plain aten/mul.Tensor/float32/plain; do
	unlike verdicts "\"id\":\"$id\".*\"outcome\":\"pass\"" "$id fails"
done
like verdicts '"id":"aten/add.Tensor/float32/plain".*"outcome":"pass"' \
	'its functional form does not'

# What is written to lies, by turns, in the middle of other memory.
cts-enum -d refdev -l 5 --dtype float32 \
	--case aten/native_layer_norm_backward.out/float32/out \
	--case aten/relu_/float32/inplace >places 2>err
cat >besides <<'END'
{"op":"native_layer_norm_backward.out","do":"overrun","arg":"out1","where":"before"}
{"op":"relu_","do":"overrun","arg":"self","where":"gap"}
END
CTS_REFDEV_FAULTS=$T/besides exits 0 'bytes beside what is written' \
	cts-exec -d refdev places
mv out beside
exits 0 'judged' cts-compare beside
is "$(jq -r 'select(.kind == "verdict") | .why' out | grep -o '^guard in[^:]*: got bytes [a-z]*')" \
	"$(printf '%s\n' 'guard in sample 1: got bytes before' \
	'guard in sample 2: got bytes gap')" 'are seen'

# What is on the way may be memory that nobody wrote: an empty sparse tensor, a
# place for a result.
cts-enum -d cpu -l 5 --suite aten --max-samples 3 \
	--op '^(crow_indices|resolve_conj|unsqueeze_)$' >fresh 2>err
for fill in 85 113; do
	MALLOC_PERTURB_=$fill exits 0 "memory full of $fill" cts-exec fresh
	strip out >got$fill
done
ok 'there are such cases' test "$(grep -c '"obs"' got85)" -gt 30
cmp_file got85 got113 'samples do not depend on what memory had in it'

mkdir run
cts-manifest resolve --device refdev >run/manifest.json
cat cases verdicts >run/stream.jsonl
CTS_RESULTS=$T/results DEVICE=refdev CTS_REFDEV_FAULTS=$T/plan FROM=$T/run \
	CASE=aten/add.out/float32/out exits 0 'a program shows it' \
	bash "$top/lib/run.sh" repro
like out 'torch\.ops\.aten\.add\.out' 'which calls the overload'
mv out p.py
CTS_REFDEV_FAULTS=$T/plan PYTHONPATH=$top/build/refdev \
	exits 1 'fails on the faulty device' "$python" p.py
PYTHONPATH=$top/build/refdev exits 0 'and not on the healthy one' "$python" p.py

one=$(grep -m1 '"id":"aten/add.Tensor/float32/plain"' cases)
bad() { jq -c "$1" <<<"$one" >bad.jsonl; }
bad 'del(.via)'
exits 3 'a case that does not say on whose way' cts-exec bad.jsonl
errline "bad.jsonl:1: .*no 'via'" 'says so'
bad '.op = "add.Tensr" | .id = "aten/add.Tensr/float32/plain"'
exits 3 'an overload that is not there' cts-exec bad.jsonl
errline "bad.jsonl:1: .*unknown overload 'aten::add.Tensr'" 'is named'
for v in offset out repeat; do
	bad ".variant = \"$v\" | .id = \"aten/add.Tensor/float32/$v\""
	exits 3 "a variant that an overload does not have: $v" cts-exec bad.jsonl
	errline "bad.jsonl:1: .*overload 'aten::add.Tensor' has no variant '$v', only 'plain'" \
		'is named, and the one that it has'
done
bad '.op = "__iand__.Tensor" | .dtype = "float64" | .variant = "plain" |
	.id = "aten/__iand__.Tensor/float64/plain"'
exits 3 'nor is an overload that writes a plain call' cts-exec bad.jsonl
errline "bad.jsonl:1: .*'aten::__iand__.Tensor' has no variant 'plain', only 'inplace'" \
	'it says so'
bad '.op = "__iand__.Tensor" | .dtype = "float64" | .variant = "inplace" |
	.id = "aten/__iand__.Tensor/float64/inplace" | .via = "add" |
	del(.backend_import)'
cat bad.jsonl here >two
exits 0 'an overload that no sample calls' cts-exec -d cpu two
is "$(jq -r 'select(.kind == "end" and .status == "error") | .id + " " + .error.message' out)" \
	"aten/__iand__.Tensor/float64/inplace ValueError: no sample of 'add' calls 'aten::__iand__.Tensor' with float64" \
	'is an error that says so, and the others run'
bad '.via = "ad"'
exits 3 'an entry that is not there' cts-exec bad.jsonl
errline "bad.jsonl:1: .*unknown op 'ad'" 'is named'
bad '.via = 5'
exits 3 'a via that is no text' cts-exec bad.jsonl
errline "bad.jsonl:1: .*'via'" 'is named'
done_testing
