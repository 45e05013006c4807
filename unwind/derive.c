// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the code that no FDE covers, and where functions begin in it, and makes rows of the states
 * that unwind/flow.c proves. The text of a file is cut into pieces, so that memory is bounded by a
 * piece. Gaps that are shorter than the alignment of functions are not looked at: programs with CFI
 * have one behind each function.
 */
#include "unwind/derive.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/limits.h"
#include "symbols/base/search.h"
#include "symbols/base/work.h"
#include "symbols/elf/arch.h"
#include "symbols/elf/elffile.h"
#include "symbols/insn/disasm.h"
#include "unwind/arch.h"
#include "unwind/cfa.h"
#include "unwind/effect.h"
#include "unwind/flow.h"
#include "unwind/row.h"
#include "unwind/rule.h"
#include "unwind/wide.h"

#define PIECE	     (2u << 20) /* bytes of text that are read at once */
#define SECTIONS_MAX 4096u
#define ENTRY_CODE   64u /* bytes of the program's first instructions */
/* Start files of a C library have less than that; they need no symbols, which may be many. */
#define SYMBOLS_FROM 256u
#define WORK_BYTE    64u	 /* units of work that a byte may cost */
#define CHUNK	     (64u << 10) /* bytes of data that are searched at once */

struct code_section {
	uint64_t start, end;
	uint64_t offset;
};

struct deriver {
	const struct elf_file *file;
	struct wide_rules *wide;
	struct derived *out;
	struct disasm *disasm;
	struct code_section *sections; /* executable, ascending */
	size_t nsections, sections_room;
	struct code_section *gaps; /* that no FDE covers, ascending */
	size_t ngaps, gaps_room;
	uint64_t gap_bytes;
	uint64_t *starts; /* of functions in gaps, ascending */
	size_t nstarts, starts_room;
	uint64_t *taken; /* addresses of code in gaps in the file's data, ascending */
	size_t ntaken, taken_room;
	uint64_t entry; /* of the program; 0: none */
	bool go;
};

const char *derive_missing(void)
{
	return ARCH_DERIVES ? disasm_missing() : NULL;
}

static int read_sections(struct deriver *d)
{
	size_t count = elf_file_section_count(d->file);
	struct elf_section s;

	for (size_t i = 1; i < count && d->nsections < SECTIONS_MAX; i++) {
		if (elf_file_section_header(d->file, (uint32_t)i, &s) || s.type != SHT_PROGBITS ||
		    !(s.flags & SHF_EXECINSTR) || !(s.flags & SHF_ALLOC) || !s.size ||
		    s.addr + s.size < s.addr)
			continue;
		if (GROW(d->sections, d->nsections, d->sections_room, SECTIONS_MAX))
			return -ENOMEM;
		d->sections[d->nsections++] =
			(struct code_section){s.addr, s.addr + s.size, s.offset};
	}
	if (d->nsections)
		qsort(d->sections, d->nsections, sizeof(*d->sections), compare_u64);
	return 0;
}

/* GCC's name for what it has moved out of a function, and which is entered by jumps. */
static bool is_cold(const struct elf_section *names, uint32_t at)
{
	const char *name, *end, *dot;

	if (at >= names->size)
		return false;
	name = (const char *)names->data + at;
	end = memchr(name, 0, names->size - at);
	if (!end)
		return false;
	dot = memmem(name, (size_t)(end - name), ".cold", 5);
	return dot != NULL;
}

/* The range of `list`, ascending, with an address; NULL: none. */
static const struct code_section *range_of(const struct code_section *list, size_t count,
					   uint64_t addr)
{
	size_t below;

	/* Of most words of data this is all that is asked. */
	if (!count || addr < list[0].start || addr >= list[count - 1].end)
		return NULL;
	below = SEARCH(count, i, list[i].start <= addr);
	return below && addr < list[below - 1].end ? &list[below - 1] : NULL;
}

