#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 150 s
"""Loads that could make a profiler lose samples or grow: short processes, many threads, many
processes. The samples are compared with the time that the CPUs spent on the load by /proc, so other
work on the machine makes no difference: the slices within a window of time have no more samples than
that, and with the slices at its edges no fewer. Memory must stay below its bound in the first seconds;
later the stacks of the minute that is kept add to it, some 40 MB at 997 Hz.

Covers: bpf/prog/profiler.bpf.c bpf/prog/sample.bpf.h tui/collect/collector.c
Covers: tui/collect/stackcache.c tui/collect/procinfo.c"""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

HERTZ = live.hertz(997)
SLOWER = live.hertz(199)  # ended processes and their stacks stay in memory for a minute
RSS_KB = 40 * 1024  # without debug information, which has its own budget
GROWTH_KB = 4 * 1024
STARTED = 1000  # processes of the churn
PATIENCE = 90
NOT_YET = ("[process not known yet]", "[process has just called exec]", "[pc in no mapping]",
           "[no table for pc]")
# Tables of all sampled programs count as RSS: shards are mapped.
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


def check_count(tap, name, expected, inside, around, count):
    """The clock ticks by itself and CPU time is measured otherwise; a late tick counts as missed."""
    most = sum(count(part) for part in inside)
    least = sum(count(part) + part.lost + part.json["losses"]["missed"] +
                part.json["losses"]["throttled"] for part in around)
    # Six standard deviations, and the error of tick-based accounting.
    slack = 0.05 * expected + 6 * expected ** 0.5
    tap.ok(expected > 500 and most - slack <= expected <= least + slack, name,
           f"{most} to {least} of {expected:.0f}")


def warm(top):
    """Waits until the kernel's names have been read and memory is constant for a second."""
    top.more(2)
    top.until(lambda slices: any(kernel for part in slices for _, _, _, kernel, _ in part.stacks), 20)
    seen = []

    def still():
        seen.append(live.status_kb(top.pid, "VmRSS") or 0)
        return len(seen) > 20 and max(seen[-20:]) - min(seen[-20:]) < 512

    live.wait_for(still, 20, 0.05)


