// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Picks the smallest form that holds a rule: the word itself for 99 in 100 rows, a wide rule for
 * the rest, and a class for the handful that would have to be guessed.
 */
#include "unwind/rule.h"

#include <errno.h>

#include "unwind/arch.h"
#include "unwind/cfa.h"
#include "unwind/go_cfi.h"
#include "unwind/wide.h"

/*
 * A slot relative to the register of the CFA is a slot relative to the CFA: this makes one rule of
 * both spellings, mostly a short one.
 */
static struct reg_rule normal(struct reg_rule rule, const struct expr *cfa)
{
	int64_t off;

	if (rule.how == REG_AT_REG && cfa->kind == EXPR_REG && rule.reg == cfa->reg &&
	    !__builtin_sub_overflow(rule.off, cfa->add, &off))
		return (struct reg_rule){.how = REG_AT_CFA, .off = off};
	return rule;
}

/* A frame pointer without a rule, or with an undefined one, is taken as unchanged. */
static bool fp_unchanged(const struct reg_rule *fp)
{
	return fp->how == REG_UNSET || fp->how == REG_SAME || fp->how == REG_UNDEFINED ||
	       (fp->how == REG_IN_REG && fp->reg == ARCH_FP && !fp->off);
}

/* Depth of the saved frame pointer below the CFA, 0: unchanged; false when it needs a wide rule. */
static bool fp_depth(const struct reg_rule *fp, uint32_t *depth)
{
	*depth = 0;
	if (fp_unchanged(fp))
		return true;
	if (fp->how != REG_AT_CFA || fp->off >= 0 || fp->off < -(int64_t)RULE_FP_DEPTH_MAX ||
	    fp->off % 8)
		return false;
	*depth = (uint32_t)-fp->off;
	return true;
}

/*
 * True for a frame as most are: with the return address where calls leave it, or right above the
 * saved frame pointer.
 */
static bool is_usual(const struct reg_rule *fp, const struct reg_rule *ra, uint32_t *depth)
{
	if (!fp_depth(fp, depth))
		return false;
	if (!ARCH_HAS_LINK)
		return ra->how == REG_AT_CFA && ra->off == ARCH_RA_AT;
	if (!*depth)
		return ra->how == REG_IN_REG && ra->reg == ARCH_LINK && !ra->off;
	return ra->how == REG_AT_CFA && ra->off == 8 - (int64_t)*depth;
}

static bool cfa_is_short(const struct expr *cfa, int64_t max)
{
	return cfa->kind == EXPR_REG && (cfa->reg == ARCH_SP || cfa->reg == ARCH_FP) &&
	       cfa->add >= 0 && cfa->add <= max && cfa->add % 8 == 0;
}

/*
 * The walk takes the CFA for the caller's stack pointer. Code that switches stacks (longjmp,
 * setcontext) knows better at its very end.
 */
static bool sp_is_cfa(const struct reg_rule *sp, const struct expr *cfa)
{
	switch (sp->how) {
	case REG_UNSET:
	case REG_UNDEFINED:
		return true;
	case REG_CFA_PLUS:
		return !sp->off;
	case REG_IN_REG:
		return cfa->kind == EXPR_REG && cfa->reg == sp->reg && cfa->add == sp->off;
	case REG_AT_REG: /* signal frames: both are what the kernel saved */
		return cfa->kind == EXPR_DEREF && cfa->reg == sp->reg && cfa->off == sp->off &&
		       !cfa->add;
	default:
		return false;
	}
}

static bool fits(int64_t value)
{
	return value >= INT32_MIN && value <= INT32_MAX;
}

/* 0, or the class of what a wide rule cannot hold. */
static int wide_cfa(struct wide_rule *wide, const struct expr *cfa)
{
	if (cfa->kind != EXPR_REG && cfa->kind != EXPR_DEREF && cfa->kind != EXPR_DEREF_TWICE)
		return ROW_CLASS_CFA_EXPRESSION;
	if (cfa->reg >= DWARF_COUNT)
		return ROW_CLASS_CFA_REGISTER;
	if (!fits(cfa->add) || !fits(cfa->off))
		return ROW_CLASS_OFFSET;
	wide->cfa_reg = (__u8)cfa->reg;
	if (cfa->kind == EXPR_REG) {
		wide->cfa_kind = WIDE_CFA_REG;
		wide->cfa_off = (__s32)cfa->add;
	} else {
		wide->cfa_kind = cfa->kind == EXPR_DEREF ? WIDE_CFA_DEREF : WIDE_CFA_DEREF_TWICE;
		wide->cfa_off = (__s32)cfa->off;
		wide->cfa_add = (__s32)cfa->add;
	}
	return 0;
}

