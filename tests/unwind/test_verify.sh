#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A sample of this machine's programs and libraries against elfutils' interpreter; `make verify-unwind
# DIR=/usr` checks all of them. The sample is 200 files, or 1,500 with SIZE=full, and files with rare
# rules. time limit: 300 s
# Covers: unwind/table.c unwind/cfa.c unwind/ehframe.c unwind/expr.c unwind/rule.c

set -u
cd "$(dirname "$0")/../.." || exit 1
verify=${BUILD:-build}/tests/unwind/verify_unwind
[ "${SIZE:-}" = full ] && files_max=1500 || files_max=200
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT

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

# The number before a name in the report.
number() { # name
    awk -v name="$1" '$1 ~ /^[0-9]+$/ { n = $1; sub(/^ *[0-9]+ +/, ""); if ($0 == name) print n }' \
        "$out"
}

# A file of more than 64 MB alone would take too long.
elf_files() { # find's conditions...
    find /usr/bin /usr/sbin /usr/lib* /usr/libexec /lib64/ -xdev -type f -size +8k -size -65536k \
        "$@" 2>/dev/null | LC_ALL=C sort -u
}

# Hand-written CFI, expressions, a gap after clone, .debug_frame, several saved registers.
special() {
    elf_files -regextype posix-extended -regex \
        '.*/(libc|libm|libgcc_s|libstdc\+\+|libcrypto|libssl|libgcrypt|libffi|libgmp|ld-linux-[^/]*|libpthread|libasan|libgphobos)\.so.*|.*/(ld-linux-x86-64\.so\.2|ld-musl-[^/]*|gofmt|perl|python3\.[0-9]+|bash|xz|dockerd)'
}

# Shuffled, always in the same order. LuaJIT's own CFI is wrong (unwind/test_luajit.py).
sample() {
    elf_files \( -perm -100 -o -name '*.so*' \) ! -name '*luajit*' | shuf --random-source=<(yes) | head -n "$files_max"
}

mapfile -t files < <({ special; sample; } | LC_ALL=C sort -u)
"$verify" "${files[@]}" >"$out"
status=$?
grep -E ' files | agree: ' "$out" | sed 's/^/# /'
grep -E 'places differ' "$out" | sed 's/^/# /' | head -n 20

ok "99.99 % of the places agree" test "$status" = 0
ok "enough of them were compared" test "$(number agree)" -gt 300000
# Rows may be missing where they cannot be represented; a row may not contradict libdw's.
for class in "CFA differs" "SP differs" "FP differs" "RA differs" "signal flag" "we: end"; do
    ok "nothing is in the class '$class'" test "$(number "$class")" = 0
done
echo "1..$count"
exit $failed
