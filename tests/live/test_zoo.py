# SPDX-License-Identifier: GPL-2.0-or-later
"""How the zoo judges stacks, on stacks that are written here: which are complete, guessed, falsely
complete; both tools by the same roots.

Covers: tests/zoo/stacks.py tests/zoo/programs.py tests/zoo/report.py
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "zoo"))
import live
import programs
import report
import stacks

PROGRAM = programs.Program("test", "native", (), "true", main="^main$", own=("^work$", "^deep$"),
                           under=(("^deep$", "^work$"),))


def ours(*chains, pid=7, thread=7):
    """JSON of one refresh; a chain is a list of names, the outermost first: KIND:NAME or NAME."""
    functions, found = [], []
    for count, chain in chains:
        for name in chain:
            if name not in functions:
                functions.append(name)
        found.append({"process": 0, "thread": thread, "count": count,
                      "frames": [functions.index(name) for name in chain]})
    table = []
    for name in functions:
        kind, _, rest = name.rpartition("|")
        table.append({"name": rest, "module": "prog", "kind": kind or "user"})
    return stacks.from_stacktop([json.dumps(
        {"functions": table, "processes": [{"pid": pid, "name": "prog"}], "stacks": found})])


def verdict(found, ends=True, program=PROGRAM, starts=None):
    return stacks.Verdict(found, program, starts or stacks.Starts(), ends).summary(program)


def test_stacktop(tap):
    good = ["_start", "__libc_start_main", "main", "work", "inline|deep", "kernel|sys_read"]
    found = verdict(ours((3, good), (1, ["end|no table", "work"])))
    tap.ok((found["samples"], found["complete"], found["false"]) == (4, 75.0, 0.0),
           "a stack with a reason is not complete", str(found))
    tap.ok(found["reasons"] == [["no table", 25.0]], "its reason is counted", str(found["reasons"]))
    tap.ok(found["depth"] == (3 * 4 + 1) / 4, "neither inlined calls nor kernel frames are depth",
           str(found["depth"]))
    tap.ok(found["own"] == "yes", "own functions are found, inlined ones, too", found["own"])

    found = verdict(ours((1, ["work", "other"])))
    tap.ok((found["complete"], found["false"], found["own"]) == (0.0, 100.0, "part"),
           "no root: falsely complete", str(found))
    found = verdict(ours((1, ["_start", "work"])))
    tap.ok(found["false"] == 100.0, "a root, but no main: falsely complete", str(found))
    found = verdict(ours((1, ["_start", "main", "deep"])))
    tap.ok(found["false"] == 100.0, "a function without its caller: falsely complete", str(found))
    found = verdict(ours((1, ["clone3", "start_thread", "work"]), thread=8))
    tap.ok(found["complete"] == 100.0, "another thread has no main", str(found))
    found = verdict(ours((1, ["[guessed]", "main", "work"])))
    tap.ok((found["guessed"], found["complete"], found["false"]) == (100.0, 0.0, 0.0),
           "a guessed stack is neither complete nor false", str(found))
    found = verdict(ours((1, ["_start", "main", "prog+0x12", "[jit]"])))
    tap.ok(found["named"] == 50.0, "frames without a name", str(found["named"]))
    tap.ok(not ours((1, ["kernel|do_idle"])), "samples of the kernel alone do not count")


PERF = """prog 7/7
\tffffffff8100 entry_SYSCALL_64 ([kernel.kallsyms])
\t    1234 work (/usr/bin/prog (deleted))
\t    1300 main (/usr/bin/prog)
\t   27304 __libc_start_main@@GLIBC_2.34 (/usr/lib/libc.so.6)
\t    10e0 _start (/usr/bin/prog)

a thread 7/8
\t    1234 operator()(int) const (/usr/bin/prog)
\t   99900 __GI___clone3 (/usr/lib/libc.so.6)

prog 7/7
\t    1234 work (/usr/bin/prog)
\t   27304 __libc_start_main@@GLIBC_2.34 (/usr/lib/libc.so.6)

prog 7/7
\t    1234 [unknown] (/usr/bin/prog)
\t    10e0 [unknown] (/usr/bin/prog)

prog 7/7
\tffffffff8100 do_exit ([kernel.kallsyms])
"""


def test_perf(tap):
    found = stacks.from_perf(PERF)
    tap.ok([stack.thread for stack in found] == [7, 8, 7, 7], "perf: stacks with user frames")
    tap.ok([frame.name for frame in found[0].frames][-1] == "work", "perf: kernel frames are left out")
    tap.ok(found[1].frames[-1].name == "operator()(int) const", "perf: names with blanks")
    starts = stacks.Starts()
    found = verdict(found, ends=False, starts=starts)
    tap.ok(found["complete"] == 50.0, "perf: complete with a root; __libc_start_main is none", str(found))
    starts = stacks.Starts()
    starts.entry("prog", {0x10c0})
    nameless = programs.Program("test", "native", (), "true")
    found = verdict(stacks.from_perf(PERF), ends=False, program=nameless, starts=starts)
    tap.ok(found["complete"] == 75.0, "perf: the entry of the file is a root without a name", str(found))


def test_roots(tap):
    def root(name, module="prog"):
        return stacks.is_root(stacks.Frame(name, module, None, False, False), stacks.Starts())

    yes = ["_start", "__GI___clone3", "clone", "start_thread", "runtime.goexit.abi0", "runtime.mcall",
           "__start_context"]
    no = ["main", "__libc_start_main", "start", "finish", "work_start", "runtime.main", "prog+0x1"]
    tap.ok(all(map(root, yes)), "roots", str([name for name in yes if not root(name)]))
    tap.ok(not any(map(root, no)), "no roots", str([name for name in no if root(name)]))
    tap.ok(root("start", "/lib/ld-musl-x86_64.so.1"), "a root in one module only")
    own = os.path.realpath("/bin/true")
    entry = min(stacks.elf_starts(own) or {0})
    starts = stacks.Starts()
    tap.ok(starts.has(os.path.basename(own), entry) and not starts.has(os.path.basename(own), 1),
           "the entry of a program that has ended is found by its name")


def test_tables(tap):
    result = {tool: verdict(ours((1, ["_start", "main", "work"]))) for tool in ("stacktop", "perf")}
    result.update({"class": "native", "cpu": 1.5})
    results = {"good": result, "absent": {"class": "jit", "skipped": "not installed: package x_y"}}
    tap.ok("1 programs sampled, 1 skipped" in report.totals(results), "totals", report.totals(results))
    results["bad"] = {**result, "stacktop": verdict(ours((1, ["end|no table", "work"])))}
    tap.ok(report.left(results) == {"no table": ["bad 0.0"]}, "what is left by cause", str(report.left(results)))
    text = report.markdown(results, 4, 199, "2026-01-01")
    tap.ok("| good | native | 1 | 100.0 |" in text and "`absent`" in text, "the Markdown table")
    names = [program.name for program in programs.PROGRAMS]
    tap.ok(len(set(names)) == len(names), "programs have different names")


def main():
    tap = live.Tap()
    test_stacktop(tap)
    test_perf(tap)
    test_roots(tap)
    test_tables(tap)
    tap.done()


main()
