#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 120 s
"""--screenshot of the real program: the drawing is XML, has the busy program on it and the requested
size, and never replaces an existing file.

Covers: tui/app/screenshot.c tui/screen/screen_file.c
"""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402


def main():
    tap = live.Tap()
    live.need(tap)
    with subprocess.Popen([sys.executable, "-c", "while True: sum(range(9999))"]) as busy, \
            tempfile.TemporaryDirectory(prefix="stacktop-shot-") as folder:
        try:
            check(tap, busy.pid, folder)
        finally:
            busy.kill()
    tap.done()


def shot(path, *options):
    return live.stacktop("--screenshot", path, *options, timeout=60)


def check(tap, pid, folder):
    drawing = os.path.join(folder, "a.svg")
    _, err, status = shot(drawing, "--size", "120x40", "-d", "0.5", "-p", str(pid))
    tap.ok(status == 0 and not live.errors(err, (pid,)), "a drawing is written", err)
    root = ElementTree.parse(drawing).getroot()
    text = " ".join("".join(node.itertext()) for node in root.iter()).replace("\u00a0", " ")
    tap.ok(root.get("width") == "960" and root.get("height") == "680", "it has the requested size")
    tap.ok(str(pid) in text and "Procs" in text, "it shows the process")

    before = os.stat(drawing).st_mtime_ns
    _, err, status = shot(drawing, "-d", "0.2", "-n", "1")
    tap.ok(status == 1 and "File exists" in err and os.stat(drawing).st_mtime_ns == before,
           "an existing file stays", err)

    plain = os.path.join(folder, "a.txt")
    _, err, status = shot(plain, "--size", "80x24", "-d", "0.5", "-p", str(pid), "--keys", "5 Down")
    with open(plain, encoding="utf-8") as file:
        lines = file.read().splitlines()
    tap.ok(status == 0 and len(lines) == 24 and max(map(len, lines)) <= 80, "24 lines of 80", err)
    tap.ok(any("[5 Flame]" in line for line in lines), "keys are typed")

    gray = os.path.join(folder, "a.ansi")
    _, err, status = shot(gray, "-r", "docs/demo.session", "--no-color")
    with open(gray, encoding="utf-8") as file:
        text = file.read()
    tap.ok(status == 0 and "\033[0;1m" in text and "38;2" not in text, "without colours", err)

    for options in (("--keys", "F13"), ("--size", "19x5"), ("--size", "80x"), ("-b",)):
        _, err, status = shot(os.path.join(folder, "none"), *options)
        tap.ok(status == 2 and options[0].lstrip("-")[:4] in err, f"refused: {options}", err)
    tap.ok(not os.path.exists(os.path.join(folder, "none")), "no file is written")


if __name__ == "__main__":
    main()
