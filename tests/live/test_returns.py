#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions whose return addresses the kernel has replaced (uretprobes): their stacks are complete, by CFI, by
rows from code and by frame pointers, of samples and of waits. Where the probes themselves take the time, no stack has a wrong
frame.

Covers: bpf/prog/returns.bpf.h bpf/prog/sample.bpf.h bpf/prog/walker.bpf.h
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "returns.c")
KINDS = {
    "CFI": [],
    "rows from code": ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"],
    "frame pointers": ["-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"],
}


def chain(depth, leaf):
    return ["main", *["down"] * (depth + 1), "plain", "second", leaf]


class Probed(live.Load):
    """The program; says if it is probed."""

    def __init__(self, path, what, *more):
        super().__init__([path, str(what), "60", *more], stdout=subprocess.PIPE)

    def __enter__(self):
        process = super().__enter__()
        self.says = process.stdout.readline().decode().strip().partition(" ")[2]
        return self

    def stacks(self, *options):
        text = live.stacktop("-b", "-d", "2", "-n", "1", "-K", "--format", "folded", "-p", str(self.process.pid),
                             *options)[0]
        return [(user, count) for user, _, count in live.folded(text)]


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory() as folder:
        for kind, flags in KINDS.items():
            path = os.path.join(folder, "returns")
            live.cc(path, SOURCE, "-O2", *flags)
            for depth in (4, 60):
                with Probed(path, depth) as probed:
                    if probed.says != "probed":
                        return tap.skip("uretprobes", probed.says)
                    stacks = probed.stacks()
                right = sum(count for user, count in stacks if user[0] == "_start" and
                            user[user.index("main"):] == chain(depth, "spin"))
                tap.ok(right and right == sum(count for _, count in stacks),
                       f"by {kind}: {depth + 3} replaced addresses", stacks[:3])
        live.cc(path, SOURCE, "-O2")
        with Probed(path, "busy") as probed:
            stacks = probed.stacks("-F", live.hertz(1999))
        want = chain(3, "brief")
        # Between the write to the stack and the entry in the list the address is nowhere.
        wrong = [user for user, _ in stacks if not user[0].startswith("[") and
                 user[user.index("main") if "main" in user else 0:] not in (want, want[:-1])]
        right = sum(count for user, count in stacks if user[-1] == "brief" and user[0] == "_start")
        tap.ok(not wrong and right, "where probes take the time no chain is wrong", (wrong[:3], stacks[:3]))
        with Probed(path, "nap") as probed:
            waits = [user for user, _ in probed.stacks("-e", "off-cpu")]
        got = [user[user.index("main"):user.index("usleep")] for user in waits if "usleep" in user and "main" in user]
        tap.ok(got and all(user == chain(3, "usleep")[:-1] for user in got), "so are waits", waits[:3])
    return tap.done()


if __name__ == "__main__":
    main()
