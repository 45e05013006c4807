#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs every fuzzer for some seconds, starting from tests/fuzz/seeds/NAME/ where there are any, and
# keeps what it finds below build/. Crashing inputs stay in build/fuzz/crashes/.
#
#   fuzz.sh [SECONDS]

seconds=${1:-30}
build=${BUILD:-build/fuzz}
cd "$(dirname "$0")/.." || exit 1
passed=0
failed=0
mkdir -p "$build/crashes"
for source in tests/fuzz/fuzz_*.c; do
    [ -f "$source" ] || continue
    name=$(basename "$source" .c)
    corpus=$build/corpus/$name
    mkdir -p "$corpus"
    seeds=tests/fuzz/seeds/$name
    [ -d "$seeds" ] || seeds=
    # shellcheck disable=SC2086  # no seeds, no argument
    if "$build/tests/fuzz/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$build/crashes/$name-" "$corpus" $seeds \
        >"$build/$name.log" 2>&1; then
        passed=$((passed + 1))
        echo "ok - $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log") runs"
    else
        failed=$((failed + 1))
        echo "not ok - $name"
        tail -n 60 "$build/$name.log" | sed 's/^/    | /'
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
