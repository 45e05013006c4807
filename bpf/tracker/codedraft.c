// SPDX-License-Identifier: GPL-2.0-or-later
/* See codedraft.h. */
#include "bpf/tracker/codedraft.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/tracker/codefile.h"
#include "symbols/base/grow.h"
#include "symbols/base/limits.h"
#include "symbols/base/work.h"
#include "symbols/elf/elffile.h"
#include "unwind/cfa.h"
#include "unwind/cfifile.h"
#include "unwind/rule.h"
#include "unwind/wide.h"

#define NAME_MAX_BYTES 1023u

int codedraft_init(struct code_draft *d)
{
	*d = (struct code_draft){.wide = wide_rules_new()};
	return d->wide ? 0 : -ENOMEM;
}

void codedraft_free(struct code_draft *d)
{
	free(d->rows);
	free(d->runs);
	free(d->names);
	free(d->text);
	wide_rules_free(d->wide);
}

/* --- rows and names -------------------------------------------------------------------------- */

int codedraft_row(struct code_draft *d, uint64_t pc, uint32_t rule)
{
	struct code_run *run = d->nruns ? &d->runs[d->nruns - 1] : NULL;

	if (pc >= CODE_ADDR_MAX)
		return 0;
	if (!run || run->end) {
		if (d->nruns >= CODE_ROWS_MAX)
			return -E2BIG;
		if (GROW(d->runs, d->nruns, d->runs_room, CODE_ROWS_MAX))
			return -ENOMEM;
		run = &d->runs[d->nruns++];
		*run = (struct code_run){.start = pc, .first = d->nrows};
	}
	if (run->nrows && d->rows[d->nrows - 1].pc == pc) {
		d->rows[d->nrows - 1].rule = rule;
		return 0;
	}
	if (run->nrows && (d->rows[d->nrows - 1].pc > pc || d->rows[d->nrows - 1].rule == rule))
		return 0;
	if (d->nrows >= CODE_ROWS_MAX)
		return -E2BIG;
	if (GROW(d->rows, d->nrows, d->rows_room, CODE_ROWS_MAX))
		return -ENOMEM;
	d->rows[d->nrows++] = (struct code_row){.pc = pc, .rule = rule};
	run->nrows++;
	return 0;
}

int codedraft_end(struct code_draft *d, uint64_t end)
{
	struct code_run *run = d->nruns ? &d->runs[d->nruns - 1] : NULL;

	if (!run || run->end)
		return 0;
	run->end = end < CODE_ADDR_MAX ? end : CODE_ADDR_MAX;
	if (run->end <= run->start) {
		d->nrows = run->first;
		d->nruns--;
	}
	return 0;
}

int codedraft_name(struct code_draft *d, uint64_t start, uint64_t size, const char *name,
		   size_t length)
{
	if (length > NAME_MAX_BYTES)
		length = NAME_MAX_BYTES;
	if (!length || !size || size > UINT32_MAX || start >= CODE_ADDR_MAX)
		return 0;
	if (d->nnames >= CODE_NAMES_MAX || d->ntext + length + 1 > CODE_TEXT_MAX)
		return -E2BIG;
	if (GROW(d->names, d->nnames, d->names_room, CODE_NAMES_MAX) ||
	    GROW_TO(d->text, d->ntext + length + 1, d->text_room, CODE_TEXT_MAX))
		return -ENOMEM;
	d->names[d->nnames++] = (struct code_name){start, (uint32_t)size, d->ntext};
	memcpy(d->text + d->ntext, name, length);
	d->ntext += (uint32_t)length;
	d->text[d->ntext++] = '\0';
	return 0;
}

/* --- an ELF image ---------------------------------------------------------------------------- */

struct elf_draft {
	struct code_draft *d;
	const struct elf_file *file;
	const struct cfi_cie *cie;
	uint64_t from, end; /* of the FDE at hand */
};

