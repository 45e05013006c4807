#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts the faults of tests/faults.py into a copy of the tree, one at a time, and names those that no
test finds. Run it by hand; all faults with all programs take hours.

    tests/mutate.py [OPTION...] [WORD...]   only faults with this name, or with it in their file's path

    --list          only list the faults
    --placed        only check that each old text is there once; `make check` does
    --check         only check this, and that the fault compiles
    --covering      run only the programs that cover the file (tests/where.py)
    --units         run no program of tests/bpf/ and tests/live/
    --log FILE      append the verdicts to FILE, and leave out faults that have one in it

Faults of files with unit tests come first. Programs that cover the file run first, fast ones before
slow ones, then the other units of its folder, of tests/tui/ and of the other folders, then programs that
sample the machine. The first that fails has found the fault. A program must first pass without a fault;
else it finds nothing, and is reported. Its time limit is SLACK times the time that it took then. The last
line counts the verdicts, with those that the log had.
"""

import argparse
import ctypes
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
import where

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
BUILD = os.environ.get("BUILD", "build")
FOLDERS = where.FOLDERS
LIVE = ("bpf", "live")
COPIED = (*FOLDERS, "other", "capstone", "curl", "microhttpd", "asan", "tests", "libiberty")
SLACK = 10
LEAST_SECONDS = 60
CLEAN_SECONDS = 1200    # limit of a program without a fault
MEGABYTES = 4096        # of a program with a fault
PR_SET_CHILD_SUBREAPER = 36
VERDICT = re.compile(r"^(found|SURVIVED|BROKEN) +([^:\s]+):", re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def name_of(path):
    """The program's name in tests/run.py."""
    name = path.split("/", 1)[1]
    return name[:-2] if name.endswith(".c") else name


def is_live(path):
    return path.split("/")[1] in LIVE


def kill_children():
    """Kills all processes that a program has left: this process adopts orphans."""
    for _ in range(500):
        left = []
        for entry in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(entry, encoding="utf-8", errors="replace") as file:
                    pid, rest = int(entry.split("/")[2]), file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(rest[1]) == os.getpid():
                left.append(pid)
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, os.WNOHANG)
            except (ProcessLookupError, ChildProcessError):
                pass
        time.sleep(0.02)


def offer_memory():
    """The kernel ends this process first when memory runs out. Sanitizers need terabytes of addresses,
    so there is no limit."""
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


