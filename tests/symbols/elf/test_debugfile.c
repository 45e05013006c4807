/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Separate debug files as objcopy, strip and xz make them: nm's answers about the full file are
 * expected of the stripped one. And hostile files in their place: they must not make us wait or
 * look elsewhere.
 * Covers: symbols/elf/debugfile.c symbols/files/rootfile.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "symbols/elf/debugfile.h"
#include "symbols/elf/elffile.h"
#include "symbols/files/rootfile.h"
#include "symbols/names/symtab.h"
#include "tests/support/fds.h"
#include "tests/support/nm.h"
#include "tests/support/scratch.h"

static char folder[SCRATCH];

static const char source[] =
	"__attribute__((noinline)) static int hidden(int n) { return n * 3 + 1; }\n"
	"__attribute__((noinline)) static int deeper(int n) { return hidden(n) + hidden(n + 1); }\n"
	"int shown(int n) { return deeper(n) ^ n; }\n"
	"int main(int argc, char **argv) { (void)argv; return shown(argc); }\n";

__attribute__((format(printf, 1, 2))) static void must(const char *format, ...)
{
	char command[2048];
	size_t n = (size_t)snprintf(command, sizeof(command), "cd %s && ", folder);
	va_list args;

	va_start(args, format);
	vsnprintf(command + n, sizeof(command) - n, format, args);
	va_end(args);
	if (system(command))
		fail_msg("%s", command);
}

/*
 * full: with everything, and a build-id; plain: the same without one. Folders that a test fills:
 * root/usr/lib/debug.
 */
static int make_files(void **state)
{
	char path[128];
	FILE *out;

	(void)state;
	scratch_folder(folder, "debugfile");
	snprintf(path, sizeof(path), "%s/a.c", folder);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(source, out);
	fclose(out);
	must("gcc -O1 -g -fno-ipa-cp -fno-inline -rdynamic -Wl,--build-id=0xabcdef0123456789 "
	     "-o full a.c && gcc -O1 -g -fno-ipa-cp -fno-inline -rdynamic -Wl,--build-id=none "
	     "-o plain a.c && objcopy --only-keep-debug full full.debug && "
	     "objcopy --only-keep-debug plain plain.debug");
	return 0;
}

/* nm is asked once for each. */
static uint64_t addr_of(const char *file, const char *name)
{
	static struct {
		char file[16], name[16];
		uint64_t addr;
	} known[16];
	char command[256];
	uint64_t addr = 0;
	size_t i;
	FILE *pipe;

	for (i = 0; known[i].addr; i++)
		if (!strcmp(known[i].file, file) && !strcmp(known[i].name, name))
			return known[i].addr;
	snprintf(command, sizeof(command), NM "%s/%s | awk '$3 == \"%s\" {print $1}'", folder, file,
		 name);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%" SCNx64, &addr), 1);
	pclose(pipe);
	assert_true(i + 1 < sizeof(known) / sizeof(known[0]));
	snprintf(known[i].file, sizeof(known[i].file), "%s", file);
	snprintf(known[i].name, sizeof(known[i].name), "%s", name);
	return known[i].addr = addr;
}

static struct elf_file *open_elf(const char *name)
{
	struct elf_file *file;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(elf_file_open(path, &file), 0);
	return file;
}

/* root: folder that stands for the root of a process, NULL for our own; debug: in that root. */
static struct symtab *open_table(const char *name, const char *root, const char *debug)
{
	struct debug_place place = {.root = -1, .folder = debug};
	struct elf_file *file = open_elf(name);
	struct symtab *table;
	char path[128];

	if (root) {
		snprintf(path, sizeof(path), "%s/%s", folder, root);
		place.root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		assert_true(place.root >= 0);
	}
	assert_int_equal(symtab_new(file, &place, &table), 0);
	elf_file_free(file);
	if (root)
		close(place.root);
	return table;
}

/* What only .symtab has is found, or is not; what .dynsym has always is. */
static void expect(struct symtab *table, const char *original, bool all)
{
	static const char *const names[] = {"hidden", "deeper", "shown", "main"};
	struct symbol symbol;
	uint64_t addr;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		addr = addr_of(original, names[i]);
		if (!all && i < 2) {
			assert_int_equal(symtab_find(table, addr, &symbol), -ENOENT);
			continue;
		}
		assert_int_equal(symtab_find(table, addr + 1, &symbol), 0);
		assert_string_equal(symbol.name, names[i]);
		assert_int_equal(symbol.start, addr);
	}
	assert_int_equal(symtab_complete(table), all);
	symtab_free(table);
}

