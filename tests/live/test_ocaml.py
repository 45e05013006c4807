#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""Stacks of OCaml, whose functions call C on another stack and run in fibers from OCaml 5 on, with each
compiler that is installed here and in the roots that ROOTS has (folders, separated by colons): chains of
calls that are known, with effects, exceptions, the collector, callbacks from C and domains.

Covers: unwind/step.h unwind/rule.c unwind/expr.c unwind/table.c symbols/names/langname.c
"""

import collections
import contextlib
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import together  # noqa: E402
from together import common, share  # noqa: E402

SOURCES = sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "ocaml", "*")))
LEAVES = ("plain", "compare", "collect", "raise")
# Functions of the program's own between outer and inner; a call in the last place of a function is a jump.
WAYS = {
    "a call": "straight",
    "C and back": "by_c;callback",
    "a handler of exceptions": "caught",
}
EFFECTS = {
    "a fiber": "all;fiber",
    "a fiber in a fiber": "all;nested;fiber;fiber",
    "a fiber that goes on": "all;answer;resumed",
}
OWN = re.compile(r"(?:Chain|Handlers)\.(\w+)")


def is_whole(user):
    return not user[0].startswith("[")


def own_functions(user):
    return ";".join(match.group(1) for match in map(OWN.match, user) if match)


def chain_of(user):
    """The functions between outer and inner, and the leaf. None: the stack has not come to a leaf."""
    match = re.search(r"(?:^|;)outer;(?:(.*);)?inner;leaf_(\w+)", own_functions(user))
    return (match.group(1) or "", match.group(2)) if match else None


def is_judged(user):
    return not is_whole(user) or "leaf_" in own_functions(user)


def programs(tap, running):
    found = False
    for root in live.roots():
        compilers = root.find("/usr/bin/ocamlopt")
        if not compilers:
            continue
        folder = running.enter_context(root.folder(*SOURCES))
        version = root.run(compilers[0], "-version").stdout.strip()
        effects = int(version.partition(".")[0]) >= 5
        build = root.run("sh", "-c", f"cd {folder} && mv handlers{5 if effects else 4}.ml handlers.ml && "
                         f"{compilers[0]} -g stubs.c handlers.ml chain.ml -o chain")
        name = f"OCaml {version} ({root.name})"
        if build.returncode:
            tap.skip(name, build.stderr.strip().replace("\n", " "))
            continue
        found = True
        # Without effects the function that would use them is a jump to inner.
        ways = {**WAYS, **EFFECTS} if effects else {**WAYS, "a jump": ""}
        program = together.Program(
            name, root.command(f"{folder}/chain"),
            lambda user, known=frozenset(ways.values()): is_whole(user) and (chain_of(user) or ("-",))[0] in known,
            0.9, is_judged)
        program.ways, program.domains = ways, effects
        yield program
    if not found:
        tap.skip("OCaml", "not installed")


def check(tap, program):
    total = sum(program.stacks.values())
    whole = share(program.stacks, is_whole)
    tap.ok(total >= together.ENOUGH and whole >= 0.99, f"{program.name}: whole stacks",
           f"{whole:.4f} of {total}: {common(collections.Counter({u: n for u, n in program.stacks.items() if not is_whole(u)}))}")
    wrong = collections.Counter({user: n for user, n in program.stacks.items()
                                 if is_whole(user) and not program.good(user)})
    tap.ok(not wrong, f"{program.name}: no whole stack lacks a frame", common(wrong))
    seen = {chain_of(user) for user in program.stacks if is_whole(user)}
    for title, way in program.ways.items():
        tap.ok(any(chain and chain[0] == way for chain in seen), f"{program.name}: {title}")
    for leaf in LEAVES:
        tap.ok(any(chain and chain[1] == leaf for chain in seen), f"{program.name}: {leaf}")
    if program.domains:
        tap.ok(any("Stdlib.Domain.body" in user for user in program.stacks), f"{program.name}: a domain")


def main():
    tap = live.Tap()
    live.need(tap)
    with contextlib.ExitStack() as running:
        for program in together.sample(tap, list(programs(tap, running))):
            check(tap, program)
    tap.done()


main()
