#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 200 s
"""Programs whose code is not where the loader mapped it: replaced by anonymous memory (huge pages), mapped
twice, moved (programs/remapped.c). Each sample's stack must be the one chain, by its names, from the first
sample that has its tables on; whether they did so before stacktop began or while it looks.

Covers: bpf/tracker/mapping.c bpf/tracker/mapsreader.c bpf/tracker/objectfile.c
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import watch  # noqa: E402

MODES = ("whole", "part", "pieces", "doubled", "moved") + (("data",) if os.uname().machine == "x86_64" else ())
ENOUGH = 300
RIGHT = 0.995
CHAIN = r"_start(;(?!main)[^;\[\]]+){0,2};main;"
CHAINS = {"data": r"\[jit\];\[jit\];\[jit\]"}
# Before tables and names are there, and rows of code that nothing describes.
EARLY = re.compile(r"\[no table|\+0x|\[code without CFI[^;]*\];\[jit\]|\[pc not covered\];\[jit\]")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "remapped.c")
PROGRAM = os.path.join(live.WORK, "remapped")


def judge(tap, mode, when, stacks):
    chain = re.compile(CHAIN + CHAINS.get(mode, "outer;middle;leaf"))
    total = sum(stacks.values())
    wrong = collections.Counter({user: count for user, count in stacks.items() if not chain.fullmatch(user)})
    tap.ok(total >= ENOUGH and total - sum(wrong.values()) >= RIGHT * total, f"{mode}, {when}",
           f"{total - sum(wrong.values())} of {total}")
    for user, count in wrong.most_common(3):
        tap.note(f"{count} {user}")


def begin(stack, joined):
    """The programs, by mode, each in its loop: it says so."""
    programs = {mode: live.Load([PROGRAM, mode], stdout=subprocess.PIPE) for mode in MODES}
    programs["joined"] = live.Load([joined, "whole"], stdout=subprocess.PIPE)
    for program in programs.values():
        program.__enter__()
        stack.append(program)
    for program in programs.values():
        program.process.stdout.readline()
    return {program.process.pid: mode for mode, program in programs.items()}


def sample(tap, joined, name, options, before):
    started, stacks, modes = [], collections.defaultdict(collections.Counter), {}
    try:
        if before:
            modes = begin(started, joined)
            options = [*options, "-p", ",".join(map(str, modes))]
        with watch.Watch("-d", "0.5", "-F", live.hertz(1999), "--no-kernel", *options) as top:
            top.next()
            if not before:
                modes = begin(started, joined)
            settled = set()

            def enough(part):
                now = collections.defaultdict(list)
                for pid, user, _, count in part.stacks():
                    now[pid].append((";".join(user), count))
                for pid in modes:
                    if pid in settled:
                        for user, count in now[pid]:
                            stacks[pid][user] += count
                    elif now[pid] and not any(EARLY.search(user) for user, _ in now[pid]):
                        settled.add(pid)
                return all(sum(stacks[pid].values()) >= ENOUGH for pid in modes)

            top.until(enough, 60)
    finally:
        for program in started:
            program.end()
            program.process.stdout.close()
    for pid, mode in modes.items():
        judge(tap, mode, name, stacks[pid])


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory() as folder:
        # No mapping of the file is left before its code.
        joined = os.path.join(folder, "remapped")
        live.cc(joined, SOURCE, "-O2", "-Wl,-z,noseparate-code")
        sample(tap, joined, "before stacktop began", [], True)
        sample(tap, joined, "while stacktop looks", ["--comm", "^remapped$"], False)
    tap.done()


if __name__ == "__main__":
    main()
