#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Haskell code as GHC writes it: its frame on the C stack, which calls of C code move; text without CFI
that is no Haskell code; other code in StgReturn; and CFI of `ghc -g`, whose CFA is on Haskell's stack.
Each label is the address where a row has to begin.

Covers: unwind/ghc.c unwind/arch/x86_64/ghccode.c unwind/rule.c
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import live  # noqa: E402

SOURCE = """
	.macro function name
	.globl \\name
	.type \\name, @function
\\name:
	.endm

	.text
	.balign 16
	.globl _start
	.type _start, @function
_start:	nop
	ret
	# Local code in front of its module's first symbol.
	.balign 16
a_low:	jmp *(%rbp)
	function Main_one_info
	mov %rbx, 0x40(%rsp)
	sub $8, %rsp
a_sub:	xor %eax, %eax
	call helper
	add $8, %rsp
a_add:	sub $8, %rsp
	sub $24, %rsp
a_two:	call *%rax
	add $24, %rsp
a_end:	mov $5, %eax
	add $8, %rsp
	call helper
	jmp *(%rbp)

	function helper
	.cfi_startproc
	ret
	.cfi_endproc
	.size helper, . - helper
h_end:	.skip 15, 0x90
	function asm_without_cfi
	push %rbx
	ret
	.size asm_without_cfi, . - asm_without_cfi
	.balign 16
	function stg_upd_frame_info
	jmp *(%rbp)
	# A call without the sub in front of it.
	function stg_gc_fun
s_call:	call helper
	add $16, %rsp
s_add:	jmp *(%rbp)

	.globl StgReturn
	.type StgReturn, @function
StgReturn:
	.cfi_startproc
	.cfi_def_cfa rsp, 0
	.cfi_offset rbp, RESERVED + 8
	.cfi_offset rip, RESERVED + 48
	.cfi_val_offset rsp, RESERVED + 56
	mov %rbx, %rax
	add $RESERVED, %rsp
	mov OTHER(%rsp), %rbx
	mov 8(%rsp), %rbp
	mov 16(%rsp), %r12
	mov 24(%rsp), %r13
	mov 32(%rsp), %r14
	mov 40(%rsp), %r15
	add $48, %rsp
	ret
	.cfi_endproc
r_end:	.skip 64, 0xcc

	# ghc -g: an FDE begins in front of the symbol, in the table of the function.
g_low:	.byte 0
	function Main_two_info
	sub $8, %rsp
g_sub:	call helper
g_add:	add $8, %rsp
g_more:	add $-16, %rbp
g_down:	jmp *(%rbp)
g_end:	nop

	.section .debug_frame, "", @progbits
cie:	.long 2f - 1f
1:	.long -1
	.byte 3, 0, 1, 0x78, 16
	.byte 0x0c, 6, 0, 0x80 | 16, 0, 0x08, 7, 0x14, 6, 0
	.balign 8
2:	.long 4f - 3f
3:	.long cie
	.quad g_low, g_end - g_low
	.byte 0x02, g_down - g_low, 0x0e, 16
	.balign 8
4:
"""

END = ("end", "-", "-")


def haskell(moved, reserved=16384):
    """RESERVED bytes, six saved registers and a return address: the frame of StgRun."""
    return f"rsp+{reserved + 56 + moved}", "c-48", "c-8"


def own(offset, moved=""):
    return f"rbp+{offset}", "=c" + moved, "c+0"


def expected(reserved):
    def stack(moved):
        return haskell(moved, reserved)
    leaf = ("rsp+8", "u", "c-8")
    yield "behind the start files, and around calls", [
        ("a_low", stack(0)), ("a_sub", stack(8)), ("a_add", stack(0)), ("a_two", stack(24)),
        ("a_end", stack(0)), ("helper", leaf), ("h_end", END)]
    yield "among other code without CFI", [
        ("stg_upd_frame_info", stack(0)), ("s_call", stack(16)), ("s_add", stack(0)),
        ("StgReturn", stack(0)), ("r_end", END)]
    yield "the CFI of ghc -g", [
        ("g_low", own(0)), ("g_sub", own(0, ",rsp+8")), ("g_more", own(0)), ("g_down", own(16)),
        ("g_end", stack(0))]


def build(folder, reserved=16384, other=0, strip=False):
    source, program = os.path.join(folder, "haskell.S"), os.path.join(folder, "haskell")
    with open(source, "w", encoding="ascii") as file:
        file.write(SOURCE)
    subprocess.run([os.environ.get("CC", "gcc"), f"-DRESERVED={reserved}", f"-DOTHER={other}",
                    "-nostdlib", "-static", "-o", program, source], check=True)
    names = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    if strip:
        subprocess.run(["strip", program], check=True)
    return program, {name: int(address, 16)
                     for address, _, name in (line.split() for line in names.splitlines())}


def dump(tap, program):
    out, err, status = live.stacktop("--dump-unwind", program)
    tap.ok(status == 0, "--dump-unwind", err.strip())
    return [(int(row[0], 16), tuple(row[1:])) for row in (line.split("\t")
                                                          for line in out.splitlines())]


def rule_at(table, addr):
    rules = [rule for at, rule in table if at <= addr]
    return rules[-1] if rules else END


def main():
    tap = live.Tap()
    with tempfile.TemporaryDirectory(prefix="stacktop-ghc-") as folder:
        for reserved in (16384, 8192):
            program, at = build(folder, reserved)
            table = dump(tap, program)
            for name, rows in expected(reserved):
                for label, rule in rows:
                    found = rule_at(table, at[label])
                    tap.ok(found == rule, f"{name}: {label}, {reserved}",
                           "" if found == rule else f"{found} instead of {rule}")
            for label in ("asm_without_cfi", "h_end"):
                tap.ok(rule_at(table, at[label]) == END, f"{label} is not Haskell")
            tap.ok(rule_at(table, at["a_low"] - 1) != haskell(0, reserved), "nor is _start")
        program, at = build(folder, other=4)
        table = dump(tap, program)
        tap.ok(rule_at(table, at["Main_one_info"]) == END, "another StgReturn: nothing is said")
        program, at = build(folder, strip=True)
        table = dump(tap, program)
        tap.ok(rule_at(table, at["Main_one_info"]) == END, "a stripped program: nothing is said")
    tap.done()


if __name__ == "__main__":
    main()
