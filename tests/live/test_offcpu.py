#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 120 s
"""Programs that wait in known ways, each in a function of its own, measure how long. Under -e off-cpu the
function has that time with the cause that is known, over refreshes that begin and end within waits, and
the time that its thread was ready to run as the kernel knows it. No thread has more time than passed.

Covers: bpf/prog/waits.bpf.c bpf/prog/wait_cause.bpf.h bpf/prog/wait_budget.bpf.h
bpf/sampler/waits.c tui/collect/threadbook.c tui/profile/waits.c
Covers: tui/query/query_times.c"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

WAITS = os.path.join(live.WORK, "waits")
MS = 1000           # microseconds
PART = 0.02         # of a time that may be missing or too much ...
SLACK = 2 * MS      # ... and this
READY_PART = 0.04   # of the time that it was runnable, which the kernel takes with another clock ...
READY_SLACK = 15 * MS   # ... and some kernels do not report a few switches
OVER_PART = 0.01    # of a refresh
OVER_SLACK = 10 * MS
LEDGER_PART = 0.005
LOOK = "spent_now"  # of waits.c: what a thread is runnable there counts, but not in its function
# The kernel takes time in interrupts and time stolen by a hypervisor from a thread's time on a CPU, which
# the program cannot tell from a wait, but for what all CPUs lost; and a thread is woken for a moment
# before it is runnable: disks wake it from interrupts.
BY_INTERRUPTS = ("disk", "fault")
INTERRUPTS_PART = 0.25
INTERRUPTS_SLACK = 20 * MS


class Told:
    """What a program has measured: a line of waits.c."""

    def __init__(self, line):
        self.name, self.function, self.cause, waited, ready, tid, lost = line.split()
        self.waited, self.ready, self.tid = int(waited) / 1000, int(ready) / 1000, int(tid)
        self.lost = int(lost) / 1000


class Seen:
    """The stacks of all refreshes: us by function and cause, and those that are incomplete by process."""

    def __init__(self, functions):
        self.functions = functions
        self.by_function = collections.defaultdict(collections.Counter)
        self.incomplete = collections.defaultdict(collections.Counter)
        self.names = collections.defaultdict(set)
        self.total = collections.Counter()  # us by thread
        self.looks = collections.Counter()  # us runnable while a thread looked at its times
        self.took = 0
        self.waits = collections.Counter()  # walks, and what was left out
        self.excess = []    # of each refresh: by thread, us more than passed

    def add(self, report):
        kinds = [function["kind"] for function in report["functions"]]
        names = [function["name"].strip("[]") for function in report["functions"]]
        threads = collections.Counter()
        for stack in report["stacks"]:
            process = report["processes"][stack["process"]]
            frames = [names[at] for at in stack["frames"]]
            threads[process["pid"], stack["thread"]] += stack["weight"]
            if LOOK in frames and frames[-1] == "runnable":
                self.looks[stack["thread"]] += stack["weight"]
            self.names[process["pid"]].add(process["command"])
            known = [frame for frame in frames if frame in self.functions]
            if known:
                self.by_function[known[-1]][frames[-1]] += stack["weight"]
            elif kinds[stack["frames"][0]] == "end":
                self.incomplete[process["pid"]][frames[-1]] += stack["weight"]
        self.total += threads
        self.waits.update(report["waits"])
        limit = report["seconds"] * 1e6 * (1 + OVER_PART)
        self.excess.append({thread: us - limit for thread, us in threads.items()})

    def over(self):
        """(thread, us) for what is more than passed in a refresh, also with the one before and with the
        one after it: a thread may be read some time after the end, and a wait counted in the next.
        Nothing comes after the last refresh that could tell it from time counted twice."""
        rounds = [{}, *self.excess]
        return [(thread, round(us)) for before, here, after in zip(rounds, rounds[1:], rounds[2:])
                for thread, us in here.items()
                if us + min(before.get(thread, 0), after.get(thread, 0), 0) > OVER_SLACK]

    def missing(self, told):
        """us of its cause for which a stack is not known."""
        if told.tid and told.name != "exec":
            return self.incomplete[told.tid][told.cause]
        return sum(counts[told.cause] for counts in self.incomplete.values())


def watch(options, *command):
    """(reports, lines that the command printed, stderr, status, us that it took)"""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="stacktop-offcpu-", dir=live.WORK) as scratch:
        out = os.path.join(scratch, "out")
        done = subprocess.run([live.STACKTOP, "-b", *options, "-o", out, "--", *command], cwd=scratch,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=90, check=False)
        with open(out, encoding="utf-8", errors="replace") as file:
            text = file.read()
    return (text, done.stdout.decode().splitlines(), done.stderr.decode("utf-8", "replace"),
            done.returncode, (time.monotonic() - began) * 1e6)


def watch_json(event, name):
    text, lines, err, status, took = watch(["-e", event, "-F", live.hertz(999), "-d", "0.5", "--format", "json"],
                                     WAITS, "1000", name)
    told = [Told(line) for line in lines if " skip " not in line]
    seen = Seen({each.function for each in told})
    for line in text.splitlines():
        seen.add(json.loads(line))
    seen.took = took
    return told, [line.split(None, 2) for line in lines if " skip " in line], seen, err, status


def near(got, want, part, slack):
    return want * (1 - part) - slack <= got <= want * (1 + part) + slack


def check(tap, told, seen):
    counts, missing = seen.by_function[told.function], seen.missing(told)
    got = counts[told.cause]
    if told.name in BY_INTERRUPTS:
        both, want = got + counts["runnable"], told.waited + told.ready
        missing += seen.incomplete[told.tid]["runnable"] + seen.looks[told.tid]
        tap.ok(near(both, want, INTERRUPTS_PART, INTERRUPTS_SLACK + told.lost + missing) and
               got > max(told.waited - told.lost, 0) / 10,
               f"{told.name}: waits for {told.cause}", f"{got / MS:.1f} ms, and runnable {both / MS:.1f} ms "
               f"in all, measured {told.waited / MS:.1f} ms, {want / MS:.1f} ms in all, of which CPUs lost "
               f"{told.lost / MS:.1f} ms; {missing / MS:.1f} ms of incomplete stacks")
    elif told.waited:
        tap.ok(near(got, told.waited, PART, SLACK + missing) and
               got <= told.waited * (1 + PART) + SLACK, f"{told.name}: waits for {told.cause}",
               f"{got / MS:.1f} ms, measured {told.waited / MS:.1f} ms; runnable {counts['runnable'] / MS:.1f} ms, "
               f"of the kernel {told.ready / MS:.1f} ms; {missing / MS:.1f} ms of incomplete stacks")
    if told.cause == "runnable":    # the others are so for moments, of which only some are looked at
        tap.ok(near(counts["runnable"], told.ready, READY_PART,
                    READY_SLACK + seen.incomplete[told.tid]["runnable"]), f"{told.name}: is runnable",
               f"{counts['runnable'] / MS:.1f} ms, of the kernel {told.ready / MS:.1f} ms")
    others = {cause: us for cause, us in counts.items() if cause not in (told.cause, "runnable")}
    tap.ok(sum(others.values()) <= SLACK + PART * told.waited, f"{told.name}: waits for nothing else",
           ", ".join(f"{cause} {us / MS:.1f} ms" for cause, us in others.items()))


def check_all(tap, name):
    told, skipped, seen, err, status = watch_json("off-cpu", name)
    tap.ok(status == 0 and told and not live.errors(err, ("waits",)), f"{name}: is followed", err.strip()[-300:])
    for each in told:
        check(tap, each, seen)
    for skip in skipped:
        tap.skip(skip[0], skip[2])
    tap.note(f"waits: {dict(seen.waits)}")
    over = seen.over() + [(thread, us) for thread, us in seen.total.items() if us > seen.took]
    tap.ok(len(seen.excess) > 2 and not over, f"{name}: no thread has more time than passed", f"{over[:3]}")


def check_wall(tap):
    """A thread that always wants to run has all of its time in that function, partly by samples."""
    told, _, seen, err, status = watch_json("wall", "wall")
    counts, incomplete = seen.by_function["compete"], seen.incomplete[told[0].tid]
    got, missing = sum(counts.values()), sum(incomplete.values()) - incomplete["poll"]  # before it
    tap.ok(status == 0 and not live.errors(err, ("waits",)), "wall: is followed", err.strip()[-300:])
    tap.ok(near(got, told[0].waited, READY_PART, READY_SLACK + missing) and missing < told[0].waited / 2,
           "wall: all of the time is in the function", f"{got / MS:.1f} ms, measured "
           f"{told[0].waited / MS:.1f} ms: {dict(counts)}; incomplete: {dict(incomplete)}")


def check_ledger(tap):
    """The report's sums by process, which do not depend on stacks."""
    text, lines, err, status, _ = watch(["-e", "off-cpu", "-d", "60"], WAITS, "1000", "crowd")
    told = Told(lines[0])
    row = re.search(r"^ *\d+ +([\d.]+) s  (?:\S*waits 1000 crowd|\[waits\])(?: \(exited\))?$\n +(.*)$", text, re.M)
    tap.ok(status == 0 and row and not live.errors(err, ("waits",)), "a crowd: its time is reported",
           "" if row else (err.strip() or text)[:600].replace("\n", " "))
    if not row:
        return
    parts = dict(re.findall(r"(\S+) ([\d.]+) %", row.group(2)))
    asleep = float(row.group(1)) * float(parts.get("sleep", 0)) / 100 * 1e6
    tap.ok(near(asleep, told.waited, LEDGER_PART, 0), "a crowd: its time asleep",
           f"{asleep / MS:.0f} ms, measured {told.waited / MS:.0f} ms; {row.group(2)}")


