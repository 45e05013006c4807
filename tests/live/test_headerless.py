#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files without section headers, or with wrong ones: their rows are those of the whole file, exported
functions have the names that nm reads from the whole file, and stacks are complete.

Covers: symbols/elf/headerless.c symbols/elf/elfsection.c unwind/cfifile.c symbols/names/symread.c
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

PROGRAM = """
volatile unsigned long sink;
__attribute__((noinline)) void leaf(void) { for (int i = 0; i < 1000; i++) sink += i * sink; }
__attribute__((noinline)) void middle(int n) { for (int i = 0; i < n; i++) leaf(); sink++; }
int main(void) { for (;;) middle(100); }
"""
GO = """package main
var sink int
//go:noinline
func leaf() { for i := 0; i < 1000; i++ { sink += i * sink } }
//go:noinline
func middle(n int) { for i := 0; i < n; i++ { leaf() }; sink++ }
func main() { for { middle(100) } }
"""
# Of the ELF header: e_shoff (8 bytes), e_shentsize, e_shnum, e_shstrndx (2 each).
SHOFF, SHNUM, NAMES = 0x28, 0x3c, 0x3e
DAMAGE = {
    "none at all": {SHOFF: bytes(8), SHNUM: bytes(4)},
    "behind the file": {SHOFF: struct.pack("<Q", 1 << 40)},
    "that are something else": {SHOFF: struct.pack("<Q", 0x1000)},
    "of which none is counted": {SHNUM: bytes(2)},
    "without names": {NAMES: bytes(2)},
    "with names of another section": {NAMES: struct.pack("<H", 2)},
}



def offset_of(path, section):
    """Where the file has the offset that the section header says."""
    text = run("readelf", "-hSW", path)
    start = int(re.search(r"Start of section headers: +(\d+)", text).group(1))
    number = int(re.search(rf"\[ *(\d+)\] {re.escape(section)} ", text).group(1))
    return start + 64 * number + 0x18


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, timeout=200, **options).stdout.decode()


def damaged(path, changes):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    for at, value in changes.items():
        data[at:at + len(value)] = value
    out = path + ".damaged"
    with open(out, "wb") as file:
        file.write(data)
    os.chmod(out, 0o755)
    return out


def rows(path):
    return run(live.STACKTOP, "--dump-unwind", path)


def exported(path):
    """{address: names} of the functions with a size."""
    found = {}
    for at, name in re.findall(r"^(\w+) \w+ [TWi] ([^@\s]+)", run("nm", "-DS", "--defined-only", path), re.M):
        found.setdefault(int(at, 16), set()).add(name)
    return found


def chains(program):
    with live.Load([program]) as process:
        text = live.stacktop("-b", "-d", "2", "-n", "1", "-K", "--format", "folded", "-p", str(process.pid))[0]
    return [user for user, _, _ in live.folded(text)]


def test_kinds(tap, folder):
    full = os.path.join(folder, "full")
    run("gcc", "-O2", "-rdynamic", "-x", "c", "-o", full, "-", input=PROGRAM.encode())
    want = rows(full)
    tap.ok("derived" in want and "rsp" in want, "the whole file has rows by CFI and by code", want[-300:])
    wrong = {f"that say another place of {section}": {offset_of(full, section): bytes(8)}
             for section in (".eh_frame", ".dynsym")}
    for what, changes in {**DAMAGE, **wrong}.items():
        path = damaged(full, changes)
        tap.ok(rows(path) == want, f"section headers {what}: the same rows")
    stacks = chains(damaged(full, DAMAGE["none at all"]))
    tap.ok(any(user[0] == "_start" and user[-3:] == ["main", "middle", "leaf"] for user in stacks) and
           all(user[0] == "_start" for user in stacks),
           "a program without section headers has complete stacks with names", stacks[:5])


def test_libraries(tap, folder):
    """DT_HASH and DT_GNU_HASH; real libraries."""
    paths = [re.search(r"libc\.so\.6 => (\S+)", run("ldd", "/bin/ls")).group(1),
             os.path.realpath(shutil.which("python3"))]
    for style in ("sysv", "gnu"):
        path = os.path.join(folder, style + ".so")
        run("gcc", "-O2", "-fPIC", "-shared", "-Wl,--hash-style=" + style, "-x", "c", "-o", path, "-",
            input=PROGRAM.encode())
        paths.append(path)
    for path in filter(os.path.exists, paths):
        copy = os.path.join(folder, os.path.basename(path) + ".whole")
        run("objcopy", "--remove-section=.note.gnu.build-id", path, copy)  # there may be a debug file
        bare = damaged(copy, DAMAGE["none at all"])
        tap.ok(rows(bare) == rows(copy), f"{os.path.basename(path)}: the same rows")
        want = exported(copy)
        told = run(live.STACKTOP, "--symbolize", bare, input="".join(f"{at:x}\n" for at in want).encode())
        wrong = [line for line, names in zip(told.splitlines(), want.values()) if line.split("\t")[1] not in names]
        tap.ok(want and len(told.splitlines()) == len(want) and not wrong,
               f"{os.path.basename(path)}: the names of {len(want)} exported functions", wrong[:5])


def test_go(tap, folder):
    what = "Go's table of functions is found without its section"
    if not shutil.which("go"):
        return tap.skip(what, "no Go")
    source, full = os.path.join(folder, "g.go"), os.path.join(folder, "g")
    with open(source, "w", encoding="ascii") as file:
        file.write(GO)
    run("go", "build", "-o", full, source, env={**os.environ, "HOME": folder, "GOFLAGS": "-p=1"})
    path = damaged(full, DAMAGE["none at all"])
    tap.ok(rows(path) == rows(full), what + ": the same rows")
    stacks = chains(path)
    want = ["runtime.main", "main.main", "main.middle", "main.leaf"]
    return tap.ok(any(user[-4:] == want for user in stacks), what + ": names", stacks[:5])


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory() as folder:
        test_kinds(tap, folder)
        test_libraries(tap, folder)
        test_go(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
