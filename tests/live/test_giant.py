#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One table over several shards: half a million functions, four million rows. Its program goes down
through functions of its beginning, middle and end and tells which; every stack has to be those, down
to where the sample hit. With a budget that is too small for it, stacktop says what it needs, and
everybody else is walked as ever. When it is the chosen one, tables of others make room for it.

Covers: unwind/block.c unwind/spans.c bpf/room.c bpf/evict.c
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

GIANT = os.path.abspath(os.path.join(live.BUILD, "tests", "giant", "giant"))
COUNT = 500000
DEPTH = 64
ROWS = 8  # a function, see giant.c
MIB = 1 << 20


class Giant:
    """The program, running, and what it says it goes through."""

    def __init__(self, path, count=COUNT):
        subprocess.run([GIANT, "write", path, str(count)], check=True)
        self.file = os.path.basename(path)
        self.load = live.Load([GIANT, "run", path, str(count), str(DEPTH)])
        self.need = count * (ROWS * 4 + 28 / 256 * 4)  # bytes of rows, and of the index
        self.way = []

    def __enter__(self):
        read, write = os.pipe()
        self.load.options["stdout"] = write
        process = self.load.__enter__()
        os.close(write)
        with os.fdopen(read, encoding="ascii") as file:
            addresses = file.readline().split()
        self.way = ["_start", "main", "go_on"]
        for address in addresses:
            self.way += [f"{self.file}+0x{address}", "go_on"]
        return process

    def __exit__(self, *why):
        self.load.__exit__(*why)

    def stacks(self, text):
        """(frames without the C library's, count) of the program's stacks"""
        for line in text.splitlines():
            stack, _, count = line.rpartition(" ")
            frames = stack.split(";")
            if frames[0] == "giant":
                yield [frame for frame in frames[1:] if not frame.endswith("_[k]") and
                       not frame.startswith("__libc_start")], int(count)

    def is_way(self, frames):
        """From the bottom on."""
        return len(frames) >= 2 and frames == self.way[:len(frames)]

    def is_part(self, frames):
        """A reason instead of the bottom, and then a part of the way."""
        known = frames[1:]
        return frames[0].startswith("[") and any(
            known == self.way[at:at + len(known)] for at in range(len(self.way)))


def check_walked(tap, giant, pid, memory, what, seconds="4"):
    out, err, status = live.stacktop("-b", "-d", seconds, "-n", "1", "-F", "499", "--memory", memory,
                                     "--format", "folded", "-p", str(pid))
    stacks = list(giant.stacks(out))
    count = sum(n for _, n in stacks)
    good = sum(n for frames, n in stacks if giant.is_way(frames))
    wrong = [frames for frames, _ in stacks if not giant.is_way(frames) and
             not giant.is_part(frames)]
    seen = {frame for frames, _ in stacks for frame in frames}
    tap.ok(status == 0 and count >= 100 and good >= 0.99 * count and set(giant.way) <= seen and
           "do not fit" not in err, what,
           f"{good} of {count}; {err.strip()[-100:]}")
    tap.ok(not wrong, f"{what}: no stack is invented",
           " | ".join(";".join(frames) for frames in wrong[:2])[:300])


def too_small(tap, giant, pid, python):
    """A budget of 8 MiB."""
    out, err, _ = live.stacktop("-b", "-d", "2", "-n", "4", "-F", "199", "--memory", "8",
                                "-p", f"{pid},{python}")
    says = f"the unwind table of {giant.file} needs {giant.need / MIB:.1f} of 8.0 MiB"
    tap.ok(err.count(says) == 1, "what does not fit is told, with what it needs", err.strip()[-120:])
    shares = [float(share) for share in
              re.findall(rf"^ *{python} \S+ +[\d.]+ +\d+ +[\d.]+ +([\d.]+)", out, re.M)]
    tap.ok(len(shares) >= 3 and min(shares) >= 99, "nobody else is the worse for it", str(shares))
    tap.ok(re.search(rf"^ *\d+ +{pid} giant +no table for pc", out, re.M),
           "its stacks end with the reason")
    out, _, _ = live.stacktop("-b", "-d", "3", "-n", "1", "-F", "499", "--memory", "8", "--format",
                              "folded", "-p", str(pid))
    wrong = [";".join(frames) for frames, _ in giant.stacks(out)
             if not giant.is_way(frames) and not giant.is_part(frames)]
    tap.ok("big" in out and not wrong, "no stack is invented without it",
           " | ".join(wrong[:2])[:300])


def main():
    tap = live.Tap()
    live.need_root(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-giant-") as folder:
        giant = Giant(os.path.join(folder, "big"))
        busy = [sys.executable, "-c", "while True: sum(range(1000))"]
        with giant as process, live.Load(busy) as python:
            check_walked(tap, giant, process.pid, "64", "a table of 15 MiB")
            too_small(tap, giant, process.pid, python.pid)
            # Little more than it takes: its blocks are cut to fit between what is there already.
            check_walked(tap, giant, process.pid, "20", "a budget that is nearly its size", "12")
            # A table of half the size is built first, and is of a process that was not chosen.
            with Giant(os.path.join(folder, "half"), COUNT // 2):
                check_walked(tap, giant, process.pid, "20", "a budget that others fill", "6")
    tap.done()


if __name__ == "__main__":
    main()
