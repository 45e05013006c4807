#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts the faults of tests/faults.py into a copy of the tree, one at a time, and names those that no
test finds. Run it by hand: a fault takes about six seconds of CPU time.

    tests/mutate.py [OPTION...] [WORD...]   only faults with this name, or with it in their file's path

    --list          only list the faults
    --placed        only check that each old text is there once; `make check` does
    --check         only check this, and that the fault compiles
    --live          run programs of tests/live/, tests/hostile/ and tests/push/, which take minutes each
    --log FILE      append the verdicts to FILE, and leave out faults that have one in it

Runs the unit tests that cover the fault's file (tests/where.py) and builds nothing else: compiled
programs, then scripts, those first that cover the fewest files. The first that fails has found the fault;
a program that measures must fail twice. A program that fails in a second copy, without a fault, finds
nothing, and is reported. The time limit is SLACK times the time without a fault. Verdicts are

    found       by the program that follows
    SURVIVED    every program passes
    UNSOUND     no program passes without the fault, either
    BROKEN      does not compile

Faults that only live programs cover are not tried and not logged. The last line counts the verdicts,
with those of the log.
"""

import argparse
import collections
import functools
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import faults
import run
import where

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
BUILD = os.environ.get("BUILD", "build")
FOLDERS = where.FOLDERS
COPIED = (*FOLDERS, "other", "capstone", "curl", "microhttpd", "asan", "tests", "libiberty")
LIVE = ("live", "hostile", "push")
SLACK = 4
LEAST_SECONDS = 60
CLEAN_SECONDS = 1200    # limit of a program without a fault
MEGABYTES = 4096        # of a program with a fault
VERDICT = re.compile(r"^(found|SURVIVED|UNSOUND|BROKEN) +([^:\s]+):", re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)

tests = functools.cache(where.tests)


class Tree:
    """A copy of the tree, with the build folder."""

    def __init__(self, folder):
        self.top = folder
        self.seconds = {}   # path of a program: its time without a fault; None: it failed
        names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others",
                                "--exclude-standard"], cwd=TOP, check=True,
                               capture_output=True).stdout.decode().split("\0")
        for name in filter(None, names):
            source, target = os.path.join(TOP, name), os.path.join(folder, name)
            if os.path.lexists(source):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy2(source, target, follow_symlinks=False)
        os.makedirs(os.path.join(folder, BUILD))
        built = [path for path in glob.glob(os.path.join(TOP, BUILD, "*"))
                 if os.path.isfile(path) or os.path.basename(path) in COPIED]
        if built:   # the programs of a room are links to one file, and stay that
            subprocess.run(["cp", "-a", *built, os.path.join(folder, BUILD)], check=True)
        os.chdir(folder)
        self.programs = {program[2]: program for program in run.programs(BUILD)}

    def path(self, name):
        return os.path.join(self.top, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def put(self, fault):
        self.write(fault.file, self.read(fault.file).replace(fault.old, fault.new))

    def make(self, *targets):
        """The compiler's output when it fails, else 0. Warnings are errors unless the environment
        has WERROR=."""
        units = [target for target in targets if target.startswith(f"{BUILD}/asan/")]
        goals = [target for target in targets if target not in units]
        if units:
            goals += ["unit", f"GOALS={' '.join(units)}"]
        done = subprocess.run(["make", "--no-print-directory", f"-j{os.cpu_count()}", "-k",
                               f"BUILD={BUILD}", *goals], cwd=self.top, check=False,
                              env={"WERROR": "1", **os.environ}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        return done.returncode and (done.stderr.decode("utf-8", "replace") or "make failed")

    def text_of(self, path, seen):
        """The text of a program's source, of the headers below tests/ that it includes, and of the
        files beside these."""
        if path in seen or not os.path.isfile(self.path(path)):
            return ""
        seen.add(path)
        text = self.read(path)
        for name in INCLUDE.findall(text):
            for place in (name, os.path.join(os.path.dirname(path), name)):
                if place.startswith("tests/"):
                    text += self.text_of(place, seen)
                    text += self.text_of(re.sub(r"\.h$", ".c", place), seen)
        return text

    def helpers(self, text):
        """Sources of helper programs that a test names, wholly or by the beginning of the name."""
        for helper in glob.glob("tests/**/*.c", root_dir=self.top, recursive=True):
            folder, stem = helper.split("/")[1], os.path.basename(helper)[:-2]
            parts = stem.split("_")
            begins = ["_".join(parts[:n + 1]) for n in range(1 if len(parts) > 1 else 0, len(parts))]
            if folder in FOLDERS and parts[0] != "test" and \
                    any(re.search(rf'["/]{name}\b', text) for name in begins):
                yield helper

    def build(self, path):
        """Builds what a program needs; the compiler's output when it fails, else 0."""
        text = self.text_of(path, set())
        found = {f"{BUILD}/{'' if 'verify_' in helper else 'asan/'}{helper[:-2]}"
                 for helper in self.helpers(text)}
        if path.endswith(".c"):
            found.add(f"{BUILD}/asan/{path[:-2]}")
        if not path.endswith(".c") or re.search(r"STACKTOP_BIN|/stacktop", text):
            found.add(f"{BUILD}/stacktop")
        return self.make(*found)

    def fails(self, path, limit):
        """The first failure of a program; None when it passes."""
        os.chdir(self.top)
        _, command, source = self.programs[path]
        result = run.Result(source, *run.run(command, limit), limit)
        if result.failed or not result.passed:
            return (result.reasons or ["everything is skipped"])[0][:100]
        return None

    def passes(self, path):
        """True if a program passes in this tree, which has no fault."""
        if path not in self.seconds:
            error = self.build(path)
            start = time.monotonic()
            why = error or self.fails(path, CLEAN_SECONDS)
            self.seconds[path] = None if why else time.monotonic() - start
            if why:
                print(f"{path} fails without a fault: {why}", flush=True)
        return self.seconds[path] is not None