def check_births(tap):
    """A thread that was just made is runnable before it has run: under the calls of the one that forked,
    or, on a stack of its own, in its own first function. It happens once for each, also for a child that
    calls exec."""
    text, lines, err, status, _ = watch(["-e", "off-cpu", "-d", "60", "--format", "json"], WAITS, "1000", "births")
    born, untaken = collections.Counter(), collections.Counter()
    for line in text.splitlines():
        report = json.loads(line)
        names = [function["name"].strip("[]") for function in report["functions"]]
        for stack in report["stacks"]:
            frames = [names[at] for at in stack["frames"]]
            if frames[0] == "stack not taken":
                untaken[frames[-1]] += stack["count"]
            elif frames[-2].startswith("ret_from_fork") and frames[-1] == "runnable":
                born["fork_once" if "fork_once" in frames else frames[0]] += stack["count"]
    births = int(lines[0].split()[3]) if lines else 0
    tap.ok(status == 0 and births and not live.errors(err, ("waits",)) and not untaken, "births: no stack is missing",
           f"{untaken or err.strip()[-300:]}")
    own = sum(count for name, count in born.items() if re.match("(__)?clone", name))
    tap.ok(near(born["fork_once"], births, PART, 2) and near(own, 2 * births, PART, 2),
           "births: a wait of each before it has run", f"{births} of each of three kinds: {born}")


def main():
    tap = live.Tap()
    live.need(tap)
    for name in sys.argv[1:] or ("all", "crowd", "forks"):
        check_all(tap, name)
    check_wall(tap)
    check_ledger(tap)
    check_births(tap)
    tap.done()


if __name__ == "__main__":
    main()
