// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds the table of a file.
 *
 * Where FDEs overlap, a pc belongs to the one that begins last at or before it, and to none behind
 * the end of that one: a binary search in .eh_frame_hdr, hence libgcc and elfutils, find the same.
 * Of several with one start the first in the section counts.
 *
 * The size of the section bounds that of the table: a hostile FDE may claim any range of the
 * address space, but it is cut to the segment where it begins, and all index words together to a
 * limit that no honest file reaches.
 */
#include "unwind/table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf/elffile.h"
#include "symbols/base/limits.h"
#include "symbols/base/search.h"
#include "symbols/base/work.h"
#include "unwind/arch.h"
#include "unwind/cfa.h"
#include "unwind/cfifile.h"
#include "unwind/derive.h"
#include "unwind/ehframe.h"
#include "unwind/ghc.h"
#include "unwind/go_cfi.h"
#include "unwind/go_pcsp.h"
#include "unwind/luajit.h"
#include "unwind/rule.h"
#include "unwind/sframe.h"
#include "unwind/spans.h"
#include "unwind/wide.h"

#define NO_CIE	      UINT32_MAX /* a PLT section that has no CFI */
#define KEEP_ROWS_MAX (1u << 20)
#define SOON_BYTES    (256u << 10) /* of CFI: the rest of such a file may take a tenth of a second */

/* Words of a table: 16 MiB of text without a row boundary, and 16 words for each byte of CFI. */
#define WORDS_MAX(cfi_bytes) (((uint64_t)1 << 16) + (uint64_t)(cfi_bytes)*16)

struct text_range {
	uint64_t start;
	uint64_t end;
};

struct builder {
	const struct elf_file *file;
	struct work *work; /* the file's */
	struct wide_rules *wide;
	struct unwind_table *table;
	struct cfi_section sections[CFI_SECTIONS];
	struct cfi cfi;
	struct sframe sframe;
	struct ghc ghc;
	struct cfa_state *initial; /* of each CIE */
	struct spans spans;
	struct derived derived;
	size_t derived_next;	  /* of its rows: the first that is not in the table */
	uint64_t gap;		  /* where the rows of the last FDE ended */
	struct text_range *texts; /* executable segments */
	size_t ntexts;
	/*
	 * Registers that must survive a call for a CFA to be known, and in how many rows: counted
	 * while rows are made without them. The one that most rows need is then followed; 0: none.
	 */
	uint32_t wanted[DWARF_COUNT];
	uint32_t kept_reg;
	struct go_functions go;
	struct go_text go_text;
	struct go_pcsp go_pcsp;
	struct ghc_rows haskell;
	/* The FDE at hand. */
	uint64_t from; /* where its rows begin, at least */
	uint64_t end;  /* and end, at most */
	bool signal;
	struct go_rows rows; /* where its CFI is known to be wrong */
	unsigned int row;    /* the next to come */
	uint32_t instead;    /* the rule of the one in force; 0: that of the CFI */
	uint32_t cfi_rule;   /* what the CFI says */
	bool go_cfi;	     /* its CFI does not say where the frame pointer is saved */
	uint64_t saved;	     /* where it is from on; 0: not known yet */
	uint64_t late;	     /* where its row is to begin, behind that of the CFI; 0: none is */
	struct cfa_state late_state;
};

static int builder_texts(struct builder *b)
{
	const struct elf_load *loads;
	size_t count;

	loads = elf_file_loads(b->file, &count);
	b->texts = calloc(count ? count : 1, sizeof(*b->texts));
	if (!b->texts)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (loads[i].exec && loads[i].filesz)
			b->texts[b->ntexts++] = (struct text_range){
				loads[i].vaddr, loads[i].vaddr + loads[i].filesz};
	qsort(b->texts, b->ntexts, sizeof(*b->texts), compare_u64);
	return 0;
}

