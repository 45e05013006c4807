// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints a table as text: what the words say, not what the parser meant, so that a comparison with
 * another tool's reading of the same file tests the whole way.
 */
#include <errno.h>
#include <inttypes.h>

#include "unwind/arch.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define COLUMN 48

struct dump {
	const struct wide_rule *wide;
	unsigned int nwide;
	uint32_t last; /* rule of the line before */
	FILE *out;
};

struct columns {
	char cfa[COLUMN];
	char fp[COLUMN];
	char ra[COLUMN];
};

static void column_set(char to[COLUMN], const char *text)
{
	snprintf(to, COLUMN, "%s", text);
}

static void wide_cfa_text(char to[COLUMN], const struct wide_rule *r)
{
	const char *reg = arch_reg_name(r->cfa_reg);

	const char *twice = r->cfa_kind == WIDE_CFA_DEREF_TWICE ? "*" : "";

	if (r->cfa_kind != WIDE_CFA_DEREF && r->cfa_kind != WIDE_CFA_DEREF_TWICE)
		snprintf(to, COLUMN, "%s%+" PRId32, reg, r->cfa_off);
	else if (r->cfa_add)
		snprintf(to, COLUMN, "%s*(%s%+" PRId32 ")%+" PRId32, twice, reg, r->cfa_off,
			 r->cfa_add);
	else
		snprintf(to, COLUMN, "%s*(%s%+" PRId32 ")", twice, reg, r->cfa_off);
}

static void wide_reg_text(char to[COLUMN], unsigned int kind, unsigned int reg, int32_t off,
			  const char *in_reg)
{
	switch (kind) {
	case WIDE_AT_CFA:
		snprintf(to, COLUMN, "c%+" PRId32, off);
		break;
	case WIDE_AT_REG:
		snprintf(to, COLUMN, "*(%s%+" PRId32 ")", arch_reg_name(reg), off);
		break;
	case WIDE_IN_REG:
		column_set(to, in_reg);
		break;
	case WIDE_IS_CFA:
		column_set(to, "=c");
		break;
	default:
		column_set(to, "u");
		break;
	}
}

static void wide_text(const struct dump *d, uint32_t index, struct columns *c)
{
	const struct wide_rule *r = index < d->nwide ? &d->wide[index] : NULL;

	if (!r) { /* a table of another set of rules */
		column_set(c->cfa, "expr");
		return;
	}
	if (r->cfa_kind == WIDE_CFA_GO) {
		if (r->cfa_off)
			snprintf(c->cfa, COLUMN, "*(*(*(*(tp%+d)%+d)%+d)%+d)+8", r->cfa_off,
				 r->cfa_add, r->fp_off, r->ra_off);
		else
			column_set(c->cfa, "guess");
		column_set(c->fp, "u");
		column_set(c->ra, "c-8");
		return;
	}
	wide_cfa_text(c->cfa, r);
	wide_reg_text(c->fp, r->fp_kind, r->fp_reg, r->fp_off, "reg");
	if (r->fp_kind == WIDE_UNDEFINED)
		column_set(c->fp, "lost");
	wide_reg_text(c->ra, r->ra_kind, r->ra_reg, r->ra_off, arch_reg_name(r->ra_reg));
	if (r->fp_kind == WIDE_IS_CFA && r->cfa_add)
		snprintf(c->fp, COLUMN, "=c,%s%+" PRId32, arch_reg_name(ARCH_SP), r->cfa_add);
	if (r->flags & WIDE_CLONED && r->ra_kind == WIDE_IN_REG)
		snprintf(c->ra, COLUMN, "%s|u", arch_reg_name(r->ra_reg));
	else if (r->flags & WIDE_CLONED)
		snprintf(c->ra, COLUMN, "c%+" PRId32 "|u", r->ra_off);
}

static void frame_text(struct columns *c, const char *reg, uint32_t cfa, uint32_t depth)
{
	snprintf(c->cfa, COLUMN, "%s+%" PRIu32, reg, cfa);
	if (depth)
		snprintf(c->fp, COLUMN, "c-%" PRIu32, depth);
	else
		column_set(c->fp, "u");
}

