#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 120 s
"""Reports of a batch run follow each other without a gap, whatever their names take: each begins
where the one before ended, and each sample is in one of them. The last one has all names.

Covers: tui/collect/collector_slice.c tui/symbolize/module_reader.c tui/export/batch.c
"""

import datetime
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

DEEP = os.path.join(live.WORK, "deep90")
LARGE = ["node", "-e", "for (;;) JSON.stringify([1, 2, 3]);"]


def moment(report):
    """When it began."""
    return datetime.datetime.fromisoformat(report["time"].replace("Z", "+00:00")).timestamp()


def check(tap, reports):
    tap.ok(len(reports) == 4, "there are as many reports as were asked for", str(len(reports)))
    gaps = [moment(b) - moment(a) - a["seconds"] for a, b in zip(reports, reports[1:])]
    # Times are written in milliseconds.
    tap.ok(all(abs(gap) < 0.01 for gap in gaps), "each begins where the one before ended", str(gaps))
    tap.ok(all(sum(s["count"] for s in r["stacks"]) == r["samples"] for r in reports),
           "the stacks of each have its samples")
    taken = sum(r["taken"] for r in reports)
    known = sum(r["samples"] + r["filtered"] + r["lost"] for r in reports)
    tap.ok(taken == known > 0, "each sample that was taken is in one report", f"{taken} {known}")
    names = {f["name"] for f in reports[-1]["functions"] if f["module"] == "deep90"}
    tap.ok(names and not any("+0x" in name for name in names), "the last one has all names",
           " ".join(sorted(names)[:5]))


def main():
    tap = live.Tap()
    live.need(tap)
    large = LARGE if shutil.which(LARGE[0]) else [DEEP]
    with live.Load([DEEP]) as deep, live.Load(large) as one, live.Load(large) as two:
        out, err, status = live.stacktop("-b", "-d", "0.3", "-n", "4", "--format", "json")
    tap.ok(status == 0 and not live.errors(err, (deep.pid, one.pid, two.pid)), "a run of four reports", err)
    check(tap, [json.loads(line) for line in out.splitlines()])
    out, err, status = live.stacktop("-b", "-n", "1", "-d", "0.2", "-p", "1")
    tap.ok(status == 0 and "1 process chosen," in out and " 0 user stacks" not in out,
           "a report of one process says so", out[:400] + err)
    tap.done()


if __name__ == "__main__":
    main()
