#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes targets one after the other, goes on when one fails, and adds up their counts: the last line
# is `N passed, N failed`, after the time of each.
#
#   targets.sh TARGET...    `test SIZE=full` is one argument: words for make

set -u
cd "$(dirname "$0")/.." || exit 1
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
passed=0
failed=0
skipped=0
times=

# A target that prints no "N passed, N failed" is one test, which passes by its exit status.
target() { # word...
    local line status start=$SECONDS
    echo "== make $*"
    make --no-print-directory "$@" </dev/null 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    times="$times${times:+, }$1 $((SECONDS - start)) s"
    line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
    if [ -z "$line" ]; then
        [ "$status" = 0 ] || echo "make $1: did not get to its end (status $status)"
        line="$((status == 0)) passed, $((status != 0)) failed"
    fi
    # shellcheck disable=SC2086  # words on purpose
    set -- ${line//,/}
    passed=$((passed + $1))
    failed=$((failed + $3))
    skipped=$((skipped + ${5:-0}))
    if [ "$status" != 0 ] && [ "$3" = 0 ]; then
        echo "make ended with status $status"
        failed=$((failed + 1))
    fi
}

for words; do
    # shellcheck disable=SC2086  # words on purpose
    target $words
done
echo
echo "times: $times"
echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
[ "$failed" = 0 ]
