/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Assembly for coro.c, with correct CFI. */

	.text
	.globl	switch_rbp
	.type	switch_rbp, @function
switch_rbp:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	mov	%rsi, %rsp
	call	*%rdi
	mov	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	switch_rbp, . - switch_rbp

	.globl	switch_rbx
	.type	switch_rbx, @function
switch_rbx:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	mov	%rsi, %rsp
	call	*%rdi
	mov	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	pop	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.size	switch_rbx, . - switch_rbx

	.globl	last_call
	.type	last_call, @function
last_call:
	.cfi_startproc
	sub	$72, %rsp
	.cfi_def_cfa_offset 80
	call	*%rdi
	.cfi_endproc
	.size	last_call, . - last_call

	/* Begins at the return address of the call above. */
	.globl	behind_last_call
	.type	behind_last_call, @function
behind_last_call:
	.cfi_startproc
	.cfi_def_cfa_offset 4096
	ret
	.cfi_endproc
	.size	behind_last_call, . - behind_last_call

	/* Faults in its first instruction; the code before it has another CFA. */
	.globl	first_faults
	.type	first_faults, @function
first_faults:
	.cfi_startproc
	ud2
	.cfi_endproc
	.size	first_faults, . - first_faults

	/* Ends in a system call, which returns to the function behind it. */
	.globl	last_syscall
	.type	last_syscall, @function
last_syscall:
	.cfi_startproc
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
1:	mov	$110, %eax /* getppid */
	syscall
	.cfi_endproc
	.size	last_syscall, . - last_syscall

	.globl	behind_last_syscall
	.type	behind_last_syscall, @function
behind_last_syscall:
	.cfi_startproc
	.cfi_def_cfa_offset 32
	jmp	1b
	.cfi_endproc
	.size	behind_last_syscall, . - behind_last_syscall

	.section .note.GNU-stack, "", @progbits
