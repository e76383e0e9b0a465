#!/bin/bash
# The schema of records: it takes a good record of every kind, and refuses each
# fault; everything in it is enforced by the validator.
. "${0%/*}/lib.sh"
needs python3

valid() { python3 "$top/tests/validate.py" "$top/docs/records.schema.json" "$@"; }

id='"id":"opinfo/add/float32/plain","run":"0123456789ab"'
case='"suite":"opinfo","op":"add","variant":"plain","dtype":"float32"'
sum=sha256:$(printf '%064d' 0)
cat >good.jsonl <<END
{"v":1,"kind":"run","id":"","run":"0123456789ab","tool":"cts-enum 0.1.0","role":"selection","device":"lazy","hardware":"x86_64","torch":"2.13.0","manifest":"$sum","level":[1,2],"seed":67,"cases":3,"accounts":{"level_filtered":2},"command":["cts-enum"]}
{"v":1,"kind":"run","id":"","run":"","tool":"cts-exec 0.1.0","role":"worker","device":"lazy:0","reference":"cpu","t_import_s":1.25}
{"v":1,"kind":"case",$id,$case,"device":"lazy","level":1,"level_reason":"core","capability":"inference","oracle":"float64","samples":0,"seed":"18446744073709551615","timeout_s":2.5,"isolate":"case"}
{"v":1,"kind":"account",$id,$case,"level":1,"reason":"dtype_not_listed","detail":"x","claim":"supported_dtypes.float32"}
{"v":1,"kind":"account","id":"","run":"0123456789ab","reason":"deselected","n":6086,"detail":"x"}
{"v":1,"kind":"probe","id":"","run":"","probe":"dtype","name":"int8","status":"ok","note":""}
{"v":1,"kind":"start",$id,"device":"lazy:0","op":"add","dtype":"float32"}
{"v":1,"kind":"obs",$id,"sample":0,"op":"add","dtype":"float32","device":"lazy:0","oracle":"float64","tier":"clean","args":"add(x, 1)","inputs":[{"dtype":"float32","shape":[2,0],"strides":[1,1],"offset":0,"layout":"strided","device":"cpu","meta":true}],"ref":{"outs":[{"dtype":"float32","shape":[],"strides":[],"offset":0,"layout":"strided","device":"cpu","data":"AAAAAA=="}],"tree":"*"},"dev":{"raised":{"type":"RuntimeError","message":"no","kind":"unsupported"}},"hp":{"outs":[{"py":"float","value":"0x1p+0"},{"py":"none"}]},"alias":{"ref":["in0=",""],"dev":["out1"]},"mutated":{"ref":[0],"dev":[]},"guard":[{"tensor":0,"where":"gap","at":4}],"where":{"aten::add.Tensor":"device"},"drew":false,"repeat":"same","t_ref_us":12,"t_dev_us":34}
{"v":1,"kind":"end",$id,"samples":1,"status":"ran","t_s":0.001}
{"v":1,"kind":"end",$id,"samples":0,"status":"error","error":{"type":"set-up","message":"x"},"t_s":1e-05}
{"v":1,"kind":"death",$id,"outcome":"crash","signal":"SIGSEGV","stderr":"","stack":"","starts":["opinfo/add/float32/plain"],"sample":-1,"t_s":1}
{"v":1,"kind":"oracle_failure",$id,"sample":0,"reason":"raised","detail":"x"}
{"v":1,"kind":"verdict",$id,$case,"level":1,"device":"lazy","oracle":"cpu","outcome":"pass","tier":"strict","samples":1,"failed":0,"checks":{"value":{"ok":true,"class":"contract","n":1,"bad":0,"max_ulp":"0x1p-1","max_abs":"0x0p+0","max_rel":"nan"}}}
{"v":1,"kind":"verdict",$id,$case,"outcome":"fail","samples":1,"failed":1,"checks":{},"why":"value in sample 0","first":0,"args":"x"}
{"v":1,"kind":"something_new","id":"","run":"","x":[1,{"y":true}]}
END
exits 0 'a good record of every kind is taken' valid good.jsonl
cmp_file err /dev/null 'and nothing is said of it'
gzip -k good.jsonl
exits 0 'gzip, too' valid good.jsonl.gz

