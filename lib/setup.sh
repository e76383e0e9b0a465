#!/bin/bash
# setup.sh PYTHON OUT: see that everything is there that a build and a run
# need, install what is missing where that is allowed, and write OUT, what
# PYTHON says of itself.  Exits 0, or 4 with one line that says what to do.
set -eu -o pipefail

python=$1
out=$2
venv=$PWD/.venv/bin/python
log=build/setup.log
mkdir -p build
: >"$log"

die()
{
	printf 'set-up: %s\n' "$*" >&2
	exit 4
}

# What is missing of the things that PYTHON has no say in, as Debian packages.
missing_tools()
{
	local cmd
	while read -r cmd pkg; do
		command -v "$cmd" >/dev/null || echo "$pkg"
	done <<-END
		gcc gcc
		g++ g++
		jq jq
		parallel parallel
	END
	header cjson/cJSON.h || echo libcjson-dev
	header zlib.h || echo zlib1g-dev
}

header()
{
	gcc -E - <<<"#include <$1>" >/dev/null 2>&1
}

# Debian's own python3 comes in parts.
missing_python()
{
	local py=$1 ver
	ver=$("$py" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	"$py" - <<-'END' || echo "libpython$ver-dev"
		import os, sys, sysconfig
		inc = sysconfig.get_paths()["include"]
		sys.exit(not os.path.exists(os.path.join(inc, "Python.h")))
	END
	[ "$python" != "$venv" ] || "$py" -c 'import ensurepip' 2>/dev/null ||
		echo "python$ver-venv"
}

# apt_install PACKAGE...: as root, or with a sudo that asks nothing.
apt_install()
{
	local sudo=
	[ $# -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ]; then
		sudo="sudo -n"
		$sudo true 2>/dev/null ||
			die "please run: sudo apt-get install $*"
	fi
	command -v apt-get >/dev/null ||
		die "please install (Debian's names): $*"
	echo "set-up: installing $*" >&2
	export DEBIAN_FRONTEND=noninteractive
	if ! { $sudo apt-get update && $sudo apt-get install -y \
	    --no-install-recommends "$@"; } </dev/null >>"$log" 2>&1; then
		die "apt-get install $* failed, see $log"
	fi
}

make_venv()
{
	[ -x "$venv" ] || {
		echo "set-up: making .venv" >&2
		"$1" -m venv .venv >>"$log" 2>&1 ||
			die "$1 -m venv .venv failed, see $log"
	}
	"$venv" -c 'import importlib.util as u, sys
sys.exit(not u.find_spec("torch"))' || {
		echo "set-up: installing torch into .venv" >&2
		"$venv" -m pip install torch==2.13.0 numpy expecttest \
			</dev/null >>"$log" 2>&1 ||
			die "pip install torch==2.13.0 failed, see $log"
	}
}

mapfile -t need < <(missing_tools)
apt_install "${need[@]}"

base=$python
[ "$python" != "$venv" ] || [ -x "$venv" ] || base=python3
command -v "$base" >/dev/null ||
	die "there is no interpreter '$base'; please say PYTHON=..."
mapfile -t need < <(missing_python "$base")
apt_install "${need[@]}"

[ "$python" != "$venv" ] || make_venv "$base"
"$python" lib/torchmk.py >"$out.tmp" || {
	rm -f "$out.tmp"
	die "PYTHON='$python' can't be used"
}
"$python" -c 'import numpy, expecttest' 2>>"$log" ||
	die "please run: $python -m pip install numpy expecttest"
mv "$out.tmp" "$out"
