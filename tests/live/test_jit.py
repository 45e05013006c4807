#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 600 s
"""Names of code that processes make at run time: a program that knows its own names (jitnames.c), also
in its own PID and mount namespaces, then node, python3 and java, compared with the names that perf
reads from the same files.

Covers: symbols/names/perfmap.c symbols/names/jitdump.c symbols/files/procfile.c symbols/files/rootfile.c tui/symbolize/jit.c
Covers: tui/collect/collector_post.c
"""

import collections
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import watch  # noqa: E402

JITNAMES = os.path.join(live.WORK, "jitnames")
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "jitnames.js")
OUTER, INNER = "Outer main.x:1", re.compile(r"Inner (\d+) main\.x:7")
REWRITTEN = "[rewritten code]"      # where the old or the new code may be meant
HOT = {name: f"hot{name}" for name in ("Inner", "Outer")}
V8_NAME = re.compile(r"JS:[~^+*]?'?(\S+) /.*jitnames\.js:\d+:\d+$")  # as the map has it


ENOUGH = 300        # samples per process
BUSY = 0.1          # seconds of CPU time, until it spins
COMPILED = 1.0      # ... until V8 has compiled its code
HERTZ = live.hertz(1999)
LONG = "600"        # seconds until it ends by itself
OTHERS = {"map": 200000, "dump": 120000}    # functions in a large file, of 18 MB at least
TOLD = 1.5          # seconds of CPU time, until it has all of them
LATE = 4            # seconds from the end of processes to that of their refresh; of any, 3 are kept
RENEWED = 2         # names one after the other at one address, 1.5 seconds of CPU time each


def leaves(stacks):
    found = collections.Counter()
    for stack, count in stacks.items():
        if stack:
            found[stack[-1]] += count
    return found


def share(counts, condition):
    total = sum(counts.values())
    return sum(n for key, n in counts.items() if condition(key)) / total if total else 0.0


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    return None


def is_named(stack):
    """True when the program's own two functions are above main, in this order."""
    return len(stack) >= 3 and stack[-3:-1] == ("main", OUTER) and (
        INNER.fullmatch(stack[-1]) or stack[-1] == REWRITTEN)


class Subject:
    """A process that runs with the others, and the test of its stacks: judge(tap, stacks). Names are read
    beside the sampling: refreshes count from the first whose stacks are `known`."""

    def __init__(self, pid, judge, known=None, busy=BUSY):
        self.pid, self.judge, self.known, self.busy = pid, judge, known, busy
        self.stacks = collections.Counter()
        self.slices = []    # leaves of each refresh
        self.ended = False

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        self.ended = True

    def add(self, part):
        mine = collections.Counter()
        for pid, user, _, count in part.stacks():
            if pid == self.pid and user:
                mine[user] += count
        if self.known and not self.known(mine):
            return
        self.known = None
        self.stacks += mine
        self.slices.append(leaves(mine))

    def enough(self):
        return sum(self.stacks.values()) >= ENOUGH


def are_named(stacks):
    return any(OUTER in stack for stack in stacks) and "[jit]" not in leaves(stacks)


def unlink_map(pid):
    try:
        os.unlink(f"/tmp/perf-{pid}.map")
    except FileNotFoundError:
        pass


def unlink_dump(pid):
    try:
        os.unlink(f"/tmp/jit-{pid}.dump")
    except FileNotFoundError:
        pass


class Stage:
    """The processes, running until all are judged."""

    def __init__(self):
        self.running = contextlib.ExitStack()
        self.subjects = []

    def __enter__(self):
        return self

    def folder(self, **options):
        return self.running.enter_context(tempfile.TemporaryDirectory(**options))

    def start(self, command, **options):
        process = self.running.enter_context(live.Load(command, **options))
        self.running.callback(unlink_map, process.pid)
        return process

    def add(self, pid, judge, **how):
        subject = Subject(pid, judge, **how)
        self.subjects.append(subject)
        return subject

    def __exit__(self, *why):
        self.running.__exit__(*why)


