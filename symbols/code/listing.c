// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Texts are in one block of strings, by their offset, since a function may have a hundred thousand
 * instructions. Lines are sorted by file and number, so that each source is read once.
 */
#include "symbols/code/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/refcount.h"
#include "symbols/base/search.h"
#include "symbols/elf/debugfile.h"
#include "symbols/dwarf/debuginfo.h"
#include "symbols/elf/elffile.h"
#include "symbols/files/sourcefile.h"
#include "symbols/names/symtab.h"
#include "symbols/base/text.h"

#define STRINGS_MAX (64u << 20)
#define FILES_MAX   256u /* files that the lines of one function come from */
#define NAME_SHOWN  256u

struct place_of { /* of an instruction in the sources */
	uint32_t file;
	unsigned int line;
	uint32_t insn;
};

struct listing_maker {
	struct listing *l;
	const struct listing_request *request;
	const struct listing_code *code; /* NULL: it is in the file */
	const atomic_bool *cancel;
	struct elf_file *file; /* NULL: debug information has taken it */
	struct symtab *symtab;
	uint16_t machine;
	uint8_t *bytes;
	size_t size;
	uint32_t insns_room;
	uint32_t strings, strings_room;
	struct place_of *places;
	uint32_t nplaces;
	uint32_t files[FILES_MAX]; /* of the strings */
	uint32_t nfiles;
};

static bool is_cancelled(const struct listing_maker *m)
{
	return m->cancel && atomic_load(m->cancel);
}

/* Offset of a copy; LISTING_NONE: no memory, or too many. */
static uint32_t string_add(struct listing_maker *m, const char *text, size_t length)
{
	uint32_t at = m->strings;

	if (length >= STRINGS_MAX - at)
		return LISTING_NONE;
	if (GROW_TO(m->l->strings, at + length + 1, m->strings_room, STRINGS_MAX))
		return LISTING_NONE;
	memcpy(m->l->strings + at, text, length);
	m->l->strings[at + length] = '\0';
	m->strings += (uint32_t)length + 1;
	return at;
}

/* --- code ------------------------------------------------------------------------------------ */

/* The part of the function that is in the file. */
static int read_code(struct listing_maker *m)
{
	struct listing *l = m->l;
	const struct elf_load *loads;
	size_t count;

	loads = elf_file_loads(m->file, &count);
	for (size_t i = 0; i < count; i++) {
		uint64_t at = l->start - loads[i].vaddr, left;

		if (!loads[i].exec || l->start < loads[i].vaddr || at >= loads[i].filesz)
			continue;
		left = loads[i].filesz - at;
		if (l->end - l->start < left)
			left = l->end - l->start;
		l->cut = left > LISTING_BYTES_MAX;
		m->size = l->cut ? LISTING_BYTES_MAX : (size_t)left;
		m->bytes = malloc(m->size);
		if (!m->bytes)
			return -ENOMEM;
		return elf_file_read(m->file, loads[i].offset + at, m->bytes, m->size);
	}
	return -ENOENT;
}

static int find_symbol(struct listing_maker *m, uint64_t vaddr, struct symbol *out)
{
	const struct symtab_extents extents = {m->request->reaches, m->request->arg};

	return symtab_find_within(m->symtab, vaddr, extents.reaches ? &extents : NULL, out);
}

/* Names the target of a call, or of a jump out of the function. */
static uint32_t name_target(struct listing_maker *m, uint64_t target)
{
	char *plain, clean[NAME_SHOWN], text[NAME_SHOWN + 32];
	struct symbol symbol;

	if (m->code) {
		if (!m->code->name || !m->code->name(m->code->arg, target, text, sizeof(text)))
			return LISTING_NONE;
		text_clean(clean, sizeof(clean), text, strlen(text));
		return string_add(m, clean, strlen(clean));
	}
	if (find_symbol(m, target, &symbol))
		return LISTING_NONE;
	plain = symtab_demangle(m->symtab, symbol.name);
	if (!plain)
		return LISTING_NONE;
	text_clean(clean, sizeof(clean), plain, strlen(plain));
	free(plain);
	if (target == symbol.start)
		snprintf(text, sizeof(text), "%s", clean);
	else
		snprintf(text, sizeof(text), "%s+0x%" PRIx64, clean, target - symbol.start);
	return string_add(m, text, strlen(text));
}

static int insn_add(struct listing_maker *m, struct disasm *d, const struct disasm_insn *from,
		    const uint8_t *bytes)
{
	char att[DISASM_TEXT];
	struct listing *l = m->l;
	struct listing_insn *to;
	bool inside;

	if (GROW(l->insns, l->ninsns, m->insns_room, UINT32_MAX))
		return -ENOMEM;
	to = &l->insns[l->ninsns++];
	*to = (struct listing_insn){.addr = from->addr,
				    .size = from->size,
				    .kind = (uint8_t)from->kind,
				    .target = from->has_target ? from->target : 0,
				    .att = LISTING_NONE,
				    .name = LISTING_NONE,
				    .to = LISTING_NONE,
				    .line = LISTING_NONE};
	to->text = string_add(m, from->text, strlen(from->text));
	if (to->text == LISTING_NONE)
		return -ENOMEM;
	if (disasm_att(d, from, bytes, att))
		to->att = string_add(m, att, strlen(att));
	inside = from->target >= l->start && from->target < l->end;
	if (from->has_target && (!inside || from->target == l->start))
		to->name = name_target(m, from->target);
	return 0;
}

