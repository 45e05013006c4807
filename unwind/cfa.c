// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The interpreter of CFA programs. It is the hot loop of building a table, so the state is kept
 * small: four rules instead of a row of seventeen. Expressions are understood once, when the
 * instruction that sets them is met, not at each row they hold for.
 *
 * Where DWARF leaves a program's meaning open we follow elfutils: a program is malformed when it
 * restores a state without a remembered one, or a register in a CIE, which has no initial rules.
 * Only a CFA that goes back from an expression to a register is what libgcc, gdb and binutils take
 * it for, the register and the offset from before: hand-written code (libgcrypt) relies on it.
 */
#include "unwind/cfa.h"

#include "symbols/base/work.h"
#include "unwind/arch.h"

/* Compilers nest twice at most; the bound keeps a hostile program from growing the stack. */
#define REMEMBER_MAX 64

/* DW_CFA_*, DWARF 5 table 7.29 and the extensions of GCC. */
enum {
	CFA_ADVANCE_LOC = 0x40, /* the low 6 bits are an operand of these three */
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_MIPS_ADVANCE_LOC8 = 0x1d,
	CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_GNU_WINDOW_SAVE = 0x2d, /* SPARC; on arm64 it toggles signing of addresses */
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

struct cfa_machine {
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	const struct cfi_fde *fde;	 /* NULL: initial instructions */
	const struct cfa_state *initial; /* NULL likewise */
	struct cfi_cursor c;
	uint64_t pc;
	uint64_t next; /* pc after an instruction that advances it */
	struct cfa_state now;
	unsigned int depth;
	struct cfa_state saved[REMEMBER_MAX];
};

static int64_t factored(const struct cfa_machine *m, int64_t offset)
{
	return (int64_t)((uint64_t)offset * (uint64_t)m->cie->data_align);
}

/* The rule of a register that we follow, or NULL. */
static struct reg_rule *rule_of(struct cfa_machine *m, struct cfa_state *state, uint64_t reg)
{
	if (reg == ARCH_FP)
		return &state->fp;
	if (reg == ARCH_SP)
		return &state->sp;
	if (reg == m->cie->ra_reg)
		return &state->ra;
	return reg && reg == state->kept_reg ? &state->kept : NULL;
}

static void set_rule(struct cfa_machine *m, uint64_t reg, struct reg_rule rule)
{
	struct reg_rule *to = rule_of(m, &m->now, reg);

	if (to)
		*to = rule;
}

static void set_offset(struct cfa_machine *m, uint64_t reg, int64_t offset, enum reg_how how)
{
	set_rule(m, reg, (struct reg_rule){.how = how, .off = factored(m, offset)});
}

static bool restore(struct cfa_machine *m, uint64_t reg)
{
	struct reg_rule *to = rule_of(m, &m->now, reg);
	struct cfa_state initial;

	if (!m->initial)
		return false;
	if (to) {
		initial = *m->initial;
		*to = *rule_of(m, &initial, reg);
	}
	return true;
}

static void set_cfa(struct cfa_machine *m, uint64_t reg, int64_t offset)
{
	struct expr *cfa = &m->now.cfa;

	*cfa = (struct expr){.kind = EXPR_REG, .reg = (uint32_t)reg, .add = offset};
	m->now.cfa_offset = offset;
	if (reg > UINT32_MAX)
		cfa->kind = EXPR_OTHER;
	m->now.cfa_set = true;
	m->now.cfa_is_expression = false;
}

static bool set_cfa_offset(struct cfa_machine *m, int64_t offset)
{
	if (!m->now.cfa_set)
		return false;
	m->now.cfa_offset = offset;
	if (!m->now.cfa_is_expression)
		m->now.cfa.add = offset;
	return true;
}

/* The operand of the expression instructions: a length and the bytes. */
static bool read_expression(struct cfa_machine *m, bool with_cfa, struct expr *out)
{
	uint64_t size = cursor_uleb(&m->c);
	const uint8_t *data = cursor_bytes(&m->c, size);

	return data && expr_parse(data, size, with_cfa, out);
}

static bool set_cfa_expression(struct cfa_machine *m)
{
	struct expr *cfa = &m->now.cfa;

	if (!read_expression(m, false, cfa))
		return false;
	if (cfa->kind != EXPR_REG && cfa->kind != EXPR_DEREF && cfa->kind != EXPR_DEREF_TWICE &&
	    cfa->kind != EXPR_PLT)
		cfa->kind = EXPR_OTHER;
	m->now.cfa_set = true;
	m->now.cfa_is_expression = true;
	return true;
}

/* value: the expression is the register's value, not the address where it is saved. */
static bool set_expression(struct cfa_machine *m, uint64_t reg, bool value)
{
	struct reg_rule rule = {.how = REG_EXPRESSION};
	struct expr e;

	/* Two dozen per signal frame, of which three concern us. */
	if (!rule_of(m, &m->now, reg))
		return cursor_bytes(&m->c, cursor_uleb(&m->c)) != NULL;
	if (!read_expression(m, true, &e))
		return false;
	rule.reg = e.reg;
	rule.off = e.add;
	if (e.kind == EXPR_REG) {
		rule.how = value ? REG_IN_REG : REG_AT_REG;
	} else if (e.kind == EXPR_CFA) {
		rule.how = value ? REG_CFA_PLUS : REG_AT_CFA;
	} else if (value && !e.add && (e.kind == EXPR_DEREF || e.kind == EXPR_CFA_DEREF)) {
		rule.how = e.kind == EXPR_DEREF ? REG_AT_REG : REG_AT_CFA;
		rule.off = e.off;
	}
	set_rule(m, reg, rule);
	return true;
}

/* Moves the location; false for the initial instructions, which are not about any. */
static bool advance(struct cfa_machine *m, uint64_t delta)
{
	uint64_t bytes;

	return m->fde && !__builtin_mul_overflow(delta, m->cie->code_align, &bytes) &&
	       !__builtin_add_overflow(m->pc, bytes, &m->next);
}

/* Instructions that define the CFA. False also for those that are unknown. */
static bool step_cfa(struct cfa_machine *m, uint8_t op)
{
	struct cfi_cursor *c = &m->c;
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = cursor_uleb(c);
		set_cfa(m, reg, (int64_t)cursor_uleb(c));
		return true;
	case CFA_DEF_CFA_SF:
		reg = cursor_uleb(c);
		set_cfa(m, reg, factored(m, cursor_sleb(c)));
		return true;
	case CFA_DEF_CFA_REGISTER:
		reg = cursor_uleb(c);
		if (m->now.cfa_set)
			set_cfa(m, reg, m->now.cfa_offset);
		return m->now.cfa_set;
	case CFA_DEF_CFA_OFFSET:
		return set_cfa_offset(m, (int64_t)cursor_uleb(c));
	case CFA_DEF_CFA_OFFSET_SF:
		return set_cfa_offset(m, factored(m, cursor_sleb(c)));
	case CFA_DEF_CFA_EXPRESSION:
		return set_cfa_expression(m);
	case CFA_NOP:
	case CFA_GNU_WINDOW_SAVE:
		return true;
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		return ARCH_HAS_LINK;
	case CFA_GNU_ARGS_SIZE:
		cursor_uleb(c);
		return true;
	default:
		return false;
	}
}

