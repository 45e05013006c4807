// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares derived rows with CFI: derives rows of files as if they had no CFI, and asks both at
 * each instruction of each function that has CFI. The rows of the CFI are what verify_unwind
 * compares with libdw.
 *
 *	verify_derived [-v] [-w] FILE...
 *
 * Two rules agree if they give the same CFA, or if the frame pointer of one is known to be at the
 * same distance, and the same place for the caller's frame pointer. A slot below the stack pointer
 * is a value that has been loaded already. -v lists the first differences of each file; -w makes
 * one rule in 100 wrong first. Exits with 1 when fewer than 99.5 % of the derived rules agree, or
 * less than half of the places has one; with 77 when there is no disassembler. Functions behind the
 * end of what is decoded (LIMIT_DERIVED) are left out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "symbols/base/search.h"
#include "symbols/elf/elffile.h"
#include "symbols/insn/disasm.h"
#include "tests/support/tablerule.h"
#include "unwind/arch.h"
#include "unwind/cfifile.h"
#include "unwind/derive.h"
#include "unwind/effect.h"
#include "unwind/row.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define SHOW_MAX 40

enum outcome {
	AGREE,
	UNKNOWN,   /* nothing is derived */
	OTHER_REG, /* one counts from SP, the other from FP: not comparable by the rows alone */
	CFA_DIFFERS,
	FP_DIFFERS,
	OUTERMOST_DIFFERS,
	CFI_WIDE, /* a rule that no compiler writes for a function */
	OUTCOMES,
};

static const char *const names[OUTCOMES] = {
	"agree",      "unknown",	   "SP or FP",	     "CFA differs",
	"FP differs", "outermost differs", "CFI is special",
};

struct totals {
	uint64_t outcomes[OUTCOMES];
};

static bool verbose, wrong;

static enum outcome compare(uint32_t cfi, uint32_t derived)
{
	unsigned int kind = RULE_KIND(cfi), other = RULE_KIND(derived);

	if (other == ROW_END)
		return UNKNOWN;
	if (kind == ROW_OUTERMOST || other == ROW_OUTERMOST)
		return kind == other ? AGREE : OUTERMOST_DIFFERS;
	if (kind != ROW_SP && kind != ROW_FP)
		return CFI_WIDE;
	if (other == ROW_WIDE)
		return FP_DIFFERS;
	if (kind != other)
		return OTHER_REG;
	if (RULE_CFA(cfi) != RULE_CFA(derived))
		return CFA_DIFFERS;
	if (RULE_FP_DEPTH(cfi) == RULE_FP_DEPTH(derived))
		return AGREE;
	/* After the pop of FP, CFI still names the slot, which is below the stack pointer. */
	if (kind == ROW_SP && RULE_FP_DEPTH(cfi) > RULE_CFA(cfi) && RULE_FP_DEPTH(derived) == 0)
		return AGREE;
	return FP_DIFFERS;
}

static uint32_t derived_rule(const struct derived *d, size_t *at, uint64_t pc)
{
	while (*at < d->nrows && d->rows[*at].pc <= pc)
		++*at;
	return *at ? d->rows[*at - 1].rule : ROW_END;
}

struct check {
	const char *path;
	const struct unwind_table *table;
	const struct derived *derived;
	struct disasm *disasm;
	struct totals *totals;
	unsigned int shown;
};

static void show(struct check *k, uint64_t pc, enum outcome outcome, uint32_t cfi, uint32_t rule)
{
	if (!verbose || k->shown++ >= SHOW_MAX)
		return;
	printf("%s %" PRIx64 " %s: CFI %x/%u/%u, derived %x/%u/%u\n", k->path, pc, names[outcome],
	       RULE_KIND(cfi), RULE_CFA(cfi), RULE_FP_DEPTH(cfi), RULE_KIND(rule), RULE_CFA(rule),
	       RULE_FP_DEPTH(rule));
}

static void check_code(struct check *k, const uint8_t *code, uint64_t start, uint64_t end)
{
	size_t at = SEARCH(k->derived->nrows, i, k->derived->rows[i].pc <= start);
	struct effect effect;

	for (uint64_t pc = start; pc < end; pc += effect.size) {
		uint32_t cfi = unwind_table_rule(k->table, pc);
		uint32_t rule = derived_rule(k->derived, &at, pc);
		enum outcome outcome;

		arch_effect(k->disasm, code + (pc - start), end - pc, &effect);
		if (RULE_KIND(cfi) == ROW_END || effect.kind == EFFECT_PAD)
			continue;
		outcome = compare(cfi, rule);
		k->totals->outcomes[outcome]++;
		if (outcome != AGREE && outcome != UNKNOWN && outcome != CFI_WIDE)
			show(k, pc, outcome, cfi, rule);
	}
}

