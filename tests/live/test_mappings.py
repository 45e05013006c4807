#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 120 s
"""A process with more code mappings than a walk can search: most are of one file, and its C library
lies above them all. Its stacks go through the library, and are walked to their end.

Covers: bpf/tracker/mapping.c bpf/tracker/publish.c bpf/tracker/mapsreader.c bpf/tracker/rescan.c"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

COUNT = 60000 if os.environ.get("SIZE") == "full" else 20000
TOO_MANY = 9000     # more than stacktop keeps per process


def main():
    tap = live.Tap()
    live.need(tap)
    load = live.Load([os.path.join(live.WORK, "crowd"), str(COUNT)], stdout=subprocess.PIPE)
    with load as process:
        made = int(process.stdout.readline())
        if made < TOO_MANY:
            tap.skip("everything", f"a process may have no more than {made} such mappings here")
            tap.done()
        out, err, status = live.stacktop("-b", "--format", "folded", "-d", "1", "-n", "3", "-F",
                                         str(live.hertz(199)), "-p", str(process.pid), timeout=100)
        process.stdout.close()
    tap.ok(status == 0, "stacktop ends with success", err.strip()[-200:])
    stacks = [(user, count) for user, _, count in live.folded(out) if user]
    through = [user for user, _ in stacks
               if user[0] == "_start" and "sort_numbers" in user and user[-1] == "compare_numbers" and
               user.index("compare_numbers") > user.index("sort_numbers") + 1]
    tap.ok(through, "stacks through the C library are complete",
           f"{len(through)} of {len(stacks)} different ones")
    outside = sum(count for user, count in stacks if "[pc in no mapping]" in user)
    tap.ok(outside == 0, "no sample is in an unknown mapping", f"{outside} are")
    tap.ok("too many mappings" in err, "a message reports that mappings are left out",
           err.strip()[-200:])
    tap.done()


if __name__ == "__main__":
    main()
