#!/bin/bash
# Where float64 is no oracle, the database's reference in NumPy is a second
# one: asked only where the device differs, kept in a corpus like the others.
. "${0%/*}/lib.sh"
needs torch jq

cat >plan.jsonl <<'EOF'
{"op":"exp*","dtype":"float64","do":"ulp","k":1,"at":"all"}
{"op":"sinh*","dtype":"float64","do":"ulp","k":1000}
{"op":"add.*","dtype":"int64","do":"add","value":1}
{"op":"add.*","dtype":"float32","do":"ulp","k":64}
{"op":"cholesky","dtype":"float64","do":"add","value":1}
EOF

# observed OP DTYPE FORM [OPTION...]: its first sample's observation, in obs
observed()
{
	local op=$1 dtype=$2 form=$3
	shift 3
	cts-enum -d refdev -l 3 --op "^$op\$" --dtype "$dtype" 2>err |
		jq -c "select(.variant == \"$form\") |
			select(.kind == \"case\") | .sample = 0" >case
	CTS_REFDEV_FAULTS=plan.jsonl exits 0 "$op $dtype $form: observed" \
		cts-exec -d refdev "$@" case
	jq -c 'select(.kind == "obs")' out >obs
	cp out stream
}

# verdict "OUTCOME ORACLE" NAME: on what was observed
verdict()
{
	cts-compare -q stream >verdicts 2>err
	is "$(jq -r '[.outcome, .oracle] | join(" ")' verdicts)" "$1" "$2"
}

observed exp float64 plain
verdict 'pass numpy' 'one ulp off is right by NumPy'
is "$(jq -r '.checks.value | has("ref_ulp")' verdicts)" true \
	"the CPU's own error stands beside it"
observed exp float64 inplace
verdict 'pass numpy' 'in place, too'
observed exp float64 out
verdict 'pass numpy' 'and out='
observed sinh float64 plain
verdict 'fail numpy' 'a thousand are wrong by both'
observed add int64 plain
verdict 'fail numpy' 'so are whole numbers'
observed add float32 plain
verdict 'fail float64' 'float32 has a float64 result'
is "$(jq -r 'has("numpy")' obs)" false "and NumPy isn't asked"
observed mul float64 plain
is "$(jq -r 'has("numpy")' obs)" false 'nor is it where both agree'
observed cholesky float64 plain
verdict 'fail cpu' 'what NumPy has no reference of is held against the CPU'

# The same bytes from a corpus, cold and warm, as without one.
jq -c 'del(.sample) | .op = "exp" | .dtype = "float64" |
	.id = "opinfo/exp/float64/plain" | .variant = "plain"' case >whole
for how in without cold warm; do
	[ $how = without ] || set -- --corpus corpus
	CTS_REFDEV_FAULTS=plan.jsonl exits 0 "$how a corpus" \
		cts-exec -d refdev "$@" whole
	jq -c 'select(.kind == "obs") | del(.t_ref_us, .t_dev_us)' out \
		>obs.$how
done
like obs.without '"numpy":' 'NumPy is asked of whole cases, too'
cmp_file obs.cold obs.without 'a cold corpus changes nothing'
cmp_file obs.warm obs.without 'nor does a warm one'
ok 'which holds them' grep -rqa 'seed=.* numpy' corpus

done_testing
