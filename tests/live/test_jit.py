#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""Names of code that processes make while they run: a program that knows its own (jitnames.c), also in
PID and mount namespaces of its own, then node, python3 and java, whose names are compared with what
perf makes of the same files.

Covers: symbols/perfmap.c symbols/jitdump.c symbols/procfile.c symbols/livethread.c tui/jit.c
Covers: tui/earlyfiles.c
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

JITNAMES = os.path.join(live.WORK, "jitnames")
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "jitnames.js")
OUTER, INNER = "Outer main.x:1", re.compile(r"Inner (\d+) main\.x:7")
HOT = {name: re.compile(rf"JS:\S?hot{name} /.*jitnames\.js:\d+:\d+$") for name in ("Inner", "Outer")}


def user_stacks(pid, seconds=3, slices=1, hertz=99):
    """Stacks of user frames and their samples, and each slice's leaves with theirs."""
    text = live.stacktop("-b", "-K", "--format=folded", "-d", str(seconds / slices), "-n",
                         str(slices), "-F", str(hertz), "-p", str(pid))[0]
    stacks = collections.Counter()
    for user, _, count in live.folded(text):
        stacks[tuple(frame.removesuffix("_[j]") for frame in user)] += count
    return stacks


def leaves(stacks):
    found = collections.Counter()
    for stack, count in stacks.items():
        if stack:
            found[stack[-1]] += count
    return found


def share(counts, condition):
    total = sum(counts.values())
    return sum(n for key, n in counts.items() if condition(key)) / total if total else 0.0


def wait_for(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    return None


def is_named(stack):
    """The program's own two functions below main, in this order."""
    return len(stack) >= 3 and stack[-3:-1] == ("main", OUTER) and INNER.fullmatch(stack[-1])


def test_own_names(tap):
    with tempfile.TemporaryDirectory() as folder:
        for way in ("map", "dump"):
            with live.Load([JITNAMES, way], cwd=folder) as process:
                time.sleep(0.3)
                stacks = user_stacks(process.pid, 4, hertz=499)
                good = share(stacks, lambda s: is_named(s) or (s[-1:] == (OUTER,)))
                tap.ok(good > 0.97 and sum(stacks.values()) > 50, f"{way}: main, Outer, Inner",
                       f"{good:.3f} of {sum(stacks.values())}: {stacks.most_common(3)}")
            if way == "map":
                os.unlink(f"/tmp/perf-{process.pid}.map")


def test_short(tap):
    """A process that is gone for seconds when its slice is named, but left its files open to us."""
    for way in ("map", "dump"):
        with tempfile.TemporaryDirectory() as folder:
            pidfile = os.path.join(folder, "pid")
            script = f"cd '{folder}'; '{JITNAMES}' {way} 2 & echo $! >pid; wait; exec sleep 3"
            text = live.stacktop("-b", "-K", "--format=folded", "-d", "20", "-n", "1", "--", "sh",
                                 "-c", script)[0]
            with open(pidfile, encoding="ascii") as file:
                pid = int(file.read())
        if way == "map":
            os.unlink(f"/tmp/perf-{pid}.map")
        found = collections.Counter()
        for line in text.splitlines():
            stack, _, count = line.rpartition(" ")
            frames = [frame.removesuffix("_[j]") for frame in stack.split(";")]
            if frames[0] == "jitnames":
                found[frames[-1]] += int(count)
        good = share(found, lambda leaf: leaf == OUTER or INNER.fullmatch(leaf))
        tap.ok(good > 0.9 and sum(found.values()) > 15, f"{way}: of a process that is gone",
               f"{good:.3f} of {sum(found.values())}: {found.most_common(4)}")


def test_renewed(tap):
    """The same address is another function after a second: each slice has the name that was last
    told, so the numbers go up."""
    with live.Load([JITNAMES, "map"]) as process:
        text = live.stacktop("-b", "-K", "-d", "1", "-n", "6", "-p", str(process.pid))[0]
    os.unlink(f"/tmp/perf-{process.pid}.map")
    numbers = [int(n) for part in text.split("\nHottest functions")[1:]
               for n in INNER.findall(part)[:1]]
    tap.ok(len(numbers) == 6 and numbers == sorted(numbers) and numbers[-1] - numbers[0] >= 1,
           "the last name told for an address wins", str(numbers))


def test_namespaces(tap):
    """In its own namespaces the process is number 1 or so and has a /tmp of its own. What the same
    names mean outside is somebody else's."""
    decoys = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder, \
            live.Load(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
                       f"mount -t tmpfs none /tmp && exec '{shutil.copy(JITNAMES, folder)}' map"]
                      ) as parent:
        def child():
            with open(f"/proc/{parent.pid}/task/{parent.pid}/children", encoding="ascii") as file:
                for pid in file.read().split():
                    with open(f"/proc/{pid}/comm", encoding="ascii") as comm:
                        if comm.read().strip() == "jitnames":
                            return int(pid)
            return None
        pid = wait_for(child)
        if not pid:
            tap.skip("namespaces", "unshare failed")
            return
        for number in (pid, 1):
            path = f"/tmp/perf-{number}.map"
            if not os.path.exists(path):
                decoys.append(path)
                with open(path, "w", encoding="ascii") as file:
                    file.write("0 7fffffffffff decoy\n")
        try:
            stacks = user_stacks(pid)
        finally:
            for path in decoys:
                os.unlink(path)
    good = share(stacks, lambda s: is_named(s) or (s[-1:] == (OUTER,)))
    tap.ok(good > 0.97 and sum(stacks.values()) > 50, "own PID and mount namespace",
           f"{good:.3f} of {sum(stacks.values())}: {stacks.most_common(2)}")


