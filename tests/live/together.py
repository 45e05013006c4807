# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples several programs at once whose code stacktop first has to read: each until its code is known,
then until it has enough samples, which ends it. So a test takes no longer than it must, however busy the
machine is."""

import collections
import contextlib
import os
import signal
import subprocess
import time

import live
import watch

PATIENCE = 120  # seconds
BUSY = 0.3
FEW = 30        # samples of a refresh that tell whether code is known
ENOUGH = 400    # samples that are judged
# Calls functions and a method that its compiler makes code of.
PHP = """<?php
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
class K { function m($x) { $s = 0; for ($i = 0; $i < 1000; $i++) { $s += $i * $x; } return $s; } }
function mid($k, $n) { $a = 0; for ($i = 0; $i < 50; $i++) $a += $k->m($i % 7); return fib($n) + $a; }
$k = new K; $s = 0;
while (true) { $s = mid($k, 15); }
"""


def share(stacks, condition):
    """The part of the samples whose user stack fulfils a condition."""
    total = sum(stacks.values())
    return sum(count for user, count in stacks.items() if condition(user)) / total if total else 0.0


class Program:
    """A command and its user stacks {frames from the outermost on: samples}.

    good: whether a stack is as it is once the code is known
    least: the part of a refresh that must be so
    judged: which stacks are looked at at all
    own: a program of these tests, which runs everywhere
    begun: a file that it writes when it is to be sampled
    busy: seconds of CPU time, until it runs what it is to be sampled in"""

    def __init__(self, name, command, good, least, judged=lambda user: True, own=False, begun=None, busy=BUSY):
        self.name, self.command, self.good, self.least, self.judged = name, command, good, least, judged
        self.own, self.begun, self.busy = own, begun, busy
        self.load = self.process = None
        self.known = False
        self.early = collections.Counter()  # before the code was known
        self.stacks = collections.Counter()

    def of(self, part):
        counts = collections.Counter()
        for pid, user, _, count in part.stacks():
            if user and pid == self.process.pid and self.judged(user):
                counts[user] += count
        return counts

    def knows(self, part):
        """Is the code known in this refresh?"""
        counts = self.of(part)
        if sum(counts.values()) >= FEW and share(counts, self.good) >= self.least:
            return True
        self.early += counts
        return False

    def add(self, part):
        """Returns whether it has enough samples."""
        if self.known:
            self.stacks += self.of(part)
        self.known = self.known or self.knows(part)
        return sum(self.stacks.values()) >= ENOUGH


def start(tap, running, programs):
    """Those that run here, halted when they have been busy."""
    for program in programs:
        program.load = live.Load(program.command, stderr=subprocess.DEVNULL)
        program.process = running.enter_context(program.load)
    for busy in sorted({program.busy for program in programs}):
        watch.until_busy([program.process.pid for program in programs
                          if program.busy == busy and not program.begun], busy, 60, halt=True)
    until = time.monotonic() + PATIENCE
    for program in programs:
        while program.begun and not os.path.exists(program.begun) and program.process.poll() is None and \
                time.monotonic() < until:
            time.sleep(0.05)
        program.process.send_signal(signal.SIGSTOP)
    for program in programs:
        if program.process.poll() is not None and program.own:
            tap.ok(False, f"{program.name}: runs", f"it ended with {program.process.poll()}")
        elif program.process.poll() is not None:
            tap.skip(program.name, "does not run here")
    return [program for program in programs if program.process.poll() is None]


def sample(tap, programs):
    """Returns the programs that run here, with stacks."""
    with contextlib.ExitStack() as running:
        programs = start(tap, running, programs)
        if not programs:
            return []
        pids = [program.process.pid for program in programs]
        awaited = list(programs)

        def enough(part):
            for program in [program for program in awaited if program.add(part)]:
                awaited.remove(program)
                if awaited:     # stacktop warns when the last process of -p has ended
                    program.load.end()
            return not awaited

        with watch.Watch("-d", "0.5", "-F", live.hertz(1999), "-p", ",".join(map(str, pids)), first=True) as top:
            for _ in range(2):
                top.next()
            watch.resume(pids)
            top.until(enough, PATIENCE)
        for program in programs:
            tap.ok(program.known, f"{program.name}: its code becomes known", common(program.early))
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"/tmp/perf-{program.process.pid}.map")
    return programs


def common(stacks):
    """The commonest stacks, for a test that fails."""
    return " | ".join(f"{count} {';'.join(user)}" for user, count in stacks.most_common(4))
