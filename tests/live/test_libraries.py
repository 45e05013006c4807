#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""A process with hundreds of libraries (SIZE=full: 3,000), all in use: its stacks lead through twenty
of them, and arithmetic tells which library calls which. Each stack is complete, and all of its
functions have names.

Covers: bpf/tracker/object.c bpf/tracker/publish.c tui/symbolize/modules.c"""

import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "libraries")
COUNT = 3000 if os.environ.get("SIZE") == "full" else 400
BUILD_ID = b"\x5a" * 20
ENOUGH = 100  # samples
PATIENCE = 90
FILES = 6 * COUNT + 1000  # descriptors: a third of them may hold mapped files


def cc(*options):
    subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu11", "-D_GNU_SOURCE", "-O1",
                    "-fasynchronous-unwind-tables", *options], check=True)


def build(folder):
    """Compiles one library; the others are copies with another symbol and build-id."""
    first, program = (os.path.join(folder, name) for name in ("first.so", "chains"))
    cc("-shared", "-fPIC", "-Wl,--build-id=0x" + BUILD_ID.hex(), "-o", first,
       os.path.join(SOURCES, "lib.c"))
    cc("-o", program, os.path.join(SOURCES, "chains.c"), "-ldl")
    with open(first, "rb") as file:
        data = file.read()
    if data.count(b"\0fn_0000\0") != 1 or data.count(BUILD_ID) != 1:
        raise ValueError(first)
    for i in range(COUNT):
        with open(os.path.join(folder, f"lib{i:04}.so"), "wb") as file:
            file.write(data.replace(b"\0fn_0000\0", b"\0fn_%04d\0" % i)
                       .replace(BUILD_ID, BUILD_ID[:16] + i.to_bytes(4, "big")))
    return program


def chain_of(frames):
    """The numbers of the libraries from `begin` on; None if any other function is among them."""
    rest = frames[frames.index("begin") + 1:]
    return [int(name[3:]) for name in rest] if all(name[:3] == "fn_" for name in rest) else None


def is_whole(frames):
    chain = chain_of(frames) if frames[0] == "_start" and "begin" in frames else None
    return chain is not None and len(chain) <= 20 and all(
        after == (7 * before + 1) % COUNT for before, after in zip(chain, chain[1:]))


def calls(slices, pid):
    """(frames, samples) of the process from where it calls the chains, and of all that end early."""
    return [(user, count) for part in slices for number, _, user, _, count in part.stacks
            if number == pid and user and ("begin" in user or user[0][0] == "[")]


def check(tap, pid):
    def good(slices):
        """True when the last two slices are complete: tables and names are there."""
        return len(slices) > 1 and all(
            calls([part], pid) and all(is_whole(user) for user, _ in calls([part], pid))
            for part in slices[-2:])

    with live.Stream("-d", "0.5", "-F", live.hertz(499), "-p", str(pid)) as top:
        reached = top.until(good, PATIENCE)
        first = len(top.slices)
        top.until(lambda slices: sum(n for _, n in calls(slices[first:], pid)) >= ENOUGH, PATIENCE)
        status, errors = top.stop(), top.errors((pid,))
        seen = calls(top.slices[first:], pid)
        every = calls(top.slices, pid)
    total = sum(count for _, count in seen)
    whole = sum(count for user, count in seen if is_whole(user))
    tap.ok(reached and status == 0, "all stacks of a slice are complete", errors[-200:])
    tap.ok(whole >= 0.98 * total and total >= ENOUGH, "all later stacks are complete",
           f"{whole} of {total}")
    wrong = [user for user, _ in every if user[0] == "_start" and not is_whole(user) and
             chain_of(user) is not None]
    tap.ok(not wrong, "no stack has a function outside its chain", str(wrong[:1]))
    libraries = {number for user, _ in seen for number in chain_of(user) or []}
    tap.ok(len(libraries) > COUNT // 20, "the stacks lead through many libraries", f"{len(libraries)}")


def main():
    tap = live.Tap()
    live.need(tap)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most not in (resource.RLIM_INFINITY, -1) and most < FILES:
        tap.skip("everything", f"needs {FILES} descriptors, may have {most}")
        tap.done()
    with tempfile.TemporaryDirectory(prefix="stacktop-libraries-") as folder:
        program = build(folder)
        read, write = os.pipe()
        with live.Load([program, folder, str(COUNT)], stdout=write) as load:
            os.close(write)
            with os.fdopen(read, encoding="ascii") as out:
                made = out.readline() == "made\n"
            tap.ok(made, f"{COUNT} libraries are loaded")
            check(tap, load.pid)
    tap.done()


if __name__ == "__main__":
    main()
