#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of Go's functions from .gopclntab, which is all that a stripped Go program has.

Tables of each version for functions of an assembler program, with depths by its labels: those that are
cut off or lie must cost their own function only. And a real program: the rows of the stripped one must be
those that readelf reads in the CFI of the full one, apart from functions whose CFI is wrong; all of them
are those of the full one.

Covers: unwind/go_pcsp.c unwind/go_cfi.c symbols/elf/pclntab.c
"""

import bisect
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import live  # noqa: E402

SOURCE = """
	.text
	.globl "main.old"
"main.old":
	sub $24, %rsp
a_low:	mov %rbp, 16(%rsp)
a_kept:	lea 16(%rsp), %rbp
	call *%rax
	mov 16(%rsp), %rbp
	add $24, %rsp
a_back:	ret
a_pad:	.skip 16, 0xcc
"main.new":
	push %rbp
b_low:	mov %rsp, %rbp
	sub $0x1000, %rsp
b_more:	call *%rax
	add $0x1000, %rsp
b_less:	pop %rbp
b_back:	ret
	.skip 16, 0xcc
"main.leaf":
	ret
	.skip 16, 0xcc
"main.long":	.skip 16, 0x90
"main.none":	.skip 16, 0x90
"main.endless":	.skip 16, 0x90
"main.outside":	.skip 16, 0x90
"runtime.goexit":
	nop
	call *%rax
c_pad:	.skip 16, 0xcc
"runtime.mcall":
	mov 0x38(%r14), %rsp
d_new:	push %rax
d_more:	call *%r12
	ud2
d_pad:	.skip 16, 0xcc
"runtime.sigreturn":
	mov $15, %eax
	syscall
	.skip 16, 0xcc
"end":	nop
"""

# Depths from a label on, and where the table ends. main.leaf's reaches to the end of the function;
# main.long's is longer than it; that of the next has the offset 0, that of endless no end.
DEPTHS = {
    "main.old": [("main.old", 0), ("a_low", 24), ("a_back", 0), ("a_pad", None)],
    "main.new": [("main.new", 0), ("b_low", 8), ("b_more", 0x1008), ("b_less", 8), ("b_back", 0),
                 ("main.leaf", None)],
    "main.leaf": [("main.leaf", 0), ("main.long", None)],
    "main.long": [("main.long", 16), ("main.none", None)],
    "main.none": None,
    "main.endless": None,
    "main.outside": None,
    "runtime.goexit": [("runtime.goexit", 0), ("c_pad", None)],
    "runtime.mcall": [("runtime.mcall", 0), ("d_more", 8), ("d_pad", None)],
    "runtime.sigreturn": [("runtime.sigreturn", 0), ("end", None)],
}


def stack(offset):
    return f"rsp+{offset}", "u", "c-8"


def saved(offset):
    return f"rsp+{offset}", "c-16", "c-8"


END = ("end", "-", "-")
OUTERMOST = ("expr", "-", "u")
EXPECTED = [
    ("main.old", stack(8)), ("a_low", stack(32)), ("a_kept", saved(32)), ("a_back", stack(8)), ("a_pad", END),
    ("main.new", stack(8)), ("b_low", saved(16)), ("b_more", saved(0x1010)), ("b_less", saved(16)),
    ("b_back", stack(8)), ("main.long", stack(24)), ("main.none", END),
    ("runtime.goexit", OUTERMOST), ("c_pad", END), ("runtime.mcall", stack(8)), ("d_new", OUTERMOST),
    ("d_pad", END)]
MAGIC = {"1.2": 0xfffffffb, "1.16": 0xfffffffa, "1.18": 0xfffffff0, "1.20": 0xfffffff1}

PROGRAM = """package main

import (
	"fmt"
	"os"
	"sort"
)

