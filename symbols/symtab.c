/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbol tables as they are in files answer "where is this name"; the profiler asks the reverse,
 * for some hundred thousand symbols a file and many files at once. So each table is boiled down to
 * 16 bytes for every address that has a name, and the one name that is shown.
 *
 * Functions may lie in one another (an entry point inside of assembly, a label with a size). The
 * innermost wins, and each symbol knows its distance to the one around it, so that a search which
 * falls behind an inner one's end goes on outwards.
 */
#include "symbols/symtab.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/debugfile.h"
#include "symbols/elffile.h"
#include "symbols/symname.h"

#define START_BITS   40
#define OUTER_BITS   24
#define START_MAX    ((1ull << START_BITS) - 1)
#define SYMBOLS_MAX  (1u << OUTER_BITS)
#define NAME_MAX_LEN 4096u /* longer ones are cut; nobody could read them */
#define NESTING_MAX  16u   /* bounds a search; real ones are 2 or 3 deep */
#define NAMES_MAX    (1ull << 30)

struct entry {
	uint64_t start : START_BITS; /* from the table's base */
	uint64_t outer : OUTER_BITS; /* how many entries before is the one around; 0: none */
	uint32_t size;
	uint32_t name; /* offset in names */
};

_Static_assert(sizeof(struct entry) == 16, "a symbol is 16 bytes");

struct symtab {
	uint64_t base;
	struct entry *entries; /* ascending by start, outer ones first */
	size_t count;
	char *names;
	size_t names_size;
};

/* Executable addresses: a section, or a segment of a file without section headers. */
struct range {
	uint64_t start;
	uint64_t end;
};

/* A symbol on its way into the table. The name lies in the file's string table. */
struct candidate {
	uint64_t start;
	uint64_t end; /* start: not known yet */
	const char *name;
	uint32_t length;
	uint8_t binding; /* enum symname_binding */
	bool label;	 /* STT_NOTYPE */
	uint16_t range;
};

struct builder {
	struct range *ranges; /* ascending, disjoint */
	size_t nranges;
	struct candidate *list;
	size_t count;
	size_t capacity;
	uint64_t names_budget;
};

