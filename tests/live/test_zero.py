#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 60 s
"""A return address of zero is the bottom of a stack only with proof. Below a null pointer that was called
the stack goes on; on memory that assembly has moved the stack pointer to, it is not known how.

Covers: unwind/step.h bpf/prog/walker.bpf.h tui/profile/reasons.c"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

MARK = "[return address is zero]"


def stacks_of(what):
    with live.Load([os.path.join(live.WORK, "zero"), what]) as load:
        out, err, status = live.stacktop("-b", "--format", "folded", "-d", "3", "-n", "1", "-K", "-F",
                                         str(live.hertz(999)), "-p", str(load.pid))
    assert status == 0, err
    return [(user, count) for user, _, count in live.folded(out) if "work" in user]


def main():
    tap = live.Tap()
    live.need(tap)
    stacks = stacks_of("null")
    total = sum(count for _, count in stacks)
    chain = ["main", "call_nothing", "[unknown]", None, "on_fault", "work"]
    right = sum(count for user, count in stacks
                if all(want in (None, name) for name, want in zip(user[-len(chain):], chain)) and
                MARK not in user and "_start" in user)
    tap.ok(total > 50, "a handler of a call of nothing is sampled", str(total))
    tap.ok(right == total, "its stack leads to who called", f"{right} of {total}: {stacks[:1]}")
    for what in ("array", "page"):
        stacks = stacks_of(what)
        total = sum(count for _, count in stacks)
        marked = sum(count for user, count in stacks if MARK in user)
        tap.ok(total > 50, f"a stack in zeroes is sampled ({what})", str(total))
        tap.ok(marked == total, f"it does not count as complete ({what})",
               f"{marked} of {total}: {stacks[:1]}")
    tap.done()


if __name__ == "__main__":
    main()
