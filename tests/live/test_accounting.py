#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""No sample is lost in silence. Under more load than the maps hold, of each tick the report says
what became of it, and over a whole run, whose last slice ends with the sampling itself,

    taken = filtered + shown + lost

holds to the sample. What is shown is counted from the table of processes; what was taken is the
kernel program's own count.

Covers: bpf/prog/profiler.bpf.c bpf/sampler/sampler.c bpf/sampler/ticks.c tui/collect/collector.c tui/collect/collector_slice.c tui/collect/accounting.c
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
FILTERED = re.compile(r"^\d+ processes? chosen, (\d+) samples of others left out$", re.M)
RATE = "/proc/sys/kernel/perf_event_max_sample_rate"
PERCENT = "/proc/sys/kernel/perf_cpu_time_max_percent"
SLIDE = os.path.join(live.WORK, "slide")  # no two samples of it have the same stack


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
    tap.ok(sums.taken == sums.filtered + sums.shown + sums.lost > 0, f"{name}: the books are even",
           str(sums))
    tap.ok(sums.samples == sums.shown + sums.lost, f"{name}: samples are shown or lost",
           str(sums.samples))
    # Ticks are due by the event's own time, which is the run's.
    wanted = sums.wanted
    tap.ok(abs(sums.due - wanted) <= 0.05 * wanted, f"{name}: as many ticks as asked for",
           f"{sums.due} of {wanted:.0f}")
    rest = sums.due - sums.taken - sums.idle - sums.throttled - sums.missed
    tap.ok(abs(rest) <= 0.01 * wanted, f"{name}: all of them are named", f"{rest} are not")


def run(*options, **more):
    out, err, status = live.stacktop("-b", *options, **more)
    return (Sums(out) if status == 0 else None), err


def check_overload(tap, hertz):
    """A slice has more stacks than the count map has entries, on a machine that may be busy with
    something else: slices grow until it is so."""
    with live.Load([SLIDE]) as one, live.Load([SLIDE]) as two:
        pids = f"{one.pid},{two.pid}"
        for seconds in (1.5, 5, 15, 40):
            sums, err = run("-d", str(seconds), "-n", "2", "-F", hertz, "-p", pids, timeout=200)
            if not sums or sums.lost:
                break
        tap.ok(sums and "the count map was full" in sums.causes and sums.lost > 0,
               "overload: the loss has a name", f"{sums} {err.strip()[:200]}")
        even(tap, "overload", sums)


def wait_reports(batch, count):
    """Waits until so many are written."""
    live.wait_for(lambda: os.pread(batch.out.fileno(), 1 << 20, 0).count(b"stacks complete") >= count
                  or batch.process.poll() is not None)


def check_ring(tap, hertz):
    """Stacks of 400 frames, more of them than the ring has room for until it is read again: the
    samples are counted nevertheless, and said to lack their frames."""
    loads = [live.Load([SLIDE, "400"]) for _ in range(3)]
    with loads[0] as one, loads[1] as two, loads[2] as three:
        pids = f"{one.pid},{two.pid},{three.pid}"
        batch = live.Batch("-b", "-d", "0.5", "-n", "6", "-F", hertz, "-p", pids)
        wait_reports(batch, 1)
        os.kill(batch.process.pid, signal.SIGSTOP)
        # The ring has room for a few tenths of that.
        pids = [load.process.pid for load in loads]
        start = live.process_seconds(pids)
        live.wait_for(lambda: live.process_seconds(pids) > start + 2)
        os.kill(batch.process.pid, signal.SIGCONT)
        sums = Sums(batch.wait())
        tap.ok("counted without their frames" in sums.causes, "stopped: the loss has a name",
               str(sums))
        even(tap, "stopped", sums)


def check_machine(tap, hertz):
    """Whatever else runs, from the first sample to the last, in many slices."""
    with live.Load([os.path.join(live.WORK, "deep90"), "60"]) as load:
        out, _, status = live.stacktop("-b", "-d", "0.1", "-n", "20", "-F", hertz, "-p",
                                       str(load.pid))
        tap.ok(status == 0 and len(live.reports(out)) == 20, "twenty slices: profiled")
        even(tap, "twenty slices", Sums(out))


def check_slow_reader(tap):
    """Who reads a report only after seconds gets each refresh once: one begins where the last ends."""
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
    # One that is left out lacks a tenth of a second at least; between two readings of clocks the CPU
    # may be taken away.
    tap.ok(status == 0 and len(refreshes) == 12 and max(apart) < 0.099 and
           statistics.median(apart) < 0.01,
           "a slow reader gets each refresh once",
           f"{len(refreshes)}, apart {' '.join(f'{a:.3f}' for a in apart)}")
    tap.ok(max(r["seconds"] for r in refreshes) > 1, "... which is longer where it had to wait")


def idle_busy_stolen():
    """Ticks of all CPUs since boot, as /proc/stat has them. The hypervisor steals from a CPU that
    works and from one that wakes."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, idle, iowait, irq, softirq, stolen = (
            int(n) for n in file.readline().split()[1:9])
    return idle + iowait, user + nice + system + irq + softirq, stolen


def check_idle(tap):
    """A CPU that sleeps is idle and not lost, and one that works is sampled: slices that lie in a
    window have no more such ticks than /proc/stat, and with those at its edges no fewer, where what
    was missed would have hit a CPU that works."""
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
    # /proc/stat counts a tick as one thing as a whole.
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
    """What a file holds; `value` replaces it."""
    with open(path, "r+" if value is not None else "r", encoding="ascii") as file:
        before = int(file.read())
        if value is not None:
            file.seek(0)
            file.write(str(value))
    return before


def check_throttling(tap):
    """The kernel may take fewer samples than asked for: lower its limit while it samples at 9999
    Hz. The remedy is told, and what it cost."""
    before, percent = number(RATE), number(PERCENT)
    try:
        # While the kernel leaves the rate alone it lets others not set it either.
        number(PERCENT, 99)
        number(RATE, 20000)
    except OSError as error:
        tap.skip("throttling", f"{RATE}: {error}")
        return
    try:
        batch = live.Batch("-b", "-d", "0.5", "-n", "6", "-F", "9999", "-p", str(os.getpid()))
        wait_reports(batch, 1)
        number(RATE, 5000)
        wait_reports(batch, 5)
    finally:
        number(RATE, before)
        number(PERCENT, percent)
    out = batch.wait()
    sums = Sums(out)
    even(tap, "throttling", sums)
    # 20 of 40 ticks at 250 Hz; the sampling was held back for most of the time.
    tap.ok(sums.throttled > 1000, "throttling is counted", str(sums))
    tap.ok("lower -F, or raise kernel.perf_event_max_sample_rate" in out, "its remedy is told")


def main():
    tap = live.Tap()
    live.need_root(tap)
    hertz = live.hertz(9999)
    check_overload(tap, hertz)
    check_ring(tap, hertz)
    check_machine(tap, hertz)
    check_slow_reader(tap)
    check_idle(tap)
    with live.Load([SLIDE]), live.Load([SLIDE]):  # an idle CPU is not sampled
        check_throttling(tap)
    tap.done()


if __name__ == "__main__":
    main()
