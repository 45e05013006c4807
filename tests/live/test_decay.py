#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""What stacktop learns of code that is made at run time never makes the stacks of a process worse: runtimes
run side by side, and no period has fewer complete stacks than the best one before it, but for chance. The
programs are those of the zoo; a full run has a minute of them.

Covers: bpf/tracker/runcode.c bpf/tracker/bareset.c bpf/tracker/codeleave.c unwind/step.h"""

import contextlib
import math
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import watch  # noqa: E402

PROGRAMS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "zoo", "programs")
PERIODS, SECONDS = (12, 5) if os.environ.get("SIZE") == "full" else (5, 3)
MADE = "[jit]"
FEW = 100       # stacks of a period that say something
SIGMAS = 4.0    # of the difference of two shares
POINTS = 0.03   # added for what a program does at another time
# name: what it needs, how it is built, how it runs
RUNTIMES = {
    "elixir": (["elixir"], None, "exec env ERL_FLAGS='+JPperf true' elixir {src}/work.exs"),
    "mono": (["mono", "mcs"], "mcs -out:{dir}/zoo.exe {src}/Zoo.cs", "exec mono {dir}/zoo.exe"),
    "node": (["node"], None, "exec node {src}/work.js"),
    "java": (["java", "javac"], "javac -d {dir} {src}/Zoo.java", "exec java -cp {dir} Zoo"),
    "luajit": (["luajit"], None, "exec luajit {src}/work.lua"),
}


def is_whole(user):
    return not user[0].startswith("[") or user[0] == MADE


def start(tap, name, folder, running):
    needs, build, run = RUNTIMES[name]
    missing = [command for command in needs if not shutil.which(command)]
    if missing:
        tap.skip(name, f"{missing[0]} is not installed")
        return None
    names = {"src": PROGRAMS, "dir": folder}
    if build:
        subprocess.run(["bash", "-c", build.format(**names)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return running.enter_context(live.Load(["bash", "-c", run.format(**names)], stderr=subprocess.DEVNULL))


def falls(shares):
    """(best, later) where a share is below the best one before it by more than chance."""
    best = None
    for share, n in shares:
        if best and best[0] - share > POINTS + SIGMAS * math.sqrt(
                (best[0] * (1 - best[0]) + 0.01) / best[1] + (share * (1 - share) + 0.01) / n):
            return f"{best[0]:.3f}, later {share:.3f} of {n}"
        if not best or share > best[0]:
            best = (share, n)
    return ""


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        processes = {name: start(tap, name, folder, running) for name in RUNTIMES}
        pids = {name: process.pid for name, process in processes.items() if process}
        shares = {name: [] for name in pids}
        watch.until_busy(list(pids.values()), 0.3, 60)
        with watch.Watch("-d", str(SECONDS), "-F", str(live.hertz(999)), "-p", ",".join(map(str, pids.values())),
                         first=True) as top:
            for _ in range(PERIODS):
                part = top.next()
                for name, pid in pids.items():
                    counts = [(user, count) for one, user, _, count in part.stacks() if user and one == pid]
                    total = sum(count for _, count in counts)
                    if total >= FEW:
                        whole = sum(count for user, count in counts if is_whole(user))
                        shares[name].append((whole / total, total))
        for name, found in shares.items():
            told = " ".join(f"{share:.3f}" for share, _ in found)
            tap.ok(len(found) >= PERIODS - 1, f"{name} is sampled", told)
            tap.ok(not falls(found), f"{name}: no period is worse than those before", f"{falls(found)} {told}")
    tap.done()


if __name__ == "__main__":
    main()