def covering(tree, fault, options):
    """The programs that cover the fault's file in the order in which they run."""
    paths = [path for path in where.covering(fault.file, tests())
             if path in tree.programs and (path.split("/")[1] in LIVE) == options.live]
    return sorted(paths, key=lambda path: (not path.endswith(".c"), len(tests()[path])))


def find(clean, tree, fault, options):
    """(verdict, text about it); the verdict is None when no program covers the file. Neither tree has a
    fault before and after."""
    verdict, text = None, tree.read(fault.file)
    tree.put(fault)
    try:
        for path in covering(tree, fault, options):
            if not clean.passes(path):
                verdict = verdict or "UNSOUND"
                continue
            error = tree.build(path)
            if error:
                return "BROKEN", "\n    | ".join([fault.file, *error.splitlines()[:8]])
            limit = round(max(LEAST_SECONDS, SLACK * clean.seconds[path]))
            reason = tree.fails(path, limit)
            if reason and run.measures(tree.programs[path][0]):
                reason = tree.fails(path, limit)
            if reason:
                return "found", f"{path}: {reason}"
            verdict = "SURVIVED"
    finally:
        tree.write(fault.file, text)
    return verdict, fault.file


def mutate(clean, tree, chosen, options):
    verdicts = {}
    if options.log and os.path.exists(options.log):
        with open(options.log, encoding="utf-8") as log:
            verdicts = {name: verdict for verdict, name in VERDICT.findall(log.read())}
    os.environ.setdefault("ASAN_OPTIONS", f"hard_rss_limit_mb={MEGABYTES}")
    # The kernel ends the largest of these first when memory runs out. Sanitizers need terabytes of
    # addresses, so there is no limit.
    run.write_text("/proc/self/oom_score_adj", 1000)
    run.adopt_orphans()

    # Scripts are slow: first the faults that compiled programs cover, those of one file together.
    def order(fault):
        return not any(path.endswith(".c") for path in covering(tree, fault, options)), fault.file

    for fault in sorted(chosen, key=order):
        if fault.name in verdicts:
            continue
        start = time.monotonic()
        verdicts[fault.name], about = find(clean, tree, fault, options)
        if verdicts[fault.name]:
            text = f"{verdicts[fault.name]:9} {fault.name}: {about} ({time.monotonic() - start:.0f} s)"
            print(text, flush=True)
            with open(options.log or os.devnull, "a", encoding="utf-8") as log:
                log.write(text + "\n")
    count = collections.Counter(verdicts[fault.name] for fault in chosen)
    print(f"{len(chosen)} faults: {count['found']} found, {count['SURVIVED']} survived, {count[None]} not "
          f"tried (only {'unit tests' if options.live else 'live programs'} cover them), {count['BROKEN']} "
          f"do not compile, {count['UNSOUND']} without a program that passes")
    return 0 if count["found"] + count[None] == len(chosen) else 1


