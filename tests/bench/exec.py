# SPDX-License-Identifier: GPL-2.0-or-later
"""The time from exec until the new program can be walked. A program that spins from its first
instructions is started again and again while every CPU is sampled as often as the kernel permits. The
number of samples that could not be walked yet, for reasons that pass, times the sampling period is that
time. It is an upper bound with that resolution, and independent of the clocks of two processes."""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import live  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live", "track", "chain.c")
HERTZ = 4999
ROUNDS = 60
EARLY = {"[process not known yet]", "[process has just called exec]", "[pc in no mapping]",
         "[no table for pc]"}
MS = 40


def waits(commands, comm):
    """(samples of comm that could not be walked yet, all its samples)"""
    script = "; ".join(f"sleep 0.05; {command}" for command in commands)
    out, err, status = live.stacktop("-b", "--format", "folded", "-K", "-F", str(HERTZ), "-d",
                                     "0.1", "--", "/bin/sh", "-c", script, timeout=100)
    if status:
        raise ValueError(err.strip()[-200:])
    early = total = 0
    for line, (user, _, count) in zip(out.splitlines(), live.folded(out)):
        if user and line.startswith(comm + ";"):
            total += count
            early += count if user[0] in EARLY else 0
    return early, total


def measure(table):
    with tempfile.TemporaryDirectory(prefix="stacktop-exec-") as folder:
        first = os.path.join(folder, "begin")
        live.cc(first, SOURCE, "-DNAME=begin", "-DPAD=64")
        # Five runs of a dozen execs each: the median run counts.
        known = sorted(per_exec(*waits([f"{first} {MS}"] * (ROUNDS // 5), "begin"), ROUNDS // 5)
                       for _ in range(5))
        table.row("exec to walkable, known files", known[2], "ms", 1,
                  f"{known[0]:.2f} to {known[4]:.2f}, {ROUNDS} execs at {HERTZ} Hz", digits=2)
        fresh = []
        for turn in range(5):
            # Each exec gets a copy of the C library that no process has mapped before.
            commands = []
            for i in range(ROUNDS // 10):
                place = os.path.join(folder, f"{turn}-{i}")
                os.mkdir(place)
                shutil.copy(libc_of(first), os.path.join(place, "libc.so.6"))
                commands.append(f"LD_LIBRARY_PATH={place} {first} {MS}")
            fresh.append(per_exec(*waits(commands, "begin"), len(commands)))
        fresh.sort()
        table.row("exec to walkable, a new C library", fresh[2], "ms", 10,
                  f"{fresh[0]:.2f} to {fresh[4]:.2f}, {ROUNDS // 2} execs", digits=2)


def per_exec(early, total, execs):
    if total < execs * MS * HERTZ / 1000 / 4:
        raise ValueError(f"{total} samples of {execs} programs: too few")
    return early * 1000 / HERTZ / execs


def libc_of(program):
    out = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        words = line.split()
        if words and words[0].startswith("libc.") and len(words) > 2:
            return words[2]
    raise ValueError("linked with no C library: " + out)
