// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A .sframe section is a table of functions with a list of complete rows for each. The three
 * versions of the format differ in the description of a function and in what a row may have; from
 * struct sframe_func on they are the same. A row becomes the state that a CFA program would have
 * led to, so that unwind/rule.c compiles both.
 *
 * A function is read twice: once to check all of it before it is used beside those of .eh_frame,
 * and once for its rows. The format lets functions share rows, so the rows to be read are limited.
 */
#include "unwind/sframe.h"

#include <string.h>

#include "symbols/elf/elffile.h"
#include "symbols/base/work.h"
#include "unwind/arch.h"
#include "unwind/cfifile.h"
#include "unwind/cursor.h"

#define MAGIC		 0xdee2u
#define MAGIC_SWAPPED	 0xe2deu
#define HEADER_SIZE	 28
#define SECTION_TYPE	 0x6ffffff4u /* SHT_GNU_SFRAME */
#define SECTION_NOBITS	 8	     /* SHT_NOBITS */
#define FLAG_START_PCREL 4	     /* of the header, since the errata of version 2 */
#define V1_BLOCK_SIZE	 16	     /* of a PC mask: version 1 knows stubs of .plt only */

/* Rows that a section may cost to check and, again, to use. Honest ones have one in three bytes. */
#define ROWS_MAX(bytes) (1024 + (uint64_t)(bytes)*4)

struct sframe_func {
	uint64_t start;
	uint32_t size;
	uint32_t nrows;
	uint8_t addr_bytes; /* of a row's start */
	bool repeated;	    /* rows tell of each block, not of the whole function */
	bool flexible;
	bool signal;
	uint32_t block;
	struct cfi_cursor rows; /* at the first row */
};

struct row {
	uint32_t start; /* from the function's or the block's */
	struct cfa_state state;
};

static size_t fde_size(unsigned int version)
{
	static const uint8_t sizes[] = {0, 17, 20, 16};

	return sizes[version];
}

int sframe_open(const void *data, size_t size, uint64_t addr, struct sframe *out)
{
	struct cfi_cursor c = cursor_new(data, size);
	struct sframe s = {.data = data, .size = size, .addr = addr};
	uint64_t magic = cursor_fixed(&c, 2), base, fres_size;
	uint8_t flags, abi;

	memset(out, 0, sizeof(*out));
	if (c.failed || (magic != MAGIC && magic != MAGIC_SWAPPED))
		return -EINVAL;
	s.version = cursor_u8(&c);
	flags = cursor_u8(&c);
	abi = cursor_u8(&c);
	if (magic == MAGIC_SWAPPED || s.version < 1 || s.version > 3 || abi != ARCH_SFRAME_ABI)
		return c.failed ? -EINVAL : -ENOTSUP;
	s.start_at_field = s.version > 1 && flags & FLAG_START_PCREL;
	s.fixed_fp = (int8_t)cursor_u8(&c);
	s.fixed_ra = (int8_t)cursor_u8(&c);
	base = HEADER_SIZE + cursor_u8(&c);
	s.nfdes = (uint32_t)cursor_fixed(&c, 4);
	cursor_fixed(&c, 4); /* rows in all */
	fres_size = cursor_fixed(&c, 4);
	s.fdes = base + cursor_fixed(&c, 4);
	s.fres = base + cursor_fixed(&c, 4);
	s.fres_end = s.fres + fres_size;
	if (c.failed || s.fdes > size || s.fres_end > size ||
	    (size - s.fdes) / fde_size(s.version) < s.nfdes)
		return -EINVAL;
	*out = s;
	return 0;
}