def add_own_names(stage):
    def judge(way):
        def check(tap, subject):
            good = share(subject.stacks, lambda s: is_named(s) or (s[-1:] == (OUTER,)))
            tap.ok(good > 0.97, f"{way}: main, Outer, Inner",
                   f"{good:.3f} of {sum(subject.stacks.values())}: {subject.stacks.most_common(3)}")
            if way == "map":
                check_renewed(tap, subject)
        return check

    for way in ("map", "dump"):
        stage.add(stage.start([JITNAMES, way, LONG], cwd=stage.folder()).pid, judge(way), known=are_named)


def check_renewed(tap, subject):
    """One address gets a new function after a while. Each refresh has the name that was valid then, or
    says that the code was rewritten, so the numbers ascend."""
    both = [part for part in subject.slices if REWRITTEN in part and any(map(INNER.fullmatch, part))]
    tap.ok(not both and any(REWRITTEN in part for part in subject.slices),
           "a refresh in which it changed has neither name", str(both[:1]))
    numbers = [int(INNER.fullmatch(leaf).group(1)) for part in subject.slices
               for leaf, _ in part.most_common() if INNER.fullmatch(leaf)]
    tap.ok(numbers == sorted(numbers) and len(set(numbers)) >= RENEWED,
           "the last name told for an address wins", str(numbers))


def test_short(tap):
    """Processes that ended before their slice is named; stacktop still holds their files open."""
    with tempfile.TemporaryDirectory() as folder:
        script = (f"cd '{folder}'; for way in map dump; do '{JITNAMES}' $way 1 & echo $! >$way; done; "
                  f"wait; exec sleep {LATE}")
        text = live.stacktop("-b", "--format=json", "-K", "-F", HERTZ, "-d", "300", "-n", "1", "--", "sh",
                             "-c", script, timeout=watch.PATIENCE)[0]
        pids = {}
        for way in ("map", "dump"):
            with open(os.path.join(folder, way), encoding="ascii") as file:
                pids[way] = int(file.read())
    unlink_map(pids["map"])
    for way, pid in pids.items():
        subject = Subject(pid, None)
        for line in text.splitlines():
            subject.add(watch.Slice(json.loads(line)))
        found = leaves(subject.stacks)
        good = share(found, lambda leaf: leaf == OUTER or INNER.fullmatch(leaf))
        tap.ok(good > 0.9 and sum(found.values()) > 15, f"{way}: of a process that has ended",
               f"{good:.3f} of {sum(found.values())}: {found.most_common(4)}")


def helpers_of(pid):
    """The processes that open files for stacktop: the children of its child."""
    parents = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            parents[int(path.split("/")[2])] = int(file.read().rpartition(")")[2].split()[1])
    return [one for one, parent in parents.items() if parents.get(parent) == pid]


