#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 180 s
"""A runtime that is there and yields no frame says so: a message, once, and a line of --check. Of a Perl
whose version is not known, and of a program that has the symbols of Python and no frames in its memory;
not of one that spends its time outside of the code that runs Python's.

A second interpreter to be refused may be named by $STACKTOP_REFUSED, a command that is busy in it.

Covers: tui/collect/mutes.c tui/collect/collector_slice.c bpf/tracker/runtimes.c bpf/tracker/runtimefile.c
Covers: bpf/report/languages.c bpf/report/check.c
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "hidden.c")
SPIN = "sub f { my $x = 0; $x += $_ for 1 .. 1000; $x } f() while 1"
TOLD = "no frames of its language for "


def sampled(process, *options):
    """The messages of a run that has some hundred samples of the process, and is not the first slice."""
    _, err, _ = live.stacktop("-b", "-F", "1999", "-d", "2", "-n", "5", "-p", str(process.pid), *options)
    return [line for line in err.splitlines() if f"({process.pid})" in line]


def check_lines():
    out, _, _ = live.stacktop("--check")
    return [line for line in out.splitlines() if " runtime:" in line]


def line_of(lines, name):
    return "".join(line for line in lines if f"  {name}, " in line)


def hidden(tap, folder):
    path = os.path.join(folder, "hidden")
    live.cc(path, SOURCE, "-O1", "-rdynamic")
    with live.Load([path]) as process:
        said = sampled(process)
        listed = line_of(check_lines(), "hidden")
    tap.note("\n".join(said + [listed]))
    tap.ok(len(said) == 1 and re.search(TOLD + r"hidden .*\d{3,} samples of it ran Python 3\.11", said[0]),
           "a Python without frames is told of")
    tap.ok("runtime:Python-3.11" in listed and listed.startswith("--") and "not proven" in listed,
           "--check lists it as not proven")
    with live.Load([path, "beside"]) as process:
        said = sampled(process)
    tap.note("\n".join(said))
    tap.ok(not said, "samples outside of the code that runs Python's do not count")


def stripped(tap, folder):
    """An interpreter without any symbols is known by its name; another program is none."""
    for name in ("php8.2", "phpfarm"):
        live.cc(os.path.join(folder, name), SOURCE, "-O1", "-static", "-s")
    with live.Load([os.path.join(folder, "php8.2")]) as process, live.Load([os.path.join(folder, "phpfarm")]):
        said = sampled(process)
        lines = check_lines()
    tap.note("\n".join(said + lines))
    tap.ok(len(said) == 1 and "the layout of PHP in php8.2 is not known: it has no symbols" in said[0],
           "a program without symbols is told of")
    tap.ok("it has no symbols" in line_of(lines, "php8.2") and not line_of(lines, "phpfarm"), "--check lists it")


def other_perl(folder):
    """A copy of perl whose version is one that never was; None: it is not in one file."""
    path = shutil.which("perl")
    names = subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=False).stdout if path else ""
    place = re.search(r"^([0-9a-f]+) R PL_version$", names, re.M)
    if not place:
        return None
    copy = os.path.join(folder, "perl")
    segments = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout
    for offset, vaddr, size in re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", segments):
        at = int(place[1], 16) - int(vaddr, 16)
        if 0 <= at < int(size, 16):
            shutil.copy(path, copy)
            with open(copy, "r+b") as file:
                file.seek(int(offset, 16) + at)
                file.write(b"\x63")
            return copy
    return None


def refused(tap, command, runtime):
    with live.Load(command) as process:
        said = sampled(process)
        listed = line_of(check_lines(), os.path.basename(os.path.realpath(f"/proc/{process.pid}/exe")))
    tap.note("\n".join(said + [listed]))
    tap.ok(len(said) == 1 and TOLD in said[0] and f"the layout of {runtime}" in said[0],
           f"{runtime}: a layout that is not known is told of")
    tap.ok(listed.startswith("--") and "its layout is not known" in listed, f"{runtime}: --check says so")


def python(tap):
    """One that has frames: nothing is said, and --check says that there are."""
    with live.Load([sys.executable, "-c", "while True: sum(range(1000))"]) as process:
        said = sampled(process)
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
            names = re.findall(r"r-xp .*/(\S*python3\.\S*)", maps.read())
        lines = check_lines()
        listed = "".join(line_of(lines, name) for name in names)
    tap.note("\n".join(said + [listed]))
    tap.ok(not said, "nothing is said of a Python that has frames")
    tap.ok("ok  runtime:Python-" in listed and "frames of its language" in listed, "--check lists it")


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory() as folder:
        hidden(tap, folder)
        stripped(tap, folder)
        perl = other_perl(folder)
        if perl:
            refused(tap, [perl, "-e", SPIN], "Perl 5.99")
        else:
            tap.skip("a Perl of another version", "perl is not in one file, or not installed")
    if os.environ.get("STACKTOP_REFUSED"):
        refused(tap, shlex.split(os.environ["STACKTOP_REFUSED"]), os.environ.get("STACKTOP_REFUSED_AS", ""))
    python(tap)
    tap.done()


if __name__ == "__main__":
    main()
