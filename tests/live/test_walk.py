#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 400 s
"""Walks the stacks of real programs built without frame pointers: interpreters, a compressor, a
compiler, a JIT, and a program with only one true stack. A walk counts as complete when stacktop says so
AND its outermost frame is where the ABI starts a thread. Leaf functions are compared with perf's in the
same seconds, and the number of samples with the program's CPU time. All programs run and are sampled at
once.

Covers: unwind/step.h bpf/prog/walker.bpf.h bpf/prog/profiler.bpf.c bpf/prog/sample.bpf.h
Covers: tui/symbolize/resolver.c tui/collect/stackcache.c"""

import bisect
import collections
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import watch  # noqa: E402

HERTZ = live.hertz(3999)
ENOUGH = 4000 if os.environ.get("SIZE") == "full" else 1800  # user stacks per program
COMPLETE = 0.99
GUESSED = 0.005  # of a refresh, once the code that a program makes is known
SIGMAS = 4.0    # of the difference between two independent samples
POINTS = 1.0    # added for the ends of the window
BUSY = 0.3      # seconds of CPU time before sampling begins
# Copies that the compiler made of a function: perf drops the suffix where it demangles the name.
COPY = re.compile(r"(\.(isra|part|constprop|cold|lto_priv)(\.\d+)?)+$")
# Names in glibc and musl; a function that is not in .dynsym is libc.so.6+0x...
BOTTOMS = {"_start", "clone", "clone3", "__clone", "__clone3", "_dl_start_user"}

PYTHON = """
class Shape:
    def __init__(self, n):
        self.n = n
    def area(self):
        return sum(i * i % 7 for i in range(self.n))
def inner(n):
    return sorted([str(i * 7919 % 1000) for i in range(n)], key=lambda s: s[::-1])
def outer(n):
    return len(inner(n)) + Shape(n).area()
while True:
    outer(500)
"""
PERL = """
sub inner { my $n = shift; my %h; $h{$_ % 97} .= "x$_" for 1 .. $n; return join ",", map { $h{$_} } sort keys %h }
sub outer { my $s = inner(shift); my $c = 0; $c += length $1 while $s =~ /(x\\d+)/g; return $c }
outer(300) while 1;
"""
NODE = """
function leaf(a, i) { return (a * 31 + i) | 0 }
function middle(n) { let s = 0; for (let i = 0; i < n; i++) s = leaf(s, i); return s }
function deep(d, n) { return d ? deep(d - 1, n) + 1 : middle(n) }
function mixed(n) {
  const list = Array.from({ length: n }, (_, i) => ({ key: leaf(i, n) % 100, text: 'x' + i }));
  list.sort((a, b) => a.key - b.key || (a.text < b.text ? -1 : 1));
  return JSON.stringify(list).replace(/x(\\d+)/g, (m, d) => d).length;
}
for (;;) { deep(40, 20000); mixed(300) }
"""


def big_source(functions):
    """C code that keeps the compiler busy, the same in every run."""
    parts = ["struct s { int a, b; double d; struct s *next; };"]
    for i in range(functions):
        more = f" + f{i - 1}(p, n - 1)" if i else ""
        parts.append(f"""int f{i}(struct s *p, int n)
{{
	int r = {i}; double d = 0;
	for (int i = 0; i < n; i++) {{
		switch ((p->a + i) % 7) {{
		case 0: r += p->b * {i + 3}; break;
		case 1: r ^= p->a << (i & 7); d += p->d; break;
		case 2: if (p->next) p = p->next; break;
		case 3: p->b = r; break;
		default: for (int j = 0; j < (r & 15); j++) r = r * 31 + j;
		}}
	}}
	return r + (int)d{more};
}}""")
    return "\n".join(parts)


