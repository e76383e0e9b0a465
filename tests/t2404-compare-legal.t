#!/bin/bash
# Where many answers are right: other right ones pass, by the oracle "legal",
# and wrong ones don't.
. "${0%/*}/lib.sh"
needs jq python3

# Turns "op args | input | reference outputs | device outputs" into a stream.
# A tensor is "dtype shape: numbers", outputs are parted by ";".
cat >make.py <<'END'
import base64, json, struct, sys
F = {"float32": "f", "float64": "d", "int64": "q", "int32": "i",
     "complex64": "f"}
def tensor(text):
    head, _, nums = text.partition(":")
    dtype, _, shape = head.strip().partition(" ")
    shape = [int(x) for x in shape.split("x")] if shape else []
    f = F[dtype]
    v = [float(x) if f in "fd" else int(x) for x in nums.split()]
    return {"dtype": dtype, "shape": shape, "layout": "strided",
            "device": "cpu", "data": base64.b64encode(
                struct.pack("<%d%s" % (len(v), f), *v)).decode()}
def result(text):
    outs = [tensor(t) for t in text.split(";")]
    return {"tree": "*" * len(outs), "outs": outs}
call, inp, ref, dev = sys.argv[1].split("|")
op, _, args = call.strip().partition(" ")
head = {"v": 1, "kind": "start", "id": "opinfo/%s/float32/plain" % op, "run": "r"}
print(json.dumps(head))
obs = dict(head, kind="obs", sample=0, op=op, dtype="float32", device="cpu",
           args=args, ref=result(ref), dev=result(dev))
if inp.strip():
    obs["inputs"] = [tensor(inp)]
print(json.dumps(obs))
print(json.dumps(dict(head, kind="end", samples=1)))
END

# judged WANT NAME CALL: WANT is the outcome and, where it passes, the oracle.
judged()
{
	python3 make.py "$3" >in
	exits 0 "$2: judged" cts-compare -q in
	is "$(jq -r '.outcome + if .outcome=="pass" then " " + .oracle else "" end' out)" \
		"$1" "$2: $1"
}

in='float32 4: 3 1 3 2'
judged 'pass cpu' 'sort as the reference' \
	"sort x|$in|float32 4: 1 2 3 3; int64 4: 1 3 0 2|float32 4: 1 2 3 3; int64 4: 1 3 0 2"
judged 'pass legal' 'a tie the other way' \
	"sort x|$in|float32 4: 1 2 3 3; int64 4: 1 3 0 2|float32 4: 1 2 3 3; int64 4: 1 3 2 0"
tie="sort x|$in|float32 4: 1 2 3 3; int64 4: 1 3 0 2|float32 4: 1 2 3 3; int64 4: 1 3 2 0"
for called in '' sort; do
	python3 make.py "$tie" | jq -c --arg c "$called" '.op = "my_sort" |
		if $c != "" and .kind == "obs" then .called = $c else . end |
		.id = "mine/my_sort/float32/plain"' >in
	exits 0 "called '$called'" cts-compare -q in
	is "$(jq -r .outcome out)" "$([ -z "$called" ] && echo fail || echo pass)" \
		"a case that calls ${called:-nothing known} is judged as that"
done
judged fail 'in a stable sort' \
	"sort x, stable=True|$in|float32 4: 1 2 3 3; int64 4: 1 3 0 2|float32 4: 1 2 3 3; int64 4: 1 3 2 0"
judged fail 'the same element twice' \
	"sort x|$in|float32 4: 1 2 3 3; int64 4: 1 3 0 2|float32 4: 1 2 3 3; int64 4: 1 3 0 0"
judged fail 'no tie at all' \
	"sort x|$in|float32 4: 1 2 3 3; int64 4: 1 3 0 2|float32 4: 1 2 3 3; int64 4: 3 1 0 2"
judged fail 'an index out of range' \
	"sort x|$in|float32 4: 1 2 3 3; int64 4: 1 3 0 2|float32 4: 1 2 3 3; int64 4: 1 3 0 4"
judged fail 'a wrong value beside' \
	"sort x|$in|float32 4: 1 2 3 3; int64 4: 1 3 0 2|float32 4: 1 2 3 4; int64 4: 1 3 2 0"
judged fail 'an input that was not recorded' \
	"sort x||float32 4: 1 2 3 3; int64 4: 1 3 0 2|float32 4: 1 2 3 3; int64 4: 1 3 2 0"
judged 'pass legal' 'ties within rows and columns' \
	'sort x, dim=0|float32 2x2: 1 5 1 2|float32 2x2: 1 2 1 5; int64 2x2: 0 1 1 0|float32 2x2: 1 2 1 5; int64 2x2: 1 1 0 0'
judged 'pass legal' 'topk' \
	"topk x, 1|$in|float32 1: 3; int64 1: 0|float32 1: 3; int64 1: 2"
