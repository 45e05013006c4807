// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A stack machine over `base + number` values. The base is nothing, a register, the CFA, or what
 * one of them points to. Adding numbers and a single load cover all that compilers, assembler
 * writers and the C library's signal trampolines say; OCaml's rule for a fiber loads what it has
 * loaded, and the linker's PLT rule adds a comparison, for which a few intermediate kinds exist.
 * Whatever leaves these forms becomes EXPR_OTHER, of which nothing but EXPR_OTHER can be computed.
 */
#include "unwind/cfa.h"

#include "unwind/arch.h"

#define STACK_MAX 16

/* DW_OP_*, DWARF 5 section 7.7.1. Ranges are given by their first member. */
enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONST8U = 0x0e,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_SWAP = 0x16,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
	OP_BREGX = 0x92,
	OP_NOP = 0x96,
};

/* Steps of the PLT rule, beyond enum expr_kind. */
enum {
	PART_PC_MASKED = 100, /* pc & mask */
	PART_PC_GE,	      /* (pc & mask) >= threshold */
	PART_PC_SCALED,	      /* that << n, as add */
};

struct expr_machine {
	struct cfi_cursor c;
	struct expr stack[STACK_MAX];
	unsigned int depth;
};

static const struct expr other = {.kind = EXPR_OTHER};

static void push(struct expr_machine *m, struct expr value)
{
	if (m->depth == STACK_MAX)
		cursor_fail(&m->c);
	else
		m->stack[m->depth++] = value;
}

static struct expr pop(struct expr_machine *m)
{
	if (!m->depth) {
		cursor_fail(&m->c);
		return other;
	}
	return m->stack[--m->depth];
}

static struct expr constant(uint64_t value)
{
	return (struct expr){.kind = EXPR_CONST, .add = (int64_t)value};
}

/* Address arithmetic wraps. */
static struct expr plus_number(struct expr a, uint64_t number)
{
	if (a.kind > EXPR_CFA_DEREF)
		return other;
	a.add = (int64_t)((uint64_t)a.add + number);
	return a;
}

static struct expr plus(struct expr a, struct expr b)
{
	if (b.kind == EXPR_CONST)
		return plus_number(a, (uint64_t)b.add);
	if (a.kind == EXPR_CONST)
		return plus_number(b, (uint64_t)a.add);
	if (a.kind == EXPR_REG && b.kind == PART_PC_SCALED)
		return (struct expr){.kind = EXPR_PLT,
				     .reg = a.reg,
				     .threshold = b.threshold,
				     .off = a.add,
				     .add = b.add};
	return other;
}

static struct expr load(struct expr a)
{
	if (a.kind == EXPR_DEREF && !a.add) {
		a.kind = EXPR_DEREF_TWICE;
		return a;
	}
	if (a.kind != EXPR_REG && a.kind != EXPR_CFA)
		return other;
	a.kind = a.kind == EXPR_REG ? EXPR_DEREF : EXPR_CFA_DEREF;
	a.off = a.add;
	a.add = 0;
	return a;
}

static struct expr binary(uint8_t op, struct expr a, struct expr b)
{
	if (op == OP_PLUS)
		return plus(a, b);
	if (b.kind != EXPR_CONST)
		return other;
	if (op == OP_MINUS)
		return plus_number(a, -(uint64_t)b.add);
	if (op == OP_AND && a.kind == EXPR_REG && a.reg == ARCH_PC && !a.add &&
	    b.add == ARCH_PLT_BYTES - 1)
		return (struct expr){.kind = PART_PC_MASKED};
	if (op == OP_GE && a.kind == PART_PC_MASKED && b.add >= 0 && b.add < ARCH_PLT_BYTES)
		return (struct expr){.kind = PART_PC_GE, .threshold = (uint32_t)b.add};
	if (op == OP_SHL && a.kind == PART_PC_GE && b.add >= 0 && b.add < 32) {
		a.kind = PART_PC_SCALED;
		a.add = (int64_t)1 << b.add;
		return a;
	}
	return other;
}

/* Operators that only push a number. False: op is none of them. */
static bool push_constant(struct expr_machine *m, uint8_t op)
{
	/* const1u .. const8s: 1, 2, 4 or 8 bytes, unsigned and signed by turns. */
	unsigned int bytes = 1u << ((op - OP_CONST1U) / 2 & 3);

	if (op >= OP_LIT0 && op < OP_LIT0 + 32)
		push(m, constant(op - OP_LIT0));
	else if (op == OP_CONSTU)
		push(m, constant(cursor_uleb(&m->c)));
	else if (op == OP_CONSTS)
		push(m, constant((uint64_t)cursor_sleb(&m->c)));
	else if (op == OP_ADDR)
		push(m, constant(cursor_fixed(&m->c, 8)));
	else if (op >= OP_CONST1U && op <= OP_CONST8S)
		if (op & 1)
			push(m, constant((uint64_t)cursor_signed(&m->c, bytes)));
		else
			push(m, constant(cursor_fixed(&m->c, bytes)));
	else
		return false;
	return true;
}

static void push_register(struct expr_machine *m, uint64_t reg)
{
	int64_t add = cursor_sleb(&m->c);

	if (reg > UINT32_MAX)
		push(m, other);
	else
		push(m, (struct expr){.kind = EXPR_REG, .reg = (uint32_t)reg, .add = add});
}

/* False: an operator that no rule of a known form contains. */
static bool step(struct expr_machine *m, uint8_t op)
{
	struct expr a, b;

	if (op >= OP_BREG0 && op < OP_BREG0 + 32) {
		push_register(m, op - OP_BREG0);
		return true;
	}
	switch (op) {
	case OP_NOP:
		return true;
	case OP_BREGX:
		push_register(m, cursor_uleb(&m->c));
		return true;
	case OP_DEREF:
		push(m, load(pop(m)));
		return true;
	case OP_PLUS_UCONST:
		a = pop(m);
		push(m, plus_number(a, cursor_uleb(&m->c)));
		return true;
	case OP_DUP:
		a = pop(m);
		push(m, a);
		push(m, a);
		return true;
	case OP_DROP:
		pop(m);
		return true;
	case OP_OVER:
	case OP_SWAP:
		b = pop(m);
		a = pop(m);
		if (op == OP_OVER)
			push(m, a);
		push(m, b);
		push(m, a);
		return true;
	case OP_AND:
	case OP_MINUS:
	case OP_PLUS:
	case OP_SHL:
	case OP_GE:
		b = pop(m);
		a = pop(m);
		push(m, binary(op, a, b));
		return true;
	default:
		return push_constant(m, op);
	}
}

bool expr_parse(const uint8_t *data, size_t size, bool with_cfa, struct expr *out)
{
	struct expr_machine m = {.c = cursor_new(data, size)};

	*out = other;
	if (with_cfa)
		push(&m, (struct expr){.kind = EXPR_CFA});
	while (cursor_left(&m.c))
		/* The rest of what is not understood cannot be told from broken. */
		if (!step(&m, cursor_u8(&m.c)))
			return true;
	if (m.c.failed || !m.depth)
		return false;
	*out = pop(&m);
	if (out->kind > EXPR_PLT)
		*out = other;
	return true;
}
