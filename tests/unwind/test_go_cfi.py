#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Go's functions that change stacks: their code as releases up to 1.20 and from 1.21 on write it, and
written otherwise; the outermost function of a goroutine; and where Go's functions save the frame
pointer, which Go's CFI does not say. The labels give the ranges in which a function's own frame pointer
is set, and in which it is on another stack.

Covers: unwind/go_cfi.c unwind/arch/x86_64/gocode.c
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
f_end:	.skip 16, 0xcc

	# Up to Go 1.20: g, its m, that one's goroutine, and the stack pointer that this has saved.
	function runtime.systemstack.abi0
	call *%rax
	mov 0x38(%rdx), %rbx
	mov %rbx, %rsp
g_new:	call *%rdi
	mov %fs:-8, %rax
	mov 0x30(%rax), %rbx
	mov 0xc0(%rbx), %rax
	mov %rax, %fs:-8
	mov 0x38(%rax), %rsp
g_back:	movq $0, 0x38(%rax)
	ret
	.cfi_endproc
g_end:	.skip 16, 0xcc

	# From Go 1.21 on it is its own. One function may stand twice in these sources.
	function runtime.systemstack
	push %rbp
h_low:	.cfi_def_cfa_offset 16
	mov %rsp, %rbp
h_set:	mov 0x38(%rdx), %rsp
	call *%rdi
	mov 0x38(%rax), %rsp
	mov 0x68(%rax), %rbp
	pop %rbp
h_back:	.cfi_def_cfa_offset 8
	ret
h_more:	.cfi_def_cfa_offset 16
	mov (%rdi), %rdi
	pop %rbp
h_jump:	.cfi_def_cfa_offset 8
	jmp *%rdi
h_bad:	.cfi_def_cfa_offset 16
	int3
	.cfi_endproc
h_end:	.skip 16, 0xcc

	# The distance of cgocall's frame pointer from its stack pointer, 0x48, leads from asmcgocall to it.
	function runtime.cgocall
	sub $0x50, %rsp
i_low:	.cfi_def_cfa_offset 0x58
	mov %rbp, 0x48(%rsp)
	lea 0x48(%rsp), %rbp
	call "runtime.asmcgocall.abi0"
	mov 0x48(%rsp), %rbp
	add $0x50, %rsp
i_back:	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
i_end:	.skip 16, 0xcc

	function runtime.asmcgocall.abi0
	mov %rsp, %rdx
	mov 0x38(%rsi), %rsp
j_new:	sub $0x40, %rsp
	and $-16, %rsp
	mov %rdi, 0x30(%rsp)
	call *%rax
	mov %rsi, %rsp
j_back:	ret
	sub $0x40, %rsp
j_sub:	and $-16, %rsp
	mov %rdx, 0x28(%rsp)
j_kept:	call *%rax
	mov 0x28(%rsp), %rsi
	mov %rsi, %rsp
j_ret:	ret
	.cfi_endproc
j_end:	.skip 16, 0xcc

	# The wrapper of another calling convention has CFI that is right.
	function runtime.asmcgocall
	sub $24, %rsp
k_low:	.cfi_def_cfa_offset 32
	call "runtime.asmcgocall.abi0"
	add $24, %rsp
k_ret:	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
k_end:	.skip 16, 0xcc

	function runtime.mcall
	mov 0x38(%r14), %rsp
l_new:	push %rax
	.cfi_def_cfa_offset 16
	call *%r12
	ud2
	.cfi_endproc
l_end:	.skip 16, 0xcc

	function gogo
	mov %rdx, %r14
	mov (%rbx), %rsp
q_new:	mov 8(%rbx), %rbx
	jmp *%rbx
	.cfi_endproc
q_end:	.skip 16, 0xcc

	# The child continues with a stack of its own; a wrapper has the name, too.
	function runtime.clone.abi0
	syscall
r_both:	cmp $0, %rax
	je r_child
	mov %eax, 0x30(%rsp)
	ret
r_child: mov %rsi, %rsp
	call *%r12
	syscall
	.cfi_endproc
r_end:	.skip 16, 0xcc
	function runtime.clone
	sub $24, %rsp
s_low:	.cfi_def_cfa_offset 32
	call runtime.clone.abi0
	add $24, %rsp
s_back:	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
s_end:	.skip 16, 0xcc

	# Up to Go 1.16 the frame pointer is the stack pointer that is to come back.
	function runtime.walltime1
	sub $24, %rsp
