#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 240 s
"""The off-CPU time of each thread beside the kernel's own trace: perf records all switches while stacktop
follows a compiler run by make -j4 and a program of 200 threads. Threads that are there all the time have
the time that the trace says. Only the window that both have seen counts.

Covers: bpf/prog/waits.bpf.c tui/collect/threadbook.c"""

import calendar
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SECONDS = 6         # watched
THREADS = 200
PART = 0.01         # of a thread's time
SLACK = 20000       # us: an end of the window that is not the same for both
SWITCH = re.compile(r"\[\d+\]\s+([\d.]+): .*prev_pid=(\d+) .* next_pid=(\d+)")

MAKEFILE = "all: $(patsubst %.c,%.o,$(wildcard *.c))\n%.o: %.c\n\tgcc -O2 -c -o $@ $<\n"
SOURCE = "int f%d(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] %% %d * (i ^ s); return s; }\n"
THREADED = f"""
import threading, time, random
def work(seed):
    pick = random.Random(seed)
    while True:
        time.sleep(pick.random() / 50)
        sum(range(pick.randrange(2000)))
for n in range({THREADS}):
    threading.Thread(target=work, args=(n,), daemon=True).start()
print("runs", flush=True)
time.sleep(3600)
"""


def sources(folder):
    for n in range(400):
        with open(os.path.join(folder, f"f{n}.c"), "w", encoding="ascii") as file:
            file.write("".join(SOURCE % (n * 100 + i, i + 3) for i in range(100)))
    with open(os.path.join(folder, "Makefile"), "w", encoding="ascii") as file:
        file.write(MAKEFILE)


class Trace:
    """perf record of all switches. The events' times are of CLOCK_MONOTONIC."""

    def __init__(self, data):
        self.data = data
        self.process = subprocess.Popen(["perf", "record", "-q", "-a", "-e", "sched:sched_switch", "-k",
                                         "CLOCK_MONOTONIC", "-m", "4M", "--no-bpf-event", "-o", data],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def switches(self):
        """(time, thread that leaves, thread that comes)"""
        text = subprocess.run(["perf", "script", "-i", self.data, "-F", "cpu,time,event,trace", "--ns"],
                              capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
                              check=False).stdout
        for line in text.splitlines():
            found = SWITCH.search(line)
            if found:
                yield float(found.group(1)), int(found.group(2)), int(found.group(3))

    def off_cpu(self, begin, end):
        """us by thread, between two times, of those that the trace has seen before and after them."""
        left, off, first, last = {}, collections.Counter(), {}, {}
        for now, old, new in self.switches():
            for tid in (old, new):
                first.setdefault(tid, now)
                last[tid] = now
            left[old] = now
            if new in left:
                since = left.pop(new)
                off[new] += max(min(now, end) - max(since, begin), 0)
        for tid, since in left.items():
            off[tid] += max(end - max(since, begin), 0)
        return {tid: 1e6 * seconds for tid, seconds in off.items()
                if first[tid] < begin and last[tid] > end - 1}


def trace_works(scratch):
    """Why not, or nothing."""
    if not shutil.which("perf"):
        return "perf is missing"
    done = subprocess.run(["perf", "record", "-q", "-a", "-e", "sched:sched_switch", "-o",
                           os.path.join(scratch, "try"), "true"], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else "perf cannot record switches: " + done.stderr.strip()[:200]


def by_thread(reports):
    """us by thread, and the threads that are in each report."""
    off, times = collections.Counter(), collections.Counter()
    for report in reports:
        seen = set()
        for stack in report["stacks"]:
            off[stack["thread"]] += stack["weight"]
            seen.add(stack["thread"])
        times.update(seen)
    return {tid: us for tid, us in off.items() if times[tid] == len(reports)}


def watch(data):
    """(trace, reports of the window, its begin and end by CLOCK_MONOTONIC). Follows all processes. perf
    script fails at a record of a BPF program that was loaded, so perf starts after stacktop has."""
    offset = time.time() - live.kernel_clock()
    with live.Stream("-e", "off-cpu", "-d", "1", "--no-inline") as top:
        top.until(lambda slices: slices, 60)
        trace = Trace(data)
        first = top.next()
        top.more(SECONDS, 120)
        status = top.stop()
        trace.end()
        trouble = top.errors(())
    reports = [part.json for part in top.slices][first:][:SECONDS]
    began = [calendar.timegm(time.strptime(report["time"][:19], "%Y-%m-%dT%H:%M:%S")) +
             float("0" + report["time"][19:-1]) - offset for report in reports]
    return trace, reports, began[0], began[-1] + reports[-1]["seconds"], status, trouble


def together(tap, name, ours, theirs, wanted):
    total = [sum(us[tid] for tid in wanted) for us in (ours, theirs)]
    tap.ok(wanted and abs(total[0] - total[1]) <= PART * total[1] + SLACK, f"{name}: all threads together",
           f"{total[0] / 1e6:.3f} s, {total[1] / 1e6:.3f} s in the trace, {len(wanted)} threads")


def compare(tap, name, ours, theirs, wanted):
    both = {tid: (ours[tid], theirs[tid]) for tid in wanted if tid in ours and tid in theirs}
    wrong = {tid: us for tid, us in both.items() if abs(us[0] - us[1]) > PART * us[1] + SLACK}
    tap.ok(both and len(wrong) * 100 <= len(both), f"{name}: each has the time of the trace",
           f"{len(both)} threads; wrong: {dict(list(wrong.items())[:3])}")
    together(tap, name, ours, theirs, set(both))


def threads_of(pid):
    return [int(tid) for tid in os.listdir(f"/proc/{pid}/task")]


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-trace-", dir=live.WORK) as scratch:
        why = trace_works(scratch)
        if why:
            tap.skip("everything", why)
            tap.done()
        sources(scratch)
        with live.Load([sys.executable, "-c", THREADED], stdout=subprocess.PIPE) as threaded, \
                live.Load(["make", "-s", "-j4", "-C", scratch], stderr=subprocess.DEVNULL):
            threaded.stdout.readline()
            trace, reports, begin, end, status, trouble = watch(os.path.join(scratch, "data"))
            wanted = threads_of(threaded.pid)
            threaded.stdout.close()
        tap.ok(status == 0 and len(reports) == SECONDS, "stacktop follows all threads", trouble.strip()[-300:])
        tap.ok(len(wanted) > THREADS, "the program runs its threads", str(len(wanted)))
        ours, theirs = by_thread(reports), trace.off_cpu(begin, end)
        if not theirs:
            tap.skip("the trace", "perf cannot read all of it")
            tap.done()
        compare(tap, f"{THREADS} threads", ours, theirs, wanted)
        together(tap, "the machine", ours, theirs, set(ours) & set(theirs))
    tap.done()


if __name__ == "__main__":
    main()
