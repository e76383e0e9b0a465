#!/bin/bash
# cts-manifest check: each rule has a manifest that keeps it and one that
# breaks it; all findings come at once, each with its line.
. "${0%/*}/lib.sh"
needs jq

cat >base.json <<\END
{
	"manifest_version": 1,
	"device_name": "cpu",
	"supported_dtypes": {
		"float32": true
	},
	"capabilities": {
		"inference": true
	}
}
END

# right NAME FILTER: the base, changed so, has nothing wrong.
right()
{
	jq --tab "$2" base.json >m.json || point 1 "jq $2"
	exits 0 "right: $1" cts-manifest check m.json
	is "$(cat err out)" '' 'and nothing is said'
}

# wrong NAME FILTER RE...: each RE is a line on stderr; there are no others.
wrong()
{
	local name=$1 re n=0
	jq --tab "$2" base.json >m.json || point 1 "jq $2"
	shift 2
	exits 3 "wrong: $name" cts-manifest check m.json
	for re; do
		like err "^cts-manifest: m\.json(:[0-9]+)?: $re" "$name: said"
		n=$((n + 1))
	done
	is "$(wc -l <err)" "$n" 'and nothing else'
}

exits 0 'the base' cts-manifest check base.json
wrong 'an unknown key' '.colour = 1' "colour: unknown key 'colour'"
wrong 'a slip in a key' '.device_cuont = 1' \
	"device_cuont: unknown key 'device_cuont', did you mean 'device_count'"
wrong 'no version' 'del(.manifest_version)' "no 'manifest_version'"
wrong 'no device' 'del(.device_name)' "no 'device_name'"
wrong 'no capabilities' 'del(.capabilities)' "no 'capabilities'"
wrong 'version 2' '.manifest_version = 2' 'manifest_version: expected 1, got 2'
wrong 'a list' '[.]' 'expected an object, got a list'

for d in auto cuda cuda:1 privateuseone:0 my_dev; do
	right "device $d" ".device_name = \"$d\""
done
right 'a high index' '.device_name = "cuda:999"'
for d in '' CUDA 'a b' cuda: cuda:x 1a a:1:2 cuda:01 cuda:1000 auto:0; do
	wrong "device '$d'" ".device_name = \"$d\"" 'device_name: expected a device'
done
wrong 'device 3' '.device_name = 3' 'device_name: expected .*, got 3'

right 'the last of two' '.device_name = "cuda:1" | .device_count = 2'
wrong 'one beyond' '.device_name = "cuda:2" | .device_count = 2' \
	"device_name: 'cuda:2' is not there: device_count is 2"
wrong 'auto, and an import' '.device_name = "auto" | .backend_import = "x"' \
	"device_name: 'auto' beside backend_import"
right 'a figure for each' '.device_count = 2 |
	.hardware = {"device_memory_gb": [1, 2]}'
wrong 'figures for others' '.device_count = 2 |
	.hardware = {"device_memory_gb": [1, 2, 3]}' \
	'hardware.device_memory_gb: 3 figures, but device_count is 2'
wrong 'an overload' '.skip_ops = ["aten::add"]' \
	"skip_ops.0.: 'aten::add' is an overload"
wrong 'a folder twice' '.custom_test_dirs = ["/tmp", "/tmp"]' \
	"custom_test_dirs: '/tmp' comes twice"
long=$(printf '(.{0,999}x)?%.0s' {1..40})
wrong 'many repeats' ".supported_ops = \"$long\"" \
	'supported_ops: the regex .* repeats add up to more than 4000'
right 'some repeats' '.supported_ops = "(.{0,999}x)?(.{0,999}y)?"'

right 'a module' '.backend_import = "torch_x.y"'
right 'no module' '.backend_import = null'
right 'a library' '.backend_import = "/opt/x/libx.so"'
right 'two of them' '.backend_import = ["a", "b.c"]'
wrong 'no identifier' '.backend_import = ["a", "b-c", 3]' \
	'backend_import\[1\]: expected a module' \
	'backend_import\[2\]: expected a module'

right 'numbers' '.device_count = 2 | .semantic_level = 8 | .max_samples = 0 |
	.max_samples_ieee754 = 3 | .ieee754_seed = 67'
