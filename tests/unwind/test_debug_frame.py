#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with functions described only by .debug_frame, or by both sections, plain and compressed.
The tables must match readelf's and elfutils' reading of them.

Covers: unwind/cfifile.c unwind/ehframe.c unwind/dump.c
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import live  # noqa: E402

# From 2.45 on readelf prints no row of an FDE that changes nothing.
BINUTILS = re.search(r"(\d+)\.(\d+)", subprocess.run(["readelf", "--version"], capture_output=True, text=True,
                                                      check=True).stdout)
LEAST = 12 if tuple(map(int, BINUTILS.groups())) < (2, 45) else 10
VERIFY = os.path.join(live.BUILD, "tests", "unwind", "verify_unwind")
CC = os.environ.get("CC", "gcc")

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) int small(int a) { return printf("%d\\n", a); }
__attribute__((noinline)) int large(int a)
{
	char buffer[5000];
	memset(buffer, a, sizeof(buffer));
	return small(buffer[a]) + puts(buffer);
}
__attribute__((noinline)) int variable(int n)
{
	char buffer[n];
	memset(buffer, n, (size_t)n);
	return small(buffer[n / 2]) + large(n);
}
int main(int argc, char **argv) { (void)argv; return variable(argc + 10); }
"""

# Sixteen bytes each: only .debug_frame, both (other rules), only .debug_frame, .eh_frame, none.
# One FDE of .debug_frame lies over the first three.
OVERLAP = """
	.text
	.globl _start
	.type _start, @function
_start:	.skip 16, 0x90
inner:	.cfi_startproc
	.cfi_def_cfa_offset 24
	.skip 16, 0x90
	.cfi_endproc
after:	.skip 16, 0x90
	.cfi_startproc
	.cfi_def_cfa_offset 32
	.skip 16, 0x90
	.cfi_endproc
none:	.skip 16, 0x90
	.section .debug_frame, "", @progbits
cie:	.long cie_end - . - 4
	.long 0xffffffff
	.byte 3, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1
	.balign 4
cie_end:
	.long fde_end - . - 4
	.long 0
	.quad _start, 48
	.byte 0x48, 0x0e, 16, 0x50, 0x0e, 40, 0x4c, 0x0e, 48
	.balign 8
fde_end:
"""


def tool(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def table(path):
    """[(pc, cfa, fp, ra)] of --dump-unwind."""
    out, err, status = live.stacktop("--dump-unwind", path)
    if status or err:
        return None
    return [(int(row[0], 16), *row[1:]) for row in (line.split("\t") for line in out.splitlines())]


def rule(rows, pc):
    found = ("end",)
    for row in rows:
        if row[0] > pc:
            break
        found = row[1:]
    return found


def readelf_debug_frame(path):
    """{pc: CFA} of the rows that readelf finds in .debug_frame."""
    out = tool("readelf", "-W", "--debug-dump=frames-interp", path)
    section, rows = "", {}
    for line in out.splitlines():
        match = re.match(r"Contents of the (\S+) section", line)
        if match:
            section = match.group(1)
        if "debug_frame" not in section:
            continue
        match = re.match(r"([0-9a-f]{16}) +(\S+) ", line)
        if match and int(match.group(1), 16):
            rows[int(match.group(1), 16)] = match.group(2)
    return rows


def symbols(path):
    out = {}
    for line in tool("nm", "--plugin=", path).splitlines():
        fields = line.split()
        if len(fields) == 3:
            out[fields[2]] = int(fields[0], 16)
    return out


def verified(path):
    """libdw's verdict in one line; None when something differs."""
    result = subprocess.run([VERIFY, path], capture_output=True, text=True, check=False)
    last = result.stdout.splitlines()[-1]
    good = result.returncode == 0 and last.endswith("100.00000 %")
    return last if good else None


def check_same(tap, name, path, functions, plain=None):
    rows = table(path)
    if rows is None:
        tap.ok(False, name, "no table")
        return
    names = symbols(path)
    missing = [f for f in functions if rule(rows, names[f]) != ("rsp+8", "u", "c-8")]
    tap.ok(not missing, f"{name}: every function has its rows", f"not {missing}")
    reference = readelf_debug_frame(path)
    wrong = {hex(pc): cfa for pc, cfa in reference.items() if rule(rows, pc)[0] != cfa}
    tap.ok(len(reference) >= LEAST and not wrong, f"{name}: as readelf reads them",
           f"{len(reference)} rows, not {wrong}")
    if plain is not None:
        tap.ok(rows == plain, f"{name}: as uncompressed")
    why = verified(path)
    tap.ok(why, f"{name}: as libdw reads them", why or "")


