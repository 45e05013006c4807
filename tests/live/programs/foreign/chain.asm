; SPDX-License-Identifier: GPL-2.0-or-later
;
; The chain of chain.c in an assembler that writes no CFI, with the prologues of x264: pushes and
; subtractions, a frame pointer used as a number, a tail call, a jump table.

	default rel
	extern alarm
	global main:function
	section .text

spin:	mov ecx, 10000
.loop:	imul edi, edi, 1664525
	add edi, 1013904223
	dec ecx
	jnz .loop
	mov [sink], edi
	test edi, edi
	jnz spin
	ret

	align 16
four:	push rbx
	push rbp
	sub rsp, 40
	mov ebp, edi
	call spin
	add rsp, 40
	pop rbp
	pop rbx
	ret

	align 16
three:	sub rsp, 56
	mov [rsp + 16], rbp
	xor ebp, ebp
	cmp edi, 3
	ja .none
	lea rax, [cases]
	movsxd rdx, dword [rax + rdi * 4]
	add rax, rdx
	jmp rax
.case:	call four
	inc ebp
.none:	mov eax, ebp
	mov rbp, [rsp + 16]
	add rsp, 56
	ret

	align 16
two:	push rbp
	mov rbp, rsp
	and rsp, -64
	sub rsp, 192
	call three
	mov rsp, rbp
	pop rbp
	ret

	align 16
one:	push r12
	push r13
	push r14
	push r15
	sub rsp, 8
	call two
	add rsp, 8
	pop r15
	pop r14
	pop r13
	pop r12
	ret

	align 16
main:	sub rsp, 8
	mov edi, 60
	call alarm wrt ..plt
	mov edi, 1
	call one
	xor eax, eax
	add rsp, 8
	ret

	section .rodata
cases:	dd three.case - cases, three.case - cases, three.none - cases, three.none - cases

	section .bss
sink:	resd 1

	section .note.GNU-stack noalloc noexec nowrite progbits
