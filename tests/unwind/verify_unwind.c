// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares the tables of many files with elfutils' interpreter of CFI (libdw), pc by pc: at both
 * ends and at a random place of each of our rows, and at both ends of every piece of a function in
 * which neither side changes its rule. Rules are not compared as text: both are evaluated for the
 * same random registers and the same made-up memory, and must give the same CFA, stack pointer,
 * frame pointer and return address.
 *
 *	verify_unwind [-v] [-s N] FILE|DIR...
 *
 * -v prints the first differences of each file, -s N checks only every Nth row and function. Exits
 * with 1 when fewer than 99.99 % of the places agree, or when nothing was compared. With few files
 * the share of bytes may be smaller: three functions of OpenSSL have long rows that cannot be
 * represented.
 */
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/base/search.h"
#include "symbols/elf/elffile.h"
#include "tests/support/tablerule.h"
#include "tests/unwind/verify_libdw.h"
#include "unwind/arch.h"
#include "unwind/cfifile.h"
#include "unwind/ghc.h"
#include "unwind/go_cfi.h"
#include "unwind/go_pcsp.h"
#include "unwind/row.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define SHOW_MAX 10

enum outcome {
	AGREE,
	DIFFER_CFA,
	DIFFER_SP,
	DIFFER_FP,
	DIFFER_RA,
	DIFFER_SIGNAL,
	MISSING,     /* libdw has a rule, ours is `end` */
	EXTRA,	     /* the other way round */
	UNSUPPORTED, /* ours is `unsupported` */
	SP_LOST,     /* ours says that the caller's stack pointer is lost */
	UNKNOWN,     /* libdw's expression cannot be evaluated here */
	PLT,	     /* our rule for PLT sections without CFI */
	CLONED,	     /* our rule for clone's system call, for which no CFI is right */
	DERIVED,     /* our rule for code without CFI */
	HASKELL,     /* our rule for GHC's code without CFI, which unwind/test_ghc.py checks */
	GO,	     /* our rule for Go's without it, which unwind/test_go_pcsp.py checks */
	OUTCOMES,
};

static const char *const outcome_names[OUTCOMES] = {
	"agree",	  "CFA differs",    "SP differs",
	"FP differs",	  "RA differs",	    "signal flag",
	"we: end",	  "libdw: nothing", "we: unsupported",
	"we: SP lost",	  "libdw: unknown", "PLT without CFI",
	"clone",	  "derived",	    "Haskell without CFI",
	"Go without CFI",
};

struct totals {
	uint64_t outcomes[OUTCOMES];
	uint64_t classes[ROW_CLASS_COUNT];
	uint64_t bytes, bytes_agree; /* of functions */
	uint64_t files, fdes, bad_fdes, rows, cfi_bytes, table_bytes, other_encodings, not_mapped;
};

struct check {
	const char *path;
	struct libdw libdw;
	struct unwind_table *table;
	const struct wide_rule *wide;
	struct ghc ghc;
	struct cfi more; /* Haskell's and Go's code without CFI, and the FDEs of the file */
	uint64_t plt_start[3], plt_end[3];
	uint64_t random;
	uint64_t regs[DWARF_COUNT];
	unsigned int shown;
	unsigned int turn; /* counts functions */
};

static struct totals totals;
static bool verbose;
static unsigned int stride = 1;
static struct wide_rules *wide_set;

static void registers_invent(struct check *k, uint64_t pc)
{
	for (unsigned int i = 0; i < DWARF_COUNT; i++)
		k->regs[i] = mix(k->random += i + 1);
	k->regs[ARCH_PC] = pc;
}

/* --- our side ------------------------------------------------------------------------------ */

static uint64_t wide_value(const struct check *k, unsigned int kind, unsigned int reg, int32_t off,
			   uint64_t cfa)
{
	switch (kind) {
	case WIDE_AT_CFA:
		return memory(cfa + (uint64_t)(int64_t)off);
	case WIDE_AT_REG:
		return memory(k->regs[reg] + (uint64_t)(int64_t)off);
	case WIDE_IN_REG:
		return k->regs[reg];
	default:
		return k->regs[ARCH_FP];
	}
}