/* The three places of a debug link, one after the other, for a file without a build-id. */
static void test_debuglink(void **state)
{
	char debug[128];

	(void)state;
	snprintf(debug, sizeof(debug), "%s/debug", folder);
	must("mkdir -p bin bin/.debug debug%s/bin && strip -o bin/plain plain && cp plain.debug bin && "
	     "cd bin && objcopy --add-gnu-debuglink=plain.debug plain",
	     folder);
	expect(open_table("bin/plain", NULL, debug), "plain", true);
	must("mv bin/plain.debug bin/.debug");
	expect(open_table("bin/plain", NULL, debug), "plain", true);
	must("mv bin/.debug/plain.debug debug%s/bin", folder);
	expect(open_table("bin/plain", NULL, debug), "plain", true);
	must("rm debug%s/bin/plain.debug", folder);
	expect(open_table("bin/plain", NULL, debug), "plain", false);
}

/* A debug file of the right name and another content, by CRC or by build-id. */
static void test_wrong_file(void **state)
{
	(void)state;
	must("mkdir -p wrong && cp full.debug wrong/plain.debug && strip -o wrong/plain plain && "
	     "cp plain.debug wrong/true.debug && cd wrong && "
	     "objcopy --add-gnu-debuglink=true.debug plain && mv true.debug kept && "
	     "sed 's/hidden/hidde_/' <kept >true.debug && ! cmp -s kept true.debug");
	expect(open_table("wrong/plain", NULL, "/nowhere"), "plain", false);
	must("cd wrong && cp kept true.debug");
	expect(open_table("wrong/plain", NULL, "/nowhere"), "plain", true);
	must("mkdir -p other && strip -o other/full full && cp full.debug other && cd other && "
	     "objcopy --add-gnu-debuglink=full.debug full && gcc -O1 -g -fno-inline -rdynamic "
	     "-Wl,--build-id=0xabcdef0123456780 -o full.debug ../a.c");
	expect(open_table("other/full", NULL, "/nowhere"), "full", false);
}

/* A link that leads out of the folder is none. */
static void test_link_with_slash(void **state)
{
	struct debug_link *link = malloc(sizeof(*link));
	struct elf_file *file;

	(void)state;
	assert_non_null(link);
	must("mkdir -p slash && strip -o slash/plain plain && printf '../plain.debug\\0\\0aaaa' "
	     ">slash/link && objcopy --add-section .gnu_debuglink=slash/link slash/plain");
	file = open_elf("slash/plain");
	debug_link_read(file, link);
	assert_false(link->has_crc);
	assert_int_equal(link->id_length, 0);
	elf_file_free(file);
	free(link);
}

/* Debug files of a container: below its root, whatever its links say, and never out of it. */
static void test_root(void **state)
{
	(void)state;
	must("mkdir -p c/usr/lib/debug/.build-id c/real/ab && strip -o stripped full && "
	     "cp full.debug c/real/ab/cdef0123456789.debug && "
	     "ln -s /real/ab c/usr/lib/debug/.build-id/ab");
	expect(open_table("stripped", "c", "/usr/lib/debug"), "full", true);
	must("rm c/usr/lib/debug/.build-id/ab && mkdir -p out/ab && "
	     "cp full.debug out/ab/cdef0123456789.debug && "
	     "ln -s ../../../../../out/ab c/usr/lib/debug/.build-id/ab && "
	     "test -e c/usr/lib/debug/.build-id/ab/cdef0123456789.debug");
	expect(open_table("stripped", "c", "/usr/lib/debug"), "full", false);
	must("rm c/usr/lib/debug/.build-id/ab && ln -s /proc/self/cwd/out/ab "
	     "c/usr/lib/debug/.build-id/ab && mkdir c/proc");
	expect(open_table("stripped", "c", "/usr/lib/debug"), "full", false);
}

