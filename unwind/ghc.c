// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Haskell has a stack of its own, with the frame pointer's register as its pointer, and leaves the
 * C stack as StgRun has it: a frame of constant size. So whatever Haskell function a walk meets,
 * its caller on the C stack is that of StgRun, the scheduler. Which Haskell functions have called
 * it, only the CFI of `ghc -g` says (unwind/rule.c).
 *
 * Haskell code is text without CFI among symbols that GHC has named. A stripped program has no
 * such names, and nothing is said of its text.
 */
#include "unwind/ghc.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/limits.h"
#include "symbols/base/search.h"
#include "symbols/base/work.h"
#include "symbols/elf/elffile.h"
#include "unwind/arch.h"
#include "unwind/cfifile.h"

#define NAME_MAX_SIZE 4096u /* names of instances are long */
#define PREFIX	      "stg_"
#define CHUNK	      (64u << 10) /* bytes of strings that are searched at once */
#define OVERLAP	      8u /* bytes of a window that begin the next one: a call, and behind it */

/* Since GHC 7: a program that has them in a library has no StgReturn of its own. */
#define USUAL_CFA 16440
#define USUAL_FP  (-48)

struct ghc_symbol {
	uint64_t addr;
	uint64_t end; /* addr: not known */
	bool haskell;
};

struct ghc_symbols {
	struct ghc_symbol *of;
	size_t count, room;
	bool runtime; /* a symbol of GHC's runtime is among them, or is asked for */
	uint64_t stg_return;
};

static bool ends_with(const char *name, size_t size, const char *end)
{
	size_t n = strlen(end);

	return size >= n && !memcmp(name + size - n, end, n);
}

static int symbol_add(struct ghc_symbols *s, const struct ghc *ghc, const char *name, size_t size,
		      const Elf64_Sym *sym)
{
	const unsigned int type = ELF64_ST_TYPE(sym->st_info);
	const bool stg = size > 4 && !memcmp(name, PREFIX, 4);
	bool haskell;

	if (stg && ends_with(name, size, "_info"))
		s->runtime = true;
	if (sym->st_shndx == SHN_UNDEF || sym->st_value < ghc->addr ||
	    sym->st_value - ghc->addr >= ghc->size)
		return 0;
	if (size == 9 && !memcmp(name, "StgReturn", 9))
		s->stg_return = sym->st_value;
	haskell = stg || ends_with(name, size, "_info") || ends_with(name, size, "_slow") ||
		  ends_with(name, size, "_fast");
	/* Labels in a function are no functions. */
	if (!haskell && type != STT_FUNC)
		return 0;
	if (GROW(s->of, s->count, s->room, LIMIT_SYMBOLS))
		return -ENOMEM;
	s->of[s->count++] = (struct ghc_symbol){
		.addr = sym->st_value,
		.end = sym->st_value + (sym->st_size < ghc->size ? sym->st_size : 0),
		.haskell = haskell,
	};
	return 0;
}

/* Is there a name of the runtime in the strings? Hardly ever, so they are not kept. */
static bool has_runtime(const struct elf_file *file, const struct elf_section *strings)
{
	char chunk[CHUNK];

	for (uint64_t at = 0; at < strings->size; at += CHUNK - sizeof(PREFIX)) {
		const uint64_t left = strings->size - at;
		const size_t size = left < CHUNK ? left : CHUNK;

		if (elf_file_read(file, strings->offset + at, chunk, size))
			return false;
		if (memmem(chunk, size, PREFIX, sizeof(PREFIX) - 1))
			return true;
	}
	return false;
}

static int symbols_read(const struct elf_file *file, const struct ghc *ghc, struct ghc_symbols *s)
{
	uint32_t index = elf_file_section_index(file, ".symtab");
	struct elf_section symtab, strtab;
	uint64_t left = LIMIT_GO;
	Elf64_Sym sym;
	int err = 0;

	if (!index)
		index = elf_file_section_index(file, ".dynsym");
	if (elf_file_section_header(file, index, &symtab) ||
	    elf_file_section_header(file, symtab.link, &strtab) || strtab.size > LIMIT_GO ||
	    !has_runtime(file, &strtab))
		return 0;
	err = elf_file_section_at_within(file, index, &left, &symtab);
	if (!err)
		err = elf_file_section_at_within(file, symtab.link, &left, &strtab);
	if (err)
		return err == -ENOMEM || err == -ECANCELED ? err : 0;
	for (size_t at = 0; !err && symtab.size - at >= sizeof(sym); at += sizeof(sym)) {
		const char *name;
		size_t room, size;

		memcpy(&sym, symtab.data + at, sizeof(sym));
		if (sym.st_name >= strtab.size)
			continue;
		name = (const char *)strtab.data + sym.st_name;
		room = strtab.size - sym.st_name;
		room = room < NAME_MAX_SIZE ? room : NAME_MAX_SIZE;
		size = strnlen(name, room);
		if (size && size < room)
			err = symbol_add(s, ghc, name, size, &sym);
	}
	if (s->count)
		qsort(s->of, s->count, sizeof(*s->of), compare_u64);
	return err;
}

