// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The compact table of hand-written CFI: the encoding of rules, the ends of rows, the cuts of
 * spans, and that every lookup equals that of a plain array of rules.
 * Covers: unwind/table.c unwind/spans.c unwind/rule.c unwind/wide.c unwind/row.h
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/elf/elffile.h"
#include "tests/support/tablerule.h"
#include "tests/support/tables.h"
#include "unwind/arch.h"
#include "unwind/cfa.h"
#include "unwind/rule.h"
#include "unwind/spans.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define T IMAGE_TEXT

#define FRAME_RSP(cfa, depth) RULE_FRAME(ROW_SP, cfa, depth)

/* Conditions on every table, whatever its source. */
static void check_shape(const struct unwind_table *t)
{
	uint64_t last_end = 0;
	uint32_t words = 0;

	for (uint32_t i = 0; i < t->nspans; i++) {
		const struct unwind_span *s = &t->spans[i];
		const uint32_t *index = t->words + s->first;
		uint32_t first = 0;

		assert_true(s->start >= last_end && s->end > s->start);
		assert_true(s->start % GRANULE_SIZE == 0 && s->end % GRANULE_SIZE == 0);
		assert_int_equal(s->ngranules, (s->end - s->start) / GRANULE_SIZE);
		assert_int_equal(s->first, words);
		assert_true(s->nwords <= SPAN_MAX_WORDS);
		for (uint32_t g = 0; g < s->ngranules; g++) {
			const uint32_t *row = index + s->ngranules + first;

			assert_int_equal(INDEX_FIRST(index[g]), first);
			first += INDEX_ROWS(index[g]);
			assert_true(s->ngranules + first <= s->nwords);
			assert_true(g || (INDEX_ROWS(index[g]) && !ROW_OFFSET(row[0])));
			for (uint32_t r = 1; r < INDEX_ROWS(index[g]); r++)
				assert_true(ROW_OFFSET(row[r]) > ROW_OFFSET(row[r - 1]));
		}
		assert_int_equal(s->ngranules + first, s->nwords);
		words += s->nwords;
		last_end = s->end;
	}
	assert_int_equal(words, t->nwords);
}

static void build(struct fixture *f)
{
	assert_int_equal(build_status(f), 0);
	check_shape(f->table);
}

static uint32_t rule_at(const struct fixture *f, uint64_t addr)
{
	return unwind_table_rule(f->table, addr);
}

static void test_plain(void **state)
{
	struct fixture *f = *state;

	cfi_cie(&f->cfi, "zR");
	/* push rbp; mov; ...: 16 at +1, RBP at c-16, rbp-based from +4, rsp+8 at +0x150 */
	cfi_fde(&f->cfi, T + 0x10, 0x151,
		"\x41\x0e\x10\x86\x02\x43\x0d\x06\x03\x4c\x01\x0c\x07\x08", 14);
	/* right after it: the real row wins over `end` */
	cfi_fde(&f->cfi, T + 0x161, 0x9f, "", 0);
	/* to the end of a granule, then nothing */
	cfi_fde(&f->cfi, T + 0x240, 0xc0, "", 0);
	build(f);
	assert_int_equal(f->table->nfdes, 3);
	assert_int_equal(f->table->bad_fdes, 0);
	assert_int_equal(f->table->nspans, 1);
	assert_int_equal(f->table->spans[0].end, T + 0x300);
	assert_int_equal(rule_at(f, T), RULE(ROW_END, 0));
	assert_int_equal(rule_at(f, T + 0x0f), RULE(ROW_END, 0));
	assert_int_equal(rule_at(f, T + 0x10), FRAME_RSP(8, 0));
	assert_int_equal(rule_at(f, T + 0x11), FRAME_RSP(16, 16));
	assert_int_equal(rule_at(f, T + 0x14), RULE_FRAME(ROW_FP, 16, 16));
	assert_int_equal(rule_at(f, T + 0x15f), RULE_FRAME(ROW_FP, 16, 16));
	assert_int_equal(rule_at(f, T + 0x160), FRAME_RSP(8, 16));
	assert_int_equal(rule_at(f, T + 0x161), FRAME_RSP(8, 0));
	assert_int_equal(rule_at(f, T + 0x1ff), FRAME_RSP(8, 0));
	assert_int_equal(rule_at(f, T + 0x200), RULE(ROW_END, 0));
	assert_int_equal(rule_at(f, T + 0x2ff), FRAME_RSP(8, 0));
	assert_int_equal(rule_at(f, T + 0x300), RULE(ROW_END, 0));
	assert_int_equal(rule_at(f, 0), RULE(ROW_END, 0));
	assert_int_equal(rule_at(f, UINT64_MAX), RULE(ROW_END, 0));
	assert_dump(f, "10010\trsp+8\tu\tc-8\n"
		       "10011\trsp+16\tc-16\tc-8\n"
		       "10014\trbp+16\tc-16\tc-8\n"
		       "10160\trsp+8\tc-16\tc-8\n"
		       "10161\trsp+8\tu\tc-8\n"
		       "10200\tend\t-\t-\n"
		       "10240\trsp+8\tu\tc-8\n"
		       "10300\tend\t-\t-\n");
}