t_low:	.cfi_def_cfa_offset 32
	mov %rbp, 16(%rsp)
	lea 16(%rsp), %rbp
t_set:	mov %rsp, %rbp
t_kept:	mov 0x38(%rdx), %rsp
	call *%rax
	mov %rbp, %rsp
	mov 16(%rsp), %rbp
t_back:	add $24, %rsp
t_ret:	.cfi_def_cfa_offset 8
	ret
t_more:	.cfi_def_cfa_offset 32
	jmp t_kept
	.cfi_endproc
t_end:	.skip 16, 0xcc

	# The CFI of Go's linker, see below.
	.macro bare name
	.type "\\name", @function
"\\name":
	.endm
	bare main.old
	sub $24, %rsp
m_low:	mov %rbp, 16(%rsp)
m_kept:	lea 16(%rsp), %rbp
	call *%rax
	mov 16(%rsp), %rbp
	add $24, %rsp
m_back:	ret
m_end:	.skip 16, 0xcc
	bare main.large
	sub $0x1000, %rsp
n_low:	mov %rbp, 0xff8(%rsp)
n_kept:	lea 0xff8(%rsp), %rbp
	ud2
n_end:	.skip 16, 0xcc
	bare main.new
	push %rbp
o_low:	mov %rsp, %rbp
	sub $16, %rsp
o_more:	call *%rax
	add $16, %rsp
o_less:	pop %rbp
o_back:	ret
o_end:	.skip 16, 0xcc
	bare main.without
	sub $24, %rsp
p_low:	mov %rbp, 8(%rsp)
	ud2
p_end:	.skip 16, 0xcc

	# A factor of -4 tells it from that of other tools. def_cfa_offset_sf counts in units of it.
	.section .debug_frame, "", @progbits
cie:	.long 2f - 1f
1:	.long -1
	.byte 3, 0, 1, 0x7c, 16
	.byte 0x0c, 7, 8, 0x05, 16, 2
	.balign 8
2:
	.macro fde from, end, rows:vararg
	.balign 8
	.long 2f - 1f
1:	.long cie
	.quad \\from, \\end - \\from
	.irp row, \\rows
	\\row
	.endr
	.balign 8
2:
	.endm
	.macro row from, to, units
	.byte 0x02, \\to - \\from, 0x13
	.sleb128 \\units
	.endm
	fde "main.old", m_end, "row main.old, m_low, -8", "row m_low, m_back, -2"
	fde "main.large", n_end, "row main.large, n_low, -1026"
	fde "main.new", o_end, "row main.new, o_low, -4", "row o_low, o_more, -8", \\
		"row o_more, o_less, -4", "row o_less, o_back, -2"
	fde "main.without", p_end, "row main.without, p_low, -8"

	.section .go.buildinfo, "aw"
	.skip 16
"""

# The same where the program may be at any address, and in a library, where a relocation gives the place.
OTHERS = """
	.globl time.now, "runtime.systemstack.abi0", "runtime.systemstack"
	.type "runtime.systemstack.abi0", @function
	.type "runtime.systemstack", @function
	.text
time.now:
	nop
	.macro back
	mov %fs:(%rcx), %rax
	mov 0x28(%rax), %rbx
	mov 0xb8(%rbx), %rax
	mov %rax, %fs:(%rcx)
	mov 0x40(%rax), %rsp
	.endm
"runtime.systemstack.abi0":
	.cfi_sections .debug_frame
	.cfi_startproc
	mov 0x38(%rdx), %rbx
	mov %rbx, %rsp
a_new:	call *%rdi
	mov $-16, %rcx
	back
a_back:	ret
	.cfi_endproc
a_end:	.skip 16, 0xcc
"runtime.systemstack":
	.cfi_startproc
	mov 0x38(%rdx), %rbx
	mov %rbx, %rsp
b_new:	call *%rdi
	mov time.now(%rip), %rcx
	back
b_back:	ret
	.cfi_endproc
b_end:	.skip 16, 0xcc
	.section .go.buildinfo, "aw"
	.skip 16