/* The end of the section with code at the address; 0: there is none. */
static uint64_t text_end(const struct elf_file *file, uint64_t addr)
{
	struct elf_section section;

	for (uint32_t i = 1; i < elf_file_section_count(file); i++)
		if (!elf_file_section_header(file, i, &section) && section.flags & SHF_EXECINSTR &&
		    section.addr && section.addr <= addr && addr - section.addr < section.size &&
		    section.addr + section.size > addr)
			return section.addr + section.size;
	return 0;
}

static int add_state(void *arg, uint64_t pc, const struct cfa_state *state)
{
	struct elf_draft *e = arg;
	uint32_t rule;
	int err;

	if (pc >= e->end)
		return 0;
	err = rule_compile(state, e->cie->signal, e->d->wide, &rule);
	return err ? err : codedraft_row(e->d, pc < e->from ? e->from : pc, rule);
}

static int add_fde(struct elf_draft *e, const struct cfi_section *section,
		   const struct cfa_state *initial, const struct cfi_fde *fde, uint64_t limit)
{
	const uint64_t text = text_end(e->file, cfi_from(fde));
	uint64_t end;
	int err;

	if (!text)
		return 0;
	e->from = cfi_from(fde);
	e->end = fde->end < text ? fde->end : text;
	if (e->end > limit)
		e->end = limit;
	err = cfa_run(section, e->cie, initial, fde, add_state, e, &end);
	if (end > e->end)
		end = e->end;
	codedraft_end(e->d, end > e->from ? end : e->from);
	return err == -EINVAL ? 0 : err;
}

static int add_cfi(struct code_draft *d, const struct elf_file *file)
{
	struct elf_draft e = {.d = d, .file = file};
	struct cfi_section sections[CFI_SECTIONS];
	struct cfa_state *initial = NULL;
	struct cfi cfi;
	int err;

	work_allow(elf_file_work(file), LIMIT_WORK(LIMIT_MIB(1)));
	err = cfi_file_read(file, sections, &cfi);
	if (!err) {
		initial = calloc(cfi.ncies ? cfi.ncies : 1, sizeof(*initial));
		err = initial ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; i < cfi.ncies && !err; i++) {
		struct cfi_cie *cie = &cfi.cies[i];

		if (!cie->bad)
			err = cfa_initial(&sections[cie->section], cie, 0, &initial[i]);
		cie->bad |= err == -EINVAL;
		err = err == -EINVAL ? 0 : err;
	}
	if (!err)
		cfi_sort(&cfi);
	for (uint32_t i = 0; i < cfi.nfdes && !err; i++) {
		const struct cfi_fde *fde = &cfi.fdes[i];

		e.cie = &cfi.cies[fde->cie];
		if (!e.cie->bad && (!i || cfi_from(fde - 1) != cfi_from(fde)))
			err = add_fde(&e, &sections[e.cie->section], &initial[fde->cie], fde,
				      i + 1 < cfi.nfdes && cfi_from(fde + 1) > cfi_from(fde)
					      ? cfi_from(fde + 1)
					      : UINT64_MAX);
	}
	free(initial);
	cfi_free(&cfi);
	return err == -ENOMEM ? err : 0;
}

/* In a relocatable image a symbol's value counts from its section. */
static uint64_t symbol_addr(const struct elf_file *file, const Elf64_Sym *sym)
{
	struct elf_section section;

	if (elf_file_type(file) != ET_REL || sym->st_shndx >= SHN_LORESERVE)
		return sym->st_value;
	return elf_file_section_header(file, sym->st_shndx, &section)
		       ? 0
		       : section.addr + sym->st_value;
}

static int add_symbol(struct code_draft *d, const struct elf_file *file, const Elf64_Sym *sym,
		      const struct elf_section *strings)
{
	const char *name = (const char *)strings->data + sym->st_name;
	const uint64_t addr = symbol_addr(file, sym);
	uint64_t end, size = sym->st_size;

	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF ||
	    sym->st_name >= strings->size)
		return 0;
	end = text_end(file, addr);
	if (!end)
		return 0;
	if (!size || size > end - addr)
		size = end - addr;
	return codedraft_name(d, addr, size, name, strnlen(name, strings->size - sym->st_name));
}