/* Adjacent functions with one rule are one row: the `end` between them leaves no trace. */
static void test_merge(void **state)
{
	struct fixture *f = *state;

	cfi_cie(&f->cfi, "zR");
	for (unsigned int i = 0; i < 8; i++)
		cfi_fde(&f->cfi, T + 0x10 * i, 0x10, "", 0);
	build(f);
	assert_int_equal(f->table->nrows, 2);
	assert_int_equal(f->table->nwords, 3);
	assert_dump(f, "10000\trsp+8\tu\tc-8\n10080\tend\t-\t-\n");
}

static void test_overlap(void **state)
{
	struct fixture *f = *state;

	cfi_cie(&f->cfi, "zR");
	cfi_fde(&f->cfi, T + 0x100, 0x100, "\x0e\x10", 2);
	cfi_fde(&f->cfi, T + 0x140, 0x20, "\x0e\x18", 2); /* inside */
	cfi_fde(&f->cfi, T + 0x140, 0x60, "\x0e\x20", 2); /* same start: the first counts */
	cfi_fde(&f->cfi, T + 0x1c0, 0, "\x0e\x28", 2);	  /* of no length: ignored */
	cfi_fde(&f->cfi, T + 0x80, 0x100, "\x0e\x30", 2); /* out of order */
	build(f);
	assert_dump(f, "10080\trsp+48\tu\tc-8\n"
		       "10100\trsp+16\tu\tc-8\n"
		       "10140\trsp+24\tu\tc-8\n"
		       "10160\tend\t-\t-\n");
	assert_int_equal(f->table->nfdes, 4);
}

static void test_outside(void **state)
{
	struct fixture *f = *state;

	cfi_cie(&f->cfi, "zR");
	cfi_fde(&f->cfi, 0x1000, 0x100, "", 0);			       /* before the text */
	cfi_fde(&f->cfi, T + TEXT_SIZE - 0x10, 1ull << 40, "", 0);     /* ends outside */
	cfi_fde(&f->cfi, T + TEXT_SIZE, 0x100, "", 0);		       /* after */
	cfi_fde(&f->cfi, T + 0x100, 0x100, "\x44\x0e\x10\x44\x3f", 5); /* malformed from +8 on */
	build(f);
	assert_int_equal(f->table->bad_fdes, 3);
	assert_dump(f, "10100\trsp+8\tu\tc-8\n"
		       "10104\trsp+16\tu\tc-8\n"
		       "10108\tend\t-\t-\n"
		       "100fff0\trsp+8\tu\tc-8\n"
		       "1010000\tend\t-\t-\n");
}

