/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function for each rule of arm64 that few or no compilers write. */

	.text
	.macro function name
	.globl \name
	.type \name, %function
	.balign 16
\name:
	.cfi_startproc
	.endm

	.macro end name
	.cfi_endproc
	.size \name, . - \name
	.endm

/* The return address is saved without the frame pointer. */
	function alone
	str x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x30, -16
	bl record
	ldr x30, [sp], #16
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
	end alone

/* A record at the bottom of a frame, as GCC makes it, and one at its top, as LLVM does. */
	function record
	stp x29, x30, [sp, #-48]!
	.cfi_def_cfa_offset 48
	.cfi_offset x29, -48
	.cfi_offset x30, -40
	mov x29, sp
	bl top
	ldp x29, x30, [sp], #48
	.cfi_restore x30
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	ret
	end record

	function top
	sub sp, sp, #64
	.cfi_def_cfa_offset 64
	stp x29, x30, [sp, #48]
	add x29, sp, #48
	.cfi_def_cfa x29, 16
	.cfi_offset x30, -8
	.cfi_offset x29, -16
	bl far
	.cfi_def_cfa sp, 64
	ldp x29, x30, [sp, #48]
	add sp, sp, #64
	.cfi_def_cfa_offset 0
	.cfi_restore x30
	.cfi_restore x29
	ret
	end top

/* A record deeper than a row can say, and a frame larger than it can. */
	function far
	sub sp, sp, #4080
	.cfi_def_cfa_offset 4080
	stp x29, x30, [sp]
	.cfi_offset x29, -4080
	.cfi_offset x30, -4072
	bl huge
	ldp x29, x30, [sp]
	add sp, sp, #4080
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
	end far

	function huge
	stp x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	sub sp, sp, #16, lsl #12
	.cfi_def_cfa_offset 65552
	bl apart
	add sp, sp, #16, lsl #12
	.cfi_def_cfa_offset 16
	ldp x29, x30, [sp], #16
	ret
	end huge

/* Both are saved, not side by side. */
	function apart
	sub sp, sp, #32
	.cfi_def_cfa_offset 32
	str x29, [sp]
	.cfi_offset x29, -32
	str x30, [sp, #16]
	.cfi_offset x30, -16
	bl signed
	end apart

/* With a key, the frame's state is signed from here to there; the address is the same. */
	function signed
	.cfi_b_key_frame
	hint #27 /* pacibsp */
	.cfi_negate_ra_state
	stp x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	bl elsewhere
	ldp x29, x30, [sp], #16
	.cfi_restore x30
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	hint #31 /* autibsp */
	.cfi_negate_ra_state
	ret
	end signed

/* The return address is in another register: by a rule, and by the column of the CIE. */
	function elsewhere
	mov x9, x30
	.cfi_register x30, x9
	bl column
	ret x9
	end elsewhere

	function column
	.cfi_return_column x15
	mov x15, x30
	nop
	ret x15
	end column

/* There is no caller. */
	function outermost
	.cfi_undefined x30
	mov x29, #0
	bl based
	end outermost

/* The CFA is at another register, or what one points to. */
	function based
	mov x19, sp
	.cfi_def_cfa x19, 0
	nop
	.cfi_escape 0x0f, 3, 0x83, 8, 0x06 /* DW_CFA_def_cfa_expression: *(x19 + 8) */
	nop
	end based

/* Two rows in one instruction's bytes: hand-written CFI may end anywhere. */
	function halves
	nop
	.cfi_endproc
	.cfi_startproc
	nop
	end halves

/* As glibc's clone: parent and child return from the system call, with one FDE for both. */
	.macro clone name, target
	function \name
	mov x8, #220
	svc #0
	cmp x0, #0
	b.eq \target
	b.lt failed
	ret
	end \name
	.balign 16
\name\()_child:
	.cfi_startproc
	.cfi_undefined x30
	mov x29, #0
	blr x10
	.cfi_endproc
	.endm

	clone cloned, cloned_child
/* ... and where the child goes elsewhere, which is another function. */
	clone unlike, failed

	function failed
	ret
	end failed