def libelf_reads(path):
    """True if this libelf supports the compression."""
    return "ZSTD" in tool("eu-readelf", "-z", "-S", path)


def check_compressed(tap, path, functions):
    plain = table(path)
    for kind in ("zlib", "zlib-gnu", "zstd"):
        packed = f"{path}.{kind}"
        try:
            tool("objcopy", f"--compress-debug-sections={kind}", path, packed)
        except subprocess.CalledProcessError:
            tap.skip(f"{kind}: compressed", "not by this objcopy")
            continue
        headers = tool("readelf", "-SW", packed)
        if kind == "zlib-gnu":
            tap.ok(".zdebug_frame" in headers, f"{kind}: is compressed")
        else:
            tap.ok(re.search(r" \.debug_frame .* C +\d", headers), f"{kind}: is compressed")
        if kind == "zstd" and not libelf_reads(packed):
            # The functions of .debug_frame are lost, all others are not.
            rows = table(packed)
            tap.ok(rows and rule(rows, symbols(packed)["_start"])[0] != "end",
                   f"{kind}: .eh_frame is read although libelf cannot read the other")
            continue
        check_same(tap, kind, packed, functions, plain)


def check_overlap(tap, scratch):
    source, path = os.path.join(scratch, "overlap.s"), os.path.join(scratch, "overlap")
    with open(source, "w", encoding="ascii") as file:
        file.write(OVERLAP)
    tool(CC, "-nostdlib", "-static", "-Wl,--build-id=none", "-o", path, source)
    start = symbols(path)["_start"]
    rows = [(pc - start, cfa) for pc, cfa, _, _ in table(path) or []]
    expected = [(0, "rsp+8"), (8, "rsp+16"), (16, "rsp+24"), (32, "rsp+40"), (36, "rsp+48"),
                (48, "rsp+32"), (64, "end")]
    tap.ok(rows == expected, ".eh_frame comes first, address by address", str(rows))
    why = verified(path)
    tap.ok(why, "an overlap is what libdw makes of it", why or "")


def check_broken(tap, path, scratch):
    """A .debug_frame that claims to be larger than any memory costs only itself."""
    with open(path + ".zlib", "rb") as file:
        content = bytearray(file.read())
    headers = tool("readelf", "-SW", path + ".zlib")
    offset = int(re.search(r" \.debug_frame +\S+ +\S+ +(\S+)", headers).group(1), 16)
    for name, size in (("huge", 1 << 62), ("too large", 1 << 31), ("too small", 64)):
        content[offset + 8:offset + 16] = size.to_bytes(8, "little")
        broken = os.path.join(scratch, "broken")
        with open(broken, "wb") as file:
            file.write(content)
        rows = table(broken)
        # What is left for the others is derived from the machine code.
        tap.ok(rows and "derived" not in rule(rows, symbols(broken)["_start"]) and
               rule(rows, symbols(broken)["variable"])[-1] in ("end", "derived"),
               f"a compressed size that is {name} costs .debug_frame only")


def main():
    tap = live.Tap()
    with tempfile.TemporaryDirectory() as scratch:
        source, path = os.path.join(scratch, "program.c"), os.path.join(scratch, "program")
        with open(source, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        options = [CC, "-O2", "-g", "-fno-asynchronous-unwind-tables", "-fno-exceptions"]
        functions = ["small", "large", "variable", "main"]
        tool(*options, "-o", path, source)
        check_same(tap, "beside .eh_frame of the start files", path, functions)
        check_compressed(tap, path, functions)
        check_broken(tap, path, scratch)
        alone = os.path.join(scratch, "alone")
        tool("objcopy", "--remove-section=.eh_frame", "--remove-section=.eh_frame_hdr", path, alone)
        check_same(tap, "without any .eh_frame", alone, functions)
        static = os.path.join(scratch, "static")
        tool(*options, "-static", "-o", static, source)
        check_same(tap, "static", static, functions)
        check_overlap(tap, scratch)
    tap.done()


if __name__ == "__main__":
    main()
