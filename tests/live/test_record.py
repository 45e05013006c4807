#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 120 s
"""What was seen is saved after it was seen: the history, and what comes after it, without a gap.

Covers: tui/session/recording.c tui/ui/record.c
"""

import datetime
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

DEEP = os.path.join(live.WORK, "deep90")
PATIENCE = 20


class Plain:
    """stacktop --plain, with commands on standard input."""

    def __init__(self, folder):
        self.out = os.path.join(folder, "out")
        with open(self.out, "wb") as out:
            self.process = subprocess.Popen([live.STACKTOP, "--plain", "-d", "0.2"], cwd=folder,
                                            stdin=subprocess.PIPE, stdout=out, stderr=out)

    def text(self):
        with open(self.out, encoding="utf-8", errors="replace") as file:
            return file.read()

    def type(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def wait_for(self, text, count=1):
        end = time.monotonic() + PATIENCE
        while self.text().count(text) < count and time.monotonic() < end:
            time.sleep(0.05)
        return self.text().count(text) >= count

    def wait_slices(self, more):
        """Until so many more refreshes were told."""
        return self.wait_for(" samples a second, ", self.text().count(" samples a second, ") + more)


def reports(path):
    out, err, status = live.stacktop("-b", "-r", path, "--format", "json")
    return [json.loads(line) for line in out.splitlines()] if not status and not err else []


def moment(report):
    """When it began."""
    return datetime.datetime.fromisoformat(report["time"].replace("Z", "+00:00")).timestamp()


def check(tap, what, slices):
    gaps = [moment(b) - moment(a) - a["seconds"] for a, b in zip(slices, slices[1:])]
    tap.ok(all(abs(gap) < 0.01 for gap in gaps), f"{what}: there is no gap and no overlap", str(gaps))
    tap.ok(all(sum(s["count"] for s in r["stacks"]) == r["samples"] for r in slices),
           f"{what}: the stacks of each have its samples")


def record(tap, folder, plain):
    plain.wait_slices(5)
    plain.type("record going.session")
    plain.wait_slices(3)
    plain.type("zero")
    plain.wait_slices(3)
    plain.type("record")
    tap.ok(plain.wait_for("saved to going.session ("), "the recording is completed", plain.text()[-500:])
    going = reports(os.path.join(folder, "going.session"))
    tap.ok(len(going) >= 10, "it has what was before, and what came then", str(len(going)))
    check(tap, "recorded", going)
    plain.type("write kept.session")
    tap.ok(plain.wait_for("saved to kept.session ("), "the history is saved")
    kept = reports(os.path.join(folder, "kept.session"))
    check(tap, "kept", kept)
    # What both have is the same.
    ends = {moment(r): r for r in going}
    both = [(ends[moment(r)], r) for r in kept if moment(r) in ends]
    tap.ok(len(both) >= 2 and all(a["samples"] == b["samples"] and a["seconds"] == b["seconds"]
                                  for a, b in both), "refreshes of both are the same", str(len(both)))
    tap.ok(any(f["name"] == "main" and f["module"] == "deep90" for f in kept[-1]["functions"]),
           "with the names of functions")


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory() as folder, live.Load([DEEP]):
        plain = Plain(folder)
        try:
            record(tap, folder, plain)
            plain.type("quit")
            tap.ok(plain.process.wait(timeout=PATIENCE) == 0, "and that was all")
        finally:
            plain.process.kill()
    tap.done()


if __name__ == "__main__":
    main()