static int disassemble(struct listing_maker *m)
{
	struct disasm_insn insn;
	struct disasm *d;
	int err = disasm_new(m->machine, &d);
	uint64_t *targets = NULL;

	for (size_t at = 0; !err && at < m->size; at += insn.size) {
		disasm_one(d, m->l->start + at, m->bytes + at, m->size - at, &insn);
		err = is_cancelled(m) ? -ECANCELED : insn_add(m, d, &insn, m->bytes + at);
		if (err || !insn.has_target || insn.kind != DISASM_JUMP)
			continue;
		if (!targets)
			targets = calloc(m->size, sizeof(*targets));
		if (!targets)
			err = -ENOMEM;
		else
			targets[m->l->ninsns - 1] = insn.target;
	}
	for (uint32_t i = 0; !err && targets && i < m->l->ninsns; i++) {
		uint32_t to = targets[i] ? listing_find(m->l, targets[i]) : LISTING_NONE;

		/* Only data leads into the middle of an instruction. */
		if (to != LISTING_NONE && m->l->insns[to].addr == targets[i])
			m->l->insns[i].to = to;
	}
	free(targets);
	disasm_free(d);
	return err;
}

/* --- lines ----------------------------------------------------------------------------------- */

static uint32_t file_add(struct listing_maker *m, const struct debuginfo_frame *frame)
{
	char path[4096], clean[4096];
	int n = snprintf(path, sizeof(path), "%s%s%s", frame->dir ? frame->dir : "",
			 frame->dir ? "/" : "", frame->file);
	uint32_t at;

	if (n < 0 || (size_t)n >= sizeof(path))
		return LISTING_NONE;
	text_clean(clean, sizeof(clean), path, (size_t)n);
	for (uint32_t i = m->nfiles; i-- > 0;)
		if (!strcmp(m->l->strings + m->files[i], clean))
			return i;
	if (m->nfiles == FILES_MAX)
		return LISTING_NONE;
	at = string_add(m, clean, strlen(clean));
	if (at == LISTING_NONE)
		return LISTING_NONE;
	m->files[m->nfiles] = at;
	return m->nfiles++;
}

static int find_places(struct listing_maker *m, struct debuginfo *info)
{
	struct debuginfo_frame frames[DEBUGINFO_FRAMES_MAX];
	uint32_t file;

	m->places = calloc(m->l->ninsns + 1, sizeof(*m->places));
	if (!m->places)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->l->ninsns && !is_cancelled(m); i++) {
		if (!debuginfo_find(info, m->l->insns[i].addr, frames) || !frames[0].file ||
		    !frames[0].line)
			continue;
		file = file_add(m, &frames[0]);
		if (file != LISTING_NONE)
			m->places[m->nplaces++] = (struct place_of){file, frames[0].line, i};
	}
	return is_cancelled(m) ? -ECANCELED : 0;
}

static int by_line(const void *a, const void *b)
{
	const struct place_of *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int make_lines(struct listing_maker *m)
{
	struct listing *l = m->l;

	if (m->nplaces)
		qsort(m->places, m->nplaces, sizeof(*m->places), by_line);
	l->lines = calloc(m->nplaces + 1, sizeof(*l->lines));
	if (!l->lines)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->nplaces; i++) {
		const struct place_of *p = &m->places[i];

		if (!i || by_line(p - 1, p))
			l->lines[l->nlines++] =
				(struct listing_line){m->files[p->file], LISTING_NONE, p->line};
		l->insns[p->insn].line = l->nlines - 1;
	}
	return 0;
}

/* Lines of missing sources have no text. */
static void read_sources(struct listing_maker *m)
{
	struct listing *l = m->l;
	int root = m->request->place ? m->request->place->root : -1;
	uint32_t from = 0, to;

	for (; from < l->nlines && !is_cancelled(m); from = to) {
		struct sourcefile *source;
		int err = sourcefile_read(root, l->strings + l->lines[from].file, &source);

		for (to = from; to < l->nlines && l->lines[to].file == l->lines[from].file; to++) {
			size_t length;
			const char *text;

			text = err ? NULL : sourcefile_line(source, l->lines[to].number, &length);
			if (text)
				l->lines[to].text = string_add(m, text, length);
		}
		sourcefile_free(source);
	}
}