/* Only for rules with a frame. */
static void our_frame(const struct check *k, uint32_t rule, struct frame *f)
{
	const struct wide_rule *w;
	uint64_t base;

	memset(f, 0, sizeof(*f));
	switch (RULE_KIND(rule)) {
	case ROW_OUTERMOST:
		f->outermost = true;
		return;
	case ROW_WIDE:
		w = &k->wide[RULE_PAYLOAD(rule)];
		base = k->regs[w->cfa_reg] + (uint64_t)(int64_t)w->cfa_off;
		if (w->cfa_kind == WIDE_CFA_DEREF_TWICE)
			base = memory(base);
		f->cfa = w->cfa_kind == WIDE_CFA_DEREF || w->cfa_kind == WIDE_CFA_DEREF_TWICE
				 ? memory(base) + (uint64_t)(int64_t)w->cfa_add
				 : base;
		f->fp = wide_value(k, w->fp_kind, w->fp_reg, w->fp_off, f->cfa);
		f->ra = wide_value(k, w->ra_kind, w->ra_reg, w->ra_off, f->cfa);
		f->signal = w->flags & WIDE_SIGNAL;
		return;
	case ROW_PLT:
		f->cfa = k->regs[ARCH_SP] + 8 + ((k->regs[ARCH_PC] & 15) >= (rule & 15) ? 8 : 0);
		break;
	default:
		base = RULE_KIND(rule) == ROW_SP ? ARCH_SP : ARCH_FP;
		f->cfa = k->regs[base] + RULE_CFA(rule);
		break;
	}
	f->fp = k->regs[ARCH_FP];
	if (RULE_KIND(rule) != ROW_PLT && RULE_FP_DEPTH(rule) > 0)
		f->fp = memory(f->cfa - RULE_FP_DEPTH(rule));
	if (!ARCH_HAS_LINK)
		f->ra = memory(f->cfa - 8);
	else
		f->ra = RULE_FP_DEPTH(rule) > 0 ? memory(f->cfa - RULE_FP_DEPTH(rule) + 8)
						: k->regs[ARCH_LINK];
}

/* --- both ---------------------------------------------------------------------------------- */

static bool in_bare_plt(const struct check *k, uint64_t pc)
{
	for (int i = 0; i < 3; i++)
		if (pc >= k->plt_start[i] && pc < k->plt_end[i])
			return true;
	return false;
}

static bool has_cie(const struct check *k, uint64_t pc, uint32_t cie)
{
	const struct cfi_fde *fdes = k->more.fdes;
	size_t i = SEARCH(k->more.nfdes, at, fdes[at].end <= pc);

	return i < k->more.nfdes && pc >= fdes[i].start && fdes[i].cie == cie;
}

/* In Haskell code without CFI, with the frame that StgRun has, or with a call of C code on it. */
static bool is_haskell(const struct check *k, uint64_t pc, uint32_t rule)
{
	return k->ghc.found && has_cie(k, pc, GHC_CIE) && RULE_KIND(rule) == ROW_SP &&
	       RULE_CFA(rule) >= k->ghc.cfa && RULE_FP_DEPTH(rule) == -k->ghc.fp;
}

/*
 * Our CFA is the caller's stack pointer. CFI may have its own elsewhere, if it says where the
 * stack pointer is from there, as that of StgRun does.
 */
static enum outcome compare(const struct frame *ours, const struct frame *theirs)
{
	if (ours->outermost != theirs->outermost)
		return DIFFER_RA;
	if (ours->outermost)
		return AGREE;
	if (ours->cfa != theirs->cfa && ours->cfa != theirs->sp)
		return DIFFER_CFA;
	if (ours->ra != theirs->ra)
		return DIFFER_RA;
	if (ours->fp != theirs->fp)
		return DIFFER_FP;
	if (ours->signal != theirs->signal)
		return DIFFER_SIGNAL;
	return ours->cfa == theirs->sp ? AGREE : DIFFER_SP;
}