"""

FRAME = ("rbp+16", "c-16", "c-8")


def stack(offset):
    return f"rsp+{offset}", "u", "c-8"


def saved(offset):
    return f"rsp+{offset}", "c-16", "c-8"


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
    "systemstack up to Go 1.20": [
        ("runtime.systemstack.abi0", stack(8)), ("g_new", ("*(*(*(*(tp-8)+48)+192)+56)+8", "u", "c-8")),
        ("g_back", stack(8)),
        ("g_end", END)],
    "systemstack of Go 1.21": [
        ("runtime.systemstack", stack(8)), ("h_low", stack(16)), ("h_set", FRAME),
        ("h_back", stack(8)), ("h_more", FRAME), ("h_jump", stack(8)), ("h_bad", FRAME),
        ("h_end", END)],
    "asmcgocall up to Go 1.20": [
        ("runtime.asmcgocall.abi0", stack(8)), ("j_new", ("rbp-72", "u", "c-8")),
        ("j_back", stack(8)), ("j_sub", ("rdx+8", "u", "c-8")),
        ("j_kept", ("*(rsp+40)+8", "u", "c-8")), ("j_ret", stack(8)), ("j_end", END)],
    "a wrapper": [("runtime.asmcgocall", stack(8)), ("k_low", stack(32)), ("k_ret", stack(8)),
                  ("k_end", END)],
    "a stack left for good": [("runtime.mcall", stack(8)), ("l_new", OUTERMOST), ("l_end", END)],
    "the clock up to Go 1.16": [
        ("runtime.walltime1", stack(8)), ("t_low", stack(32)), ("t_set", FRAME),
        ("t_kept", ("rbp+32", "c-16", "c-8")), ("t_back", stack(32)), ("t_ret", stack(8)),
        ("t_more", ("rbp+32", "c-16", "c-8")), ("t_end", END)],
    "a thread's start": [
        ("runtime.clone.abi0", stack(8)), ("r_both", ("rsp+8", "u", "c-8|u")), ("r_child", OUTERMOST),
        ("r_end", END)],
    "its wrapper": [("runtime.clone", stack(8)), ("s_low", stack(32)), ("s_back", stack(8)), ("s_end", END)],
    "another goroutine": [("gogo", stack(8)), ("q_new", OUTERMOST), ("q_end", END)],
    "a frame pointer saved by a move": [
        ("main.old", stack(8)), ("m_low", stack(32)), ("m_kept", saved(32)), ("m_back", stack(8)),
        ("m_end", END)],
    "in a large frame": [("main.large", stack(8)), ("n_low", stack(0x1008)),
                         ("n_kept", saved(0x1008)), ("n_end", END)],
    "by a push": [
        ("main.new", stack(8)), ("o_low", saved(16)), ("o_more", saved(32)), ("o_less", saved(16)),
        ("o_back", stack(8)), ("o_end", END)],
    "another register of the frame": [("main.without", stack(8)), ("p_low", stack(32)),
                                      ("p_end", END)],
}
EXPECTED_OTHERS = {
    "systemstack at any address": [
        ("runtime.systemstack.abi0", stack(8)), ("a_new", ("*(*(*(*(tp-16)+40)+184)+64)+8", "u", "c-8")),
        ("a_back", stack(8)), ("a_end", END)],
    "systemstack of a library": [
        ("runtime.systemstack", stack(8)), ("b_new", ("guess", "u", "c-8")), ("b_back", stack(8)),
        ("b_end", END)],
}


def build(folder, text):
    source, program = os.path.join(folder, "clock.S"), os.path.join(folder, "clock")
    with open(source, "w", encoding="ascii") as file:
        file.write(text)
    subprocess.run([os.environ.get("CC", "gcc"), "-nostdlib", "-static", "-Wl,-e,time.now",
                    "-o", program, source], check=True)
    names = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    return program, {name: int(address, 16)
                     for address, _, name in (line.split() for line in names.splitlines())}


def check(tap, text, expected):
    with tempfile.TemporaryDirectory(prefix="stacktop-go-") as folder:
        program, at = build(folder, text)
        out, err, status = live.stacktop("--dump-unwind", program)
        tap.ok(status == 0, "--dump-unwind", err.strip())
    table = [(int(row[0], 16), tuple(row[1:])) for row in (line.split("\t")
                                                           for line in out.splitlines())]
    for name, rows in expected.items():
        rows = [(at[label], rule) for label, rule in rows]
        found = [row for row in table if rows[0][0] <= row[0] <= rows[-1][0]]
        tap.ok(found == rows, name, "" if found == rows else f"{found} instead of {rows}")


def main():
    tap = live.Tap()
    check(tap, SOURCE, EXPECTED)
    check(tap, OTHERS, EXPECTED_OTHERS)
    tap.done()


if __name__ == "__main__":
    main()