static int builder_find(struct builder *b)
{
	int err;

	work_allow(b->work, LIMIT_WORK(LIMIT_CFI));
	err = cfi_file_read(b->file, b->sections, &b->cfi);
	if (!err)
		err = sframe_read(b->file, &b->sframe, &b->cfi);
	if (!err)
		err = ghc_read(b->file, &b->ghc, &b->cfi);
	go_functions(b->file, &b->go);
	if (!err)
		err = go_pcsp_read(b->file, &b->go_pcsp, &b->go, &b->cfi);
	b->table->cfi_bytes = b->sframe.size + b->ghc.bytes / GRANULE_SIZE + b->go_pcsp.bytes;
	for (int i = 0; i < CFI_SECTIONS; i++)
		b->table->cfi_bytes += b->sections[i].size;
	work_allow(b->work, LIMIT_WORK(b->table->cfi_bytes));
	return err;
}

static int builder_initial(struct builder *b)
{
	free(b->initial);
	b->initial = calloc(b->cfi.ncies ? b->cfi.ncies : 1, sizeof(*b->initial));
	if (!b->initial)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->cfi.ncies; i++) {
		struct cfi_cie *cie = &b->cfi.cies[i];
		const struct cfi_section *section = &b->sections[cie->section];

		int err = cie->bad ? 0 : cfa_initial(section, cie, b->kept_reg, &b->initial[i]);

		if (work_is_over(err))
			return err;
		cie->bad |= err != 0;
	}
	return 0;
}

/*
 * lld writes no CFI for PLT stubs. These sections have nothing else, and a stub does not move the
 * stack pointer (or, for lazy binding, only in its last instructions).
 */
static int builder_plt(struct builder *b)
{
	static const char *const names[] = {".plt", ".plt.sec", ".plt.got"};
	struct cfi *cfi = &b->cfi;
	uint32_t nfdes = cfi->nfdes;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct cfi_fde fde = {.cie = NO_CIE};
		struct elf_section section;
		bool has_cfi = false;

		if (elf_file_section_header(b->file, elf_file_section_index(b->file, names[i]),
					    &section) ||
		    !section.size || section.type == SHT_NOBITS ||
		    !(section.flags & SHF_EXECINSTR) || section.addr + section.size < section.addr)
			continue;
		fde.start = section.addr;
		fde.end = section.addr + section.size;
		fde.insns = plt_head(b->file, &section);
		for (uint32_t j = 0; j < nfdes && !has_cfi; j++)
			has_cfi = cfi->fdes[j].start < fde.end && cfi->fdes[j].end > fde.start;
		if (has_cfi)
			continue;
		if (cfi_append(cfi, &fde))
			return -ENOMEM;
	}
	return 0;
}

/*
 * The rows of stubs without CFI. fde->insns: bytes from the start to where the first one has pushed
 * x16 and x30, if it does.
 */
static int builder_plt_rows(struct builder *b, const struct cfi_fde *fde)
{
	const struct cfa_state pushed = {
		.cfa = {.kind = EXPR_REG, .reg = ARCH_SP, .add = ARCH_PLT_CFA + ARCH_PLT_PUSH},
		.cfa_set = true,
		.ra = {.how = REG_AT_CFA, .off = -8},
	};
	const uint32_t stub = RULE_FRAME(ROW_SP, ARCH_PLT_CFA, 0);
	uint32_t rule;
	int err = spans_add(&b->spans, fde->start, stub);

	if (err || !fde->insns || b->end - fde->start < PLT_HEAD_BYTES)
		return err;
	err = rule_compile(&pushed, false, b->wide, &rule);
	if (!err)
		err = spans_add(&b->spans, fde->start + fde->insns, rule);
	return err ? err : spans_add(&b->spans, fde->start + PLT_HEAD_BYTES, stub);
}