static int range_add(struct builder *b, uint64_t start, uint64_t size)
{
	struct range *ranges;

	if (!size || start + size < start || b->nranges == UINT16_MAX)
		return 0;
	ranges = reallocarray(b->ranges, b->nranges + 1, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	b->ranges = ranges;
	ranges[b->nranges++] = (struct range){start, start + size};
	return 0;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Sorted, and cut where a hostile file lets them overlap. */
static void ranges_sort(struct builder *b)
{
	uint64_t last = 0;
	size_t i, kept = 0;

	if (b->nranges)
		qsort(b->ranges, b->nranges, sizeof(*b->ranges), compare_ranges);
	for (i = 0; i < b->nranges; i++) {
		if (b->ranges[i].start < last)
			b->ranges[i].start = last;
		if (b->ranges[i].start >= b->ranges[i].end)
			continue;
		last = b->ranges[i].end;
		b->ranges[kept++] = b->ranges[i];
	}
	b->nranges = kept;
}

/*
 * Sections tell best where functions may be and where the last one ends. A debug file has them
 * only as NOBITS, hence they are always those of the file itself.
 */
static int ranges_read(struct builder *b, const struct elf_file *file)
{
	size_t nsections = elf_file_section_count(file), nloads, i;
	const struct elf_load *loads;
	struct elf_section section;
	int err;

	for (i = 1; i < nsections; i++) {
		if (elf_file_section_header(file, i, &section) ||
		    (section.flags & (SHF_ALLOC | SHF_EXECINSTR)) != (SHF_ALLOC | SHF_EXECINSTR))
			continue;
		err = range_add(b, section.addr, section.size);
		if (err)
			return err;
	}
	loads = elf_file_loads(file, &nloads);
	for (i = 0; !b->nranges && i < nloads; i++) {
		if (!loads[i].exec)
			continue;
		err = range_add(b, loads[i].vaddr, loads[i].memsz);
		if (err)
			return err;
	}
	ranges_sort(b);
	return 0;
}

static const struct range *range_find(const struct builder *b, uint64_t addr)
{
	size_t low = 0, high = b->nranges, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (b->ranges[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && addr < b->ranges[low - 1].end ? &b->ranges[low - 1] : NULL;
}

static bool is_function(const Elf64_Sym *sym)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS &&
	       sym->st_shndx != SHN_COMMON;
}

static enum symname_binding symbol_binding(const Elf64_Sym *sym)
{
	switch (ELF64_ST_BIND(sym->st_info)) {
	case STB_LOCAL:
		return SYMNAME_LOCAL;
	case STB_WEAK:
		return SYMNAME_WEAK;
	default:
		return SYMNAME_GLOBAL;
	}
}

static int candidate_add(struct builder *b, const struct candidate *candidate)
{
	size_t capacity = b->capacity ? b->capacity * 2 : 1024;
	struct candidate *list;

	if (b->count == b->capacity) {
		list = reallocarray(b->list, capacity, sizeof(*list));
		if (!list)
			return -ENOMEM;
		b->list = list;
		b->capacity = capacity;
	}
	b->list[b->count++] = *candidate;
	return 0;
}

static int symbol_add(struct builder *b, const Elf64_Sym *sym, const struct elf_section *strings)
{
	const struct range *range;
	struct candidate c;
	size_t room;

	if (!is_function(sym) || sym->st_name >= strings->size)
		return 0;
	range = range_find(b, sym->st_value);
	if (!range || sym->st_value - b->ranges[0].start > START_MAX)
		return 0;
	c.name = (const char *)strings->data + sym->st_name;
	room = strings->size - sym->st_name;
	c.length = strnlen(c.name, room < NAME_MAX_LEN ? room : NAME_MAX_LEN);
	c.length = symname_cut_version(c.name, c.length);
	if (symname_is_marker(c.name, c.length))
		return 0;
	c.start = sym->st_value;
	c.end = range->end - c.start < sym->st_size ? range->end : c.start + sym->st_size;
	c.binding = symbol_binding(sym);
	c.label = ELF64_ST_TYPE(sym->st_info) == STT_NOTYPE;
	c.range = range - b->ranges;
	return candidate_add(b, &c);
}

/* -ENOENT: no such table, or one that cannot be read. */
static int symbols_read(struct builder *b, const struct elf_file *file, const char *name,
			uint32_t type)
{
	struct elf_section symbols, strings;
	Elf64_Sym sym;
	size_t at;
	int err;

	err = elf_file_section(file, name, &symbols);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	if (symbols.type != type || symbols.entsize != sizeof(sym))
		return -ENOENT;
	err = elf_file_section_at(file, symbols.link, &strings);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	/* Strings may share their tails, but hardly so much. */
	b->names_budget += 2 * (uint64_t)strings.size;
	for (at = 0; symbols.size - at >= sizeof(sym) && b->count < SYMBOLS_MAX;
	     at += sizeof(sym)) {
		memcpy(&sym, symbols.data + at, sizeof(sym));
		err = symbol_add(b, &sym, &strings);
		if (err)
			return err;
	}
	return 0;
}

/*
 * False when .symtab named as many global functions as .dynsym has. Then it is complete, as linkers
 * leave it, and the half of the work that would only be thrown away is spared; one that was thinned
 * out by strip has fewer.
 */
static bool dynsym_adds(const struct builder *b, const struct elf_file *file)
{
	struct elf_section symbols;
	size_t globals = 0, functions = 0, i, at;
	Elf64_Sym sym;

	if (!b->count || elf_file_section(file, ".dynsym", &symbols))
		return true;
	for (i = 0; i < b->count; i++)
		globals += b->list[i].binding != SYMNAME_LOCAL && !b->list[i].label;
	for (at = 0; symbols.size - at >= sizeof(sym); at += sizeof(sym)) {
		memcpy(&sym, symbols.data + at, sizeof(sym));
		functions += is_function(&sym) && ELF64_ST_TYPE(sym.st_info) != STT_NOTYPE &&
			     range_find(b, sym.st_value);
	}
	return functions > globals;
}

/* At one address: functions before labels, sizes before none, outer before inner, then by name. */
static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	struct symname x, y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->label != b->label)
		return a->label ? 1 : -1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	x = (struct symname){a->name, a->length, a->binding};
	y = (struct symname){b->name, b->length, b->binding};
	return symname_compare(&x, &y);
}

/*
 * One candidate for each function: drops further names of it, and labels within. What has no size
 * ends at the next symbol, and no later than its section or the function around it.
 */
static void candidates_settle(struct builder *b)
{
	uint64_t covered = 0; /* end of what the functions kept so far cover */
	struct candidate *c, *last = NULL;
	size_t i, next, kept = 0;

	for (i = 0; i < b->count; i++) {
		c = &b->list[i];
		if (last && c->start == last->start &&
		    (c->label || c->end == c->start || c->end == last->end))
			continue;
		if (c->label && c->start < covered)
			continue;
		if (c->end == c->start) {
			for (next = i + 1; next < b->count; next++)
				if (b->list[next].start > c->start)
					break;
			c->end = b->ranges[c->range].end;
			if (next < b->count && b->list[next].start < c->end)
				c->end = b->list[next].start;
			if (c->start < covered && covered < c->end)
				c->end = covered;
		}
		if (!c->label && c->end > covered)
			covered = c->end;
		b->list[kept] = *c;
		last = &b->list[kept++];
	}
	b->count = kept;
}

static uint64_t entry_end(const struct entry *entry)
{
	return entry->start + (uint64_t)entry->size;
}

/*
 * Links entry i to the innermost one before that reaches beyond its end. Whoever lies between ends
 * before and can be passed over, now and in every search. False: nested too deep to be real.
 */
static bool entry_link(struct entry *entries, size_t i)
{
	uint64_t end = entry_end(&entries[i]);
	unsigned int depth = 0;
	size_t outer, at;

	entries[i].outer = 0;
	if (!i)
		return true;
	for (outer = i - 1; entry_end(&entries[outer]) <= end; outer -= entries[outer].outer)
		if (!entries[outer].outer)
			return true;
	for (at = outer; entries[at].outer; at -= entries[at].outer)
		if (++depth == NESTING_MAX)
			return false;
	entries[i].outer = i - outer;
	return true;
}

/* Candidates to entries. Those whose names would take more than the file's strings are left out. */
static int table_fill(struct symtab *table, const struct builder *b)
{
	uint64_t bytes = 0, size;
	const struct candidate *c;
	struct entry *e;
	size_t i;

	for (i = 0; i < b->count; i++)
		bytes += b->list[i].length + 1;
	if (bytes > b->names_budget)
		bytes = b->names_budget;
	if (bytes > NAMES_MAX)
		bytes = NAMES_MAX;
	table->entries = malloc(b->count * sizeof(*table->entries));
	table->names = malloc(bytes);
	if (!table->entries || !table->names)
		return -ENOMEM;
	table->base = b->ranges[0].start;
	for (i = 0; i < b->count; i++) {
		c = &b->list[i];
		if (c->length + 1 > bytes - table->names_size)
			break;
		size = c->end - c->start;
		e = &table->entries[table->count];
		e->start = c->start - table->base;
		e->size = size > UINT32_MAX ? UINT32_MAX : size;
		e->name = table->names_size;
		if (!entry_link(table->entries, table->count))
			continue;
		memcpy(table->names + table->names_size, c->name, c->length);
		table->names[table->names_size + c->length] = '\0';
		table->names_size += c->length + 1;
		table->count++;
	}
	return 0;
}

/* Without its own .symtab, the file is asked for a debug file, which must outlive the builder. */
static int builder_read(struct builder *b, const struct elf_file *file, const char *debug_root,
			struct elf_file **debug)
{
	int err;

	err = ranges_read(b, file);
	if (err || !b->nranges)
		return err;
	err = symbols_read(b, file, ".symtab", SHT_SYMTAB);
	if (err == -ENOENT && debug_root && !debugfile_open(file, debug_root, debug))
		err = symbols_read(b, *debug, ".symtab", SHT_SYMTAB);
	if (err && err != -ENOENT)
		return err;
	if (!dynsym_adds(b, file))
		return 0;
	err = symbols_read(b, file, ".dynsym", SHT_DYNSYM);
	return err == -ENOENT ? 0 : err;
}

int symtab_new(const struct elf_file *file, const char *debug_root, struct symtab **out)
{
	struct symtab *table;
	struct elf_file *debug = NULL;
	struct builder b = {0};
	int err;

	/* Addresses in relocatable files count from each section's start. */
	if (elf_file_type(file) == ET_REL)
		return -EINVAL;
	table = calloc(1, sizeof(*table));
	err = table ? builder_read(&b, file, debug_root, &debug) : -ENOMEM;
	if (!err && b.count) {
		qsort(b.list, b.count, sizeof(*b.list), compare_candidates);
		candidates_settle(&b);
		err = table_fill(table, &b);
	}
	free(b.list);
	free(b.ranges);
	elf_file_free(debug);
	if (err) {
		symtab_free(table);
		return err;
	}
	*out = table;
	return 0;
}

void symtab_free(struct symtab *table)
{
	if (!table)
		return;
	free(table->entries);
	free(table->names);
	free(table);
}

size_t symtab_count(const struct symtab *table)
{
	return table->count;
}

size_t symtab_bytes(const struct symtab *table)
{
	return sizeof(*table) + table->count * sizeof(*table->entries) + table->names_size;
}

int symtab_find(const struct symtab *table, uint64_t vaddr, struct symbol *out)
{
	uint64_t at = vaddr - table->base;
	size_t low = 0, high = table->count, middle;
	const struct entry *e;

	if (vaddr < table->base)
		return -ENOENT;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (table->entries[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return -ENOENT;
	for (e = &table->entries[low - 1]; at >= entry_end(e); e -= e->outer)
		if (!e->outer)
			return -ENOENT;
	out->name = table->names + e->name;
	out->start = table->base + e->start;
	out->size = e->size;
	return 0;
}