judged 'pass legal' 'argmax over everything' \
	'argmax x|float32 2x2: 1 7 7 2|int64: 1|int64: 2'
judged fail 'argmax of something smaller' \
	'argmax x|float32 2x2: 1 7 7 2|int64: 1|int64: 3'
judged 'pass legal' 'argmax among NaNs' \
	'argmax x|float32 3: nan 1 nan|int64: 0|int64: 2'
judged 'pass legal' 'max along a dimension' \
	'max:reduction_with_dim x, 1|float32 2x2: 4 4 1 2|float32 2: 4 2; int64 2: 0 1|float32 2: 4 2; int64 2: 1 1'
judged fail 'cummax that looks ahead' \
	'cummax x, 0|float32 3: 1 1 1|float32 3: 1 1 1; int64 3: 0 1 2|float32 3: 1 1 1; int64 3: 2 1 2'
judged 'pass legal' 'a pooling index' \
	'nn.functional.max_pool2d x, 2|float32 1x2x2: 9 1 9 2|float32 1x1x1: 9; int64 1x1x1: 0|float32 1x1x1: 9; int64 1x1x1: 2'

judged 'pass legal' 'nonzero in another order' \
	'nonzero x||int64 2x2: 0 1 1 0|int64 2x2: 1 0 0 1'
judged fail 'nonzero with a position twice' \
	'nonzero x||int64 2x2: 0 1 1 0|int64 2x2: 1 0 1 0'
judged 'pass legal' 'unique, unsorted, with inverse and counts' \
	'unique x, sorted=False|float32 3: 5 4 5|float32 2: 4 5; int64 3: 1 0 1; int64 2: 1 2|float32 2: 5 4; int64 3: 0 1 0; int64 2: 2 1'
judged fail 'an inverse that is out of step' \
	'unique x, sorted=False|float32 3: 5 4 5|float32 2: 4 5; int64 3: 1 0 1; int64 2: 1 2|float32 2: 5 4; int64 3: 1 0 1; int64 2: 2 1'
judged fail 'counts out of step' \
	'unique x, sorted=False|float32 3: 5 4 5|float32 2: 4 5; int64 3: 1 0 1; int64 2: 1 2|float32 2: 5 4; int64 3: 0 1 0; int64 2: 1 2'
judged fail 'unsorted where sorted was asked' \
	'unique x, sorted=True|float32 3: 5 4 5|float32 2: 4 5|float32 2: 5 4'

a='float32 2x2: 2 0 0 1' i='float32 2x2: 1 0 0 1' s='float32 2: 2 1'
judged 'pass legal' 'svd with two signs turned' \
	"linalg.svd x|$a|$i; $s; $i|float32 2x2: -1 0 0 1; $s; float32 2x2: -1 0 0 1"
judged fail 'with one' \
	"linalg.svd x|$a|$i; $s; $i|float32 2x2: -1 0 0 1; $s; $i"
judged fail 'svd of factors that are not orthonormal' \
	"linalg.svd x|$a|$i; $s; $i|float32 2x2: 2 0 0 1; $s; float32 2x2: 0.5 0 0 1"
judged fail 'singular values out of order' \
	"linalg.svd x|$a|$i; $s; $i|float32 2x2: 0 1 1 0; float32 2: 1 2; float32 2x2: 0 1 1 0"
judged 'pass legal' 'the old svd, which gives V' \
	"svd x|float32 2x2: 0 2 1 0|$i; $s; float32 2x2: 0 1 1 0|float32 2x2: -1 0 0 1; $s; float32 2x2: 0 1 -1 0"
judged 'pass legal' 'svd in a batch' \
	'linalg.svd x|float32 2x1x1: 3 4|float32 2x1x1: 1 1; float32 2x1: 3 4; float32 2x1x1: 1 1|float32 2x1x1: 1 -1; float32 2x1: 3 4; float32 2x1x1: 1 -1'

h='float32 2x2: 2 1 1 2' r=0.70710677
v="float32 2x2: -$r $r $r $r" w='float32 2: 1 3'
judged 'pass legal' 'eigenvectors turned round' \
	"linalg.eigh x|$h|$w; $v|$w; float32 2x2: $r $r -$r $r"
judged fail 'eigenvectors changed over' \
	"linalg.eigh x|$h|$w; $v|$w; float32 2x2: $r -$r $r $r"
judged fail 'eigenvectors of no length' \
	"linalg.eigh x|$h|$w; $v|$w; float32 2x2: 0 0 0 0"
cv="complex64 2x2: -$r 0 $r 0 $r 0 $r 0"
judged 'pass legal' 'eigenvalues in another order' \
	"linalg.eig x|$h|complex64 2: 1 0 3 0; $cv|complex64 2: 3 0 1 0; complex64 2x2: $r 0 -$r 0 $r 0 $r 0"