/* 0, or a class: `unsupported` for forms that a wide rule does not have. */
static int wide_reg(const struct reg_rule *rule, __u8 *kind, __u8 *reg, __s32 *off, int unsupported)
{
	if (!fits(rule->off))
		return ROW_CLASS_OFFSET;
	switch (rule->how) {
	case REG_AT_CFA:
		*kind = WIDE_AT_CFA;
		break;
	case REG_AT_REG:
		*kind = WIDE_AT_REG;
		break;
	case REG_IN_REG:
		if (rule->off)
			return unsupported;
		*kind = WIDE_IN_REG;
		break;
	default:
		return unsupported;
	}
	if (rule->how != REG_AT_CFA) {
		if (rule->reg >= DWARF_COUNT)
			return unsupported;
		*reg = (__u8)rule->reg;
	}
	*off = (__s32)rule->off;
	return 0;
}

/* True when the registers are at their places in the sigcontext. */
static bool is_sigcontext(const struct wide_rule *wide)
{
	int64_t gregs = (int64_t)wide->cfa_off - 8 * SIGCONTEXT_SP;

	return wide->cfa_kind == WIDE_CFA_DEREF && !wide->cfa_add && wide->fp_kind == WIDE_AT_REG &&
	       wide->fp_reg == wide->cfa_reg && wide->fp_off == gregs + 8 * SIGCONTEXT_FP &&
	       wide->ra_kind == WIDE_AT_REG && wide->ra_reg == wide->cfa_reg &&
	       wide->ra_off == gregs + 8 * SIGCONTEXT_PC;
}

static __u8 kept_depth(const struct reg_rule *kept)
{
	if (kept->how == REG_UNSET || kept->how == REG_SAME)
		return 0;
	if (kept->how != REG_AT_CFA || kept->off >= 0 || kept->off % 8 ||
	    kept->off <= -8 * (int64_t)WIDE_KEPT_LOST)
		return WIDE_KEPT_LOST;
	return (__u8)(-kept->off / 8);
}

static int rule_index(const struct wide_rule *wide, struct wide_rules *set, uint32_t *rule)
{
	int index = wide_rules_index(set, wide);

	if (index < 0 && index != -ENOSPC)
		return index;
	*rule = index < 0 ? RULE(ROW_UNSUPPORTED, ROW_CLASS_WIDE_FULL) : RULE(ROW_WIDE, index);
	return 0;
}

static int rule_wide(const struct expr *cfa, const struct reg_rule *fp, const struct reg_rule *ra,
		     unsigned int flags, __u8 kept, struct wide_rules *set, uint32_t *rule)
{
	struct wide_rule wide = {.flags = (__u8)flags, .kept = kept};
	int class = wide_cfa(&wide, cfa);

	if (!class)
		class = wide_reg(ra, &wide.ra_kind, &wide.ra_reg, &wide.ra_off, ROW_CLASS_RA_RULE);
	if (!class && fp_unchanged(fp))
		wide.fp_kind = WIDE_SAME;
	else if (fp->how == REG_LOST)
		wide.fp_kind = WIDE_UNDEFINED;
	else if (!class)
		class = wide_reg(fp, &wide.fp_kind, &wide.fp_reg, &wide.fp_off, ROW_CLASS_FP_RULE);
	if (!class && (flags & (WIDE_SIGNAL | WIDE_SP_LOST)) == WIDE_SIGNAL && is_sigcontext(&wide))
		wide.flags |= WIDE_SIGCONTEXT;
	if (!class)
		return rule_index(&wide, set, rule);
	*rule = RULE(ROW_UNSUPPORTED, class);
	return 0;
}

/*
 * Haskell (unwind/ghc.h): the frame pointer's register points to a stack that grows apart from the
 * C stack. What is called to return to is the address of a function, as exact as a signal's.
 */
static bool is_haskell(const struct cfa_state *state, struct wide_rule *wide)
{
	const struct expr *cfa = &state->cfa;
	const struct reg_rule *sp = &state->sp, *fp = &state->fp, *ra = &state->ra;

	if (cfa->kind != EXPR_REG || cfa->reg != ARCH_FP || fp->how != REG_CFA_PLUS || fp->off ||
	    (sp->how != REG_SAME && (sp->how != REG_IN_REG || sp->reg != ARCH_SP)) ||
	    ra->how != REG_AT_CFA || !fits(cfa->add) || !fits(sp->off) || !fits(ra->off))
		return false;
	*wide = (struct wide_rule){
		.cfa_kind = WIDE_CFA_REG,
		.cfa_reg = ARCH_FP,
		.cfa_off = (__s32)cfa->add,
		.cfa_add = sp->how == REG_SAME ? 0 : (__s32)sp->off,
		.fp_kind = WIDE_IS_CFA,
		.ra_kind = WIDE_AT_CFA,
		.ra_off = (__s32)ra->off,
		.flags = WIDE_SIGNAL,
	};
	return true;
}

/*
 * CFI may have its CFA anywhere, if it says where the caller's stack pointer is from there: StgRun
 * has it at the stack pointer. Moves it to the caller's stack pointer, where the return address is
 * right below it.
 */