def test_mistrust(tap):
    """Nobody else's file is believed."""
    with live.Load([JITNAMES, "map", "30", "12345"]) as process:
        time.sleep(0.3)
        stacks = user_stacks(process.pid, 4, hertz=499)
    os.unlink(f"/tmp/perf-{process.pid}.map")
    found = leaves(stacks)
    tap.ok(share(found, lambda leaf: leaf == "[jit]") > 0.97 and sum(found.values()) > 30,
           "another user's map is not read", str(found.most_common(2)))


def test_node(tap):
    if not shutil.which("node"):
        tap.skip("node", "not installed")
        return
    for option in ("--perf-basic-prof", "--perf-prof"):
        with tempfile.TemporaryDirectory() as folder, \
                live.Load(["node", "--allow-natives-syntax", option, SCRIPT],
                          cwd=folder) as process:
            time.sleep(2)
            stacks = user_stacks(process.pid, 4, hertz=499)
        try:
            os.unlink(f"/tmp/perf-{process.pid}.map")
        except FileNotFoundError:
            pass
        inner = {s: n for s, n in stacks.items() if s and HOT["Inner"].match(s[-1])}
        good = share(inner, lambda s: HOT["Outer"].match(s[-2]))
        tap.ok(good > 0.99 and sum(inner.values()) > 40,
               f"node {option}: hotOuter calls hotInner",
               f"{good:.3f} of {sum(inner.values())}: {leaves(stacks).most_common(3)}")


def perf_leaves(pid, folder, seconds):
    """Names of leaves by perf, in the background; call what is returned for them."""
    data = os.path.join(folder, "perf.data")
    record = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "99", "-p",
                               str(pid), "-o", data, "--", "sleep", str(seconds)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)

    def collect():
        record.wait(60)
        text = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym"], capture_output=True,
                              text=True, timeout=60, check=False).stdout
        return collections.Counter(line.split(None, 1)[1].strip() for line in text.splitlines()
                                   if len(line.split(None, 1)) == 2)
    return collect


def test_perf_agrees(tap):
    """The same seconds of the same process by perf report's own reading of the same map."""
    if not (shutil.which("node") and shutil.which("perf")):
        tap.skip("perf", "node or perf is not installed")
        return
    with tempfile.TemporaryDirectory() as folder, \
            live.Load(["node", "--allow-natives-syntax", "--perf-basic-prof", SCRIPT],
                      cwd=folder) as process:
        time.sleep(2)
        collect = perf_leaves(process.pid, folder, 5)
        ours = leaves(user_stacks(process.pid, 5))
        theirs = collect()
    os.unlink(f"/tmp/perf-{process.pid}.map")
    if sum(theirs.values()) < 50:
        tap.skip("perf", "it took no samples")
        return
    names = {name for name in ours | theirs if HOT["Inner"].match(name)}
    apart = [(name, share(ours, name.__eq__), share(theirs, name.__eq__)) for name in names]
    tap.ok(names and all(abs(a - b) < 0.2 and a > 0 and b > 0 for _, a, b in apart if a + b > 0.2),
           "perf has the same names in the same places", str(apart))


