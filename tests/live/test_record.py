#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 120 s
"""What was seen is saved after it was seen: the history, and what comes after it, without a gap.

Covers: tui/session/recording.c tui/ui/record.c
"""

import datetime
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

DEEP = os.path.join(live.WORK, "deep90")
PATIENCE = 60


class Plain:
    """stacktop --plain, with commands on standard input."""

    def __init__(self, folder, *options):
        self.out = os.path.join(folder, "out")
        with open(self.out, "wb") as out:
            self.process = subprocess.Popen([live.STACKTOP, "--plain", "-d", "0.2", *options],
                                            cwd=folder, stdin=subprocess.PIPE, stdout=out, stderr=out)

    def text(self):
        with open(self.out, encoding="utf-8", errors="replace") as file:
            return file.read()

    def type(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def wait_for(self, pattern, count=1):
        return live.wait_for(lambda: len(re.findall(pattern, self.text())) >= count, PATIENCE, 0.05)

    def wait_slices(self, more):
        """Until so many more refreshes with samples were told."""
        sampled = r": [1-9]\d* samples a second, "
        return self.wait_for(sampled, len(re.findall(sampled, self.text())) + more)


def reports(path):
    out, err, status = live.stacktop("-b", "-r", path, "--format", "json")
    # What the recorded run has said meanwhile is told again.
    err = re.sub(r"^stacktop: saved to going.session .*\n", "", live.errors(err, ["deep90"]), flags=re.M)
    return [json.loads(line) for line in out.splitlines()] if not status and not err else []


def moment(report):
    """When it began."""
    return datetime.datetime.fromisoformat(report["time"].replace("Z", "+00:00")).timestamp()


def check(tap, what, slices):
    gaps = [moment(b) - moment(a) - a["seconds"] for a, b in zip(slices, slices[1:])]
    tap.ok(len(gaps) > 1 and all(abs(gap) < 0.01 for gap in gaps), f"{what}: there is no gap and no overlap", str(gaps))
    tap.ok(any(r["samples"] for r in slices) and
           all(sum(s["count"] for s in r["stacks"]) == r["samples"] for r in slices),
           f"{what}: the stacks of each have its samples")


def record(tap, folder, plain):
    plain.wait_slices(5)
    plain.type("record going.session")
    plain.wait_slices(3)
    plain.type("zero")
    plain.wait_slices(3)
    plain.type("record")
    tap.ok(plain.wait_for(r"saved to going\.session \("), "the recording is completed", plain.text()[-500:])
    going = reports(os.path.join(folder, "going.session"))
    tap.ok(len(going) >= 10, "it has what was before, and what came then", str(len(going)))
    check(tap, "recorded", going)
    plain.type("write kept.session")
    tap.ok(plain.wait_for(r"saved to kept\.session \("), "the history is saved")
    kept = reports(os.path.join(folder, "kept.session"))
    check(tap, "kept", kept)
    # What both have is the same.
    ends = {moment(r): r for r in going}
    both = [(ends[moment(r)], r) for r in kept if moment(r) in ends]
    tap.ok(len(both) >= 2 and all(a["samples"] == b["samples"] and a["seconds"] == b["seconds"]
                                  for a, b in both), "refreshes of both are the same", str(len(both)))
    tap.ok(any(f["name"] == "main" and f["module"] == "deep90" for r in kept for f in r["functions"]),
           "with the names of functions")


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory() as folder, live.Load([DEEP]) as load:
        plain = Plain(folder, "-F", live.hertz(499), "-p", str(load.pid))
        try:
            record(tap, folder, plain)
            plain.type("quit")
            tap.ok(plain.process.wait(timeout=PATIENCE) == 0, "and that was all")
        finally:
            plain.process.kill()
    tap.done()


if __name__ == "__main__":
    main()