# refused NAME FILTER WHERE: the first good record of a kind, edited by jq.
refused()
{
	jq -c "$2" good.jsonl | head -n 1 >bad.jsonl
	exits 1 "$1 is refused" valid bad.jsonl
	errline "$3" 'and named'
}

kind() { echo "select(.kind==\"$1\")"; }
refused 'another version' '.v=2' '/v is not 1'
refused 'a key that is not known' "$(kind case)|.extra=1" '/extra is not known'
refused 'a key that is missing' "$(kind case)|del(.seed)" "has no 'seed'"
refused 'a null' "$(kind something_new)|.x=null" '/x is null'
refused 'a fraction' "$(kind something_new)|.x=0.5" '/x is a fraction'
refused 'a wrong order' "$(kind end)|{kind,v,id,run}+." 'does not begin with'
refused 'a missing run' "$(kind end)|del(.run)" 'does not begin with'
refused 'a bad id' "$(kind start)|.id=\"a/b c/d/e\"" '/id is'
refused 'a level of 9' "$(kind account)|.level=9" '/level is 9'
refused 'an account that names no case' "$(kind account)|.id=\"\"" '/id is'
refused 'one that neither names nor counts' \
	"$(kind account)|select(.n)|del(.n)" "has no 'suite'"
refused 'a level that is text' "$(kind account)|.level=\"1\"" '/level is no int'
refused 'an unknown outcome' "$(kind death)|.outcome=\"died\"" '/outcome is'
refused 'a bad digest' "$(kind run)|.manifest=\"sha256:0\"" '/manifest is'
refused 'a bad shape' "$(kind obs)|.inputs[0].shape=[-1]" \
	'/inputs/0/shape/0 is -1'
refused 'bad base64' "$(kind obs)|.ref.outs[0].data=\"!\"" \
	'/ref/outs/0/data is'
refused 'a result that both raised and did not' \
	"$(kind obs)|.dev.outs=[]" '/dev/outs is not known'
refused 'a bad alias' "$(kind obs)|.alias.ref=[\"in\"]" '/alias/ref/0 is'
refused 'an end without its error' \
	"$(kind end)|.status=\"error\"|del(.error)" "has no 'error'"
refused 'a pass with failed samples' \
	"select(.outcome==\"pass\")|.failed=1" '/failed is not 0'
refused 'a failure without a why' \
	"select(.outcome==\"fail\")|del(.why)" "has no 'why'"
refused 'a decimal in place of a hex-float' \
	"select(.outcome==\"pass\")|.checks.value.max_ulp=\"0.5\"" 'max_ulp is'
refused 'a true in place of a 1' '.v=true' '/v is not 1'

printf '{"v":1,"kind":"x","id":"","run":""}' >cut.jsonl
exits 1 'a cut line is refused' valid cut.jsonl
errline 'cut.jsonl:1: record is cut' 'and named'
printf '{"v":1,"kind":"x","id":"","run":"","x":NaN}\n' >nan.jsonl
exits 1 'NaN is refused' valid nan.jsonl
printf '{"v":1,"kind":"x","id":"","run":"","x":1,"x":2}\n' >twice.jsonl
exits 1 'a key that comes twice is refused' valid twice.jsonl
{ printf '{"v":1,"kind":"x","id":"","run":"","x":"'
  head -c 1048576 /dev/zero | tr '\0' x; printf '"}\n'; } >long.jsonl
exits 1 'a line of over 1 MiB is refused' valid long.jsonl

echo '{"type":"object","unheard":1}' >schema.json
exits 2 'a schema that the validator does not understand is refused' \
	python3 "$top/tests/validate.py" schema.json good.jsonl
errline "unknown keyword 'unheard'" 'and named'

# Page and schema name the same keys.
jq -r '."$defs" | (.run,.case,.account,.probe,.start,.end,.obs,.death,
	.oracle_failure,.verdict,.tensor,.check) | .properties | keys[]' \
	"$top/docs/records.schema.json" | sort -u >keys
while read -r key; do
	grep -qF "\`$key\`" "$top/docs/records.md" || echo "$key"
done <keys >undocumented
cmp_file undocumented /dev/null 'every key of the schema is on the page'
done_testing