judged fail 'one eigenvalue twice' \
	"linalg.eig x|$h|complex64 2: 1 0 3 0; $cv|complex64 2: 3 0 3 0; complex64 2x2: $r 0 $r 0 $r 0 $r 0"
judged 'pass legal' 'eigvals in another order' \
	'linalg.eigvals x||complex64 2: 1 2 3 0|complex64 2: 3 0 1 2'
judged fail 'eigvals that are others' \
	'linalg.eigvals x||complex64 2: 1 2 3 0|complex64 2: 3 0 1 3'

judged 'pass legal' 'qr with a sign turned' \
	'linalg.qr x|float32 2x2: 3 0 4 5|float32 2x2: 0.6 -0.8 0.8 0.6; float32 2x2: 5 4 0 3|float32 2x2: -0.6 -0.8 -0.8 0.6; float32 2x2: -5 -4 0 3'
judged fail 'qr with R not triangular' \
	'linalg.qr x|float32 2x2: 3 0 4 5|float32 2x2: 0.6 -0.8 0.8 0.6; float32 2x2: 5 4 0 3|float32 2x2: 1 0 0 1; float32 2x2: 3 0 4 5'
judged 'pass legal' 'qr without Q' \
	'linalg.qr x|float32 2x2: 3 0 4 5|float32 0: ; float32 2x2: 5 4 0 3|float32 0: ; float32 2x2: -5 -4 0 3'

lu='float32 2x2: 1 2 -1 3'
judged 'pass legal' 'lu with the other of two equal pivots' \
	"linalg.lu x|$lu|$i; float32 2x2: 1 0 -1 1; float32 2x2: 1 2 0 5|float32 2x2: 0 1 1 0; float32 2x2: 1 0 -1 1; float32 2x2: -1 3 0 5"
judged fail 'lu whose product is another' \
	"linalg.lu x|$lu|$i; float32 2x2: 1 0 -1 1; float32 2x2: 1 2 0 5|float32 2x2: 0 1 1 0; float32 2x2: 1 0 -1 1; float32 2x2: -1 3 0 6"
judged fail 'lu without pivoting' \
	'linalg.lu x|float32 2x2: 1 2 9 3|float32 2x2: 0 1 1 0; float32 2x2: 1 0 0.11111111 1; float32 2x2: 9 3 0 1.6666666|float32 2x2: 1 0 0 1; float32 2x2: 1 0 9 1; float32 2x2: 1 2 0 -15'
judged 'pass legal' 'lu_factor with its pivots' \
	"linalg.lu_factor x|$lu|float32 2x2: 1 2 -1 5; int32 2: 1 2|float32 2x2: -1 3 -1 5; int32 2: 2 2"
judged fail 'lu_factor with a pivot out of range' \
	"linalg.lu_factor x|$lu|float32 2x2: 1 2 -1 5; int32 2: 1 2|float32 2x2: -1 3 -1 5; int32 2: 3 2"

judged 'pass legal' 'geqrf with the other sign' \
	'geqrf x|float32 2x1: 3 4|float32 2x1: -5 0.5; float32 1: 1.6|float32 2x1: 5 -2; float32 1: 0.4'
judged fail 'a reflection that is none' \
	'geqrf x|float32 2x1: 3 4|float32 2x1: -5 0.5; float32 1: 1.6|float32 2x1: 5 -2; float32 1: 0.5'
judged fail 'the reflection of another matrix' \
	'geqrf x|float32 2x1: 3 4|float32 2x1: -5 0.5; float32 1: 1.6|float32 2x1: 5 -1; float32 1: 1'
in='float32 2x2: 2 1 1 2'
ref='float32 2x2: 2 0 0.5 1.5; int32 2: 1 2'
judged 'pass legal' 'ldl_factor with the other of two equal pivots' \
	"linalg.ldl_factor x|$in|$ref|float32 2x2: 2 0 0.5 1.5; int32 2: 2 2"
judged fail 'a wrong factor' \
	"linalg.ldl_factor x|$in|$ref|float32 2x2: 2 0 0.6 1.5; int32 2: 2 2"
judged fail 'a pivot out of range' \
	"linalg.ldl_factor x|$in|$ref|float32 2x2: 2 0 0.5 1.5; int32 2: 3 2"
in='float32 2x2: 0 1 1 0'
ref='float32 2x2: 0 0 1 0; int32 2: -2 -2'
judged 'pass legal' 'a block of two, with another unused half' \
	"linalg.ldl_factor x|$in|$ref|float32 2x2: 0 9 1 0; int32 2: -2 -2"
judged fail 'half a block' \
	"linalg.ldl_factor x|$in|$ref|float32 2x2: 0 9 1 0; int32 2: 1 -2"
judged fail 'a wrong block of two' \
	"linalg.ldl_factor x|$in|$ref|float32 2x2: 0 0 2 0; int32 2: -2 -2"
done_testing