class Tree:
    """A copy of the tree, with the build folder."""

    def __init__(self, folder):
        self.top = folder
        self.seconds = {}   # path of a program: its time without a fault; None: it failed
        self.made = set()   # targets that are up to date
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

    def path(self, name):
        return os.path.join(self.top, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        self.made.clear()
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def put(self, fault):
        self.write(fault.file, self.read(fault.file).replace(fault.old, fault.new))

    def make(self, *targets):
        """The compiler's output when it fails, else nothing. Warnings are errors unless the environment
        has WERROR=."""
        if self.made.issuperset(targets):
            return ""
        units = [target for target in targets if target.startswith(f"{BUILD}/asan/")]
        goals = [target for target in targets if target not in units]
        if units:
            goals += ["unit", f"GOALS={' '.join(units)}"]
        done = subprocess.run(["make", "--no-print-directory", f"-j{os.cpu_count()}", "-k",
                               f"BUILD={BUILD}", *goals], cwd=self.top, check=False,
                              env={"WERROR": "1", **os.environ}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if done.returncode:
            return done.stderr.decode("utf-8", "replace") or "make failed"
        self.made.update(targets)
        return ""

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

    def targets(self, path):
        """The targets to rebuild for a program."""
        text = self.text_of(path, set())
        found = {f"{BUILD}/{'' if 'verify_' in helper else 'asan/'}{helper[:-2]}"
                 for helper in self.helpers(text)}
        if path.endswith(".c"):
            found.add(f"{BUILD}/asan/{path[:-2]}")
        if not path.endswith(".c") or re.search(r"STACKTOP_BIN|/stacktop", text):
            found.add(f"{BUILD}/stacktop")
        return found

    def run(self, path, limit):
        """The first failure; None when all passed."""
        env = dict(os.environ, BUILD=BUILD, PYTHONDONTWRITEBYTECODE="1", AGAIN="0")
        env.setdefault("ASAN_OPTIONS", f"hard_rss_limit_mb={MEGABYTES}")
        process = subprocess.Popen([sys.executable, "tests/run.py", name_of(path)], cwd=self.top,
                                   env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, preexec_fn=offer_memory)
        try:
            output = process.communicate(timeout=limit)[0].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return f"out of time ({limit:.0f} s)"
        finally:
            kill_children()
        if not process.returncode:
            return None
        reasons = [line.strip() for line in output.splitlines()
                   if line.startswith("  " + name_of(path))]
        return reasons[0].partition(": ")[2][:100] if reasons else "failed"

    def passes(self, path):
        """True if a program passes without a fault; the tree has none at this time."""
        if path not in self.seconds:
            error = self.make(*self.targets(path))
            start = time.monotonic()
            why = error or self.run(path, CLEAN_SECONDS)
            self.seconds[path] = None if why else time.monotonic() - start
            if why:
                print(f"{name_of(path)} fails without a fault: {why}", flush=True)
        return self.seconds[path] is not None


tests = functools.cache(where.tests)


def programs(file, options):
    """(the programs that cover a file, all others), both in the order in which they run."""
    known = tests()
    every = [path for path in known if not path.startswith("tests/fuzz/")
             and not (options.units and is_live(path))]
    first = [path for path in where.covering(file, known) if path in every]
    if options.covering:
        return first, []
    folder = file.split("/")[0]

    def rank(path):
        own = path.split("/")[1]
        return (own == "live", own == "bpf" and folder != "bpf", own != folder, own != "tui", path)

    return first, sorted((path for path in every if path not in first), key=rank)


def find(tree, fault, options):
    """(program, reason) of the first that finds the fault; (None, reason) when it cannot be tried."""
    first, others = programs(fault.file, options)
    # Scripts start other programs, which takes time.
    first = sorted(first, key=lambda path: (is_live(path), path[-2:] != ".c", tree.seconds.get(path) or 0))
    text = tree.read(fault.file)
    for path in [*first, *others]:
        if path not in tree.seconds:
            tree.write(fault.file, text)
        if not tree.passes(path):
            continue
        if tree.read(fault.file) == text:
            tree.put(fault)
        reason = tree.make(*tree.targets(path))
        broken = bool(reason)
        reason = reason or tree.run(path, max(LEAST_SECONDS, SLACK * tree.seconds[path]))
        if reason:
            tree.write(fault.file, text)
            return None if broken else path, reason
    tree.write(fault.file, text)
    return None, None


def logged(path):
    """{name: whether it was found} of the faults that have a verdict in a log."""
    if not path or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return {name: verdict == "found" for verdict, name in VERDICT.findall(file.read())}


def cost(fault, options):
    """Sorts faults: those that units find first, and those of a file together."""
    first = programs(fault.file, options)[0]
    return (min(((is_live(path), path[-2:] != ".c") for path in first), default=(True, True)), fault.file)


def mutate(tree, chosen, options):
    known = logged(options.log)
    verdicts = {fault.name: known[fault.name] for fault in chosen if fault.name in known}
    with open(options.log or os.devnull, "a", encoding="utf-8") as log:
        for fault in sorted(chosen, key=lambda fault: cost(fault, options)):
            if fault.name in verdicts:
                continue
            start = time.monotonic()
            path, reason = find(tree, fault, options)
            took = f"{time.monotonic() - start:.0f} s"
            verdicts[fault.name] = bool(path)
            if path:
                text = f"found     {fault.name}: {name_of(path)}: {reason} ({took})\n"
            else:
                verdict = "BROKEN" if reason else "SURVIVED"
                text = f"{verdict:9} {fault.name}: {fault.file} ({took})\n"
                text += "".join(f"    | {line}\n" for line in (reason or "").splitlines()[:8])
            for to in (sys.stdout, log):
                to.write(text)
                to.flush()
    found = sum(verdicts.values())
    print(f"{len(verdicts)} faults, {found} found, {len(verdicts) - found} survived")
    return 0 if found == len(verdicts) else 1


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
    for name in ("list", "placed", "check", "covering", "units"):
        parser.add_argument("--" + name, action="store_true")
    parser.add_argument("--log")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
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
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(prefix="stacktop-mutate-") as folder:
        tree = Tree(folder)
        return check(tree, chosen) if options.check else mutate(tree, chosen, options)


if __name__ == "__main__":
    sys.exit(main())