def test_large(tap):
    """The first report names the functions of a large file, of root and of another user, here and
    in another mount namespace."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chmod(folder, 0o1777)
        program = shutil.copy(JITNAMES, folder)
        apart = ["unshare", "--mount", "sh", "-c",
                 f"mount -t tmpfs -o mode=1777 none /tmp && cd {folder} && exec \"$@\"", "sh"]
        nobody = ["setpriv", "--reuid=65534", "--clear-groups"]
        for what, before, way in (("map", [], "map"), ("dump", [], "dump"), ("another user's map", nobody, "map"),
                                  ("map in another mount namespace", apart, "map"),
                                  ("another user's map there", apart + nobody, "map")):
            env = {**os.environ, "OTHERS": str(OTHERS[way])}
            with live.Load([*before, program, way, LONG], cwd=folder, env=env) as process:
                live.wait_busy([process.pid], TOLD)
                text = live.stacktop("-b", "-K", "--format=folded", "-d", "0.5", "-n", "1", "-p", str(process.pid))[0]
                tap.ok(OUTER in text and "[jit]" not in text, f"large {what}", text[:300])
                unlink_map(process.pid)


def test_late(tap):
    """The perf map of a process in another mount namespace cannot be asked for in time, since the
    processes that do so are stopped: it is read on where it is open."""
    what = "a map in another mount namespace is read on"
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        program = shutil.copy(JITNAMES, folder)
        with live.Load(["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /tmp && "
                        f"exec '{program}' map {LONG}"]) as process:
            if not live.wait_for(lambda: process.poll() is not None or
                                 os.path.exists(f"/proc/{process.pid}/root/tmp/perf-{process.pid}.map")) or \
                    process.poll() is not None:
                return tap.skip(what, "unshare failed")
            with live.Stream("-K", "-d", "0.5", "-p", str(process.pid)) as stream:
                named = stream.until(lambda slices: slices and any(OUTER in stack[2] for stack in slices[-1].stacks))
                helpers = helpers_of(stream.pid)
                for helper in helpers:
                    os.kill(helper, signal.SIGSTOP)
                found = collections.Counter()
                for part in stream.more(4):
                    found += leaves({tuple(stack[2]): stack[4] for stack in part.stacks})
                for helper in helpers:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(helper, signal.SIGCONT)
                stream.stop()
    return tap.ok(named and helpers and any(map(INNER.fullmatch, found)) and "[jit]" not in found, what,
                  f"{len(helpers)} helpers, {found.most_common(3)}")


def add_memory(stage):
    """Code in a file that is no ELF file is named as in anonymous memory, never by the file."""
    def judge(memory, way):
        def check(tap, subject):
            if way == "none":
                found = leaves(subject.stacks)
                good = share(found, "[jit]".__eq__)
            else:
                good = share(subject.stacks, lambda s: is_named(s) or (s[-1:] == (OUTER,)))
            tap.ok(good > 0.97, f"code in {memory}, {way}",
                   f"{good:.3f} of {sum(subject.stacks.values())}: {subject.stacks.most_common(2)}")
        return check

    for memory, way in (("memfd", "map"), ("memfd", "none"), ("file", "dump"), ("zero", "map"),
                        ("sysv", "map")):
        # Of a new IPC namespace, whose first segment has inode 0.
        command = ["unshare", "--ipc"] if memory == "sysv" else []
        pid = stage.start([*command, JITNAMES, way, LONG], cwd=stage.folder(),
                          env={**os.environ, "MEMORY": memory}).pid
        stage.add(pid, judge(memory, way), known=are_named if way != "none" else None)


def add_namespaces(stage, way):
    """In its own namespaces the process has a low PID and its own /tmp. Outside, the same file names
    are those of other processes."""
    parent = stage.start(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
                          "mount -t tmpfs none /tmp && cd /tmp && exec "
                          f"'{shutil.copy(JITNAMES, stage.folder(dir='/var/tmp'))}' {way} {LONG}"])

    def child():
        with open(f"/proc/{parent.pid}/task/{parent.pid}/children", encoding="ascii") as file:
            for pid in file.read().split():
                with open(f"/proc/{pid}/comm", encoding="ascii") as comm:
                    if comm.read().strip() == "jitnames":
                        return int(pid)
        return None
    pid = wait_for(lambda: parent.poll() is not None or child())
    if not pid or parent.poll() is not None:
        return False
    for number in (pid, 1):
        path = f"/tmp/perf-{number}.map"
        if not os.path.exists(path):
            stage.running.callback(os.unlink, path)
            with open(path, "w", encoding="ascii") as file:
                file.write("0 7fffffffffff decoy\n")

    def judge(tap, subject):
        good = share(subject.stacks, lambda s: is_named(s) or (s[-1:] == (OUTER,)))
        tap.ok(good > 0.97, f"own PID and mount namespace, {way}",
               f"{good:.3f} of {sum(subject.stacks.values())}: {subject.stacks.most_common(2)}")
    stage.add(pid, judge, known=are_named)
    return True


def add_mistrust(stage):
    """Another user's file is not trusted."""
    def judge(tap, subject):
        found = leaves(subject.stacks)
        tap.ok(share(found, "[jit]".__eq__) > 0.97, "another user's map is not read",
               str(found.most_common(2)))
    stage.add(stage.start([JITNAMES, "map", LONG, "12345"]).pid, judge)


def add_node(stage):
    """One process for each option; returns the first."""
    def judge(option):
        def check(tap, subject):
            inner = {s: n for s, n in subject.stacks.items() if s and s[-1] == HOT["Inner"]}
            good = share(inner, lambda s: len(s) > 1 and s[-2] == HOT["Outer"])
            tap.ok(good > 0.99 and sum(inner.values()) > 0.3 * sum(subject.stacks.values()),
                   f"node {option}: hotOuter calls hotInner",
                   f"{good:.3f} of {sum(inner.values())}: {leaves(subject.stacks).most_common(3)}")
        return check

    return [stage.add(stage.start(["node", "--allow-natives-syntax", option, SCRIPT],
                                  cwd=stage.folder()).pid, judge(option), busy=COMPILED)
            for option in ("--perf-basic-prof", "--perf-prof")][0]


