#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of code without CFI. Hand-written functions carry CFI, which says what is true; the rows that are
derived when it has been removed must be the same for all functions whose name does not begin with
`silent_`, and none for those. Then programs of compilers, read with and without their CFI.

Covers: unwind/derive.c unwind/flow.c unwind/flowcut.c unwind/table.c unwind/dump.c
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import live  # noqa: E402

FUNCTIONS = """
	.macro function name
	.p2align 4
	.globl \\name
	.type \\name, @function
\\name:	.cfi_startproc
	.endm
	.macro ends name
	.cfi_endproc
	.size \\name, . - \\name
	.endm

	.text
	function plain			# pushes, a frame of SP, an early return
	push %r12
	.cfi_adjust_cfa_offset 8
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	sub $24, %rsp
	.cfi_adjust_cfa_offset 24
	test %edi, %edi
	je 1f
	mov %edi, %ebp
	call leaf
2:	add $24, %rsp
	.cfi_remember_state
	.cfi_adjust_cfa_offset -24
	pop %rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbp
	pop %r12
	.cfi_adjust_cfa_offset -8
	ret
1:	.cfi_restore_state
	call leaf
	jmp 2b
	ends plain

	function leaf
	lea 1(%rdi), %eax
	ret
	ends leaf

	function framed			# a frame of FP, alloca, realigned
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register rbp
	push %rbx
	and $-32, %rsp
	sub %rax, %rsp
	call leaf
	lea -8(%rbp), %rsp
	pop %rbx
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	ends framed

	function moved			# FP is saved and restored by moves
	sub $40, %rsp
	.cfi_def_cfa_offset 48
	mov %rbp, 16(%rsp)
	.cfi_offset rbp, -32
	mov %rdi, %rbp
	call leaf
	mov 16(%rsp), %rbp
	.cfi_restore rbp
	add $40, %rsp
	.cfi_def_cfa_offset 8
	ret
	ends moved

	function table			# a jump table
	sub $8, %rsp
	.cfi_def_cfa_offset 16
	lea cases(%rip), %rdx
	movslq (%rdx,%rdi,4), %rax
	add %rdx, %rax
	notrack jmp *%rax
case_0:	call leaf
	add $8, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
case_1:	.cfi_restore_state
	mov $2, %eax
	add $8, %rsp
	.cfi_def_cfa_offset 8
	ret
	ends table

	function fails			# what follows the call belongs to another path
	test %edi, %edi
	je 1f
	push %rbx
	.cfi_def_cfa_offset 16
	call gone
1:	.cfi_def_cfa_offset 8
	mov $1, %eax
	ret
	ends fails

	function gone			# never returns
	push %rbx
	.cfi_def_cfa_offset 16
	call leaf
1:	call leaf
	jmp 1b
	ends gone

	function arguments		# on the stack
	push 8(%rsp)
	.cfi_def_cfa_offset 16
	push $1
	.cfi_def_cfa_offset 24
	call leaf
	add $16, %rsp
	.cfi_def_cfa_offset 8
	jmp leaf
	ends arguments

	function passes			# only calls others, last
	test %edi, %edi
	je leaf
	jmp plain
	ends passes

	function hands_over		# drops its frame before the last call, and arguments with it
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register rbp
	sub $16, %rsp
	call sometimes
	mov 0(%rbp), %rbp
	.cfi_def_cfa rsp, 32
	.cfi_restore rbp
	add $24, %rsp
	.cfi_def_cfa_offset 8
	jmp leaf
	ends hands_over

	function takes_away		# the return address, to put arguments above it
	test %edi, %edi
	je leaf
	pop %r10
	ends takes_away
	push %rdi
	push %r10
	jmp leaf

	function pushes_again		# the return address, behind arguments
	push %rax
	.cfi_def_cfa_offset 16
	push 8(%rsp)
	.cfi_def_cfa_offset 8
	jmp leaf
	ends pushes_again

	function throws			# calls at its end what returns elsewhere
	push %rbx
	.cfi_def_cfa_offset 16
	call sometimes
	ends throws

	function sometimes
	test %edi, %edi
	je leaf
	ret
	ends sometimes

	function relies			# on the return of what others call last
	push %rbx
	.cfi_def_cfa_offset 16
	.rept 10
	call sometimes
	mov %eax, %ebx
	.endr
	pop %rbx
	.cfi_def_cfa_offset 8
	ret
	ends relies

	function quits			# calls at its end what never returns
	push %rbx
	.cfi_def_cfa_offset 16
	call gone
	ends quits

	.type pointed, @function	# right behind that; only a word in data leads here
pointed:
	.cfi_startproc
	push %rbx
	.cfi_def_cfa_offset 16
	call leaf
	call gone
	ends pointed
	.section .data.rel.ro, "aw"
	.quad pointed
	.text

	function deepest		# the first of a thread
	.cfi_undefined rip
	xor %ebp, %ebp
	and $-16, %rsp
	call leaf
	hlt
	ends deepest

	function clone_like
	xor %eax, %eax
	mov $56, %al
	syscall
	test %eax, %eax
	jnz 1f
	.cfi_remember_state
	.cfi_undefined rip
	xor %ebp, %ebp
	pop %rdi
	call *%r9
	hlt
1:	.cfi_restore_state
	ret
	ends clone_like

	function vectors		# as hand-written code has them, with AVX-512
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	sub $192, %rsp
	.cfi_def_cfa_offset 208
	mov $0x55, %ebp
	kmovd %ebp, %k1
	kshiftlb $4, %k1, %k2
	vpabsw (%rdi), %ymm16
	vmovdqa32 %ymm16, 64(%rsp)
	vpaddw %zmm17, %zmm16, %zmm16{%k1}{z}
	vpgatherdd (%rdi,%xmm5,4), %xmm1{%k2}
	vpextrd $1, %xmm16, %ebp
	vpsrld $5, %zmm16, %zmm16
	vzeroupper
	add $192, %rsp
	.cfi_def_cfa_offset 16
	pop %rbp
	.cfi_def_cfa_offset 8
	.cfi_restore rbp
	ret
	ends vectors

	function silent_padding		# as the linker of Go marks places with symbols
	.skip 16, 0xcc
	ends silent_padding

	function enters			# the next function, without a jump
	lea 2(%rdi), %edi
	shl $2, %edi
	ends enters
	.p2align 0
	.globl entered
	.type entered, @function
entered:
	.cfi_startproc
	lea 1(%rdi), %eax
	ret
	ends entered

	function loses_too		# and so does a second entry of it
	mov 16(%rsp), %rbp
	ends loses_too
	.p2align 0
	.globl inside
	.type inside, @function
inside:	.cfi_startproc
	lea 1(%rdi), %eax
	ret
	ends inside

	function switch_pops		# to another stack, as Boost and as Ruby do it
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	push %rbx
	.cfi_def_cfa_offset 24
	mov %rsp, (%rdi)
	mov (%rsi), %rsp
	pop %rbx
	.cfi_def_cfa_offset 16
	pop %rbp
	.cfi_def_cfa_offset 8
	.cfi_restore rbp
	ret
	ends switch_pops

	function switch_moves
	lea -24(%rsp), %rsp
	.cfi_def_cfa_offset 32
	mov %rbx, 8(%rsp)
	mov %rbp, 16(%rsp)
	.cfi_offset rbp, -16
	mov %rsp, %rax
	mov %rdi, %rsp
	mov 24(%rsp), %r8
	mov 8(%rsp), %rbx
	mov 16(%rsp), %rbp
	.cfi_restore rbp
	lea 32(%rsp), %rsp
	.cfi_def_cfa_offset 0
	mov %rax, %rdi
	jmp *%r8
	ends switch_moves

	function switch_and_call	# what it jumps to returns
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov %rsp, %rax
	mov %rdi, %rsp
	pop %rbp
	.cfi_def_cfa_offset 8
	.cfi_restore rbp
	jmp *%rdx
	ends switch_and_call

	# --- no rows ---
	function silent_elsewhere	# a function on another stack, and back
	mov %rsp, %rbx
	mov %rdi, %rsp
	push %rsi
	pop %rcx
	mov %rbx, %rsp
	ret
	ends silent_elsewhere

	function silent_switch		# without the caller's FP
	push %rbp
	mov %rsp, (%rdi)
	mov (%rsi), %rsp
	pop %rcx
	ret
	ends silent_switch

	function silent_loses		# SP is not saved
	push %rbp
	mov (%rsi), %rsp
	pop %rbp
	ret
	ends silent_loses

	function silent_realigned	# without a frame pointer
	ret
	ends silent_realigned
	and $-32, %rsp
	call leaf
	ret

	function silent_haskell		# FP is another stack
	lea -24(%rbp), %rax
	cmp %r15, %rax
	jb 1f
	mov %rbx, -8(%rbp)
	add $-24, %rbp
	jmp *(%rbx)
1:	jmp *-16(%r13)
	ends silent_haskell

	function silent_foreign		# the same, calling a function of C
	mov (%rbp), %rdi
	sub $8, %rsp
	call leaf
	add $8, %rsp
	jmp *(%rbx)
	ends silent_foreign

	function silent_slot		# FP comes from another place
	push %rbp
	push %rdi
	pop %rbp
	pop %rcx
	ret
	ends silent_slot

	function silent_jump		# never returns, and calls nothing
	mov (%rdi), %rax
	jmp *(%rax)
	ends silent_jump

	function silent_deep		# returns to something else
	push %rax
	ret
	ends silent_deep

	function silent_pops		# takes its return address
	pop %rcx
	jmp *%rcx
	ends silent_pops

	function silent_data
	mov $1, %eax
	.byte 0x06, 0x07, 0x0e
	ends silent_data

	function loses			# another FP at the return: its caller has saved it
	mov %rdi, %rbp
	ret
	ends loses

	.section .rodata
cases:	.long case_0 - cases, case_1 - cases
"""
SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <alloca.h>
struct item { int kind; long value; char text[40]; };
static int by_value(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	return x->value < y->value ? -1 : x->value > y->value;
}
__attribute__((noinline)) long kinds(struct item *i, FILE *out)
{
	switch (i->kind) {
	case 0: return fprintf(out, "%ld", i->value);
	case 1: return i->value * 3;
	case 2: i->value = strtol(i->text, NULL, 10); return 0;
	case 3: fputs(i->text, out); return 2;
	case 4: if (i->value < 0) abort(); return 7;
	case 5: return fflush(out);
	case 6: snprintf(i->text, 40, "%d %ld", i->kind, i->value); return 1;
	default: return -1;
	}
}
__attribute__((noinline)) long uses_alloca(size_t n)
{
	char *p = alloca(n);
	memset(p, 1, n);
	return strlen(p) + n;
}
__attribute__((noinline)) double floats(double a, double b, double c, double d)
{
	double r = a * b;
	while (r < c)
		r += atof("1.5") * d;
	return r;
}
__attribute__((noinline)) void sorts(struct item *i, size_t n)
{
	qsort(i, n, sizeof(*i), by_value);
	if (n > 1000)
		exit(3);
	for (size_t k = 0; k < n; k++)
		kinds(&i[k], stdout);
}
int main(int argc, char **argv)
{
	struct item items[10] = {{argc, argc, ""}};
	sorts(items, 10);
	return (int)(uses_alloca(argc * 100) + (long)floats(argc, 2, 3, 4) + (argv[0][0] == 'x'));
}
"""


# What is said of FP, by instructions.
LOST = {"loses": ("u", "lost"), "loses_too": ("u",), "inside": ("lost", "lost")}


def tool(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def dump(path):
    out, err, status = live.stacktop("--dump-unwind", path)
    if status:
        return None, err
    rows = []
    for line in out.splitlines():
        columns = line.split("\t")
        rows.append((int(columns[0], 16), tuple(columns[1:4]), columns[4:] == ["derived"]))
    return rows, err


def rule(rows, pc):
    found = ("end", "-", "-"), False
    for at, columns, derived in rows:
        if at > pc:
            break
        found = columns, derived
    return found


def functions(path):
    """{name: (start, end)}"""
    text = tool("readelf", "-sW", path)
    return {name: (int(at, 16), int(at, 16) + int(size, 0)) for at, size, name in
            re.findall(r"^ *\d+: ([0-9a-f]+) +(\d+) FUNC +\S+ +\S+ +\d+ (\w+)$", text, re.M)}


def instructions(path):
    """Addresses of all instructions, as objdump sees them, without padding."""
    lines = re.findall(r"^ +([0-9a-f]+):\t(.*)$",
                       tool("objdump", "-d", "--no-show-raw-insn", path), re.M)
    return [int(at, 16) for at, text in lines
            if not re.search(r"\b(nop[wl]?|int3|xchg +%ax,%ax)\b", text)]


def same(cfi, derived):
    """True if both say the same; the slot of a frame pointer that has been popped is no matter, and
    clang names that of one that has been pushed some instructions later."""
    if cfi[2] == "u" or derived[2] == "u":
        return cfi[2] == derived[2]
    if cfi[0] != derived[0]:
        return False
    match = re.fullmatch(r"rsp\+(\d+)", cfi[0])
    gone = match and cfi[1].startswith("c-") and int(cfi[1][2:]) > int(match.group(1))
    fresh = match and cfi[1] == "u" and derived[1] == "c-16"
    return cfi[1] == derived[1] or (gone and derived[1] == "u") or fresh


def check_functions(tap, scratch):
    source, path = os.path.join(scratch, "functions.s"), os.path.join(scratch, "functions.so")
    with open(source, "w", encoding="ascii") as file:
        file.write(FUNCTIONS)
    tool("gcc", "-shared", "-nostdlib", "-Wl,-Bsymbolic", "-o", path, source)
    tool("objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", "-N", "pointed", path,
         path + ".bare")
    true, _ = dump(path)
    rows, err = dump(path + ".bare")
    tap.ok(rows and not err, "rows without any CFI", err)
    tap.ok(not any(derived for _, _, derived in true if rule(true, 0)[1]), "nothing is derived first")
    code = instructions(path)
    start, end = functions(path)["clone_like"]
    both = [pc for pc in code if start <= pc < end and rule(rows, pc)[0][2] == "c-8|u"]
    tap.ok(both == [pc for pc in code if start <= pc < end][3:5],
           "parent and child are told apart between the system call and the child", str(both))
    for name, (start, end) in sorted(functions(path).items()):
        places = [pc for pc in code if start <= pc < end]
        if name in LOST:     # CFI cannot say it
            said = [rule(rows, pc)[0] for pc in places]
            tap.ok(said == [("rsp+8", fp, "c-8") for fp in LOST[name]], name, str(said))
            continue
        if name.startswith("silent_"):
            every = range(start, end) if name == "silent_padding" else places
            said = {hex(pc): rule(rows, pc) for pc in every if rule(rows, pc)[0][0] != "end"}
            # A return right at the start is a function.
            if name == "silent_realigned":
                said = {hex(pc): rule(rows, pc) for pc in code
                        if end <= pc < end + 10 and rule(rows, pc)[0][0] not in ("end",)}
            tap.ok(not said, name, str(said))
            continue
        wrong = {hex(pc): (rule(true, pc)[0], rule(rows, pc)) for pc in places
                 if not same(rule(true, pc)[0], rule(rows, pc)[0]) or not rule(rows, pc)[1]}
        tap.ok(len(places) > 1 and not wrong, name, str(wrong))


def check_program(tap, scratch, compiler, *options):
    name = " ".join((compiler, *options))
    path = os.path.join(scratch, "program")
    tool(compiler, "-x", "c", *options, "-o", path, "-", input=SOURCE)
    tool("objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", path, path + ".bare")
    true, _ = dump(path)
    rows, err = dump(path + ".bare")
    if not rows:
        tap.ok(False, name, err)
        return
    places = wrong = silent = 0
    own = [functions(path)[f] for f in ("main", "sorts", "kinds", "floats", "uses_alloca")]
    code = [pc for pc in instructions(path) if any(start <= pc < end for start, end in own)]
    first = ""
    for pc in code:
        places += 1
        if rule(rows, pc)[0][0] == "end":
            silent += 1
        elif not same(rule(true, pc)[0], rule(rows, pc)[0]):
            wrong += 1
            first = first or f"{pc:x}: {rule(true, pc)} {rule(rows, pc)}"
    tap.ok(places > 100 and not wrong and silent <= places * 0.02, f"{name}: as its CFI",
           f"{places} places, {wrong} wrong, {silent} without a row; {first}")
    tap.ok(not any(derived for pc, _, derived in true if any(s <= pc < e for s, e in own)),
           f"{name}: nothing is derived where there is CFI")


def main():
    tap = live.Tap()
    if os.uname().machine != "x86_64" or "derived" not in live.stacktop("--help")[0] + "derived":
        tap.skip("derived rows", "another machine")
        tap.done()
        return
    with tempfile.TemporaryDirectory() as scratch:
        check_functions(tap, scratch)
        for options in (("-O2",), ("-Os",), ("-O0",), ("-O3", "-fno-omit-frame-pointer"),
                        ("-O2", "-static")):
            check_program(tap, scratch, "gcc", *options)
        check_program(tap, scratch, "clang", "-O2")
    tap.done()


main()
