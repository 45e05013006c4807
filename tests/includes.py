#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks which room uses which, by the includes and calls of its files, and the size of the knots.

A room is a folder of sources. ROOMS lists the other rooms with headers that its files may include and
functions that they may call; of rooms below another top folder they may use only the fronts. A file is
a source with the header of its name. A knot is a set of files that all reach each other.

    tests/includes.py           a line for each breach, then the largest knot; exit 1 if there is any
    tests/includes.py --knots   all knots, file by file
"""

import os
import re
import sys
from collections import defaultdict

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LARGEST_KNOT = 6
# The rooms that a room's files may include and call, besides their own.
ROOMS = {
    "symbols/base": "",
    "symbols/files": "symbols/base",
    "symbols/elf": "symbols/elf/arch symbols/base symbols/files",
    "symbols/elf/arch": "",
    "symbols/names": "symbols/base symbols/files symbols/elf",
    "symbols/dwarf": "symbols/base symbols/files symbols/elf",
    "symbols/insn": "",
    "symbols/runtime": "symbols/base symbols/elf symbols/dwarf",
    "symbols/code": "symbols/base symbols/files symbols/elf symbols/names symbols/dwarf symbols/insn",
    "unwind": "unwind/arch/x86_64 unwind/arch/arm64 symbols/base symbols/elf symbols/insn",
    "unwind/arch/x86_64": "unwind symbols/elf symbols/insn",
    "unwind/arch/arm64": "unwind symbols/elf symbols/insn",
    "bpf/prog": "bpf/prog/arch unwind symbols/runtime",
    "bpf/prog/arch": "unwind",
    "bpf/sampler": "bpf/prog unwind symbols/base symbols/files symbols/names symbols/runtime",
    "bpf/tracker": "bpf/sampler bpf/prog unwind unwind/arch/x86_64 unwind/arch/arm64 symbols/base "
                   "symbols/files symbols/elf symbols/insn symbols/runtime",
    "bpf/report": "bpf/tracker bpf/sampler bpf/prog unwind symbols/base symbols/elf",
    # the model, without a screen
    "tui/util": "symbols/base symbols/files",
    "tui/agent": "tui/util symbols/base",
    "tui/profile": "tui/util bpf/tracker bpf/report unwind symbols/base symbols/code",
    "tui/query": "tui/profile tui/util symbols/base",
    "tui/symbolize": "tui/query tui/profile tui/util bpf/report bpf/tracker bpf/sampler unwind "
                     "symbols/base symbols/files symbols/elf symbols/names symbols/dwarf "
                     "symbols/runtime",
    "tui/import": "tui/profile tui/util symbols/base",
    "tui/session": "tui/import tui/net tui/query tui/profile tui/util bpf/report bpf/tracker symbols/base",
    "tui/collect": "tui/symbolize tui/session tui/query tui/profile tui/util bpf/report bpf/tracker "
                   "bpf/sampler unwind symbols/base symbols/files symbols/elf symbols/code "
                   "symbols/insn",
    "tui/export": "tui/screen tui/query tui/profile tui/util bpf/sampler symbols/base",
    "tui/net": "symbols/base",
    "tui/push": "tui/net tui/export tui/query tui/profile tui/util symbols/base",
    # the screen
    "tui/screen": "tui/util symbols/base",
    "tui/ui": "tui/screen tui/push tui/session tui/query tui/profile tui/util symbols/base "
              "symbols/files",
    "tui/views": "tui/ui tui/screen tui/query tui/profile tui/util bpf/report bpf/tracker unwind "
                 "symbols/base symbols/code",
    "tui/app": "tui/views tui/ui tui/screen tui/push tui/export tui/session tui/query tui/profile "
               "tui/util bpf/report bpf/tracker bpf/sampler symbols/base",
    "tui": "tui/app tui/views tui/ui tui/screen tui/agent tui/push tui/net tui/export tui/collect "
           "tui/session tui/import tui/symbolize tui/query tui/profile tui/util bpf/report "
           "bpf/tracker bpf/sampler symbols/base",
}
# The files of a room that other top folders may use.
FRONTS = {
    "unwind": "arch cfitext funcs machine reason",
    "bpf/sampler": "sampler sizes ksyms kerneltext kernelinfo refusal event waits",
    "bpf/tracker": "tracker inventory",
    "bpf/report": "trace check dump",
}
# A top folder that may use all files of a room.
INSIDE = {"unwind": "bpf", "unwind/arch/x86_64": "bpf", "unwind/arch/arm64": "bpf"}
# A header of a library, and the rooms that may include it.
LIBRARY_OWNER = (
    (re.compile(r"^(ncursesw?/)?(ncurses|curses|term|panel|menu|form)\.h$"), "tui/screen"),
    (re.compile(r"^bpf/(?!bpf_helpers|bpf_tracing|bpf_core_read|bpf_endian)\w+\.h$"), "bpf/"),
    (re.compile(r"^curl/\w+\.h$"), "tui/net"),
    (re.compile(r"^(elfutils/\w+|libelf|gelf|libdwfl|dwarf)\.h$"), "symbols/ unwind"),
    (re.compile(r"^microhttpd\.h$"), "tui/agent"),
)
# The headers that kernel programs share with user space.
KERNEL_SIDE = re.compile(r"^(symbols/runtime/\w+_layout|bpf/prog/((runtime_)?layout|(arch/)?\w+\.bpf)|unwind/(arch|row|walk|step|lookup|bare|reason))\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
# A struct may be called like a function.
TAG = re.compile(r"\b(?:struct|union|enum)\s+\w+")
WORD = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
# In the format of .clang-format: a definition begins in the first column, and so does its body.
FUNCTION = re.compile(r"^(?!static\b|typedef\b|extern\b)[A-Za-z_][\w \t*]*?\b(\w+)\(([^;{}]*?)\)\s*\n\{",
                      re.M)
TAG_DEFINED = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")
OBJECT = re.compile(r"^(?!static\b|typedef\b|extern\b)[a-z_][\w \t*]*?\b(\w+)(?:\[[^\]]*\])* = ", re.M)


PROCESSORS = re.compile(r"/arch/(x86_64|arm64)")


def room_of(path):
    return os.path.dirname(path)


def unit_of(path):
    return path[:-2] if path.endswith((".c", ".h")) else path


def matches(room, owners):
    return any(room == owner or room.startswith(owner) for owner in owners.split())


class Tree:
    def __init__(self):
        self.text = {}
        for room in ROOMS:
            for name in sorted(os.listdir(room)) if os.path.isdir(room) else []:
                if name.endswith((".c", ".h")):
                    with open(f"{room}/{name}", encoding="utf-8") as file:
                        self.text[f"{room}/{name}"] = file.read()
        self.code = {path: NOISE.sub(" ", text) for path, text in self.text.items()}
        self.included = {path: [(kind == "<", name) for kind, name in INCLUDE.findall(text)]
                         for path, text in self.text.items()}
        self.words = {path: set(WORD.findall(TAG.sub(" ", code)))
                      for path, code in self.code.items()}
        self.defined = {}   # name: its source
        for path, code in self.code.items():
            if path.endswith(".c") and not path.endswith(".bpf.c"):
                for pattern in (FUNCTION, OBJECT):
                    for match in pattern.finditer(code):
                        self.defined[match.group(1)] = path

    def seen(self, path):
        """All headers of the project that a file includes, directly or through others."""
        found, left = set(), [path]
        while left:
            for system, name in self.included[left.pop()]:
                if not system and name in self.text and name not in found:
                    found.add(name)
                    left.append(name)
        return found

    def calls(self, path):
        """(name, source) of a file's uses of other sources, as far as its headers declare them."""
        if not path.endswith(".c") or path.endswith(".bpf.c"):
            return
        declared = set().union(*(self.words[header] for header in self.seen(path)), set())
        for name in sorted(self.words[path] & declared & self.defined.keys()):
            if PROCESSORS.sub("", self.defined[name]) != PROCESSORS.sub("", path):
                yield name, self.defined[name]

    def uses(self, path):
        """(the name used in the file, the file that defines it)"""
        for system, name in self.included[path]:
            if not system and name in self.text:
                yield name, name
        yield from self.calls(path)


