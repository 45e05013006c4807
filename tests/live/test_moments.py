#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""The first moments of a COMMAND. Its files were never mapped before, and the tables of each take many
times as long as its first sample: so the tables must have been there before it ran. An interpreter runs
for a moment: most of its samples must have frames of its language.

Covers: tui/collect/foresee.c tui/collect/child.c bpf/tracker/runtimes.c
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

HERTZ = live.hertz(1999)
ENOUGH = 40
# 40,000 functions, each with rows of its own.
FILLER = """
__asm__(".text\\n.rept 40000\\n.p2align 4\\n.cfi_startproc\\nnop\\n.cfi_adjust_cfa_offset 16\\nnop\\n"
	".cfi_adjust_cfa_offset -16\\nret\\n.cfi_endproc\\n.endr\\n");
"""
LIBRARY = FILLER + """
int last(int (*f)(int), int n);
__attribute__((noinline)) int last(int (*f)(int), int n) { return f(n) + 1; }
int inner(int (*f)(int), int n);
__attribute__((noinline)) int inner(int (*f)(int), int n) { return last(f, n) + 1; }
"""
PROGRAM = FILLER + """
#include <time.h>
int inner(int (*f)(int), int n);
static volatile unsigned sum;
__attribute__((noinline)) static int spin(int n) { while (n--) sum = sum * 33 + n; return sum; }
__attribute__((noinline)) static int outer(int n) { return inner(spin, n) + 1; }
int main(void) { while (clock() < CLOCKS_PER_SEC / 10) outer(20000); return 0; }
"""
CHAIN = ["main", "outer", "inner", "last", "spin"]
BEGIN, END = 0.03, 0.13     # of `late`, in seconds of the program's own CPU time
PYTHON = f"""import time
def spin(): return sum(range(200))
def early():
    while time.process_time() < {BEGIN}: spin()
def late():
    while time.process_time() < {END}: spin()
early()
late()
"""
PERL = f"""sub spin {{ my $n = 0; $n += $_ for 1 .. 200 }}
sub early {{ spin() while (times)[0] < {BEGIN} }}
sub late {{ spin() while (times)[0] < {END} }}
early();
late();
"""
RUNS = 6


def command(folder, *words):
    """The report of a COMMAND."""
    path = os.path.join(folder, "report")
    out, err, status = live.stacktop("-b", "-d", "3000", "-K", "-F", HERTZ, "--no-inline", "--frames", "all",
                                     "--format", "json", "-o", path, "--", *words)
    if status:
        raise ValueError(out + err)
    with open(path, encoding="utf-8") as file:
        return json.loads(file.readline())


def build(folder):
    """A program and its library; the linker is told of it in the ways that a program has."""
    os.mkdir(os.path.join(folder, "lib"))
    library, program = os.path.join(folder, "lib", "libinner.so"), os.path.join(folder, "program")
    for path, text in ((library, LIBRARY), (program, PROGRAM)):
        with open(path + ".c", "w", encoding="ascii") as file:
            file.write(text)
    live.cc(library, library + ".c", "-shared", "-fPIC", "-fno-optimize-sibling-calls")
    live.cc(program, program + ".c", library, "-fno-optimize-sibling-calls", "-Wl,-rpath,$ORIGIN/lib")
    return program


def fresh(folder, program, name):
    """A copy of both that no process has mapped."""
    to = os.path.join(folder, name)
    os.mkdir(to)
    shutil.copytree(os.path.join(os.path.dirname(program), "lib"), os.path.join(to, "lib"))
    return shutil.copy(program, to)


def tables(tap, folder):
    program = build(folder)
    script = os.path.join(folder, "script")
    ways = {"a program": [fresh(folder, program, "direct")],
            "a script": [script],
            "a script by env": ["env.sh"]}
    with open(script, "w", encoding="ascii") as file:
        file.write(f"#!{fresh(folder, program, 'script.d')}\n")
    os.environ["PATH"] += ":" + os.path.dirname(fresh(folder, program, "env.d")) + ":" + folder
    os.rename(os.path.join(folder, "env.d", "program"), os.path.join(folder, "env.d", "moments-program"))
    with open(os.path.join(folder, "env.sh"), "w", encoding="ascii") as file:
        file.write("#!/usr/bin/env moments-program\n")
    for path in (script, os.path.join(folder, "env.sh")):
        os.chmod(path, 0o755)
    for name, words in ways.items():
        report = command(folder, *words)
        part = live.Slice(json.dumps(report))
        missing = sum(stack[4] for stack in part.stacks if "[no table for pc]" in stack[2])
        whole = sum(stack[4] for stack in part.stacks if stack[2][:1] == ["_start"] and stack[2][-5:] == CHAIN)
        spun = sum(stack[4] for stack in part.stacks if stack[2][-1:] == ["spin"])
        tap.ok(spun >= ENOUGH and whole == spun and not missing,
               f"the tables of {name} are there before it runs",
               f"{whole} of {spun} stacks whole, {missing} samples without a table")


def language(tap, folder, name, text, *options):
    """The interpreter has to prove its layout in each run, and does so while it is early."""
    if not shutil.which(name, path="/usr/bin"):
        tap.skip(f"frames of {name}", "is not installed")
        return
    path = os.path.join(folder, name + ".text")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    due, counts = (END - BEGIN) * int(HERTZ), []
    for _ in range(RUNS):
        part = live.Slice(json.dumps(command(folder, "/usr/bin/" + name, *options, path)))
        counts.append(sum(stack[4] for stack in part.stacks if {"late", "main::late"} & set(stack[2])))
    tap.ok(sum(counts) >= 0.6 * RUNS * due, f"{name} has frames of its language when it is {1000 * BEGIN:.0f} ms old",
           f"{counts} of {due:.0f} samples each")


def attached(tap, folder, name, *command):
    """A process that has run for a while has frames of its language from the first sample on."""
    if not shutil.which(name, path="/usr/bin"):
        tap.skip(f"frames of a {name} that runs", "is not installed")
        return
    path = os.path.join(folder, "report")
    with live.Load(["/usr/bin/" + name, *command], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        for way, options in (("chosen", ["-p", str(process.pid)]), ("on the whole machine", [])):
            counts = []
            for _ in range(RUNS):
                live.stacktop("-b", "-d", "0.2", "-n", "1", "-K", "-F", HERTZ, "--no-inline", "--frames", "all",
                              "--format", "json", "-o", path, *options)
                with open(path, encoding="utf-8") as file:
                    part = live.Slice(file.readline())
                counts.append((sum(stack[4] for stack in part.stacks
                                   if stack[0] == process.pid and {"late", "main::late"} & set(stack[2])),
                               part.count(process.pid)))
            named, all_ = (sum(column) for column in zip(*counts))
            tap.ok(all_ >= ENOUGH and named >= 0.95 * all_,
                   f"a {name} that runs has frames of its language at once, {way}", f"{counts}")
        process.stdout.close()


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-moments-") as folder:
        tables(tap, folder)
        language(tap, folder, "python3", PYTHON, "-S", "-E")
        language(tap, folder, "perl", PERL)
        attached(tap, folder, "python3", "-c", "print(flush=True)\ndef late():\n while True: sum(range(99))\nlate()")
        attached(tap, folder, "perl", "-e",
                 "$| = 1; print qq(\\n); sub late { while (1) { $n += $_ for 1..99 } } late()")
    tap.done()


if __name__ == "__main__":
    main()