#define PATIENCE 60 /* s; what is waited for would never come */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* FIFOs, devices, sockets, folders and circles in the place of a debug file: no wait, no answer. */
static void test_traps(void **state)
{
	static const char *const traps[] = {
		"mkfifo t",
		"mknod t c 1 5",
		"mknod t c 5 0 ",
		"mknod t c 1 3",
		"ln -s t t",
		"ln -s u t; ln -s t u",
		"mkdir t",
		"truncate -s 1T t",
		"ln -s /dev/zero t",
		"ln -s /dev/stdin t",
		": >t",
		"printf '\\177ELF' >t",
	};
	double start;

	(void)state;
	must("mkdir -p trap && strip -o trap/plain plain && cp plain.debug trap/t && cd trap && "
	     "objcopy --add-gnu-debuglink=t plain");
	for (size_t i = 0; i < sizeof(traps) / sizeof(*traps); i++) {
		must("cd trap && rm -rf t u && { %s; }", traps[i]);
		start = now();
		expect(open_table("trap/plain", NULL, "/nowhere"), "plain", false);
		assert_true(now() - start < PATIENCE);
	}
}

/* As Fedora's find-debuginfo does: what .dynsym lacks, compressed, in a section. */
static void test_minidebug(void **state)
{
	(void)state;
	must("objcopy -S --remove-section .gdb_index --remove-section .comment "
	     "--keep-symbol=hidden --keep-symbol=deeper full.debug mini && xz -k -f mini && "
	     "strip -o small full && objcopy --add-section .gnu_debugdata=mini.xz small");
	must("nm mini | grep -q hidden && ! nm mini | grep -q shown");
	{
		struct symtab *table = open_table("small", NULL, "/nowhere");
		struct symbol symbol;

		/* a debug file could still add lines and labels */
		assert_false(symtab_complete(table));
		for (size_t i = 0; i < 4; i++) {
			static const char *const names[] = {"hidden", "deeper", "shown", "main"};
			uint64_t addr = addr_of("full", names[i]);

			assert_int_equal(symtab_find(table, addr + 1, &symbol), 0);
			assert_string_equal(symbol.name, names[i]);
			assert_int_equal(symbol.start, addr);
		}
		symtab_free(table);
	}
}

/*
 * huge.xz: good but for its claim to need a dictionary of 1.5 GiB, in the byte before the padding
 * of its block's header (xz-file-format.txt, 3.1 and 5.3.1). xz itself would need ten times as much
 * memory to make one.
 */
static void make_huge_dictionary(void)
{
	unsigned char head[24];
	uint32_t crc;
	char path[128];
	FILE *f;

	must("xz -0 -T1 <full.debug >huge.xz"); /* else its block's header has sizes, too */
	snprintf(path, sizeof(path), "%s/huge.xz", folder);
	f = fopen(path, "r+");
	assert_non_null(f);
	assert_int_equal(fread(head, 1, sizeof(head), f), sizeof(head));
	/* 12 bytes: their number, flags, filter LZMA2, size of its properties, dictionary */
	assert_memory_equal(head + 12, "\x02\x00\x21\x01", 4);
	head[16] = 37;
	crc = (uint32_t)crc32(0, head + 12, 8);
	memcpy(head + 20, &crc, sizeof(crc));
	rewind(f);
	assert_int_equal(fwrite(head, 1, sizeof(head), f), sizeof(head));
	assert_int_equal(fclose(f), 0);
	must("xz -t huge.xz && ! xz -t -M 128MiB huge.xz 2>/dev/null");
}

/* Too many zeros, a stream that ends early, and one that is none. */
static void test_minidebug_bombs(void **state)
{
	static const char *const bombs[] = {
		"head -c 100M /dev/zero | xz -0",
		"xz <full.debug | head -c 1000",
		"head -c 5000 /dev/zero",
		"printf ''",
		"xz </dev/null",
		"cat huge.xz",
	};
	struct elf_file *file, *inner;
	double start;

	(void)state;
	make_huge_dictionary();
	for (size_t i = 0; i < sizeof(bombs) / sizeof(*bombs); i++) {
		must("{ %s; } >bomb.xz; strip -o bomb full && "
		     "objcopy --add-section .gnu_debugdata=bomb.xz bomb",
		     bombs[i]);
		file = open_elf("bomb");
		start = now();
		assert_int_not_equal(minidebug_open(file, &inner), 0);
		assert_true(now() - start < PATIENCE);
		elf_file_free(file);
		expect(open_table("bomb", NULL, "/nowhere"), "full", false);
	}
}

