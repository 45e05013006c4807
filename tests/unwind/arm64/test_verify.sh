#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs and libraries of arm64, those that guests are built with, against elfutils' interpreter;
# `make verify-unwind OF=other DIR=...` checks others.
# Covers: unwind/table.c unwind/rule.c unwind/arch/arm64/clonegap.c

set -u
cd "$(dirname "$0")/../../.." || exit 1
build=${BUILD:-build}
sysroot=$build/kernels/aarch64/sysroot
verify=$build/tests/unwind/verify_unwind.other
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
[ "$(uname -m)" != aarch64 ] || { verify=$build/tests/unwind/verify_unwind sysroot=/usr/lib; }

if [ ! -d "$sysroot" ]; then
    echo 'ok 1 # SKIP there are no files of arm64'
    echo 1..1
    exit
fi
"$verify" "$sysroot" >"$out"
status=$?
grep -E ' files | agree: ' "$out" | sed 's/^/# /'
grep -E 'places differ' "$out" | sed 's/^/# /' | head -n 20
agree=$(awk '$2 == "agree" && NF == 2 { print $1 }' "$out")
cloned=$(awk '$2 == "clone" && NF == 2 { print $1 }' "$out")
failed=0
result() { # number name status
    if [ "$3" = 0 ]; then
        echo "ok $1 - $2"
    else
        echo "not ok $1 - $2"
        failed=1
    fi
}
result 1 "99.99 % of the places agree" $status
[ "${agree:-0}" -gt 200000 ]
result 2 "enough of them were compared ($agree)" $?
# glibc's clone and clone3, which both return on two stacks.
[ "${cloned:-0}" -gt 0 ]
result 3 "the system calls of clones have rules of their own ($cloned)" $?
# Words of a table for those of CFI.
awk '/bytes of CFI/ { good = $(NF - 3) <= $(NF - 7) } END { exit !good }' "$out"
result 4 "tables are not larger than their CFI" $?
echo 1..4
exit $failed
