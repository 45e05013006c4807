#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Remembers with which sources the guest of arm64 was last green, below build/kernels: it is built and
# runs again when one of them has changed, and always with CI=true or SIZE=full.
#
#   green.sh as-before      exit status 0: nothing has changed
#   green.sh now            all tests of the guest have passed

set -u
cd "$(dirname "$0")/../.." || exit 1
stamp=${BUILD:-build}/kernels/aarch64/green

content() {
    find unwind/arch bpf/prog symbols/elf/arch tests/kernels Makefile tests/unit.mk -type f |
        LC_ALL=C sort | xargs sha256sum | sha256sum
}

case ${1:-} in
as-before)
    [ -z "${CI:-}" ] && [ "${SIZE:-}" != full ] && [ -s "$stamp" ] && [ "$(content)" = "$(cat "$stamp")" ]
    ;;
now) mkdir -p "${stamp%/*}" && content >"$stamp" ;;
*)
    echo "usage: $0 as-before|now" >&2
    exit 2
    ;;
esac
