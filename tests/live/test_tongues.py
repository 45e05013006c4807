#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""Several languages in one process (programs/tongues): Python and Perl, and Ruby if its library is there, call
each other in chains that change every few microseconds. No sample has a chain that cannot be, and most have
all of their frames. Libraries of languages that do not run change nothing.

Covers: bpf/prog/runtime_send.bpf.h bpf/prog/runtime.bpf.h bpf/tracker/runtimes.c bpf/tracker/runtimefile.c
tui/symbolize/language.c symbols/runtime/perl_check.c symbols/runtime/ruby_check.c
"""

import ctypes.util
import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chains  # noqa: E402
import live  # noqa: E402

ENOUGH = 20000 if os.environ.get("SIZE") == "full" else 4000
MERGED = 0.93
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "tongues", "tongues.c")
RUNS = {"_PyEval_EvalFrameDefault", "Perl_runops_standard"}
RUBIES = ("ruby-3.1", "ruby-3.3", "ruby-3.4")


def asked(*command):
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()


def build(folder):
    """The program; None where Python or Perl cannot be embedded."""
    program = os.path.join(folder, "tongues")
    try:
        live.cc(program, SOURCE, "-w", *asked("perl", "-MExtUtils::Embed", "-e", "ccopts"),
                *asked("pkg-config", "--cflags", "--libs", "python3-embed"),
                *asked("perl", "-MConfig", "-e", 'print "-l:$Config{libperl}"'), "-ldl")
    except (OSError, subprocess.CalledProcessError):
        return None
    return program


def check(tap, name, program, *libraries):
    seen, messages = chains.watch([program, *libraries], RUNS, ENOUGH)
    tap.note(messages)
    chains.judge(tap, seen, f"{name}: ", ENOUGH, MERGED)


def check_loaded(tap, program, rubies):
    """Other languages are only mapped, one of them Python in another version."""
    libraries = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/lib/libpython3.*.so.1.0")))[-1:]
    libraries += [ctypes.util.find_library(name) for name in ("node", "php") if ctypes.util.find_library(name)]
    if not libraries:
        tap.skip("libraries of other languages", "there are none")
        return
    tap.note(" ".join(libraries))
    check(tap, "other languages are mapped", program, *libraries, *rubies)


def main():
    tap = live.Tap()
    live.need(tap)
    with chains.folder() as folder:
        program = build(folder)
        if not program:
            tap.skip("everything", "Python or Perl cannot be embedded")
            tap.done()
        check(tap, "Python and Perl", program)
        rubies = [name for name in map(ctypes.util.find_library, RUBIES) if name][:1]
        if rubies:
            check(tap, "Python, Perl and Ruby", program, *rubies)
        else:
            tap.skip("Ruby", "it has no library")
        check_loaded(tap, program, rubies)
    tap.done()


main()
