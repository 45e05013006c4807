/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What binutils and elfutils say about the functions of real files is what the table has to say:
 * thousands of random addresses a file, each disagreement assigned to a class that is allowed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/elffile.h"
#include "symbols/symtab.h"

#define SAMPLES 3000

static const char *const files[] = {
	"/usr/bin/node",
	"/usr/bin/python3",
	"/usr/bin/perl",
	"/usr/bin/bash",
	"/usr/bin/xz",
	"/usr/bin/openssl",
	"/lib64/ld-linux-x86-64.so.2",
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib/x86_64-linux-gnu/libm.so.6",
	"/lib/x86_64-linux-gnu/libelf.so.1",
	"/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
	"/proc/self/exe",
};

/* A line of nm. */
struct line {
	uint64_t addr;
	uint64_t size;
	char *name;
	bool label;
};

struct names {
	struct line *lines;
	size_t count;
};

__attribute__((format(printf, 1, 2))) static FILE *run(const char *format, ...)
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

__attribute__((format(printf, 1, 2))) static void must(const char *format, ...)
{
	char command[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command))
		fail_msg("%s", command);
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

/* The functions and labels that nm lists (name, value, class, type, size), versions cut. */
static void names_read(struct names *names, const char *path, const char *options)
{
	FILE *pipe = run("nm -f sysv --defined-only %s '%s' 2>/dev/null", options, path);
	char *text = NULL, *at, *name, *value, *type, *length;
	size_t size = 0;
	struct line line;
	bool function;

	while (getline(&text, &size, pipe) > 0) {
		at = text;
		name = next_field(&at);
		value = next_field(&at);
		next_field(&at);
		type = next_field(&at);
		length = next_field(&at);
		/* STT_GNU_IFUNC is number 10 */
		function = type && (!strcmp(type, "FUNC") || strstr(type, ": 10"));
		if (!length || (!function && strcmp(type, "NOTYPE")) ||
		    !strncmp(name, "__pfx_", 6) || !*name || *name == '.')
			continue;
		name[1 + strcspn(name + 1, "@")] = '\0';
		line.addr = strtoull(value, NULL, 16);
		line.size = strtoull(length, NULL, 16);
		line.label = !function;
		line.name = strdup(name);
		/* at every power of two */
		if (!(names->count & (names->count - 1)))
			names->lines = reallocarray(
				names->lines, names->count ? 2 * names->count : 1, sizeof(line));
		assert_non_null(names->lines);
		names->lines[names->count++] = line;
	}
	free(text);
	pclose(pipe);
}

static void names_sort(struct names *names)
{
	if (names->count)
		qsort(names->lines, names->count, sizeof(*names->lines), by_addr);
}

static void names_free(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->lines[i].name);
	free(names->lines);
	*names = (struct names){0};
}

/* Index of the first line behind addr. */
static size_t names_after(const struct names *names, uint64_t addr)
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

static bool names_has(const struct names *names, uint64_t addr, const char *name)
{
	size_t i = names_after(names, addr);

	while (i-- > 0 && names->lines[i].addr == addr)
		if (!strcmp(names->lines[i].name, name))
			return true;
	return false;
}

/* Latest start of a sized function that covers addr, 0 when there is none. */
static uint64_t names_inner(const struct names *names, uint64_t addr)
{
	size_t i = names_after(names, addr), seen;

	for (seen = 0; i-- > 0 && seen < 5000; seen++)
		if (!names->lines[i].label && addr - names->lines[i].addr < names->lines[i].size)
			return names->lines[i].addr;
	return 0;
}

static struct symtab *open_table(const char *path, const char *debug_root)
{
	struct elf_file *file;
	struct symtab *table;