static int add_lines(struct listing_maker *m)
{
	struct debuginfo_options options = {.place = m->request->place,
					    .limit = m->request->limit,
					    .cancel = m->request->cancel,
					    .user = m->request->user};
	struct debuginfo *info = NULL;
	int err;

	m->l->lines_missing = "debug information is turned off";
	if (!options.limit)
		return 0;
	err = debuginfo_new(m->file, &options, &info);
	m->file = NULL;
	m->l->lines_missing = err == -EFBIG ? "the debug information is too large (--debug-memory)"
			      : err == -ENOENT ? "the file has no debug information"
					       : "the debug information is broken";
	if (err)
		return err == -ENOMEM ? err : 0;
	err = find_places(m, info);
	debuginfo_free(info);
	if (!err)
		err = make_lines(m);
	if (err)
		return err;
	m->l->lines_missing = "the debug information has no line of this function";
	if (m->l->nlines)
		m->l->lines_missing = NULL;
	if (m->request->sources)
		read_sources(m);
	return 0;
}

/* --- the whole ------------------------------------------------------------------------------- */

/* Where a symbol without a size ends. */
static uint64_t guessed_end(const struct listing_request *by, const struct symbol *symbol)
{
	uint64_t size = 1;

	while (size < symbol->size && size <= LISTING_BYTES_MAX &&
	       by->reaches(by->arg, symbol->start, symbol->start + size))
		size++;
	return symbol->start + size;
}

static int find_end(struct listing_maker *m)
{
	struct symbol symbol;

	if (m->request->end > m->request->start) {
		m->l->end = m->request->end;
		return 0;
	}
	if (find_symbol(m, m->l->start, &symbol))
		return -ENODATA;
	m->l->end = symbol.start + symbol.size;
	if (symbol.guessed && m->request->reaches)
		m->l->end = guessed_end(m->request, &symbol);
	return m->l->end > m->l->start ? 0 : -ENODATA;
}

static int make(struct listing_maker *m)
{
	int err = symtab_new(m->file, m->request->place, &m->symtab);

	if (!err)
		err = find_end(m);
	if (!err)
		err = read_code(m);
	if (!err)
		err = disassemble(m);
	if (!err)
		err = add_lines(m);
	return err;
}

static void finish(const struct listing_maker *m, struct listing **out)
{
	m->l->nstrings = m->strings;
	*out = m->l;
}

int listing_new(struct elf_file *file, const struct listing_request *request, struct listing **out)
{
	struct listing_maker m = {.request = request,
				  .cancel = request->cancel,
				  .file = file,
				  .machine = elf_file_machine(file)};
	int err = -ENOMEM;

	*out = NULL;
	m.l = calloc(1, sizeof(*m.l));
	if (m.l) {
		m.l->refs = 1;
		m.l->start = request->start;
		err = make(&m);
	}
	elf_file_free(m.file);
	symtab_free(m.symtab);
	free(m.bytes);
	free(m.places);
	if (err)
		listing_put(m.l);
	else
		finish(&m, out);
	return err;
}

int listing_of_code(const struct listing_code *code, struct listing **out)
{
	struct listing_maker m = {.code = code,
				  .cancel = code->cancel,
				  .machine = code->machine,
				  .bytes = code->bytes,
				  .size = code->size};
	int err = -ENOMEM;

	*out = NULL;
	m.l = calloc(1, sizeof(*m.l));
	if (m.l) {
		*m.l = (struct listing){.refs = 1,
					.start = code->start,
					.end = code->end,
					.cut = code->end - code->start > code->size,
					.lines_missing = code->no_lines};
		err = disassemble(&m);
	}
	free(m.bytes);
	if (err)
		listing_put(m.l);
	else
		finish(&m, out);
	return err;
}

void listing_name_targets(struct listing *l,
			  bool (*name)(void *arg, uint64_t addr, char *to, size_t room), void *arg)
{
	uint32_t room = l->nstrings, named = 0;
	char text[NAME_SHOWN + 32], clean[NAME_SHOWN];

	for (uint32_t i = 0; i < l->ninsns && named < LISTING_NAMED_MAX; i++) {
		struct listing_insn *insn = &l->insns[i];
		size_t size;

		if (!insn->target || insn->to != LISTING_NONE || insn->name != LISTING_NONE)
			continue;
		named++;
		if (!name(arg, insn->target, text, sizeof(text)))
			continue;
		text_clean(clean, sizeof(clean), text, strlen(text));
		size = strlen(clean) + 1;
		if (GROW_TO(l->strings, l->nstrings + size, room, STRINGS_MAX))
			return;
		memcpy(l->strings + l->nstrings, clean, size);
		insn->name = l->nstrings;
		l->nstrings += (uint32_t)size;
	}
}

struct listing *listing_get(struct listing *l)
{
	refcount_get(&l->refs);
	return l;
}

void listing_put(struct listing *l)
{
	if (!l || !refcount_put(&l->refs))
		return;
	free(l->insns);
	free(l->lines);
	free(l->strings);
	free(l);
}

uint32_t listing_find(const struct listing *l, uint64_t addr)
{
	uint32_t low = (uint32_t)SEARCH(l->ninsns, i, l->insns[i].addr <= addr);

	if (!low || addr - l->insns[low - 1].addr >= l->insns[low - 1].size)
		return LISTING_NONE;
	return low - 1;
}
