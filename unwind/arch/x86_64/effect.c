// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The instructions of which compiled code mostly consists are read here, by the tables of Intel's
 * SDM volume 2, appendix A: a disassembler writes text for each, which takes ten times as long. It
 * is asked about all others, and whether an instruction that names SP or FP writes it.
 */
#include "unwind/effect.h"

#include <string.h>

#include "symbols/insn/disasm.h"
#include "unwind/arch.h"

#define INSN_MAX 15u
#define SP	 4u
#define FP	 5u

/* How an opcode continues. */
enum form {
	F_ASK, /* the disassembler */
	F_NONE,
	F_IMM8,
	F_IMMZ,	    /* 4 bytes, 2 with an operand size prefix */
	F_IMM_FULL, /* 8 bytes with REX.W */
	F_MODRM,
	F_MODRM_IMM8,
	F_MODRM_IMMZ,
};

struct insn {
	const uint8_t *code;
	size_t size; /* that may be read */
	size_t at;
	uint8_t rex;
	bool wide; /* REX.W */
	bool opsize, rep;
	bool unknown;	      /* the tables below say too little of it */
	unsigned int op;      /* 0x1xx: after 0f; VECTOR(map, opcode) */
	uint8_t mod, reg, rm; /* with the bits of REX */
	uint8_t base, index;  /* of an address in memory; NO_REG */
	int32_t disp;
	int64_t imm;
};

#define NO_REG		0xffu
#define VECTOR(map, op) (0x1000u + 0x100u * (map) + (op))
#define VECTORS		VECTOR(0, 0)
#define GAP_MIN		9u /* more than the zeros of a number in an instruction */

static enum form one_byte(unsigned int op)
{
	if (op < 0x40)
		return (op & 7) < 4    ? F_MODRM
		       : (op & 7) == 4 ? F_IMM8
		       : (op & 7) == 5 ? F_IMMZ
				       : F_ASK;
	if (op >= 0x50 && op < 0x60)
		return F_NONE;
	if (op >= 0x70 && op < 0x80)
		return F_IMM8;
	if (op >= 0x90 && op < 0x9a)
		return F_NONE;
	if (op >= 0xb0 && op < 0xb8)
		return F_IMM8;
	if (op >= 0xb8 && op < 0xc0)
		return F_IMM_FULL;
	if (op >= 0xd8 && op < 0xe0)
		return F_MODRM;
	switch (op) {
	case 0x63:
	case 0x84 ... 0x8b:
	case 0x8d:
	case 0x8f:
	case 0xd0 ... 0xd3:
	case 0xf6: /* with an immediate operand, see modrm_form */
	case 0xf7:
	case 0xfe:
	case 0xff:
		return F_MODRM;
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xc0:
	case 0xc1:
	case 0xc6:
		return F_MODRM_IMM8;
	case 0x69:
	case 0x81:
	case 0xc7:
		return F_MODRM_IMMZ;
	case 0x6a:
	case 0xa8:
	case 0xe0 ... 0xe3:
	case 0xeb:
		return F_IMM8;
	case 0x68:
	case 0xa9:
	case 0xe8:
	case 0xe9:
		return F_IMMZ;
	case 0x9c:
	case 0x9d:
	case 0xa4 ... 0xa7:
	case 0xaa ... 0xaf:
	case 0xc3:
	case 0xc9:
	case 0xcc:
	case 0xf4:
	case 0xf5: /* flags: cmc, clc, stc, cld, std */
	case 0xf8:
	case 0xf9:
	case 0xfc:
	case 0xfd:
		return F_NONE;
	default:
		return F_ASK;
	}
}

static enum form two_bytes(unsigned int op)
{
	switch (op) {
	case 0x05:
	case 0x0b:
	case 0x31:
	case 0x77:
	case 0xa2:
	case 0xc8 ... 0xcf:
		return F_NONE;
	case 0x01: /* rdtscp, xgetbv and others of the system */
	case 0x10 ... 0x1f:
	case 0x28 ... 0x2f:
	case 0xae: /* fences, and what saves vector registers */
	case 0x40 ... 0x6f:
	case 0x74 ... 0x76:
	case 0x7e ... 0x7f:
	case 0x90 ... 0x9f:
	case 0xa3:
	case 0xa5:
	case 0xab:
	case 0xad:
	case 0xaf ... 0xb1:
	case 0xb3:
	case 0xb6 ... 0xb7:
	case 0xbb ... 0xc1:
	case 0xd1 ... 0xfe:
		return F_MODRM;
	case 0x70 ... 0x73:
	case 0xa4:
	case 0xac:
	case 0xba:
	case 0xc2:
	case 0xc4 ... 0xc6:
		return F_MODRM_IMM8;
	case 0x80 ... 0x8f:
		return F_IMMZ;
	default:
		return F_ASK;
	}
}

