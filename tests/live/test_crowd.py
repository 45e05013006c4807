#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 240 s
"""Ten thousand processes of thirty mappings each, three times what the map of lists holds. All of them
are known, in bounded memory; one that begins to run is walked within seconds, and one that starts at
once.

Covers: bpf/publish.c bpf/process.c
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "track")
COUNT = 10000
MAPPINGS = 30
SLICE = 2  # s
RSS_MAX = 256  # MiB


def compile_to(path, source, *flags):
    subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-static",
                    *flags, "-o", path, os.path.join(SOURCES, source)], check=True)


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


def shares(text, pid):
    """COMPLETE% of the process in each slice in which it has samples enough."""
    found = []
    for report in text.split("stacktop  20")[1:]:
        match = re.search(rf"^ *{pid} \S+ +[\d.]+ +(\d+) +[\d.]+ +([\d.]+)", report, re.M)
        if match and int(match.group(1)) >= 30:
            found.append(float(match.group(2)))
    return found


def begins(tap, pids):
    """Some begin to run, one after the other, beside a stacktop that has long been there."""
    batch = live.Batch("-b", "-d", str(SLICE), "-n", "8", "-F", "499", "-p",
                       ",".join(map(str, pids)))
    time.sleep(3 * SLICE)
    for pid in pids:
        os.kill(pid, signal.SIGUSR1)
        time.sleep(1)
    out = batch.wait()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
        found = shares(out, pid)
        # It may begin in the middle of a slice, and its list comes back within a second.
        tap.ok(len(found) >= 3 and min(found[2:]) >= 99, "one that begins to run is walked",
               " ".join(f"{share:.0f}" for share in found))
    tap.ok(0 < batch.peak < RSS_MAX * 1024, f"resident memory is below {RSS_MAX} MiB",
           f"{batch.peak / 1024:.0f} MiB")


def starts(tap, still):
    """Of a file that is known: its table was built when it ran for the first time."""
    out, err, _ = live.stacktop("-b", "--format", "folded", "-F", "997", "-d", "90", "--",
                                "/bin/sh", "-c", f"{still} 50; sleep 4; {still} 4000", timeout=100)
    own = "\n".join(line for line in out.splitlines() if line.startswith("still;"))
    total = right = 0
    for user, _, count in live.folded(own):
        total += count if user else 0
        right += count if user and user[0] == "_start" else 0
    tap.ok(right >= 0.9 * total > 50, "one that starts is walked at once", f"{right} of {total}")
    tap.ok(not re.search("no room|more than|too many", err), "there is room for all",
           err.strip()[-120:])


def main():
    tap = live.Tap()
    live.need_root(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-crowd-") as folder:
        crowd, still = (os.path.join(folder, name) for name in ("crowd", "still"))
        compile_to(crowd, "crowd.c")
        compile_to(still, "chain.c", "-DNAME=still", "-DPAD=256")
        start = time.monotonic()
        with Crowd(crowd) as running:
            tap.ok(len(running.some) == COUNT // 100, f"{COUNT} processes",
                   f"{time.monotonic() - start:.1f} s")
            begins(tap, running.some[10:90:20])
            starts(tap, still)
    tap.done()


if __name__ == "__main__":
    main()
