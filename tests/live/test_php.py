#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 150 s
"""Frames of PHP: a program that changes its chain of calls every few microseconds (programs/chains.php),
through callbacks, magic methods, generators, fibers, destructors, exceptions, included files and eval().
No sample has a chain that cannot be, and nearly all have their frames. A program in one line has it.
PHP="chroot ROOT php" in the environment does this with another PHP.

Covers: bpf/prog/php.bpf.h bpf/prog/runtime.bpf.h bpf/prog/runtime_place.bpf.h symbols/runtime/php_file.c symbols/runtime/php_check.c
Covers: bpf/tracker/runtimefile.c tui/symbolize/language.c"""

import json
import os
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chains  # noqa: E402
import live  # noqa: E402

ENOUGH = 60000 if os.environ.get("SIZE") == "full" else 4000
MERGED = 0.95
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "chains.php")
COMPILED = shlex.split("-d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing "
                       "-d opcache.file_update_protection=0")
LINES = """<?php
function leaf() { $s = 0;
  for ($i = 0; $i < 1000; $i++) $s += $i;
  return $s; }
class P { static function caller() {
  $x = 1;
  return leaf() + $x; } }
while (true) {
  P::caller();
}
"""


def check_chains(tap, php, where):
    program = shutil.copy(PROGRAM, where)
    seen, messages = chains.watch([*php, "-n", program], {"execute_ex"}, ENOUGH,
                                   start="_start")
    tap.note(messages)
    tap.ok(len(seen.possible) > 100, "the program tells its chains", f"{len(seen.possible)}")
    chains.judge(tap, seen, "", ENOUGH, MERGED)


def check_compiled(tap, php, where):
    """Code that opcache has compiled: most stacks with it have native frames only, and none is false."""
    command = [*php, "-n", *COMPILED]
    extension = [] if is_compiling(command) else ["-d", "zend_extension=opcache"]
    if not is_compiling(command + extension):
        tap.skip("compiled code", "this PHP does not compile")
        return
    seen, messages = chains.watch(command + extension + [os.path.join(where, "chains.php")],
                                  {"execute_ex", "[jit]"}, ENOUGH, start="_start", seconds=10)
    tap.note(messages)
    if "has ended" in messages:
        tap.skip("compiled code", "the program has ended, by a fault of this PHP's compiler")
        return
    tap.ok(seen.total > seen.merged, "compiled code: it runs", f"{seen.total - seen.merged} of {seen.total}")
    tap.ok(not seen.bad, "compiled code: none has a chain that cannot be", f"{sum(seen.bad.values())}")


def is_compiling(command):
    done = subprocess.run([*command, "-r", "echo (int) (opcache_get_status(false)['jit']['on'] ?? 0);"],
                          check=False, capture_output=True, text=True)
    return done.stdout.endswith("1")


def check_lines(tap, php, folder):
    """The line of the leaf is in its loop, that of the callers where they call."""
    path = os.path.join(folder, "lines.php")
    with open(path, "w", encoding="ascii") as file:
        file.write(LINES)
    with live.Load([*php, "-n", path]) as process:
        out, err, _ = live.stacktop("-b", "-F", "1999", "-d", "2", "-n", "2", "-p", str(process.pid),
                                    "--format", "json")
    tap.note(err)
    lines = {}
    for part in out.splitlines():
        for function in json.loads(part)["functions"]:
            if function["kind"] == "php" and function.get("file") == path:
                lines.setdefault(function["name"], set()).add(function.get("line"))
    tap.ok(lines.get("leaf", {0}) <= {3} and lines.get("P::caller") == {7} and lines.get("{main}") == {9},
           "functions are at the lines where they call or run", str(lines))


def main():
    tap = live.Tap()
    live.need(tap)
    php = chains.interpreter("php")
    if not php:
        tap.skip("php", "not installed")
        tap.done()
    with chains.folder() as folder:
        check_chains(tap, php, folder)
        check_compiled(tap, php, folder)
        check_lines(tap, php, folder)
    tap.done()


main()