/* Instructions that say where a register is. */
static bool step_register(struct cfa_machine *m, uint8_t op)
{
	struct cfi_cursor *c = &m->c;
	uint64_t reg = cursor_uleb(c);

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		set_offset(m, reg, (int64_t)cursor_uleb(c), REG_AT_CFA);
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		set_offset(m, reg, cursor_sleb(c), REG_AT_CFA);
		return true;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_offset(m, reg, (int64_t)-cursor_uleb(c), REG_AT_CFA);
		return true;
	case CFA_VAL_OFFSET:
		set_offset(m, reg, (int64_t)cursor_uleb(c), REG_CFA_PLUS);
		return true;
	case CFA_VAL_OFFSET_SF:
		set_offset(m, reg, cursor_sleb(c), REG_CFA_PLUS);
		return true;
	case CFA_RESTORE_EXTENDED:
		return restore(m, reg);
	case CFA_UNDEFINED:
		set_rule(m, reg, (struct reg_rule){.how = REG_UNDEFINED});
		return true;
	case CFA_SAME_VALUE:
		set_rule(m, reg,
			 ARCH_HAS_LINK && reg == m->cie->ra_reg
				 ? (struct reg_rule){.how = REG_IN_REG, .reg = m->cie->ra_reg}
				 : (struct reg_rule){.how = REG_SAME});
		return true;
	case CFA_REGISTER: {
		uint64_t in = cursor_uleb(c);
		struct reg_rule rule = {.how = REG_IN_REG, .reg = (uint32_t)in};

		if (in > UINT32_MAX)
			rule.how = REG_EXPRESSION;
		set_rule(m, reg, rule);
		return true;
	}
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		return set_expression(m, reg, op == CFA_VAL_EXPRESSION);
	default:
		return false;
	}
}

