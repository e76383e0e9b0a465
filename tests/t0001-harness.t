#!/bin/bash
# The harness itself: it must fail when it has to.
. "${0%/*}/lib.sh"

# One that is killed leaves its folder: here, where ours goes too.
mkdir tmp
export TMPDIR=$T/tmp

# suite NAME: a test script with the body on stdin; runs it by the runner.
suite()
{
	{ echo '#!/bin/bash'; echo ". '$top/tests/lib.sh'"; cat; } >"$1.t"
	chmod +x "$1.t"
	TAP_DIR=$T/tap.$1 bash "$top/tests/run.sh" "$T/$1.t" >"$1.log" 2>&1
	status=$?
	last=$(tail -n 1 "$1.log")
}

suite good <<'END'
ok 'true is true' true
is a a 'a is a'
exits 3 'three' bash -c 'exit 3'
echo x >x
cmp_file x - 'x' <<<x
done_testing
END
is "$status $last" '0 4 passed, 0 failed' 'a good script passes'

suite wrong <<'END'
is a b 'a is b'
ok 'false is true' false
exits 0 'one is zero' bash -c 'echo gone wrong >&2; exit 1'
cmp_file /dev/null - 'x' <<<x
done_testing
END
is "$status $last" '1 0 passed, 4 failed' 'each wrong point fails'
like wrong.log "# want: 'b'" 'texts are shown'
like wrong.log '#.*gone wrong' 'stderr is shown'
like wrong.log '# -x' 'a diff is shown'
like wrong.log 'wrong.t line 3' 'with the line of the script'

suite segv <<'END'
exits 0 'right output' bash -c 'echo right; kill -SEGV $$'
is "$(cat out)" right 'it is right'
done_testing
END
is "$status $last" '1 1 passed, 1 failed' \
	'right output, then SIGSEGV, is a failure'

suite anyfail <<'END'
exits 1 'it must fail' bash -c 'kill -ABRT $$'
exits 127 'asked for' no-such-command
done_testing
END
is "$status $last" '1 1 passed, 1 failed' \
	'a crash is not the failure that was wanted'

suite dies <<'END'
ok 'fine' true
exit 0
END
is "$status $last" '1 1 passed, 1 failed' 'no plan is a failure'

suite killed <<'END'
ok 'fine' true
echo 1..1
kill -KILL $$
END
is "$status $last" '1 1 passed, 1 failed' 'so is death after the plan'

suite plan <<'END'
ok 'fine' true
echo 1..2
END
is "$status $last" '1 1 passed, 1 failed' 'and another number than planned'

suite skip <<'END'
needs no-such-command
END
is "$status $last" '1 0 passed, 1 failed' 'nothing ran is no success'
CTS_REQUIRE=1 suite require <<'END'
needs no-such-command
END
like require.log 'there is no no-such-command' 'a skip can be forbidden'

printf '#!/bin/bash\nsleep 60\n' >slow.t
chmod +x slow.t
TEST_TIMEOUT=1 TAP_DIR=$T/tap.slow exits 1 'a hanging script fails' \
	bash "$top/tests/run.sh" "$T/slow.t"
is "$(tail -n 1 out)" '0 passed, 1 failed' 'once'
TAP_DIR=$T/tap.none exits 1 'a script that is not there fails' \
	bash "$top/tests/run.sh" "$T/none.t"

suite clean <<'END'
ok 'fine' true
done_testing
END
is "$status $(find tmp -mindepth 1 -maxdepth 1 | wc -l)" '0 1' \
	'temporary folders are removed'
done_testing
