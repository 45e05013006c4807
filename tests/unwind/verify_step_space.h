/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_UNWIND_VERIFY_STEP_SPACE_H
#define STACKTOP_TESTS_UNWIND_VERIFY_STEP_SPACE_H

/*
 * The mappings of a traced program, for verify_step: for each file stacktop's table, put into the
 * host's shards and list as by the tracker, and libdw's view of the same file. Files are kept from
 * program to program; mappings are read again whenever executable memory changes. An error here
 * ends the tool, which has no result then.
 */

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "symbols/elf/debugfile.h"
#include "symbols/elf/elffile.h"
#include "symbols/files/procmaps.h"
#include "symbols/names/symtab.h"
#include "tests/unwind/stephost.h"
#include "unwind/shards.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define MODULES_MAX 1024u
#define RANGES_MAX  4096u
#define PAGES	    16u

struct module {
	char *path;
	uint64_t dev, inode; /* 0, 0: the vDSO */
	void *image;	     /* the vDSO's bytes */
	struct elf_file *file;
	struct unwind_table *table;
	uint32_t *words; /* a span's first word, by number of the span */
	struct symtab *symbols;
	Dwarf_CFI *cfi; /* NULL: libdw finds none */
};

struct range { /* a file's executable mapping */
	uint64_t start, end, bias;
	struct module *module;
};

struct space {
	pid_t pid;
	bool stale;	     /* mappings have changed */
	uint64_t generation; /* of the program's memory: grows with each instruction */
	struct module modules[MODULES_MAX];
	unsigned int nmodules;
	struct range ranges[RANGES_MAX];
	unsigned int nranges;
	uint32_t nentries; /* of host.entries */
	struct shards *shards;
	struct wide_rules *wide;
	bool spoil; /* spoil every second row of ours */
	struct page {
		uint64_t at, generation;
		uint8_t bytes[4096];
	} pages[PAGES];
};

/* --- memory ---------------------------------------------------------------------------- */

