#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics as promtool reads them, if it is there, and as a strict reader of the format's document
does: https://prometheus.io/docs/instrumenting/exposition_formats/

Covers: tui/agent/metrics.c
"""

import math
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "live"))
from live import BUILD, Tap  # noqa: E402

FEED = os.path.join(BUILD, "asan/tests/tui/agent/metrics_feed")
NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)')
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)")
ESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


def unescape(text):
    return re.sub(r'\\[\\"n]', lambda match: ESCAPED[match.group()], text)


def read_labels(text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, f"labels: {text[at:]!r}"
        assert match.group(1) not in labels, f"twice: {match.group(1)}"
        labels[match.group(1)] = unescape(match.group(2))
        at = match.end()
    return labels


def read(page):
    """{family: (type, help, {labels: value})}"""
    assert not page or page.endswith("\n"), "the last line has no end"
    families, last = {}, None
    for line in page.split("\n")[:-1]:
        words = line.split(" ", 3)
        if words[:2] == ["#", "HELP"]:
            assert re.fullmatch(NAME, words[2]) and words[2] not in families, line
            assert not re.search(r"(?<!\\)(\\\\)*\\(?![\\n])", words[3]), line
            last = words[2]
            families[last] = [None, unescape(words[3]), {}]
        elif words[:2] == ["#", "TYPE"]:
            assert words[2] == last and families[last][0] is None and not families[last][2], line
            assert words[3] in ("counter", "gauge"), line
            families[last][0] = words[3]
        else:
            match = SAMPLE.fullmatch(line)
            assert match and match.group(1) == last and families[last][0], line
            labels = tuple(sorted(read_labels(match.group(2) or "").items()))
            assert labels not in families[last][2], line
            assert re.fullmatch(r"NaN|[+-]Inf|-?\d+(\.\d+)?(e[+-]\d+)?", match.group(3)), line
            families[last][2][labels] = float(match.group(3))
    return families


def values(family):
    return {dict(labels).get("k"): value for labels, value in family[2].items()}


def main():
    tap = Tap()
    page = subprocess.run([FEED], capture_output=True, check=True).stdout
    try:
        families = read(page.decode())
        tap.ok(True, "a strict reader takes the page")
    except (AssertionError, UnicodeDecodeError) as wrong:
        tap.ok(False, "a strict reader takes the page", str(wrong))
        return tap.done()
    tap.ok(list(families) == ["stacktop_samples_total", "stacktop_pushes_total",
                              "stacktop_spool_bytes", "stacktop_up"],
           "all families are there, in their order")
    tap.ok(families["stacktop_samples_total"][1] == 'Samples?of "all" \\ CPUs.',
           "help is one clean line")
    tap.ok(b"\nstacktop_samples_total 18446744073709551615\n" in page, "the largest count is exact")
    labels = [dict(labels) for labels in families["stacktop_pushes_total"][2]]
    tap.ok(labels == [{"url": 'https://host/"a"\\b??[m', "state": "ü?"},
                      {"url": 'https://host/"a"\\b??[m'}],
           "labels are what was given, made printable")
    numbers = values(families["stacktop_spool_bytes"])
    tap.ok(math.isnan(numbers.pop("nan")), "numbers that are none")
    tap.ok(numbers == {"inf": math.inf, "minus": -math.inf, "tenth": 0.1, "small": -1.5e-300, "": 1e15},
           "numbers")
    promtool = shutil.which("promtool")
    if not promtool:
        tap.skip("promtool has no complaint", "promtool is not installed")
        return tap.done()
    done = subprocess.run([promtool, "check", "metrics"], input=page, capture_output=True, check=False)
    said = done.stdout + done.stderr
    tap.note(said.decode())
    tap.ok(done.returncode == 0 and not said, "promtool has no complaint")
    return tap.done()


if __name__ == "__main__":
    main()
