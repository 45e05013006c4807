#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 150 s
"""Loads that could make a profiler lose samples or grow: processes that come and go, many threads,
many processes. What is counted is held against the time that /proc says the CPUs were busy with
it, so that what else the machine does makes no difference.

Covers: bpf/profiler.bpf.c tui/engine.c tui/stackcache.c tui/procinfo.c
"""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

HERTZ = 199
RSS_KB = 40 * 1024  # without debug information, which has a budget of its own
GROWTH_KB = 4 * 1024
# Tables of all that runs are in RSS: mmapped shards.
CHURN = """
trap 'kill 0' EXIT
one() { while :; do true | cat </dev/null; expr 1 + 1; uname; ls /; sh -c 'exit 1'; done; }
for i in 1 2 3 4; do one & done >/dev/null 2>&1
wait
"""


def cpu_seconds():
    """(busy, all) seconds of all CPUs since boot."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(n) for n in file.readline().split()[1:9]]
    tick = os.sysconf("SC_CLK_TCK")
    idle = ticks[3] + ticks[4]
    return (sum(ticks) - idle) / tick, sum(ticks) / tick


def forks():
    with open("/proc/stat", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("processes "))


def median(numbers):
    return sorted(numbers)[len(numbers) // 2]


def observe(tap, name, seconds, pids=()):
    """Profiles the processes (none: the machine) for that long in reports of a second; checks all
    that holds for any load."""
    def busy_seconds():
        return live.process_seconds(pids) if pids else cpu_seconds()[0]

    only = ["-p", ",".join(str(pid) for pid in pids)] if pids else []
    batch = live.Batch("-b", "--no-inline", "-d", "1", "-n", str(seconds), "-F",
                       str(HERTZ), *only)
    time.sleep(1)  # loading and the first tables are not sampled
    busy = busy_seconds()
    start = time.monotonic()
    text = batch.wait()
    share = (busy_seconds() - busy) / (time.monotonic() - start)  # CPUs busy on average
    parts = live.reports(text)
    tap.ok(batch.process.returncode == 0 and len(parts) == seconds, f"{name}: profiled",
           f"{len(parts)} reports, exit {batch.process.returncode}")
    lost = sum(part.lost for part in parts)
    losses = [part.losses for part in parts if part.losses]
    tap.ok(lost == 0 and not losses, f"{name}: nothing lost",
           f"{sum(part.samples for part in parts)} samples, {lost} lost {losses[:2]}")
    expected = HERTZ * share * sum(part.seconds for part in parts)
    counted = sum(part.samples for part in parts)
    tap.ok(0.85 * expected <= counted <= 1.15 * expected, f"{name}: as many as the CPUs were busy",
           f"{counted} of {expected:.0f}, {share:.2f} CPUs busy")
    tap.ok(0 < batch.peak < RSS_KB, f"{name}: RSS below 40 MB", f"at most {batch.peak / 1024:.1f} MB")
    # The first quarter is start-up; then medians, for a peak may lie anywhere.
    resident = [kb for _, kb in batch.resident]
    n = len(resident)
    before, after = median(resident[n // 4:n // 2]), median(resident[-n // 4:])
    tap.ok(n > 20 and after - before <= GROWTH_KB, f"{name}: RSS does not grow",
           f"{before / 1024:.1f} MB, later {after / 1024:.1f} MB")
    return parts


def complete(parts):
    walks = sum(part.walks for part in parts)
    return sum(part.complete * part.walks for part in parts) / (walks or 1), walks


def churn(tap):
    with live.Load(["bash", "-c", CHURN]):
        time.sleep(0.5)
        before = forks()
        parts = observe(tap, "churn", 15)
        started = forks() - before
    tap.ok(started > 2000, "churn: thousands of processes came and went", f"{started}")
    share, walks = complete(parts)
    # How soon a new process is known depends on what else wants the CPUs.
    tap.ok(walks > 0 and share > 50, "churn: complete stacks of the short-lived",
           f"{share:.1f} % of {walks}")


def threads(tap):
    with live.Load([os.path.join(live.WORK, "threads"), "200", "60"]) as load:
        time.sleep(0.5)
        parts = observe(tap, "200 threads", 10, [load.pid])
    share, walks = complete(parts)
    tap.ok(walks > 0 and share >= 99, "200 threads: complete stacks", f"{share:.2f} % of {walks}")


def processes(tap):
    sleeping = [live.Load(["sleep", "300"]) for _ in range(300)]
    deep = os.path.join(live.WORK, "deep90")
    try:
        for load in sleeping:
            load.__enter__()
        with live.Load([deep, "60"]) as one, live.Load([deep, "60"]) as two, \
                live.Load([deep, "60"]) as three:
            time.sleep(0.5)
            pids = [one.pid, two.pid, three.pid]
            parts = observe(tap, "300 processes", 10, pids + [load.process.pid
                                                              for load in sleeping])
    finally:
        for load in sleeping:
            if load.process:
                load.__exit__()
    counts = [sum(n for part in parts for pid, n, _ in part.procs if pid == wanted)
              for wanted in pids]
    total = sum(part.samples for part in parts)
    tap.ok(sum(counts) > 0.98 * total and min(counts) > 0.15 * total,
           "300 processes: samples are of the busy ones", f"{counts} of {total}")
    share, walks = complete(parts)
    tap.ok(walks > 0 and share >= 99, "300 processes: complete stacks", f"{share:.2f} % of {walks}")


def main():
    tap = live.Tap()
    live.need_root(tap)
    for load in (churn, threads, processes):
        if not sys.argv[1:] or load.__name__ in sys.argv[1:]:
            load(tap)
    tap.done()


if __name__ == "__main__":
    main()