/* Each rule with its line; all at the same place of a function of 16 bytes. */
static void test_rules(void **state)
{
	static const struct {
		const char *insns;
		size_t n;
		const char *line;
	} rules[] = {
		{"\x0e\xf8\xff\x01", 4, "rsp+32760\tu\tc-8"},
		{"\x0e\x80\x80\x02", 4, "rsp+32768\tu\tc-8"},
		{"\x0e\x0c", 2, "rsp+12\tu\tc-8"},
		{"\x0c\x0a\x00", 3, "r10+0\tu\tc-8"},
		{"\x13\x02", 2, "rsp-16\tu\tc-8"},
		{"\x86\xff\x01", 3, "rsp+8\tc-2040\tc-8"},
		{"\x86\x80\x02", 3, "rsp+8\tc-2048\tc-8"},
		{"\x11\x06\x7e", 3, "rsp+8\tc+16\tc-8"},
		{"\x07\x06", 2, "rsp+8\tu\tc-8"},
		{"\x08\x06", 2, "rsp+8\tu\tc-8"},
		{"\x09\x06\x0b", 3, "rsp+8\treg\tc-8"},
		{"\x10\x06\x02\x76\x00", 5, "rsp+8\t*(rbp+0)\tc-8"},
		/* the same slot in other words: rbp - 16 of a CFA that is rbp + 16 */
		{"\x0c\x06\x10\x10\x06\x02\x76\x70", 8, "rbp+16\tc-32\tc-8"},
		{"\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00", 10, "*(rbp-8)\t*(rbp+0)\tc-8"},
		{"\x0f\x06\x77\xa0\x01\x06\x23\x08", 8, "*(rsp+160)+8\tu\tc-8"},
		{"\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", 13, "plt\tu\tc-8"},
		{"\x0f\x01\x9c", 3, "expr\t-\t-"},
		{"\x0c\x11\x08", 3, "expr\t-\t-"},
		{"\x16\x06\x02\x38\x1c", 5, "-\texpr\t-"},
		{"\x08\x10", 2, "-\t-\texpr"},
		{"\x09\x10\x05", 3, "rsp+8\tu\trdi"},
		{"\x90\x02", 2, "rsp+8\tu\tc-16"},
		{"\x07\x10", 2, "rsp+8\tu\tu"},
		{"\x07\x10\x0c\x06\x10\x86\x02", 7, "rbp+16\tc-16\tu"},
		{"\x07\x10\x0c\x0a\x10", 5, "expr\t-\tu"},
		{"\x0e\x80\x80\x80\x80\x80\x01", 7, "expr\t-\t-"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		char expected[128];

		f->cfi.size = 0;
		cfi_cie(&f->cfi, "zR");
		cfi_fde(&f->cfi, T + 0x20, 0x10, rules[i].insns, rules[i].n);
		build(f);
		assert_int_equal(f->table->bad_fdes, 0);
		snprintf(expected, sizeof(expected), "10020\t%s\n10030\tend\t-\t-\n",
			 rules[i].line);
		assert_dump(f, expected);
	}
}

/* The fields of wide rules, not all of which the dump shows. */
static void test_wide_fields(void **state)
{
	struct fixture *f = *state;
	const struct wide_rule *w;
	unsigned int count;
	uint32_t rule;

	cfi_cie(&f->cfi, "zRS");
	/* a signal trampoline: CFA = *(rsp+160), RSP there too, RBP at rsp+120, RA at rsp+168 */
	cfi_fde(&f->cfi, T, 0x10,
		"\x0f\x04\x77\xa0\x01\x06\x10\x07\x03\x77\xa0\x01\x10\x06\x03\x77\xf8\x00"
		"\x10\x10\x03\x77\xa8\x01",
		24);
	cfi_cie(&f->cfi, "zR");
	/* longjmp: the stack pointer is in r8 */
	cfi_fde(&f->cfi, T + 0x10, 0x10, "\x0c\x05\x00\x09\x07\x08\x09\x06\x09\x09\x10\x01", 12);
	build(f);
	rule = rule_at(f, T);
	w = wide_rules_all(f->wide, &count);
	assert_int_equal(count, 2);
	assert_int_equal(RULE_KIND(rule), ROW_WIDE);
	w += RULE_PAYLOAD(rule);
	assert_int_equal(w->flags, WIDE_SIGNAL | WIDE_SIGCONTEXT);
	assert_int_equal(w->cfa_kind, WIDE_CFA_DEREF);
	assert_int_equal(w->cfa_reg, DWARF_RSP);
	assert_int_equal(w->cfa_off, 160);
	assert_int_equal(w->cfa_add, 0);
	assert_int_equal(w->fp_kind, WIDE_AT_REG);
	assert_int_equal(w->fp_reg, DWARF_RSP);
	assert_int_equal(w->fp_off, 120);
	assert_int_equal(w->ra_kind, WIDE_AT_REG);
	assert_int_equal(w->ra_off, 168);
	rule = rule_at(f, T + 0x10);
	assert_int_equal(RULE_KIND(rule), ROW_WIDE);
	w = wide_rules_all(f->wide, &count) + RULE_PAYLOAD(rule);
	assert_int_equal(w->flags, WIDE_SP_LOST);
	assert_int_equal(w->fp_kind, WIDE_IN_REG);
	assert_int_equal(w->fp_reg, DWARF_R9);
	assert_int_equal(w->ra_kind, WIDE_IN_REG);
	assert_int_equal(w->ra_reg, DWARF_RDX);
}

/* A stack pointer of the CFA plus some bytes is another stack pointer, in both directions. */
static void test_other_stack_pointer(void **state)
{
	static const char *const insns[] = {"\x15\x07\x00", "\x15\x07\x7f", "\x15\x07\x01"};
	struct fixture *f = *state;
	const struct wide_rule *wide;
	unsigned int count;

	for (unsigned int i = 0; i < 3; i++) {
		cfi_cie(&f->cfi, "zR");
		cfi_fde(&f->cfi, T + 0x20 * i, 0x20, insns[i], 3);
	}
	build(f);
	assert_int_equal(rule_at(f, T), RULE_FRAME(ROW_SP, 8, 0));
	for (unsigned int i = 1; i < 3; i++) {
		uint32_t rule = rule_at(f, T + 0x20 * i);

		assert_int_equal(RULE_KIND(rule), ROW_WIDE);
		wide = wide_rules_all(f->wide, &count) + RULE_PAYLOAD(rule);
		assert_int_equal(wide->flags, WIDE_SP_LOST);
	}
}

/* Where a register that a clone's child needs is saved: in words below the CFA. */
static void test_kept_register(void **state)
{
	static const struct {
		struct reg_rule rule;
		unsigned int depth;
	} kept[] = {
		{{.how = REG_SAME}, 0},
		{{.how = REG_AT_CFA, .off = -24}, 3},
		{{.how = REG_AT_REG, .reg = DWARF_RSP, .off = 8}, 2},
		{{.how = REG_AT_CFA, .off = -20}, WIDE_KEPT_LOST},
		{{.how = REG_AT_CFA, .off = 8}, WIDE_KEPT_LOST},
		{{.how = REG_IN_REG, .reg = DWARF_R8}, WIDE_KEPT_LOST},
	};
	struct cfa_state now = {.cfa = {.kind = EXPR_REG, .reg = DWARF_RSP, .add = 24},
				.ra = {.how = REG_AT_CFA, .off = -8},
				.kept_reg = DWARF_RBX};
	struct fixture *f = *state;
	const struct wide_rule *wide;
	unsigned int count;
	uint32_t rule;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		now.kept = kept[i].rule;
		assert_int_equal(rule_compile(&now, false, f->wide, &rule), 0);
		assert_int_equal(RULE_KIND(rule), ROW_WIDE);
		wide = wide_rules_all(f->wide, &count) + RULE_PAYLOAD(rule);
		assert_int_equal(wide->flags, WIDE_KEPT(DWARF_RBX));
		assert_int_equal(wide->kept, kept[i].depth);
	}
}