/* Reads a signed number of 1, 2 or 4 bytes. */
static bool number(struct insn *i, unsigned int bytes, int64_t *value)
{
	int32_t four;
	int16_t two;

	if (i->size - i->at < bytes)
		return false;
	if (bytes == 1) {
		*value = (int64_t)(i->code[i->at] ^ 0x80u) - 0x80;
	} else if (bytes == 2) {
		memcpy(&two, i->code + i->at, 2);
		*value = two;
	} else {
		memcpy(&four, i->code + i->at, 4);
		*value = four;
	}
	i->at += bytes;
	return true;
}

static bool modrm(struct insn *i)
{
	uint8_t byte, sib;
	int64_t disp = 0;
	unsigned int bytes;

	if (i->at >= i->size)
		return false;
	byte = i->code[i->at++];
	i->mod = byte >> 6;
	i->reg = (byte >> 3 & 7) | (i->rex & 4) << 1;
	i->rm = (byte & 7) | (i->rex & 1) << 3;
	if (i->mod == 3)
		return true;
	bytes = i->mod == 1 ? 1 : i->mod == 2 ? 4 : 0;
	i->base = i->rm;
	if ((byte & 7) == 4) {
		if (i->at >= i->size)
			return false;
		sib = i->code[i->at++];
		i->base = (sib & 7) | (i->rex & 1) << 3;
		i->index = (sib >> 3 & 7) | (i->rex & 2) << 2;
		if (i->index == 4)
			i->index = NO_REG;
		if ((sib & 7) == 5 && !i->mod) {
			i->base = NO_REG;
			bytes = 4;
		}
	} else if ((byte & 7) == 5 && !i->mod) {
		i->base = NO_REG; /* relative to the pc */
		bytes = 4;
	}
	if (bytes && !number(i, bytes, &disp))
		return false;
	i->disp = (int32_t)disp;
	return true;
}

/*
 * AVX and AVX-512 (SDM volume 2, 2.3 and 2.7), of which older disassemblers know a part: the prefix
 * has the bits of REX, and which table the opcode is of. Other instructions on general registers
 * than moves are left to them.
 */
static enum form vector(struct insn *i)
{
	const uint8_t *prefix = i->code + i->at;
	unsigned int bytes = prefix[0] == 0xc5 ? 2 : prefix[0] == 0xc4 ? 3 : 4, map = 1, op;

	if (i->size - i->at <= bytes || (bytes == 4 && (prefix[1] & 8 || !(prefix[2] & 4))))
		return F_ASK;
	i->rex = 0x40 | (~prefix[1] >> 5 & (bytes == 2 ? 4 : 7));
	if (bytes > 2) {
		map = prefix[1] & (bytes == 3 ? 31 : 7);
		i->wide = prefix[2] & 0x80;
	}
	op = prefix[bytes];
	i->op = VECTOR(map, op);
	i->at += bytes + 1;
	if (map == 1 && op == 0x77 && bytes < 4) /* vzeroupper */
		return F_NONE;
	if (!map || map > (bytes < 4 ? 3 : 6) || map == 4 || (bytes < 4 && map > 1 && op >= 0xf0) ||
	    (map == 1 && (op < 0x10 || (op >= 0x18 && op < 0x28) || (op >= 0x30 && op < 0x41) ||
			  (op >= 0x80 && op < 0x90) || (op >= 0x9a && op < 0xc2 && op != 0xae))))
		return F_ASK;
	return map == 3 || (map == 1 && ((op >= 0x70 && op <= 0x73) || op == 0xc2 ||
					 (op >= 0xc4 && op <= 0xc6)))
		       ? F_MODRM_IMM8
		       : F_MODRM;
}

