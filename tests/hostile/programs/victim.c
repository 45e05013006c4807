/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: -static -nostdlib -no-pie -O1 */
/*
 * All samples of this program have one stack, of secret_miner and _start, at addresses that every
 * user can read in the file. harmless_checksum is never called: forger.c wants it to be shown
 * instead. -DAT="N" moves the addresses.
 */

__asm__(".text\n"
	".fill 64 * " AT ", 1, 0x90\n"
	".globl _start, secret_miner, secret_back\n"
	".type secret_miner, @function\n"
	"secret_miner:\n"
	"	.cfi_startproc\n"
	"1:	jmp 1b\n"
	"	.cfi_endproc\n"
	".size secret_miner, . - secret_miner\n"
	".fill 16, 1, 0x90\n"
	".globl harmless_checksum\n"
	".type harmless_checksum, @function\n"
	"harmless_checksum:\n"
	"	.cfi_startproc\n"
	"1:	jmp 1b\n"
	"	.cfi_endproc\n"
	".size harmless_checksum, . - harmless_checksum\n"
	".fill 16, 1, 0x90\n"
	".type _start, @function\n"
	"_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	call secret_miner\n"
	"secret_back:\n"
	"	hlt\n"
	"	.cfi_endproc\n"
	".size _start, . - _start\n");
