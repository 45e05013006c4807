#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks which file includes which: layers only stay layers while no file reaches around them.

    tui -> symbols, bpf's front headers;  bpf -> unwind -> symbols
    curses only below tui/, libbpf only below bpf/
    *.bpf.c -> bpf/layout.h and the row and step headers only

Prints a line per breach and exits 1. Tests may include what they test and are left alone.
"""

import os
import re
import sys

FOLDERS = ("symbols", "unwind", "bpf", "tui")
MAY_INCLUDE = {
    "symbols": {"symbols"},
    "unwind": {"unwind", "symbols"},
    "bpf": {"bpf", "unwind", "symbols"},
    "tui": {"tui", "symbols"},
}
# What tui/ may know of the layers below, file by file.
TUI_FRONT = re.compile(
    r"^(bpf/(sampler|tracker|inventory|trace|memlock|ksyms|kernelinfo|check|dump|refusal)|"
    r"unwind/(cfitext|funcs|reason))\.h$")
# What the kernel programs share with user space.
BPF_SHARED = re.compile(r"^(bpf/(layout|[a-z_]+\.bpf)|unwind/(row|walk|step|reason))\.h$")
# A header of a library, and the only folder that may see it.
LIBRARY_OWNER = (
    (re.compile(r"^(ncursesw?/)?(ncurses|curses|term|panel|menu|form)\.h$"), {"tui"}),
    (re.compile(r"^bpf/(?!bpf_helpers|bpf_tracing|bpf_core_read|bpf_endian)\w+\.h$"), {"bpf"}),
    (re.compile(r"^(elfutils/\w+|libelf|gelf|libdwfl|dwarf)\.h$"), {"symbols", "unwind"}),
)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def breaches(path):
    folder = path.split("/")[0]
    kernel_side = path.endswith((".bpf.c", ".bpf.h"))
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            system, header = match.group(1) == "<", match.group(2)
            where = f"{path}:{number}: {header}"
            if system:
                for pattern, owners in LIBRARY_OWNER:
                    if pattern.match(header) and folder not in owners:
                        yield f"{where}: belongs below {' or '.join(sorted(owners))}/"
                continue
            owner = header.split("/")[0]
            if not os.path.exists(header):
                if not header.endswith(".inc") and not header.startswith("build/"):
                    yield f"{where}: not a path from the top of the tree"
            elif kernel_side and not BPF_SHARED.match(header):
                yield f"{where}: kernel programs share only the layout, row and step headers"
            elif owner not in MAY_INCLUDE[folder] and not kernel_side:
                if not (folder == "tui" and TUI_FRONT.match(header)):
                    yield f"{where}: {folder}/ must not include it"


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    found = []
    for folder in FOLDERS:
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if name.endswith((".c", ".h", ".S")):
                found += breaches(f"{folder}/{name}")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
