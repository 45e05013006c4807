#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 900 s
"""Frames of JavaScript: a chain of calls whose names, files and lines are known, interpreted and as each of
V8's compilers makes it, with the `node` that is installed and with others that NODES has (paths, separated
by colons).

Covers: bpf/prog/v8.bpf.h symbols/runtime/v8_file.c symbols/runtime/v8_check.c symbols/runtime/v8_code.c
Covers: tui/symbolize/language.c tui/symbolize/resolver.c bpf/tracker/runtimefile.c
Covers: tui/collect/annotator_search.c tui/collect/nocode.c
"""

import collections
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import test_annotate as annotate  # noqa: E402
import watch  # noqa: E402

CHAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "chain.js")
ENOUGH = 400        # samples of a process, whole ones
BUSY = 1.0          # seconds of CPU time, until its code is compiled
HERTZ = live.hertz(1999)
# The chain from its outermost function on, and the lines where these begin.
LINES = {"outer": 31, "(callback)": 32, "recurse": 27, "日本": 25, "größe": 24, "factory": 21, "method": 17,
         "get property": 15, "leaf": 6}
RIGHT = re.compile(r"outer;\(anonymous\)(;recurse){3,4};日本;größe;factory;method;get property(;leaf)?")
# No function is inlined in any of them.
MODES = {"interpreted": ["--no-opt", "--no-sparkplug"], "baseline": ["--no-opt", "--always-sparkplug"],
         "jitless": ["--jitless"], "optimized": ["--no-turbo-inlining"]}
FAR_LINES, FAR_FUNCTIONS = 2500, 120     # 200 KB before the first of them
ALONE = ["--no-maglev", "--no-maglev-inlining"]     # where V8 has it


def alone(node):
    """The options of ALONE that this node has."""
    text = subprocess.run([node, "--v8-options"], capture_output=True, text=True, check=False).stdout
    return [option for option in ALONE if option.replace("--no-", "--") + " " in text]


def version(node):
    return subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout.strip()


def nodes():
    """(version, path)"""
    paths = [shutil.which("node"), *os.environ.get("NODES", "").split(":")]
    found = {}
    for path in paths:
        if path and os.access(path, os.X_OK):
            found.setdefault(version(path), path)
    return list(found.items())


class Program:
    def __init__(self, name, command, folder, stack):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        cwd=folder)
        stack.callback(self.end)
        self.pid = self.process.pid
        self.chains = collections.Counter()     # of JavaScript, from `outer` on
        self.stacks = collections.Counter()
        self.lines = {}                         # of each function
        self.files = set()

    def end(self):
        self.process.kill()
        self.process.wait()

    def add(self, report):
        functions = report["functions"]
        for stack in report["stacks"]:
            if report["processes"][stack["process"]]["pid"] != self.pid:
                continue
            frames = [functions[i] for i in stack["frames"]]
            script = [f for f in frames if f["kind"] == "js"]
            names = [f["name"] for f in script]
            if "outer" not in names or frames[0]["kind"] == "end":
                continue
            # Only the main thread has it, and only what runs below it.
            names = names[names.index("outer"):]
            self.chains[";".join(names)] += stack["count"]
            self.stacks[tuple((f["kind"], f["name"]) for f in frames)] += stack["count"]
            for f in script:
                if f["module"] == CHAIN:
                    self.lines[f["name"]] = f.get("line")
                self.files.add(f["module"])

    def enough(self):
        return sum(self.chains.values()) >= ENOUGH


def sample(programs):
    pids = [p.pid for p in programs]
    watch.until_busy(pids, BUSY, halt=True)
    with watch.Watch("-K", "-d", "0.25", "-F", HERTZ, "-p", ",".join(map(str, pids)), first=True) as top:
        top.next()
        watch.resume(pids)
        top.until_tables()
        awaited = list(programs)

        def enough(part):
            for program in programs:
                program.add(part.report)
            for program in [program for program in awaited if program.enough()]:
                awaited.remove(program)
                if awaited:     # stacktop warns when the last process of -p has ended
                    program.end()
            return not awaited

        done = top.until(enough)
    return done, top


def check_lines(tap, what, program):
    wrong = {name: (line, LINES[name]) for name, line in program.lines.items()
             if name in LINES and line != LINES[name]}
    tap.ok(not wrong and set(program.lines) >= {"outer", "recurse", "größe", "method", "leaf"},
           f"{what}: lines where functions begin", str(wrong or program.lines))