static bool in_gap(const struct deriver *d, uint64_t addr)
{
	return range_of(d->gaps, d->ngaps, addr) != NULL;
}

static int add_start(struct deriver *d, uint64_t addr)
{
	if (d->nstarts >= LIMIT_STARTS || !in_gap(d, addr))
		return 0;
	if (GROW(d->starts, d->nstarts, d->starts_room, LIMIT_STARTS))
		return -ENOMEM;
	d->starts[d->nstarts++] = addr;
	return 0;
}

static int read_symbols(struct deriver *d, const char *table, uint64_t *left)
{
	struct elf_section symbols, names = {0};
	Elf64_Sym sym;
	int err = elf_file_section_within(d->file, table, left, &symbols);

	for (size_t at = 0; !err && symbols.size - at >= sizeof(sym); at += sizeof(sym)) {
		memcpy(&sym, symbols.data + at, sizeof(sym));
		if ((ELF64_ST_TYPE(sym.st_info) != STT_FUNC &&
		     ELF64_ST_TYPE(sym.st_info) != STT_GNU_IFUNC) ||
		    sym.st_shndx == SHN_UNDEF || !in_gap(d, sym.st_value))
			continue;
		if (!names.data)
			err = elf_file_section_at_within(d->file, symbols.link, left, &names);
		if (!err && !is_cold(&names, sym.st_name))
			err = add_start(d, sym.st_value);
	}
	return err == -ENOMEM || err == -ECANCELED ? err : 0;
}

/* The section of an address; NULL: none that is code. */
static const struct code_section *section_of(const struct deriver *d, uint64_t addr)
{
	return range_of(d->sections, d->nsections, addr);
}

/* The program's entry, and functions of which it takes the address: main, in a program of C. */
static int read_entry(struct deriver *d)
{
	const struct code_section *s;
	uint8_t code[ENTRY_CODE];
	struct effect effect;
	uint64_t entry, taken;
	int err;

	if (elf_file_read(d->file, offsetof(Elf64_Ehdr, e_entry), &entry, sizeof(entry)))
		return 0;
	d->entry = entry;
	s = section_of(d, entry);
	err = s ? add_start(d, entry) : 0;
	if (err || !s || s->end - entry < sizeof(code) ||
	    elf_file_read(d->file, s->offset + (entry - s->start), code, sizeof(code)))
		return err;
	for (size_t at = 0; at < sizeof(code) && !err; at += effect.size) {
		arch_effect(d->disasm, code + at, sizeof(code) - at, &effect);
		if (effect.kind == EFFECT_CALL || effect.kind == EFFECT_CALL_COMPUTED ||
		    effect.kind == EFFECT_STOP || effect.kind == EFFECT_BAD)
			break;
		taken = effect.kind == EFFECT_ABSOLUTE
				? (uint64_t)effect.value
				: entry + at + effect.size + (uint64_t)(int64_t)effect.value;
		if ((effect.kind == EFFECT_ADDRESS || effect.kind == EFFECT_ABSOLUTE) &&
		    section_of(d, taken))
			err = add_start(d, taken);
	}
	return err;
}

static int add_taken(struct deriver *d, uint64_t addr)
{
	if (d->ntaken >= LIMIT_STARTS || !in_gap(d, addr))
		return 0;
	if (GROW(d->taken, d->ntaken, d->taken_room, LIMIT_STARTS))
		return -ENOMEM;
	d->taken[d->ntaken++] = addr;
	return 0;
}

/* The addresses in a section of a file that is loaded where it says. */
static int take_words(struct deriver *d, const char *name, uint64_t *left)
{
	uint64_t words[CHUNK / sizeof(uint64_t)];
	struct elf_section s;
	int err = 0;

	if (elf_file_section_header(d->file, elf_file_section_index(d->file, name), &s) ||
	    s.type == SHT_NOBITS || s.size > *left)
		return 0;
	*left -= s.size;
	for (uint64_t at = 0; at < s.size && !err; at += CHUNK) {
		const size_t size = s.size - at < CHUNK ? s.size - at : CHUNK;

		if (elf_file_read(d->file, s.offset + at, words, size))
			return 0;
		for (size_t i = 0; i < size / sizeof(words[0]) && !err; i++)
			err = add_taken(d, words[i]);
	}
	return err;
}

