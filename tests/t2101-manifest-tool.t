#!/bin/bash
# cts-manifest: init, resolve, show.
. "${0%/*}/lib.sh"
needs jq

exits 0 'init' cts-manifest init
exits 0 'its manifest' cts-manifest check manifest.json
is "$(jq -r .device_name manifest.json)" auto 'is for any device'
cp manifest.json was
exits 2 'init once more' cts-manifest init --template smoke
errline "'manifest.json' is there already" 'is refused'
cmp_file manifest.json was 'and nothing is lost'
exits 0 'init --force' cts-manifest init --template smoke --force
is "$(jq .semantic_level manifest.json)" 1 'overwrites'
for t in smoke minimal inference training complete; do
	exits 0 "init --template $t" cts-manifest init --template $t -d refdev \
		-o $t.json
	exits 0 'is right' cts-manifest check $t.json
	is "$(jq -c '[.device_name, .backend_import]' $t.json)" \
		'["refdev",["torch_refdev"]]' 'and knows the import'
done
exits 2 'no such template' cts-manifest init --template huge -o x.json
like err "no template 'huge', expected smoke, minimal, inference" 'is told'
exits 2 'JSON in Python' cts-manifest init --format json -o x.py
like err "'x.py', which would be read as the other" 'is refused'
exits 2 'check of a device' cts-manifest check -d cpu refdev.json
like err 'check takes files alone' 'is refused'
ok 'and nothing was written' test ! -e x.json
exits 2 'no such format' cts-manifest init --format toml -o x.json
exits 0 'init to stdout' cts-manifest init -o -
is "$(jq .manifest_version out)" 1 'is JSON'
exits 4 'init to a full disk' cts-manifest init --force -o /dev/full

exits 0 'resolve -d' cts-manifest resolve -d lazy
is "$(jq -c '[.device_name, .backend_import, .semantic_level]' out)" \
	'["lazy",["torch._lazy.ts_backend"],8]' 'is the complete template'
cp out lazy.json
exits 0 'resolve of that' cts-manifest resolve lazy.json
cmp_file out lazy.json 'changes nothing'
exits 0 'resolve -d -l' cts-manifest resolve -d cuda:1 -l 3 lazy.json
is "$(jq -c '[.device_name, .semantic_level]' out)" '["cuda:1",3]' 'both'
exits 0 'resolve --import' cts-manifest resolve -d odd --import a.b --import c
is "$(jq -c .backend_import out)" '["a.b","c"]' 'both imports'
exits 0 'resolve --dtype' cts-manifest resolve -d cpu --dtype float \
	--dtype torch.bfloat16
is "$(jq -c '[.supported_dtypes, .only_dtypes]' out)" \
	'[{"float32":true,"bfloat16":true},["float32","bfloat16"]]' \
	'those alone, and it says so'
exits 2 'resolve --dtype, unknown' cts-manifest resolve -d cpu --dtype float3
errline "unknown dtype 'float3', did you mean 'float32'" 'has a proposal'
exits 2 'a level beyond 8' cts-manifest resolve -d cpu -l 9
exits 3 'resolve of a wrong one' cts-manifest resolve - <<<'{}'
is "$(cat out)" '' 'prints no manifest'

cat >odd.json <<\END
{"capabilities": {"rng": true, "inference": true}, "device_name": "cpu",
 "tolerance_overrides": {"mm/torch.float": [0.5, 0]},
 "supported_dtypes": {"torch.float64": true, "long": "^a"},
 "backend_import": null, "manifest_version": 1}
END
exits 0 'resolve brings order' cts-manifest resolve odd.json
is "$(jq -c . out)" "$(printf '%s' '{"manifest_version":1,' \
	'"device_name":"cpu","supported_dtypes":{"int64":"^a",' \
	'"float64":true},"capabilities":{"inference":true,"rng":true},' \
	'"tolerance_overrides":{"mm:float32":{"rtol":0.5,"atol":0}}}')" \
	'keys, dtypes and capabilities'

exits 0 'show' cts-manifest show odd.json
like out '^capabilities +rng +yes$' 'a claim'
like out '^supported_dtypes +int64 +\^a$' 'a regex'
exits 2 'no command' cts-manifest
exits 2 'an unknown command' cts-manifest frob
exits 2 'too many files' cts-manifest resolve a b
exits 2 'init of a manifest' cts-manifest init a
done_testing