def big_text(size):
    """Text that compresses like a log."""
    pick = random.Random(90)
    words = ["%x" % pick.getrandbits(pick.choice((12, 20, 44))) for _ in range(5000)]
    text = " ".join(pick.choices(words, k=size // 5))
    return text[:size]


def workloads(scratch):
    """Yields (name, command or None, reason for None) of each program."""
    def path(name):
        return os.path.join(scratch, name)

    def found(name, program, *arguments):
        return (name, [program, *arguments] if program else None, "not installed")

    def script(name, text):
        with open(path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return path(name)

    system_python = "/usr/bin/python3"
    yield found("python3", system_python if os.access(system_python, os.X_OK) else
                shutil.which("python3"), script("busy.py", PYTHON))
    yield found("perl", shutil.which("perl"), script("busy.pl", PERL))
    yield found("node", shutil.which("node"), script("busy.js", NODE))
    yield found("xz", shutil.which("xz"), "-6", "-T1", "-c",
                *[script("text", big_text(1 << 20))] * 400)
    cc1 = None
    if shutil.which("gcc"):
        cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True,
                             check=False).stdout.strip()
    yield found("cc1", cc1 if cc1 and os.path.isabs(cc1) else None, "-quiet", "-O2",
                script("big.c", big_source(2000)), "-o", "/dev/null")
    for name in ("deep90", "deep90.static"):
        program = os.path.join(live.WORK, name)
        yield found(name, program if os.access(program, os.X_OK) else None, "600")


def starts_thread(frame, command):
    """True if the ABI starts a thread in this function."""
    if frame in BOTTOMS:
        return True
    module, _, offset = frame.rpartition("+0x")
    if re.fullmatch(r"libc\.so\.6|ld-linux-x86-64\.so\.2|libc\.musl-\S+|ld-musl-\S+", module):
        return True
    if module != os.path.basename(os.path.realpath(command[0])):
        return False
    header = subprocess.run(["readelf", "-hW", command[0]], capture_output=True, text=True,
                            check=False).stdout
    entry = re.search(r"Entry point address:\s+0x([0-9a-f]+)", header)
    return bool(entry) and 0 <= int(offset, 16) - int(entry.group(1), 16) < 64


class CpuTime(threading.Thread):
    """Records the CPU time of processes over time."""

    def __init__(self, pids):
        super().__init__(daemon=True)
        self.known = {pid: [] for pid in pids}  # (time of day, seconds)
        self.over = threading.Event()

    def look(self):
        for pid, points in self.known.items():
            before, spent = time.time(), watch.spent(pid)
            if spent is not None:
                points.append(((before + time.time()) / 2, spent))

    def run(self):
        while not self.over.wait(0.05):
            self.look()

    def end(self):
        self.over.set()
        self.join()
        self.look()

    def at(self, pid, moment):
        points = self.known[pid]
        place = min(max(bisect.bisect([when for when, _ in points], moment), 1), len(points) - 1)
        (t0, s0), (t1, s1) = points[place - 1:place + 1]
        return s0 + (s1 - s0) * min(max((moment - t0) / (t1 - t0), 0), 1)


class Perf:
    """perf record of processes; its window is longer than the compared one."""

    def __init__(self, pids, data):
        self.data = data
        self.offset = time.time() - live.kernel_clock()
        self.process = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", HERTZ,
                                         "-k", "CLOCK_MONOTONIC", "-p", ",".join(map(str, pids)),
                                         "-o", data], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def samples(self):
        """Yields (pid, time of day, name of the leaf function); without a name, its module's."""
        text = subprocess.run(["perf", "script", "-i", self.data, "-F", "pid,time,ip,sym,dso"],
                              capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, check=False).stdout
        for line in text.splitlines():
            match = re.match(r"\s*(\d+)\s+([\d.]+):\s+[0-9a-f]+ (.*) \((.*)\)$", line)
            if not match:
                continue
            pid, moment, name, module = match.groups()
            if name == "[unknown]":
                anonymous = re.match(r"\[JIT\]|//anon|\[unknown\]|(/tmp/)?perf-\d+\.map|anon", module)
                name = "[jit]" if anonymous else os.path.basename(module)
            name = re.sub(r"@@?[A-Z]+_[\d.]+$", "", name)
            yield int(pid), float(moment) + self.offset, COPY.sub("", name)


class Program:
    """A workload and its samples."""

    def __init__(self, name, command):
        self.name, self.command = name, command
        self.process = None
        self.stacks = collections.Counter()
        self.ours, self.theirs = collections.Counter(), collections.Counter()  # leaf functions
        self.spent = 0.0    # seconds of CPU time in the window
        self.missed = 0.0   # the missed part of the machine's ticks in it

    def add(self, pid, user, kernel, samples, made):
        if pid == self.process.pid:
            if user:
                self.stacks[user] += samples
            leaf = re.sub(r"\+0x[0-9a-f]+$", "", (kernel or user or ("?",))[-1])
            if not kernel and leaf in made:     # perf has no name for it
                leaf = "[jit]"
            self.ours[COPY.sub("", leaf)] += samples

    def total(self):
        return sum(self.stacks.values())


def allowed(p, counts):
    """Percentage points between two shares of about p, with this many samples each."""
    return 100 * SIGMAS * (p * (1 - p) * sum(1 / n for n in counts)) ** 0.5 + POINTS


def check_leaves(tap, program):
    counts = [sum(program.ours.values()), sum(program.theirs.values())]
    if min(counts) < ENOUGH // 2:
        tap.ok(False, f"{program.name}: perf has samples", str(counts))
        return
    share = [{leaf: n / total for leaf, n in leaves.items()}
             for leaves, total in zip((program.ours, program.theirs), counts)]
    top = {leaf for one in share for leaf in sorted(one, key=one.get)[-3:]}
    rows = []
    for leaf in top:
        ours, theirs = (one.get(leaf, 0) for one in share)
        pooled = (ours * counts[0] + theirs * counts[1]) / sum(counts)
        bound = allowed(pooled, counts)
        rows.append((100 * abs(ours - theirs) / bound, leaf, 100 * ours, 100 * theirs, bound))
    worst = max(rows)
    tap.ok(worst[0] <= 1, f"{program.name}: leaf functions as in perf",
           "most different: {1} {2:.1f} % against {3:.1f} %, {4:.1f} points are allowed"
           .format(*worst))


def check_chain(tap, program):
    """deep90's stack is known frame by frame."""
    chain = ("main", *(f"f{i:02}" for i in range(90)))
    right = sum(samples for user, samples in program.stacks.items()
                if user[0] == "_start" and "main" in user and user[user.index("main"):] == chain)
    tap.ok(right >= COMPLETE * program.total() > 0, f"{program.name}: exactly main;f00;...;f89",
           f"{right} of {program.total()}")


def check(tap, program, have_perf):
    total, name = program.total(), program.name
    # It always computes, so each tick while it had a CPU is a sample, unless the tick was missed.
    share = sum(program.ours.values()) / (program.spent * int(HERTZ) or 1)
    tap.ok(program.process.poll() is None and total >= ENOUGH and 0.75 * (1 - program.missed) < share < 1.25,
           f"{name}: sampled while busy",
           f"{total} user stacks; {100 * share:.0f} % of {program.spent:.2f} s of CPU time")
    broken = collections.Counter()
    wrong = collections.Counter()
    for user, samples in program.stacks.items():
        if user[0].startswith("["):
            broken[f"{user[0]} below {user[1] if len(user) > 1 else '?'}"] += samples
        elif not starts_thread(user[0], program.command):
            wrong[user[0]] += samples
    good = total - sum(broken.values()) - sum(wrong.values())
    tap.ok(total and good / total >= COMPLETE, f"{name}: complete user stacks",
           f"{100.0 * good / (total or 1):.2f} %")
    for reason, samples in broken.most_common(5):
        tap.note(f"  {samples} {reason}")
    for frame, samples in wrong.most_common(5):
        tap.note(f"  {samples} begin with {frame}")
    if name.startswith("deep90"):
        check_chain(tap, program)
    if have_perf:
        check_leaves(tap, program)
    else:
        tap.skip(f"{name}: leaf functions as in perf", "perf is missing")


def code_is_known(part, programs):
    """True when code made at run time has rows in every program: until then each sample may show a place
    that has none yet, and its stack is guessed."""
    guessed, total = collections.Counter(), collections.Counter()
    for pid, user, _, samples in part.stacks():
        if user:
            total[pid] += samples
            guessed[pid] += samples * (user[0] == "[guessed]")
    return all(total[pid] >= ENOUGH // 30 and guessed[pid] <= GUESSED * total[pid]
               for pid in (program.process.pid for program in programs))


def sample(programs, perf, cpu):
    """Samples until each has enough, which halts it. Leaves and CPU time count only within perf's window."""
    pids = [program.process.pid for program in programs]
    parts, awaited = [], list(programs)

    def enough(part):
        parts.append(part)
        made = part.made()
        for row in part.stacks():
            for program in programs:
                program.add(*row, made)
        for program in [program for program in awaited if program.total() >= ENOUGH]:
            awaited.remove(program)
            os.kill(program.process.pid, signal.SIGSTOP)
        return not awaited

    with watch.Watch("-d", "0.5", "-F", HERTZ, "--no-inline", "-p", ",".join(map(str, pids)), first=True) as top:
        top.next()
        watch.resume(pids)
        top.until_tables(watch.PATIENCE)
        top.until(lambda part: code_is_known(part, programs))
        top.until(enough)
        if perf:
            perf.end()
        cpu.end()
    for program in programs:
        pid = program.process.pid
        program.spent = sum(cpu.at(pid, part.end) - cpu.at(pid, part.begin) for part in parts)
        program.missed = sum(part.report["losses"]["missed"] for part in parts) / \
            max(sum(part.report["ticks"] for part in parts), 1)
    known = {program.process.pid: program for program in programs}
    window = [(part.begin, part.end) for part in parts]
    for pid, moment, leaf in perf.samples() if perf else ():
        if pid in known and any(begin <= moment < end for begin, end in window):
            known[pid].theirs[leaf] += 1
    return top


def perf_works(scratch):
    if not shutil.which("perf"):
        return False
    return subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-o",
                           os.path.join(scratch, "perf.data"), "true"], capture_output=True,
                          check=False).returncode == 0


def main():
    tap = live.Tap()
    live.need(tap)
    programs = []
    with tempfile.TemporaryDirectory(prefix="stacktop-walk-") as scratch, \
            contextlib.ExitStack() as running:
        have_perf = perf_works(scratch)
        for name, command, why in workloads(scratch):
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            if command:
                programs.append(Program(name, command))
            else:
                tap.skip(name, why)
        for program in programs:
            program.process = running.enter_context(
                live.Load(program.command, stderr=subprocess.DEVNULL))
        pids = [program.process.pid for program in programs]
        watch.until_busy(pids, BUSY, halt=True)
        cpu = CpuTime(pids)
        cpu.start()
        perf = Perf(pids, os.path.join(scratch, "perf.data")) if have_perf else None
        top = sample(programs, perf, cpu)
        tap.ok(top.close() == 0, "stacktop samples them all", top.said().strip()[-300:])
        for program in programs:
            check(tap, program, have_perf)
    tap.done()


if __name__ == "__main__":
    main()
