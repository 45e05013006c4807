// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/nmnames.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/elf/debugfile.h"
#include "tests/support/nm.h"

FILE *nmnames_run(const char *format, ...)
{
	char command[1024];
	va_list args;
	FILE *pipe;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	return pipe;
}

static int by_addr(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* A field of nm's table without its padding. */
static char *next_field(char **at)
{
	char *field = strsep(at, "|\n"), *end;

	if (!field)
		return NULL;
	field += strspn(field, " ");
	for (end = field + strlen(field); end > field && end[-1] == ' '; end--)
		end[-1] = '\0';
	return field;
}

static void nmnames_add(struct names *names, const char *name, uint64_t addr, uint64_t size,
			bool label)
{
	/* at every power of two */
	if (!(names->count & (names->count - 1)))
		names->lines = reallocarray(names->lines, names->count ? 2 * names->count : 1,
					    sizeof(*names->lines));
	assert_non_null(names->lines);
	names->lines[names->count] = (struct line){addr, size, strdup(name), label};
	assert_non_null(names->lines[names->count].name);
	names->count++;
}

void nmnames_read(struct names *names, const char *path, const char *options)
{
	FILE *pipe = nmnames_run(NM "-f sysv --synthetic --defined-only %s '%s' 2>/dev/null",
				 options, path);
	char *text = NULL, *at, *name, *value, *type, *length;
	size_t size = 0;
	bool function;

	while (getline(&text, &size, pipe) > 0) {
		at = text;
		name = next_field(&at);
		value = next_field(&at);
		next_field(&at);
		type = next_field(&at);
		length = next_field(&at);
		if (length && strstr(name, "@plt")) {
			nmnames_add(names, name, strtoull(value, NULL, 16), 0, false);
			continue;
		}
		/* STT_GNU_IFUNC is number 10 */
		function = type && (!strcmp(type, "FUNC") || strstr(type, ": 10"));
		if (!length || (!function && strcmp(type, "NOTYPE")) ||
		    !strncmp(name, "__pfx_", 6) || !*name || *name == '.')
			continue;
		name[1 + strcspn(name + 1, "@")] = '\0';
		nmnames_add(names, name, strtoull(value, NULL, 16), strtoull(length, NULL, 16),
			    !function);
	}
	free(text);
	pclose(pipe);
}

void nmnames_sort(struct names *names)
{
	if (names->count)
		qsort(names->lines, names->count, sizeof(*names->lines), by_addr);
}

void nmnames_free(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->lines[i].name);
	free(names->lines);
	*names = (struct names){0};
}

size_t nmnames_after(const struct names *names, uint64_t addr)
{
	size_t low = 0, high = names->count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (names->lines[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What binutils calls *ABS*+0xADDR@plt, the stub of an ifunc, is to have the resolver's name. */
static bool is_stub_of(const struct names *names, const char *theirs, const char *ours)
{
	uint64_t addr = strncmp(theirs, "*ABS*+0x", 8) ? 0 : strtoull(theirs + 8, NULL, 16);
	size_t length = strcspn(ours, "@"), i = addr ? nmnames_after(names, addr) : 0;

	while (i-- > 0 && names->lines[i].addr == addr)
		if (!strncmp(names->lines[i].name, ours, length) && !names->lines[i].name[length] &&
		    !strcmp(ours + length, "@plt"))
			return true;
	return false;
}

static bool nmnames_has(const struct names *names, uint64_t addr, const char *name)
{
	size_t i = nmnames_after(names, addr);

	while (i-- > 0 && names->lines[i].addr == addr)
		if (!strcmp(names->lines[i].name, name) ||
		    is_stub_of(names, names->lines[i].name, name))
			return true;
	return false;
}

/* Latest start of a sized function that covers addr, 0 when there is none. */
static uint64_t nmnames_inner(const struct names *names, uint64_t addr)
{
	size_t i = nmnames_after(names, addr), seen;

	for (seen = 0; i-- > 0 && seen < 5000; seen++)
		if (!names->lines[i].label && addr - names->lines[i].addr < names->lines[i].size)
			return names->lines[i].addr;
	return 0;
}

struct symtab *open_table(const char *path, const char *debug_root)
{
	const struct debug_place place = {.root = -1, .folder = debug_root};
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file *file;
	struct symtab *table;

	assert_int_equal(elf_file_open_any_fd(fd, &file), 0);
	close(fd);
	assert_int_equal(symtab_new(file, debug_root ? &place : NULL, &table), 0);
	elf_file_free(file);
	return table;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Executable sections as readelf lists them. */
static size_t text_ranges(const char *path, uint64_t (*ranges)[2], size_t max)
{
	FILE *pipe = nmnames_run("readelf -SW '%s' 2>/dev/null | sed 's/^ *\\[ *[0-9]*\\] *//' | "
				 "awk '$7 ~ /^W?A?X/ && $3 != 0 {print $3, $5}'",
				 path);
	size_t n = 0;

	while (n < max && fscanf(pipe, "%" SCNx64 " %" SCNx64, &ranges[n][0], &ranges[n][1]) == 2)
		n++;
	pclose(pipe);
	return n;
}

static bool in_text(uint64_t addr, uint64_t (*ranges)[2], size_t n)
{
	while (n--)
		if (addr - ranges[n][0] < ranges[n][1])
			return true;
	return false;
}

void nmnames_pick(const char *path, const struct names *names, uint64_t *addrs)
{
	uint64_t ranges[64][2], seed = 0x9e3779b97f4a7c15, edge;
	size_t n = text_ranges(path, ranges, 64), largest = 0, i;
	const struct line *line;
	uint64_t *r;

	assert_true(n > 0);
	for (i = 1; i < n; i++)
		if (ranges[i][1] > ranges[largest][1])
			largest = i;
	for (i = 0; i < SAMPLES; i++) {
		r = ranges[i % 8 > 1 ? largest : next_random(&seed) % n];
		addrs[i] = r[0] + next_random(&seed) % r[1];
		if (!names->count || i % 2)
			continue;
		line = &names->lines[next_random(&seed) % names->count];
		edge = line->addr + (i % 4 ? line->size : 0) + next_random(&seed) % 3 - 1;
		if (in_text(edge, ranges, n))
			addrs[i] = edge;
	}
}

void check_nm(const char *path, const char *root, const struct names *names)
{
	struct symtab *table = open_table(path, root);
	uint64_t addrs[SAMPLES], inner;
	size_t i, found = 0, unsized = 0;
	struct symbol symbol;

	nmnames_pick(path, names, addrs);
	for (i = 0; i < SAMPLES; i++) {
		inner = nmnames_inner(names, addrs[i]);
		if (symtab_find(table, addrs[i], &symbol)) {
			if (inner)
				fail_msg("%s: %" PRIx64 " is in a function at %" PRIx64, path,
					 addrs[i], inner);
			continue;
		}
		found++;
		assert_true(addrs[i] - symbol.start < symbol.size);
		if (!nmnames_has(names, symbol.start, symbol.name))
			fail_msg("%s: nm knows no %s at %" PRIx64, path, symbol.name, symbol.start);
		if (symbol.start < inner)
			fail_msg("%s: %" PRIx64 " is %s, not what begins at %" PRIx64, path,
				 addrs[i], symbol.name, inner);
		if (!inner)
			unsized++;
	}
	print_message("%s: %zu symbols, %zu bytes; %zu of %d found, %zu of them unsized\n", path,
		      symtab_count(table), symtab_bytes(table), found, SAMPLES, unsized);
	if (names->count > 100)
		assert_true(found > SAMPLES / 20);
	symtab_free(table);
}
