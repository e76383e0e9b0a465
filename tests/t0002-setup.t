#!/bin/bash
# Set-up installs what is missing where it may, and else says what to run.
. "${0%/*}/lib.sh"

# A machine of ours: what is not in m/ is not installed.
mkdir m lib build
cp "$top/lib/setup.sh" "$top/lib/torchmk.py" lib/
for c in bash mkdir cat rm mv; do
	ln -s "$(command -v $c)" m/
done
stub() { printf '#!%s\n%s\n' "$(command -v bash)" "$2" >"m/$1"; chmod +x "m/$1"; }
stub gcc 'exit 0'
stub g++ 'exit 0'
stub parallel 'exit 0'
stub id 'echo ${FAKE_UID:-0}'
stub apt-get 'echo "apt-get $*" >>apt.log; [ "$1" = update ] ||
	{ echo "#!/bin/bash" >m/jq; echo >>m/jq; chmod +x m/jq 2>/dev/null; }'
ln -s "$(command -v chmod)" m/
stub py 'case "$*" in
	*version_info*) echo 3.11 ;;
	*torchmk*) echo "PYTHON_EXE := py" ;;
	esac'
setup() { PATH=$T/m bash lib/setup.sh "$@"; }

FAKE_UID=7 exits 4 'not root, no sudo: it stops' setup "$T/m/py" out.mk
is "$(cat err)" 'set-up: please run: sudo apt-get install jq' \
	'and says the command'
ok 'nothing was written' test ! -e out.mk

mv m/apt-get .
exits 4 'root, no apt-get: it stops' setup "$T/m/py" out.mk
errline 'please install .*: jq$' 'and says what'
mv apt-get m/

stub gcc 'read -r l; case $l in *cjson*) exit 1 ;; esac'
exits 0 'root: it installs' setup "$T/m/py" out.mk
cmp_file apt.log - 'just what is missing' <<-\END
	apt-get update
	apt-get install -y --no-install-recommends jq libcjson-dev
END
is "$(cat out.mk)" 'PYTHON_EXE := py' 'and asks the interpreter'

stub gcc 'exit 0'
rm apt.log
exits 0 'again' setup "$T/m/py" out.mk
ok 'nothing is installed' test ! -e apt.log

stub bad 'case "$*" in *version_info*) echo 3.11 ;;
	*torchmk*) echo "set-up: bad: has no torch" >&2; exit 1 ;; esac'
rm out.mk
exits 4 'an interpreter without torch' setup "$T/m/bad" out.mk
like err 'has no torch' 'is named'
ok 'and not believed' test ! -e out.mk

exits 4 'one that is not there' setup "$T/m/none" out.mk
errline 'set-up:.*none' 'is named'

exits 1 'torchmk without torch' python3 -I -S "$top/lib/torchmk.py"
errline 'has no torch' 'says so'
done_testing
