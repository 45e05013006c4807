#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""No sample gets lost without being counted. Under more load than the maps hold, the report accounts
for each tick, and over a whole run, which ends together with its last slice,

    taken = filtered + shown + lost

holds exactly. Shown samples are counted from the table of processes; `taken` is the kernel program's
own count.

Covers: bpf/prog/profiler.bpf.c bpf/prog/sample.bpf.h bpf/sampler/sampler.c bpf/sampler/events.c
Covers: tui/collect/collector.c tui/collect/collector_slice.c tui/collect/accounting.c
"""

import datetime
import json
import os
import re
import select
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

TICKS = re.compile(r"^(\d+) ticks due: (\d+) samples taken, (\d+) idle, (\d+) throttled, "
                   r"(\d+) missed \(([\d.]+) %\)$", re.M)
FILTERED = re.compile(r"^\d+ process(?:es)? chosen, (\d+) samples of others left out$", re.M)
RATE = "/proc/sys/kernel/perf_event_max_sample_rate"
PERCENT = "/proc/sys/kernel/perf_cpu_time_max_percent"
SLIDE = os.path.join(live.WORK, "slide")  # each sample has another stack


class Sums:
    """Over all reports of a run."""

    def __init__(self, text):
        self.taken = self.idle = self.throttled = self.missed = self.due = 0
        self.filtered = self.shown = self.lost = self.samples = 0
        self.wanted = 0
        self.causes = set()
        for report in live.reports(text):
            due, taken, idle, throttled, missed = map(int, TICKS.search(report.text).groups()[:5])
            filtered = FILTERED.search(report.text)
            self.wanted += report.seconds * report.hertz * report.cpus
            self.due += due
            self.taken += taken
            self.idle += idle
            self.throttled += throttled
            self.missed += missed
            self.filtered += int(filtered.group(1)) if filtered else 0
            self.shown += sum(count for _, count, _ in report.procs)
            self.samples += report.samples
            self.lost += report.lost
            self.causes |= set(re.findall(r"\d+ ([a-z ]+)", report.losses))

    def __str__(self):
        return (f"taken {self.taken}, filtered {self.filtered}, shown {self.shown}, lost "
                f"{self.lost}; due {self.due}, idle {self.idle}, throttled {self.throttled}, "
                f"missed {self.missed}; {', '.join(sorted(self.causes)) or 'no losses'}")


def even(tap, name, sums):
    tap.ok(sums.taken == sums.filtered + sums.shown + sums.lost > 0,
           f"{name}: taken = filtered + shown + lost", str(sums))
    tap.ok(sums.samples == sums.shown + sums.lost, f"{name}: samples are shown or lost",
           str(sums.samples))
    # Both are measured on the event's own time.
    wanted = sums.wanted
    tap.ok(abs(sums.due - wanted) <= 0.05 * wanted, f"{name}: as many ticks as requested",
           f"{sums.due} of {wanted:.0f}")
    rest = sums.due - sums.taken - sums.idle - sums.throttled - sums.missed
    tap.ok(abs(rest) <= 0.01 * wanted, f"{name}: each tick is accounted for", f"{rest} are not")


def run(*options, **more):
    out, err, status = live.stacktop("-b", *options, **more)
    return (Sums(out) if status == 0 else None), err


def check_overload(tap, hertz):
    """A slice has more stacks than the count map has entries. Slices grow until that is so, also on a
    busy machine."""
    with live.Load([SLIDE]) as one, live.Load([SLIDE]) as two:
        live.weigh(one.pid, -5)     # so that short slices do
        live.weigh(two.pid, -5)
        pids = f"{one.pid},{two.pid}"
        for seconds in (2.5, 5, 15, 40):
            sums, err = run("-d", str(seconds), "-n", "2", "-F", hertz, "-p", pids, timeout=200)
            if not sums or sums.lost:
                break
        tap.ok(sums and "the count map was full" in sums.causes and sums.lost > 0,
               "overload: the cause of the loss is reported", f"{sums} {err.strip()[:200]}")
        even(tap, "overload", sums)


def wait_reports(batch, count):
    """Waits until `count` reports are written."""
    live.wait_for(lambda: os.pread(batch.out.fileno(), 1 << 20, 0).count(b"stacks complete") >= count
                  or batch.process.poll() is not None)


def check_ring(tap, hertz):
    """Stacks of 400 frames, more than the ring holds until it is read again: the samples are counted
    nevertheless, and reported as lacking their frames."""
    loads = [live.Load([SLIDE, "400"]) for _ in range(3)]
    with loads[0] as one, loads[1] as two, loads[2] as three:
        pids = f"{one.pid},{two.pid},{three.pid}"
        batch = live.Batch("-b", "-d", "0.5", "-n", "4", "-F", hertz, "-p", pids)
        wait_reports(batch, 1)
        os.kill(batch.process.pid, signal.SIGSTOP)
        # The ring holds a few tenths of that.
        pids = [load.process.pid for load in loads]
        start = live.process_seconds(pids)
        live.wait_for(lambda: live.process_seconds(pids) > start + 1)
        os.kill(batch.process.pid, signal.SIGCONT)
        sums = Sums(batch.wait())
        tap.ok("counted without their frames" in sums.causes,
               "stopped: the cause of the loss is reported", str(sums))
        even(tap, "stopped", sums)


def check_machine(tap, hertz):
    """The whole machine, from the first sample to the last, over many slices."""
    with live.Load([os.path.join(live.WORK, "deep90"), "60"]) as load:
        out, _, status = live.stacktop("-b", "-d", "0.1", "-n", "20", "-F", hertz, "-p",
                                       str(load.pid))
        tap.ok(status == 0 and len(live.reports(out)) == 20, "twenty slices: profiled")
        even(tap, "twenty slices", Sums(out))


def check_slow_reader(tap):
    """A reader that pauses for seconds gets each refresh once: each begins where the last ended."""
    options = ("-b", "--format", "json", "-d", "0.1", "-n", "12")
    with subprocess.Popen([live.STACKTOP, *options], stdout=subprocess.PIPE,
                          pipesize=4096) as process:
        select.select([process.stdout], [], [], 60)
        time.sleep(2)
        refreshes = [json.loads(line) for line in process.stdout]
        status = process.wait(60)
    apart = []
    for one, two in zip(refreshes, refreshes[1:]):
        begin, end = (datetime.datetime.strptime(r["time"], "%Y-%m-%dT%H:%M:%S.%fZ").timestamp()
                      for r in (one, two))
        apart.append(abs(end - begin - one["seconds"]))
    # A refresh that is left out leaves a gap of at least 0.1 s; between its two readings of the clock
    # stacktop may lose its CPU for a moment.
    tap.ok(status == 0 and len(refreshes) == 12 and max(apart) < 0.099 and
           statistics.median(apart) < 0.01,
           "a slow reader gets each refresh once",
           f"{len(refreshes)}, apart {' '.join(f'{a:.3f}' for a in apart)}")
    tap.ok(max(r["seconds"] for r in refreshes) > 1, "a refresh that had to wait is longer")


def idle_busy_stolen():
    """Ticks of all CPUs since boot, from /proc/stat. The hypervisor steals from CPUs that work and
    from CPUs that wake up."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, idle, iowait, irq, softirq, stolen = (
            int(n) for n in file.readline().split()[1:9])
    return idle + iowait, user + nice + system + irq + softirq, stolen


