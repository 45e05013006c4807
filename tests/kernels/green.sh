#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Remembers with which sources the guest of arm64 was last green, below build/kernels: it is built and
# runs again when one of them has changed, and always with CI=true or SIZE=full. What was green is what
# was built, whatever has been edited since.
#
#   green.sh as-before      exit status 0: nothing has changed
#   green.sh build          before the programs of the guest are built
#   green.sh now            all tests of the guest have passed

set -u
cd "$(dirname "$0")/../.." || exit 1
stamp=${BUILD:-build}/kernels/aarch64/green
built=${BUILD:-build}/aarch64/sources

content() {
    find unwind/arch bpf/prog symbols/elf/arch tests/kernels tests/live/programs \
        tests/live/test_kernel_arm64.sh Makefile tests/unit.mk -type f |
        LC_ALL=C sort | xargs sha256sum | sha256sum
}

case ${1:-} in
as-before)
    [ -z "${CI:-}" ] && [ "${SIZE:-}" != full ] && [ -s "$stamp" ] && [ "$(content)" = "$(cat "$stamp")" ]
    ;;
build) mkdir -p "${built%/*}" && content >"$built" ;;
now) [ ! -s "$built" ] || cp "$built" "$stamp" ;;
*)
    echo "usage: $0 as-before|build|now" >&2
    exit 2
    ;;
esac
