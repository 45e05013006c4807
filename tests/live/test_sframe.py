#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 600 s
"""A program with no unwind information but .sframe, sampled live: 120 frames, a frame of 40 KiB,
alloca, and a variable-length array are walked exactly. The same program without .sframe is not walked,
which proves that .sframe does it. Until the tables are there, only complete walks with names count.

Covers: unwind/sframe.c
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import watch  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "frames", "nest.c")
BUILD = ("gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-fomit-frame-pointer",
         "-fasynchronous-unwind-tables", "-Wa,--gsframe", "-pthread", "-o")
EXACT = 0.995
ENOUGH = 400  # samples
BUSY = 0.1  # seconds of CPU time
NEST = ";".join(f"f{(9 - i) % 10}" for i in range(120))
# libc's frames below main have libc's names, or none.
BOTTOM = r"_start;(?:(?!main;)[^;\[\]]+;){1,2}main;"
CHAINS = {
    "depth120": f"depth120;{NEST};spin",
    "big": "big_frame;spin",
    "alloca": "with_alloca;spin",
    "vla": "with_vla;vla_inner;spin",
}


def built(folder):
    """Paths of the program with .sframe only and with neither; None where gas writes no .sframe."""
    whole, bare, none = (os.path.join(folder, name) for name in ("whole", "bare", "none"))
    done = subprocess.run([*BUILD, whole, SOURCE], capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    remove = ["objcopy", "--remove-section", ".eh_frame", "--remove-section", ".eh_frame_hdr"]
    subprocess.run([*remove, whole, bare], check=True)
    subprocess.run([*remove, "--remove-section", ".sframe", whole, none], check=True)
    return bare, none


def sections(path):
    text = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True,
                          check=True).stdout
    return re.findall(r"\] (\.\S+)", text)


def matches(chain, user):
    return bool(chain.fullmatch(";".join(user)))


def is_nameless(user):
    """Whether a function of the programs has no name yet."""
    return any(frame.startswith(("bare+0x", "none+0x")) for frame in user)


def run(programs):
    """User stacks of each (program, mode); all run at once until there are enough of each."""
    with contextlib.ExitStack() as running:
        loads = [running.enter_context(live.Load([program, mode])) for program, mode in programs]
        pids = [load.pid for load in loads]
        watch.until_busy(pids, BUSY)
        stacks = watch.Stacks()
        with watch.Watch("-d", "0.5", "-F", live.hertz(1999), "--no-inline", "-p",
                         ",".join(map(str, pids))) as top:
            for part in top.until_tables():
                stacks.add(part, leave_out=lambda user: user[0].startswith("[") or is_nameless(user))
            # Names that take longer than half a refresh come with the next one.
            top.until(lambda part: not any(is_nameless(user) for _, user, _, _ in part.stacks()))
            top.until(lambda part: all(stacks.add(part).total(pid) >= ENOUGH for pid in pids))
        if top.status:
            print(f"# status {top.status}: {top.said()}")
        return [stacks.user[pid] for pid in pids]


def judge(tap, name, chain, stacks, share_is_right):
    total = sum(stacks.values())
    exact = sum(count for user, count in stacks.items() if matches(chain, user))
    tap.ok(total >= ENOUGH and share_is_right(exact / total), name,
           f"{100 * exact / (total or 1):.2f} % of {total}")
    others = [(user, count) for user, count in stacks.most_common() if not matches(chain, user)]
    for user, count in others[:5] if exact else ():
        tap.note(f"{count} {';'.join(user)[-300:]}")


def main_is_derived(program):
    """True if the row in force at main is made from machine code; main's address is nm's."""
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    start = int(re.search(r"^([0-9a-f]+) T main$", symbols, re.M).group(1), 16)
    rows = subprocess.run([live.STACKTOP, "--dump-unwind", program], capture_output=True, text=True,
                          check=True).stdout
    at = [row.split("\t") for row in rows.splitlines() if int(row.split("\t")[0], 16) <= start]
    return at[-1][-1] == "derived"


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory() as folder:
        programs = built(folder)
        if not programs:
            tap.skip("everything", "the assembler writes no .sframe")
            tap.done()
        bare, none = programs
        tap.ok(".sframe" in sections(bare) and ".eh_frame" not in sections(bare),
               "only .sframe is left")
        *found, bare_stacks = run([(bare, mode) for mode in CHAINS] + [(none, "depth120")])
        for mode, stacks in zip(CHAINS, found):
            judge(tap, f"{mode}: exact chain", re.compile(BOTTOM + re.escape(CHAINS[mode])), stacks,
                  lambda share: share >= EXACT)
        # Without it the chain is found as well, by rows made from the code: other rows, that is.
        judge(tap, "without .sframe: a chain", re.compile(BOTTOM + re.escape(CHAINS["depth120"])),
              bare_stacks, lambda share: share >= EXACT)
        for program, derived, name in ((bare, False, "of .sframe"), (none, True, "from the code")):
            tap.ok(main_is_derived(program) == derived, f"main has rows {name}")
    tap.done()


if __name__ == "__main__":
    main()
