#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs every fuzzer for some seconds, starting from tests/fuzz/seeds/NAME/, if it exists, and from the
# inputs that tests/fuzz/seeds.py makes from this machine's files, and keeps new inputs below build/.
# Crashing inputs stay in build/fuzz/crashes/. A line `/* fuzz: OPTION... */` among the first five of
# a fuzzer's source adds options.
#
#   fuzz.sh [SECONDS [NAME...]]     NAME: only these (fuzz_cfa)

seconds=${1:-30}
[ $# = 0 ] || shift
build=${BUILD:-build/fuzz}
# Without this, undefined behaviour is only a line in the log.
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}"
cd "$(dirname "$0")/.." || exit 1
passed=0
failed=0
runs=0
mkdir -p "$build/crashes"
made=$build/seeds
python3 tests/fuzz/seeds.py "$made" || {
    echo "not ok - tests/fuzz/seeds.py"
    failed=1
}
[ $# != 0 ] || set -- tests/fuzz/fuzz_*.c

fuzz() { # name
    corpus=$build/corpus/$1
    mkdir -p "$corpus"
    options=$(sed -n '1,5s,^/\* fuzz: \(.*\) \*/$,\1,p' "tests/fuzz/$1.c")
    seeds=
    for folder in "tests/fuzz/seeds/$1" "$made/$1"; do
        [ -d "$folder" ] && seeds="$seeds $folder"
    done
    # shellcheck disable=SC2086  # each option and folder is a word, and there may be none
    "$build/tests/fuzz/$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$build/crashes/$1-" $options "$corpus" $seeds \
        >"$build/$1.log" 2>&1 && echo ok >"$build/$1.verdict"
}

# As many beside each other as there are CPUs.
names=$(basename -s .c "$@")
running=0
for name in $names; do
    rm -f "$build/$name.verdict"
    fuzz "$name" &
    running=$((running + 1))
    [ $((running % $(nproc))) != 0 ] || wait
done
wait
for name in $names; do
    if [ -e "$build/$name.verdict" ]; then
        passed=$((passed + 1))
        count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log")
        runs=$((runs + ${count:-0}))
        echo "ok - $name: $count runs"
    else
        failed=$((failed + 1))
        echo "not ok - $name"
        tail -n 60 "$build/$name.log" | sed 's/^/    | /'
    fi
done
echo "$runs runs in all"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