def observe(tap, name, options, seconds, pids=(), state=None, hertz=HERTZ):
    """Profiles for this long and until the state is reached, or until the processes have run long
    enough to be counted; checks all that holds for any load. Memory is that of the first seconds."""
    resident = []
    with live.Stream("--no-inline", "-d", "0.2", "-F", hertz, *options) as top:
        warm(top)
        busy = cpu_seconds()[0], live.process_seconds(pids)
        first, inner, start = len(top.slices), top.next(), time.monotonic()
        end = start + PATIENCE
        while time.monotonic() < end and top.process.poll() is None and \
                (time.monotonic() < start + seconds or
                 not (state() if state else live.process_seconds(pids) >= busy[1] + 1)):
            if time.monotonic() < start + seconds:
                resident.append(live.status_kb(top.pid, "VmRSS") or 0)
            time.sleep(0.05)
        busy = cpu_seconds()[0] - busy[0], live.process_seconds(pids) - busy[1]
        top.poll()
        last = len(top.slices)
        top.more()
        status = top.stop()
        parts = top.slices
    # The test ends a command.
    tap.ok(status in (0, 130, 143) and last - inner >= 2, f"{name}: profiled",
           f"{len(parts)} slices, exit {status}; {top.errors(pids)[-100:]}")
    lost = sum(part.lost for part in parts)
    taken = sum(part.taken for part in parts)
    filtered, shown = (sum(getattr(part, word) for part in parts) for word in ("filtered", "samples"))
    tap.ok(lost == 0 and taken == filtered + shown > 0, f"{name}: nothing lost",
           f"{taken} taken, {filtered} filtered, {shown} shown, {lost} lost")
    inside, around = parts[inner:last], parts[first:last + 2]
    check_count(tap, f"{name}: as many samples as the CPUs were busy", busy[0] * int(hertz), inside,
                around, lambda part: part.taken)
    if pids:
        check_count(tap, f"{name}: as many samples as the processes ran", busy[1] * int(hertz), inside,
                    around, lambda part: part.samples)
    # Medians, since peaks come at random.
    n = len(resident)
    before, after = median(resident[n // 4:n // 2]), median(resident[-n // 4:])
    tap.ok(0 < after < RSS_KB, f"{name}: RSS is below 40 MB at first", f"{after / 1024:.1f} MB")
    tap.ok(n > 20 and after - before <= GROWTH_KB, f"{name}: RSS does not grow in seconds",
           f"{before / 1024:.1f} MB, later {after / 1024:.1f} MB")
    return parts


def complete(parts):
    walks = sum(part.json["walks"] for part in parts)
    return 100 * sum(part.json["complete_walks"] for part in parts) / (walks or 1), walks


def churn(tap):
    before = forks()
    parts = observe(tap, "churn", ["--", "setsid", "bash", "-c", CHURN], 3,
                    state=lambda: forks() - before > STARTED, hertz=SLOWER)
    started = forks() - before
    tap.ok(started > STARTED, "churn: a thousand processes came and went", f"{started}")
    share, walks = complete(parts)
    # How soon a new process is known depends on the load of the CPUs.
    early = sum(count for part in parts for _, _, user, _, count in part.stacks
                if user and user[0] in NOT_YET)
    tap.ok(walks > 0 and share > 50, "churn: complete stacks of short processes",
           f"{share:.1f} % of {walks}")
    tap.ok(share + 100 * early / walks >= 97, "churn: the others are not known yet",
           f"{early} of {walks}")


def threads(tap):
    with live.Load([os.path.join(live.WORK, "threads"), "200", "120"]) as load:
        live.wait_for(lambda: len(os.listdir(f"/proc/{load.pid}/task")) > 200)
        live.wait_busy([load.pid])
        parts = observe(tap, "200 threads", ["-p", str(load.pid)], 2.5, [load.pid])
    share, walks = complete(parts)
    tap.ok(walks > 0 and share >= 99, "200 threads: complete stacks", f"{share:.2f} % of {walks}")


def processes(tap):
    sleeping = [live.Load(["sleep", "300"]) for _ in range(300)]
    deep = os.path.join(live.WORK, "deep90")
    try:
        for load in sleeping:
            load.__enter__()
        with live.Load([deep, "120"]) as one, live.Load([deep, "120"]) as two, \
                live.Load([deep, "120"]) as three:
            pids = [one.pid, two.pid, three.pid]
            live.wait_busy(pids)
            every = pids + [load.process.pid for load in sleeping]
            before = [live.process_seconds([pid]) for pid in pids]
            parts = observe(tap, "300 processes", ["-p", ",".join(map(str, every))], 2.5, every)
            ran = [live.process_seconds([pid]) - start for pid, start in zip(pids, before)]
    finally:
        for load in sleeping:
            if load.process:
                load.__exit__()
    counts = [sum(part.count(pid) for part in parts) for pid in pids]
    total = sum(part.samples for part in parts)
    even = all(abs(count / total - own / sum(ran)) < 0.15 for count, own in zip(counts, ran))
    tap.ok(sum(counts) > 0.98 * total > 0 and min(counts) > 0 and even,
           "300 processes: samples are of the busy ones", f"{counts} of {total}, "
           + " ".join(f"{own:.1f} s" for own in ran))
    share, walks = complete(parts)
    tap.ok(walks > 0 and share >= 99, "300 processes: complete stacks", f"{share:.2f} % of {walks}")


def main():
    tap = live.Tap()
    live.need(tap)
    for load in (churn, threads, processes):
        if not sys.argv[1:] or load.__name__ in sys.argv[1:]:
            load(tap)
    tap.done()


if __name__ == "__main__":
    main()