class Perf:
    """Leaf names of a process as perf report reads them from the same map."""

    def __init__(self, pid, folder):
        self.data = os.path.join(folder, "perf.data")
        self.record = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", HERTZ, "-p",
                                        str(pid), "-o", self.data], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(self):
        self.record.send_signal(signal.SIGINT)
        self.record.wait()

    def leaves(self):
        text = subprocess.run(["perf", "script", "-i", self.data, "-F", "ip,sym"],
                              capture_output=True, text=True, errors="replace", check=False).stdout
        return collections.Counter(V8_NAME.sub(r"\1", line.split(None, 1)[1].strip())
                                   for line in text.splitlines()
                                   if len(line.split(None, 1)) == 2)


def check_perf(tap, subject, perf):
    ours, theirs = leaves(subject.stacks), perf.leaves()
    if sum(theirs.values()) < ENOUGH // 2:
        tap.skip("perf", "it took no samples")
        return
    names = {name for name in ours | theirs if name == HOT["Inner"]}
    apart = [(name, share(ours, name.__eq__), share(theirs, name.__eq__)) for name in names]
    tap.ok(names and all(abs(a - b) < 0.2 and a > 0 and b > 0 for _, a, b in apart if a + b > 0.2),
           "perf has the same names in the same places", str(apart))


def add_python(stage):
    """Python 3.12 and later write a perf map; each function has its own trampoline."""
    python = next((path for path in map(shutil.which, ("python3.13", "python3.12", "python3"))
                   if path and subprocess.run(
                       [path, "-X", "perf", "-c", "import sys; sys.activate_stack_trampoline"],
                       capture_output=True, check=False).returncode == 0), None)
    if not python:
        return False
    program = ("def leaf():\n    s = 0\n    for i in range(100000): s += i\n"
               "def caller():\n    leaf()\n"
               "while True: caller()\n")

    # Whether the walk continues below the trampoline depends on how the interpreter was compiled.
    def in_leaf(stack):
        return [name.split(":")[2] for name in stack if name.startswith("py::")][-1:] == ["leaf"]

    def judge(option):
        def check(tap, subject):
            good = share(subject.stacks, in_leaf)
            tap.ok(good > 0.9, f"python -X {option}: it spins in leaf",
                   f"{good:.3f} of {sum(subject.stacks.values())}: {subject.stacks.most_common(1)}")
        return check

    stage.add(stage.start([python, "-X", "perf", "-c", program]).pid, judge("perf"))
    # 3.13 and later; a jitdump comes through a buffer of stdio, which other functions have to fill.
    fill = "for n in range(100): exec(f'def f{n}(): pass\\nf{n}()')\n"
    if subprocess.run([python, "-X", "perf_jit", "-c", "import sys; sys.exit(sys.version_info < (3, 13))"],
                      capture_output=True, check=False).returncode == 0:
        program = program.replace("while True", "leaf()\n" + fill + "while True")
        process = stage.start([python, "-X", "perf_jit", "-c", program])
        stage.running.callback(unlink_dump, process.pid)
        stage.add(process.pid, judge("perf_jit"))
    return True


def sample(stage, at_least=0, kept=None):
    """Samples until there is enough of each process, which ends then unless it is `kept`, and `at_least`
    names in turn at one address of the first."""
    pids = [subject.pid for subject in stage.subjects]

    def enough(part):
        for subject in stage.subjects:
            if not subject.ended:
                subject.add(part)
                if subject.enough() and subject not in (stage.subjects[0], kept):
                    subject.end()
        told = {leaf for one in stage.subjects[0].slices for leaf in one if INNER.fullmatch(leaf)}
        return all(subject.enough() for subject in stage.subjects) and len(told) >= at_least

    # A file that does not answer in time has no names in that refresh.
    with watch.Watch("-K", "-d", "0.5", "-F", HERTZ, "-p", ",".join(map(str, pids)), first=True) as top:
        for _ in range(2):
            top.next()
        watch.resume(pids)
        top.until_tables()
        top.until(enough)
    return top


