#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What `make test` does: installs what is missing, fetches the kernels of the matrix, builds, and
# runs the tests, which name at their end the time of each of these parts.
#
#   suite.sh [WORD...]      only programs whose name contains one of the words

set -u
umask 022 # programs of other users run what is built
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
PARTS=
export BUILD PARTS

# Since boot: this clock is never set.
seconds() {
    cut -d . -f 1 /proc/uptime
}

part() { # name
    PARTS="$PARTS $1=$(($(seconds) - since))"
    since=$(seconds)
}

stop() { # what went wrong
    wait # for what is being fetched and built
    echo "$1" >&2
    echo '0 passed, 1 failed'
    exit 1
}

build() { # targets
    make --no-print-directory -j "$(nproc)" "$@"
}

# A job for each CPU, whatever called this: a make passes its own jobs on to makes only.
MAKEFLAGS=$(printf %s "${MAKEFLAGS:-}" | sed 's/ *--jobserver-[a-z]*=[^ ]*//g; s/ *-j[0-9]*//g')
export MAKEFLAGS
# A compiler that lives in the user's home is there whatever HOME says.
home=$(getent passwd "$(id -u)" | cut -d : -f 6)
if [ -z "${RUSTUP_HOME:-}" ] && [ -d "$home/.rustup" ]; then
    RUSTUP_HOME=$home/.rustup
    export RUSTUP_HOME
fi

since=$(seconds)
tests/deps.sh install build || stop 'stacktop: without these packages nothing can be built'
# What is tested is built while the tests' packages are unpacked.
build all &
building=$!
tests/deps.sh install test || stop 'stacktop: without these packages nothing can be tested'
tests/deps.sh install kernels || echo 'stacktop: the kernel matrix will fail' >&2
part packages
# The kernels are fetched while the compilers run.
case "${*:-kernel}" in
*kernel* | *live*)
    (tests/kernels/fetch.sh 5.10 6.1 6.12 7.2 || echo 'stacktop: the kernel matrix will fail' >&2) &
    ;;
esac
wait $building || stop 'stacktop cannot be built'
build tests || stop 'stacktop: the tests cannot be built'
part build
wait
part kernels
exec tests/run.py "$@"
