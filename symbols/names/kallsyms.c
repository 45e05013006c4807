/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel has some 120,000 text symbols. They are read once and kept for good, so they are packed:
 * 16 bytes each, names end to end in one arena, and the name of each module stored once.
 */
#include "symbols/names/kallsyms.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/base/grow.h"
#include "symbols/base/search.h"
#include "symbols/files/lines.h"
#include "symbols/names/symname.h"

#define NAMES_MAX   (256u << 20)
#define MODULES_MAX 65535u
/* The file does not tell where functions end: an address further from the last one is not in it. */
#define FUNCTION_MAX (1u << 20)

struct kallsyms_entry {
	uint64_t addr;
	uint32_t name;	 /* offset in names */
	uint16_t module; /* index in modules */
	uint16_t binding;
};

struct kallsyms {
	struct kallsyms_entry *entries; /* ascending, one per address */
	size_t count;
	size_t room;
	char *names;
	size_t names_used;
	size_t names_room;
	uint32_t *modules; /* offsets in names */
	size_t nmodules, modules_room;
	bool zeros; /* text symbols without an address were seen */
};

/* A line of the file: `ADDRESS TYPE NAME[\t[MODULE]]`. */
struct kallsyms_line {
	uint64_t addr;
	char type;
	const char *name;
	size_t name_length;
	const char *module;
	size_t module_length;
};

static int names_add(struct kallsyms *table, const char *text, size_t length, uint32_t *offset)
{
	if (GROW_TO(table->names, table->names_used + length + 1, table->names_room, NAMES_MAX))
		return -ENOMEM;
	*offset = table->names_used;
	memcpy(table->names + *offset, text, length);
	table->names[*offset + length] = '\0';
	table->names_used += length + 1;
	return 0;
}

/* Lines of a module are adjacent: the newest module is nearly always the right one. */
static int module_index(struct kallsyms *table, const char *text, size_t length, uint16_t *index)
{
	const char *name;
	size_t i = table->nmodules;

	while (i-- > 0) {
		name = table->names + table->modules[i];
		if (!strncmp(name, text, length) && !name[length]) {
			*index = i;
			return 0;
		}
	}
	if (GROW(table->modules, table->nmodules, table->modules_room, MODULES_MAX))
		return -ENOMEM;
	*index = table->nmodules;
	if (names_add(table, text, length, &table->modules[*index]))
		return -ENOMEM;
	table->nmodules++;
	return 0;
}

/* The name ends at a tab, which only symbols outside of vmlinux have. */
static bool parse_line(const char *p, const char *end, struct kallsyms_line *line)
{
	const char *tab, *start = p;

	if (!lines_number(&p, end, 16, &line->addr) || p - start > 16 || end - p < 4 || *p != ' ' ||
	    p[2] != ' ')
		return false;
	line->type = p[1];
	line->name = p + 3;
	tab = memchr(line->name, '\t', end - line->name);
	line->name_length = (tab ? tab : end) - line->name;
	line->module = "vmlinux";
	line->module_length = 7;
	if (tab) {
		if (end - tab < 4 || tab[1] != '[' || end[-1] != ']')
			return false;
		line->module = tab + 2;
		line->module_length = end - 1 - line->module;
	}
	return !memchr(start, '\0', end - start);
}

static int add_line(const char *text, const char *end, void *arg)
{
	struct kallsyms *table = arg;
	struct kallsyms_entry *e;
	struct kallsyms_line line;

	if (!parse_line(text, end, &line) || !strchr("tTwW", line.type) ||
	    symname_is_marker(line.name, line.name_length))
		return 0;
	if (!line.addr) {
		table->zeros = true;
		return 0;
	}
	if (GROW(table->entries, table->count, table->room, SIZE_MAX))
		return -ENOMEM;
	e = &table->entries[table->count];
	e->addr = line.addr;
	e->binding = line.type == 'T'			    ? SYMNAME_GLOBAL
		     : line.type == 'W' || line.type == 'w' ? SYMNAME_WEAK
							    : SYMNAME_LOCAL;
	if (module_index(table, line.module, line.module_length, &e->module) ||
	    names_add(table, line.name, line.name_length, &e->name))
		return -ENOMEM;
	table->count++;
	return 0;
}

static int compare_entries(const void *left, const void *right, void *arg)
{
	const struct kallsyms_entry *a = left, *b = right;
	const struct kallsyms *table = arg;
	struct symname x, y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	x.text = table->names + a->name;
	x.length = strlen(x.text);
	x.binding = a->binding;
	y.text = table->names + b->name;
	y.length = strlen(y.text);
	y.binding = b->binding;
	return symname_compare(&x, &y);
}

/* One name per address stays, and the arrays shrink to what they hold. */
static void table_finish(struct kallsyms *table)
{
	struct kallsyms_entry *entries;
	size_t i, kept = 0;
	char *names;

	if (!table->count)
		return;
	qsort_r(table->entries, table->count, sizeof(*table->entries), compare_entries, table);
	for (i = 0; i < table->count; i++)
		if (!kept || table->entries[kept - 1].addr != table->entries[i].addr)
			table->entries[kept++] = table->entries[i];
	table->count = kept;
	entries = reallocarray(table->entries, kept, sizeof(*entries));
	if (entries)
		table->entries = entries;
	names = realloc(table->names, table->names_used);
	if (names)
		table->names = names;
}

int kallsyms_new(const char *path, struct kallsyms **out)
{
	struct kallsyms *table = calloc(1, sizeof(*table));
	int fd, err;

	if (!table)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	err = fd < 0 ? -errno : lines_read(fd, add_line, table);
	if (fd >= 0)
		close(fd);
	if (!err && !table->count && table->zeros)
		err = -EPERM;
	if (err) {
		kallsyms_free(table);
		return err;
	}
	table_finish(table);
	*out = table;
	return 0;
}

void kallsyms_free(struct kallsyms *table)
{
	if (!table)
		return;
	free(table->entries);
	free(table->names);
	free(table->modules);
	free(table);
}

int kallsyms_find(const struct kallsyms *table, uint64_t addr, const char **name,
		  const char **module, uint64_t *offset)
{
	size_t low = SEARCH(table->count, i, table->entries[i].addr <= addr);
	const struct kallsyms_entry *e;

	if (!low)
		return -ENOENT;
	e = &table->entries[low - 1];
	if (addr - e->addr >= FUNCTION_MAX)
		return -ENOENT;
	*name = table->names + e->name;
	*module = table->names + table->modules[e->module];
	*offset = addr - e->addr;
	return 0;
}

uint64_t kallsyms_next(const struct kallsyms *table, uint64_t addr)
{
	size_t low = SEARCH(table->count, i, table->entries[i].addr <= addr);

	return low < table->count ? table->entries[low].addr : 0;
}