static inline bool space_read(const struct space *s, void *to, size_t size, uint64_t from)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)from, size};

	return process_vm_readv(s->pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* Reads through a cache of pages, which are read at most once per instruction. */
static inline bool space_word(struct space *s, uint64_t addr, uint64_t *value)
{
	struct page *p = &s->pages[(addr >> 12) % PAGES];

	if ((addr & 4095) > 4096 - 8)
		return space_read(s, value, 8, addr);
	if (p->generation != s->generation || p->at != addr >> 12) {
		p->generation = 0;
		if (!space_read(s, p->bytes, 4096, addr & ~4095ull))
			return space_read(s, value, 8, addr);
		p->generation = s->generation;
		p->at = addr >> 12;
	}
	memcpy(value, p->bytes + (addr & 4095), 8);
	return true;
}

/* --- files ----------------------------------------------------------------------------- */

static inline int shard_create(void *arg, unsigned int i)
{
	(void)arg;
	host.shards[i] = host_alloc(SHARD_BYTES);
	return 0;
}

static inline int shard_write(void *arg, unsigned int i, uint32_t at, const uint32_t *words,
			      uint32_t n)
{
	(void)arg;
	memcpy(host.shards[i] + at, words, n * sizeof(*words));
	return 0;
}

static inline void table_spoil(uint32_t *words, const struct unwind_span *span)
{
	for (uint32_t i = span->first + span->ngranules; i < span->first + span->nwords; i += 2)
		if (RULE_KIND(words[i]) == ROW_SP || RULE_KIND(words[i]) == ROW_WIDE)
			words[i] = ROW_WORD(ROW_OFFSET(words[i]), RULE_FRAME(ROW_SP, 264, 0));
}

static inline void module_table(struct space *s, struct module *m)
{
	int error = unwind_table_build(m->file, s->wide, &m->table);
	const struct wide_rule *rules;
	unsigned int n;

	if (error) {
		m->table = NULL;
		return;
	}
	m->words = calloc(m->table->nspans + 1u, sizeof(*m->words));
	if (!m->words)
		err(2, "memory");
	for (uint32_t i = 0; i < m->table->nspans; i++) {
		const struct unwind_span *span = &m->table->spans[i];

		if (s->spoil)
			table_spoil(m->table->words, span);
		error = shards_add(s->shards, m->table->words + span->first, span->nwords,
				   &m->words[i]);
		if (error)
			errx(2, "%s: no room for the table: %s", m->path, strerror(-error));
	}
	rules = wide_rules_all(s->wide, &n);
	memcpy(host.wide, rules, n * sizeof(*rules));
}

/* .eh_frame, else .debug_frame, as stacktop reads them. */
static inline void module_libdw(struct module *m, size_t image_size)
{
	struct elf_section section;
	Dwarf *dwarf;
	Elf *elf;
	int fd = -1;

	if (m->image) {
		elf = elf_memory(m->image, image_size);
	} else {
		fd = open(m->path, O_RDONLY | O_CLOEXEC);
		elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	}
	if (!elf)
		return;
	if (elf_file_section(m->file, ".eh_frame", &section) == 0 && section.size > 4) {
		m->cfi = dwarf_getcfi_elf(elf);
	} else {
		dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
		m->cfi = dwarf ? dwarf_getcfi(dwarf) : NULL;
	}
	if (fd >= 0 && elf_cntl(elf, ELF_C_FDDONE) == 0)
		close(fd);
}

/* NULL: not an ELF file, or it cannot be opened. */
static inline struct module *space_module(struct space *s, const struct procmap *map)
{
	uint64_t dev = (uint64_t)map->dev_major << 32 | map->dev_minor;
	size_t size = map->end - map->start;
	struct module *m;
	int error;

	for (m = s->modules; m < s->modules + s->nmodules; m++)
		if (m->dev == dev && m->inode == map->inode && !strcmp(m->path, map->name))
			return m->file ? m : NULL;
	if (s->nmodules == MODULES_MAX)
		errx(2, "more than %u files", MODULES_MAX);
	*m = (struct module){.path = strdup(map->name), .dev = dev, .inode = map->inode};
	s->nmodules++;
	if (!m->path)
		err(2, "memory");
	if (map->name[0] == '[') {
		m->image = malloc(size);
		if (!m->image || !space_read(s, m->image, size, map->start))
			err(2, "%s", map->name);
		error = elf_file_open_memory(m->image, size, &m->file);
	} else {
		error = elf_file_open(map->name, &m->file);
	}
	if (error) {
		m->file = NULL;
		return NULL;
	}
	module_table(s, m);
	module_libdw(m, size);
	return m;
}

/* --- mappings -------------------------------------------------------------------------- */

static inline void add_entry(struct space *s, uint64_t start, uint64_t end, uint64_t base,
			     uint32_t word, uint32_t meta)
{
	if (start >= end)
		return;
	if (s->nentries == MAP_LIST_MAX)
		errx(2, "more than %u mappings", MAP_LIST_MAX);
	host.entries[s->nentries++] =
		MAP_KIND(meta) == MAP_CFI
			? map_entry_rows(start, end, base, 0, word, MAP_GRANULES(meta))
			: (struct map_entry){.start = start, .end = end, .meta = meta};
}

static inline bool load_bias(const struct elf_file *file, const struct procmap *map, uint64_t *bias)
{
	size_t n;
	const struct elf_load *loads = elf_file_loads(file, &n);

	for (size_t i = 0; i < n; i++)
		if (loads[i].exec && map->offset >= (loads[i].offset & ~4095ull) &&
		    map->offset < loads[i].offset + loads[i].filesz) {
			*bias = map->start - (loads[i].vaddr - loads[i].offset + map->offset);
			return true;
		}
	return false;
}

static inline int on_map(const struct procmap *map, void *arg)
{
	struct space *s = arg;
	struct module *m = NULL;
	uint64_t bias = 0, gap = map->start;

	if (!strcmp(map->name, "[vsyscall]"))
		return 0;
	if (map->name[0] == '/' || !strcmp(map->name, "[vdso]"))
		m = space_module(s, map);
	if (m && load_bias(m->file, map, &bias) && s->nranges < RANGES_MAX)
		s->ranges[s->nranges++] = (struct range){map->start, map->end, bias, m};
	else
		m = NULL;
	for (uint32_t i = 0; m && m->table && i < m->table->nspans; i++) {
		const struct unwind_span *span = &m->table->spans[i];
		uint64_t start = span->start + bias < gap ? gap : span->start + bias;
		uint64_t end = span->end + bias < map->end ? span->end + bias : map->end;

		if (start >= end)
			continue;
		add_entry(s, gap, start, 0, 0, MAP_META(MAP_NO_CFI, 0));
		add_entry(s, start, end, span->start + bias, m->words[i],
			  MAP_META(MAP_CFI, span->ngranules));
		gap = end;
	}
	add_entry(s, gap, map->end, 0, 0, MAP_META(MAP_NO_CFI, 0));
	return 0;
}

static inline void space_refresh(struct space *s)
{
	s->stale = false;
	s->nranges = 0;
	s->nentries = 0;
	procmaps_read(s->pid, true, on_map, s);
}

/* The mapping of a file that contains the address, or NULL. */
static inline const struct range *space_range(const struct space *s, uint64_t addr)
{
	unsigned int low = 0, high = s->nranges;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (s->ranges[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->nranges && addr >= s->ranges[low].start ? &s->ranges[low] : NULL;
}

static inline void space_init(struct space *s)
{
	static const struct shards_ops ops = {.create = shard_create, .write = shard_write};

	elf_version(EV_CURRENT);
	host.entries = host_alloc(MAP_ENTRIES_MAX * sizeof(*host.entries));
	host.wide = host_alloc(WIDE_RULES_MAX * sizeof(*host.wide));
	s->shards = shards_new(HOST_SHARDS, &ops, NULL);
	s->wide = wide_rules_new();
	if (!s->shards || !s->wide)
		err(2, "memory");
}

/* `function+0x12`, if there is a name. */
static inline void space_name(struct module *m, uint64_t vaddr, char *to, size_t size)
{
	const struct debug_place debug = {.root = -1, .folder = "/usr/lib/debug"};
	struct symbol symbol;

	if (m && !m->symbols && symtab_new(m->file, &debug, &m->symbols))
		m->symbols = NULL;
	if (m && m->symbols && !symtab_find(m->symbols, vaddr, &symbol))
		snprintf(to, size, "%s+0x%" PRIx64, symbol.name, vaddr - symbol.start);
	else
		snprintf(to, size, "?");
}

#endif
