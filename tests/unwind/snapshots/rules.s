# SPDX-License-Identifier: GPL-2.0-or-later
# A function for each rule that hand-written assembly and C libraries use and compilers do not.
	.text
	.macro function name
	.balign 16
	.globl \name
	.type \name, @function
\name:	.cfi_startproc
	nop
	.endm
	.macro done
	nop
	.cfi_endproc
	.endm

	function _start
	.cfi_undefined rip
	done

	function vfork			# the return address is in a register
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, rdi
	done

	function crypto			# CFA = *(rsp + 40) + 8
	.cfi_escape 0x0f, 5, 0x77, 40, 0x06, 0x23, 8
	nop
	.cfi_def_cfa_register rsp	# and back, as in libgcrypt
	done

	function index			# CFA = *(rsp + 8 * r9 + 8) + 8: no row has two registers
	.cfi_escape 0x0f, 10, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 8
	done

	function plt			# CFA = rsp + 8 + ((rip & 15) >= 5) * 8
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x35, 0x2a, 0x33, 0x24, 0x22
	done

	function drap			# CFA = r10, then *(rbp - 8), rbp at its own address
	.cfi_def_cfa r10, 0
	nop
	.cfi_escape 0x10, 6, 2, 0x76, 0
	nop
	.cfi_escape 0x0f, 3, 0x76, 0x78, 0x06
	done

	function registers		# CFA from others
	.cfi_def_cfa rbx, 16
	nop
	.cfi_def_cfa rcx, 24
	nop
	.cfi_def_cfa r13, 8
	done

	function sizes			# beyond what a row holds, odd, negative
	.cfi_def_cfa_offset 32760
	nop
	.cfi_def_cfa_offset 32768
	nop
	.cfi_def_cfa_offset 1048720
	nop
	.cfi_def_cfa_offset 12
	nop
	.cfi_def_cfa_offset -16
	nop
	.cfi_def_cfa_offset 64
	.cfi_offset rbp, -2040
	nop
	.cfi_offset rbp, -2048
	nop
	.cfi_offset rbp, 16
	done

	function nested			# states in states
	.cfi_def_cfa_offset 16
	.cfi_remember_state
	nop
	.cfi_def_cfa_offset 24
	.cfi_offset rbp, -24
	.cfi_remember_state
	nop
	.cfi_def_cfa rbp, 16
	.cfi_escape 0x2e, 0x90, 1	# GNU_args_size
	nop
	.cfi_restore_state
	nop
	.cfi_restore_state
	nop
	.cfi_restore rbp
	done

	function longjmp		# the caller's stack pointer is not the CFA
	.cfi_def_cfa rdi, 0
	.cfi_register rsp, r8
	.cfi_register rbp, r9
	.cfi_offset rip, 56
	done

	.balign 16
trampoline:				# a signal frame
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 0x06
	.cfi_escape 0x10, 7, 3, 0x77, 0xa0, 1
	.cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0
	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1
	nop
	nop
	.cfi_endproc
	.balign 16, 0xcc		# padding: `end`
	nop				# text without any CFI
	.balign 16

	function broken			# rows after the unknown instruction are lost
	.cfi_def_cfa_offset 48
	nop
	.cfi_escape 0x3f
	nop
	.cfi_def_cfa_offset 56
	done

	.balign 16
	.type last, @function
last:	.cfi_startproc
	nop
	.cfi_endproc