/* False: StgRun is there, but not as it is known. */
static bool find_frame(struct ghc *ghc, uint64_t stg_return)
{
	uint8_t code[GHC_RETURN_BYTES];

	ghc->cfa = USUAL_CFA;
	ghc->fp = USUAL_FP;
	if (!stg_return)
		return true;
	return ghc->size - (stg_return - ghc->addr) >= sizeof(code) &&
	       !elf_file_read(ghc->file, ghc->offset + (stg_return - ghc->addr), code,
			      sizeof(code)) &&
	       ghc_stg_return(code, &ghc->cfa, &ghc->fp);
}

static int haskell_append(struct ghc *ghc, uint64_t start, uint64_t end, struct cfi *cfi)
{
	const struct cfi_fde fde = {.start = start, .end = end, .cie = GHC_CIE};

	if (start >= end)
		return 0;
	ghc->bytes += end - start;
	return cfi_append(cfi, &fde);
}

/*
 * Appends what of [from, end), which has no CFI, is Haskell code: behind a symbol of GHC, and in
 * front of one unless another function is there. Functions of the start files have no size, and
 * little code.
 */
static int gap_append(struct ghc *ghc, const struct ghc_symbols *s, uint64_t from, uint64_t end,
		      struct cfi *cfi)
{
	size_t i = SEARCH(s->count, k, s->of[k].addr < from);
	bool haskell = i && s->of[i - 1].haskell;
	uint64_t start = from;
	int err = 0;

	for (; !err && i < s->count && s->of[i].addr < end; i++) {
		const struct ghc_symbol *at = &s->of[i];

		if (at->haskell) {
			if (!haskell && start > at->addr)
				start = at->addr;
			haskell = true;
			continue;
		}
		if (haskell)
			err = haskell_append(ghc, start, at->addr, cfi);
		haskell = false;
		start = (at->end + (at->end == at->addr) + ARCH_FUNCTION_ALIGN - 1) &
			-(uint64_t)ARCH_FUNCTION_ALIGN;
	}
	return !err && haskell ? haskell_append(ghc, start, end, cfi) : err;
}

static int gaps_append(struct ghc *ghc, const struct ghc_symbols *s, struct cfi *cfi)
{
	struct cfi text = {0}, taken = {0}, parts = {0};
	const struct cfi_fde all = {
		.start = ghc->addr, .end = ghc->addr + ghc->size, .cie = GHC_CIE};
	int err = cfi_append(&text, &all);

	for (uint32_t i = 0; i < cfi->nfdes && !err; i++)
		err = cfi_append(&taken, &cfi->fdes[i]);
	if (!err) {
		cfi_unique(&taken);
		err = cfi_gaps(&taken, &text, &parts);
	}
	for (uint32_t i = 0; i < parts.nfdes && !err; i++)
		err = gap_append(ghc, s, cfi_from(&parts.fdes[i]), parts.fdes[i].end, cfi);
	cfi_free(&text);
	cfi_free(&taken);
	cfi_free(&parts);
	return err;
}

int ghc_read(const struct elf_file *file, struct ghc *out, struct cfi *cfi)
{
	struct elf_section section;
	struct ghc_symbols s = {0};
	int err;

	memset(out, 0, sizeof(*out));
	out->file = file;
	if (elf_file_section_header(file, elf_file_section_index(file, ".text"), &section) < 0 ||
	    section.type != SHT_PROGBITS || section.addr + section.size < section.addr)
		return 0;
	out->addr = section.addr;
	out->size = section.size;
	out->offset = section.offset;
	err = symbols_read(file, out, &s);
	out->found = !err && s.runtime && find_frame(out, s.stg_return);
	if (out->found)
		err = gaps_append(out, &s, cfi);
	free(s.of);
	return err;
}

