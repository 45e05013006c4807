#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 150 s
"""Frames of Perl: a program that changes its chain of calls every few microseconds (programs/chains.pl),
through sort blocks, overloaded operators, tied variables, destructors, evals, die(), closures, signals and
code in regular expressions; and threads. Some of these end with the call of a sub, which then has no place to go on. No sample has a chain that cannot be, and most have all of their frames.
PERL="chroot ROOT perl" in the environment does this with another Perl.

Covers: bpf/prog/perl.bpf.h bpf/prog/runtime.bpf.h symbols/runtime/perl_file.c symbols/runtime/perl_check.c
Covers: bpf/tracker/runtimefile.c tui/symbolize/language.c"""

import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chains  # noqa: E402
import live  # noqa: E402

ENOUGH = 60000 if os.environ.get("SIZE") == "full" else 4000
MERGED = 0.97
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "chains.pl")
RUNS = {"Perl_runops_standard"}
# Blocks of sort, and the search for a method, are no subs.
BARE = {"main::p_sort", "main::p_last", "main::p_eval_last", "main::p_through", "main::p_after", "Data::Dumper::Dump"}
KNOWN = "exit !($^V =~ /^v5[.](3[02468]|4[024])[.]/)"
LINES = """
sub leaf { my $s = 0;
  $s += $_ for 1 .. 1000;
  return $s; }
sub caller_of {
  my $x = 1;
  return leaf() + $x; }
while (1) {
  caller_of();
}
"""
THREADS = """
use threads;
sub leaf { my $s = 0; $s += $_ for 1 .. 1000; return $s }
sub t_one { leaf() while 1 }
sub t_two { my @x = sort { leaf(); $a <=> $b } 2, 1 while 1 }
threads->create(\\&t_one); threads->create(\\&t_two);
print '["(main);main::leaf","main::t_one;main::leaf","main::t_two;main::leaf"]', "\\n"; $| = 1; print '';
leaf() while 1;
"""


def check(tap, perl, name, program, enough, merged):
    seen, messages = chains.watch([*perl, program], RUNS, enough, bare=BARE)
    tap.note(messages)
    chains.judge(tap, seen, f"{name}: ", enough, merged)


def check_lines(tap, perl, folder):
    """The line of the leaf is in its loop, that of the callers where they call."""
    path = os.path.join(folder, "lines.pl")
    with open(path, "w", encoding="ascii") as file:
        file.write(LINES)
    with live.Load([*perl, path]) as process:
        out, err, _ = live.stacktop("-b", "-F", "1999", "-d", "2", "-n", "2", "-p", str(process.pid),
                                    "--format", "json")
    tap.note(err)
    lines = {}
    for part in out.splitlines():
        for function in json.loads(part)["functions"]:
            if function["kind"] == "perl" and function.get("file") == path:
                lines.setdefault(function["name"], set()).add(function.get("line"))
    tap.ok(lines.get("main::leaf", {0}) <= {2, 3} and lines.get("main::caller_of") == {7} and
           lines.get("(main)") == {9}, "functions are at the lines where they call or run", str(lines))


def main():
    tap = live.Tap()
    live.need(tap)
    perl = chains.interpreter("perl")
    if not perl or subprocess.run([*perl, "-MList::Util", "-e", KNOWN], check=False).returncode:
        tap.skip("perl", "not installed, or of a version that is not known")
        tap.done()
    with chains.folder() as folder:
        check(tap, perl, "chains", shutil.copy(PROGRAM, folder), ENOUGH, MERGED)
        check_lines(tap, perl, folder)
        if subprocess.run([*perl, "-Mthreads", "-e", "1"], check=False, capture_output=True).returncode:
            tap.skip("threads", "not in this perl")
        else:
            path = os.path.join(folder, "threads.pl")
            with open(path, "w", encoding="ascii") as file:
                file.write(THREADS)
            check(tap, perl, "threads", path, ENOUGH / 4, 0.8)
    tap.done()


main()
