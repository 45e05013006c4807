// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz: -max_len=64 */
/*
 * DWARF expressions, parsed and evaluated: where expr_parse gives a form, an ordinary stack machine
 * on made-up registers and memory must give the same number. The first byte tells whether the CFA
 * is on the stack at the beginning.
 * Covers: unwind/expr.c unwind/cursor.h
 */
#include "tests/fuzz/fuzz.h"
#include "unwind/arch.h"
#include "unwind/cursor.h"
#include "unwind/cfa.h"

#define STACK_MAX 64

struct machine {
	struct cfi_cursor c;
	uint64_t stack[STACK_MAX];
	unsigned int depth;
	uint64_t seed;
	bool failed;
};

static uint64_t invent(uint64_t value)
{
	value = (value ^ value >> 31) * 0x9e3779b97f4a7c15u;
	return value ^ value >> 29;
}

static uint64_t reg_value(const struct machine *m, uint64_t reg)
{
	return invent(m->seed + 77 * reg);
}

static uint64_t memory(const struct machine *m, uint64_t addr)
{
	return invent(addr + m->seed * 3);
}

static uint64_t cfa_value(const struct machine *m)
{
	return invent(m->seed * 5);
}

static void push(struct machine *m, uint64_t value)
{
	if (m->depth < STACK_MAX)
		m->stack[m->depth++] = value;
	else
		m->failed = true;
}

static uint64_t pop(struct machine *m)
{
	if (m->depth)
		return m->stack[--m->depth];
	m->failed = true;
	return 0;
}

static uint64_t binary(uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case 0x1a:
		return a & b;
	case 0x1c:
		return a - b;
	case 0x22:
		return a + b;
	case 0x24:
		return b < 64 ? a << b : 0;
	default:
		return (int64_t)a >= (int64_t)b;
	}
}

/* DWARF 5 section 2.5.1. Returns false for an operator that is not handled here. */
static bool step(struct machine *m, uint8_t op)
{
	uint64_t a, b;

	if (op >= 0x30 && op <= 0x4f) {
		push(m, op - 0x30u);
		return true;
	}
	if (op >= 0x70 && op <= 0x8f) {
		push(m, reg_value(m, op - 0x70u) + (uint64_t)cursor_sleb(&m->c));
		return true;
	}
	switch (op) {
	case 0x03: /* addr, const8u, const8s */
	case 0x0e:
	case 0x0f:
		push(m, cursor_fixed(&m->c, 8));
		return true;
	case 0x06:
		push(m, memory(m, pop(m)));
		return true;
	case 0x08:
		push(m, cursor_fixed(&m->c, 1));
		return true;
	case 0x09:
		push(m, (uint64_t)cursor_signed(&m->c, 1));
		return true;
	case 0x0a:
		push(m, cursor_fixed(&m->c, 2));
		return true;
	case 0x0b:
		push(m, (uint64_t)cursor_signed(&m->c, 2));
		return true;
	case 0x0c:
		push(m, cursor_fixed(&m->c, 4));
		return true;
	case 0x0d:
		push(m, (uint64_t)cursor_signed(&m->c, 4));
		return true;
	case 0x10:
		push(m, cursor_uleb(&m->c));
		return true;
	case 0x11:
		push(m, (uint64_t)cursor_sleb(&m->c));
		return true;
	case 0x12:
		a = pop(m);
		push(m, a);
		push(m, a);
		return true;
	case 0x13:
		pop(m);
		return true;
	case 0x14:
	case 0x16:
		b = pop(m);
		a = pop(m);
		if (op == 0x14)
			push(m, a);
		push(m, b);
		push(m, a);
		return true;
	case 0x1a:
	case 0x1c:
	case 0x22:
	case 0x24:
	case 0x2a:
		b = pop(m);
		a = pop(m);
		push(m, binary(op, a, b));
		return true;
	case 0x23:
		a = pop(m);
		push(m, a + cursor_uleb(&m->c));
		return true;
	case 0x92:
		a = cursor_uleb(&m->c);
		push(m, reg_value(m, a) + (uint64_t)cursor_sleb(&m->c));
		return true;
	case 0x96:
		return true;
	default:
		return false;
	}
}

/* Evaluates the form on the same registers and memory. */
static uint64_t evaluate(const struct machine *m, const struct expr *e)
{
	uint64_t off = (uint64_t)e->off, add = (uint64_t)e->add;

	switch (e->kind) {
	case EXPR_CONST:
		return add;
	case EXPR_REG:
		return reg_value(m, e->reg) + add;
	case EXPR_DEREF:
		return memory(m, reg_value(m, e->reg) + off) + add;
	case EXPR_CFA:
		return cfa_value(m) + add;
	case EXPR_CFA_DEREF:
		return memory(m, cfa_value(m) + off) + add;
	default:
		return reg_value(m, e->reg) + off +
		       ((reg_value(m, ARCH_PC) & (ARCH_PLT_BYTES - 1)) >= e->threshold ? add : 0);
	}
}

static int take_input(const uint8_t *data, size_t size)
{
	bool with_cfa = fuzz_u8(&data, &size) & 1;
	uint8_t *copy = fuzz_copy(data, size);
	struct expr e;
	bool ok = expr_parse(copy, size, with_cfa, &e);

	require(e.kind <= EXPR_PLT && (ok || e.kind == EXPR_OTHER));
	require(e.kind != EXPR_PLT || e.threshold < ARCH_PLT_BYTES);
	for (uint64_t seed = 1; e.kind != EXPR_OTHER && seed < 4; seed++) {
		struct machine m = {.c = cursor_new(copy, size), .seed = seed * 0x1234567};

		if (with_cfa)
			push(&m, cfa_value(&m));
		while (cursor_left(&m.c))
			require(step(&m, cursor_u8(&m.c)));
		require(!m.failed && !m.c.failed && m.depth);
		require(pop(&m) == evaluate(&m, &e));
	}
	free(copy);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 16, 1024)
