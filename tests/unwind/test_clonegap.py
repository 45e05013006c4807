#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The gap in the CFI of clone and clone3, from the system call to the child's own function: in this
machine's C library, with objdump and readelf as references for instructions and functions; and in
assembly, as glibc writes it, in each other form that assemblers produce, and spoilt in every bit and
in every way that would make the rule wrong.

Covers: unwind/arch/x86_64/clonegap.c
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import live  # noqa: E402

# NAME_gap: where the gap begins, NAME_child: the child's function, NAME_error: where errors lead.
SOURCE = """
	.macro head name
	.globl \\name
	.type \\name, @function
\\name:
	.cfi_startproc
	mov $435, %eax
	.cfi_endproc
\\name\\()_gap:
	.endm
	.macro child name
\\name\\()_child:
	.cfi_startproc
	.cfi_undefined rip
	call *%rdx
	ud2
	.cfi_endproc
	.cfi_startproc
\\name\\()_error:
	ret
	.cfi_endproc
\\name\\()_end:
	.skip 16, 0xcc
	.endm
	.macro near opcode, target
	.byte 0x0f, \\opcode
	.long \\target - . - 4
	.endm

	.text
	.macro plain name
	head \\name
	syscall
	test %rax, %rax
	jl \\name\\()_error
	je \\name\\()_child
	ret
	child \\name
	.endm

	plain usual

	head near_error
	syscall
	test %rax, %rax
	near 0x8c, near_error_error
	je near_error_child
	ret
	child near_error

	head near_child
	syscall
	test %rax, %rax
	jl near_child_error
	near 0x84, near_child_child
	ret
	child near_child

	head near_both
	syscall
	test %rax, %rax
	near 0x8c, near_both_error
	near 0x84, near_both_child
	ret
	child near_both

	head half_test
	syscall
	test %eax, %eax
	jl half_test_error
	je half_test_child
	ret
	child half_test

	head other_way
	syscall
	test %rax, %rax
	je other_way_child
	jl other_way_error
	ret
	child other_way

	head not_zero
	syscall
	test %rax, %rax
	jl not_zero_error
	jne not_zero_child
	ret
	child not_zero

	head padded
	syscall
	test %rax, %rax
	jl padded_error
	je padded_child
	ret
	nop
	child padded

	head pops
	syscall
	test %rax, %rax
	jl pops_error
	je pops_child
	pop %rcx
	ret
	child pops

	head ret_cleans
	syscall
	test %rax, %rax
	jl ret_cleans_error
	je ret_cleans_child
	ret $8
	child ret_cleans

	head before
	nop
	syscall
	test %rax, %rax
	jl before_error
	je before_child
	ret
	child before

	head elsewhere
	syscall
	test %rax, %rax
	jl elsewhere_error
	je elsewhere_error
	ret
	child elsewhere

	head short
	syscall
	test %rax, %rax
	je short_child
	ret
	child short

	# The child's function has a caller: not outermost.
	head called
	syscall
	test %rax, %rax
	jl called_end
	je called_child
	ret
called_child:
	.cfi_startproc
	call *%rdx
	ud2
	.cfi_endproc
called_end:
	.skip 16, 0xcc

	# The first function's CFI covers it all.
covered:
	.cfi_startproc
covered_gap:
	syscall
	test %rax, %rax
	jl covered_end
	je covered_child
	ret
	.cfi_endproc
covered_child:
	.cfi_startproc
	.cfi_undefined rip
	call *%rdx
	ud2
	.cfi_endproc
covered_end:
	.skip 16, 0xcc

	.globl _start
_start:
	.cfi_startproc
	ret
	.cfi_endproc
"""

GAP = ("rsp+8", "u", "c-8|u")
KNOWN = ("usual", "near_error", "near_child", "near_both")
UNKNOWN = ("half_test", "other_way", "not_zero", "padded", "pops", "ret_cleans", "before",
           "elsewhere", "short", "called", "covered")
USUAL = bytes.fromhex("0f05 4885c0 7c00 7401 c3")
ERROR_DISTANCE = 6  # the byte of USUAL with the distance of the error's jump: it may have any value


def run(*command):
    """Ignores readelf's status: it complains about a file and still prints all of it."""
    done = subprocess.run(command, check=command[0] != "readelf", capture_output=True, text=True)
    return done.stdout


def dump(path):
    """([(address, (cfa, fp, ra))] of the table, the error)"""
    out, err, status = live.stacktop("--dump-unwind", path)
    rows = [(int(row[0], 16), tuple(row[1:]))
            for row in (line.split("\t") for line in out.splitlines())]
    return rows, "" if status == 0 else err.strip()


