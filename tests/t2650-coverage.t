#!/bin/bash
# cts-coverage: inventory, evidence, audit, check, report, accounts, ledger.
. "${0%/*}/lib.sh"
needs jq

# aten OP KERNEL SURFACE
aten() { jq -cn --arg o "aten::$1" --arg k "$2" --arg s "${3:-functional}" \
	'{v: 1, kind: "aten", id: "", run: "", op: $o, schema: $o, kernel: $k,
	surface: $s, tags: []}'; }
# obs ID WHERE; verdict ID OUTCOME
obs() { printf '{"v":1,"kind":"obs","id":"opinfo/%s/int8/plain","run":"r",' \
	"$1"; printf '"sample":0,"device":"dev","where":%s}\n' "$2"; }
verdict() { printf '{"v":1,"kind":"verdict","id":"opinfo/%s/int8/plain",' \
	"$1"; printf '"run":"r","outcome":"%s"}\n' "$2"; }

{ aten add.Tensor own; aten add.out own out; aten mul.Tensor own
  aten sin composite; aten cos fallback; aten tan.out composite_explicit out
  aten cudnn_x none; aten strange none; aten sinh own; } >inv
{ obs add '{"aten::add.Tensor":"device","aten::sin":"composite"}'
  obs add '{"aten::add.Tensor":"device","aten::cos":"fallback"}'
  verdict add pass
  obs mul '{"aten::mul.Tensor":"device","aten::add.Tensor":"device"}'
  verdict mul fail
  obs sinh '{"aten::sinh":"device"}'
  verdict sinh pass; verdict sinh pass
  jq -cn '{v: 1, kind: "account", id: "aten/tan.out/int8/out", run: "r",
	suite: "aten", op: "tan.out", dtype: "int8", variant: "out", level: 3,
	reason: "dtype_not_supported"}'
} >run
x() { jq -cn --arg m "$1" '{match: $m, reason: "one vendor alone",
	reviewed: "2025-11-30"}'; }
x 'aten::cudnn*' >excl

cov() { local cmd=$1; shift; cts-coverage "$cmd" -i inv -x excl "$@"; }

exits 0 'inventory' cts-coverage inventory inv
cmp_file out inv 'is what it was'
exits 0 'from stdin, to a file' bash -c 'cts-coverage inventory -i - -o o <inv'
cmp_file o inv 'too'
exits 3 'an overload twice' bash -c 'cat inv inv | cts-coverage inventory -'
errline "<stdin>:10: overload 'aten::add.Tensor' comes twice" 'is named'
aten add.Tensor cuda >bad
exits 3 'an unknown kernel' cts-coverage inventory bad
errline "bad:1: kernel: 'cuda'" 'is named'
exits 3 'no overload' cts-coverage inventory /dev/null

exits 0 'evidence' cts-coverage evidence run
is "$(jq -c '[.op, .pass.device, .pass.composite, .pass.fallback, .fail,
	.first]' out)" \
'["aten::add.Tensor",1,0,0,1,"opinfo/add/int8/plain"]
["aten::cos",0,0,1,0,"opinfo/add/int8/plain"]
["aten::mul.Tensor",0,0,0,1,null]
["aten::sin",0,1,0,0,"opinfo/add/int8/plain"]
["aten::sinh",0,0,0,1,null]' 'counts cases; one judged twice proves nothing'
cp out ev

exits 0 'audit' cov audit run
is "$(jq -r '"\(.op) \(.state) \(.reason // "-")"' out)" \
'aten::add.Tensor reached -
aten::add.out unreached -
aten::cos reached -
aten::cudnn_x excluded one vendor alone
aten::mul.Tensor failing -
aten::sin reached -
aten::sinh failing -
aten::strange no_kernel -
aten::tan.out accounted dtype_not_supported' 'has a state for each'
is "$(cat err)" '' 'and no complaint'
exits 0 'from saved evidence' cov audit ev
is "$(jq -r 'select(.op == "aten::cos") | .state' out)" reached 'is the same'
exits 0 'evidence adds up' cov audit ev ev
is "$(jq -r 'select(.op == "aten::cos") | .pass.fallback' out)" 2 'over runs'

exits 1 'check finds holes' cov check run
cmp_file out - 'and lists them' <<-\END2
	aten::add.out: unreached, kernel own
	aten::mul.Tensor: failing, kernel own
	aten::sinh: failing, kernel own
	3 of 9 overloads proven, 3 explained, 3 not
	END2
{ obs all '{"aten::mul.Tensor":"device","aten::sinh":"device","aten::add.out":"device"}'
  verdict all pass; } >more.jsonl
exits 0 'check is content' cov check run more.jsonl
x 'aten::add*' >>excl
x 'aten::none_such' >>excl
exits 0 'the ledger is audited too' cov audit run
like err "exclusion 2 'aten::add\\*': passing cases reach 1 of its 2" \
	'needless entries'
like err "exclusion 3 'aten::none_such' matches no overload" 'stale ones'

exits 0 'report' cov report run
like out '^\*\*3 of 9 overloads are proven' 'begins with the figure'
like out '^\| `unreached` \| 0 ' 'says what is explained'
like out '^\| `own` \| 4 \| 1 \| 2 \| 1 \|' 'by kernel'
like out '^\| `aten::mul.Tensor` \| own \| functional \|' 'and lists'

exits 0 'materialize' cov materialize run
is "$(jq -r '"\(.id) \(.reason)"' out)" \
'aten/add.out/any/unreached op_excluded
aten/cudnn_x/any/unreached op_excluded
aten/strange/any/unreached runtime_unavailable' 'accounts for what did not run'
cp out acc
exits 0 'and closes the circle' cov audit run acc

x 'aten::*' >excl
exits 3 'an exclusion of everything' cov audit run
errline "^cts-coverage: excl:1: 'match' must be" 'is refused'
for change in 'del(.reason)' 'del(.reviewed)' '.reviewed = "2025-13-01"' \
	'.more = 1' '.reason = ""'; do
	x 'aten::cudnn*' | jq -c "$change" >excl
	exits 3 "an exclusion with $change" cov audit run
	errline '^cts-coverage: excl:1: ' 'is refused'
done
x 'aten::cudnn*' | jq -c '.device = "cuda*"' >excl
exits 0 'an exclusion for a device' cov audit run
is "$(jq -r 'select(.op == "aten::cudnn_x") | .state' out)" no_kernel \
	'is not for others'
exits 0 'but for that one' cov audit -d cuda:1 run
is "$(jq -r 'select(.op == "aten::cudnn_x") | .state' out)" excluded 'holds'

obs add '{"aten::add.Tensor":"moon"}' >bad
exits 3 'an unknown place' cts-coverage evidence bad
errline "bad:1: where 'aten::add.Tensor'" 'is named'
exits 2 'no command' cts-coverage
exits 2 'an unknown command' cts-coverage guess
errline_first=$(head -n 1 err)
is "$errline_first" "cts-coverage: unknown command 'guess'" 'is named'
exits 2 'no run' cov audit
exits 4 'no such run' cov audit nowhere
exits 0 'the ledger in the tree is in order' cts-coverage audit -i inv run
done_testing
