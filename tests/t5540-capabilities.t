#!/bin/bash
# Every capability has cases, which pass on a device that is right and fail on
# one that is not.
. "${0%/*}/lib.sh"
needs torch jq
export OMP_NUM_THREADS=1

# A manifest that claims all that there is.
mkdir lib
cat >lib/cts_t5540.py <<'END'
def decode(parts):
    return parts["data"].float() * parts["absmax"][:, None]
END
export PYTHONPATH=$T/lib
jq '.device_name = "refdev" | .device_count = 2 |
	.capabilities = (.capabilities | map_values(true)) |
	.custom_container_decoders = {"nf4": "cts_t5540:decode"}' \
	"$top/templates/complete.json" >all.json
exits 0 'a device that claims everything' cts-enum -m all.json -l 8
jq -r 'select(.kind == "case") | .capability' out | sort -u >with
jq -r 'select(.reason == "torch_version") | .suite' out | sort -u >absent
# A suite named after its one capability stands for it where PyTorch lacks it.
sort -u with absent >tried
jq -r '.capabilities | keys[]' all.json | sort >claimed
is "$(comm -13 tried claimed | xargs)" '' 'has a case, or an account, for each'
ok 'and says so of what PyTorch has no more' bash -c '
	grep -qx named_tensor with || grep -qx named_tensor absent'

exits 1 'the CPU is no accelerator' cts-enum -d cpu -l 8 --suite device_api \
	--suite multi_device
is "$(jq -r 'select(.suite) | .reason' out | sort -u)" cpu_contract \
	'which is an account'

# CASE, and the rule that makes it fail.
cat >faults <<'END'
foreach/_foreach_add/float32/plain {"op":"_foreach_add.*","do":"drop_one"}
foreach/_foreach_mul_/int64/plain {"op":"_foreach_mul_.*","do":"unwritten"}
optim/Adam.fused/float32/plain {"op":"_fused_adam_","do":"drop_one"}
optim/SGD.fused/bfloat16/plain {"op":"_fused_sgd_","do":"drop_one"}
optim/Adam.foreach/float32/plain {"op":"_foreach_addcdiv_.*","do":"unwritten"}
modules/BatchNorm2d.train/float32/plain {"op":"*batch_norm*","do":"scale"}
modules/Conv2d.train/float32/plain {"op":"convolution_backward*","do":"scale"}
checkpointing/random_state/float32/plain {"op":"refdev::set_state","do":"rng_seed_only"}
hooks/backward/float32/plain {"op":"tanh_backward","do":"scale"}
hooks/accumulated/float32/plain {"op":"sub_.*","do":"unwritten"}
serialization/shared/float32/plain {"op":"zero_","do":"no_offset","arg":"self"}
serialization/mapped/int64/plain {"op":"copy_","do":"drop_one"}
nested/padded/float32/plain {"op":"*to_padded_tensor*","do":"drop_one"}
nested/linear/float32/plain {"op":["mm","addmm","linear"],"do":"tail","multiple":2}
native_quantization/per_tensor/float32/plain {"op":"int_repr","do":"add"}
native_quantization/pretended/float32/plain {"op":"fake_quantize_per_tensor_affine_cachemask","do":"no_offset"}
deterministic/added_by_index/float32/plain {"op":"index_add*","do":"race"}
dataloader/on_the_device/float32/plain {"op":"stack","do":"dense"}
dataloader/batches/int64/plain {"op":"copy_","do":"drop_one"}
device_api/default_generator/float32/plain {"op":"refdev::set_state","do":"rng_seed_only"}
device_api/to_and_from/float32/plain {"op":"copy_","do":"drop_one"}
device_api/streams.memory_kept/float32/plain {"op":"record_stream","do":"unsupported"}
device_api/events.state/float32/plain {"op":"tanh","do":"async_error"}
device_api/pinned.views/float32/plain {"op":"copy_","do":"dense","arg":"self"}
multi_device/mixed/float32/plain {"op":"add.Tensor","do":"mixed_devices"}
multi_device/copies/int64/plain {"op":"copy_","do":"drop_one"}
END
sed 's/ .*//' faults >ids
exits 0 'cases that faults are made for' bash -c \
	'cts-enum -m all.json $(sed "s/^/--case /" ids)'
cp out cases.jsonl
sed -E 's/^([^ ]*) \{/{"name":"\1","case":"\1",/' faults >plan.jsonl

# run NAME: what becomes of the cases.
run()
{
	exits 0 "$1" cts-isolate -t 120 -- cts-exec <cases.jsonl
	cp out obs.jsonl
	exits 0 'and judged' cts-compare obs.jsonl
	jq -r 'select(.kind == "verdict") | "\(.id) \(.outcome)"' out | sort >got
}
run 'on a healthy device'
sort ids | sed 's/$/ pass/' >all
cmp_file got all 'they pass'
CTS_REFDEV_FAULTS=plan.jsonl run 'on a faulty one'
while read -r id; do
	ok "$id is caught" grep -qE "^$id (fail|error|unsupported)\$" got
done <ids
done_testing
