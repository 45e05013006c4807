/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Assembly for blind.c, without CFI unless a comment says so. */

	.text
	.globl	blind_framed_leaf
	.type	blind_framed_leaf, @function
blind_framed_leaf:
	push	%rbp
	mov	%rsp, %rbp
	sub	$64, %rsp
1:	jmp	1b
	.size	blind_framed_leaf, . - blind_framed_leaf

	.globl	blind_framed_call
	.type	blind_framed_call, @function
blind_framed_call:
	push	%rbp
	mov	%rsp, %rbp
	sub	$64, %rsp
	call	*%rdi
	leave
	ret
	.size	blind_framed_call, . - blind_framed_call

	/* With CFI, but with a number in rbp at the call, as compiled code does. */
	.globl	junk_call
	.type	junk_call, @function
junk_call:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	$5, %ebp
	call	*%rsi
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	junk_call, . - junk_call

	.globl	blind_leaf
	.type	blind_leaf, @function
blind_leaf:
	push	%rbp
	sub	$32, %rsp
	mov	%rdi, %rbp
1:	jmp	1b
	.size	blind_leaf, . - blind_leaf

	.globl	blind_call
	.type	blind_call, @function
blind_call:
	push	%rbp
	sub	$32, %rsp
	mov	%rdi, %rbp
	call	*%rsi
	add	$32, %rsp
	pop	%rbp
	ret
	.size	blind_call, . - blind_call

	.globl	blind_sweep
	.type	blind_sweep, @function
blind_sweep:
	push	%rbp
	sub	$32, %rsp
2:	mov	%rdi, %rbp
1:	add	$8, %rbp
	mov	(%rbp), %rax
	mov	$50, %ecx
3:	dec	%ecx
	jnz	3b
	cmp	%rsi, %rbp
	jb	1b
	jmp	2b
	.size	blind_sweep, . - blind_sweep

	/* Has no frame and does not touch rbp, which is its caller's. */
	.globl	blind_still
	.type	blind_still, @function
blind_still:
1:	jmp	1b
	.size	blind_still, . - blind_still

	/* A call that does not return, a nop and a function: ff 90 in front of it is no call. */
	call	blind_still
	nop
	.globl	behind_nop
	.type	behind_nop, @function
behind_nop:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	behind_nop, . - behind_nop

	.section .note.GNU-stack, "", @progbits