def gaps(rows):
    """[(first byte, end, RA of the next row)] of the gap's rows."""
    return [(rows[i][0], rows[i + 1][0], rows[i + 1][1][2])
            for i in range(len(rows) - 1) if rows[i][1] == GAP]


def functions(path):
    """[start, end) of each FDE, by readelf."""
    text = run("readelf", "-W", "--debug-dump=frames", path)
    return {(int(start, 16), int(end, 16))
            for start, end in re.findall(r" FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)", text)}


def check_library(tap):
    path = next((line.split()[-1] for line in open("/proc/self/maps", encoding="utf-8")
                 if re.search(r"/libc(?:-2\.\d+)?\.so", line)), None)
    if not path or "musl" in path:
        tap.skip("the C library", "not glibc")
        return
    code = re.compile(
        r"^ *([0-9a-f]+):\s+syscall *\n"
        r".*\ttest +%rax,%rax\n.*\tjl .*\n.*\tje +([0-9a-f]+) .*\n.*\tret[q]? *\n *([0-9a-f]+):",
        re.M)
    listing = run("objdump", "-d", "--no-show-raw-insn", path)
    listing = re.sub(r"\n\n[0-9a-f]+ <.*>:\n", "\n", listing)  # names are no instructions
    found = [tuple(int(word, 16) for word in match) for match in code.findall(listing)]
    fdes = functions(path)
    ends, starts = {end for _, end in fdes}, {start for start, _ in fdes}
    expected = [(start, child, "u") for start, child, end in found
                if child == end and start in ends and end in starts]
    rows, trouble = dump(path)
    tap.ok(not trouble, f"--dump-unwind {path}", trouble)
    tap.ok(expected and gaps(rows) == expected, "the gaps of the C library",
           f"{[(hex(a), hex(b)) for a, b, _ in gaps(rows)]}, objdump has "
           f"{[(hex(a), hex(b)) for a, b, _ in expected]}")
    names = run("nm", "-D", path)
    clone = re.search(r"^([0-9a-f]+) . clone(?:@.*)?$", names, re.M)
    start = int(clone.group(1), 16)
    tap.ok(any(start < a < start + 256 for a, _, _ in expected), "clone is one of them")


def check_forms(tap, path, at):
    rows, trouble = dump(path)
    tap.ok(not trouble, "--dump-unwind", trouble)
    found = gaps(rows)
    for name in KNOWN:
        wanted = (at[name + "_gap"], at[name + "_child"], "u")
        tap.ok(wanted in found, f"{name}: known")
    for name in UNKNOWN:
        bad = [row for row in rows if at[name + "_gap"] <= row[0] < at[name + "_child"] and
               row[1] == GAP]
        tap.ok(not bad, f"{name}: left alone", str(bad) if bad else "")
    tap.ok(len(found) == len(KNOWN), "nothing else is taken for one", str(found))


def file_offset(path, address):
    """The file offset of an address in .text."""
    match = re.search(r" \.text +PROGBITS +([0-9a-f]+) ([0-9a-f]+)", run("readelf", "-SW", path))
    return address - int(match.group(1), 16) + int(match.group(2), 16)


def check_bits(tap, path, at):
    """Flips every bit of the code, one after the other."""
    offset = file_offset(path, at["usual_gap"])
    with open(path, "rb") as file:
        image = bytearray(file.read())
    code = image[offset:offset + len(USUAL)]
    free = ERROR_DISTANCE
    tap.ok(code[:free] + code[free + 1:] == USUAL[:free] + USUAL[free + 1:], "the bytes are glibc's")
    wrong = []
    for bit in range(8 * len(USUAL)):
        image[offset + bit // 8] ^= 1 << bit % 8
        with open(path, "wb") as file:
            file.write(image)
        image[offset + bit // 8] ^= 1 << bit % 8
        rows, trouble = dump(path)
        known = any(start == at["usual_gap"] for start, _, _ in gaps(rows))
        if trouble or known != (bit // 8 == free):
            wrong.append(bit)
    tap.ok(not wrong, "each bit counts but those of the error's distance", str(wrong))


def main():
    tap = live.Tap()
    check_library(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-clone-") as folder:
        source, path = os.path.join(folder, "clone.S"), os.path.join(folder, "clone")
        with open(source, "w", encoding="ascii") as file:
            file.write(SOURCE)
        subprocess.run([os.environ.get("CC", "gcc"), "-nostdlib", "-static", "-o", path, source],
                       check=True)
        at = {words[2]: int(words[0], 16)
              for words in map(str.split, run("nm", path).splitlines())}
        check_forms(tap, path, at)
        check_bits(tap, path, at)
    tap.done()


if __name__ == "__main__":
    main()