wrong 'numbers' '.device_count = 0 | .semantic_level = 9 | .max_samples = -1 |
	.max_samples_ieee754 = 1.5 | .ieee754_seed = "1"' \
	'device_count: expected a whole number from 1, got 0' \
	'semantic_level: expected a level from 1 to 8, got 9' \
	'max_samples: expected .*, got -1' \
	'max_samples_ieee754: expected .*, got 1.5' \
	"ieee754_seed: expected .*, got '1'"

# Every dtype that the toolkit knows, by each of its names.
sed -n 's/^\t[A-Z]*[({] *"\([a-z0-9_]*\)",.*/\1/p' "$top/lib/dtype.c" >dtypes
ok 'there are forty and more' test "$(wc -l <dtypes)" -gt 40
right 'all dtypes' ".supported_dtypes = ([$(
	sed 's/.*/{("&"): true}/' dtypes | paste -sd ,)] | add // {})"
right 'qualified, regex, false' '.supported_dtypes = {"torch.float16": false,
	"bfloat16": "^(?:add|mul)$", "torch.float8_e5m2": true,
	"float4_e2m1fn_x2": true, "bits8": true}'
wrong 'dtypes' '.supported_dtypes = {"float3": true, "int8": 1, "half": "(",
	"bits9": true, "float16": true}' \
	"supported_dtypes.float3: unknown dtype 'float3', did you mean 'float32'" \
	'supported_dtypes.int8: expected true, false or a regex over ops, got 1' \
	"supported_dtypes.half: the regex '\(' can't be used: a '\(' without" \
	"supported_dtypes.bits9: unknown dtype 'bits9', did you mean 'bits8'" \
	"supported_dtypes.float16: the same dtype as 'half'"
wrong 'dtypes as a list' '.supported_dtypes = ["float32"]' \
	'supported_dtypes: expected an object, got a list'

right 'ops' '.supported_ops = "^(add|mm)$" | .skip_ops = ["sum", "^fft\\."] |
	.must_not_fall_back = ["mm"]'
right 'look-ahead in front' '.supported_ops = "^(?!fft)"'
right 'a list of regexes' '.supported_ops = ["^add$", "mm"]'
wrong 'ops' '.supported_ops = ["[", 3] | .skip_ops = "add" |
	.must_not_fall_back = ["a b", ""]' \
	"supported_ops\[0\]: the regex '\[' can't be used" \
	'supported_ops\[1\]: expected a regex, got 3' \
	"skip_ops: expected a list of op names, got 'add'" \
	"must_not_fall_back\[0\]: 'a b' can't be the name of an op" \
	"must_not_fall_back\[1\]: expected an op's name"
right 'checks to be held to' '.contract = ["strides", "repeat"]'
wrong 'checks to be held to' '.contract = ["repaet", 3]' \
	"contract\[0\]: unknown check 'repaet', did you mean 'repeat'" \
	'contract\[1\]: expected the name of a check, got 3'
wrong 'a regex that would take for ever' '.supported_ops = "(a{100}){100}"' \
	'supported_ops: .*repeats multiply'
wrong 'back-references' '.supported_ops = "(a)\\1"' \
	'supported_ops: .*back-references are not supported'

right 'capabilities' '.capabilities = {"training": false, "rng": "^rand",
	"ieee754": ["^add$", "mul"], "multi_device": false}'
wrong 'capabilities' '.capabilities = {"generator": true, "quantized": true,
	"trainning": true, "rng": 1, "sparse": "(", "blue": true}' \
	"capabilities.generator: .* expected 'device_generator'" \
	"capabilities.quantized: .* expected 'quantized_container_plumbing'" \
	"capabilities.trainning: unknown .*, did you mean 'training'" \
	'capabilities.rng: expected true, false or a regex over ops, got 1' \
	"capabilities.sparse: the regex" \
	"capabilities.blue: unknown capability 'blue'$"

right 'hardware' '.hardware = {"memory_model": "unified",
	"device_memory_gb": [16, 24.5], "system_memory_gb": "auto",
	"oom_recoverable": false}'