def check_idle(tap):
    """A sleeping CPU is idle, not lost, and a working CPU is sampled. The slices within a window count
    no more of both than /proc/stat does; with the slices at the window's edges, and the missed ticks
    taken as hits of working CPUs, they count no fewer."""
    hertz = live.hertz(997)
    with live.Stream("-d", "0.2", "-F", hertz, "-p", str(os.getpid())) as top:
        top.more()
        before, first, inner = idle_busy_stolen(), len(top.slices), top.next()
        time.sleep(2.5)
        after = idle_busy_stolen()
        top.poll()
        last = len(top.slices)
        top.more()
        top.stop()
    inside, around = top.slices[inner:last], top.slices[first:last + 2]
    scale = int(hertz) / os.sysconf("SC_CLK_TCK")
    idle, busy, stolen = ((b - a) * scale for a, b in zip(before, after))
    # /proc/stat books a whole tick as one kind.
    slack = 0.08 * (idle + busy + stolen)
    missed = sum(part.json["losses"]["missed"] for part in around)
    for name, word, expected, other in (("idle", "idle", idle, stolen), ("busy", "taken", busy, missed)):
        most = sum(part.json[word] for part in inside)
        least = sum(part.json[word] for part in around) + other
        tap.ok(len(inside) > 2 and
               most - slack <= expected + stolen and expected <= least + slack,
               f"{name} ticks are those of {name} CPUs",
               f"{most} to {least} of {expected:.0f}, {stolen:.0f} stolen of "
               f"{idle + busy + stolen:.0f}")


def number(path, value=None):
    """Reads the number in a file; `value` replaces it."""
    with open(path, "r+" if value is not None else "r", encoding="ascii") as file:
        before = int(file.read())
        if value is not None:
            file.seek(0)
            file.write(str(value))
    return before


def check_throttling(tap):
    """The kernel may take fewer samples than requested: lower its limit while stacktop samples at 9999
    Hz. The report says what that cost and how to avoid it."""
    before, percent = number(RATE), number(PERCENT)
    try:
        # While the kernel lowers the rate by itself, it refuses others to set it.
        number(PERCENT, 99)
        number(RATE, 20000)
    except OSError as error:
        tap.skip("throttling", f"{RATE}: {error}")
        return
    try:
        batch = live.Batch("-b", "-d", "0.5", "-n", "5", "-F", "9999", "-p", str(os.getpid()))
        wait_reports(batch, 1)
        with live.Load([SLIDE]), live.Load([SLIDE]):  # idle CPUs are not sampled
            number(RATE, 5000)
            wait_reports(batch, 4)
    finally:
        number(RATE, before)
        number(PERCENT, percent)
    out = batch.wait()
    sums = Sums(out)
    even(tap, "throttling", sums)
    # 20 of 40 ticks at 250 Hz; sampling was throttled for most of the time.
    tap.ok(sums.throttled > 1000, "throttling is counted", str(sums))
    tap.ok("lower -F, or raise kernel.perf_event_max_sample_rate" in out, "the report names the remedy")


def main():
    tap = live.Tap()
    live.need(tap)
    hertz = live.hertz(9999)
    check_overload(tap, hertz)
    check_ring(tap, hertz)
    check_machine(tap, hertz)
    check_slow_reader(tap)
    check_idle(tap)
    check_throttling(tap)
    tap.done()


if __name__ == "__main__":
    main()