static bool agrees(enum outcome outcome)
{
	/* libdw has nothing for five of these; where the stack pointer is lost, all else agrees.
	 */
	return outcome == AGREE || outcome == PLT || outcome == CLONED || outcome == SP_LOST ||
	       outcome == DERIVED || outcome == HASKELL || outcome == GO;
}

/* Compares at one pc. *end: the end of libdw's row, or 0 when it has none. */
static enum outcome check_pc(struct check *k, uint64_t pc, uint64_t *end)
{
	uint32_t rule = unwind_table_rule(k->table, pc);
	struct frame ours, theirs = {0};
	uint64_t start = 0;
	enum outcome outcome;
	int found;

	registers_invent(k, pc);
	*end = 0;
	found = libdw_frame(&k->libdw, k->regs, pc, &theirs, &start, end);
	if (RULE_KIND(rule) == ROW_WIDE && k->wide[RULE_PAYLOAD(rule)].flags & WIDE_CLONED &&
	    found >= 0) {
		our_frame(k, rule, &ours); /* the parent's; there may be no CFI */
		outcome = found ? compare(&ours, &theirs) : AGREE;
		outcome = outcome == AGREE ? CLONED : outcome;
	} else if (RULE_KIND(rule) == ROW_UNSUPPORTED) {
		outcome = UNSUPPORTED;
		totals.classes[RULE_PAYLOAD(rule) % ROW_CLASS_COUNT]++;
	} else if (found > 0 && RULE_KIND(rule) == ROW_WIDE &&
		   k->wide[RULE_PAYLOAD(rule)].flags & WIDE_SP_LOST) {
		our_frame(k, rule, &ours);
		outcome = compare(&ours, &theirs) == DIFFER_SP ? SP_LOST : DIFFER_SP;
	} else if (found < 0) {
		outcome = UNKNOWN;
	} else if (RULE_KIND(rule) == ROW_END) {
		outcome = found ? MISSING : AGREE;
	} else if (!found) {
		outcome = in_bare_plt(k, pc)	    ? PLT
			  : rule & RULE_DERIVED	    ? DERIVED
			  : is_haskell(k, pc, rule) ? HASKELL
			  : has_cie(k, pc, GO_CIE)  ? GO
						    : EXTRA;
	} else {
		our_frame(k, rule, &ours);
		outcome = compare(&ours, &theirs);
	}
	totals.outcomes[outcome]++;
	if (verbose && !agrees(outcome) && k->shown++ < SHOW_MAX)
		printf("  %s: %" PRIx64 ": %s (rule %06x, libdw row %" PRIx64 "..%" PRIx64 ")\n",
		       k->path, pc, outcome_names[outcome], rule, start, *end);
	return outcome;
}

static void check_range(struct check *k, uint64_t start, uint64_t end)
{
	uint64_t ignored;

	if (end <= start)
		return;
	check_pc(k, start, &ignored);
	if (end - start > 1)
		check_pc(k, end - 1, &ignored);
	if (end - start > 2)
		check_pc(k, start + 1 + mix(k->random++) % (end - start - 2), &ignored);
}

static void check_our_rows(struct check *k)
{
	unsigned int turn = 0;

	for (uint32_t i = 0; i < k->table->nspans; i++) {
		const struct unwind_span *span = &k->table->spans[i];
		const uint32_t *index = k->table->words + span->first;
		const uint32_t *rows = index + span->ngranules;
		uint64_t last = span->start;

		/* From row to row; rows follow each other across granules. */
		for (uint32_t g = 0; g < span->ngranules; g++)
			for (uint32_t r = 0; r < INDEX_ROWS(index[g]); r++) {
				uint64_t pc = span->start + (uint64_t)g * GRANULE_SIZE +
					      ROW_OFFSET(rows[INDEX_FIRST(index[g]) + r]);

				if (turn++ % stride == 0)
					check_range(k, last, pc);
				last = pc;
			}
		check_range(k, last, span->end);
	}
}

