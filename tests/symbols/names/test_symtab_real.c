// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What binutils and elfutils say about the functions of real files is what the table has to say:
 * thousands of random addresses a file, each disagreement assigned to a class that is allowed.
 * elfutils goes through all symbols for each address: of a file that has very many it is asked
 * about a tenth of the addresses, unless SIZE=full. time limit: 300 s
 * Covers: symbols/names/symtab.c symbols/names/symread.c symbols/names/symlist.c
 * Covers: symbols/names/symname.c symbols/names/plt.c symbols/elf/arch/x86_64.h
 * Covers: symbols/elf/elffile.c
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/nmnames.h"
#include "tests/support/rights.h"
#include "tests/support/scratch.h"
#include "tests/support/shell.h"

#define LARGE (64ll << 20) /* bytes */

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

static void test_nm(void **state)
{
	size_t i, tried = 0;

	(void)state;
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct names names = {0};
		char path[4096];

		if (!realpath(files[i], path))
			continue;
		nmnames_read(&names, path, "");
		nmnames_read(&names, path, "-D");
		nmnames_sort(&names);
		check_nm(path, NULL, &names);
		nmnames_free(&names);
		tried++;
	}
	assert_true(tried >= 10);
}

/* How many addresses of a file elfutils is asked about. */
static size_t samples_of(const char *path)
{
	const char *size = getenv("SIZE");
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_size < LARGE || (size && !strcmp(size, "full")) ? SAMPLES : SAMPLES / 10;
}

/* eu-addr2line's answers, as starts of symbols; 0 where it knows none. */
static void ask_elfutils(const char *path, const uint64_t *addrs, uint64_t *starts, size_t count)
{
	char list[SCRATCH], *text = NULL, *plus;
	int fd = scratch_file(list, "symtab");
	FILE *out, *pipe;
	size_t size = 0, i;

	out = fdopen(fd, "w");
	for (i = 0; i < count; i++)
		fprintf(out, "0x%" PRIx64 "\n", addrs[i]);
	fclose(out);
	/* A line for the symbol, and one for the source, which is not wanted. */
	pipe = nmnames_run(
		"DEBUGINFOD_URLS= eu-addr2line --debuginfo-path=/nowhere -S -e '%s' < %s 2>/dev/null",
		path, list);
	for (i = 0; i < count; i++) {
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
	size_t i = nmnames_after(names, start);

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
	size_t i, same = 0, none = 0, theirs = 0, ours = 0, count = samples_of(path);
	struct symtab *table = open_table(path, NULL);
	struct symbol symbol;

	nmnames_pick(path, names, addrs);
	ask_elfutils(path, addrs, starts, count);
	for (i = 0; i < count; i++) {
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
		nmnames_read(&names, path, "");
		nmnames_read(&names, path, "-D");
		nmnames_sort(&names);
		check_elfutils(path, &names);
		nmnames_free(&names);
	}
}

/* 32-bit files: one that is made here, and the C library where it is installed. */
static void test_narrow(void **state)
{
	static const char libc[] = "/lib32/libc.so.6";
	struct names names = {0};
	char path[SCRATCH];

	(void)state;
	close(scratch_file(path, "narrow"));
	if (system("as --32 -o /dev/null /dev/null 2>/dev/null"))
		skip_since("the assembler knows no --32");
	must("(echo .text; for f in $(seq 40); do "
	     "printf '.globl f%%d\\n.type f%%d,@function\\nf%%d: .skip %%d\\n.size f%%d,.-f%%d\\n' "
	     "$f $f $f $((f * 64)) $f $f; done) | as --32 -o %s.o - && "
	     "ld -m elf_i386 -e f1 -o %s %s.o && rm %s.o",
	     path, path, path, path);
	nmnames_read(&names, path, "");
	assert_true(names.count >= 40);
	nmnames_sort(&names);
	check_nm(path, NULL, &names);
	nmnames_free(&names);
	unlink(path);
	if (access(libc, R_OK))
		return;
	names = (struct names){0};
	nmnames_read(&names, libc, "-D");
	nmnames_sort(&names);
	check_nm(libc, NULL, &names);
	nmnames_free(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nm),
		cmocka_unit_test(test_elfutils),
		cmocka_unit_test(test_narrow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
