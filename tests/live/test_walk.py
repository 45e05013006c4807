#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 400 s
"""Walks the stacks of real programs that were built without frame pointers: interpreters, a
compressor, a compiler, a JIT, and a program whose only true stack is known. A walk counts when it
says that it is complete AND its outermost frame is where the ABI starts a thread. Leaf functions
are compared with what perf says of the same seconds.

Covers: unwind/step.h bpf/walker.bpf.h bpf/profiler.bpf.c tui/resolver.c tui/stackcache.c
"""

import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SECONDS = "3"
HERTZ = "999"
COMPLETE = 0.99
POINTS = 8.0
# Named by glibc and musl; without a name in .dynsym it is libc.so.6+0x...
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
    """C that keeps the compiler busy, the same in every run."""
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
    """Text that compresses as a log does."""
    pick = random.Random(90)
    words = ["%x" % pick.getrandbits(pick.choice((12, 20, 44))) for _ in range(5000)]
    text = " ".join(pick.choices(words, k=size // 5))
    return text[:size]


def workloads(scratch):
    """(name, command or None, why not) of each program."""
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
                *[script("text", big_text(4 << 20))] * 100)
    cc1 = None
    if shutil.which("gcc"):
        cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True,
                             check=False).stdout.strip()
    yield found("cc1", cc1 if cc1 and os.path.isabs(cc1) else None, "-quiet", "-O2",
                script("big.c", big_source(2000)), "-o", "/dev/null")
    for name in ("deep90", "deep90.static"):
        program = os.path.join(live.WORK, name)
        yield found(name, program if os.access(program, os.X_OK) else None, "60")


def starts_thread(frame, command):
    """Does the ABI start a thread in this function?"""
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


def leaf_shares(lines):
    """Per cent of each leaf function; functions without a name are their module's."""
    count = collections.Counter()
    for user, kernel, samples in lines:
        leaf = (kernel or user or ["?"])[-1]
        count[re.sub(r"\+0x[0-9a-f]+$", "", leaf)] += samples
    return shares(count)


def shares(count):
    total = sum(count.values()) or 1
    return {name: 100.0 * n / total for name, n in count.items()}


def perf_shares(data):
    """The same from perf's samples."""
    text = subprocess.run(["perf", "report", "-i", data, "--stdio", "--no-children", "-t", "|",
                           "-F", "sample,dso,sym"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False).stdout
    count = collections.Counter()
    for line in text.splitlines():
        match = re.match(r"\s*(\d+)\s*\|([^|]*)\|\[.\] (.*)$", line)
        if not match:
            continue
        samples, module, name = match.groups()
        module, name = module.strip(), name.strip()
        if re.match(r"0x[0-9a-f]+|0+[0-9a-f]{8,}", name):
            anonymous = re.match(r"\[JIT\]|//anon|\[unknown\]|perf-\d+\.map|anon", module)
            name = "[jit]" if anonymous else os.path.basename(module)
        count[re.sub(r"@@?[A-Z]+_[\d.]+$", "", name)] += int(samples)
    return shares(count)


def check_leaves(tap, name, lines, data):
    ours, theirs = leaf_shares(lines), perf_shares(data)
    if not theirs:
        tap.ok(False, f"{name}: perf has samples")
        return
    top = set(sorted(theirs, key=theirs.get)[-3:]) | set(sorted(ours, key=ours.get)[-3:])
    worst = max(top, key=lambda leaf: abs(ours.get(leaf, 0) - theirs.get(leaf, 0)))
    difference = abs(ours.get(worst, 0) - theirs.get(worst, 0))
    tap.ok(difference <= POINTS, f"{name}: leaf functions as perf has them",
           f"most different: {worst} {ours.get(worst, 0):.1f} % against "
           f"{theirs.get(worst, 0):.1f} %")


def check_chain(tap, name, lines):
    """deep90's stack is known frame by frame."""
    chain = ["main"] + [f"f{i:02}" for i in range(90)]
    right = total = 0
    for user, _, samples in lines:
        total += samples
        first = user.index("main") if "main" in user else len(user)
        if user[first:] == chain and user and user[0] == "_start":
            right += samples
    tap.ok(total and right / total >= COMPLETE, f"{name}: exactly main;f00;...;f89",
           f"{right} of {total}")


def check(tap, name, command, scratch, have_perf):
    data = os.path.join(scratch, "perf.data")
    recorder = None
    with live.Load(command, stderr=subprocess.DEVNULL) as process:
        try:
            process.wait(1.0)  # what happens before it is busy is another test's business
        except subprocess.TimeoutExpired:
            pass
        if have_perf:
            recorder = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", HERTZ,
                                         "-p", str(process.pid), "-o", data, "--", "sleep",
                                         SECONDS], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = live.process_seconds([process.pid])
        out, err, status = live.stacktop("-b", "-d", SECONDS, "-n", "1", "-F", HERTZ, "--format",
                                         "folded", "--no-inline", "-p", str(process.pid))
        spent = live.process_seconds([process.pid]) - before
        if recorder:
            recorder.wait()
        busy = process.poll() is None
    lines = list(live.folded(out))
    total = sum(samples for user, _, samples in lines if user)
    # It computes all the time, also while stacktop starts, which is not sampled.
    enough = 0.6 * spent * float(HERTZ)
    tap.ok(status == 0 and busy and total >= enough > 0, f"{name}: sampled while busy",
           f"{total} user stacks in {spent:.2f} s" + (f", {err.strip()}" if err.strip() else ""))
    broken = collections.Counter()
    wrong = collections.Counter()
    for user, _, samples in lines:
        if user and user[0].startswith("["):
            broken[f"{user[0]} below {user[1] if len(user) > 1 else '?'}"] += samples
        elif user and not starts_thread(user[0], command):
            wrong[user[0]] += samples
    good = total - sum(broken.values()) - sum(wrong.values())
    tap.ok(total and good / total >= COMPLETE, f"{name}: complete user stacks",
           f"{100.0 * good / (total or 1):.2f} %")
    for reason, samples in broken.most_common(5):
        tap.note(f"  {samples} {reason}")
    for frame, samples in wrong.most_common(5):
        tap.note(f"  {samples} begin with {frame}")
    if name.startswith("deep90"):
        check_chain(tap, name, [line for line in lines if line[0]])
    if have_perf:
        check_leaves(tap, name, lines, data)
    else:
        tap.skip(f"{name}: leaf functions as perf has them", "no perf")


def perf_works(scratch):
    if not shutil.which("perf"):
        return False
    return subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-o",
                           os.path.join(scratch, "perf.data"), "true"], capture_output=True,
                          check=False).returncode == 0


def main():
    tap = live.Tap()
    live.need_root(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-walk-") as scratch:
        have_perf = perf_works(scratch)
        for name, command, why in workloads(scratch):
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            if command:
                check(tap, name, command, scratch, have_perf)
            else:
                tap.skip(name, why)
    tap.done()


if __name__ == "__main__":
    main()
