#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The rows of the C library and of perl, derived as if they had no CFI, against their CFI; `make
# verify-derived` compares more. And a comparison that has to fail: rows of another file.
# Covers: unwind/derive.c unwind/flow.c

set -u
cd "$(dirname "$0")/../.." || exit 1
verify=${BUILD:-build}/tests/unwind/verify_derived
failed=0
count=0
ok() { # name command...
    local name=$1
    shift
    count=$((count + 1))
    if "$@"; then
        echo "ok $count - $name"
    else
        echo "not ok $count - $name"
        failed=1
    fi
}

if [ "$(uname -m)" != x86_64 ]; then
    echo "1..0 # SKIP another machine"
    exit 0
fi
libc=$(ldd "$verify" | awk '$1 ~ /^libc\./ { print $3 }')
for file in "$libc" "$(realpath "$(command -v perl)")"; do
    out=$("$verify" "$file")
    status=$?
    printf '# %s\n' "$out"
    if [ $status = 77 ]; then
        echo "1..0 # SKIP no disassembler"
        exit 0
    fi
    ok "$file: 99.5 % of the derived rows agree" test $status = 0
    ok "$file: enough places" test "$(echo "$out" | sed -n 's/^all: \([0-9]*\) places.*/\1/p')" -gt 100000
done
ok "wrong rows are found" test "$("$verify" -w "$libc" >/dev/null; echo $?)" = 1
echo "1..$count"
exit $failed