static int add_symbols(struct code_draft *d, const struct elf_file *file)
{
	struct elf_section symbols, strings;
	uint64_t left = CODE_TEXT_MAX;
	Elf64_Sym sym;
	int err = 0;

	if (elf_file_section_within(file, ".symtab", &left, &symbols) ||
	    elf_file_section_at_within(file, symbols.link, &left, &strings))
		return 0;
	for (size_t at = 0; symbols.size - at >= sizeof(sym) && !err; at += sizeof(sym)) {
		memcpy(&sym, symbols.data + at, sizeof(sym));
		err = add_symbol(d, file, &sym, &strings);
	}
	return err;
}

int codedraft_elf(struct code_draft *d, const struct elf_file *file)
{
	int err = add_cfi(d, file);

	return err ? err : add_symbols(d, file);
}

/* --- the file -------------------------------------------------------------------------------- */

static int by_start(const void *x, const void *y)
{
	const struct code_run *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/* Cuts each run where the next begins, and writes all rows in the order of their addresses. */
void codedraft_sort(struct code_draft *d)
{
	codedraft_end(d, 0); /* one that was left open */
	if (d->nruns)
		qsort(d->runs, d->nruns, sizeof(*d->runs), by_start);
	for (uint32_t i = 0; i + 1 < d->nruns; i++)
		if (d->runs[i].end > d->runs[i + 1].start)
			d->runs[i].end = d->runs[i + 1].start;
}

struct row_writer {
	int fd;
	uint32_t nrows, n; /* written and buffered; buffered */
	struct code_row buffer[512];
};

static int write_all(int fd, const void *from, size_t size)
{
	const char *at = from;
	ssize_t n;

	for (; size; at += n, size -= (size_t)n) {
		n = TEMP_FAILURE_RETRY(write(fd, at, size));
		if (n <= 0)
			return n ? -errno : -EIO;
	}
	return 0;
}

static int put_row(struct row_writer *w, uint64_t pc, uint32_t rule)
{
	int err = 0;

	if (w->n == sizeof(w->buffer) / sizeof(w->buffer[0])) {
		err = write_all(w->fd, w->buffer, sizeof(w->buffer));
		w->n = 0;
	}
	w->buffer[w->n++] = (struct code_row){.pc = pc, .rule = rule};
	w->nrows++;
	return err;
}

static int write_rows(const struct code_draft *d, struct row_writer *w)
{
	int err = 0;

	for (uint32_t i = 0; i < d->nruns && !err; i++) {
		const struct code_run *run = &d->runs[i];
		const struct code_row *row = &d->rows[run->first];

		for (uint32_t j = 0; j < run->nrows && row[j].pc < run->end && !err; j++)
			err = put_row(w, row[j].pc, row[j].rule);
		if (!err && run->end > run->start &&
		    (i + 1 == d->nruns || d->runs[i + 1].start > run->end))
			err = put_row(w, run->end, RULE(ROW_END, 0));
	}
	return err ? err : write_all(w->fd, w->buffer, w->n * sizeof(w->buffer[0]));
}

int codedraft_write(const struct code_draft *d, int fd)
{
	struct codefile_head head = {
		.magic = CODEFILE_MAGIC, .nnames = d->nnames, .ntext = d->ntext};
	const struct wide_rule *rules;
	struct row_writer w = {.fd = fd};
	int err;

	rules = wide_rules_all(d->wide, &head.nwide);
	err = write_all(fd, &head, sizeof(head));
	if (!err)
		err = write_rows(d, &w);
	head.nrows = w.nrows;
	if (!err)
		err = write_all(fd, rules, head.nwide * sizeof(*rules));
	if (!err)
		err = write_all(fd, d->names, d->nnames * sizeof(*d->names));
	if (!err)
		err = write_all(fd, d->text, d->ntext);
	if (!err && pwrite(fd, &head, sizeof(head), 0) != sizeof(head))
		err = -EIO;
	return err;
}
