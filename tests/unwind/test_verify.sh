#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A sample of this machine's programs and libraries against elfutils' interpreter: what `make
# verify-unwind DIR=/usr` does with all of them.
#
# Covers: unwind/table.c unwind/cfa.c unwind/ehframe.c unwind/expr.c unwind/rule.c

set -u
cd "$(dirname "$0")/../.." || exit 1
verify=${BUILD:-build}/tests/unwind/verify_unwind
seconds=${VERIFY_SECONDS:-30}
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

# Shuffled, always alike. A single file of more than 64 MB would take its time alone.
sample() {
    find /usr/bin /usr/sbin /usr/lib* /usr/libexec -xdev -type f -size +8k -size -65536k \
        \( -perm -100 -o -name '*.so*' \) 2>/dev/null | sort -u |
        shuf --random-source=<(yes) | head -n 1500
}

mapfile -t files < <(sample)
"$verify" -t "$seconds" "${files[@]}" >"$out"
status=$?
grep -E ' files | agree: ' "$out" | sed 's/^/# /'
grep -E 'places differ' "$out" | sed 's/^/# /' | head -n 20

ok "99.99 % of the places agree" test "$status" = 0
ok "enough of them were compared" test "$(number agree)" -gt 300000
# What cannot be represented may be; a row that says something else than libdw's may not.
for class in "CFA differs" "SP differs" "FP differs" "RA differs" "signal flag" "we: end"; do
    ok "nothing is in the class '$class'" test "$(number "$class")" = 0
done
echo "1..$count"
exit $failed
