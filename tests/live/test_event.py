#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 120 s
"""Changes the sampling event while stacktop runs: clock ticks find a program that only computes, page
faults one that only touches memory, and neither finds the other. An event that this machine lacks
leaves the one before in place. No tick and no sample is lost.

Covers: bpf/sampler/events.c bpf/sampler/sampler.c bpf/sampler/event.c tui/collect/collector_post.c tui/collect/accounting.c
"""

import collections
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SPIN = "while True: sum(range(1000))"
# Maps, touches and unmaps pages, in about a tenth of the time.
FAULT = """import mmap, time
while True:
    with mmap.mmap(-1, 1 << 20) as block:
        for at in range(0, 1 << 20, 4096):
            block[at] = 1
    time.sleep(0.005)"""
HERTZ = live.hertz(1999)  # the kernel throttles events that come in bursts
LOST = re.compile(r", ([\d,]+) lost$", re.M)


class Plain:
    """stacktop with its views as lines."""

    def __init__(self, *options):
        self.out = tempfile.TemporaryFile()
        self.process = subprocess.Popen([live.STACKTOP, "--plain", "-d", "0.25", "-F", HERTZ,
                                         *options],
                                        stdin=subprocess.PIPE, stdout=self.out,
                                        stderr=subprocess.STDOUT)

    def text(self):
        return os.pread(self.out.fileno(), 1 << 24, 0).decode("utf-8", "replace")

    def say(self, line):
        """Types the command; wait looks only at output after it."""
        self.seen = len(self.text())
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def wait(self, pattern, seconds=30):
        """The first match after the last command; None."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = re.search(pattern, self.text()[self.seen:], re.M | re.S)
            if found:
                return found
            time.sleep(0.1)
        return None

    def stop(self):
        self.say("quit")
        return self.process.wait(timeout=30)


def refreshed(plain, count):
    """Waits for `count` refreshes."""
    def told():
        return len(LOST.findall(plain.text()))

    most = told() + count
    live.wait_for(lambda: told() >= most)


def rows(plain, pids):
    """The shares of the processes, from a fresh list."""
    plain.say("2")  # a view that is already shown is not printed again
    plain.wait("Functions of")
    plain.say("1")
    plain.wait(r"Processes by.*?\n2\.")
    text = plain.text()[plain.seen:]
    text = text[text.find("Processes by"):]
    return [float((re.findall(rf"([\d.]+) % PID {pid} ", text) or ["0"])[-1]) for pid in pids]


def until_rows(plain, pids, good):
    """The shares over at least six refreshes, repeated until they are good: older samples leave the
    list's window only with time."""
    shares = []
    refreshed(plain, 6)

    def look():
        shares[:] = rows(plain, pids)
        return good(*shares)

    return live.wait_for(look, 60, 0.5), f"{shares}"


def recorded(tap, session, pids):
    """The reports of the session that was recorded over the changes."""
    out, err, status = live.stacktop("-b", "-r", session, "--format", "json")
    reports = [json.loads(line) for line in out.splitlines()]
    events = [event for event, _ in itertools.groupby(reports, lambda report: report["event"])]
    tap.ok(status == 0 and events[:2] == ["cpu-clock", "page-faults"] and events[-1] == "cpu-clock",
           "the recording has the events", f"{events} {err}")
    # The first one is shorter by intent; the last one ends with the run.
    short = [report["seconds"] for report in reports[1:-1] if report["seconds"] < 0.249]
    tap.ok(len(reports) > 10 and not short, "no slice is shorter than the interval",
           f"{short} of {len(reports)}")
    shares = {event: collections.Counter() for event in events}
    for report in reports:
        for proc in report["processes"]:
            shares[report["event"]][proc["pid"]] += proc["samples"]
    clock, faults = shares["cpu-clock"], shares["page-faults"]
    tap.ok(clock[pids[0]] > clock[pids[1]] and faults[pids[1]] > 20 * faults[pids[0]],
           "each event has its own samples", f"{shares}")


def main():
    tap = live.Tap()
    live.need(tap)
    with live.Load([sys.executable, "-c", SPIN]) as spin, \
            live.Load([sys.executable, "-c", FAULT]) as fault, \
            tempfile.TemporaryDirectory() as folder:
        pids = (spin.pid, fault.pid)
        session = os.path.join(folder, "session")
        plain = Plain("-p", f"{spin.pid},{fault.pid}", "-w", session)
        plain.seen = 0
        tap.ok(plain.wait(rf"PID {spin.pid} "), "the clock finds the program that computes")

        plain.say("event page-faults")
        tap.ok(plain.wait("samples are of page-faults from now on"), "the event is changed")
        good, detail = until_rows(plain, pids, lambda spin, fault: 0 < fault >= 20 * spin)
        tap.ok(good, "page faults are those of the program that touches memory", detail)

        plain.say("event cycles")
        found = plain.wait("(cycles: this machine has no such counter|cannot open the event.*?use -e cpu-clock|"
                           "samples are of cycles)")
        tap.ok(found, "a missing event is reported with a remedy",
               found.group().splitlines()[0] if found else plain.text()[plain.seen:][-200:])
        if found and "samples are" not in found.group():
            good, detail = until_rows(plain, pids, lambda spin, fault: 0 < fault >= 20 * spin)
            tap.ok(good, "the event before it stays", detail)
        plain.say("event nonsense")
        tap.ok(plain.wait("no event is called 'nonsense'"), "an unknown name is reported")

        plain.say("event cpu-clock")
        tap.ok(plain.wait("samples are of cpu-clock from now on"), "back to the clock")
        good, detail = until_rows(plain, pids, lambda spin, fault: spin > 5 and spin > fault)
        tap.ok(good, "the clock finds the program that computes again", detail)
        lost = LOST.findall(plain.text())
        tap.ok(len(lost) > 10 and set(lost) == {"0"}, "nothing is lost", f"{len(lost)} refreshes")
        status = plain.stop()
        tap.ok(status == 0 and not re.search("Sanitizer", plain.text()), "ends with success",
               f"exit {status}")
        recorded(tap, session, pids)
    tap.done()


if __name__ == "__main__":
    main()