/* dwz moves what two files share to a third, and says where it is. */
static void test_alt(void **state)
{
	static const char *const where[] = {
		"cp third.debug alt/third.debug",
		"mkdir -p d/.build-id/12 && mv alt/third.debug d/.build-id/12/345678.debug",
		"rm d/.build-id/12/345678.debug && mkfifo alt/third.debug",
		"rm alt/third.debug && cp full.debug alt/third.debug",
	};
	struct elf_file *debug, *alt;
	struct debug_place place = {.root = -1, .folder = NULL};
	uint8_t id[BUILD_ID_MAX];
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/d", folder);
	place.folder = path;
	must("mkdir -p alt && gcc -g -shared -Wl,--build-id=0x12345678 -o third.debug a.c && "
	     "printf 'third.debug\\0\\022\\064\\126\\170' >alt/link && "
	     "objcopy --add-section .gnu_debugaltlink=alt/link full.debug alt/full.debug");
	for (size_t i = 0; i < sizeof(where) / sizeof(*where); i++) {
		must("%s", where[i]);
		debug = open_elf("alt/full.debug");
		if (i < 2) {
			assert_int_equal(debugfile_open_alt(debug, &place, &alt), 0);
			assert_int_equal(elf_file_build_id(alt, id), 4);
			assert_memory_equal(id, "\x12\x34\x56\x78", 4);
			elf_file_free(alt);
		} else {
			assert_int_equal(debugfile_open_alt(debug, &place, &alt), -ENOENT);
		}
		elf_file_free(debug);
	}
	debug = open_elf("full");
	assert_int_equal(debugfile_open_alt(debug, &place, &alt), -ENOENT);
	elf_file_free(debug);
}

/* A debug file that appears is seen without the file, and only then. */
static void test_installed_later(void **state)
{
	struct debug_link *link = malloc(sizeof(*link));
	struct elf_file *file, *debug;
	struct debug_place place = {.root = -1, .folder = NULL};
	char path[128];

	(void)state;
	assert_non_null(link);
	snprintf(path, sizeof(path), "%s/later", folder);
	place.folder = path;
	must("strip -o waits full && mkdir -p later/.build-id");
	file = open_elf("waits");
	debug_link_read(file, link);
	elf_file_free(file);
	assert_false(debug_link_present(link, &place));
	assert_int_equal(debug_link_open(link, &place, NULL, &debug), -ENOENT);
	must("mkdir later/.build-id/ab && cp full.debug later/.build-id/ab/cdef0123456789.debug");
	assert_true(debug_link_present(link, &place));
	assert_int_equal(debug_link_open(link, &place, NULL, &debug), 0);
	elf_file_free(debug);
	free(link);
}

/* The file shrinks below an open table: names that were read stay, others are gone, nothing dies.
 */
static void test_shrinks(void **state)
{
	struct symtab *table;
	struct symbol symbol;

	(void)state;
	must("cp full shrinks");
	table = open_table("shrinks", NULL, "/nowhere");
	assert_int_equal(symtab_find(table, addr_of("full", "hidden"), &symbol), 0);
	must("truncate -s 1000 shrinks");
	assert_int_equal(symtab_find(table, addr_of("full", "hidden"), &symbol), 0);
	assert_string_equal(symbol.name, "hidden");
	assert_int_equal(symtab_find(table, addr_of("full", "deeper"), &symbol), -ENOENT);
	symtab_free(table);
}

static void test_no_fd_is_left(void **state)
{
	static const char *const names[] = {"full", "stripped", "small", "bomb", "trap/plain"};
	size_t before = count_fds();

	(void)state;
	for (size_t i = 0; i < 50; i++)
		symtab_free(open_table(names[i % 5], i % 2 ? "c" : NULL, "/usr/lib/debug"));
	assert_int_equal(count_fds(), before);
	assert_int_equal(rootfile_open(-1, "/dev/null"), -EINVAL);
	assert_int_equal(rootfile_open(-1, folder), -EINVAL);
	assert_int_equal(rootfile_open(-1, "/proc/self/status"), -EINVAL);
	assert_int_equal(count_fds(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_debuglink),	cmocka_unit_test(test_wrong_file),
		cmocka_unit_test(test_link_with_slash), cmocka_unit_test(test_root),
		cmocka_unit_test(test_traps),		cmocka_unit_test(test_minidebug),
		cmocka_unit_test(test_minidebug_bombs), cmocka_unit_test(test_alt),
		cmocka_unit_test(test_installed_later), cmocka_unit_test(test_shrinks),
		cmocka_unit_test(test_no_fd_is_left),
	};

	return cmocka_run_group_tests(tests, make_files, scratch_remove);
}