/* The end of our row at a pc, or limit, whichever comes first. */
static uint64_t our_row_end(const struct check *k, uint64_t pc, uint64_t limit)
{
	const struct unwind_table *t = k->table;

	for (uint32_t i = 0; i < t->nspans; i++) {
		const struct unwind_span *s = &t->spans[i];
		const uint32_t *index = t->words + s->first, *rows = index + s->ngranules;

		if (pc >= s->end)
			continue;
		if (pc < s->start)
			return s->start < limit ? s->start : limit;
		for (uint64_t at = pc & ~(uint64_t)(GRANULE_SIZE - 1); at < limit && at < s->end;
		     at += GRANULE_SIZE) {
			uint32_t word = index[(at - s->start) >> GRANULE_SHIFT];

			for (uint32_t r = 0; r < INDEX_ROWS(word); r++) {
				uint64_t row = at + ROW_OFFSET(rows[INDEX_FIRST(word) + r]);

				if (row > pc)
					return row < limit ? row : limit;
			}
		}
		return s->end < limit ? s->end : limit;
	}
	return limit;
}

/* A function, in pieces in which neither side changes its rule: they give the figure in bytes. */
static void check_fde(void *arg, uint64_t start, uint64_t size)
{
	struct check *k = arg;
	uint64_t pc = start, end, ignored;
	bool good;

	if (k->turn++ % stride)
		return;
	while (pc - start < size) {
		good = agrees(check_pc(k, pc, &end));
		if (end <= pc || end - start > size)
			end = start + size;
		end = our_row_end(k, pc, end);
		if (end - pc > 1)
			good = agrees(check_pc(k, end - 1, &ignored)) && good;
		totals.bytes += end - pc;
		totals.bytes_agree += good ? end - pc : 0;
		pc = end;
	}
	/* Right after it: padding or the next function. */
	check_pc(k, start + size, &ignored);
}

static void check_find_plt(struct check *k, const struct elf_file *file)
{
	static const char *const names[3] = {".plt", ".plt.sec", ".plt.got"};

	for (int i = 0; i < 3; i++) {
		struct elf_section section;

		if (elf_file_section(file, names[i], &section) < 0)
			continue;
		k->plt_start[i] = section.addr;
		k->plt_end[i] = section.addr + section.size;
	}
}

static void totals_add(const struct unwind_table *t)
{
	totals.files++;
	totals.fdes += t->nfdes;
	totals.bad_fdes += t->bad_fdes;
	totals.rows += t->nrows;
	totals.cfi_bytes += t->cfi_bytes;
	totals.table_bytes += 4ull * t->nwords;
}

static void check_elf(struct check *k, int fd)
{
	if (libdw_open(&k->libdw, fd)) {
		check_our_rows(k);
		for (int i = 0; i < 2; i++)
			if (k->libdw.cfis[i])
				totals.other_encodings += libdw_fdes(&k->libdw, i, check_fde, k);
	} else if (k->table->cfi_bytes) {
		printf("%s: libdw finds no CFI\n", k->path);
	}
	libdw_close(&k->libdw);
}

/* Debug files and relocatable files have no text that could be mapped. */
static bool is_mapped(const struct elf_file *file)
{
	const struct elf_load *loads;
	size_t count;

	loads = elf_file_loads(file, &count);
	for (size_t i = 0; i < count; i++)
		if (loads[i].exec && loads[i].filesz)
			return elf_file_type(file) != ET_REL;
	return false;
}

/* The tables of another kind that stand in for CFI. Errors: nothing is known of them. */
static void check_find_more(struct check *k, const struct elf_file *file)
{
	struct cfi_section sections[CFI_SECTIONS];
	struct go_functions functions;
	struct go_pcsp pcsp;

	go_functions(file, &functions);
	if (!cfi_file_read(file, sections, &k->more) && !ghc_read(file, &k->ghc, &k->more) &&
	    !go_pcsp_read(file, &pcsp, &functions, &k->more))
		cfi_unique(&k->more);
}