def test_python(tap):
    """Python 3.12 and later write a perf map; each function has a trampoline of its own."""
    python = next((path for path in map(shutil.which, ("python3.13", "python3.12", "python3"))
                   if path and subprocess.run(
                       [path, "-X", "perf", "-c", "import sys; sys.activate_stack_trampoline"],
                       capture_output=True, check=False).returncode == 0), None)
    if not python:
        tap.skip("python", "no python3 with -X perf")
        return
    program = ("def leaf():\n    s = 0\n    for i in range(100000): s += i\n"
               "def caller():\n    leaf()\n"
               "while True: caller()\n")
    with live.Load([python, "-X", "perf", "-c", program]) as process:
        time.sleep(1)
        stacks = user_stacks(process.pid, 3)
        pid = process.pid
    if os.path.exists(f"/tmp/perf-{pid}.map"):
        os.unlink(f"/tmp/perf-{pid}.map")

    # Whether the walk goes on beyond the trampoline depends on how the interpreter was compiled.
    def in_leaf(stack):
        return [name.split(":")[2] for name in stack if name.startswith("py::")][-1:] == ["leaf"]
    good = share(stacks, in_leaf)
    tap.ok(good > 0.9 and sum(stacks.values()) > 30, "python -X perf: it spins in leaf",
           f"{good:.3f} of {sum(stacks.values())}: {stacks.most_common(1)}")


JAVA = """
public class Spin {
    static int leaf(int n) { int s = n; for (int i = 0; i < n; i++) s = s * 31 + i; return s; }
    static int caller(int n) { int s = 0; for (int i = 0; i < 50; i++) s ^= leaf(n + i); return s; }
    static int sink;
    public static void main(String[] args) { for (;;) sink ^= caller(20000); }
}
"""


def test_java(tap):
    """The JVM writes its map when it is asked to, and anew each time."""
    if not (shutil.which("java") and shutil.which("javac") and shutil.which("jcmd")):
        tap.skip("java", "no JDK")
        return
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "Spin.java"), "w", encoding="ascii") as file:
            file.write(JAVA)
        subprocess.run(["javac", "-d", folder, file.name], check=True, capture_output=True)
        with live.Load(["java", "-XX:+PreserveFramePointer", "-cp", folder,
                        "-XX:CompileCommand=dontinline,Spin::leaf", "Spin"],
                       stderr=subprocess.DEVNULL) as process:
            time.sleep(3)
            before = leaves(user_stacks(process.pid, 1))
            done = subprocess.run(["jcmd", str(process.pid), "Compiler.perfmap"],
                                  capture_output=True, text=True, timeout=60, check=False)
            path = f"/tmp/perf-{process.pid}.map"
            if done.returncode or not os.path.exists(path):
                tap.skip("java", "this JVM has no Compiler.perfmap")
                return
            stacks = user_stacks(process.pid, 3)
        os.unlink(path)
    named = share(stacks, lambda s: s and "Spin.leaf(" in s[-1])
    tap.ok(share(before, "[jit]".__eq__) > 0.8, "java: no names before it is asked",
           str(before.most_common(2)))
    tap.ok(named > 0.8 and sum(stacks.values()) > 30, "java: Spin.leaf after jcmd",
           f"{named:.3f} of {sum(stacks.values())}: {stacks.most_common(1)}")


def main():
    tap = live.Tap()
    live.need_root(tap)
    test_own_names(tap)
    test_short(tap)
    test_renewed(tap)
    test_namespaces(tap)
    test_mistrust(tap)
    test_node(tap)
    test_perf_agrees(tap)
    test_python(tap)
    test_java(tap)
    tap.done()


if __name__ == "__main__":
    main()