/* The prefixes and the opcode. */
static enum form opcode(struct insn *i)
{
	for (; i->at < i->size; i->at++) {
		uint8_t byte = i->code[i->at];

		if (byte == 0x66)
			i->opsize = true;
		else if (byte == 0xf2 || byte == 0xf3)
			i->rep = true;
		else if (byte != 0x2e && byte != 0x3e && byte != 0x64 && byte != 0x65 &&
			 byte != 0xf0)
			break;
	}
	if (i->at < i->size && (i->code[i->at] & 0xf0) == 0x40) {
		i->rex = i->code[i->at++];
		i->wide = i->rex & 8;
	}
	if (i->at >= i->size)
		return F_ASK;
	if ((i->code[i->at] == 0x62 || (i->code[i->at] & 0xfe) == 0xc4) && !i->rex && !i->opsize &&
	    !i->rep)
		return vector(i);
	i->op = i->code[i->at++];
	if (i->op != 0x0f)
		return one_byte(i->op);
	if (i->at >= i->size)
		return F_ASK;
	i->op = 0x100 | i->code[i->at++];
	return two_bytes(i->op & 0xff);
}

/* Opcodes that 64-bit code does not have (SDM volume 2, table A-2). */
static bool is_no_opcode(unsigned int op)
{
	static const uint8_t none[] = {0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37,
				       0x3f, 0x60, 0x61, 0x82, 0x9a, 0xce, 0xd4, 0xd5, 0xd6, 0xea};

	return op < 0x100 && memchr(none, (int)op, sizeof(none)) != NULL;
}

/* True if the whole instruction has been read. */
static bool parse(struct insn *i)
{
	enum form form = opcode(i);
	unsigned int immz = i->opsize ? 2 : 4;

	if (form == F_ASK) {
		i->unknown = i->at < i->size && !is_no_opcode(i->op);
		return false;
	}
	if (form >= F_MODRM && !modrm(i))
		return false;
	/* TEST is the first of its group and has an immediate operand. */
	if (i->op == 0xf6 && !(i->reg & 6))
		form = F_MODRM_IMM8;
	if (i->op == 0xf7 && !(i->reg & 6))
		form = F_MODRM_IMMZ;
	if (form == F_IMM_FULL && i->wide) {
		i->at += 8;
		return i->at <= i->size;
	}
	if (form == F_IMM8 || form == F_MODRM_IMM8)
		return number(i, 1, &i->imm);
	if (form == F_IMMZ || form == F_MODRM_IMMZ || form == F_IMM_FULL) {
		/* Jumps and pushes of 16 bits are not compiled code. */
		if (i->opsize &&
		    (i->op == 0x68 || i->op == 0xe8 || i->op == 0xe9 || i->op >= 0x180)) {
			i->unknown = true;
			return false;
		}
		return number(i, immz, &i->imm);
	}
	return true;
}

/* 1: SP, 2: FP, 0: neither. byte: without REX the numbers 4 and 5 are AH and CH. */
static unsigned int named(const struct insn *i, unsigned int reg, bool byte)
{
	if (byte && !i->rex)
		return 0;
	return reg == SP ? DISASM_WRITES_SP : reg == FP ? DISASM_WRITES_FP : 0;
}

enum { W_REG = 1, W_RM = 2, W_ASK = 4 };

