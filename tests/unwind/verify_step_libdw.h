/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_UNWIND_VERIFY_STEP_LIBDW_H
#define STACKTOP_TESTS_UNWIND_VERIFY_STEP_LIBDW_H

/*
 * The judge that reads CFI as well: libdw's rules of a frame, evaluated over all registers of the
 * traced program. libdw looks up a rule slowly, so it is asked once for each address.
 */

#include <uthash.h>

#include "tests/unwind/verify_step_space.h"

enum verdict {
	STEPPED,   /* to a caller */
	OUTERMOST, /* there is no caller */
	NOTHING,   /* no CFI (libdw), or not known (witness), or no answer (ours) */
	UNKNOWN,   /* a rule that needs an unknown value */
};

struct place { /* an address in a file */
	struct module *module;
	uint64_t vaddr;
};

struct row { /* libdw's, for one address: the starts that libdw gives for rows are wrong */
	struct place place;
	Dwarf_Frame *frame; /* NULL: no CFI */
	int ra;
	bool signal;
	UT_hash_handle hh;
};

struct judge {
	struct space *space;
	struct row *rows;
};

struct frame {
	uint64_t regs[DWARF_COUNT];
	uint32_t known; /* bit n: regs[n] is */
	bool exact;	/* the pc is not a return address */
};

struct machine {
	uint64_t stack[64];
	unsigned int depth;
	bool unknown, is_value;
	int in_reg; /* DW_OP_regN, or -1 */
};

static inline void op_push(struct machine *m, uint64_t value)
{
	if (m->depth < 64)
		m->stack[m->depth++] = value;
	else
		m->unknown = true;
}

static inline uint64_t op_pop(struct machine *m)
{
	if (m->depth)
		return m->stack[--m->depth];
	m->unknown = true;
	return 0;
}

static inline uint64_t op_reg(const struct frame *f, struct machine *m, uint64_t reg)
{
	if (reg < DWARF_COUNT && f->known >> reg & 1)
		return f->regs[reg];
	m->unknown = true;
	return 0;
}

static inline void op_binary(struct machine *m, uint8_t atom)
{
	uint64_t b = op_pop(m), a = op_pop(m);

	switch (atom) {
	case DW_OP_plus:
		op_push(m, a + b);
		break;
	case DW_OP_minus:
		op_push(m, a - b);
		break;
	case DW_OP_mul:
		op_push(m, a * b);
		break;
	case DW_OP_and:
		op_push(m, a & b);
		break;
	case DW_OP_shl:
		op_push(m, b < 64 ? a << b : 0);
		break;
	case DW_OP_ge:
		op_push(m, (int64_t)a >= (int64_t)b);
		break;
	default:
		m->unknown = true;
		break;
	}
}

static inline void op_run(struct space *s, const struct frame *f, struct machine *m,
			  const Dwarf_Op *op, uint64_t cfa)
{
	uint8_t atom = op->atom;
	uint64_t value = 0;

	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
		op_push(m, op_reg(f, m, atom - DW_OP_breg0) + op->number);
	} else if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
		m->in_reg = atom - DW_OP_reg0;
	} else if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
		op_push(m, atom - DW_OP_lit0);
	} else if (atom >= DW_OP_const1u && atom <= DW_OP_consts) {
		op_push(m, op->number);
	} else if (atom == DW_OP_bregx) {
		op_push(m, op_reg(f, m, op->number) + op->number2);
	} else if (atom == DW_OP_regx) {
		m->in_reg = (int)op->number;
	} else if (atom == DW_OP_call_frame_cfa) {
		op_push(m, cfa);
	} else if (atom == DW_OP_plus_uconst) {
		op_push(m, op_pop(m) + op->number);
	} else if (atom == DW_OP_stack_value) {
		m->is_value = true;
	} else if (atom == DW_OP_deref) {
		if (!space_word(s, op_pop(m), &value))
			m->unknown = true;
		op_push(m, value);
	} else if (atom != DW_OP_nop) {
		op_binary(m, atom);
	}
}