/*
 * Addresses of code in data: tables of functions, and of cases. In a file that is loaded anywhere
 * relocations have them.
 */
static int read_taken(struct deriver *d, uint64_t *left)
{
	static const char *const data[] = {".data.rel.ro", ".data", ".rodata", ".init_array"};
	const bool fixed = elf_file_type(d->file) == ET_EXEC;
	struct elf_section s;
	Elf64_Rela rela;
	int err = 0;

	for (size_t i = 0; fixed && i < sizeof(data) / sizeof(data[0]) && !err; i++)
		err = take_words(d, data[i], left);
	if (fixed || elf_file_section_within(d->file, ".rela.dyn", left, &s))
		return err;
	for (size_t at = 0; s.size - at >= sizeof(rela) && !err; at += sizeof(rela)) {
		memcpy(&rela, s.data + at, sizeof(rela));
		if (arch_relocation(elf_file_machine(d->file), ELF64_R_TYPE(rela.r_info)) ==
		    ARCH_RELATIVE)
			err = add_taken(d, (uint64_t)rela.r_addend);
	}
	return err;
}

static int read_starts(struct deriver *d)
{
	uint64_t left = LIMIT_SECTION;
	size_t kept = 0;
	int err = 0;

	if (d->gap_bytes >= SYMBOLS_FROM)
		err = read_symbols(d, ".symtab", &left);
	if (!err && d->gap_bytes >= SYMBOLS_FROM)
		err = read_symbols(d, ".dynsym", &left);
	if (!err && d->gap_bytes >= SYMBOLS_FROM)
		err = read_taken(d, &left);
	if (d->ntaken)
		qsort(d->taken, d->ntaken, sizeof(*d->taken), compare_u64);
	if (!err)
		err = read_entry(d);
	if (d->nstarts)
		qsort(d->starts, d->nstarts, sizeof(*d->starts), compare_u64);
	for (size_t i = 0; i < d->nstarts; i++)
		if (!kept || d->starts[kept - 1] != d->starts[i])
			d->starts[kept++] = d->starts[i];
	d->nstarts = kept;
	return err;
}

/* The rule of a state; ROW_END: it says too little. */
static int rule_of(struct deriver *d, const struct flow_state *s, uint32_t *rule)
{
	struct cfa_state state = {
		.cfa = {.kind = EXPR_REG},
		.cfa_set = true,
		.ra = {.how = REG_AT_CFA, .off = ARCH_RA_AT},
	};
	int err;

	*rule = RULE(ROW_END, 0);
	if (s->sp == FLOW_OUTERMOST) {
		*rule = RULE_OUTERMOST(0, 0, 0) | RULE_DERIVED;
		return 0;
	}
	/* Both are right where both are known; a frame as compilers make it needs fewer rows. */
	if (s->sp == FLOW_POPPED) {
		state.cfa.reg = ARCH_SP;
	} else if (s->fp > 0 && (s->sp <= 0 || s->fp == s->slot)) {
		state.cfa.reg = ARCH_FP;
		state.cfa.add = s->fp;
	} else if (s->sp > 0) {
		state.cfa.reg = ARCH_SP;
		state.cfa.add = s->sp;
	} else {
		return 0;
	}
	if (s->slot)
		state.fp = (struct reg_rule){.how = REG_AT_CFA, .off = -(int64_t)s->slot};
	else if (s->fp != FLOW_FP_CALLER)
		state.fp.how = REG_LOST;
	if (state.cfa.add % 8 || s->slot % 8)
		return 0;
	err = rule_compile(&state, false, d->wide, rule);
	if (!err)
		*rule = RULE_KIND(*rule) == ROW_UNSUPPORTED ? RULE(ROW_END, 0)
							    : *rule | RULE_DERIVED;
	return err;
}

