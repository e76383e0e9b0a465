#!/bin/bash
# make repro: each kind of failure as a program, which a Python without the
# toolkit runs: it fails on the faulty device, and not on the healthy one.
# shellcheck disable=SC2154
. "${0%/*}/lib.sh"
needs torch jq parallel refdev
python=$(make -s -C "$top" print-python)
export CTS_RESULTS=$T/results DEVICE=refdev
verb() { bash "$top/lib/run.sh" "$1"; }

cat >plan <<'END'
{"op":"add.Tensor","if":{"arg":"any","numel":">2"},"do":"ulp","k":40}
{"op":"t","do":"view_copy"}
{"op":"sub.out","do":"unwritten"}
{"op":"div.Tensor","if":{"arg":"any","numel":">3"},"do":"throw","type":"value"}
{"op":"mm","form":"backward","do":"scale"}
{"op":"mul.Tensor","if":{"arg":"any","strides":"transposed"},"do":"dense"}
{"op":"exp","if":{"arg":"any","numel":">2"},"do":"signal","signal":"SEGV"}
{"op":"sum*","form":"forward","do":"overrun","where":"after","arg":"self","bytes":8}
{"op":"gather","do":"swallow"}
{"op":"_foreach_add.List_out","do":"scale"}
{"op":"_foreach_add.Scalar_out","do":"unwritten"}
{"op":"_foreach_add_.Scalar","do":"drop_one"}
END
ids=(opinfo/add/float32/plain opinfo/t/int64/plain opinfo/sub/float32/out_stepped
	opinfo/div:no_rounding_mode/float32/plain opinfo/mm/float32/backward
	opinfo/mul/float32/transposed opinfo/exp/float32/plain
	opinfo/sum/float32/plain autograd/sum_of_network/float32/plain
	opinfo/gather/float32/errors aten/_foreach_add.List_out/float32/out
	aten/_foreach_add.Scalar_out/float32/out
	aten/_foreach_add_.Scalar/float32/inplace)
cts-enum -d refdev -l 8 --max-samples 6 >all 2>/dev/null
grep -F -f <(printf '"id":"%s"\n' "${ids[@]}") all | grep '"kind":"case"' >cases
is "$(wc -l <cases)" ${#ids[@]} 'the cases are there'
mkdir run
cts-manifest resolve --device refdev >run/manifest.json
cp cases run/stream.jsonl
CTS_REFDEV_FAULTS=$T/plan cts-isolate cases -- cts-exec 2>/dev/null |
	cts-compare >>run/stream.jsonl

# program ID CHECK: is there one, and does it tell the two devices apart?
program()
{
	rm -f p.py
	CTS_REFDEV_FAULTS=$T/plan FROM=$T/run CASE=$1 exits 0 "$1" verb repro
	mv out p.py
	sed -n 2,6p p.py | tr '\n' ' ' >says
	like says "$2" "says what fails: $2"
	unlike p.py "$top|$T" 'and names no path of this machine'
	CTS_REFDEV_FAULTS=$T/plan PYTHONPATH=$top/build/refdev \
		exits 1 'fails on the faulty device' "$python" p.py
	mv out faulty
	PYTHONPATH=$top/build/refdev \
		exits 0 'and not on the healthy one' "$python" p.py
}
# elements: of its arguments; and the strides of the first.
elements()
{
	PYTHONPATH=$top/build/refdev "$python" - <<-'END'
	import runpy, torch
	p = runpy.run_path("p.py", run_name="p")
	args, kwargs, _ = p["arguments_on"]("cpu")
	ts = [t for t in (*args, *kwargs.values()) if isinstance(t, torch.Tensor)]
	print(sum(t.numel() for t in ts), args[0].stride())
	END
}
program opinfo/add/float32/plain ': value in'
is "$(elements)" '4 ()' 'the elements that it takes to fail, no more' ||
	elements | diag
like p.py '^the_call = torch.add$' 'by its public name'
unlike p.py 'cts' 'with nothing of the toolkit'
program opinfo/t/int64/plain ': aliasing in'
like faulty '^refdev:0: ..fresh' 'the copy is seen'
program opinfo/sub/float32/out_stepped ': value in'
like p.py "'out': x" 'with out='
program opinfo/div:no_rounding_mode/float32/plain 'error_unexpected'
like faulty 'ValueError' 'its exception'
program opinfo/mm/float32/backward ': value in'
like p.py '^the_call = gradients\(torch.mm' 'its gradients'
program opinfo/mul/float32/transposed ': value in'
is "$(elements | cut -d ' ' -f 2-)" '(1, 2)' 'as small, but with its strides'
program opinfo/exp/float32/plain 'crash: SIGSEGV'
is "$(elements)" '3 (1,)' 'a crash is made smaller, too'
program opinfo/sum/float32/plain ': guard in'
program autograd/sum_of_network/float32/plain ': value in'
like p.py '^def the_case\(make\):' 'a case by hand has its source'
program opinfo/gather/float32/errors ': error_missing in'
# These return nothing: what they write is what they have to show.
program aten/_foreach_add.List_out/float32/out ': value in'
like faulty '^result 1 at 0: got ' 'with what is wrong in it'
program aten/_foreach_add.Scalar_out/float32/out ': value in'
like faulty '^result 1 at 0: got 91.0, ' 'what it had is still there'
program aten/_foreach_add_.Scalar/float32/inplace ': value in'

# What can't be.
CTS_REFDEV_FAULTS='' CASE=opinfo/neg/float32/plain SAMPLES=2 \
	exits 2 'a case that passes' verb repro
errline 'passes: there is nothing to reproduce$' 'is said'
cmp_file out /dev/null 'and no program printed'
exits 2 'no case' verb repro
errline 'say which case: CASE=id' 'is said'
CASE="o'p\"/\$(x)" FROM=$T/run exits 2 'a name with quotes' verb repro
errline 'there is no case' 'is unknown'
CASE=opinfo/addd/float32/plain FROM=$T/run exits 2 'a slip' verb repro
errline "the nearest is 'opinfo/add/float32/plain'" 'has a nearest'
CASE=x FROM=$T/absent exits 4 'no run' verb repro

# The tool's own bad input.
jq -c 'select(.id == "opinfo/add/float32/plain") | .sample = 1' cases >c
exits 3 'no verdict' cts-exec --script c
errline 'no verdict follows' 'is said'
jq -c '.edits = ["hafl 0"]' c >d
exits 3 'an unknown edit' cts-exec d
errline "unknown edit 'hafl 0', expected a word such as 'half'" 'is named'
jq -c '.edits = ["half -1"]' c >d
exits 3 'a bad number' cts-exec d
errline "needs a word and a number" 'is told'
jq -c '.edits = ["half 9"]' c >d
exits 0 'an edit that is not for it' cts-exec d
is "$(jq -r 'select(.kind == "end").samples' out)" 0 'observes nothing'
jq -c '.edits = ["flat 0", "ones 0"]' c >d
exits 0 'edits' cts-exec d
is "$(jq -r 'select(.kind == "obs").args' out)" 'float32(), float32()' 'are made'
grep opinfo/add/float32/plain run/stream.jsonl |
	jq -c 'select(.kind == "verdict") | .check = "fallback"' >>c
exits 1 'what no program can show' cts-exec --script c
errline "no program can be written: what the check 'fallback'" 'is told'
done_testing