/* A distant function gets a span of its own; a small gap stays in the index. */
static void test_gaps(void **state)
{
	struct fixture *f = *state;
	const uint64_t far = T + 0x200 + SPAN_GAP_MAX * GRANULE_SIZE;

	cfi_cie(&f->cfi, "zR");
	cfi_fde(&f->cfi, T + 0x100, 0x80, "", 0);
	cfi_fde(&f->cfi, T + 0x1000, 0x80, "", 0);
	cfi_fde(&f->cfi, T + 0x800000, 0x80, "", 0);
	build(f);
	assert_int_equal(f->table->nspans, 2);
	assert_int_equal(f->table->spans[0].start, T + 0x100);
	assert_int_equal(f->table->spans[0].end, T + 0x1100);
	assert_int_equal(f->table->spans[1].start, T + 0x800000);
	assert_int_equal(f->table->spans[1].end, T + 0x800100);
	assert_int_equal(rule_at(f, T + 0x7ffff0), RULE(ROW_END, 0));
	/* 64 empty granules make no gap, 65 do */
	for (int i = 0; i < 2; i++) {
		f->cfi.size = 0;
		cfi_cie(&f->cfi, "zR");
		cfi_fde(&f->cfi, T + 0x100, 0x80, "", 0);
		cfi_fde(&f->cfi, far + (unsigned int)i * GRANULE_SIZE, 0x80, "", 0);
		build(f);
		assert_int_equal(f->table->nspans, 1 + i);
	}
}