def test_together(tap):
    """All cases at once that need not wait for an event."""
    with Stage() as stage:
        add_own_names(stage)
        if not all(add_namespaces(stage, way) for way in ("map", "dump")):
            tap.skip("namespaces", "unshare failed")
        add_memory(stage)
        add_mistrust(stage)
        node = add_node(stage) if shutil.which("node") else None
        if not node:
            tap.skip("node", "not installed")
        if not add_python(stage):
            tap.skip("python", "no python3 with -X perf")
        perf = None
        for busy in (BUSY, COMPILED):
            watch.until_busy([subject.pid for subject in stage.subjects if subject.busy == busy], busy, halt=True)
        if node and shutil.which("perf"):
            perf = Perf(node.pid, stage.folder())
        top = sample(stage, at_least=RENEWED, kept=node)
        if perf:
            perf.end()
        tap.ok(top.status == 0 and all(subject.enough() for subject in stage.subjects),
               "all are sampled", f"{[sum(s.stacks.values()) for s in stage.subjects]} {top.said()}")
        for subject in stage.subjects:
            subject.judge(tap, subject)
        if perf:
            check_perf(tap, node, perf)
        else:
            tap.skip("perf", "node or perf is not installed")


JAVA = """
public class Spin {
    static int leaf(int n) { int s = n; for (int i = 0; i < n; i++) s = s * 31 + i; return s; }
    static int caller(int n) { int s = 0; for (int i = 0; i < 50; i++) s ^= leaf(n + i); return s; }
    static int sink;
    public static void main(String[] args) { for (;;) sink ^= caller(20000); }
}
"""


def test_java(tap):
    """The JVM writes its map only on request, and anew each time."""
    if not (shutil.which("java") and shutil.which("javac") and shutil.which("jcmd")):
        tap.skip("java", "no JDK")
        return
    with Stage() as stage:
        folder = stage.folder()
        with open(os.path.join(folder, "Spin.java"), "w", encoding="ascii") as file:
            file.write(JAVA)
        subprocess.run(["javac", "-d", folder, file.name], check=True, capture_output=True)
        pid = stage.start(["java", "-XX:+PreserveFramePointer", "-cp", folder,
                           "-XX:CompileCommand=dontinline,Spin::leaf", "Spin"],
                          stderr=subprocess.DEVNULL).pid
        before, after = Subject(pid, None), Subject(pid, None)

        def compiled(part):
            """Stacks without those of the interpreter, which are not of compiled code."""
            one = Subject(pid, None)
            one.add(part)
            if share(one.stacks, in_leaf) > 0.8:
                before.add(part)
            return before.enough()

        def named(part):
            one = Subject(pid, None)
            one.add(part)
            if after.slices or share(one.stacks, in_leaf) > 0.8:
                after.add(part)
            return after.enough()

        def in_leaf(stack):
            return bool(stack) and stack[-1] == "Spin.leaf"

        with watch.Watch("-K", "-d", "0.5", "-F", HERTZ, "-p", str(pid)) as top:
            nameless = top.until(compiled)
            done = subprocess.run(["jcmd", str(pid), "Compiler.perfmap"], capture_output=True,
                                  text=True, timeout=watch.PATIENCE, check=False)
            if done.returncode or not os.path.exists(f"/tmp/perf-{pid}.map"):
                tap.skip("java", "this JVM has no Compiler.perfmap")
                return
            top.until(named, 60)
    tap.ok(nameless, "java: before jcmd, the names of its code cache", str(leaves(before.stacks).most_common(2)))
    good = share(after.stacks, in_leaf)
    tap.ok(good > 0.8 and after.enough(), "java: Spin.leaf after jcmd",
           f"{good:.3f} of {sum(after.stacks.values())}: {after.stacks.most_common(1)}")


def main():
    tap = live.Tap()
    live.need(tap)
    test_together(tap)
    test_short(tap)
    test_large(tap)
    test_late(tap)
    test_java(tap)
    tap.done()


if __name__ == "__main__":
    main()
