#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For a guest in which a nanosecond is an instruction (tests/bench/frames.py): how many of them the
# program takes for stacks of two depths, once everything is warm.

echo 1 >/proc/sys/kernel/bpf_stats_enabled
for mode in depth120 depth500; do
    rm -f /tmp/stats
    /work/nest $mode >/dev/null &
    program=$!
    stacktop -b -d 4 -n 1 -F 199 -p $program --no-kernel >/tmp/out 2>/tmp/err &
    sampler=$!
    # The last of its figures before it ends; loading takes seconds here.
    while sleep 0.5 && cat /proc/$sampler/fdinfo/* >/tmp/now 2>/dev/null && kill -0 $sampler; do
        ! grep -q '^run_cnt:.*[1-9]' /tmp/now || mv /tmp/now /tmp/stats
    done 2>/dev/null
    wait $sampler
    kill -KILL $program
    # The program of samples is the one of perf events that ran; others are left out at its beginning.
    awk -v mode=$mode '
        /^prog_type:/ { type = $2 }
        /^run_time_ns:/ { time = $2 }
        /^run_cnt:/ && type == 7 && $2 > most { most = $2; all = time }
        / samples \(/ { samples = $1 }
        /samples of others left out/ { for (i = 2; i <= NF; i++) if ($i == "samples") others = $(i - 1) }
        END { if (most && samples) printf "T # %s %d instructions a sample\n", mode,
              all / (most * samples / (samples + others)) }' /tmp/stats /tmp/out
    cat /tmp/err
done
echo 'T ok - counted'
