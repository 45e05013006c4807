#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""Stacks through code without frame pointers that a process makes at run time and describes in its own
memory: a program that knows its own chain of calls (described.c), and lli, qemu and php where they are
installed. test_java.py is about Java.

Covers: bpf/tracker/runcode.c bpf/tracker/gdbjit.c bpf/tracker/codereader.c bpf/tracker/openhelper.c tui/symbolize/jit.c
"""

import collections
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
import together  # noqa: E402
import watch  # noqa: E402
from together import common, share  # noqa: E402

DESCRIBED = os.path.join(live.WORK, "described")
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")


def below(user, chain):
    """Does the stack go through these functions, one after the other? Suffixes do not matter."""
    names = [re.sub(r"_?\[.*\]$", "", name).strip() for name in user]
    return any(all(re.fullmatch(want, name) for want, name in zip(chain, names[at:at + len(chain)]))
               for at in range(len(names) - len(chain) + 1))


def is_whole(user):
    return not user[0].startswith("[")


class Program(together.Program):
    """chain: functions that whole stacks go through
    also: takes the TAP object and the program, for further tests"""

    def __init__(self, name, command, chain, least=0.95, also=None, judged=lambda user: True, busy=together.BUSY):
        super().__init__(name, command, lambda user: is_whole(user) and below(user, chain), least, judged,
                         own=command[0] == DESCRIBED, busy=busy)
        self.also = also

    def check(self, tap):
        good = share(self.stacks, self.good)
        total = sum(self.stacks.values())
        tap.ok(total >= together.ENOUGH and good >= self.least, f"{self.name}: whole stacks, with names",
               f"{good:.3f} of {total}: {common(self.stacks)}")
        if self.also:
            self.also(tap, self)


class Late(Program):
    """Describes its code once it has been sampled without."""

    def knows(self, part):
        known = super().knows(part)
        if not known and sum(self.early.values()) >= together.FEW:
            self.process.send_signal(signal.SIGUSR1)
        return known


class Moved(Program):
    """At a signal its innermost function is made anew, and must become known again."""
    MOVES = 4

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.moves = 0

    def knows(self, part):
        names = {name for user in self.of(part) for name in user if name.startswith("INNER")}
        return super().knows(part) and names == {f"INNER{self.moves}"}

    def add(self, part):
        done = super().add(part)
        if self.known and self.moves < self.MOVES and \
                sum(self.stacks.values()) >= together.ENOUGH * (self.moves + 1) / (self.MOVES + 1):
            self.known = False
            self.moves += 1
            self.process.send_signal(signal.SIGUSR1)
        return done and self.known and self.moves == self.MOVES


def own_programs():
    chain = ["main", "run_outer", "OUTER"]

    def late(tap, program):
        tap.ok(program.early and share(program.early, program.good) < 0.9,
               "... and not before it was there", common(program.early))

    yield Program("described at once", [DESCRIBED, "now"], [*chain, "INNER0"])
    yield Late("described later", [DESCRIBED, "late"], [*chain, "INNER0"], also=late)
    yield Moved("described again and again", [DESCRIBED, "moved"], [*chain, r"INNER\d"],
                judged=lambda user: "run_outer" in user or not is_whole(user))


def hung(tap):
    """Reading the memory of one process never ends; the other is read meanwhile."""
    with live.Load([DESCRIBED, "hung"], stderr=subprocess.PIPE) as bad, \
            live.Load([DESCRIBED, "now"]) as good:
        time.sleep(0.3)
        if bad.poll() is not None:
            tap.skip("memory that is never read", bad.stderr.read().decode().strip())
            return
        live.wait_busy([bad.pid, good.pid])

        def found(part):
            stacks = collections.Counter()
            for pid, user, _, count in part.stacks():
                if pid == good.pid and user:
                    stacks[user] += count
            return share(stacks, lambda user: below(user, ["main", "run_outer", "OUTER", "INNER0"])) > 0.9

        with watch.Watch("-d", "1", "-F", live.hertz(199), "-p", f"{bad.pid},{good.pid}") as top:
            tap.ok(top.until(found, 30), "a process whose memory is never read delays no other")
            began = time.monotonic()
            tap.ok(top.close() == 0, "... nor an error", top.said())
            took = time.monotonic() - began
        tap.ok(took < 20, "nor the end", f"{took:.1f} s")
        tap.ok(bad.poll() is None and good.poll() is None, "and both processes live on")


def runtimes(tap, folder):
    for kind in ("orc", "mcjit"):
        if shutil.which("lli"):
            yield Program(f"lli, {kind}", ["lli", f"-jit-kind={kind}", f"{PROGRAMS}/recursion.ll"],
                          ["main", *["deep"] * 6, "fib", "fib"], 0.9)
        else:
            tap.skip(f"lli, {kind}", "not installed")
    if shutil.which("qemu-x86_64"):
        yield Program("qemu", ["qemu-x86_64", "/bin/sh", "-c", "while :; do :; done"],
                      ["code_gen_buffer"], 0.9)
    else:
        tap.skip("qemu", "not installed")
    if shutil.which("php"):
        with open(f"{folder}/f.php", "w", encoding="ascii") as file:
            file.write(together.PHP)
        yield Program("php", ["php", "-d", "opcache.enable_cli=1", "-d", "opcache.jit=1255", "-d",
                              "opcache.jit_buffer_size=32M", "-d", "opcache.jit_debug=0x100", "-d",
                              "opcache.file_update_protection=0", f"{folder}/f.php"],
                      [r"(TRACE-\d+\$)?K::m.*"], 0.7)
    else:
        tap.skip("php", "not installed")


def main():
    tap = live.Tap()
    live.need(tap)
    hung(tap)
    with tempfile.TemporaryDirectory() as folder:
        for program in together.sample(tap, [*own_programs(), *runtimes(tap, folder)]):
            program.check(tap)
    tap.done()


main()