def check_chains(tap, node, path, folder):
    with contextlib.ExitStack() as stack:
        programs = [Program(name, [path, *options, *alone(path), CHAIN], folder, stack)
                    for name, options in MODES.items()]
        done, top = sample(programs)
    tap.ok(done and top.status == 0, f"{node}: all are sampled",
           f"{[(p.name, sum(p.chains.values())) for p in programs]} {top.said()}")
    for program in programs:
        total = sum(program.chains.values())
        right = sum(n for chain, n in program.chains.items() if RIGHT.fullmatch(chain))
        what = f"{node}, {program.name}"
        # A sample may hit a function that is about to make its frame, or to leave it, and one further out
        # while it calls. With few samples, three times the deviation of a share that is just right.
        least = 0.97 * total - 3 * (0.03 * 0.97 * total) ** 0.5
        tap.ok(total and right > least, f"{what}: the chain of calls",
               f"{right} of {total}: {program.chains.most_common(3)}")
        bare = sum(n for frames, n in program.stacks.items() if ("jit", "[jit]") in frames)
        tap.ok(bare <= total - least, f"{what}: no code without a name", f"{bare} of {total}")
        tap.ok(CHAIN in program.files, f"{what}: its file", str(program.files))
        check_lines(tap, what, program)


def check_far(tap, node, path, folder):
    """Lines of many functions that are new in one sample, far behind in their file."""
    script = os.path.join(folder, "far.js")
    with open(script, "w", encoding="ascii") as file:
        file.write("function spin() { let s = 0; for (let i = 0; i < 3e4; i++) s = (s * 31 + i) | 0; return s }\n")
        file.write(("// " + "x" * 77 + "\n") * FAR_LINES)
        for i in range(FAR_FUNCTIONS):
            file.write(f"function f{i}() {{ return {f'f{i - 1}' if i else 'spin'}() + 1 }}\n")
        file.write(f"for (;;) f{FAR_FUNCTIONS - 1}();\n")
    with contextlib.ExitStack() as stack:
        program = Program("far", [path, "--no-opt", *alone(path), script], folder, stack)
        lines = {}

        def enough(part):
            lines.update({f["name"]: f.get("line") for f in part.report["functions"]
                          if f["kind"] == "js" and f["module"] == script})
            return len(lines) >= FAR_FUNCTIONS

        watch.until_busy([program.pid], BUSY, halt=True)
        with watch.Watch("-d", "0.25", "-F", HERTZ, "-p", str(program.pid)) as top:
            top.next()
            watch.resume([program.pid])
            top.until(enough)
    wrong = {name: line for name, line in lines.items()
             if re.fullmatch(r"f\d+", name) and line != FAR_LINES + 2 + int(name[1:])}
    tap.ok(len(lines) >= FAR_FUNCTIONS and not wrong, f"{node}: lines far behind in a file",
           f"{len(lines)} functions; {list(wrong.items())[:5]}")


def check_code(tap, node, path, folder):
    """Machine code of a function, which only the stack names; what the interpreter runs has none."""
    with contextlib.ExitStack() as stack:
        made, run = (Program(name, [path, *MODES[name], *alone(path), CHAIN], folder, stack)
                     for name in ("optimized", "interpreted"))
        watch.until_busy([made.pid, run.pid], BUSY, halt=True)
        watch.resume([made.pid])
        with tempfile.TemporaryDirectory() as other:
            rows, screen = annotate.annotate(other, made.pid, "leaf")
        made.end()
        watch.resume([run.pid])
        share = sum(own for own, _, _ in rows.values())
        tap.ok(share > 50 and all(text for _, _, text in rows.values()),
               f"{node}: machine code of a compiled function", f"{share:.1f} of {len(rows)} rows")
        if share <= 50:
            tap.note(screen)
        with tempfile.TemporaryDirectory() as other:
            rows, screen = annotate.annotate(other, run.pid, "leaf")
        tap.ok(not rows and "V8's interpreter runs it" in screen,
               f"{node}: an interpreted function has none", "" if not rows else screen)


def main():
    tap = live.Tap()
    live.need(tap)
    found = nodes()
    if not found:
        tap.skip("node", "not installed")
    with tempfile.TemporaryDirectory() as folder:
        for node, path in found:
            check_chains(tap, node, path, folder)
            check_code(tap, node, path, folder)
            check_far(tap, node, path, folder)
    tap.done()


if __name__ == "__main__":
    main()