/* The rule of a row in place of the CFI; 0: the CFI's. */
static int builder_instead(struct builder *b, const struct go_row *row, uint32_t *rule)
{
	struct cfa_state state = {
		.cfa = row->cfa,
		.fp = {.how = REG_SAME},
		.ra = {.how = REG_AT_CFA, .off = ARCH_RA_AT},
	};
	/* For GO_FRAME; on arm64, where it depends on SP, the frame pointer is SP - 8. */
	const int64_t record = go_fp_slot(row->cfa.add - 8);

	*rule = 0;
	if (row->rule == GO_CFI)
		return 0;
	if (row->rule == GO_WRONG) {
		*rule = RULE(ROW_UNSUPPORTED, ROW_CLASS_STACK_SWITCH);
		b->table->classes[ROW_CLASS_STACK_SWITCH]++;
		return 0;
	}
	if (row->rule == GO_LINKS)
		return rule_go_links(&row->links, b->wide, rule);
	if (row->rule == GO_CLONED)
		return rule_cloned(b->kept_reg, b->wide, rule);
	if (row->rule == GO_OUTERMOST)
		state.ra.how = REG_UNDEFINED;
	if (row->rule == GO_FRAME) {
		state.fp = (struct reg_rule){.how = REG_AT_CFA, .off = record};
		state.ra = (struct reg_rule){.how = REG_AT_CFA, .off = record + 8};
	}
	return rule_compile(&state, false, b->wide, rule);
}

/* Adds the rows in place of the CFI up to pc, which gets its own row if the CFI counts there. */
static int builder_rows_instead(struct builder *b, uint64_t pc)
{
	int err = 0;

	for (; !err && b->row < b->rows.count && b->rows.row[b->row].from <= pc; b->row++) {
		const struct go_row *row = &b->rows.row[b->row];
		uint64_t from = row->from > b->from ? row->from : b->from;

		err = builder_instead(b, row, &b->instead);
		if (!err && (b->instead || from < pc))
			err = spans_add(&b->spans, from, b->instead ? b->instead : b->cfi_rule);
	}
	return err;
}

/*
 * The row of a clone's system call, in front of the child's first function, which begins at pc and
 * has no caller.
 */
static int builder_gap(struct builder *b, uint64_t pc)
{
	uint32_t rule;
	int err;

	if (!clone_gap(b->file, b->gap, pc))
		return 0;
	err = rule_cloned(b->kept_reg, b->wide, &rule);
	if (err)
		return err;
	if (RULE_KIND(rule) == ROW_UNSUPPORTED)
		b->table->classes[RULE_PAYLOAD(rule)]++;
	return spans_add(&b->spans, b->gap, rule);
}

static int builder_row(void *arg, uint64_t pc, const struct cfa_state *state);

/* The row from where a Go function has saved the frame pointer, if that is in front of pc. */
static int builder_late(struct builder *b, uint64_t pc)
{
	uint64_t late = b->late;

	b->late = 0;
	return late && late < pc ? builder_row(b, late, &b->late_state) : 0;
}

/* Adds to the rules of a Go function where the frame pointer is saved. */
static void builder_saved(struct builder *b, uint64_t pc, struct cfa_state *state)
{
	const struct expr *cfa = &state->cfa;

	if (cfa->kind != EXPR_REG || cfa->reg != ARCH_SP || cfa->add < 16)
		return;
	if (!b->saved)
		b->saved = go_saved(&b->go_text, pc, cfa->add);
	if (!b->saved)
		return;
	b->late_state = *state;
	b->late_state.fp = (struct reg_rule){.how = REG_AT_CFA, .off = go_fp_slot(cfa->add)};
	if (b->saved > pc)
		b->late = b->saved;
	else
		*state = b->late_state;
}

static int builder_row(void *arg, uint64_t pc, const struct cfa_state *state)
{
	struct builder *b = arg;
	struct cfa_state with_fp;
	uint32_t rule;
	int err = work_add(b->work, 1);

	if (err)
		return err;
	/* Addresses from here on belong to the next FDE. */
	if (pc >= b->end)
		return 0;
	if (pc < b->from)
		pc = b->from;
	err = builder_late(b, pc);
	if (err)
		return err;
	if (b->go_cfi) {
		with_fp = *state;
		builder_saved(b, pc, &with_fp);
		state = &with_fp;
	}
	err = rule_compile(state, b->signal, b->wide, &rule);
	if (!err && pc == b->from && RULE_KIND(rule) == ROW_OUTERMOST)
		err = builder_gap(b, pc);
	b->gap = pc; /* once */
	if (!err)
		err = builder_rows_instead(b, pc);
	if (err)
		return err;
	b->cfi_rule = rule;
	if (b->instead)
		return 0;
	if (RULE_KIND(rule) == ROW_UNSUPPORTED)
		b->table->classes[RULE_PAYLOAD(rule)]++;
	if (RULE_KIND(rule) == ROW_WIDE && state->cfa.reg < DWARF_COUNT &&
	    ARCH_CALLEE_SAVED >> state->cfa.reg & 1)
		b->wanted[state->cfa.reg]++;
	return spans_add(&b->spans, pc, rule);
}