func main() {
	words := os.Args
	sort.Slice(words, func(i, j int) bool { return words[i] < words[j] })
	fmt.Println(words)
}
"""
RUNTIME = "package main\n\nfunc main() {\n\tprintln(1)\n}\n"
# Their CFI is wrong: unwind/go_cfi.c.
WRONG = re.compile(r"runtime\.(sigreturn(__sigaction)?|systemstack|mcall|morestack|asmcgocall(_no_g)?|"
                   r"cgocallback|clone|vgetrandom1|rt0_go|goexit|nanotime1|walltime1?)(\.abi0)?|gogo|time\.now(\.abi0)?")


def uleb(value):
    out = b""
    while value > 0x7f:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def depths(steps, at):
    """A table by pc: the change of the depth, zigzag, and the bytes for which it holds."""
    out, last = b"", -1
    for (label, depth), (end, _) in zip(steps, steps[1:]):
        change = depth - last
        out += uleb(change << 1 if change >= 0 else (-change << 1) - 1) + uleb(at[end] - at[label])
        last = depth
    return out + b"\0"


def pclntab(version, at, text):
    old, small = version == "1.2", version in ("1.18", "1.20")
    word = "<I" if small else "<Q"
    names, pcs, where, tables = b"\0", b"\0", {}, {"main.none": 0, "main.outside": 0x7fffffff}
    for name, steps in DEPTHS.items():
        where[name] = len(names)
        names += name.encode() + b"\0"
        if steps:
            tables[name] = len(pcs)
            pcs += depths(steps, at)
    # The change ends with the table, its bytes do not.
    tables["main.endless"] = len(pcs)
    pcs += b"\x02"
    header = 16 if old else 8 + 8 * (8 if small else 7)
    names_at = header
    funcs_at = 0 if old else names_at + len(names)
    pairs_at = header if old else funcs_at
    size = (len(DEPTHS) * 2 + 1) * struct.calcsize(word)
    data_at = pairs_at + size
    pcs_at = data_at + 40 * len(DEPTHS)
    if old:
        names_at = pcs_at
        pcs_at = names_at + len(names)
    base = text if small else 0
    pairs = data = b""
    for i, (name, _) in enumerate(DEPTHS.items()):
        pairs += struct.pack(word, at[name] - base) + struct.pack(word, data_at + 40 * i - funcs_at)
        table = tables[name] + (pcs_at if old and tables[name] else 0)
        data += (struct.pack(word, at[name] - base) +
                 struct.pack("<IIII", where[name] + (names_at if old else 0), 0, 0, table)).ljust(40, b"\0")
    pairs += struct.pack(word, at["end"] - base)
    head = struct.pack("<IBBBBQ", MAGIC[version], 0, 0, 1, 8, len(DEPTHS))
    if old:
        return head + pairs + data + names + pcs
    head += struct.pack("<Q", 0) + (struct.pack("<Q", text) if small else b"")
    head += struct.pack("<QQQQQ", names_at, names_at, names_at, pcs_at, funcs_at)
    return head + names + pairs + data + pcs


def dump(path):
    out, err, status = live.stacktop("--dump-unwind", path)
    if status:
        return err.strip()
    return [(int(row[0], 16), tuple(row[1:4])) for row in (line.split("\t") for line in out.splitlines())]


def symbols(path):
    text = subprocess.run(["nm", "-n", path], check=True, capture_output=True, text=True).stdout
    return [(int(line[:16], 16), line[19:]) for line in text.splitlines() if line[:16].strip()]


def test_versions(tap, folder):
    source, full, table, bare = (os.path.join(folder, name) for name in ("a.S", "full", "table", "bare"))
    with open(source, "w", encoding="ascii") as file:
        file.write(SOURCE)
    subprocess.run([os.environ.get("CC", "gcc"), "-nostdlib", "-static", "-Wl,-e,main.old", "-o", full,
                    source], check=True)
    at = {name: addr for addr, name in symbols(full)}
    expected = [(at[label], rule) for label, rule in EXPECTED]
    for version in MAGIC:
        with open(table, "wb") as file:
            file.write(pclntab(version, at, at["main.old"]))
        subprocess.run(["objcopy", "-S", "--add-section", f".gopclntab={table}", full, bare], check=True)
        found = dump(bare)
        tap.ok(found == expected, f"tables as of {version}",
               "" if found == expected else f"{found} instead of {expected}")


def frames(path):
    """(address, CFA) of each row that readelf finds, and the ends of FDEs, ascending."""
    text = subprocess.run(["readelf", "--debug-dump=frames-interp", path], check=True,
                          capture_output=True, text=True).stdout
    rows = []
    for block in text.split("\n\n"):
        head = re.search(r" FDE cie=\w+ pc=(\w+)\.\.(\w+)", block)
        if head:
            rows += [(int(addr, 16), cfa) for addr, cfa in
                     re.findall(r"^([0-9a-f]{16}) (\S+)", block[head.end():], re.M)]
            rows.append((int(head.group(2), 16), None))
    return sorted(rows, key=lambda row: (row[0], row[1] is not None))


def check_twins(tap, name, full, bare):
    table = dump(bare)
    tap.ok(table == dump(full), f"{name}: the rows of the stripped program are those of the full one")
    starts = [addr for addr, _ in table]
    names = [(addr, symbol) for addr, symbol in symbols(full) if symbol[:8] != "runtime.e"]
    where = [addr for addr, _ in names]
    checked, wrong = 0, []
    rows = frames(full)
    for (addr, cfa), (end, _) in zip(rows, rows[1:]):
        if cfa is None or addr == end or WRONG.fullmatch(names[bisect.bisect(where, addr) - 1][1]):
            continue
        checked += 1
        # The linker's CFI ends one byte in front of the function's end.
        for pc in (addr, end - 1):
            found = table[bisect.bisect(starts, pc) - 1][1][0]
            if found != cfa:
                wrong.append((hex(pc), found, cfa))
    tap.ok(checked > 3000 and not wrong, f"{name}: {checked} rows are readelf's", str(wrong[:5] if wrong else ""))
    fp = sum(rule[1] == "c-16" for _, rule in table)
    tap.ok(fp > len(table) / 4, f"{name}: {fp} of {len(table)} rows have a saved frame pointer")


def test_real(tap, folder):
    env = {"GOCACHE": os.path.join(folder, "cache"), **os.environ, "GOFLAGS": "", "HOME": folder,
           "CGO_ENABLED": "0"}
    source, full, bare = (os.path.join(folder, name) for name in ("main.go", "go", "go.bare"))
    # The library is compiled anew for pie, of which the runtime is enough.
    for name, flags, text in (("plain", [], PROGRAM), ("pie", ["-buildmode=pie"], RUNTIME)):
        with open(source, "w", encoding="ascii") as file:
            file.write(text)
        subprocess.run(["go", "build", *flags, "-o", full, source], env=env, check=True)
        subprocess.run(["strip", "-o", bare, full], check=True)
        check_twins(tap, name, full, bare)


def main():
    tap = live.Tap()
    with tempfile.TemporaryDirectory(prefix="stacktop-pcsp-") as folder:
        test_versions(tap, folder)
        if shutil.which("go"):
            test_real(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
