/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_FUZZ_RULES_H
#define STACKTOP_TESTS_FUZZ_RULES_H

/*
 * Conditions on every rule that the compiler of rules gives, whatever the state. The set of wide
 * rules lives as long as the fuzzer, as it does in the tracker: making one takes longer than a
 * run.
 */

#include "tests/fuzz/fuzz.h"
#include "unwind/arch.h"
#include "unwind/cfa.h"
#include "unwind/row.h"
#include "unwind/rule.h"
#include "unwind/wide.h"

static struct wide_rules *wide_set;

static inline void wide_check(const struct wide_rule *w)
{
	require((w->cfa_kind <= WIDE_CFA_DEREF || w->cfa_kind == WIDE_CFA_DEREF_TWICE) &&
		w->cfa_reg < DWARF_COUNT);
	require(w->fp_kind <= WIDE_IS_CFA && w->fp_reg < DWARF_COUNT);
	require(w->ra_kind <= WIDE_UNDEFINED && w->ra_kind != WIDE_SAME && w->ra_reg < DWARF_COUNT);
}

static inline void rule_check(const struct cfa_state *state, bool is_signal)
{
	const struct wide_rule *all;
	unsigned int count;
	uint32_t rule;

	if (wide_set)
		wide_rules_all(wide_set, &count);
	if (!wide_set || count > WIDE_RULES_MAX - 16) {
		wide_rules_free(wide_set);
		wide_set = wide_rules_new();
		require(wide_set != NULL);
	}
	require(rule_compile(state, is_signal, wide_set, &rule) == 0);
	require(rule >> 24 == 0 && RULE_KIND(rule) <= ROW_UNSUPPORTED);
	if (RULE_KIND(rule) == ROW_UNSUPPORTED)
		require(RULE_PAYLOAD(rule) && RULE_PAYLOAD(rule) < ROW_CLASS_COUNT);
	if (RULE_KIND(rule) == ROW_PLT)
		require(RULE_PAYLOAD(rule) < 16);
	if (RULE_KIND(rule) == ROW_WIDE) {
		all = wide_rules_all(wide_set, &count);
		require(RULE_PAYLOAD(rule) < count);
		wide_check(&all[RULE_PAYLOAD(rule)]);
	}
}

#endif