/* A row at each of the 256 bytes of a granule, and the row after it. */
static void test_granule_full(void **state)
{
	struct fixture *f = *state;

	for (unsigned int rows = 254; rows <= 256; rows++) {
		f->cfi.size = 0;
		cfi_cie(&f->cfi, "zR");
		cfi_fde_begin(&f->cfi, T + 0x100, 0x200);
		for (unsigned int i = 1; i < rows; i++) {
			cfi_u8(&f->cfi, 0x41);
			cfi_u8(&f->cfi, 0x0e);
			cfi_uleb(&f->cfi, 8 + 8 * i);
		}
		cfi_end(&f->cfi);
		build(f);
		for (unsigned int i = 0; i < 0x200; i++) {
			unsigned int row = i < rows ? i : rows - 1;
			uint32_t expected = FRAME_RSP(8 + 8 * row, 0);

			if (rows == 256 && (i == 254 || i == 255))
				expected = RULE(ROW_UNSUPPORTED, ROW_CLASS_GRANULE_FULL);
			assert_int_equal(rule_at(f, T + 0x100 + i), expected);
		}
		assert_int_equal(rule_at(f, T + 0x300), RULE(ROW_END, 0));
		assert_int_equal(f->table->classes[ROW_CLASS_GRANULE_FULL], rows == 256);
	}
}

/* Spans with random rows against an array with a rule for each byte. */
static void test_model(void **state)
{
	const uint32_t size = 1 << 16;
	uint32_t *model = calloc(size, sizeof(*model));

	(void)state;
	for (unsigned int seed = 1; seed < 200; seed++) {
		struct unwind_table *table = calloc(1, sizeof(*table));
		unsigned int random = seed;
		struct spans spans;
		uint32_t pc = 0, rule = 0;

		spans_init(&spans, table, UINT32_MAX);
		memset(model, 0, size * sizeof(*model));
		while (pc < size) {
			uint32_t next = pc + rand_r(&random) % (seed % 7 ? 64 : 40000);

			if (next > size)
				next = size;
			rule = rand_r(&random) % 4;
			assert_int_equal(spans_add(&spans, pc, rule), 0);
			for (uint32_t i = pc; i < next; i++)
				model[i] = rule;
			pc = next;
		}
		assert_int_equal(spans_add(&spans, size, 0), 0);
		assert_int_equal(spans_finish(&spans), 0);
		spans_free(&spans);
		check_shape(table);
		for (uint32_t i = 0; i < size; i++)
			if (unwind_table_rule(table, i) != model[i])
				fail_msg("seed %u: %x: %x instead of %x", seed, i,
					 unwind_table_rule(table, i), model[i]);
		unwind_table_free(table);
	}
	free(model);
}