/* The rows of a FDE of CFI, or those that its code has instead. *end: as cfa_run's. */
static int builder_cfi(struct builder *b, const struct cfi_fde *fde, uint64_t *end)
{
	const struct cfi_cie *cie = &b->cfi.cies[fde->cie];
	const struct cfi_section *section = &b->sections[cie->section];
	const struct cfa_state *initial = &b->initial[fde->cie];
	struct luajit_rows luajit;
	int err;

	if (ghc_cie(&b->ghc, initial)) {
		ghc_rows_begin(&b->haskell, &b->ghc, fde, builder_row, b);
		err = cfa_run(section, cie, initial, fde, ghc_row, &b->haskell, end);
		return err ? err : ghc_rows_end(&b->haskell, *end);
	}
	err = luajit_rows_begin(&luajit, b->file, fde, builder_row, b);
	if (err < 0)
		return err;
	if (!err)
		return cfa_run(section, cie, initial, fde, builder_row, b, end);
	err = cfa_run(section, cie, initial, fde, luajit_row, &luajit, end);
	luajit_rows_free(&luajit);
	return err;
}

/* True if the CFI of the FDE begins with: the return address is undefined. */
static bool has_no_caller(const struct builder *b, const struct cfi_fde *fde)
{
	const uint8_t undefined[] = {0x07, ARCH_LINK};

	return fde->cie < b->cfi.ncies && fde->ninsns >= sizeof(undefined) &&
	       !memcmp(b->sections[b->cfi.cies[fde->cie].section].data + fde->insns, undefined,
		       sizeof(undefined));
}

/* Rows in place of CFI where a clone's child, whose FDE is the next, has another stack. */
static void builder_clone(struct builder *b, const struct cfi_fde *fde, const struct cfi_fde *next)
{
	uint64_t from, to;

	if (cfi_from(next) - fde->end >= ARCH_FUNCTION_ALIGN || !has_no_caller(b, next) ||
	    !clone_inside(b->file, fde->start, cfi_from(next), &from, &to))
		return;
	b->rows.row[0] = (struct go_row){.from = from, .rule = GO_CLONED};
	b->rows.row[1] = (struct go_row){.from = to, .rule = GO_CFI};
	b->rows.count = 2;
}

/* next: the FDE that begins next; NULL: there is none. */
static int builder_fde(struct builder *b, const struct cfi_fde *fde, const struct cfi_fde *next)
{
	const uint64_t limit = next ? cfi_from(next) : UINT64_MAX;
	size_t text = SEARCH(b->ntexts, i, b->texts[i].start <= cfi_from(fde));
	uint64_t text_end = text ? b->texts[text - 1].end : 0, end = 0;
	int err;

	if (cfi_from(fde) >= text_end || (fde->cie < b->cfi.ncies && b->cfi.cies[fde->cie].bad)) {
		b->table->bad_fdes++;
		return 0;
	}
	b->rows.count = b->row = b->instead = 0;
	b->saved = b->late = 0;
	b->go_cfi = fde->cie == GO_CIE ||
		    (b->go.found && fde->cie < b->cfi.ncies && go_cie(&b->cfi.cies[fde->cie]));
	b->from = cfi_from(fde);
	b->end = fde->end < text_end ? fde->end : text_end;
	if (b->end > limit)
		b->end = limit;
	if (fde->cie == NO_CIE) {
		end = b->end;
		err = builder_plt_rows(b, fde);
	} else if (fde->cie == SFRAME_CIE) {
		end = b->end;
		b->signal = sframe_signal(fde);
		err = sframe_run(&b->sframe, fde, builder_row, b);
	} else if (fde->cie == GHC_CIE) {
		end = b->end;
		b->signal = false;
		err = ghc_run(&b->ghc, fde, builder_row, b);
	} else {
		const struct go_function *go = go_function_at(&b->go, fde->start);

		if (go && go->kind == GO_TRAMPOLINE)
			return 0; /* the walk knows it by its code */
		if (go)		  /* what the CFI says of it is wrong */
			go_rows(b->file, &b->go, go, fde->end, &b->rows);
		else if (ARCH_HAS_LINK && next)
			builder_clone(b, fde, next);
		b->signal = fde->cie != GO_CIE && b->cfi.cies[fde->cie].signal;
		err = fde->cie == GO_CIE ? go_pcsp_run(&b->go_pcsp, fde, builder_row, b, &end)
					 : builder_cfi(b, fde, &end);
		if (err == -EINVAL) {
			b->table->bad_fdes++;
			err = 0;
		}
	}
	if (end > b->end)
		end = b->end;
	if (!err && end > b->from)
		err = builder_late(b, end);
	if (!err && end > b->from)
		err = builder_rows_instead(b, end);
	if (err)
		return err;
	if (end <= b->from)
		return 0;
	b->gap = end;
	return spans_add(&b->spans, end, RULE(ROW_END, 0));
}

