#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel stacks that differ in their outermost frames only, far from where they were sampled: one
program calls write(2), another pwrite(2), and both allocate pages of the same file system. Neither has
a stack of the other.

Covers: bpf/prog/sample.bpf.h
"""

import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import watch  # noqa: E402

SOURCE = """
import os, sys
file, data = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT), b"x" * 4096
while True:
    for at in range(0, 1 << 20, 4096):
        {call}
    os.ftruncate(file, 0)
    os.lseek(file, 0, 0)
"""
CALLS = {"pwrite": "os.pwrite(file, data, at)", "write": "os.write(file, data)"}
DEEP = 11   # frames: eight of them, which are hashed at a time, are within the file system
ENOUGH = 40


def calls(part):
    """Of each deep stack of a write: the process, the system call, and how many samples it has."""
    for pid, _, kernel, count in part.stacks():
        if len(kernel) >= DEEP and "vfs_write" in kernel:
            yield pid, "pwrite" if any("pwrite" in name for name in kernel) else "write", count


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory(dir=live.WORK) as folder, \
            live.Load([sys.executable, "-c", SOURCE.format(call=CALLS["pwrite"]), folder + "/p"]) as first, \
            live.Load([sys.executable, "-c", SOURCE.format(call=CALLS["write"]), folder + "/w"]) as second:
        pids = {first.pid: "pwrite", second.pid: "write"}
        watch.until_busy(list(pids), 0.1)
        right, wrong = dict.fromkeys(pids, 0), dict.fromkeys(pids, 0)
        with watch.Watch("-U", "-d", "0.5", "-F", live.hertz(1999), "-p", ",".join(map(str, pids))) as top:
            def seen(part):
                for pid, call, count in calls(part):
                    (right if call == pids[pid] else wrong)[pid] += count
                return min(right.values()) >= ENOUGH
            top.until(seen, 60)
    for pid, call in pids.items():
        tap.ok(right[pid] + wrong[pid] >= ENOUGH and not wrong[pid], f"{call}: deep stacks have its system call",
               f"{right[pid]} have it, {wrong[pid]} have the other's")
    tap.done()


if __name__ == "__main__":
    main()