wrong 'hardware' '.hardware = {"memory_model": "shared", "ram": 1,
	"device_memory_gb": -1, "system_memory_gb": [1], "oom_recoverable": 0}' \
	"hardware.memory_model: expected 'discrete' or 'unified'" \
	"hardware.ram: unknown key" 'hardware.device_memory_gb: expected' \
	'hardware.system_memory_gb: expected' 'hardware.oom_recoverable: expected'
right 'limits' '.resource_limits = {"max_device_memory_mb": null,
	"max_system_memory_mb": 512, "max_tensor_size_mb": 0.5,
	"cleanup_threshold_pct": 80}'
wrong 'limits' '.resource_limits = {"max_device_memory_mb": 0,
	"max_tensor_size_mb": "1", "cleanup_threshold_pct": 101, "x": 1}' \
	'resource_limits.max_device_memory_mb: expected a number above 0' \
	'resource_limits.max_tensor_size_mb: expected a number above 0' \
	'resource_limits.cleanup_threshold_pct: expected' \
	'resource_limits.x: unknown key'

right 'tolerances' '.tolerance_overrides = {"mm:torch.float32": {"rtol": 1e-4,
	"atol": 0}, "matmul/float16": [0.01, 0.01], "a:b:bfloat16": {"ulp": 8},
	"elementwise:int8": {"atol": 1}}'
wrong 'tolerances' '.tolerance_overrides = {"a:float32": {"rtol": -1},
	"b:float3": {"rtol": 0.1}, "c:float16": {"rtol": 1},
	"d:float32": {"ulp": 1e9}, "e:float64": {"atol": 1},
	"f:float32": {"rtl": 0.1}, "g": {"rtol": 0.1}, "h:int8": {"ulp": 4},
	"i:float32": {"ulp": 1, "rtol": 0.1}, "j:float32": 0.1,
	"k:float32": ["nan", 0]}' \
	'tolerance_overrides.a:float32.rtol: .*expected a finite number from 0' \
	"tolerance_overrides.b:float3: unknown dtype 'float3'" \
	'tolerance_overrides.c:float16.rtol: .*so wide that the check is void' \
	'tolerance_overrides.d:float32.ulp: .*void' \
	'tolerance_overrides.e:float64.atol: .*void' \
	'tolerance_overrides.f:float32.rtl: unknown key' \
	"tolerance_overrides.g: expected 'op:dtype'" \
	'tolerance_overrides.h:int8.ulp: .*void' \
	'tolerance_overrides.i:float32: ulp stands alone' \
	'tolerance_overrides.j:float32: expected' \
	"tolerance_overrides.k:float32: rtol: .*got 'nan'"

wrong 'a bool' '.tolerance_overrides = {"logical_and:bool": {"atol": 1}}' \
	'tolerance_overrides.logical_and:bool: a bool is right or wrong'
wrong 'more than there is' '.tolerance_overrides =
	{"mm:float4_e2m1fn_x2": {"atol": 1.5}}' 'tolerance_overrides.mm.*void'
wrong 'the same twice' '.tolerance_overrides = {"add:float32": {"ulp": 3},
	" add : torch.float": {"ulp": 5}}' \
	"tolerance_overrides. add : torch.float: the same as 'add:float32'"

right 'containers' '.supported_container_formats = {"nf4": true, "mxint8": false} |
	.custom_container_decoders = {"nf4": "a.b:c.d"} |
	.capabilities.custom_quantized_decode = true'
wrong 'containers' '.supported_container_formats = {"nf5": true, "nf4": 1} |
	.custom_container_decoders = {"nf4": "a.b", "xyzzy": "a:b"}  |
	.capabilities.custom_quantized_decode = true' \
	"supported_container_formats.nf5: unknown .*, did you mean 'nf4'" \
	'supported_container_formats.nf4: expected true or false' \
	"custom_container_decoders.nf4: expected 'module:function'" \
	'custom_container_decoders.nf4: .*supported_container_formats.nf4' \
	"custom_container_decoders.xyzzy: unknown container format"
wrong 'no decoders' '.capabilities.custom_quantized_decode = true' \
	'capabilities.custom_quantized_decode: claimed, but there is no entry'
