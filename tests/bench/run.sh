#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `make bench`: the figures that the project promises, each beside what it is compared with in the
# same run. Needs root and a machine that does nothing else. BENCH='walk size' measures only these
# (walk, size, start, share). Ends with an error only when something could not be measured.

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
trap 'echo "$before" >"$stats"' EXIT
trap 'exit 130' INT TERM HUP
# shellcheck disable=SC2086  # words on purpose
python3 tests/bench/bench.py ${BENCH:-walk size start share}
