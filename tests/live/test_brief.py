#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 120 s
"""A thousand commands a second, each gone before its record is read. Where the BPF program can look up
the kernel's mappings, it walks their stacks, and the mapped files name them. No stack of theirs shows
anything that the commands do not execute.

Covers: bpf/tracker/publish.c bpf/tracker/tracker.c bpf/prog/walker.bpf.h bpf/prog/vma.bpf.h"""

import collections
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

ENOUGH = 300        # samples in the program's functions
CHAIN = ["main", "brief_outer", "brief_inner"]


def own_part(user):
    """The frames from the first of the program's functions on."""
    at = [frame for frame in user if frame.startswith("brief_") or frame == "main"]
    return at


def main():
    tap = live.Tap()
    live.need(tap)
    checked = live.stacktop("--check")[0]
    if "ok  mappings" not in checked:
        tap.skip("everything", "this kernel's mappings cannot be looked up")
        tap.done()
    found, whole = collections.Counter(), 0

    def enough(slices):
        return sum(stack[4] for part in slices[1:] for stack in part.stacks
                   if "brief_inner" in stack[2]) >= ENOUGH

    load = live.Load([os.path.join(live.WORK, "brief"), "loop"], stdout=subprocess.PIPE)
    with load as process:
        process.stdout.readline()
        with live.Stream("-d", "1", "-F", str(live.hertz(999)), "--no-inline") as top:
            came = top.until(enough, 90)
            top.stop()
            trouble = top.errors(("brief",))
        process.stdout.close()
    for part in top.slices[1:]:  # the first slice had no tables yet
        for _, name, user, _, count in part.stacks:
            if name == "brief" and "brief_inner" in user:
                found[";".join(user)] += count
                whole += count if user[0] == "_start" else 0
    total = sum(found.values())
    tap.ok(came and total >= ENOUGH, "the commands are sampled", f"{total} samples")
    tap.ok(2 * whole >= total, "most stacks are complete", f"{whole} of {total}")
    wrong = {stack: count for stack, count in found.items()
             if own_part(stack.split(";")) != CHAIN and stack.startswith("_start;")}
    tap.ok(not wrong, "complete stacks are the chain of calls", str(wrong)[:200])
    tap.ok(not trouble, "stacktop reports no problem", trouble)
    for stack, count in found.most_common(4):
        tap.note(f"{count} {stack}")
    tap.done()


if __name__ == "__main__":
    main()
