#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""Processes that live for a millisecond, or that have another name than their program, are chosen as they are
found without a choice: another stacktop samples the whole machine at the same time.

Covers: bpf/tracker/targets.c bpf/tracker/process.c bpf/tracker/answers.c bpf/prog/sample.bpf.h
tui/collect/collector_slice.c
"""

import collections
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

NOBODY = 65534
SECONDS = ("5", "15", "45")     # the next if the commands got too little of the CPUs in those before
LOOP = ["timeout", "100", "sh", "-c", "while :; do date; uname; done >/dev/null"]
ENOUGH = 100        # samples for a comparison
SHARE = 0.75        # of those of the whole machine, of about half of which processes are known in time


def as_nobody():
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def counts(text):
    """{(comm, the innermost of the program's own functions): samples}"""
    found = collections.Counter()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        comm, *frames = stack.split(";")
        burns = [frame for frame in frames if frame.startswith("burn_")]
        found[comm, burns[0] if burns else ""] += int(count)
    return found


def both(names, *options):
    """What the whole machine has, and what is chosen, in the same seconds."""
    for seconds in SECONDS:
        common = ("-b", "-d", seconds, "-n", "1", "-F", str(live.hertz(499)), "--format", "folded")
        whole, chosen = live.Batch(*common), live.Batch(*common, *options)
        whole, chosen = counts(whole.wait()), counts(chosen.wait())
        if total(whole, *names) >= ENOUGH:
            break
    return whole, chosen


def total(found, *names):
    return sum(count for (comm, _), count in found.items() if comm in names)


def names_of(found):
    return {comm for comm, _ in found}


def compare(tap, name, names, *options):
    """The samples of what is chosen."""
    whole, chosen = both(names, *options)
    here, there = total(chosen, *names), total(whole, *names)
    tap.ok(there >= ENOUGH and here >= SHARE * there, f"{name}: as many samples as without it",
           f"{here} of {there}")
    return chosen


def check_short(tap):
    with live.Load(LOOP):
        chosen = compare(tap, "--comm", ["date"], "--comm", "^date$")
    tap.ok(names_of(chosen) == {"date"}, "--comm: of no other process", str(names_of(chosen)))
    with live.Load(LOOP, preexec_fn=as_nobody):
        compare(tap, "-u", ["date", "uname"], "-u", "nobody")
    compare(tap, "COMMAND", ["date", "uname"], "--", *LOOP)


def check_named(tap):
    known = {("nm_forker", "burn_child"), ("nm_forker", "burn_grandchild"), ("nm_renamed", "burn_renamed")}
    with tempfile.TemporaryDirectory() as folder:
        session = os.path.join(folder, "session")
        with live.Load([os.path.join(live.WORK, "named")]):
            _, chosen = both(["nm_forker"], "--comm", "^nm_forker$")
            _, renamed = both(["nm_renamed"], "--comm", "^nm_renamed$")
            whole = counts(live.stacktop("-b", "-d", SECONDS[1], "-n", "1", "--format", "folded", "-w", session)[0])
        replayed = counts(live.stacktop("-b", "-r", session, "--format", "folded")[0])
    for name, found, right in (("the whole machine", whole, known), ("a session", replayed, known),
                               ("--comm of the thread", chosen, known - {("nm_renamed", "burn_renamed")}),
                               ("--comm of the later name", renamed, {("nm_renamed", "burn_renamed")})):
        burns = {key for key in found if key[1].startswith("burn_")}
        tap.ok(right <= burns, f"{name}: children have the name of the thread that has forked them",
               str(right - burns))
        strange = {key: found[key] for key in burns - right}
        tap.ok(sum(strange.values()) <= sum(found[key] for key in right) / 50,
               f"{name}: of no other name", str(strange))


def main():
    tap = live.Tap()
    live.need(tap)
    check_short(tap)
    check_named(tap)
    tap.done()


main()