/* More words than a block may have: cut between granules, without loss. */
static void test_span_max(void **state)
{
	struct unwind_table *table = calloc(1, sizeof(*table));
	struct spans spans;
	uint32_t i;

	(void)state;
	spans_init(&spans, table, UINT32_MAX);
	for (i = 0; i < 400000; i++)
		assert_int_equal(spans_add(&spans, 16ull * i + 3, 1 + i % 5), 0);
	/* a row that is longer than a span */
	assert_int_equal(spans_add(&spans, 16ull * i + 3 + 100000000, 7), 0);
	assert_int_equal(spans_add(&spans, 16ull * i + 3 + 200000000, 0), 0);
	assert_int_equal(spans_finish(&spans), 0);
	spans_free(&spans);
	check_shape(table);
	assert_true(table->nspans > 3);
	for (i = 0; i < 400000; i++) {
		assert_int_equal(unwind_table_rule(table, 16ull * i + 3), 1 + i % 5);
		assert_int_equal(unwind_table_rule(table, 16ull * i + 18), 1 + i % 5);
	}
	assert_int_equal(unwind_table_rule(table, 16ull * i + 99999999), 1 + (i - 1) % 5);
	assert_int_equal(unwind_table_rule(table, 16ull * i + 100000003), 7);
	assert_int_equal(unwind_table_rule(table, 16ull * i + 200000002), 7);
	assert_int_equal(unwind_table_rule(table, 16ull * i + 200000003), 0);
	unwind_table_free(table);
}

/* A few bytes of CFI cannot get an index over terabytes. */
static void test_size_bound(void **state)
{
	struct fixture *f = *state;

	f->options.text_size = 1ull << 46;
	cfi_cie(&f->cfi, "zR");
	cfi_fde(&f->cfi, T, 1ull << 45, "", 0);
	assert_int_equal(build_status(f), -EINVAL);
	assert_null(f->table);
}

static void test_plt(void **state)
{
	struct fixture *f = *state;

	f->options.plt = T + 0x1000;
	cfi_cie(&f->cfi, "zR");
	cfi_fde(&f->cfi, T + 0x1100, 0x10, "\x0e\x10", 2);
	build(f);
	assert_dump(f, "11000\trsp+8\tu\tc-8\n11100\trsp+16\tu\tc-8\n11110\tend\t-\t-\n");
	/* if the section has CFI of its own, that counts */
	cfi_fde(&f->cfi, T + 0x1020, 0x10, "\x0e\x18", 2);
	build(f);
	assert_dump(f, "11020\trsp+24\tu\tc-8\n11030\tend\t-\t-\n"
		       "11100\trsp+16\tu\tc-8\n11110\tend\t-\t-\n");
	/* no CFI at all */
	f->cfi.size = 0;
	build(f);
	assert_dump(f, "11000\trsp+8\tu\tc-8\n11100\tend\t-\t-\n");
	f->options.plt = 0;
	build(f);
	assert_int_equal(f->table->nspans, 0);
	assert_dump(f, "");
}

