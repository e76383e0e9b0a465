#!/bin/bash
# A death costs one record, says what it was, and the rest goes on, wherever
# the workers come from.
# shellcheck disable=SC2046,SC2086,SC2094
. "${0%/*}/lib.sh"
. "$top/tests/fake/cases.sh"
needs jq

cases ok segv ok abort bus fpe stack ok exit.0 exit.3 ok kill ok cut close \
	child badalloc python stderr ok >in
cat >want <<-\END
	ok ran 
	segv crash SIGSEGV
	ok ran 
	abort crash SIGABRT
	bus crash SIGBUS
	fpe crash SIGFPE
	stack crash SIGSEGV
	ok ran 
	exit.0 crash 0
	exit.3 crash 3
	ok ran 
	kill crash SIGKILL
	ok ran 
	cut crash 0
	close crash SIGKILL
	child crash 0
	badalloc oom SIGABRT
	python crash SIGSEGV
	stderr crash SIGABRT
	ok ran 
END

for how in --plain "--zygote $zy" "--zygote $zy --mode case" \
	'--plain --mode case' "--zygote $zy --batch 2"; do
	exits 0 "deaths are data: $how" cts-isolate $how in -- "$fake"
	results out >got
	cmp_file got want 'each case has its own result'
	ok 'and only one' once in out
	# What differs from place to place is not the case's.
	jq -c 'del(.starts, .stderr, .stack) |
		with_entries(select(.key | startswith("t_") | not))' out >norm
	[ -f first ] || cp norm first
	cmp_file norm first 'the records are the same everywhere'
done

cp out batch
exits 0 'a private zygote' cts-isolate in -- "$fake"
ln -s "$fake" cts-exec
mkdir tmp
TMPDIR=$T/tmp exits 0 'which cts-exec gets by itself' cts-isolate in -- ./cts-exec
results out >got
cmp_file got want 'results are the same'
is "$(ls tmp)" '' 'and no folder is left behind'

# What a death says.
death() { jq -r "select(.kind == \"death\" and .op == \"$1\") | $2" batch; }
is "$(death python .stack | head -n 1)" \
	'Fatal Python error: Segmentation fault' 'stack begins at the report'
is "$(death python .stderr | head -n 1)" noise 'stderr has what was before'
is "$(death stderr .stderr | wc -c)" 4097 'at most 4 KiB of stderr'
ok 'the end of it' jq -es 'any(.kind == "death" and .op == "stderr" and
	(.stderr | contains("last words")))' batch
ok 'a native stack' jq -es 'any(.kind == "death" and .op == "segv" and
	(.stack | startswith("native stack:\n")))' batch
is "$(death segv '[.suite, .variant, .dtype, .level, .oracle] | join(" ")')" \
	'fake v2 float32 1 cpu' 'what a verdict will want to know'
cases $(printf 'ok %.0s' {1..40}) segv >many
exits 0 'many, then a death' cts-isolate --zygote "$zy" many -- "$fake"
is "$(jq -c 'select(.kind == "death") | .starts |
	[length, .[0], .[31]]' out)" \
	'[32,"fake/ok/float32/v10","fake/segv/float32/v41"]' \
	'the last 32 starts, oldest first'
cases segv/last >last
exits 0 'death after the last sample' cts-isolate --plain last -- "$fake"
is "$(jq 'select(.kind == "death").sample' out)" 1 'names the sample'

# Deaths between cases are nobody's.
cases late ok late.6 ok >late
exits 0 'deaths between cases' cts-isolate --zygote "$zy" late -- "$fake"
results out >got
cmp_file got - 'cost no case its result' <<-\END
	late ran 
	ok ran 
	late.6 ran 
	ok ran 
END
is "$(jq -r 'select(.kind == "probe") | .note' out | head -n 1)" \
	"SIGSEGV after 'fake/late/float32/v1'" 'but are told'

# A case that kills the zygote kills it again, and only that case pays.
cases ok parent ok >parent
exits 0 'the zygote is killed' cts-isolate --zygote "$zy" parent -- "$fake"
results out >got
cmp_file got - 'and started again' <<-\END
	ok ran 
	parent crash SIGKILL
	ok ran 
END

# A worker that says it is spent is replaced before it does harm.
cases ok poison ok ok >poison
for how in --plain "--zygote $zy"; do
	exits 0 "a poisoned worker: $how" cts-isolate $how poison -- "$fake"
	results out >got
	cmp_file got - 'is replaced' <<-\END
		ok ran 
		poison error 
		ok ran 
		ok ran 
	END
	is "$(jq -r 'select(.kind == "probe").name' out)" poisoned 'and named'
done

# Before its start: once is bad luck, twice is the case.
cases ok segv/early ok >early
exits 0 'death before the start' cts-isolate --zygote "$zy" early -- "$fake"
results out >got
cmp_file got - 'is the case'\''s where others work' <<-\END
	ok ran 
	segv crash SIGSEGV
	ok ran 
END
done_testing
