#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests that cover a source. Each test lists its sources in its first comment: `Covers: FILE...`.

    tests/where.py NAME...      the tests of these sources (evict, bpf/tracker/evict.c, or a part of a name)
    tests/where.py --check      a line for each test without such a line, each name without a file, and
                                each source without a test; exit 1 if there is any

A test lists the files that it is about, not all that it runs. A header beside a source of the same name
belongs to that source; other headers count when they have code.
"""

import glob
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
FOLDERS = ("symbols", "unwind", "bpf", "tui")
TESTS = [f"tests/{folder}/{room}test_*.{kind}" for folder in (*FOLDERS, "live", "hostile", "push")
         for room in ("", "*/") for kind in ("c", "py", "sh")] + ["tests/fuzz/fuzz_*.c"]
# These run the whole program on other kernels.
WHOLE = re.compile(r"^tests/live/test_kernel")
COVERS = re.compile(r"^\W*Covers:\s*(.*)$")
HEAD = 80   # the first comment ends within these lines
CODE = re.compile(r"^\{", re.M)     # the body of a function, as the files are formatted


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def paths(pattern):
    return sorted(glob.glob(pattern, root_dir=TOP))


def tests():
    """{path: names of the covered files, None when it has no such line}"""
    found = {}
    for path in sum((paths(pattern) for pattern in TESTS), []):
        names = []
        lines = [COVERS.match(line) for line in read(path).splitlines()[:HEAD]]
        for match in filter(None, lines):
            names += match.group(1).replace("*/", "").replace('"""', "").split()
        found[path] = names if any(lines) else None
    return found


def sources():
    """All files of the product that need a test."""
    found = []
    for path in sum((paths(f"{folder}/{room}*.[chS]") for folder in FOLDERS
                      for room in ("", "*/", "*/*/")), []):
        header = path.endswith(".h")
        if not header or path.endswith(".bpf.h") or \
                not os.path.exists(os.path.join(TOP, path[:-1] + "c")) and CODE.search(read(path)):
            found.append(path)
    return found


def covering(path, known=None):
    """The tests that cover a source, or the source of a header."""
    known = known or tests()
    found = [test for test, names in known.items() if names and path in names]
    if not found and path.endswith(".h"):
        found = [test for test, names in known.items() if names and path[:-1] + "c" in names]
    return found


def check():
    known = tests()
    named = {name for names in known.values() if names for name in names}
    wrong = []
    for path, names in known.items():
        if not names and not WHOLE.match(path):
            wrong.append(f"{path}: its first comment has no line `Covers: FILE...`")
        for name in sorted(set(names or [])):
            if not os.path.exists(os.path.join(TOP, name)):
                wrong.append(f"{path}: covers {name}, which does not exist")
            elif names.count(name) > 1:
                wrong.append(f"{path}: covers {name} twice")
    wrong += [f"{path}: no test covers it" for path in sources() if path not in named]
    return wrong


def asked(word, known):
    """The sources that a word names, else those with the word in their name."""
    every = sorted({name for names in known.values() if names for name in names})
    exact = [name for name in every
             if word in (name, os.path.basename(name), os.path.basename(name).split(".")[0])]
    return exact or [name for name in every if word in name]


def main():
    words = sys.argv[1:]
    if words == ["--check"]:
        wrong = check()
        print("".join(f"{line}\n" for line in wrong), end="")
        return 1 if wrong else 0
    if not words or words[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    known = tests()
    status = 0
    for word in words:
        found = asked(word, known)
        if not found:
            print(f"{word}: no test covers a source of this name", file=sys.stderr)
            status = 1
        for name in found:
            print(name)
            print("".join(f"    {test}\n" for test in covering(name, known)), end="")
    return status


if __name__ == "__main__":
    sys.exit(main())