/* Of a row that is not wide. */
static void ra_text(struct columns *c, uint32_t depth)
{
	if (ARCH_HAS_LINK && !depth)
		column_set(c->ra, arch_reg_name(ARCH_LINK));
	else
		snprintf(c->ra, COLUMN, "c%+d", ARCH_HAS_LINK ? 8 - (int)depth : ARCH_RA_AT);
}

static void rule_text(const struct dump *d, uint32_t rule, struct columns *c)
{
	column_set(c->cfa, "-");
	column_set(c->fp, "-");
	column_set(c->ra, "-");
	switch (RULE_KIND(rule)) {
	case ROW_END:
		column_set(c->cfa, "end");
		break;
	case ROW_SP:
	case ROW_FP:
		frame_text(c, arch_reg_name(RULE_KIND(rule) == ROW_SP ? ARCH_SP : ARCH_FP),
			   RULE_CFA(rule), RULE_FP_DEPTH(rule));
		ra_text(c, RULE_FP_DEPTH(rule));
		break;
	case ROW_PLT:
		column_set(c->cfa, "plt");
		column_set(c->fp, "u");
		ra_text(c, 0);
		break;
	case ROW_WIDE:
		wide_text(d, RULE_PAYLOAD(rule), c);
		break;
	case ROW_OUTERMOST:
		if (RULE_PAYLOAD(rule)) {
			unsigned int reg = RULE_OUTERMOST_FP(rule) ? ARCH_FP : ARCH_SP;

			frame_text(c, arch_reg_name(reg), RULE_OUTERMOST_CFA(rule),
				   RULE_FP_DEPTH(rule));
		} else {
			column_set(c->cfa, "expr");
		}
		column_set(c->ra, "u");
		break;
	default: /* what a class leaves open is not in the table any more: `-` */
		column_set(RULE_PAYLOAD(rule) == ROW_CLASS_FP_RULE   ? c->fp
			   : RULE_PAYLOAD(rule) == ROW_CLASS_RA_RULE ? c->ra
								     : c->cfa,
			   "expr");
		break;
	}
}

static void dump_rule(struct dump *d, uint64_t pc, uint32_t rule)
{
	struct columns c;

	if (rule == d->last)
		return;
	d->last = rule;
	rule_text(d, rule, &c);
	fprintf(d->out, "%" PRIx64 "\t%s\t%s\t%s%s\n", pc, c.cfa, c.fp, c.ra,
		rule & RULE_DERIVED ? "\tderived" : "");
}

static void dump_span(struct dump *d, const struct unwind_table *table,
		      const struct unwind_span *span)
{
	const uint32_t *index = table->words + span->first;
	const uint32_t *rows = index + span->ngranules;

	for (uint32_t i = 0; i < span->ngranules; i++) {
		const uint32_t *row = rows + INDEX_FIRST(index[i]);
		uint64_t granule = span->start + (uint64_t)i * GRANULE_SIZE;

		for (uint32_t n = INDEX_ROWS(index[i]); n; n--, row++)
			dump_rule(d, granule + ROW_OFFSET(*row), ROW_RULE(*row));
	}
}

int unwind_table_dump(const struct unwind_table *table, const struct wide_rules *wide, FILE *out)
{
	struct dump d = {.last = RULE(ROW_END, 0), .out = out};

	d.wide = wide_rules_all(wide, &d.nwide);
	for (uint32_t i = 0; i < table->nspans; i++) {
		const struct unwind_span *span = &table->spans[i];

		if (i && table->spans[i - 1].end != span->start)
			dump_rule(&d, table->spans[i - 1].end, RULE(ROW_END, 0));
		dump_span(&d, table, span);
		if (ferror(out))
			return -EIO;
	}
	if (table->nspans)
		dump_rule(&d, table->spans[table->nspans - 1].end, RULE(ROW_END, 0));
	return fflush(out) == EOF || ferror(out) ? -EIO : 0;
}
