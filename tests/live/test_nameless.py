#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions without a symbol. Those named by debug information or .gnu_debugdata: the live view shows
the names that --symbolize prints, and both match the source. Those behind a symbol without a size do
not have its name, neither by CFI nor in musl's trampoline, which has none.

Covers: symbols/elf/debugfile.c symbols/dwarf/debuginfo.c tui/symbolize/resolver.c tui/symbolize/modules.c
"""

import lzma
import os
import re
import shutil
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
ASSEMBLED = """	.text
	.globl assembled
	.type assembled,%function
assembled:
	nop
	ret
	.section .note.GNU-stack,"",%progbits
"""
LIBRARY = "void assembled(void);\n" + PROGRAM.replace("int main", "int run_it") \
    .replace("\n__attr", "\nstatic __attr").replace("hidden_leaf();", "hidden_leaf(), assembled();")
HANDLER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
static volatile unsigned int sink;
static void handler(int number)
{
	static int told;
	char *trampoline = __builtin_return_address(0);
	Dl_info file;

	if (!told++) {
		dladdr(trampoline, &file);
		printf("%lx\n", (unsigned long)(trampoline - (char *)file.dli_fbase));
		fflush(stdout);
	}
	for (int i = 0; i < 1000000; i++)
		sink += number;
}
int main(void)
{
	signal(SIGUSR1, handler);
	for (;;)
		raise(SIGUSR1);
}
"""


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


def build_library(folder):
    """(a program, its library with a symbol that has no size, where the functions behind that begin)"""
    program, library = (os.path.join(folder, name) for name in ("user", "libbehind.so"))
    assembled = os.path.join(folder, "assembled.s")
    with open(assembled, "w", encoding="ascii") as file:
        file.write(ASSEMBLED)
    run("gcc", "-O1", "-fPIC", "-shared", "-o", library, assembled, "-x", "c", "-", input=LIBRARY.encode())
    found = re.findall(r"^(\w+) t (hidden_\w+)$", run("nm", library).decode(), re.M)
    run("strip", library)
    run("gcc", "-o", program, "-x", "c", "-", "-x", "none", library,
        input=b"int run_it(void); int main(void) { run_it(); }")
    return program, library, {name: int(address, 16) for address, name in found}


def frames_of(process):
    """The user frames of the complete stacks of a process, outermost first."""
    text = live.stacktop("-b", "-d", "2", "-n", "1", "-K", "--format", "folded", "-p", str(process.pid))[0]
    return [user for user, _, _ in live.folded(text) if not user[0].startswith("[")]


def test_behind(tap, folder):
    program, library, starts = build_library(folder)
    with live.Load([program]) as process:
        stacks = frames_of(process)
    want = {f"libbehind.so+0x{starts[name]:x}" for name in HIDDEN}
    tap.ok(stacks and want == {frame for user in stacks for frame in user[user.index("run_it") + 1:]},
           "functions behind a symbol without a size have no name", stacks[:3])
    told = run(live.STACKTOP, "--symbolize", library, input=f"{starts['hidden_leaf'] + 1:x}\n".encode()).decode()
    tap.ok("assembled" not in told, "nor with --symbolize", told)


def test_musl(tap, folder):
    what = "nor has musl's trampoline the name of what precedes it"
    if not shutil.which("musl-gcc"):
        return tap.skip(what, "no musl-gcc")
    program = os.path.join(folder, "handler")
    run("musl-gcc", "-O1", "-o", program, "-x", "c", "-", input=HANDLER.encode())
    with live.Load([program], stdout=subprocess.PIPE) as process:
        start = process.stdout.readline().decode().strip()
        stacks = frames_of(process)
    callers = {user[user.index("handler") - 1] for user in stacks if "handler" in user}
    return tap.ok({re.sub(r"^.*\+0x", "", frame) for frame in callers} == {start}, what, f"{callers}, {start}")


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
        test_behind(tap, folder)
        test_musl(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