/* False: malformed. Its rows are not checked. */
static bool func_read(const struct sframe *s, uint32_t number, struct sframe_func *f)
{
	size_t at = s->fdes + number * fde_size(s->version), rows;
	struct cfi_cursor c = cursor_new(s->data + at, fde_size(s->version));
	uint8_t info, info2 = 0;

	*f = (struct sframe_func){0};
	f->start = s->addr + (s->start_at_field ? at : 0);
	f->start += (uint64_t)cursor_signed(&c, s->version < 3 ? 4 : 8);
	f->size = (uint32_t)cursor_fixed(&c, 4);
	rows = cursor_fixed(&c, 4);
	if (rows > s->fres_end - s->fres)
		return false;
	f->rows = cursor_new(s->data + s->fres + rows, s->fres_end - s->fres - rows);
	if (s->version == 3)
		c = f->rows;
	f->nrows = (uint32_t)cursor_fixed(&c, s->version < 3 ? 4 : 2);
	info = cursor_u8(&c);
	if (s->version == 3) {
		info2 = cursor_u8(&c) & 0x1f;
		f->signal = info & 0x80;
		f->flexible = info2 == 1;
	}
	f->block = s->version == 1 ? V1_BLOCK_SIZE : cursor_u8(&c);
	if (s->version == 3)
		f->rows = c;
	f->addr_bytes = (uint8_t)(1 << (info & 3));
	f->repeated = info & 0x10;
	return !c.failed && (info & 0xf) <= 2 && info2 <= 1 && (!f->repeated || f->block) &&
	       f->start + f->size >= f->start;
}

/* The data words of a row that are still to be read. */
struct row_words {
	struct cfi_cursor c;
	unsigned int left;
	unsigned int bytes; /* of each */
};

static int64_t word_next(struct row_words *w)
{
	w->left--;
	return cursor_signed(&w->c, w->bytes);
}

/*
 * The pair of words that says where a value is: how, and an offset. A zero stands alone and says
 * nothing, as does a pair that is missing. False: malformed.
 */
static bool flexible_rule(struct row_words *w, struct reg_rule *rule)
{
	uint64_t control;

	if (!w->left)
		return true;
	w->left--;
	control = cursor_fixed(&w->c, w->bytes);
	if (!control)
		return true;
	if (!w->left || !(control & 3))
		return false;
	*rule = (struct reg_rule){.how = REG_AT_CFA, .off = word_next(w)};
	if (control & 1) {
		rule->how = control & 2 ? REG_AT_REG : REG_IN_REG;
		rule->reg = (uint32_t)(control >> 3);
	}
	return true;
}

static bool flexible_state(struct row_words *w, struct cfa_state *state)
{
	struct reg_rule cfa = {0};

	if (!flexible_rule(w, &cfa) || !flexible_rule(w, &state->ra) ||
	    !flexible_rule(w, &state->fp))
		return false;
	if (cfa.how == REG_IN_REG)
		state->cfa = (struct expr){.kind = EXPR_REG, .reg = cfa.reg, .add = cfa.off};
	else if (cfa.how == REG_AT_REG)
		state->cfa = (struct expr){.kind = EXPR_DEREF, .reg = cfa.reg, .off = cfa.off};
	return state->cfa.kind != EXPR_OTHER;
}

/* False when the row is malformed. */
static bool row_read(const struct sframe *s, const struct sframe_func *f, struct cfi_cursor *c,
		     struct row *row)
{
	struct cfa_state *state = &row->state;
	struct row_words w;
	uint8_t info;

	row->start = (uint32_t)cursor_fixed(c, f->addr_bytes);
	info = cursor_u8(c);
	w.left = info >> 1 & 0xf;
	w.bytes = 1u << (info >> 5 & 3);
	w.c = *c;
	if (c->failed || w.bytes > 4 || !cursor_bytes(c, w.left * w.bytes))
		return false;
	*state = (struct cfa_state){.cfa_set = true};
	if (!w.left) { /* no caller; version 1 does not know that */
		state->ra.how = REG_UNDEFINED;
		return s->version > 1;
	}
	if (f->flexible) {
		if (!flexible_state(&w, state))
			return false;
	} else {
		state->cfa = (struct expr){.kind = EXPR_REG,
					   .reg = info & 1 ? ARCH_SP : ARCH_FP,
					   .add = word_next(&w)};
		if (!s->fixed_ra && w.left)
			state->ra = (struct reg_rule){.how = REG_AT_CFA, .off = word_next(&w)};
		if (!s->fixed_fp && w.left)
			state->fp = (struct reg_rule){.how = REG_AT_CFA, .off = word_next(&w)};
	}
	if (state->ra.how == REG_UNSET && s->fixed_ra)
		state->ra = (struct reg_rule){.how = REG_AT_CFA, .off = s->fixed_ra};
	if (state->fp.how == REG_UNSET && s->fixed_fp)
		state->fp = (struct reg_rule){.how = REG_AT_CFA, .off = s->fixed_fp};
	return !w.left && (ARCH_HAS_LINK || state->ra.how != REG_UNSET);
}

