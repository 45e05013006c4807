#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A program whose only unwind information is .sframe, sampled live: 120 frames, a frame of 40 KiB,
alloca, and a variable-length array are walked exactly. The same program without .sframe is walked
nowhere, so it is .sframe that does it.

Covers: unwind/sframe.c
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "frames", "nest.c")
BUILD = ("gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-fomit-frame-pointer",
         "-fasynchronous-unwind-tables", "-Wa,--gsframe", "-pthread", "-o")
EXACT = 0.995
ENOUGH = 400  # samples
NEST = ";".join(f"f{(9 - i) % 10}" for i in range(120))
# libc's part below main has the names that libc has, or none.
BOTTOM = r"_start;(?:(?!main;)[^;\[\]]+;){1,2}main;"
CHAINS = {
    "depth120": f"depth120;{NEST};spin",
    "big": "big_frame;spin",
    "alloca": "with_alloca;spin",
    "vla": "with_vla;vla_inner;spin",
}


def built(folder):
    """Paths of the program with .sframe only and with nothing; None where gas knows no .sframe."""
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


def samples(program, mode):
    """(share of samples with the mode's chain, samples)"""
    chain = re.compile(BOTTOM + re.escape(CHAINS[mode]))
    exact = total = 0
    with live.Load([program, mode]) as process:
        for _ in range(5):
            out, err, status = live.stacktop("-b", "-d", "2", "-n", "1", "-F", "999",
                                             "--format", "folded", "--no-inline", "-p",
                                             str(process.pid))
            if status:
                print(f"# status {status}: {err}")
                break
            for user, _, count in live.folded(out):
                total += count
                if chain.fullmatch(";".join(user)):
                    exact += count
                elif total - exact < 50:
                    print("# " + ";".join(user)[-300:])
            if total >= ENOUGH:
                break
    return exact / (total or 1), total


def main():
    tap = live.Tap()
    live.need_root(tap)
    with tempfile.TemporaryDirectory() as folder:
        programs = built(folder)
        if not programs:
            tap.skip("everything", "the assembler writes no .sframe")
            tap.done()
        bare, none = programs
        tap.ok(".sframe" in sections(bare) and ".eh_frame" not in sections(bare),
               ".sframe is all that is left")
        for mode in CHAINS:
            share, total = samples(bare, mode)
            tap.ok(share >= EXACT and total >= ENOUGH, f"{mode}: exact chain",
                   f"{100 * share:.2f} % of {total}")
        share, total = samples(none, "depth120")
        tap.ok(share == 0 and total >= ENOUGH, "without .sframe: no chain",
               f"{100 * share:.2f} % of {total}")
    tap.done()


if __name__ == "__main__":
    main()