def misplaced():
    """A line for each fault that breaks the rules of tests/faults.py."""
    wrong = []
    names = [fault.name for fault in faults.ALL]
    for fault in faults.ALL:
        path = os.path.join(TOP, fault.file)
        text = where.read(fault.file) if os.path.exists(path) else ""
        if names.count(fault.name) > 1:
            wrong.append(f"{fault.name}: another fault has this name")
        if text.count(fault.old) != 1:
            wrong.append(f"{fault.name}: its text is {text.count(fault.old)} times in {fault.file}")
        if fault.old == fault.new:
            wrong.append(f"{fault.name}: changes nothing")
    return wrong


def objects(tree, file):
    """The objects compiled from a file, by the compiler's dependency files."""
    found = set()
    for folder in FOLDERS:
        for path in glob.glob(f"{BUILD}/{folder}/**/*.d", root_dir=tree.top, recursive=True):
            if re.search(rf"(^|\s){re.escape(file)}(\s|$)", tree.read(path)):
                found.add(path[:-1] + "o")
    return found


def check(tree, chosen):
    """Compiles at most one fault of each file at a time; tries those that fail again alone."""
    wrong = 0
    error = tree.make(f"{BUILD}/stacktop")
    if error:
        print(error)
        return 1
    left = list(chosen)
    while left:
        now, files = [], set()
        for fault in left:
            if fault.file not in files:
                now.append(fault)
                files.add(fault.file)
        left = [fault for fault in left if fault not in now]
        texts = {fault: tree.read(fault.file) for fault in now}
        built = {fault: objects(tree, fault.file) for fault in now}
        for fault in now:
            tree.put(fault)
        error = tree.make(*set().union(*built.values()))
        for fault, text in texts.items():
            tree.write(fault.file, text)
        for fault in now if error else []:
            tree.put(fault)
            error = tree.make(*built[fault])
            tree.write(fault.file, texts[fault])
            if error:
                wrong += 1
                print(f"{fault.name}: {fault.file} does not compile")
                print("".join(f"    | {line}\n" for line in error.splitlines()[:8]), end="")
    print(f"{len(chosen) - wrong} compile, {wrong} do not")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    for name in ("list", "placed", "check", "live"):
        parser.add_argument("--" + name, action="store_true")
    parser.add_argument("--log")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    options.log = options.log and os.path.abspath(options.log)
    os.chdir(TOP)
    chosen = [fault for fault in faults.ALL if not options.words or fault.name in options.words
              or any(word in fault.file for word in options.words)]
    if options.list:
        print("".join(f"{fault.name:24} {fault.file}\n" for fault in chosen), end="")
        return 0
    wrong = misplaced()
    if wrong or not chosen:
        print("\n".join(wrong or ["there is no such fault"]))
        return 1
    if options.placed:
        return 0
    # Interruption also removes the copy.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="stacktop-mutate-") as folder:
        tree = Tree(os.path.join(folder, "fault"))
        if options.check:
            return check(tree, chosen)
        return mutate(Tree(os.path.join(folder, "clean")), tree, chosen, options)


if __name__ == "__main__":
    sys.exit(main())