/* Adds the derived rows in front of a pc. They are in the gaps between FDEs. */
static int builder_derived(struct builder *b, uint64_t pc)
{
	const struct derived *d = &b->derived;
	int err = 0;

	for (; !err && b->derived_next < d->nrows && d->rows[b->derived_next].pc < pc;
	     b->derived_next++)
		err = spans_add(&b->spans, d->rows[b->derived_next].pc,
				d->rows[b->derived_next].rule);
	return err;
}

static int builder_rows(struct builder *b)
{
	const struct cfi_fde *fdes = b->cfi.fdes;
	const uint64_t most = 2 * cfi_limit(b->file) / sizeof(uint32_t);
	uint64_t words = WORDS_MAX(b->table->cfi_bytes);
	uint32_t count = b->cfi.nfdes;
	int err = 0;

	b->gap = 0;
	b->derived_next = 0;
	if (words > most)
		words = most;
	words += b->derived.nrows + b->derived.text / GRANULE_SIZE;
	spans_init(&b->spans, b->table, words);
	for (uint32_t i = 0, next; i < count && !err; i = next) {
		err = work_add(b->work, 1);
		if (err)
			break;
		for (next = i + 1; next < count && cfi_from(&fdes[next]) == cfi_from(&fdes[i]);)
			next++;
		err = builder_derived(b, cfi_from(&fdes[i]));
		if (!err)
			err = builder_fde(b, &fdes[i], next < count ? &fdes[next] : NULL);
	}
	if (!err)
		err = builder_derived(b, UINT64_MAX);
	if (!err)
		err = spans_finish(&b->spans);
	spans_free(&b->spans);
	return err == -EFBIG ? -EINVAL : err;
}

static int builder_derive(struct builder *b)
{
	int err = derive_rows(b->file, &b->cfi, b->wide, &b->derived);

	work_allow(b->work, LIMIT_WORK(b->table->cfi_bytes + b->derived.text));
	return err;
}

/* Builds all rows again. reg: as wide rules that also restore this register; 0: none. */
static int builder_again(struct builder *b, uint32_t reg)
{
	struct unwind_table *t = b->table;
	struct unwind_table made_of = {
		.cfi_bytes = t->cfi_bytes,
		.nfdes = t->nfdes,
		.bad_fdes = b->cfi.bad_fdes,
	};
	int err;

	work_allow(b->work, LIMIT_WORK(t->cfi_bytes));
	free(t->spans);
	free(t->words);
	*t = made_of;
	b->kept_reg = reg;
	err = builder_initial(b);
	return err ? err : builder_rows(b);
}

/*
 * Where a file's own rules need a register over calls, all its rows restore it: ld.so, whose
 * resolver is in the middle of any stack, and programs of OCaml 5, which keep the stack pointer of
 * their fiber there while C runs on the stack of the thread. 0: none.
 */