right 'an adapter' '.adapter = {"sync": "m:f", "seed": "m.n:f.g", "count": "m:c",
	"memory": "m:m", "empty": "m:e", "init": ["m:start(now)"],
	"env": {"A_B": "", "PATH": "x"}, "fork": "bare"}'
right 'an adapter of nothing' '.adapter = {}'
wrong 'an adapter that is none' '.adapter = "m:f"' \
	"adapter: expected an object, got 'm:f'"
wrong 'an adapter' '.adapter = {"sync": "mf", "seed": 1, "counts": "m:c",
	"init": "m:f", "env": {"A=B": "x", "C": 1}, "fork": "no"}' \
	"adapter.sync: expected 'module:function', got 'mf'" \
	"adapter.seed: expected 'module:function', got 1" \
	"adapter.counts: unknown key 'counts', did you mean 'count'" \
	"adapter.init: expected a list of 'module:function'" \
	"adapter.env.A=B: can't be the name of a variable" \
	'adapter.env.C: expected a text, got 1' \
	"adapter.fork: expected 'ok', 'bare' or 'never', got 'no'"
wrong 'calls' '.adapter = {"init": ["m:f", "m"]}' \
	"adapter.init\[1\]: expected 'module:function', got 'm'"
mkdir -p mine/..more
right 'folders' ".custom_test_dirs = [\"mine\", \"./mine/..more\", \"$T\"]"
wrong 'folders outside' '.custom_test_dirs = ["..", "mine/../../x"]' \
	"custom_test_dirs\[0\]: '..' leads out of the manifest's folder" \
	"custom_test_dirs\[1\]: 'mine/../../x' leads out"
wrong 'folders' '.custom_test_dirs = "x"' 'custom_test_dirs: expected a list'
right 'a folder' ".custom_test_dirs = [\".\", \"$PWD\"]"

# Warnings don't make a manifest wrong.
jq '.draft = true | .custom_test_dirs = ["no/such"] |
	.capabilities.multi_device = true' base.json >m.json
exits 0 'warnings' cts-manifest check m.json
is "$(grep -c '^cts-manifest: warning: m.json:' err)" 3 'there are three'

# Lines, duplicates, and what is no JSON.
cat >dup.json <<\END
{
	"manifest_version": 1, "device_name": "cpu",
	"capabilities": {
		"rng": true,
		"rng": false
	},
	"supported_dtypes": {},
	"device_name": "cuda",
	"colour": 1
}
END
exits 3 'keys twice' cts-manifest check dup.json
cmp_file err - 'each with its line, in order' <<\END
cts-manifest: dup.json:5: capabilities.rng: a duplicate key, already in line 4
cts-manifest: dup.json:8: device_name: a duplicate key, already in line 2
cts-manifest: dup.json:9: colour: unknown key 'colour'
END
printf '{\n"a": 1,\n}\n' >bad.json
exits 3 'not JSON' cts-manifest check bad.json
errline "^cts-manifest: bad.json:3: not JSON: a comma before '}'" 'the line'
printf '{"v":1,\n"device":"\\ud800"}\n' >half.json
exits 3 'half a surrogate pair' cts-manifest check half.json
errline '^cts-manifest: half.json:2: not JSON: half a surrogate pair' 'the line'
printf '{"manifest_version": 1\0}' >bad.json
exits 3 'a NUL byte' cts-manifest check bad.json
errline '^cts-manifest: bad.json:1: not JSON' 'is refused'
: >bad.json
exits 3 'an empty file' cts-manifest check bad.json
head -c 2000000 /dev/zero | tr '\0' ' ' >bad.json
exits 3 'a huge file' cts-manifest check bad.json
exits 4 'no file' cts-manifest check nothing.json
errline "^cts-manifest: .*'nothing.json'" 'is named'
exits 3 'several files' cts-manifest check base.json dup.json m.json
is "$(grep -c dup.json: err)" 3 'all are checked'
exits 2 'none at all' cts-manifest check
exits 3 'standard input' cts-manifest check - <dup.json
like err '^cts-manifest: <stdin>:5: capabilities.rng' 'is named so'

for t in smoke minimal inference training complete; do
	exits 0 "the template $t" cts-manifest check "$top/templates/$t.json"
	is "$(cat err)" '' 'is clean'
done
done_testing
