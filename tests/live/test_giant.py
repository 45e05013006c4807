#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 600 s
"""One table that spans several shards: SIZE=full has half a million functions, four million rows. Its
program calls down through functions of its beginning, middle and end and prints which; every stack
must be these, down to the sampled one. With a budget too small for it, stacktop reports the size
needed, and all other programs are walked as before. When it is the attached process, tables of others
make room for it.

Covers: unwind/shards.c unwind/spans.c bpf/tracker/evict.c"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import watch  # noqa: E402

GIANT = os.path.abspath(os.path.join(live.BUILD, "tests", "giant", "giant"))
FULL = os.environ.get("SIZE") == "full"
COUNT = 500000 if FULL else 200000  # 15.5 and 6.2 MiB; a shard has 4
ROOMY, NEARLY, SMALL = ("64", "20", "8") if FULL else ("64", "8", "4")  # budgets
DEPTH = 64
ROWS, SIZE = 8, 28  # per function, see giant.c
MIB = 1 << 20


class Giant:
    """The running program, and the functions that it prints."""

    def __init__(self, path, count=COUNT):
        subprocess.run([GIANT, "write", path, str(count)], check=True)
        self.file = os.path.basename(path)
        self.load = live.Load([GIANT, "run", path, str(count), str(DEPTH)])
        self.need = count * (ROWS * 4 + 28 / 256 * 4)  # bytes of the rows and of the index
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

    def is_made_up(self, frames):
        """Until stacktop knows where the file's functions begin, their names have the addresses in them.
        Until it has the names of other files, the stack is not judged."""
        first = int(self.way[3].rpartition("+0x")[2], 16)
        starts = []
        for frame in frames:
            name, plus, address = frame.rpartition("+0x")
            if plus and name != self.file:
                return False
            if plus:
                address = int(address, 16)
                frame = f"{name}+{address - (address - first) % SIZE:#x}"
            starts.append(frame)
        return not self.is_way(starts) and not self.is_part(starts)

    def is_way(self, frames):
        """True for frames from the bottom up."""
        return len(frames) >= 2 and frames == self.way[:len(frames)]

    def is_part(self, frames):
        """True for a reason in place of the bottom, followed by a part of the way."""
        known = frames[1:]
        return frames[0].startswith("[") and any(
            known == self.way[at:at + len(known)] for at in range(len(self.way)))


def sample(pids, memory, slices, seconds="0.5", enough=lambda part: True):
    """(user stacks of this many refreshes from the first that is enough, user stacks before it,
    stderr)"""
    before, after, left = [], [], slices

    def wanted(part):
        nonlocal left
        if left < slices or enough(part):
            after.append(part)
            left -= 1
        else:
            before.append(part)
        return left == 0

    with watch.Watch("-d", seconds, "-F", live.hertz(999), "--memory", memory, "-p",
                     ",".join(map(str, pids))) as top:
        top.until(wanted)
    return after, before, top


def stacks_of(parts, pid):
    for part in parts:
        for at, user, _, count in part.stacks():
            if at == pid and user:
                yield [frame for frame in user if not frame.startswith("__libc_start")], count


def check_walked(tap, giant, pid, memory, what):
    """Its table is loaded when others have made room, and stays."""
    def there(part):
        counts = [(giant.is_way(frames), n) for frames, n in stacks_of([part], pid)]
        total = sum(n for _, n in counts)
        return total >= 20 and sum(n for way, n in counts if way) >= 0.99 * total

    after, before, top = sample([pid], memory, 4, enough=there)
    stacks = list(stacks_of(after, pid))
    count = sum(n for _, n in stacks)
    good = sum(n for frames, n in stacks if giant.is_way(frames))
    seen = {frame for frames, _ in stacks for frame in frames}
    tap.ok(top.status == 0 and count >= 100 and good >= 0.99 * count and set(giant.way) <= seen and
           "do not fit" not in top.said(), what,
           f"{good} of {count}, {len(before)} refreshes before; {top.said().strip()[-100:]}")
    wrong = [frames for frames, _ in [*stacks_of(before, pid), *stacks] if giant.is_made_up(frames)]
    tap.ok(not wrong, f"{what}: no stack is made up",
           " | ".join(";".join(frames) for frames in wrong[:2])[:300])


def too_small(tap, giant, pid, python):
    """A budget smaller than the table."""
    def walked(part):
        mine = [user for at, user, _, _ in part.stacks() if at == python and user]
        return mine and not any(user[0].startswith("[") for user in mine)

    after, before, top = sample([pid, python], SMALL, 4, enough=walked)
    says = f"the unwind table of {giant.file} needs {giant.need / MIB:.1f} of {SMALL}.0 MiB"
    tap.ok(top.said().count(says) == 1, "a table that does not fit is reported with its size",
           top.said().strip()[-120:])
    theirs = list(stacks_of(after, python))
    total = sum(n for _, n in theirs)
    whole = sum(n for frames, n in theirs if not frames[0].startswith("["))
    tap.ok(total >= 100 and whole >= 0.99 * total, "all other programs are walked as before",
           f"{whole} of {total}")
    mine = list(stacks_of([*before, *after], pid))
    tap.ok(sum(n for frames, n in mine if frames[0] == "[no table for pc]" and
               not frames[-1].startswith("giant+")) >= 100, "its stacks end with the reason")
    wrong = [";".join(frames) for frames, _ in mine if giant.is_made_up(frames)]
    tap.ok(any(giant.file in frame for frames, _ in mine for frame in frames) and not wrong,
           "no stack is made up without it", " | ".join(wrong[:2])[:300])


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-giant-") as folder:
        giant = Giant(os.path.join(folder, "big"))
        busy = [sys.executable, "-c", "while True: sum(range(1000))"]
        with giant as process, live.Load(busy) as python:
            check_walked(tap, giant, process.pid, ROOMY, "a table of several shards")
            too_small(tap, giant, process.pid, python.pid)
            # Little more than its size: its blocks are cut to fit between the tables already loaded.
            check_walked(tap, giant, process.pid, NEARLY, "a budget that is nearly its size")
            # A table of half the size is built first, of a process that is not attached.
            with Giant(os.path.join(folder, "half"), COUNT // 2):
                check_walked(tap, giant, process.pid, NEARLY, "a budget that others fill")
    tap.done()


if __name__ == "__main__":
    main()