static uint32_t builder_kept(const struct builder *b)
{
	uint32_t reg = 0;

	for (uint32_t i = 1; i < DWARF_COUNT; i++)
		if (b->wanted[i] > b->wanted[reg])
			reg = i;
	return b->wanted[reg] && b->table->nrows <= KEEP_ROWS_MAX ? reg : 0;
}

/* With what was found since; `reg` is kept unless that makes more wide rules than a file may have.
 */
static int builder_complete(struct builder *b, uint32_t reg)
{
	const uint32_t full = b->table->classes[ROW_CLASS_WIDE_FULL];
	int err = builder_again(b, reg);

	if (!err && reg && b->table->classes[ROW_CLASS_WIDE_FULL] > full)
		err = builder_again(b, 0);
	return err;
}

static int builder_run(struct builder *b, const struct unwind_soon *soon)
{
	const bool two = soon && b->ntexts && b->table->cfi_bytes >= SOON_BYTES;
	uint32_t kept;
	int err = 0;

	cfi_sort(&b->cfi);
	if (two) {
		err = builder_rows(b);
		if (!err)
			soon->take(soon->arg, b->table);
	}
	if (!err && b->ntexts)
		err = builder_derive(b);
	if (!err && !two)
		err = builder_rows(b);
	kept = err ? 0 : builder_kept(b);
	if (!err && (kept || (two && b->derived.nrows)))
		err = builder_complete(b, kept);
	return err;
}

int unwind_table_build(const struct elf_file *file, struct wide_rules *wide,
		       struct unwind_table **out)
{
	return unwind_table_build_soon(file, wide, NULL, out);
}

int unwind_table_build_soon(const struct elf_file *file, struct wide_rules *wide,
			    const struct unwind_soon *soon, struct unwind_table **out)
{
	struct builder b = {.file = file, .wide = wide, .work = elf_file_work(file)};
	void *trimmed;
	int err;

	*out = NULL;
	if (elf_file_machine(file) != ARCH_MACHINE)
		return -ENOTSUP;
	wide_rules_share(wide);
	b.table = calloc(1, sizeof(*b.table));
	if (!b.table)
		return -ENOMEM;
	err = builder_texts(&b);
	/* Without a segment nothing is ever mapped as text: relocatable files, debug files. */
	if (!err && b.ntexts)
		err = builder_find(&b);
	go_text_open(file, &b.go_text);
	b.table->nfdes = b.cfi.nfdes + b.cfi.bad_fdes;
	b.table->bad_fdes = b.cfi.bad_fdes;
	if (!err)
		err = builder_initial(&b);
	if (!err && b.ntexts)
		err = builder_plt(&b);
	if (!err)
		err = builder_run(&b, soon);
	cfi_free(&b.cfi);
	derived_free(&b.derived);
	free(b.initial);
	free(b.texts);
	if (err) {
		unwind_table_free(b.table);
		return err;
	}
	/* A realloc that cannot shrink is no error. */
	trimmed = b.table->nwords ? realloc(b.table->words, b.table->nwords * sizeof(uint32_t))
				  : NULL;
	if (trimmed)
		b.table->words = trimmed;
	*out = b.table;
	return 0;
}

void unwind_table_free(struct unwind_table *table)
{
	if (!table)
		return;
	free(table->spans);
	free(table->words);
	free(table);
}

const char *row_class_name(unsigned int row_class)
{
	static const char *const names[ROW_CLASS_COUNT] = {
		[ROW_CLASS_CFA_EXPRESSION] = "CFA expression",
		[ROW_CLASS_CFA_REGISTER] = "CFA register",
		[ROW_CLASS_RA_RULE] = "return address rule",
		[ROW_CLASS_FP_RULE] = "frame pointer rule",
		[ROW_CLASS_OFFSET] = "offset out of range",
		[ROW_CLASS_WIDE_FULL] = "too many wide rules",
		[ROW_CLASS_GRANULE_FULL] = "too many rows",
		[ROW_CLASS_STACK_SWITCH] = "change of stacks",
	};

	return row_class < ROW_CLASS_COUNT && names[row_class] ? names[row_class] : "unknown";
}