/* The next call; false: there is none. */
static bool scan_next(const struct ghc *ghc, struct ghc_scan *s, struct ghc_call *out)
{
	uint64_t next;

	for (;;) {
		if (ghc_next_call(s, s->window, s->filled, out))
			return true;
		next = s->addr + (s->at > OVERLAP ? s->at - OVERLAP : 0);
		if (s->filled && (s->addr + s->filled >= s->end || next == s->addr))
			return false;
		s->at -= (size_t)(next - s->addr);
		s->addr = next;
		s->filled = s->end - next < sizeof(s->window) ? (size_t)(s->end - next)
							      : sizeof(s->window);
		if (!s->filled || elf_file_read(ghc->file, ghc->offset + (next - ghc->addr),
						s->window, s->filled)) {
			s->filled = 0;
			s->end = next;
			return false;
		}
	}
}

static void scan_begin(const struct ghc *ghc, struct ghc_scan *s, uint64_t from, uint64_t end)
{
	const uint64_t text_end = ghc->addr + ghc->size;

	s->addr = from;
	s->at = s->filled = 0;
	s->sub = 0;
	s->end = end < text_end ? end : text_end;
	if (from < ghc->addr || from >= s->end)
		s->end = from;
}

int ghc_run(const struct ghc *ghc, const struct cfi_fde *fde, cfa_row_fn *row, void *arg)
{
	struct cfa_state state = {
		.cfa = {.kind = EXPR_REG, .reg = ARCH_SP, .add = ghc->cfa},
		.fp = {.how = REG_AT_CFA, .off = ghc->fp},
		.ra = {.how = REG_AT_CFA, .off = ARCH_RA_AT},
	};
	struct ghc_scan scan;
	struct ghc_call call;
	int err = row(arg, fde->start, &state);

	scan_begin(ghc, &scan, fde->start, fde->end);
	while (!err && scan_next(ghc, &scan, &call)) {
		state.cfa.add = ghc->cfa + call.moved;
		err = row(arg, call.from, &state);
		state.cfa.add = ghc->cfa;
		if (!err)
			err = row(arg, call.to, &state);
	}
	return err;
}

bool ghc_cie(const struct ghc *ghc, const struct cfa_state *initial)
{
	return ghc->found && initial->sp.how == REG_SAME && initial->cfa.kind == EXPR_REG &&
	       initial->cfa.reg == ARCH_FP && initial->fp.how == REG_CFA_PLUS && !initial->fp.off;
}

void ghc_rows_begin(struct ghc_rows *rows, const struct ghc *ghc, const struct cfi_fde *fde,
		    cfa_row_fn *row, void *arg)
{
	rows->ghc = ghc;
	rows->row = row;
	rows->arg = arg;
	rows->begun = false;
	scan_begin(ghc, &rows->scan, cfi_from(fde), fde->end);
	rows->has_call =
		rows->scan.end > rows->scan.addr && scan_next(ghc, &rows->scan, &rows->call);
}

/* The row at pc; moved: bytes that the stack pointer is lower than it was. */
static int row_at(struct ghc_rows *rows, uint64_t pc, uint32_t moved)
{
	struct cfa_state state = rows->state;

	if (moved && state.sp.how == REG_SAME)
		state.sp = (struct reg_rule){.how = REG_IN_REG, .reg = ARCH_SP, .off = moved};
	return rows->row(rows->arg, pc, &state);
}

/* The rows of the changes up to pc. */
static int changes(struct ghc_rows *rows, uint64_t pc)
{
	int err = 0;

	while (rows->begun && rows->has_call && rows->call.from < pc && !err) {
		if (rows->call.moved)
			err = row_at(rows, rows->call.from, rows->call.moved);
		if (rows->call.to > pc) {
			rows->call.from = pc; /* continues behind the row */
			break;
		}
		if (!err)
			err = row_at(rows, rows->call.to, 0);
		rows->has_call = scan_next(rows->ghc, &rows->scan, &rows->call);
	}
	return err;
}

int ghc_row(void *arg, uint64_t pc, const struct cfa_state *state)
{
	struct ghc_rows *rows = arg;
	const bool inside =
		rows->has_call && rows->begun && rows->call.from < pc && pc < rows->call.to;
	int err = changes(rows, pc);

	if (err)
		return err;
	rows->state = *state;
	rows->begun = true;
	return row_at(rows, pc, inside ? rows->call.moved : 0);
}

int ghc_rows_end(struct ghc_rows *rows, uint64_t end)
{
	return changes(rows, end);
}