static void move_cfa(struct cfa_state *state)
{
	int64_t by = state->sp.off;

	if (state->cfa.kind != EXPR_REG || state->ra.how != REG_AT_CFA)
		return;
	if (state->sp.how == REG_IN_REG && state->sp.reg == state->cfa.reg) {
		if (__builtin_sub_overflow(by, state->cfa.add, &by))
			return;
	} else if (state->sp.how != REG_CFA_PLUS) {
		return;
	}
	if (!by || !fits(by) || !fits(state->cfa.add) || state->ra.off != by + ARCH_RA_AT)
		return;
	state->cfa.add += by;
	state->ra.off = ARCH_RA_AT;
	state->sp = (struct reg_rule){.how = REG_UNSET};
	for (int i = 0; i < 2; i++) {
		struct reg_rule *rule = i ? &state->kept : &state->fp;

		if (rule->how == REG_AT_CFA || rule->how == REG_CFA_PLUS)
			rule->off = (int64_t)((uint64_t)rule->off - (uint64_t)by);
	}
}

static int compile(const struct cfa_state *state, bool signal, struct wide_rules *wide,
		   uint32_t *rule)
{
	const struct expr *cfa = &state->cfa;
	struct reg_rule fp = normal(state->fp, cfa), ra = normal(state->ra, cfa);
	unsigned int flags = 0;
	uint32_t depth;
	__u8 kept = 0;
	bool usual;

	/*
	 * Without a rule the return address is as unknown as with `undefined` (elfutils agrees), or
	 * where a call has left it.
	 */
	if (ARCH_HAS_LINK && (ra.how == REG_UNSET || ra.how == REG_SAME))
		ra = (struct reg_rule){.how = REG_IN_REG, .reg = ARCH_LINK};
	if (ra.how == REG_UNDEFINED || ra.how == REG_UNSET) {
		*rule = RULE(ROW_OUTERMOST, 0);
		if (cfa_is_short(cfa, RULE_OUTERMOST_CFA_MAX) && fp_depth(&fp, &depth))
			*rule = RULE_OUTERMOST(cfa->reg == ARCH_FP, cfa->add, depth);
		return 0;
	}
	if (signal)
		flags |= WIDE_SIGNAL;
	if (!sp_is_cfa(&state->sp, cfa))
		flags |= WIDE_SP_LOST;
	if (state->kept_reg) {
		struct reg_rule saved = normal(state->kept, cfa);

		flags |= WIDE_KEPT(state->kept_reg);
		kept = kept_depth(&saved);
	}
	usual = !(flags & (WIDE_SIGNAL | WIDE_SP_LOST)) && is_usual(&fp, &ra, &depth);
	if (usual && cfa_is_short(cfa, RULE_CFA_MAX) && !state->kept_reg) {
		*rule = RULE_FRAME(cfa->reg == ARCH_SP ? ROW_SP : ROW_FP, cfa->add, depth);
		return 0;
	}
	if (!ARCH_HAS_LINK && usual && cfa->kind == EXPR_PLT && cfa->reg == ARCH_SP &&
	    cfa->off == ARCH_PLT_CFA && cfa->add == ARCH_PLT_PUSH && !depth) {
		*rule = RULE(ROW_PLT, cfa->threshold);
		return 0;
	}
	return rule_wide(cfa, &fp, &ra, flags, kept, wide, rule);
}

int rule_compile(const struct cfa_state *state, bool signal, struct wide_rules *wide,
		 uint32_t *rule)
{
	struct cfa_state moved = *state;
	struct wide_rule haskell;

	if (is_haskell(state, &haskell))
		return rule_index(&haskell, wide, rule);
	move_cfa(&moved);
	return compile(&moved, signal, wide, rule);
}

int rule_cloned(uint32_t kept_reg, struct wide_rules *wide, uint32_t *rule)
{
	const struct expr cfa = {.kind = EXPR_REG, .reg = ARCH_SP, .add = -ARCH_RA_AT};
	const struct reg_rule same = {.how = REG_SAME};
	const struct reg_rule ra =
		ARCH_HAS_LINK ? (struct reg_rule){.how = REG_IN_REG, .reg = ARCH_LINK}
			      : (struct reg_rule){.how = REG_AT_CFA, .off = ARCH_RA_AT};

	return rule_wide(&cfa, &same, &ra, WIDE_CLONED | WIDE_KEPT(kept_reg), 0, wide, rule);
}

int rule_go_links(const struct go_links *links, struct wide_rules *wide, uint32_t *rule)
{
	const struct wide_rule go = {
		.cfa_kind = WIDE_CFA_GO,
		.cfa_off = links->g,
		.cfa_add = links->m,
		.fp_off = links->goroutine,
		.ra_off = links->sp,
	};

	return rule_index(&go, wide, rule);
}