	assert_int_equal(elf_file_open(path, &file), 0);
	assert_int_equal(symtab_new(file, debug_root, &table), 0);
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
	FILE *pipe = run("readelf -SW '%s' 2>/dev/null | sed 's/^ *\\[ *[0-9]*\\] *//' | "
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

/* Random addresses: half in .text and its like, half near where a symbol begins or ends. */
static void pick(const char *path, const struct names *names, uint64_t *addrs)
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

static void check_nm(const char *path, const char *root, const struct names *names)
{
	struct symtab *table = open_table(path, root);
	uint64_t addrs[SAMPLES], inner;
	size_t i, found = 0, unsized = 0;
	struct symbol symbol;

	pick(path, names, addrs);
	for (i = 0; i < SAMPLES; i++) {
		inner = names_inner(names, addrs[i]);
		if (symtab_find(table, addrs[i], &symbol)) {
			if (inner)
				fail_msg("%s: %" PRIx64 " is in a function at %" PRIx64, path,
					 addrs[i], inner);
			continue;
		}
		found++;
		assert_true(addrs[i] - symbol.start < symbol.size);
		if (!names_has(names, symbol.start, symbol.name))
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

static void test_nm(void **state)
{
	size_t i, tried = 0;

	(void)state;
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct names names = {0};
		char path[4096];

		if (!realpath(files[i], path))
			continue;
		names_read(&names, path, "");
		names_read(&names, path, "-D");
		names_sort(&names);
		check_nm(path, NULL, &names);
		names_free(&names);
		tried++;
	}
	assert_true(tried >= 10);
}

/* eu-addr2line's answers, as starts of symbols; 0 where it knows none. */
static void ask_elfutils(const char *path, const uint64_t *addrs, uint64_t *starts)
{
	char list[] = "/tmp/test_symtab.XXXXXX", *text = NULL, *plus;
	int fd = mkstemp(list);
	FILE *out, *pipe;
	size_t size = 0, i;

	assert_true(fd >= 0);
	out = fdopen(fd, "w");
	for (i = 0; i < SAMPLES; i++)
		fprintf(out, "0x%" PRIx64 "\n", addrs[i]);
	fclose(out);
	/* A line for the symbol, and one for the source, which is not wanted. */
	pipe = run(
		"DEBUGINFOD_URLS= eu-addr2line --debuginfo-path=/nowhere -S -e '%s' < %s 2>/dev/null",
		path, list);
	for (i = 0; i < SAMPLES; i++) {
		assert_true(getline(&text, &size, pipe) > 0);
		plus = strrchr(text, '+');
		starts[i] = 0;
		if (plus && !strncmp(plus, "+0x", 3))
			starts[i] = addrs[i] - strtoull(plus + 1, NULL, 16);
		else if (text[0] != '?' && text[0] != '(')
			starts[i] = addrs[i];
		assert_true(getline(&text, &size, pipe) > 0);
	}
	pclose(pipe);
	free(text);
	unlink(list);
}

/* True when nm gives a size to no symbol at start, or to none that reaches addr. */
static bool does_not_reach(const struct names *names, uint64_t start, uint64_t addr)
{
	size_t i = names_after(names, start);

	while (i-- > 0 && names->lines[i].addr == start)
		if (addr - start < names->lines[i].size)
			return false;
	return true;
}

/*
 * The allowed classes of disagreement: elfutils lets a symbol go on behind its size when nothing
 * follows, or across sections; or it prefers a sizeless symbol, or the table does.
 */
static void check_elfutils(const char *path, const struct names *names)
{
	uint64_t addrs[SAMPLES], starts[SAMPLES];
	size_t i, same = 0, none = 0, theirs = 0, ours = 0;
	struct symtab *table = open_table(path, NULL);
	struct symbol symbol;

	pick(path, names, addrs);
	ask_elfutils(path, addrs, starts);
	for (i = 0; i < SAMPLES; i++) {
		int err = symtab_find(table, addrs[i], &symbol);

		if (err && !starts[i])
			none++;
		else if (!err && starts[i] == symbol.start)
			same++;
		else if (starts[i] && does_not_reach(names, starts[i], addrs[i]))
			theirs++;
		else if (!err && does_not_reach(names, symbol.start, addrs[i]))
			ours++;
		else
			fail_msg("%s: %" PRIx64 ": elfutils says %" PRIx64 ", the table %" PRIx64,
				 path, addrs[i], starts[i], err ? 0 : symbol.start);
	}
	print_message("%s: %zu alike, %zu in none, sizeless or beyond: %zu theirs, %zu ours\n",
		      path, same, none, theirs, ours);
	symtab_free(table);
}

static void test_elfutils(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct names names = {0};
		char path[4096];

		if (!realpath(files[i], path))
			continue;
		names_read(&names, path, "");
		names_read(&names, path, "-D");
		names_sort(&names);
		check_elfutils(path, &names);
		names_free(&names);
	}
}

static const char source[] =
	"asm(\".text\\n.globl entry\\n.weak weak_\\n.globl __entry\\n.type entry,@function\\n\"\n"
	"    \".type weak_,@function\\n.type __entry,@function\\n.type loc,@function\\n\"\n"
	"    \".type a_longer_entry,@function\\n.globl a_longer_entry\\n.balign 64\\n\"\n"
	"    \"loc: weak_: __entry: entry: a_longer_entry: nop\\n nop\\n\"\n"
	"    \".size entry,64\\n.size weak_,64\\n.size __entry,64\\n.size loc,64\\n\"\n"
	"    \".size a_longer_entry,64\\n.balign 64\\n\"\n"
	"    \".type outer,@function\\nouter: .skip 16\\n.type inner,@function\\n\"\n"
	"    \"inner: .skip 16\\n.size inner,16\\nlabel: .skip 32\\n.size outer,64\\n\"\n"
	"    \".type sizeless,@function\\nsizeless: .skip 32\\nplain_label: .skip 32\\n\"\n"
	"    \".type __pfx_last,@function\\n__pfx_last: .skip 16\\n.size __pfx_last,16\\n\"\n"
	"    \".type last,@function\\nlast: .skip 16\\n.size last,16\\n.skip 16\\n\");\n"
	"int main(void) { return 0; }\n";

static char folder[64];

static int make_files(void **state)
{
	char path[128];
	FILE *out;

	(void)state;
	strcpy(folder, "/tmp/test_symtab.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a.c", folder);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(source, out);
	fclose(out);
	must("cd %s && gcc -O1 -g -Wl,--build-id=0xabcdef0123456789 -o full a.c", folder);
	must("cd %s && objcopy --only-keep-debug full full.debug && strip -o bare full && "
	     "mkdir -p root/.build-id/ab other/.build-id/ab compressed/.build-id/ab && "
	     "cp full.debug root/.build-id/ab/cdef0123456789.debug && "
	     "objcopy --compress-debug-sections full.debug "
	     "compressed/.build-id/ab/cdef0123456789.debug && "
	     "gcc -O1 -g -Wl,--build-id=0xabcdef0123456780 -o other/.build-id/ab/"
	     "cdef0123456789.debug a.c && mkfifo fifo",
	     folder);
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	must("rm -r %s", folder);
	return 0;
}

static struct symtab *open_made(const char *name, const char *root)
{
	char path[128], where[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	snprintf(where, sizeof(where), "%s/%s", folder, root ? root : "");
	return open_table(path, root ? where : NULL);
}

static uint64_t addr_in(const char *file, const char *name)
{
	FILE *pipe = run("nm %s/%s | awk '$3 == \"%s\" {print $1}'", folder, file, name);
	uint64_t addr = 0;

	assert_int_equal(fscanf(pipe, "%" SCNx64, &addr), 1);
	pclose(pipe);
	return addr;
}

static uint64_t addr_of(const char *name)
{
	return addr_in("full", name);
}

static void expect(const struct symtab *table, uint64_t addr, const char *name, uint64_t size)
{
	struct symbol symbol;

	if (symtab_find(table, addr, &symbol))
		fail_msg("nothing at %" PRIx64 ", not %s", addr, name);
	assert_string_equal(symbol.name, name);
	assert_int_equal(symbol.size, size);
}

static void check_made(const struct symtab *table)
{
	uint64_t entry = addr_of("entry"), outer = addr_of("outer"), sizeless = addr_of("sizeless");
	uint64_t last = addr_of("last");
	struct symbol symbol;

	expect(table, entry, "entry", 64);
	expect(table, entry + 63, "entry", 64);
	expect(table, outer, "outer", 64);
	expect(table, outer + 15, "outer", 64);
	expect(table, outer + 16, "inner", 16);
	expect(table, outer + 31, "inner", 16);
	expect(table, outer + 32, "outer", 64);
	expect(table, outer + 63, "outer", 64);
	expect(table, sizeless + 31, "sizeless", 32);
	expect(table, sizeless + 32, "plain_label", 48);
	expect(table, last, "last", 16);
	assert_int_equal(symtab_find(table, last + 16, &symbol), -ENOENT);
	assert_int_equal(symtab_find(table, 0, &symbol), -ENOENT);
	assert_int_equal(symtab_find(table, UINT64_MAX, &symbol), -ENOENT);
}

static void test_rules(void **state)
{
	struct symtab *table = open_made("full", NULL);

	(void)state;
	check_made(table);
	symtab_free(table);
}

static void test_debug_file(void **state)
{
	static const char *const roots[] = {"root", "compressed"};
	struct symtab *table;
	struct names names = {0};
	char path[128], where[128];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		table = open_made("bare", roots[i]);
		check_made(table);
		symtab_free(table);
	}
	snprintf(path, sizeof(path), "%s/full", folder);
	names_read(&names, path, "");
	names_sort(&names);
	snprintf(path, sizeof(path), "%s/bare", folder);
	snprintf(where, sizeof(where), "%s/root", folder);
	check_nm(path, where, &names);
	names_free(&names);
}

/* A debug file of another build, and none at all, leave only .dynsym. */
static void test_no_debug_file(void **state)
{
	static const char *const roots[] = {"other", "nowhere", NULL};
	struct symbol symbol;
	uint64_t entry = addr_of("entry");

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct symtab *table = open_made("bare", roots[i]);

		assert_int_equal(symtab_find(table, entry, &symbol), -ENOENT);
		symtab_free(table);
	}
}

/* strip may leave a few symbols: what only .dynsym still has must not be missed. */
static void test_thin_symtab(void **state)
{
	struct symtab *table;

	(void)state;
	must("cd %s && gcc -O1 -rdynamic -Wl,--build-id=none -o exporting a.c && "
	     "strip -K last -o thin exporting && nm thin | grep -q ' last' && "
	     "! nm thin | grep -q ' entry' && nm -D thin | grep -q ' entry'",
	     folder);
	table = open_made("thin", NULL);
	expect(table, addr_in("thin -D", "entry"), "entry", 64);
	expect(table, addr_in("thin", "last"), "last", 16);
	symtab_free(table);
}

static void test_fifo_as_debug_file(void **state)
{
	struct symtab *table;

	(void)state;
	must("cd %s && mkdir -p trap/.build-id/ab && mkfifo trap/.build-id/ab/"
	     "cdef0123456789.debug",
	     folder);
	table = open_made("bare", "trap");
	symtab_free(table);
}

static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void test_no_fd_is_left(void **state)
{
	int before = count_fds();

	(void)state;
	for (int i = 0; i < 50; i++)
		symtab_free(open_made("bare", i % 2 ? "root" : "other"));
	assert_int_equal(count_fds(), before);
}

static void test_relocatable(void **state)
{
	struct elf_file *file;
	struct symtab *table;
	char path[128];

	(void)state;
	must("cd %s && gcc -c -o a.o a.c", folder);
	snprintf(path, sizeof(path), "%s/a.o", folder);
	assert_int_equal(elf_file_open(path, &file), 0);
	assert_int_equal(symtab_new(file, NULL, &table), -EINVAL);
	elf_file_free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_debug_file),
		cmocka_unit_test(test_no_debug_file),
		cmocka_unit_test(test_thin_symtab),
		cmocka_unit_test(test_fifo_as_debug_file),
		cmocka_unit_test(test_no_fd_is_left),
		cmocka_unit_test(test_relocatable),
		cmocka_unit_test(test_nm),
		cmocka_unit_test(test_elfutils),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