static int add_row(struct derived *out, uint64_t pc, uint32_t rule)
{
	if (out->nrows ? out->rows[out->nrows - 1].rule == rule : rule == ROW_END)
		return 0;
	if (GROW(out->rows, out->nrows, out->room, SIZE_MAX / sizeof(*out->rows)))
		return -ENOMEM;
	out->rows[out->nrows++] = (struct derived_row){pc, rule};
	return 0;
}

/*
 * True for the `test` and the jump between the system call of a clone and the child, where both
 * return: the parent's frame, of which the child has the registers but not the stack.
 */
static bool is_cloned(const struct flow *flow, uint32_t i)
{
	for (uint32_t child = i + 1; child <= i + 2 && child < flow->ninsns; child++)
		if (flow_is_child(flow, child) && flow->insns[child].state.sp == FLOW_OUTERMOST)
			return flow->insns[i].state.sp > 0;
	return false;
}

static int add_rows(struct deriver *d, const struct flow *flow)
{
	const struct flow_state *last = NULL;
	uint32_t rule = RULE(ROW_END, 0);
	int err = 0;

	for (uint32_t i = 0; i < flow->ninsns && !err; i++) {
		const struct flow_insn *insn = &flow->insns[i];

		if (is_cloned(flow, i)) {
			last = NULL;
			err = rule_cloned(0, d->wide, &rule);
			rule = RULE_KIND(rule) == ROW_WIDE ? rule | RULE_DERIVED : RULE(ROW_END, 0);
		} else if (last && !memcmp(&insn->state, last, sizeof(*last))) {
			continue;
		} else {
			last = &insn->state;
			err = rule_of(d, last, &rule);
		}
		if (!err)
			err = add_row(d->out, flow->addr + insn->at, rule);
	}
	return err ? err : add_row(d->out, flow->addr + flow->size, RULE(ROW_END, 0));
}

/* Decodes a piece of text whose bytes are at hand. */
static int derive_code(struct deriver *d, const uint8_t *code, uint32_t size, uint64_t addr)
{
	struct flow flow = {
		.code = code,
		.size = size,
		.addr = addr,
		.entry = d->entry,
		.strict = d->go,
		.disasm = d->disasm,
		.work = elf_file_work(d->file),
	};
	size_t first = SEARCH(d->nstarts, i, d->starts[i] < addr);
	size_t last = SEARCH(d->nstarts, i, d->starts[i] < addr + size);
	int err;

	flow.nstarts = last - first;
	if (flow.nstarts)
		flow.starts = d->starts + first;
	first = SEARCH(d->ntaken, i, d->taken[i] < addr);
	last = SEARCH(d->ntaken, i, d->taken[i] < addr + size);
	flow.ntaken = last - first;
	if (flow.ntaken)
		flow.taken = d->taken + first;
	err = flow_run(&flow);
	if (!err)
		err = add_rows(d, &flow);
	flow_free(&flow);
	return err;
}

/* Where a piece of text is cut: in front of a function, if one is known to begin there. */
static uint64_t piece_end(const struct deriver *d, uint64_t start, uint64_t end)
{
	size_t below;

	if (end - start <= PIECE)
		return end;
	below = SEARCH(d->nstarts, i, d->starts[i] <= start + PIECE);
	if (below && d->starts[below - 1] > start + PIECE / 2)
		return d->starts[below - 1];
	return start + PIECE;
}