static void verify_file(const char *path)
{
	struct check k = {.path = path, .random = 42};
	struct totals before = totals;
	struct elf_file *file;
	unsigned int nwide;
	uint64_t different = 0;
	int err, fd;

	if (elf_file_open(path, &file) < 0)
		return;
	if (elf_file_machine(file) != ARCH_MACHINE) {
		elf_file_free(file);
		return;
	}
	if (!is_mapped(file)) {
		totals.not_mapped++;
		elf_file_free(file);
		return;
	}
	err = unwind_table_build(file, wide_set, &k.table);
	if (err) {
		printf("%s: %s\n", path, strerror(-err));
		elf_file_free(file);
		return;
	}
	check_find_plt(&k, file);
	check_find_more(&k, file);
	elf_file_free(file);
	k.wide = wide_rules_all(wide_set, &nwide);
	totals_add(k.table);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		check_elf(&k, fd);
		close(fd);
	}
	for (int i = 0; i < OUTCOMES; i++)
		if (!agrees((enum outcome)i))
			different += totals.outcomes[i] - before.outcomes[i];
	if (different || k.table->bad_fdes)
		printf("%s: %" PRIu64 " of %" PRIu64 " places differ, %u bad FDEs\n", path,
		       different, different + totals.outcomes[AGREE] - before.outcomes[AGREE],
		       k.table->bad_fdes);
	cfi_free(&k.more);
	unwind_table_free(k.table);
	fflush(stdout);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_F && S_ISREG(st->st_mode))
		verify_file(path);
	return 0;
}

static int report(void)
{
	uint64_t all = 0, good = 0;
	unsigned int nwide;
	double share, bytes;

	for (int i = 0; i < OUTCOMES; i++) {
		all += totals.outcomes[i];
		good += agrees((enum outcome)i) ? totals.outcomes[i] : 0;
	}
	share = all ? 100.0 * (double)good / (double)all : 0;
	bytes = totals.bytes ? 100.0 * (double)totals.bytes_agree / (double)totals.bytes : 0;
	wide_rules_all(wide_set, &nwide);
	printf("\n%" PRIu64 " files (%" PRIu64 " more without text), %" PRIu64 " FDEs (%" PRIu64
	       " bad), %" PRIu64 " rows, %u wide rules, %" PRIu64 " bytes of CFI, %" PRIu64
	       " bytes of tables\n",
	       totals.files, totals.not_mapped, totals.fdes, totals.bad_fdes, totals.rows, nwide,
	       totals.cfi_bytes, totals.table_bytes);
	for (int i = 0; i < OUTCOMES; i++)
		printf("%12" PRIu64 "  %s\n", totals.outcomes[i], outcome_names[i]);
	for (int i = 1; i < ROW_CLASS_COUNT; i++)
		if (totals.classes[i])
			printf("%12" PRIu64 "    unsupported: %s\n", totals.classes[i],
			       row_class_name((unsigned int)i));
	printf("%12" PRIu64 "  functions not enumerated\n", totals.other_encodings);
	printf("%" PRIu64 " of %" PRIu64 " bytes of functions agree: %.5f %%\n", totals.bytes_agree,
	       totals.bytes, bytes);
	printf("%" PRIu64 " of %" PRIu64 " places agree: %.5f %%\n", good, all, share);
	return share >= 99.99 ? 0 : 1;
}

int main(int argc, char **argv)
{
	int option, status;

	while ((option = getopt(argc, argv, "vs:")) != -1) {
		if (option == 'v') {
			verbose = true;
		} else if (option == 's' && atoi(optarg) > 0) {
			stride = (unsigned int)atoi(optarg);
		} else {
			fprintf(stderr, "usage: verify_unwind [-v] [-s N] FILE|DIR...\n");
			return 2;
		}
	}
	wide_set = wide_rules_new();
	if (!wide_set)
		return 2;
	for (; optind < argc; optind++) {
		struct stat st;

		if (stat(argv[optind], &st) < 0)
			perror(argv[optind]);
		else if (S_ISDIR(st.st_mode))
			nftw(argv[optind], visit, 32, FTW_PHYS);
		else
			verify_file(argv[optind]);
	}
	status = report();
	wide_rules_free(wide_set);
	return status;
}