static void check_function(struct check *k, const struct elf_file *file, uint64_t start,
			   uint64_t end)
{
	size_t count;
	const struct elf_load *loads = elf_file_loads(file, &count);
	uint8_t *code = malloc(end - start);

	for (size_t i = 0; i < count && code; i++)
		if (loads[i].exec && start >= loads[i].vaddr &&
		    end <= loads[i].vaddr + loads[i].filesz &&
		    !elf_file_read(file, loads[i].offset + (start - loads[i].vaddr), code,
				   end - start))
			check_code(k, code, start, end);
	free(code);
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void report(const char *path, const struct totals *t, uint64_t text, double ms)
{
	uint64_t all = 0, said = 0;

	for (int i = 0; i < OUTCOMES; i++)
		all += t->outcomes[i];
	said = all - t->outcomes[UNKNOWN] - t->outcomes[CFI_WIDE];
	printf("%s: %" PRIu64 " places, unknown %.2f %%, of the others agree %.4f %%", path, all,
	       100.0 * (double)t->outcomes[UNKNOWN] / (double)(all ? all : 1),
	       100.0 * (double)t->outcomes[AGREE] / (double)(said ? said : 1));
	if (text)
		printf(", %.0f ns/byte of %" PRIu64, ms * 1e6 / (double)text, text);
	for (int i = OTHER_REG; i < OUTCOMES; i++)
		if (t->outcomes[i])
			printf(", %s %" PRIu64, names[i], t->outcomes[i]);
	printf("\n");
}

static int check_file(const char *path, struct totals *totals)
{
	struct wide_rules *wide = wide_rules_new();
	struct cfi_section sections[CFI_SECTIONS];
	struct unwind_table *table = NULL;
	struct elf_file *file = NULL;
	struct disasm *disasm = NULL;
	struct derived derived = {0};
	struct totals t = {0};
	const struct cfi none = {0};
	struct cfi cfi = {0};
	struct check k = {.path = path, .derived = &derived, .totals = &t};
	double start, ms = 0;
	int err = wide ? elf_file_open(path, &file) : -ENOMEM;

	if (!err)
		err = unwind_table_build(file, wide, &table);
	if (!err)
		err = disasm_new(elf_file_machine(file), &disasm);
	if (!err) {
		start = cpu_ms();
		err = derive_rows(file, &none, wide, &derived);
		ms = cpu_ms() - start;
	}
	for (size_t i = 0; wrong && i < derived.nrows; i += 100)
		derived.rows[i].rule = RULE_FRAME(ROW_SP, 0x1230, 0) | RULE_DERIVED;
	if (!err)
		err = cfi_file_read(file, sections, &cfi);
	if (!err)
		cfi_sort(&cfi);
	k.table = table;
	k.disasm = disasm;
	for (uint32_t i = 0; !err && i < cfi.nfdes && derived.nrows &&
			     cfi.fdes[i].end <= derived.rows[derived.nrows - 1].pc;
	     i++)
		check_function(&k, file, cfi_from(&cfi.fdes[i]), cfi.fdes[i].end);
	if (err)
		fprintf(stderr, "%s: %s\n", path, strerror(-err));
	else
		report(path, &t, derived.text, ms);
	for (int i = 0; i < OUTCOMES; i++)
		totals->outcomes[i] += t.outcomes[i];
	cfi_free(&cfi);
	derived_free(&derived);
	disasm_free(disasm);
	unwind_table_free(table);
	elf_file_free(file);
	wide_rules_free(wide);
	return err;
}

int main(int argc, char **argv)
{
	struct totals totals = {0};
	uint64_t all = 0, said;
	int opt, failed = 0;

	while ((opt = getopt(argc, argv, "vw")) != -1) {
		verbose |= opt == 'v';
		wrong |= opt == 'w';
	}
	if (derive_missing()) {
		printf("%s\n", derive_missing());
		return 77;
	}
	for (int i = optind; i < argc; i++)
		failed |= check_file(argv[i], &totals) != 0;
	report("all", &totals, 0, 0);
	for (int i = 0; i < OUTCOMES; i++)
		all += totals.outcomes[i];
	said = all - totals.outcomes[UNKNOWN] - totals.outcomes[CFI_WIDE];
	if (failed || !said || said < all / 2 ||
	    (double)totals.outcomes[AGREE] < 0.995 * (double)said)
		return 1;
	return 0;
}