static bool is_plt_row(const struct row *row, int64_t cfa)
{
	const struct cfa_state *state = &row->state;

	return state->cfa.kind == EXPR_REG && state->cfa.reg == ARCH_SP && state->cfa.add == cfa &&
	       state->fp.how == REG_UNSET && state->ra.how == REG_AT_CFA &&
	       state->ra.off == ARCH_RA_AT;
}

/*
 * True when one state has the meaning of the rows of the repeated blocks: all are the same, or they
 * are those of PLT stubs.
 */
static bool blocks_state(const struct sframe *s, const struct sframe_func *f,
			 struct cfa_state *state)
{
	struct cfi_cursor c = f->rows;
	struct row first, second;

	if (!f->nrows || f->nrows > 2 || !row_read(s, f, &c, &first) || first.start)
		return false;
	*state = first.state;
	if (f->nrows == 1)
		return true;
	if (ARCH_HAS_LINK || !row_read(s, f, &c, &second) || !is_plt_row(&first, ARCH_PLT_CFA) ||
	    !is_plt_row(&second, ARCH_PLT_CFA + ARCH_PLT_PUSH) || f->block != ARCH_PLT_BYTES ||
	    f->start & (ARCH_PLT_BYTES - 1))
		return false;
	state->cfa = (struct expr){.kind = EXPR_PLT,
				   .reg = ARCH_SP,
				   .threshold = second.start,
				   .off = ARCH_PLT_CFA,
				   .add = 8};
	return true;
}

static bool charge(uint64_t *budget, uint64_t rows)
{
	if (rows > *budget)
		return false;
	*budget -= rows;
	return true;
}

/* Reads all rows of a function. *budget: rows that may still be read or made in the section. */
static bool func_is_sound(const struct sframe *s, const struct sframe_func *f, uint64_t *budget)
{
	struct cfi_cursor c = f->rows;
	struct cfa_state state;
	uint32_t last = 0;
	struct row row;

	if (!charge(budget, f->nrows))
		return false;
	for (uint32_t i = 0; i < f->nrows; i++) {
		if (!row_read(s, f, &c, &row) || row.start < last ||
		    (f->repeated && row.start >= f->block))
			return false;
		last = row.start;
	}
	return !f->repeated || blocks_state(s, f, &state) ||
	       charge(budget, ((uint64_t)f->size / f->block + 1) * f->nrows);
}

/* insns is the function's number, ninsns whether it is a signal frame. */
static int funcs_read(const struct sframe *s, struct cfi *cfi, struct cfi *out)
{
	uint64_t budget = ROWS_MAX(s->size);
	int err = 0;

	for (uint32_t i = 0; i < s->nfdes && !err; i++) {
		struct sframe_func f;

		err = work_add(s->work, 1);
		if (err)
			return err;
		if (!func_read(s, i, &f) || !func_is_sound(s, &f, &budget))
			cfi->bad_fdes++;
		else if (!f.size || !f.start || !f.nrows)
			cfi->empty_fdes++;
		else
			err = cfi_append(out, &(struct cfi_fde){.start = f.start,
								.end = f.start + f.size,
								.insns = i,
								.ninsns = f.signal,
								.cie = SFRAME_CIE,
								.order = i});
	}
	return err;
}

/* A part of a function that is not covered, with a start of its own. */
static int part_append(const struct sframe *s, struct cfi *cfi, struct cfi_fde part,
		       uint64_t *budget)
{
	struct sframe_func f;

	func_read(s, part.insns, &f);
	/* Each part reads the function's rows again. */
	if (!charge(budget, f.nrows)) {
		cfi->bad_fdes++;
		return 0;
	}
	part.start += part.skip;
	part.skip = 0;
	return cfi_append(cfi, &part);
}

int sframe_add(const struct sframe *s, struct cfi *cfi)
{
	struct cfi ours = {0}, taken = {0}, parts = {0};
	uint64_t budget = ROWS_MAX(s->size);
	int err = funcs_read(s, cfi, &ours);

	for (uint32_t i = 0; i < cfi->nfdes && !err; i++)
		err = cfi_append(&taken, &cfi->fdes[i]);
	if (!err) {
		cfi_unique(&ours);
		cfi_unique(&taken);
		err = cfi_gaps(&taken, &ours, &parts);
	}
	for (uint32_t i = 0; i < parts.nfdes && !err; i++)
		err = part_append(s, cfi, parts.fdes[i], &budget);
	cfi_free(&ours);
	cfi_free(&taken);
	cfi_free(&parts);
	return err;
}

