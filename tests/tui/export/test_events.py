#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording over changes of the event that samples: counts of two events have no sum, so what is made
of a whole session has those of the last one, says so, and names the times that give the others. The
counts of two_events are powers of two, one for each slice.

Covers: tui/export/export_text.c tui/profile/profile.c
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "..", "live"), os.path.dirname(__file__)]
import formats  # noqa: E402
from live import BUILD, STACKTOP, Tap  # noqa: E402

FEED = os.path.abspath(os.path.join(BUILD, "asan", "tests", "tui", "export", "two_events"))
SLICES = 12
WHOLE = {"pprof": formats.pprof, "speedscope": formats.speedscope, "firefox": formats.firefox,
         "svg": formats.svg}


def run(*options):
    done = subprocess.run([STACKTOP, *options], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60, check=False)
    return done.stdout, done.stderr.decode(), done.returncode


def total(name, data):
    """All samples that a file of the format has."""
    return sum(WHOLE[name](data if name == "pprof" else data.decode()).values())


def counts(first, end):
    return sum(1 << n for n in range(first, end))


def whole_files(tap, path, border):
    want = counts(border, SLICES)
    for name in WHOLE:
        out, err, status = run("-b", "-r", path, "--format", name)
        tap.ok(status == 0 and total(name, out) == want, f"{name} has the last event's samples",
               f"{total(name, out):b} for {want:b}")
        tap.ok(re.search(r"samples are of page-faults from [\d.]+ s on.*cpu-clock before", err),
               f"{name}: this is told", err)
    hint = re.search(r"; -r (--to [\d.]+) ", err)
    out, err, status = run("-b", "-r", path, "--format", "pprof", *hint[1].split())
    tap.ok(status == 0 and not err and total("pprof", out) == counts(0, border),
           "the times that are told give the others", f"{hint[1]}: {total('pprof', out):b}")


def several(tap, path, borders):
    out, err, status = run("-b", "-r", path, "--format", "pprof")
    tap.ok(status == 0 and total("pprof", out) == counts(borders[-1], SLICES),
           "several changes: the last part", f"{total('pprof', out):b}")
    hints = re.findall(r"; -r ((?:--from [\d.]+ )?--to [\d.]+) ", err)
    found = [total("pprof", run("-b", "-r", path, "--format", "pprof", *hint.split())[0])
             for hint in hints]
    want = [counts(first, end) for first, end in zip((0, *borders), borders)]
    tap.ok(found == want, "several changes: each part has its times", f"{hints}")


def streams(tap, path, border):
    out, err, status = run("-b", "-r", path, "--format", "json")
    found = [(report["event"], report["samples"]) for report in formats.json_objects(out.decode())]
    want = [("cpu-clock" if n < border else "page-faults", 1 << n) for n in range(SLICES)]
    tap.ok(status == 0 and not err and found == want, "a report a slice has its slice's event", err)


def differences(tap, path, border):
    for name, marks in (("text", f"{counts(border, SLICES)} samples"), ("folded", "faults")):
        out, err, status = run("--diff", path, path, "--format", name)
        tap.ok(status == 0 and marks in out.decode() and "spins" not in out.decode(),
               f"--diff as {name} has the last event's samples", out.decode()[:200])
        tap.ok(len(re.findall("samples are of page-faults from", err)) == 2, "and says so", err)
        tap.ok("not of the same thing" not in err, "two sides of one event have nothing to be told of")
    clocks = path + ".clocks"
    subprocess.run([FEED, clocks], check=True, timeout=60)
    out, err, status = run("--diff", clocks, path)
    tap.ok(status == 0 and "has samples of cpu-clock" in err and "of page-faults: their shares" in err,
           "--diff of two events says that they are", err)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "session")
        for border in (1, 7, SLICES - 1):
            subprocess.run([FEED, path, str(border)], check=True, timeout=60)
            whole_files(tap, path, border)
            streams(tap, path, border)
            differences(tap, path, border)
        subprocess.run([FEED, path, "3", "4", "9"], check=True, timeout=60)
        several(tap, path, (3, 4, 9))
        subprocess.run([FEED, path], check=True, timeout=60)
        out, err, status = run("-b", "-r", path, "--format", "pprof")
        tap.ok(status == 0 and not err and total("pprof", out) == counts(0, SLICES),
               "one event: nothing is told", err)
    tap.done()


if __name__ == "__main__":
    main()