/* Which operands of the ModRM byte the instruction writes. */
static unsigned int written(const struct insn *i)
{
	unsigned int op = i->op, sub = i->reg & 7;

	if (op < 0x40)
		return (op >> 3 & 7) == 7 ? 0 : op & 2 ? W_REG : W_RM;
	switch (op) {
	case VECTOR(1, 0x2c): /* vcvt... to a register */
	case VECTOR(1, 0x2d):
	case VECTOR(1, 0x78):
	case VECTOR(1, 0x79):
	case VECTOR(5, 0x2c):
	case VECTOR(5, 0x2d):
	case VECTOR(5, 0x78):
	case VECTOR(5, 0x79):
	case VECTOR(1, 0x50): /* vmovmsk..., kmov, vpextrw, vpmovmskb */
	case VECTOR(1, 0x93):
	case VECTOR(1, 0xc5):
	case VECTOR(1, 0xd7):
		return W_REG;
	case VECTOR(1, 0x7e): /* vmovd, vmovq, vmovw, vpextr... */
	case VECTOR(5, 0x7e):
	case VECTOR(3, 0x14)... VECTOR(3, 0x17):
		return W_RM;
	case 0x84:
	case 0x85:
		return 0;
	case 0x86:
	case 0x87:
		return W_REG | W_RM;
	case 0x88:
	case 0x89:
		return W_RM;
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8a:
	case 0x8b:
	case 0x8d:
		return W_REG;
	case 0x80:
	case 0x81:
	case 0x83:
		return sub == 7 ? 0 : W_RM;
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0 ... 0xd3:
		return W_RM;
	case 0xf6:
	case 0xf7:
		return sub == 2 || sub == 3 ? W_RM : 0;
	case 0xfe:
	case 0xff:
		return sub < 2 ? W_RM : 0;
	case 0xd8 ... 0xdf:
	case 0x118 ... 0x11f:
		return 0;
	case 0x140 ... 0x14f:
	case 0x1af:
	case 0x1b6:
	case 0x1b7:
	case 0x1be:
	case 0x1bf:
		return W_REG;
	case 0x1ae: /* fences; rdfsbase, rdgsbase */
		return i->mod == 3 && i->rep && sub < 2 ? W_RM : 0;
	case 0x1a3: /* bt */
	/* Vector registers have the numbers of SP and FP, too. */
	case 0x110 ... 0x117:
	case 0x128 ... 0x12b:
	case 0x12e ... 0x12f:
	case 0x151 ... 0x176:
	case 0x17f:
	case 0x1c2 ... 0x1c4:
	case 0x1c6:
	case 0x1d0 ... 0x1d6:
	case 0x1d8 ... 0x1fe:
		return 0;
	case 0x190 ... 0x19f:
	case 0x1a4: /* shld, shrd, and bts, btr, btc */
	case 0x1a5:
	case 0x1ab:
	case 0x1ac:
	case 0x1ad:
	case 0x1b3:
	case 0x1bb:
		return W_RM;
	case 0x101:
		return sub == 4 ? W_RM : 0; /* smsw */
	case 0x1ba:			    /* bt writes flags only; bts, btr and btc the operand */
		return sub == 4 ? 0 : W_RM;
	default:
		return op >= VECTORS ? 0 : W_ASK;
	}
}

static bool writes_byte(unsigned int op)
{
	if (op < 0x40)
		return !(op & 1);
	return op == 0x80 || op == 0x84 || op == 0x86 || op == 0x88 || op == 0x8a || op == 0xc0 ||
	       op == 0xc6 || op == 0xd0 || op == 0xd2 || op == 0xf6 || op == 0xfe ||
	       (op >= 0x190 && op <= 0x19f);
}

static enum effect_kind lost(unsigned int does)
{
	does &= DISASM_WRITES_SP | DISASM_WRITES_FP;
	if (does == DISASM_WRITES_SP)
		return EFFECT_SP_LOST;
	if (does == DISASM_WRITES_FP)
		return EFFECT_FP_LOST;
	return does ? EFFECT_BOTH_LOST : EFFECT_NONE;
}

static void ask(struct disasm *disasm, const struct insn *i, struct effect *out)
{
	unsigned int does;
	size_t size = disasm_effect(disasm, i->code, i->size, &does);

	if (!size || size > INSN_MAX || does & DISASM_FLOW) {
		out->size = size && size <= INSN_MAX ? (uint8_t)size : 1;
		out->kind = EFFECT_BAD;
		return;
	}
	out->size = (uint8_t)size;
	out->kind = lost(does);
}

/* An address that is SP or FP plus a constant: that register. */
static unsigned int plain_base(const struct insn *i)
{
	return i->mod != 3 && i->index == NO_REG && (i->base == SP || i->base == FP) ? i->base
										     : NO_REG;
}

/* A move between registers. */
static enum effect_kind move(const struct insn *i, unsigned int to, unsigned int from)
{
	if (to == FP)
		return i->wide && from == SP ? EFFECT_FP_FROM_SP : EFFECT_FP_LOST;
	if (to == SP)
		return i->wide && from == FP ? EFFECT_SP_FROM_FP : EFFECT_SP_LOST;
	return i->wide && from == SP ? EFFECT_SAVE_SP : EFFECT_NONE;
}

static enum effect_kind lea(const struct insn *i, struct effect *out)
{
	unsigned int base = plain_base(i);

