#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 90 s
"""Walks take the rows of a thread's last walk where the stack is the same. A program of which only one
outer return address changes, hundreds of times a second, is shown as it is in each sample.

Covers: unwind/trail.h bpf/prog/walker.bpf.h"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

DEPTH = 60  # as the program has it


def main():
    tap = live.Tap()
    live.need(tap)
    with live.Load([os.path.join(live.WORK, "callers")], stdout=subprocess.PIPE, text=True) as load:
        load.stdout.readline()
        out, err, status = live.stacktop("-b", "--format", "folded", "-d", "5", "-n", "1", "-F",
                                         str(live.hertz(999)), "-p", str(load.pid))
    told = load.stdout.read().splitlines()
    load.stdout.close()
    left, right = (int(word) for word in told[-2].split())  # the last one may be cut
    tap.ok(status == 0, "stacktop ends with success", err.strip()[-200:])
    stacks = [(user, count) for user, _, count in live.folded(out)
              if "burn_left" in user or "burn_right" in user]
    samples = {side: sum(count for user, count in stacks if f"burn_{side}" in user)
               for side in ("left", "right")}
    tap.ok(min(samples.values()) > 200, "both sides are sampled", str(samples))
    wrong = [user for user, _ in stacks
             if ("left" in user) != ("burn_left" in user) or
             ("right" in user) != ("burn_right" in user) or user.count("descend") != DEPTH + 1]
    tap.ok(not wrong, "each stack has the outer frame that it was called from",
           f"{len(wrong)} of {len(stacks)}: {' '.join(wrong[0])}" if wrong else "")
    share = samples["left"] / max(1, sum(samples.values()))
    expected = left / (left + right)
    tap.ok(abs(share - expected) < 0.06, "the sides have the shares that the program has measured",
           f"{share:.3f}, {expected:.3f}")
    tap.done()


if __name__ == "__main__":
    main()