/* left: bytes that may be read. */
static int find_section(const struct elf_file *file, uint64_t left, struct elf_section *out)
{
	int err = elf_file_section_within(file, ".sframe", &left, out);
	size_t count = elf_file_section_count(file);

	for (uint32_t i = 0; err == -ENOENT && i < count; i++)
		if (!elf_file_section_header(file, i, out) && out->type == SECTION_TYPE)
			return elf_file_section_at_within(file, i, &left, out);
	return err;
}

/*
 * GNU ld describes the stubs of .plt.sec (from 2.40 on) as if they were the head of .plt, and those
 * of .plt.got (in 2.44) as if they had pushed something. These stubs are one jump and need no
 * description; the table knows them by their section.
 */
static void drop_stubs(const struct elf_file *file, const char *name, struct cfi *cfi,
		       uint32_t from)
{
	struct elf_section plt;
	uint32_t kept = from;

	if (elf_file_section_header(file, elf_file_section_index(file, name), &plt) < 0 ||
	    plt.type == SECTION_NOBITS)
		return;
	for (uint32_t i = from; i < cfi->nfdes; i++)
		if (cfi->fdes[i].start - plt.addr >= plt.size)
			cfi->fdes[kept++] = cfi->fdes[i];
	cfi->nfdes = kept;
}

int sframe_read(const struct elf_file *file, struct sframe *out, struct cfi *cfi)
{
	uint32_t nfdes = cfi->nfdes;
	struct elf_section section;
	int err = find_section(file, cfi_limit(file) - cfi->bytes, &section);

	memset(out, 0, sizeof(*out));
	if (err == -ENOENT)
		return 0;
	if (!err)
		err = sframe_open(section.data, section.size, section.addr, out);
	out->work = elf_file_work(file);
	if (!err)
		err = sframe_add(out, cfi);
	if (!err) {
		drop_stubs(file, ".plt.sec", cfi, nfdes);
		drop_stubs(file, ".plt.got", cfi, nfdes);
	}
	if (cfi->nfdes == nfdes)
		memset(out, 0, sizeof(*out));
	if (err && err != -ENOMEM && err != -ECANCELED && nfdes) {
		cfi->bad_fdes++;
		err = 0;
	}
	return err;
}

bool sframe_signal(const struct cfi_fde *fde)
{
	return fde->ninsns;
}

/* The rows from base, the start of the function or of a block, to limit. */
static int rows_run(const struct sframe *s, const struct sframe_func *f, uint64_t base,
		    uint64_t limit, uint64_t from, cfa_row_fn *call, void *arg)
{
	struct cfi_cursor c = f->rows;
	struct row row, next = {0};
	int err = 0;

	if (!f->nrows || !row_read(s, f, &c, &next))
		return 0;
	for (uint32_t left = f->nrows; left && !err; left--) {
		uint64_t start, end = limit;

		row = next;
		if (left > 1 && row_read(s, f, &c, &next) && base + next.start < limit)
			end = base + next.start;
		start = base + row.start < from ? from : base + row.start;
		if (start < end)
			err = call(arg, start, &row.state);
	}
	return err;
}

int sframe_run(const struct sframe *s, const struct cfi_fde *fde, cfa_row_fn *row, void *arg)
{
	struct cfa_state state;
	struct sframe_func f;
	uint64_t base;
	int err = 0;

	err = work_add(s->work, 1);
	if (err || !func_read(s, fde->insns, &f))
		return err;
	if (!f.repeated)
		return rows_run(s, &f, f.start, fde->end, fde->start, row, arg);
	if (blocks_state(s, &f, &state))
		return row(arg, fde->start, &state);
	base = fde->start - (fde->start - f.start) % f.block;
	for (uint64_t limit = 0; limit != fde->end && !err; base += f.block) {
		limit = fde->end - base < f.block ? fde->end : base + f.block;
		err = rows_run(s, &f, base, limit, fde->start, row, arg);
	}
	return err;
}
