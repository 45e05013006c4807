#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Go's functions that call the vDSO on another stack: frames as releases write them, in two ways, and
written otherwise; and the outermost function of a goroutine. The labels give the range in which a
function's own frame pointer is set.

Covers: unwind/go_cfi.c unwind/arch/x86_64/goclock.c
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import live  # noqa: E402

# As nanotime1 up to Go 1.20, as time.now from Go 1.21 on. Neither CFI describes RBP. The third function
# never returns, the fourth sets no frame pointer, the fifth only has a name that begins like nanotime1.
SOURCE = """
	.cfi_sections .debug_frame
	.macro function name
	.globl "\\name"
	.type "\\name", @function
"\\name":
	.cfi_startproc
	.endm
	.macro switch
	mov %rsp, %r12
	mov 0x38(%rdx), %rsp
	and $-16, %rsp
	call *%rax
	mov %r12, %rsp
	.endm

	.text
	function runtime.nanotime1.abi0
	sub $24, %rsp
a_low:	.cfi_def_cfa_offset 32
	mov %rbp, 16(%rsp)
	lea 16(%rsp), %rbp
a_set:	switch
	mov 16(%rsp), %rbp
a_back:	add $24, %rsp
a_ret:	.cfi_def_cfa_offset 8
	ret
a_more:	.cfi_def_cfa_offset 32
	syscall
	jmp a_set
	.cfi_endproc
a_end:	.skip 16, 0xcc

	function time.now
	push %rbp
b_low:	.cfi_def_cfa_offset 16
	mov %rsp, %rbp
b_set:	sub $16, %rsp
	.cfi_def_cfa_offset 32
	switch
	add $16, %rsp
	.cfi_def_cfa_offset 16
	pop %rbp
b_back:	.cfi_def_cfa_offset 8
	ret
b_more:	.cfi_def_cfa_offset 32
	syscall
	jmp b_set
	.cfi_endproc
b_end:	.skip 16, 0xcc

	function runtime.walltime
	push %rbp
	.cfi_def_cfa_offset 16
	mov %rsp, %rbp
	switch
	ud2
	.cfi_endproc
c_end:	.skip 16, 0xcc

	function runtime.nanotime1
	sub $24, %rsp
	.cfi_def_cfa_offset 32
	switch
	add $24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
d_end:	.skip 16, 0xcc

	function runtime.nanotime12
	push %rbp
e_low:	.cfi_def_cfa_offset 16
	mov %rsp, %rbp
	pop %rbp
e_back:	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
e_end:	.skip 16, 0xcc

	function runtime.goexit.abi0
	nop
	call *%rax
	.cfi_endproc
f_end:
	.section .go.buildinfo, "aw"
	.skip 16
"""

FRAME = ("rbp+16", "c-16", "c-8")


def stack(offset):
    return f"rsp+{offset}", "u", "c-8"


END = ("end", "-", "-")
UNKNOWN = ("expr", "-", "-")
OUTERMOST = ("expr", "-", "u")
EXPECTED = {
    "the frame of Go up to 1.20": [
        ("runtime.nanotime1.abi0", stack(8)), ("a_low", stack(32)), ("a_set", FRAME),
        ("a_back", stack(32)), ("a_ret", stack(8)), ("a_more", FRAME), ("a_end", END)],
    "the frame of Go 1.21": [
        ("time.now", stack(8)), ("b_low", stack(16)), ("b_set", FRAME),
        ("b_back", stack(8)), ("b_more", FRAME), ("b_end", END)],
    "a function that never returns": [("runtime.walltime", UNKNOWN), ("c_end", END)],
    "a function without a frame pointer": [("runtime.nanotime1", UNKNOWN), ("d_end", END)],
    "a name that begins like one": [
        ("runtime.nanotime12", stack(8)), ("e_low", stack(16)), ("e_back", stack(8)),
        ("e_end", END)],
    "the outermost function": [("runtime.goexit.abi0", OUTERMOST), ("f_end", END)],
}


def build(folder):
    source, program = os.path.join(folder, "clock.S"), os.path.join(folder, "clock")
    with open(source, "w", encoding="ascii") as file:
        file.write(SOURCE)
    subprocess.run([os.environ.get("CC", "gcc"), "-nostdlib", "-static", "-Wl,-e,time.now",
                    "-o", program, source], check=True)
    names = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    return program, {name: int(address, 16)
                     for address, _, name in (line.split() for line in names.splitlines())}


def main():
    tap = live.Tap()
    with tempfile.TemporaryDirectory(prefix="stacktop-go-") as folder:
        program, at = build(folder)
        out, err, status = live.stacktop("--dump-unwind", program)
        tap.ok(status == 0, "--dump-unwind", err.strip())
    table = [(int(row[0], 16), tuple(row[1:])) for row in (line.split("\t")
                                                           for line in out.splitlines())]
    for name, rows in EXPECTED.items():
        rows = [(at[label], rule) for label, rule in rows]
        found = [row for row in table if rows[0][0] <= row[0] <= rows[-1][0]]
        tap.ok(found == rows, name, "" if found == rows else f"{found} instead of {rows}")
    tap.done()


if __name__ == "__main__":
    main()
