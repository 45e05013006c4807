#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The steps of `make test`: installs missing packages, fetches the kernels of the matrix, builds, and
# runs the tests, which end with the time of each of these parts.
#
#   suite.sh [WORD...]      only programs with one of the words in their name

set -u
umask 022 # tests run the built programs as other users
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
PARTS=
scratch=$(mktemp -d) || exit 1
export BUILD PARTS

# Seconds since boot: a clock that is never set.
seconds() {
    cut -d . -f 1 /proc/uptime
}

part() { # name
    PARTS="$PARTS $1=$(($(seconds) - since))"
    since=$(seconds)
}

stop() { # what went wrong
    wait # for downloads and builds in the background
    rm -rf "$scratch"
    echo "$1" >&2
    echo '0 passed, 1 failed'
    exit 1
}

build() { # targets
    make --no-print-directory -j "$(nproc)" "$@"
}

# One job per CPU, also below another make, which would pass its job server on.
MAKEFLAGS=$(printf %s "${MAKEFLAGS:-}" | sed 's/ *--jobserver-[a-z]*=[^ ]*//g; s/ *-j[0-9]*//g')
export MAKEFLAGS
# A compiler installed in the user's home is found there, whatever HOME is.
home=$(getent passwd "$(id -u)" | cut -d : -f 6)
if [ -z "${RUSTUP_HOME:-}" ] && [ -d "$home/.rustup" ]; then
    RUSTUP_HOME=$home/.rustup
    export RUSTUP_HOME
fi

since=$(seconds)
tests/deps.sh install build unit || stop 'stacktop: without these packages nothing can be built'
# The kernels are fetched and everything is built while the tests' packages are unpacked.
other=
case "${*:-kernel}" in
*kernel* | *live*)
    (tests/kernels/fetch.sh 5.10 6.1 6.12 7.2 || echo 'stacktop: the kernel matrix will fail' >&2) &
    [ "$(uname -m)" != x86_64 ] || tests/kernels/green.sh as-before || other=aarch64
    ;;
esac
build all unit >"$scratch/built" 2>&1 &
building=$!
more=
[ -z "${CI:-}" ] || more=check # for what follows in .ci/run
# At once, which is faster; a package that cannot be had must not keep the tests' own away.
# shellcheck disable=SC2086  # none or one word
tests/deps.sh install test kernels $more ||
    tests/deps.sh install test || stop 'stacktop: without these packages nothing can be tested'
part packages
if ! command -v qemu-system-aarch64 >/dev/null || ! command -v aarch64-linux-gnu-gcc >/dev/null; then
    other=
fi
if [ "$other" ]; then
    (GUEST=$other tests/kernels/fetch.sh 6.12 || echo 'stacktop: the guest of arm64 will fail' >&2) &
    tests/kernels/sysroot.sh $other >/dev/null &
    sysroot=$!
fi
case "${*:-root}" in
*root* | *live*)
    ! command -v mmdebstrap >/dev/null || [ "$(id -u)" != 0 ] ||
        (tests/roots/make.sh trixie || echo 'stacktop: programs of Debian 13 will fail' >&2) &
    ;;
esac
wait $building
built=$?
cat "$scratch/built"
[ $built = 0 ] || stop 'stacktop cannot be built'
build tests || stop 'stacktop: the tests cannot be built'
again=$(build all tests 2>&1)
[ -z "$again" ] || stop "stacktop: a second make builds again:
$again"
if [ "$other" ]; then
    wait "$sysroot" && tests/kernels/guest-programs.sh $other ||
        echo 'stacktop: the guest of arm64 will fail' >&2
fi
part build
wait
part kernels
rm -rf "$scratch"
exec tests/run.py "$@"
