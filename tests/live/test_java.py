#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 900 s
"""Compiled code of Java, with each JDK that is installed here and in the roots that ROOTS has (folders,
separated by colons): a chain of calls that is known, as each of HotSpot's compilers makes it, with several
collectors and in virtual threads.

Covers: bpf/tracker/hotspot.c bpf/tracker/runcode.c bpf/tracker/codereader.c unwind/arch/x86_64/framecode.c
"""

import collections
import contextlib
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import together  # noqa: E402
from together import common, share  # noqa: E402

CHAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "java", "Chain.java")
# Each method is compiled alone, so that all of them are frames.
FLAGS = ["-XX:-Inline", "-XX:-UseOnStackReplacement"]
COMPILED = ["Chain.top", *["Chain.odd", "Chain.even"] * 3, "Chain.burn"]
# Between call_stub, by which the machine enters Java, and the methods that are compiled: those that are
# interpreted, since they do not return: Thread.run, from JDK 19 on Thread.runWith, the lambda's run, its body,
# Chain.run.
ENTERED = ["StubRoutines.*", *["Interpreter"] * 4]
ENTERED_19 = ["StubRoutines.*", *["Interpreter"] * 5]
FROZEN = r"\[frames of the virtual thread.*\]"
# name: least version, flags, argument, functions that follow each other in a stack
MODES = {
    "C2": (9, ["-XX:+UseSerialGC", "-XX:-TieredCompilation"], "", [*ENTERED, *COMPILED]),
    "C1": (9, ["-XX:+UseParallelGC", "-XX:TieredStopAtLevel=1"], "", [*ENTERED, *COMPILED]),
    "interpreter": (9, ["-XX:+UseSerialGC", "-Xint"], "", ENTERED),
    "ZGC": (17, ["-XX:+UseZGC"], "", COMPILED),
    "virtual threads": (21, ["-XX:+UseSerialGC"], "virtual", COMPILED),
    "compact headers": (25, ["-XX:+UseCompactObjectHeaders"], "", COMPILED),
}


def is_whole(user):
    return not user[0].startswith("[")


def plain(user):
    return [re.sub(r"_?\[[a-z]+\]$", "", name).strip() for name in user]


def goes_through(user, chain):
    names = plain(user)
    return any(all(re.fullmatch(want, name) for want, name in zip(chain, names[at:at + len(chain)]))
               for at in range(len(names) - len(chain) + 1))


def is_judged(user, leaf):
    """The thread of the chain, where it is in the innermost method; the machine's own have no such frame, nor
    has the machine where it moves the frames of a virtual thread."""
    return plain(user)[-1] == leaf or (not is_whole(user) and any(name.startswith("Chain.") for name in user))


def java_versions(root):
    """{version: path}"""
    found = {}
    for java in root.find("/usr/lib/jvm/*/bin/java", "/opt/*/bin/java"):
        match = re.search(r'version "(\d+)', root.run(java, "-version").stderr)
        if match:
            found.setdefault(int(match.group(1)), java)
    return found


def programs(tap, running):
    found = False
    for root in live.roots():
        versions = java_versions(root)
        folder = running.enter_context(root.folder(CHAIN)) if versions else ""
        for version, java in sorted(versions.items()):
            javac = os.path.join(os.path.dirname(java), "javac")
            built = root.run(javac, "-d", f"{folder}/{version}", f"{folder}/Chain.java")
            if built.returncode:
                tap.skip(f"java {version} ({root.name})", "has no compiler")
                continue
            found = True
            for mode, (least, flags, argument, chain) in MODES.items():
                if chain[0] == ENTERED[0] and version >= 19:
                    chain = ENTERED_19 + chain[len(ENTERED):]
                if version >= least:
                    yield together.Program(
                        f"java {version} ({root.name}), {mode}",
                        root.command(java, *FLAGS, *flags, "-cp", f"{folder}/{version}", "Chain", argument),
                        lambda user, chain=chain: is_whole(user) and goes_through(user, chain), 0.8,
                        lambda user, chain=chain: is_judged(user, chain[-1]), busy=2.0)
    if not found:
        tap.skip("java", "not installed")


def check(tap, program):
    total = sum(program.stacks.values())
    good = share(program.stacks, program.good)
    whole = collections.Counter({user: n for user, n in program.stacks.items() if is_whole(user)})
    right = share(whole, program.good)
    tap.ok(total >= together.ENOUGH and good >= 0.95, f"{program.name}: whole stacks, with names",
           f"{good:.3f} of {total}: {common(program.stacks)}")
    tap.ok(right > 0.99, f"{program.name}: no whole stack lacks a frame",
           f"{right:.4f}: {common(collections.Counter({u: n for u, n in whole.items() if not program.good(u)}))}")
    if "virtual" in program.name:
        tap.ok(share(program.stacks, lambda user: any(re.fullmatch(FROZEN, name) for name in user)) > 0.1,
               f"{program.name}: stacks go on behind the return barrier")


def main():
    tap = live.Tap()
    live.need(tap)
    with contextlib.ExitStack() as running:
        for program in programs(tap, running):
            for done in together.sample(tap, [program]):
                check(tap, done)
    tap.done()


main()