static int derive_gap(struct deriver *d, const struct code_section *gap)
{
	uint64_t start = gap->start, end = gap->end;
	int err = 0;

	if (end - start > LIMIT_DERIVED - d->out->text)
		end = start + (LIMIT_DERIVED - d->out->text);
	d->out->text += end - start;
	while (start < end && !err) {
		uint64_t to = piece_end(d, start, end);
		uint8_t *code = malloc(to - start);

		if (!code)
			return -ENOMEM;
		if (!elf_file_read(d->file, gap->offset + (start - gap->start), code, to - start))
			err = derive_code(d, code, (uint32_t)(to - start), start);
		free(code);
		start = to;
	}
	return err;
}

/*
 * Go keeps frame pointers, by which its programs are walked when neither CFI nor its own table
 * (unwind/go_pcsp.h) can be read; rows would hide the bottoms of its stacks. Beside these only code
 * of C and assemblers is left.
 */
static bool is_bare_go(const struct deriver *d)
{
	uint64_t text = 0;

	for (size_t i = 0; i < d->nsections; i++)
		text += d->sections[i].end - d->sections[i].start;
	return d->go && d->gap_bytes > text / 2;
}

static int add_gap(struct deriver *d, const struct code_section *s, uint64_t start, uint64_t end)
{
	if ((end - start < ARCH_FUNCTION_ALIGN && start != s->start) ||
	    clone_gap(d->file, start, end))
		return 0;
	if (GROW(d->gaps, d->ngaps, d->gaps_room, SIZE_MAX / sizeof(*d->gaps)))
		return -ENOMEM;
	d->gaps[d->ngaps++] = (struct code_section){start, end, s->offset + (start - s->start)};
	d->gap_bytes += end - start;
	return 0;
}

/* The gaps of a section; *fde: the first that may reach into it. */
static int find_gaps(struct deriver *d, const struct cfi *cfi, uint32_t *fde,
		     const struct code_section *s, uint64_t *covered)
{
	uint64_t at = s->start > *covered ? s->start : *covered;
	int err = 0;

	while (at < s->end && !err) {
		uint64_t from = *fde < cfi->nfdes ? cfi_from(&cfi->fdes[*fde]) : UINT64_MAX;

		if (from > at)
			err = add_gap(d, s, at, from < s->end ? from : s->end);
		if (from >= s->end)
			break;
		if (cfi->fdes[*fde].end > *covered)
			*covered = cfi->fdes[*fde].end;
		if (*covered > at)
			at = *covered;
		++*fde;
	}
	if (*covered < s->end)
		*covered = s->end;
	return err;
}

static int derive_gaps(struct deriver *d)
{
	int err = d->ngaps ? read_starts(d) : 0;

	for (size_t i = 0; i < d->ngaps && !err; i++)
		err = derive_gap(d, &d->gaps[i]);
	return err;
}

int derive_rows(const struct elf_file *file, const struct cfi *cfi, struct wide_rules *wide,
		struct derived *out)
{
	struct deriver d = {.file = file, .wide = wide, .out = out};
	uint64_t covered = 0;
	uint32_t fde = 0;
	int err;

	*out = (struct derived){0};
	if (!ARCH_DERIVES)
		return 0;
	err = disasm_new(elf_file_machine(file), &d.disasm);
	if (err)
		return err == -ENOTSUP ? 0 : err;
	d.go = elf_file_section_index(file, ".gopclntab") ||
	       elf_file_section_index(file, ".go.buildinfo");
	work_allow(elf_file_work(file), LIMIT_WORK(WORK_BYTE / 8 * LIMIT_DERIVED));
	err = read_sections(&d);
	for (size_t i = 0; i < d.nsections && !err; i++)
		err = find_gaps(&d, cfi, &fde, &d.sections[i], &covered);
	if (!err && !is_bare_go(&d))
		err = derive_gaps(&d);
	disasm_free(d.disasm);
	free(d.sections);
	free(d.gaps);
	free(d.starts);
	free(d.taken);
	/* What was found until the limit was reached is sound. */
	return err == -E2BIG ? 0 : err;
}

void derived_free(struct derived *derived)
{
	free(derived->rows);
	*derived = (struct derived){0};
}