static void test_debug_frame(void **state)
{
	struct fixture *f = *state;

	f->options.debug_frame = 1;
	cfi_begin(&f->cfi);
	cfi_u32(&f->cfi, UINT32_MAX);
	cfi_put(&f->cfi, "\x03\0\x01\x78\x10\x0c\x07\x08\x90\x01", 10);
	cfi_end(&f->cfi);
	cfi_begin(&f->cfi);
	cfi_u32(&f->cfi, 0);
	cfi_u64(&f->cfi, T + 0x40);
	cfi_u64(&f->cfi, 0x20);
	cfi_put(&f->cfi, "\x44\x0e\x10", 3);
	cfi_end(&f->cfi);
	build(f);
	assert_int_equal(f->table->cfi_bytes, f->cfi.size);
	assert_dump(f, "10040\trsp+8\tu\tc-8\n10044\trsp+16\tu\tc-8\n10060\tend\t-\t-\n");
}

/* A file with more rules than any real one leaves room for the files after it. */
static void test_share_of_wide_rules(void **state)
{
	struct fixture *f = *state;
	struct wide_rule rule = {0};

	for (int i = 0; i < 3; i++) {
		wide_rules_share(f->wide);
		for (int j = 0; j < (int)WIDE_SHARE; j++) {
			rule.cfa_off = (i * (int)WIDE_SHARE + j) * 8;
			assert_true(wide_rules_index(f->wide, &rule) >= 0);
		}
		rule.cfa_off += 8;
		assert_int_equal(wide_rules_index(f->wide, &rule), -ENOSPC);
	}
	for (int i = 0; i < (int)(WIDE_RULES_MAX / WIDE_SHARE); i++)
		wide_rules_share(f->wide);
	rule.cfa_off = 0;
	assert_int_equal(wide_rules_index(f->wide, &rule), 0);
}

static void test_wide_rules(void **state)
{
	struct fixture *f = *state;
	struct wide_rule rule = {0};
	const struct wide_rule *all;
	unsigned int count;

	for (int i = 0; i < (int)WIDE_RULES_MAX; i++) {
		rule.cfa_off = i * 8;
		rule.fp_off = i % 3;
		assert_int_equal(wide_rules_index(f->wide, &rule), i);
	}
	for (int i = 0; i < (int)WIDE_RULES_MAX; i++) {
		rule.cfa_off = i * 8;
		rule.fp_off = i % 3;
		assert_int_equal(wide_rules_index(f->wide, &rule), i);
	}
	rule.flags = 1;
	assert_int_equal(wide_rules_index(f->wide, &rule), -ENOSPC);
	all = wide_rules_all(f->wide, &count);
	assert_int_equal(count, WIDE_RULES_MAX);
	assert_int_equal(all[77].cfa_off, 77 * 8);
	/* a table that needs one more rule reports it */
	cfi_cie(&f->cfi, "zR");
	cfi_fde(&f->cfi, T, 0x10, "\x0c\x0a\x08", 3);
	build(f);
	assert_int_equal(rule_at(f, T), RULE(ROW_UNSUPPORTED, ROW_CLASS_WIDE_FULL));
	assert_int_equal(f->table->classes[ROW_CLASS_WIDE_FULL], 1);
	wide_rules_free(NULL);
}

static void test_dump_error(void **state)
{
	struct fixture *f = *state;
	FILE *full = fopen("/dev/full", "w");

	cfi_cie(&f->cfi, "zR");
	cfi_fde(&f->cfi, T, 0x10, "", 0);
	build(f);
	assert_non_null(full);
	assert_int_equal(unwind_table_dump(f->table, f->wide, full), -EIO);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_plain, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_merge, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_overlap, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_outside, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_rules, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_wide_fields, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_other_stack_pointer, tables_setup,
						tables_teardown),
		cmocka_unit_test_setup_teardown(test_kept_register, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_gaps, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_granule_full, tables_setup, tables_teardown),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_span_max),
		cmocka_unit_test_setup_teardown(test_size_bound, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_plt, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_debug_frame, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_share_of_wide_rules, tables_setup,
						tables_teardown),
		cmocka_unit_test_setup_teardown(test_wide_rules, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_dump_error, tables_setup, tables_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
