#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 120 s
"""The event that drives the sampling is changed while stacktop runs: at the clock's ticks a program that
only computes is there, at page faults one that only asks for memory, and each is gone from the other's
lists. An event that this machine has not leaves the one before. No tick and no sample gets lost.

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
# Pages that are mapped, touched and unmapped; a tenth of the time is all that it takes.
FAULT = """import mmap, time
while True:
    with mmap.mmap(-1, 1 << 20) as block:
        for at in range(0, 1 << 20, 4096):
            block[at] = 1
    time.sleep(0.005)"""
HERTZ = live.hertz(1999)  # the kernel takes fewer of events that come in bursts
LOST = re.compile(r", ([\d,]+) lost$", re.M)


class Plain:
    """stacktop that tells its views as lines."""

    def __init__(self, *options):
        self.out = tempfile.TemporaryFile()
        self.process = subprocess.Popen([live.STACKTOP, "--plain", "-d", "0.25", "-F", HERTZ,
                                         *options],
                                        stdin=subprocess.PIPE, stdout=self.out,
                                        stderr=subprocess.STDOUT)

    def text(self):
        return os.pread(self.out.fileno(), 1 << 24, 0).decode("utf-8", "replace")

    def say(self, line):
        """The command; what was told before it does not count for wait."""
        self.seen = len(self.text())
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def wait(self, pattern, seconds=30):
        """The first match behind the last command; None."""
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
    """Waits for so many refreshes."""
    def told():
        return len(LOST.findall(plain.text()))

    most = told() + count
    live.wait_for(lambda: told() >= most)


def rows(plain, pids):
    """The shares of the processes in a list that is told anew."""
    plain.say("2")  # a view that is shown already is not told again
    plain.wait("Functions of")
    plain.say("1")
    plain.wait(r"Processes by.*?\n2\.")
    text = plain.text()[plain.seen:]
    text = text[text.find("Processes by"):]
    return [float((re.findall(rf"([\d.]+) % PID {pid} ", text) or ["0"])[-1]) for pid in pids]


def until_rows(plain, pids, good):
    """The shares of at least six refreshes, asked for until they are good: what was sampled before
    goes out of the list's window by and by."""
    shares = []
    refreshed(plain, 6)

    def look():
        shares[:] = rows(plain, pids)
        return good(*shares)

    return live.wait_for(look, 60, 0.5), f"{shares}"


def recorded(tap, session, pids):
    """What was recorded over the changes, report by report."""
    out, err, status = live.stacktop("-b", "-r", session, "--format", "json")
    reports = [json.loads(line) for line in out.splitlines()]
    events = [event for event, _ in itertools.groupby(reports, lambda report: report["event"])]
    tap.ok(status == 0 and events[:2] == ["cpu-clock", "page-faults"] and events[-1] == "cpu-clock",
           "the recording has the events", f"{events} {err}")
    # The first is shorter by intent, the last one as it happens to be.
    short = [report["seconds"] for report in reports[1:-1] if report["seconds"] < 0.249]
    tap.ok(len(reports) > 10 and not short, "no slice is shorter than the interval",
           f"{short} of {len(reports)}")
    shares = {event: collections.Counter() for event in events}
    for report in reports:
        for proc in report["processes"]:
            shares[report["event"]][proc["pid"]] += proc["samples"]
    clock, faults = shares["cpu-clock"], shares["page-faults"]
    tap.ok(clock[pids[0]] > clock[pids[1]] and faults[pids[1]] > 20 * faults[pids[0]],
           "each has its own samples", f"{shares}")


def main():
    tap = live.Tap()
    live.need_root(tap)
    with live.Load([sys.executable, "-c", SPIN]) as spin, \
            live.Load([sys.executable, "-c", FAULT]) as fault, \
            tempfile.TemporaryDirectory() as folder:
        pids = (spin.pid, fault.pid)
        session = os.path.join(folder, "session")
        plain = Plain("-p", f"{spin.pid},{fault.pid}", "-w", session)
        plain.seen = 0
        tap.ok(plain.wait(rf"PID {spin.pid} "), "the clock finds what computes")

        plain.say("event page-faults")
        tap.ok(plain.wait("samples are of page-faults from now on"), "the event is changed")
        good, detail = until_rows(plain, pids, lambda spin, fault: 0 < fault >= 20 * spin)
        tap.ok(good, "page faults are of what asks for memory", detail)

        plain.say("event cycles")
        found = plain.wait("(cannot open the event.*?use -e cpu-clock|samples are of cycles)")
        tap.ok(found, "an event that is not there is told, with what to do",
               found.group().splitlines()[0] if found else plain.text()[plain.seen:][-200:])
        if found and "cannot" in found.group():
            good, detail = until_rows(plain, pids, lambda spin, fault: 0 < fault >= 20 * spin)
            tap.ok(good, "the one before stays", detail)
        plain.say("event nonsense")
        tap.ok(plain.wait("no event is called 'nonsense'"), "a name that means nothing is told")

        plain.say("event cpu-clock")
        tap.ok(plain.wait("samples are of cpu-clock from now on"), "and back")
        good, detail = until_rows(plain, pids, lambda spin, fault: spin > 5 and spin > fault)
        tap.ok(good, "the clock finds what computes again", detail)
        lost = LOST.findall(plain.text())
        tap.ok(len(lost) > 10 and set(lost) == {"0"}, "nothing is lost", f"{len(lost)} refreshes")
        status = plain.stop()
        tap.ok(status == 0 and not re.search("Sanitizer", plain.text()), "ends in good order",
               f"exit {status}")
        recorded(tap, session, pids)
    tap.done()


if __name__ == "__main__":
    main()
