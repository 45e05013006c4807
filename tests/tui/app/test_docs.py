#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""README and docs/ show what this program shows: their pictures of the recorded session are drawn
anew and compared byte by byte, every link leads somewhere, and no picture lies about unused.

Covers: tui/app/screenshot.c tui/screen/screen_file.c
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "live"))
import live  # noqa: E402

SCREENS = "docs/screens"
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:bpf|docs|symbols|tests|themes|tui|unwind)/[\w./-]+\w)/?`")


def pages():
    yield "README.md"
    for folder in ("docs", "docs/design"):
        for name in sorted(os.listdir(folder)):
            if name.endswith(".md"):
                yield os.path.join(folder, name)


def targets(page):
    """Files that a page leads to, as paths from the top."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    for link in LINK.findall(text):
        if not re.match(r"\w+:|#", link):
            yield os.path.normpath(os.path.join(os.path.dirname(page), link.partition("#")[0]))


def named(page):
    """Files of the tree that a page speaks of."""
    with open(page, encoding="utf-8") as file:
        yield from PATH.findall(file.read())


def read(path):
    with open(path, "rb") as file:
        return file.read()


def check_pictures(tap):
    with tempfile.TemporaryDirectory(prefix="stacktop-docs-") as folder:
        done = subprocess.run(["tests/demo/screens.sh", live.BUILD, "session", folder],
                              capture_output=True, timeout=100, check=False)
        tap.ok(done.returncode == 0, "pictures are drawn", done.stderr.decode())
        for name in sorted(os.listdir(folder)):
            path = os.path.join(SCREENS, name)
            tap.ok(os.path.exists(path) and read(path) == read(os.path.join(folder, name)),
                   f"{path} is what the program shows", "if it is right: make docs-screens")


def main():
    tap = live.Tap()
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
    check_pictures(tap)
    used = set()
    for page in pages():
        links = set(targets(page))
        lost = sorted(path for path in links | set(named(page)) if not os.path.exists(path))
        tap.ok(not lost, f"{page} leads to files that are there", " ".join(lost))
        used |= links
    unused = [name for name in sorted(os.listdir(SCREENS))
              if os.path.join(SCREENS, name) not in used]
    tap.ok(not unused, "every picture is on a page", " ".join(unused))
    tap.done()


if __name__ == "__main__":
    main()
