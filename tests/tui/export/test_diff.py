#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--diff of two files of folded stacks: what it says is computed here a second time.

Covers: tui/diff.c tui/export/flametree.c
"""

import collections
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "..", "live"), os.path.dirname(__file__)]
import formats  # noqa: E402
from live import STACKTOP, Tap  # noqa: E402

BEFORE = {"app;main;work;deep": 30, "app;main;work": 10, "app;main;idle": 60,
          "app;main;loop;loop;loop": 5, "gone;main": 7, "app": 2, "app;app": 3, "app;[no table for pc];x": 4}
NOW = {"app;main;work;deep": 120, "app;main;work;read_[k]": 20, "app;main;idle": 60,
       "app;main;loop;loop": 11, "new;main;fresh": 9, "app;[no table for pc];x": 1}
HOSTILE = {"<b>;</title><script>alert(1)</script>;]]>": 3, "a&b;\"q\" 'r'": 2, "x y;1 2 3": 4,
           "\x1b[2J;nul": 1, "\udcff\udcfe;bytes": 6, "c" * 3000 + ";" + ";".join("d" * 2500): 5}


def write(folder, name, stacks):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.writelines(f"{stack} {count}\n" for stack, count in stacks.items())
    return path


def run(*options):
    done = subprocess.run([STACKTOP, "--diff", *options], capture_output=True, timeout=60,
                          check=False)
    return done.stdout.decode(), done.stderr.decode(), done.returncode


def sums(stacks):
    """(processes, {function: [self, total]}, all)"""
    procs, funcs = collections.Counter(), collections.defaultdict(lambda: [0, 0])
    for stack, count in stacks.items():
        frames = stack.split(";")
        procs[frames[0]] += count
        if len(frames) > 1:
            funcs[frames[-1]][0] += count
        for frame in set(frames[1:]):
            funcs[frame][1] += count
    return procs, funcs, sum(stacks.values())


def check_text(tap, a, b):
    out, err, status = run(a, b)
    head, procs_text, funcs_text = out.split("\n\n")
    tap.ok(status == 0 and not err and "121 samples" in head and "221 samples" in head,
           "text names both", err)
    times, err, status = run(a, b, "-e", "off-cpu")
    tap.ok(status == 0 and not err and "121 us" in times and "221 us" in times and
           "in % of all time" in times and times.split("\n\n")[1:] == out.split("\n\n")[1:],
           "-e off-cpu: the counts are times", times.splitlines()[0] + err)
    (procs_a, funcs_a, all_a), (procs_b, funcs_b, all_b) = sums(BEFORE), sums(NOW)
    want = {name: tuple(f"{x:.2f}" for x in (100 * procs_a[name] / all_a,
                                             100 * procs_b[name] / all_b))
            for name in {*procs_a, *procs_b}}
    found = {m[2]: (m[0], m[1]) for m in
             re.findall(r"^ *([\d.]+) +([\d.]+) +[+-][\d.]+  (.+)$", procs_text, re.M)}
    tap.ok(found == want, "text has the processes", str(found))
    want = {}
    for name in {*funcs_a, *funcs_b}:
        x, y = funcs_a[name], funcs_b[name]
        want[name] = tuple(100 * n / whole for n, whole in
                           ((x[0], all_a), (y[0], all_b), (x[1], all_a), (y[1], all_b)))
    rows = re.findall(r"^ *([\d.]+) +([\d.]+) +([+-][\d.]+) +([\d.]+) +([\d.]+) +([+-][\d.]+)  "
                      r"(.+)$", funcs_text, re.M)
    good = len(rows) == len(want)
    for before, now, change, total_before, total_now, total_change, name in rows:
        x = want.get(name, (0, 0, 0, 0))
        good &= (before, now, change) == (f"{x[0]:.2f}", f"{x[1]:.2f}", f"{x[1] - x[0]:+.2f}")
        good &= (total_before, total_now, total_change) == \
            (f"{x[2]:.2f}", f"{x[3]:.2f}", f"{x[3] - x[2]:+.2f}")
    tap.ok(good, "text has self and total of each function", funcs_text if not good else "")
    changes = [abs(float(row[2])) for row in rows]
    tap.ok(changes == sorted(changes, reverse=True), "the largest change comes first")


def check_folded(tap, a, b):
    out, err, status = run(a, b, "--format", "folded")
    found = {}
    for line in out.splitlines():
        stack, before, now = line.rsplit(" ", 2)
        found[stack] = int(before), int(now)
    want = {stack: (BEFORE.get(stack, 0), NOW.get(stack, 0)) for stack in {*BEFORE, *NOW}}
    tap.ok(status == 0 and not err and found == want, "folded has both counts")


def check_drawing(tap, folder, a, b, name):
    path = os.path.join(folder, name)
    _, err, status = run(a, b, "-o", path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    frames = formats.svg_frames(text, "flame" in name)
    stack, found = [], {}
    for level, _, width, lines in frames:
        now = re.fullmatch(r"(\d+) samples \(([\d.]+) %\), (\d+) of its own", lines[2])
        before = re.match(r"before: (\d+) samples \(([\d.]+) %\), (\d+) of its own", lines[3])
        del stack[level:]
        stack.append(lines[0])
        tap_width = abs(width - 1200 * int(now.group(1)) / 221) < 1e-3
        found[";".join(stack[1:])] = int(before.group(3)), int(now.group(3)), tap_width
    want = {s: (BEFORE.get(s, 0), n) for s, n in NOW.items()}
    tap.ok(status == 0 and not err and all(found[s] == (*c, True) for s, c in want.items()),
           f"{name} has both counts, and widths of what is now")
    fills = {}
    for group in ElementTree.fromstring(text).iter(formats.SVG + "g"):
        title = group.find(formats.SVG + "title")
        if title is not None:
            fills.setdefault(title.text.split("\n")[0], group[1].get("style"))
    tap.ok(fills["fresh"] != fills["idle"] and fills["fresh"] == fills["new"],
           "more and less have colours of their own", str(fills))


def check_hostile(tap, folder, a):
    hostile = write(folder, "hostile", HOSTILE)
    for options in ([], ["--format", "folded"], ["--format", "svg"]):
        out, err, status = run(a, hostile, *options)
        tap.ok(status == 0 and not err and "\x1b" not in out, f"hostile names, {options}", err)
    tap.ok(formats.svg_frames(out, False), "the drawing of hostile names is well-formed")
    for text, where in ((b"no count\n", "line 1"), (b"a;b 3\nc;d x\n", "line 2"),
                        (b"a 99999999999999999999\n", "line 1"), (b"a -3\n", "line 1"),
                        (b"a\0b 3\n", "line 1"), (b"stacktop session 1\nrubbish", ""),
                        (b" 3\n", "line 1"), (b"a" * (1 << 20) + b" 3\n", "line 1")):
        path = os.path.join(folder, "broken")
        with open(path, "wb") as file:
            file.write(text)
        out, err, status = run(path, a)
        tap.ok(status == 1 and not out and err.startswith("stacktop: ") and where in err,
               f"refused: {text[:24]}", err.strip())
    out, err, status = run(a, os.path.join(folder, "none"))
    tap.ok(status == 1 and "No such file" in err, "a file that is not there", err.strip())
    empty = write(folder, "empty", {})
    for options in ([], ["--format", "folded"], ["--format", "svg"]):
        out, err, status = run(empty, empty, *options)
        tap.ok(status == 0 and not err, f"two empty files, {options}", err)
    for options in ([a], [a, a, "--format", "pprof"], [a, a, a]):
        out, err, status = run(*options)
        tap.ok(status == 2 and not out, f"refused: {len(options)} arguments", err.split("\n")[0])


def check_pipe(tap, folder, a, b):
    """A pipe cannot be gone back in: what was looked at must not be lost."""
    want, _, _ = run(a, b, "--format", "folded")
    with subprocess.Popen(["cat", a], stdout=subprocess.PIPE) as cat:
        done = subprocess.run([STACKTOP, "--diff", f"/dev/fd/{cat.stdout.fileno()}", b, "--format", "folded"],
                              capture_output=True, timeout=60, check=False,
                              pass_fds=[cat.stdout.fileno()])
    tap.ok(done.returncode == 0 and done.stdout.decode() == want, "the first of two is a pipe",
           done.stderr.decode())
    session = os.path.join(folder, "session")
    with open(session, "wb") as file:
        file.write(b"stacktop session 1\nrubbish")
    with open(session, "rb") as file:
        done = subprocess.run(f"cat | '{STACKTOP}' --diff /dev/stdin '{b}'", shell=True, stdin=file,
                              capture_output=True, timeout=60, check=False)
    tap.ok(done.returncode == 1 and b"not from a pipe" in done.stderr, "a session is no pipe",
           done.stderr.decode().strip())


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        a, b = write(folder, "a", BEFORE), write(folder, "b", NOW)
        check_text(tap, a, b)
        check_folded(tap, a, b)
        check_drawing(tap, folder, a, b, "x.svg")
        check_drawing(tap, folder, a, b, "x.flame.svg")
        check_hostile(tap, folder, a)
        check_pipe(tap, folder, a, b)
    tap.done()


main()