def allowed(path, target):
    room, other = room_of(path), room_of(target)
    if other != room and other not in ROOMS[room].split():
        return False
    top = room.split("/")[0]
    if target.endswith(".c") or top == other.split("/")[0] or other not in FRONTS or \
            INSIDE.get(other) == top:
        return True
    return os.path.basename(unit_of(target)) in FRONTS[other].split()


def breaches(tree):
    for path in tree.text:
        kernel_side = path.endswith((".bpf.c", ".bpf.h"))
        for system, name in tree.included[path]:
            if system:
                for pattern, owners in LIBRARY_OWNER:
                    if pattern.match(name) and not matches(room_of(path), owners):
                        yield f"{path}: {name}: belongs to {' '.join(owners.split())}"
            elif name not in tree.text:
                if not name.endswith(".inc") and not name.startswith("build/"):
                    yield f"{path}: {name}: not a path from the top of the tree"
            elif kernel_side and not KERNEL_SIDE.match(name):
                yield f"{path}: {name}: kernel programs share only the layout, row and step headers"
        for name, target in tree.uses(path):
            if not kernel_side and not allowed(path, target):
                yield f"{path}: {name}: {room_of(path)} must not use {unit_of(target)}"


def tags(tree):
    """A line for each tag of a struct, union or enum that two files define."""
    defined = defaultdict(set)
    for path, code in tree.code.items():
        for tag in TAG_DEFINED.findall(code):
            # Of the files of processors, with the same names, one is compiled at a time.
            defined[tag].add(PROCESSORS.sub("/arch/PROCESSOR", path))
    for tag, paths in sorted(defined.items()):
        if len(paths) > 1:
            yield f"{tag} is defined in {' and in '.join(sorted(paths))}"


def knots(tree):
    """The sets of files that reach each other, largest first (Tarjan's algorithm)."""
    edges = defaultdict(set)
    for path in tree.text:
        for _, target in tree.calls(path):
            edges[unit_of(path)].add(unit_of(target))
    order, low, stack, found = {}, {}, [], []

    def visit(unit):
        order[unit] = low[unit] = len(order)
        stack.append(unit)
        for other in sorted(edges.get(unit, ())):
            if other not in order:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in stack:
                low[unit] = min(low[unit], order[other])
        if low[unit] == order[unit]:
            at = stack.index(unit)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for unit in sorted(edges):
        if unit not in order:
            visit(unit)
    return sorted(found, key=len, reverse=True)


def main():
    os.chdir(TOP)
    tree = Tree()
    tangled = knots(tree)
    if sys.argv[1:] == ["--knots"]:
        for knot in tangled:
            print(len(knot), *knot)
        return 0
    wrong = [*breaches(tree), *tags(tree)]
    print("".join(f"{line}\n" for line in wrong), end="")
    largest = tangled[0] if tangled else []
    print(f"the largest knot has {len(largest)} files{': ' if largest else ''}{' '.join(largest)}")
    return 1 if wrong or len(largest) > LARGEST_KNOT else 0


if __name__ == "__main__":
    sys.exit(main())
