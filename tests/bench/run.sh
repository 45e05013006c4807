#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `make bench`: the figures that the project promises, each beside its peer of the same run. Needs
# root and an idle machine. BENCH='walk size' measures only these (walk, quick, again, size, start,
# share, views, exec, churn, names, python, session, ui, waits, frames, push) or `short`, which takes six minutes:
# the first moments of processes, of some with SHORT='python 100'. BENCH_DIR (/usr) is the folder of the files for
# the sum of tables. The status is an error only when something could not be measured.

set -u
cd "$(dirname "$0")/../.." || exit 1

if [ "$(id -u)" != 0 ]; then
    echo "bench: needs root" >&2
    exit 1
fi
stats=/proc/sys/kernel/bpf_stats_enabled
if ! before=$(cat "$stats") || ! echo 1 >"$stats"; then
    echo "bench: cannot set kernel.bpf_stats_enabled" >&2
    exit 1
fi
# The peer must walk as deep as stacktop; the kernel refuses this while call chains are in use.
max_stack=/proc/sys/kernel/perf_event_max_stack
frames=$(cat "$max_stack")
[ "$frames" -ge 1100 ] || { echo 1100 >"$max_stack"; } 2>/dev/null ||
    echo "bench: cannot raise kernel.perf_event_max_stack. Processes with perf events:" \
        "$(tests/bench/holders.sh)" >&2
restore() {
    echo "$before" >"$stats"
    # The kernel frees the peer's stack maps, which hold the limit, a while after the peer's end.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        [ "$(cat "$max_stack")" = "$frames" ] && return
        { echo "$frames" >"$max_stack"; } 2>/dev/null && return
        sleep 0.3
    done
    echo "bench: kernel.perf_event_max_stack remains at $(cat "$max_stack")" >&2
}
trap restore EXIT
trap 'exit 130' INT TERM HUP
# shellcheck disable=SC2086  # words on purpose
python3 tests/bench/bench.py ${BENCH:-walk again size start share views exec churn names python session ui waits frames push}
