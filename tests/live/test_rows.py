#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 900 s
"""A row is a process between two execs. Two programs, alpha and bravo, with functions named after them,
take turns at one PID: by exec, and as processes that each get the number of the one before; with
random addresses, and with stacks that begin at the same address. No row may have functions of both,
each has the name of its functions' program, and no two turns share a row, whether refreshes are shorter
or longer than a turn.

Covers: bpf/prog/profiler.bpf.c bpf/prog/sample.bpf.h bpf/tracker/process.c tui/collect/procinfo.c
Covers: tui/collect/collector_slice.c tui/symbolize/resolver.c
"""

import collections
import ctypes
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "track", "turn.c")
NEXT = "/proc/sys/kernel/ns_last_pid"
SIDES = ("alpha", "bravo")
TURN = {"alpha": 200, "bravo": 300}     # ms of CPU time
HERTZ = live.hertz(499)
PATIENCE = 90
TRIES = 50
ADDR_NO_RANDOMIZE = 0x40000
LIBC = ctypes.CDLL(None, use_errno=True)


def compile_all(folder):
    for side in SIDES:
        live.cc(os.path.join(folder, side), SOURCE, "-no-pie", f"-DNAME={side}")


def start(folder, side, randomized, turns):
    """Both sides get the same arguments and environment."""
    words = [os.path.join(folder, "program")]
    for name in SIDES:
        words += [os.path.join(folder, name), str(TURN[name])]

    def prepare():
        if not randomized and LIBC.personality(ADDR_NO_RANDOMIZE) < 0:
            os._exit(99)

    process = subprocess.Popen([*words, turns], executable=os.path.join(folder, side),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               preexec_fn=prepare)
    live.weigh(process.pid, 5)
    return process


def end(process):
    process.kill()
    process.wait()


def look(pid, images):
    """Adds the process's program, and where its stack begins (proc_pid_stat(5), field 28)."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return
    image = int(text.rpartition(")")[2].split()[25])
    if image:
        images[re.search(r"\((.*)\)", text, re.S).group(1)].add(image)


class Row:
    def __init__(self, name):
        self.name, self.sides = name, collections.Counter()


def rows(told, pid):
    """The rows of the PID with user frames of a side."""
    found = [Row(process["name"]) for process in told["processes"]]
    names = [function["name"] or "" for function in told["functions"]]
    for stack in told["stacks"]:
        of = {side for side in SIDES for at in stack["frames"] if names[at].startswith(side + "_")}
        for side in of:
            found[stack["process"]].sides[side] += stack["count"]
    return [row for row, process in zip(found, told["processes"])
            if process["pid"] == pid and row.sides]


def is_worth(found, turns):
    """True for samples of at least this many turns of each side."""
    return all(found[side] * 1000 > turns * TURN[side] * int(HERTZ) for side in SIDES)


def total(found):
    return sum((row.sides for row in found), collections.Counter())


def describe(found):
    return "; ".join(f"{row.name}: " + " and ".join(f"{n} of {side}" for side, n in row.sides.items())
                     for row in found)


def judge(tap, what, slices, pid):
    found = [rows(part.json, pid) for part in slices]
    every = [row for part in found for row in part]
    tap.ok(every and all(len(row.sides) == 1 for row in every),
           f"{what}: no row has functions of both", describe(row for row in every if len(row.sides) > 1))
    tap.ok(all(row.name in row.sides for row in every),
           f"{what}: each has the name of its functions' program",
           describe(row for row in every if row.name not in row.sides))
    long = [part for part in found if is_worth(total(part), 3)]
    shares = [(row.sides[side], total(part)[side]) for part in long for row in part for side in row.sides]
    if shares:
        tap.ok(all(2 * part < whole for part, whole in shares), f"{what}: each turn has a row of its own",
               " ".join(f"{part}/{whole}" for part, whole in shares))


def watch(tap, what, folder, seconds, turn):
    """turn() keeps the two going and returns their number; it is called again and again."""
    session = os.path.join(folder, "session")
    images = collections.defaultdict(set)
    with live.Stream("-d", str(seconds), "-F", HERTZ, "-K", "-w", session) as stream:
        live.weigh(stream.pid, -5)
        stream.until(lambda slices: slices)
        found = []

        def is_seen():
            pid = turn()
            look(pid, images)
            new = [total(rows(part.json, pid)) for part in stream.poll()]
            found.extend(new)
            return new and is_worth(sum(found, collections.Counter()), 3) and \
                (seconds < 1 or any(is_worth(part, 3) for part in found))

        seen = live.wait_for(is_seen, PATIENCE)
        pid = turn()
        status = stream.stop()
        slices = stream.slices
        tap.note(stream.errors((pid,)))
    if not seen:
        tap.skip(what, "too few samples")
        return None
    tap.ok(status == 0, f"{what}: it ends with success")
    judge(tap, what, slices, pid)
    out, _, _ = live.stacktop("-r", session, "-b", "--format", "json")
    judge(tap, f"{what}, replayed", [live.Slice(line) for line in out.splitlines()], pid)
    return images


def test_exec(tap, folder, seconds, randomized):
    what = f"exec {'with' if randomized else 'without'} randomization, refreshed every {seconds} s"
    process = start(folder, "alpha", randomized, "0")
    try:
        images = watch(tap, what, folder, seconds, lambda: process.pid)
    finally:
        end(process)
    if images and not randomized:
        tap.note(f"stacks begin at {dict(images)}")


class Alternating:
    """Processes with one number, one after the other. Threads take numbers, too, so it takes tries."""

    def __init__(self, folder):
        self.folder, self.turn = folder, 0
        self.process = start(folder, SIDES[0], False, "1")
        self.pid = self.process.pid

    def again(self):
        if self.process.poll() is None:
            return self.pid
        for _ in range(TRIES):
            with open(NEXT, "w", encoding="ascii") as file:
                file.write(str(self.pid - 1))
            process = start(self.folder, SIDES[(self.turn + 1) % 2], False, "1")
            if process.pid == self.pid:
                self.process = process
                self.turn += 1
                break
            end(process)
        return self.pid


def test_reuse(tap, folder, seconds):
    turns = Alternating(folder)
    try:
        watch(tap, f"a PID that is used again, refreshed every {seconds} s", folder, seconds, turns.again)
    finally:
        end(turns.process)


def inside():
    tap = live.Tap()
    with tempfile.TemporaryDirectory(prefix="stacktop-rows-") as folder:
        compile_all(folder)
        for seconds in (0.3, 5):
            test_exec(tap, folder, seconds, False)
        test_exec(tap, folder, 5, True)
        if not os.access(NEXT, os.W_OK):
            tap.skip("a PID that is used again", f"no {NEXT}, which chooses numbers")
        else:
            for seconds in (0.3, 5):
                test_reuse(tap, folder, seconds)
    tap.done()


def main():
    tap = live.Tap()
    live.need(tap)
    sys.exit(live.rerun_in_pid_namespace(tap, "inside"))


if len(sys.argv) > 1:
    inside()
else:
    main()
