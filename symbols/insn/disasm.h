/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_CODE_DISASM_H
#define STACKTOP_SYMBOLS_CODE_DISASM_H

/*
 * Turns bytes of machine code into instructions, by capstone, which is optional: without its header
 * at build time there is no disassembler, and disasm_missing says what is missing. The bytes may be
 * anything; data is returned as a byte or a word at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disasm;

enum disasm_kind {
	DISASM_PLAIN,
	DISASM_JUMP, /* conditional or not */
	DISASM_CALL,
	DISASM_RETURN,
	DISASM_DATA, /* not an instruction */
};

#define DISASM_TEXT 200

struct disasm_insn {
	uint64_t addr;
	uint8_t size; /* bytes, at least 1 */
	enum disasm_kind kind;
	bool has_target; /* JUMP and CALL: the target, if the instruction itself has it */
	uint64_t target;
	char text[DISASM_TEXT]; /* mnemonic, a blank, operands (Intel's order); printable ASCII */
};

/* NULL: there is a disassembler; else a line that says what to install. Static. */
const char *disasm_missing(void);
/*
 * machine: e_machine (EM_X86_64, EM_AARCH64). -ENOTSUP: none for that machine, or none at all;
 * -ENOMEM.
 */
int disasm_new(unsigned int machine, struct disasm **out);
void disasm_free(struct disasm *d);
/* Reads the instruction at addr, of at most size (> 0) bytes. */
void disasm_one(struct disasm *d, uint64_t addr, const uint8_t *bytes, size_t size,
		struct disasm_insn *out);
/*
 * The text of that instruction in AT&T's order, where it differs from disasm_insn.text: of x86-64
 * only. False: there is no other.
 */
bool disasm_att(struct disasm *d, const struct disasm_insn *insn, const uint8_t *bytes,
		char text[DISASM_TEXT]);

/* What an instruction does, in bits: DISASM_FLOW is any jump, call or return. */
#define DISASM_WRITES_SP 1u
#define DISASM_WRITES_FP 2u
#define DISASM_FLOW	 4u

/*
 * The instruction at bytes[0, size), of x86-64 only: its length, and in *does what it does to the
 * stack pointer, the frame pointer or a part of them, and to the flow of control. 0: it is none.
 */
size_t disasm_effect(struct disasm *d, const uint8_t *bytes, size_t size, unsigned int *does);

#endif
