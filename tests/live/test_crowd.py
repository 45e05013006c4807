#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""Thousands of processes (SIZE=full: ten thousand) with mappings of their own, three times as many as
the map of lists holds. stacktop knows all of them in bounded memory. A process that begins to run is
walked from then on, and a new process at once.

Covers: bpf/tracker/publish.c bpf/tracker/process.c"""

import os
import re
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "track")
# Three times what the map of lists holds, with fewer processes unless SIZE=full.
FULL = os.environ.get("SIZE") == "full"
COUNT, MAPPINGS = (10000, 30) if FULL else (4000, 75)
HERTZ = live.hertz(997)
RSS_MAX = 256  # MiB


class Crowd:
    def __init__(self, path):
        read, self.write = os.pipe()
        self.out = os.fdopen(read, encoding="ascii")
        self.load = live.Load([path, str(COUNT), str(MAPPINGS)], stdout=self.write)
        self.some = []

    def __enter__(self):
        self.load.__enter__()
        os.close(self.write)
        self.some = [int(pid) for pid in self.out.readline().split()]
        return self

    def __exit__(self, *why):
        self.load.__exit__(*why)
        self.out.close()


def walked(part, pid):
    """(samples, share of complete stacks) of the process."""
    stacks = [(user, count) for number, _, user, _, count in part.stacks if number == pid and user]
    total = sum(count for _, count in stacks)
    good = sum(count for user, count in stacks if not user[0].startswith("["))
    return total, good / (total or 1)


def begins(tap, pids):
    """Some processes begin to run, one after the other, long after stacktop started."""
    peak = 0
    with live.Stream("-d", "0.2", "-F", HERTZ, "--no-inline", "-p", ",".join(map(str, pids))) as top:
        top.more(3)
        for pid in pids:
            os.kill(pid, signal.SIGUSR1)
            first = top.next()
            # A machine with idle time publishes its list again within a second.
            top.until(lambda slices, pid=pid, first=first: any(
                walked(part, pid)[0] >= 30 and walked(part, pid)[1] >= 0.99
                for part in slices[first:]), 30)
            good = top.next()
            top.until(lambda slices, pid=pid, good=good: sum(
                walked(part, pid)[0] for part in slices[good:]) >= 300)
            os.kill(pid, signal.SIGSTOP)
            found = [walked(part, pid) for part in top.slices[good:]]
            total = sum(count for count, _ in found)
            share = sum(count * part for count, part in found) / (total or 1)
            tap.ok(total >= 300 and share >= 0.99, "a process that begins to run is walked",
                   f"{100 * share:.1f} % of {total}")
        peak = live.status_kb(top.pid, "VmHWM") or 0
        top.stop()
    tap.ok(0 < peak < RSS_MAX * 1024, f"resident memory is below {RSS_MAX} MiB",
           f"{peak / 1024:.0f} MiB")


def starts(tap, still):
    """A new process of a known file, which got its table when it first ran."""
    out, err, _ = live.stacktop("-b", "--format", "folded", "-F", HERTZ, "-d", "90", "--",
                                "/bin/sh", "-c", f"{still} 50; sleep 2; {still} 1000", timeout=100)
    err = live.errors(err, ("crowd", "still"))
    own = "\n".join(line for line in out.splitlines() if line.startswith("still;"))
    total = right = 0
    for user, _, count in live.folded(own):
        total += count if user else 0
        right += count if user and user[0] == "_start" else 0
    tap.ok(right >= 0.9 * total > 50, "a new process is walked at once", f"{right} of {total}")
    tap.ok(not re.search("no room|more than|too many", err), "there is room for all",
           err.strip()[-120:])


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-crowd-") as folder:
        crowd, still = (os.path.join(folder, name) for name in ("crowd", "still"))
        live.cc(crowd, os.path.join(SOURCES, "crowd.c"), "-static")
        live.cc(still, os.path.join(SOURCES, "chain.c"), "-static", "-DNAME=still", "-DPAD=256")
        start = time.monotonic()
        with Crowd(crowd) as running:
            tap.ok(len(running.some) == COUNT // 100, f"{COUNT} processes",
                   f"{time.monotonic() - start:.1f} s")
            begins(tap, running.some[len(running.some) // 8::len(running.some) // (4 if FULL else 2)])
            starts(tap, still)
    tap.done()


if __name__ == "__main__":
    main()
