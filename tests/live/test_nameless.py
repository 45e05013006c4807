#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions without a symbol, named only by debug information or .gnu_debugdata: the live view shows
the names that --symbolize prints, and both match the source.

Covers: symbols/elf/debugfile.c symbols/dwarf/debuginfo.c tui/symbolize/resolver.c tui/symbolize/modules.c
"""

import lzma
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

PROGRAM = """
static volatile unsigned int sink;
static __attribute__((noinline)) void hidden_leaf(void)
{
	for (int i = 0; i < 1000000; i++)
		sink += i;
}
__attribute__((noinline)) void hidden_caller(void)
{
	hidden_leaf();
	for (int i = 0; i < 1000000; i++)
		sink -= i;
}
int main(void)
{
	for (;;)
		hidden_caller();
}
"""
HIDDEN = ("hidden_leaf", "hidden_caller")


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, timeout=200, **options).stdout


def build(folder):
    """({name: path} of programs without the symbols, the addresses of the functions)"""
    full, small, dwarf, mini = (os.path.join(folder, name)
                                for name in ("full", "small", "dwarf", "mini"))
    run("gcc", "-O1", "-g", "-x", "c", "-o", full, "-", input=PROGRAM.encode())
    run("objcopy", "-w", "--strip-symbol=*", full, dwarf)
    run("strip", "-g", "-o", small, full)
    with open(small, "rb") as source, lzma.open(small + ".xz", "wb") as packed:
        packed.write(source.read())
    run("strip", "-o", mini, full)
    run("objcopy", f"--add-section=.gnu_debugdata={small}.xz", mini)
    found = re.findall(r"^(\w+) [tT] (\w+)$", run("nm", full).decode(), re.M)
    return {"debug information": dwarf, ".gnu_debugdata": mini}, \
        {name: address for address, name in found}


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory() as folder:
        programs, where = build(folder)
        for what, path in programs.items():
            told = run(live.STACKTOP, "--symbolize", path,
                       input="".join(where[name] + "\n" for name in HIDDEN).encode()).decode()
            names = tuple(line.split("\t")[1] for line in told.splitlines())
            tap.ok(names == HIDDEN, f"--symbolize has names from {what}", told)
            with live.Load([path]) as process:
                text = run(live.STACKTOP, "-b", "-d", "2", "-n", "1", "-p", str(process.pid),
                           stdin=subprocess.DEVNULL).decode()
            file = os.path.basename(path)
            line = r"  <stdin>:\d+" if what == "debug information" else ""
            tap.ok(all(re.search(rf"{file} +{name}{line}$", text, re.M) for name in HIDDEN) and
                   f"{file}+0x" not in text, f"so has the live view, from {what}", text[-600:])
    tap.done()


if __name__ == "__main__":
    main()