/* Evaluates it; false when it cannot. is_address: the result is the address of the value. */
static inline bool ops_value(struct space *s, const struct frame *f, const Dwarf_Op *ops, size_t n,
			     uint64_t cfa, bool is_address, uint64_t *value)
{
	struct machine m = {.in_reg = -1};

	for (size_t i = 0; i < n && !m.unknown; i++)
		op_run(s, f, &m, &ops[i], cfa);
	*value = m.in_reg >= 0 ? op_reg(f, &m, (uint64_t)m.in_reg) : op_pop(&m);
	if (m.unknown)
		return false;
	return m.in_reg >= 0 || m.is_value || !is_address || space_word(s, *value, value);
}

static inline const struct row *row_find(struct judge *j, struct module *module, uint64_t vaddr)
{
	struct place place = {module, vaddr};
	Dwarf_Addr start, end;
	struct row *row;

	HASH_FIND(hh, j->rows, &place, sizeof(place), row);
	if (row)
		return row;
	row = calloc(1, sizeof(*row));
	if (!row)
		err(2, "memory");
	row->place = place;
	if (module->cfi && dwarf_cfi_addrframe(module->cfi, vaddr, &row->frame) == 0)
		row->ra = dwarf_frame_info(row->frame, &start, &end, &row->signal);
	HASH_ADD(hh, j->rows, place, sizeof(row->place), row);
	return row;
}

static inline void frame_register(struct space *s, const struct frame *f, Dwarf_Frame *rules,
				  int reg, uint64_t cfa, struct frame *out)
{
	Dwarf_Op memory[3], *ops;
	uint64_t value = 0;
	bool known = false;
	size_t n;

	if (dwarf_frame_register(rules, reg, memory, &ops, &n) == 0) {
		if (n) {
			known = ops_value(s, f, ops, n, cfa, true, &value);
		} else if (!ops) { /* unchanged */
			known = f->known >> reg & 1;
			value = f->regs[reg];
		}
	}
	out->regs[reg] = value;
	out->known = (out->known & ~(1u << reg)) | (known ? 1u << reg : 0);
}

/* all: restores every register, for further steps; else only pc, sp and fp. */
static inline enum verdict judge_step(struct judge *j, struct frame *f, bool all)
{
	const struct range *range;
	const struct row *row;
	struct frame out = {0};
	Dwarf_Op memory[3], *ops;
	uint64_t cfa, at = f->regs[DWARF_RIP] - !f->exact;
	size_t n;

	range = space_range(j->space, at);
	if (!range)
		return NOTHING;
	row = row_find(j, range->module, at - range->bias);
	if (!row->frame)
		return NOTHING;
	if (row->ra < 0 || row->ra >= DWARF_COUNT)
		return UNKNOWN;
	if (dwarf_frame_register(row->frame, row->ra, memory, &ops, &n) == 0 && !n && ops)
		return OUTERMOST;
	if (dwarf_frame_cfa(row->frame, &ops, &n) < 0 || !n ||
	    !ops_value(j->space, f, ops, n, 0, false, &cfa))
		return UNKNOWN;
	for (int reg = 0; reg < DWARF_COUNT; reg++)
		if (all || reg == DWARF_RSP || reg == DWARF_RBP || reg == row->ra)
			frame_register(j->space, f, row->frame, reg, cfa, &out);
	if (row->ra != DWARF_RIP) {
		out.regs[DWARF_RIP] = out.regs[row->ra];
		out.known |= (out.known >> row->ra & 1) << DWARF_RIP;
	}
	out.exact = row->signal;
	if (!(out.known >> DWARF_RIP & 1) || !(out.known >> DWARF_RSP & 1))
		return UNKNOWN;
	*f = out;
	return out.regs[DWARF_RIP] ? STEPPED : OUTERMOST;
}

#endif
