#!/bin/bash
# A decoder that the manifest names: what it may be, and what is said of one
# that is of no use.
. "${0%/*}/lib.sh"
needs torch jq
mkdir lib
cat >lib/cts_t4160.py <<'END'
import sys

import torch


def by_parts(parts):
    return parts["data"].float() * parts["absmax"][:, None]


def one_by_one(packed, scale, zero_point, shape, dtype, device):
    assert zero_point is None and packed.device == device
    return (packed.to(dtype) * scale.to(dtype).repeat_interleave(32, 1)) \
        .reshape(shape)


def with_defaults(packed, scale=None, zero_point=None, *, shape=None):
    return packed["data"].float()


def raises(parts):
    raise KeyError("no codebook")


def exits(parts):
    sys.exit("bye")


def nothing(parts):
    return None


def text(parts):
    return "decoded"


def three(a, b, c):
    return a


number = 7
END
export PYTHONPATH=$T/lib
jq -n '{manifest_version: 1, device_name: "cpu", semantic_level: 8,
	supported_dtypes: {uint8: true, int8: true, float8_e4m3fn: true},
	capabilities: {inference: true, quantized_container_plumbing: true,
		custom_quantized_decode: true},
	custom_container_decoders: {
		nf4: "by_parts", mxint8: "one_by_one", uint4: "with_defaults",
		af4: "raises", fp4_bnb: "exits", fp4_e2m1: "nothing",
		uint8: "text", int8_symmetric: "three", mxfp4: "number",
		e8m0fnu: "absent"} | map_values("cts_t4160:" + .)} |
	.custom_container_decoders.int2_ternary = "cts_no_such_module:f" |
	.supported_container_formats = (.custom_container_decoders |
		map_values(true)) + {int8_asymmetric: true}' >m.json
exits 0 'cases of decoders' cts-enum -m m.json --suite containers
is "$(jq -r 'select(.op == "decode.int8_asymmetric") |
	"\(.reason) \(.claim)"' out | sort -u)" \
	'container_format custom_container_decoders.int8_asymmetric' \
	'a format that is claimed has no decoder: the claim that decides'
is "$(jq -r 'select(.op == "decode.nvfp4") | "\(.reason) \(.claim)"' out |
	sort -u)" 'container_format supported_container_formats.nvfp4' \
	'another is not claimed'
jq -c 'select(.variant == null or .variant == "plain")' out >cases.jsonl
exits 0 'they run' cts-exec cases.jsonl
cp out obs.jsonl
exits 0 'and are judged' cts-compare obs.jsonl
jq -r 'select(.kind == "verdict" and (.op | test("^decode"))) |
	"\(.op) \(.outcome) \(.why // "")"' out | sort >got

# says FORMAT ERE NAME
says() { like got "^decode\\.$1 $2" "$3"; }
says nf4 'pass ' 'one that takes the parts'
says mxint8 'pass ' 'one that takes them one by one, as in TorchCTS'
says uint4 'pass ' 'one that needs no more than one'
e='error .*cts_t4160:'
says af4 "${e}raises' raises on the CPU: KeyError: 'no codebook'" 'one that raises'
says fp4_bnb "${e}exits' raises on the CPU: SystemExit: bye" 'one that exits'
says fp4_e2m1 "${e}nothing' gives no tensor on the CPU.* NoneType" \
	'one that gives nothing'
says uint8 "${e}text' gives no tensor on the CPU.* str" \
	'one that gives no tensor'
says int8_symmetric "${e}three' can't be called: TypeError: it takes neither" \
	'one that takes something else'
says mxfp4 "${e}number' can't be called: it is of type int" 'what is no function'
says e8m0fnu "${e}absent' can't be had: AttributeError" 'one that is not there'
says int2_ternary "error .*cts_no_such_module:f' can't be had" \
	'a module that is not there'
is "$(jq -r 'select(.kind == "verdict" and (.op | test("^decode") | not)) |
	.outcome' out | sort | uniq -c | xargs)" '12 pass' \
	'and what is only stored and moved is as it was'

# A folder of cases with a file that has none, and one that can't be loaded.
mkdir cases
cat >cases/mine.py <<'END'
import torch
from suite import case


@case("slip", level=1)
def _(make):
    yield lambda x: x.no_such_method(), (make(3),)
    yield torch.neg, (make(3),)


@case("always", level=1)
def _(make):
    yield lambda x: x.no_such_method(), (make(3),)
END
echo 'def test_nothing(): pass' >cases/test_pytest.py
jq '.custom_test_dirs = ["cases"] | .supported_dtypes = {float32: true}' \
	m.json >dirs.json
exits 0 'a file without a case' cts-enum -m dirs.json --suite mine
errline "^cts-enum: warning: $T/cases/test_pytest.py: declares no case; docs/suites.md says how to write one\$" 'is said'
cp out cases.jsonl
exits 0 'the others run' cts-exec cases.jsonl
cp out obs.jsonl
exits 0 'what goes wrong on both sides alike' cts-compare obs.jsonl
jq -r 'select(.kind == "verdict" and .variant == "plain") |
	"\(.op) \(.outcome) \(.unjudged // 0)"' out | sort >got
cmp_file got - 'is no pass' <<'END'
always error 1
slip pass 1
END
echo 'import cts_no_such_module' >cases/test_pytest.py
exits 3 'a file that needs what is not there' cts-enum -m dirs.json \
	--suite mine
errline "^cts-enum: $T/cases/test_pytest.py:1: ModuleNotFoundError: No module named 'cts_no_such_module'\$" 'is one line'
done_testing