/* One instruction; false when it is malformed. */
static bool step(struct cfa_machine *m)
{
	struct cfi_cursor *c = &m->c;
	uint8_t op = cursor_u8(c), low = op & 0x3f;

	switch (op & 0xc0) {
	case CFA_ADVANCE_LOC:
		return advance(m, low);
	case CFA_OFFSET:
		set_offset(m, low, (int64_t)cursor_uleb(c), REG_AT_CFA);
		return true;
	case CFA_RESTORE:
		return restore(m, low);
	default:
		break;
	}
	switch (op) {
	case CFA_ADVANCE_LOC1:
		return advance(m, cursor_fixed(c, 1));
	case CFA_ADVANCE_LOC2:
		return advance(m, cursor_fixed(c, 2));
	case CFA_ADVANCE_LOC4:
		return advance(m, cursor_fixed(c, 4));
	case CFA_MIPS_ADVANCE_LOC8:
		return advance(m, cursor_fixed(c, 8));
	case CFA_SET_LOC:
		m->next = cfi_pointer(m->section, c, m->cie->encoding, m->cie->addr_size,
				      m->fde ? m->fde->start : 0);
		return m->fde && m->next >= m->pc;
	case CFA_REMEMBER_STATE:
		if (m->depth == REMEMBER_MAX)
			return false;
		m->saved[m->depth++] = m->now;
		return true;
	case CFA_RESTORE_STATE:
		if (!m->depth)
			return false;
		m->now = m->saved[--m->depth];
		return true;
	case CFA_OFFSET_EXTENDED ... CFA_SAME_VALUE:
	case CFA_REGISTER:
	case CFA_EXPRESSION:
	case CFA_OFFSET_EXTENDED_SF:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
	case CFA_VAL_EXPRESSION:
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		return step_register(m, op);
	default:
		return step_cfa(m, op);
	}
}

/* Not the whole of it: the remembered states are written before they are read. */
static void machine_begin(struct cfa_machine *m, const struct cfi_section *section,
			  const struct cfi_cie *cie, const struct cfi_fde *fde,
			  const struct cfa_state *initial)
{
	m->section = section;
	m->cie = cie;
	m->fde = fde;
	m->initial = initial;
	m->c = fde ? cursor_new(section->data + fde->insns, fde->ninsns)
		   : cursor_new(section->data + cie->insns, cie->ninsns);
	m->pc = m->next = fde ? fde->start : 0;
	m->depth = 0;
}

int cfa_initial(const struct cfi_section *section, const struct cfi_cie *cie, uint32_t kept_reg,
		struct cfa_state *out)
{
	struct cfa_machine m;
	int err = work_add(section->work, cie->ninsns);

	if (err)
		return err;
	machine_begin(&m, section, cie, NULL, NULL);
	m.now = (struct cfa_state){.kept_reg = kept_reg};
	/* Where a call leaves it: mostly in x30, but for functions of assembler that move it. */
	if (ARCH_HAS_LINK && cie->ra_reg <= UINT32_MAX)
		m.now.ra = (struct reg_rule){.how = REG_IN_REG, .reg = (uint32_t)cie->ra_reg};
	while (cursor_left(&m.c))
		if (!step(&m) || m.c.failed)
			return -EINVAL;
	*out = m.now;
	return 0;
}

int cfa_run(const struct cfi_section *section, const struct cfi_cie *cie,
	    const struct cfa_state *initial, const struct cfi_fde *fde, cfa_row_fn *row, void *arg,
	    uint64_t *end)
{
	struct cfa_machine m;
	int err = work_add(section->work, 1 + (uint64_t)fde->ninsns);

	*end = fde->start;
	if (err)
		return err;
	machine_begin(&m, section, cie, fde, initial);
	m.now = *initial;
	while (cursor_left(&m.c) && m.next < fde->end) {
		if (!step(&m) || m.c.failed) {
			*end = m.pc;
			return -EINVAL;
		}
		if (m.next != m.pc) {
			err = row(arg, m.pc, &m.now);
			if (err)
				return err;
			m.pc = m.next;
		}
	}
	*end = fde->end;
	return m.pc < fde->end ? row(arg, m.pc, &m.now) : 0;
}