	out->value = i->disp;
	if (i->reg == SP)
		return !i->wide	    ? EFFECT_SP_LOST
		       : base == SP ? EFFECT_ADD_SP
		       : base == FP ? EFFECT_SP_FROM_FP
				    : EFFECT_SP_LOST;
	if (i->reg == FP && i->wide && base == FP && !i->disp)
		return EFFECT_ADD_SP; /* of nothing: a long nop */
	if (i->reg == FP)
		return i->wide && base == SP ? EFFECT_FP_FROM_SP : EFFECT_FP_LOST;
	return i->base == NO_REG && i->index == NO_REG && (i->rm & 7) == 5 ? EFFECT_ADDRESS
									   : EFFECT_NONE;
}

/* Effects of opcodes with a ModRM byte, as far as they are followed; -1: not one of them. */
static int with_modrm(const struct insn *i, struct effect *out)
{
	unsigned int sub = i->reg & 7;

	switch (i->op) {
	case 0x31:
	case 0x33:
		return i->mod == 3 && i->reg == FP && i->rm == FP ? EFFECT_ZERO_FP : -1;
	case 0x81:
	case 0x83:
		if (i->mod != 3 || i->rm != SP || !i->wide || (sub != 0 && sub != 5))
			return -1;
		out->value = (int32_t)(sub ? -i->imm : i->imm);
		return i->imm == INT32_MIN ? EFFECT_SP_LOST : EFFECT_ADD_SP;
	case 0x89:
		if (i->mod == 3)
			return move(i, i->rm, i->reg);
		out->value = i->disp;
		if (i->wide && i->reg == SP)
			return EFFECT_SAVE_SP;
		return i->wide && i->reg == FP && plain_base(i) == SP ? EFFECT_STORE_FP
								      : EFFECT_NONE;
	case 0x8b:
		if (i->mod == 3)
			return move(i, i->reg, i->rm);
		out->value = i->disp;
		if (!i->wide || i->reg != FP || plain_base(i) == NO_REG)
			return -1;
		return plain_base(i) == SP ? EFFECT_LOAD_FP : EFFECT_RELOAD_FP;
	case 0x8d:
		return i->mod == 3 ? EFFECT_BAD : lea(i, out);
	case 0x8f:
		if (sub)
			return EFFECT_BAD;
		return i->mod != 3 || (i->rm != SP && i->rm != FP) ? EFFECT_POP
		       : i->rm == FP				   ? EFFECT_POP_FP
								   : EFFECT_SP_LOST;
	case 0xff:
		switch (sub) {
		case 2:
			return EFFECT_CALL_COMPUTED;
		case 4:
			return EFFECT_JUMP_COMPUTED;
		case 6:
			return i->mod == 3 && i->rm == FP ? EFFECT_PUSH_FP : EFFECT_PUSH;
		case 0:
		case 1:
			return -1;
		default:
			return EFFECT_BAD;
		}
	case 0xc7:
		out->value = (int32_t)i->imm;
		return i->mod == 3 && i->wide && i->imm > 0 && i->rm != SP && i->rm != FP
			       ? EFFECT_ABSOLUTE
			       : -1;
	case 0x11f:
		return EFFECT_PAD;
	case 0x11e: /* endbr64 */
		return EFFECT_NONE;
	default:
		return -1;
	}
}

/* Effects of the others. */
static int without_modrm(const struct insn *i, struct effect *out)
{
	unsigned int reg = (i->op & 7) | (i->rex & 1) << 3;

	out->value = (int32_t)i->imm;
	switch (i->op) {
	case 0x50 ... 0x57:
		return i->opsize ? EFFECT_SP_LOST : reg == FP ? EFFECT_PUSH_FP : EFFECT_PUSH;
	case 0x58 ... 0x5f:
		if (i->opsize)
			return EFFECT_BOTH_LOST;
		return reg == FP ? EFFECT_POP_FP : reg == SP ? EFFECT_SP_LOST : EFFECT_POP;
	case 0x68:
	case 0x6a:
	case 0x9c:
		return i->opsize ? EFFECT_SP_LOST : EFFECT_PUSH;
	case 0x9d:
		return i->opsize ? EFFECT_SP_LOST : EFFECT_POP;
	case 0x70 ... 0x7f:
	case 0x180 ... 0x18f:
	case 0xe0 ... 0xe3:
		return EFFECT_BRANCH;
	case 0x90:
		return i->rex & 1 ? EFFECT_NONE : EFFECT_PAD;
	case 0xb8 ... 0xbf:
		if (!i->wide && !i->opsize && i->imm > 0 && reg != SP && reg != FP)
			return EFFECT_ABSOLUTE;
		/* fall through */
	case 0x91 ... 0x97:
	case 0x1c8 ... 0x1cf:
		return reg == SP ? EFFECT_SP_LOST : reg == FP ? EFFECT_FP_LOST : EFFECT_NONE;
	case 0xc3:
		return EFFECT_RETURN;
	case 0xc9:
		return EFFECT_LEAVE;
	case 0xcc:
		return EFFECT_PAD;
	case 0xe8:
		return EFFECT_CALL;
	case 0xe9:
	case 0xeb:
		return EFFECT_JUMP;
	case 0xf4:
	case 0x10b:
		return EFFECT_STOP;
	default:
		return EFFECT_NONE;
	}
}

