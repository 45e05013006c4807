; No CFI at all: hand-written code that calls itself.
global _start
section .text
_start:
	mov rdi, 20
	call descend
	jmp _start
descend:
	push rbx
	mov rbx, rdi
	test rdi, rdi
	jz .work
	dec rdi
	call descend
	jmp .out
.work:
	mov rcx, 200000
.loop:
	imul rax, rcx, 31
	add rdx, rax
	dec rcx
	jnz .loop
.out:
	pop rbx
	ret