void arch_effect(struct disasm *disasm, const uint8_t *code, size_t size, struct effect *out)
{
	struct insn i = {.code = code, .size = size, .base = NO_REG, .index = NO_REG};
	bool has_modrm;
	unsigned int writes, does = 0;
	int kind;

	*out = (struct effect){0};
	if (i.size > INSN_MAX)
		i.size = INSN_MAX;
	if (i.size >= 2 && !code[0] && !code[1]) {
		/* Linkers fill with zeros, which would be an addition. */
		out->size = 2;
		out->kind = EFFECT_BAD;
		return;
	}
	if (i.size >= 3 && code[0] == 0xc2) { /* ret, and what was pushed for the callee goes */
		out->size = 3;
		out->kind = EFFECT_RETURN;
		return;
	}
	if (!parse(&i)) {
		/* The disassembler would say no more of one that is cut off, or that is none. */
		if (i.unknown)
			ask(disasm, &i, out);
		else
			*out = (struct effect){.size = 1, .kind = EFFECT_BAD};
		return;
	}
	out->size = (uint8_t)i.at;
	if (i.op >= VECTORS) { /* the index may be a vector, and a short distance is scaled */
		i.index = NO_REG;
		i.base = i.base == FP ? FP : NO_REG;
	}
	has_modrm = i.op >= VECTORS ||
		    (i.op < 0x100 ? one_byte(i.op) : two_bytes(i.op & 0xff)) >= F_MODRM;
	if (!has_modrm) {
		out->kind = (uint8_t)without_modrm(&i, out);
		return;
	}
	kind = with_modrm(&i, out);
	out->uses_sp = (kind < 0 || kind == EFFECT_PUSH) && plain_base(&i) == SP;
	if (out->uses_sp)
		out->value = i.disp;
	out->uses_fp = i.mod != 3 && (i.base == FP || i.index == FP) && kind != EFFECT_PAD &&
		       kind != EFFECT_SP_FROM_FP && kind != EFFECT_ADD_SP;
	out->below_fp = out->uses_fp && plain_base(&i) == FP && i.disp < 0 && !(i.disp % 4);
	if (kind >= 0) {
		out->kind = (uint8_t)kind;
		return;
	}
	writes = written(&i);
	if (writes & W_REG)
		does |= named(&i, i.reg, writes_byte(i.op));
	if (writes & W_RM && i.mod == 3)
		does |= named(&i, i.rm, writes_byte(i.op));
	if (writes & W_ASK && (named(&i, i.reg, false) || (i.mod == 3 && named(&i, i.rm, false)))) {
		const struct effect before = *out;

		ask(disasm, &i, out);
		out->uses_fp = before.uses_fp;
		return;
	}
	out->kind = (uint8_t)lost(does);
}

bool arch_may_begin(struct disasm *disasm, const uint8_t *code, size_t at, size_t size)
{
	static const uint8_t gaps[] = {0xc3, 0xcc, 0x90, 0x00};
	struct effect e;
	size_t gap = 0;

	if (!memchr(gaps, code[at - 1], sizeof(gaps)))
		return false;
	/* A gap, and no byte of an instruction that happens to look like one. */
	while (gap < GAP_MIN && gap < at && code[at - 1 - gap] == code[at - 1])
		gap++;
	if (gap == GAP_MIN)
		return true;
	arch_effect(disasm, code + at, size - at, &e);
	return e.kind == EFFECT_PUSH || e.kind == EFFECT_PUSH_FP ||
	       (e.kind == EFFECT_ADD_SP && e.value < 0);
}
