// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which of the symbols of an address is the one, and where they are looked for: on a file made of
 * hard cases, its debug files of many kinds, and copies of it that are broken.
 * Covers: symbols/names/symtab.c symbols/names/symread.c symbols/names/symlist.c
 * Covers: symbols/base/search.h symbols/names/symname.c symbols/elf/debugfile.c symbols/names/plt.c
 */
#include <elf.h>
#include <errno.h>
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
#include "symbols/names/symname.h"
#include "tests/support/fds.h"
#include "tests/support/nm.h"
#include "tests/support/nmnames.h"
#include "tests/support/scratch.h"
#include "tests/support/shell.h"

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

static char folder[SCRATCH];

static int make_files(void **state)
{
	char path[128];
	FILE *out;

	(void)state;
	scratch_folder(folder, "symtab");
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

static struct symtab *open_made(const char *name, const char *root)
{
	char path[128], where[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	snprintf(where, sizeof(where), "%s/%s", folder, root ? root : "");
	return open_table(path, root ? where : NULL);
}

static uint64_t addr_in(const char *file, const char *name)
{
	FILE *pipe = nmnames_run(NM "%s/%s | awk '$3 == \"%s\" {print $1}'", folder, file, name);
	uint64_t addr = 0;

	assert_int_equal(fscanf(pipe, "%" SCNx64, &addr), 1);
	pclose(pipe);
	return addr;
}

static uint64_t addr_of(const char *name)
{
	return addr_in("full", name);
}

static void expect(struct symtab *table, uint64_t addr, const char *name, uint64_t size)
{
	struct symbol symbol;

	if (symtab_find(table, addr, &symbol))
		fail_msg("nothing at %" PRIx64 ", not %s", addr, name);
	assert_string_equal(symbol.name, name);
	assert_int_equal(symbol.size, size);
}

static void check_made(struct symtab *table)
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

/* Of a name all but its version; and names that mark places in code. */
static void test_names(void **state)
{
	static const struct {
		const char *name;
		size_t length;
		bool marker;
	} names[] = {
		{"memcpy@@GLIBC_2.14", 6, false},
		{"old@V1", 3, false},
		{"@start", 6, false},
		{"x", 1, false},
		{"a@", 1, false},
		{".L1", 3, true},
		{"$a", 2, true},
		{"$d.1", 4, true},
		{"$dx", 3, false},
		{"$b", 2, false},
		{"__pfx_f", 7, true},
		{"__pf", 4, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i].name);

		assert_int_equal(symname_cut_version(names[i].name, length), names[i].length);
		assert_int_equal(symname_is_marker(names[i].name, length), names[i].marker);
	}
}

/* Of two that begin together the shorter covers the longer; one without a size is either's alias.
 */
static void test_begin_together(void **state)
{
	struct symtab *table;
	uint64_t addr;

	(void)state;
	must("cd %s && printf '%%b' '%s' >two.s && gcc -nostdlib -shared -o two two.s", folder,
	     ".text\\n.type bare,@function\\n.type wide,@function\\n.type slim,@function\\n"
	     "bare: wide: slim: .skip 32\\n.size wide,32\\n.size slim,16\\n"
	     ".type unsized,@function\\nunsized: .skip 16\\n"
	     ".type final,@function\\nfinal: .skip 16\\n.size final,16\\n");
	table = open_made("two", NULL);
	addr = addr_in("two", "wide");
	expect(table, addr, "slim", 16);
	expect(table, addr + 15, "slim", 16);
	expect(table, addr + 16, "wide", 32);
	expect(table, addr + 31, "wide", 32);
	expect(table, addr + 32, "unsized", 16);
	expect(table, addr + 48, "final", 16);
	symtab_free(table);
}

static unsigned int asked;

static bool reaches_8(void *arg, uint64_t start, uint64_t vaddr)
{
	assert_ptr_equal(arg, &asked);
	asked++;
	return vaddr - start < 8;
}

/* Behind the end of one without a size is what surrounds it; others are not asked about. */
static void test_extents(void **state)
{
	static const struct {
		const char *from, *found;
		uint64_t offset;
		unsigned int asked;
	} want[] = {
		{"around", "around", 15, 0}, {"inside", "inside", 0, 0}, {"inside", "inside", 7, 1},
		{"inside", "around", 8, 1},  {"alone", "alone", 7, 1},	 {"alone", NULL, 8, 1},
	};
	const struct symtab_extents extents = {reaches_8, &asked};
	struct symbol symbol;
	struct symtab *table;

	(void)state;
	must("cd %s && printf '%%b' '%s' >ext.s && gcc -nostdlib -shared -o ext ext.s", folder,
	     ".text\\n.type around,@function\\n.type inside,@function\\n.type alone,@function\\n"
	     "around: .skip 16\\ninside: .skip 48\\n.size around,64\\nalone: .skip 32\\n");
	table = open_made("ext", NULL);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const uint64_t addr = addr_in("ext", want[i].from) + want[i].offset;

		asked = 0;
		assert_int_equal(symtab_find_within(table, addr, &extents, &symbol),
				 want[i].found ? 0 : -ENOENT);
		if (want[i].found)
			assert_string_equal(symbol.name, want[i].found);
		assert_int_equal(asked, want[i].asked);
	}
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
	nmnames_read(&names, path, "");
	nmnames_sort(&names);
	snprintf(path, sizeof(path), "%s/bare", folder);
	snprintf(where, sizeof(where), "%s/root", folder);
	check_nm(path, where, &names);
	nmnames_free(&names);
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

/* The stub of a function that a resolver chooses has no name in .dynsym, but the resolver's. */
static void test_resolver(void **state)
{
	struct symbol symbol;
	struct symtab *table;
	uint64_t addr = 0;
	FILE *pipe;

	(void)state;
	must("cd %s && printf '%%s\\n' 'static int one(void) { return 1; }' "
	     "'static int (*choose(void))(void) { return one; }' "
	     "'static int chosen(void) __attribute__((ifunc(\"choose\")));' "
	     "'int main(void) { return chosen(); }' >i.c && gcc -O1 -o chosen i.c",
	     folder);
	pipe = nmnames_run(NM "--synthetic %s/chosen | awk '/ABS.*@plt/ {print $1}'", folder);
	assert_int_equal(fscanf(pipe, "%" SCNx64, &addr), 1);
	pclose(pipe);
	table = open_made("chosen", NULL);
	assert_int_equal(symtab_find(table, addr, &symbol), 0);
	assert_string_equal(symbol.name, "choose@plt");
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

static void test_no_fd_is_left(void **state)
{
	size_t before = count_fds();

	(void)state;
	for (int i = 0; i < 50; i++)
		symtab_free(open_made("bare", i % 2 ? "root" : "other"));
	assert_int_equal(count_fds(), before);
}

/* fd of the file, for symtab_wake with the debug files below root. */
static int wake(struct symtab *table, const char *name, const char *root)
{
	char path[128], where[128];
	struct debug_place place = {.folder = where, .root = -1};
	int fd, err;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	snprintf(where, sizeof(where), "%s/%s", folder, root ? root : "");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	err = symtab_wake(table, fd, root ? &place : NULL);
	close(fd);
	return err;
}

/* What was asked for before it rested is known while it does, and all else afterwards. */
static void test_rest(void **state)
{
	static const struct {
		const char *name, *root;
	} files[] = {{"full", NULL}, {"bare", "root"}, {"bare", "compressed"}};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		size_t before = count_fds();
		struct symtab *table = open_made(files[i].name, files[i].root);
		struct symbol symbol;

		for (int round = 0; round < 3; round++) {
			expect(table, addr_of("entry"), "entry", 64);
			assert_false(symtab_rests(table));
			symtab_rest(table);
			symtab_rest(table);
			assert_true(symtab_rests(table));
			assert_int_equal(count_fds(), before);
			expect(table, addr_of("entry"), "entry", 64);
			if (!round)
				assert_int_equal(symtab_find(table, addr_of("outer"), &symbol),
						 -ENOENT);
			assert_int_equal(wake(table, files[i].name, files[i].root), 0);
			check_made(table);
		}
		symtab_free(table);
		assert_int_equal(count_fds(), before);
	}
}

/* A table is not read on from a debug file that only looks like that of before. */
static void test_rest_other_debug_file(void **state)
{
	size_t before = count_fds();
	struct symtab *table = open_made("bare", "root");
	struct symbol symbol;

	(void)state;
	symtab_rest(table);
	must("cp -rp %s/root %s/copy", folder, folder);
	assert_int_equal(wake(table, "bare", "copy"), -ESTALE);
	assert_int_equal(wake(table, "bare", "nowhere"), -ENOENT);
	assert_int_equal(wake(table, "bare", NULL), -ENOENT);
	assert_true(symtab_rests(table));
	assert_int_equal(symtab_find(table, addr_of("outer"), &symbol), -ENOENT);
	assert_int_equal(count_fds(), before);
	assert_int_equal(wake(table, "bare", "root"), 0);
	check_made(table);
	symtab_free(table);
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

enum overlap { OVERLAP_CODE, OVERLAP_STRINGS, OVERLAP_ALL };

/* A copy of the program whose sections lie on one another. */
static void lay_over(const char *name, enum overlap what)
{
	char path[128], *data = calloc(1, 1 << 20);
	Elf64_Shdr *sections, text = {0};
	Elf64_Ehdr *header = (Elf64_Ehdr *)data;
	FILE *file;
	size_t size;

	must("cd %s && cp full %s", folder, name);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r+");
	assert_true(file && data);
	size = fread(data, 1, 1 << 20, file);
	assert_true(size > sizeof(*header) && header->e_shoff < size);
	sections = (Elf64_Shdr *)(data + header->e_shoff);
	for (int i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_flags & SHF_EXECINSTR && sections[i].sh_size > text.sh_size)
			text = sections[i];
	for (int i = 1; i < header->e_shnum; i++) {
		Elf64_Shdr *s = &sections[i];

		if (what == OVERLAP_CODE && s->sh_flags & SHF_EXECINSTR) {
			s->sh_addr = text.sh_addr - 16 * (Elf64_Addr)(i % 3);
			s->sh_size = text.sh_size + 64 * (Elf64_Xword)i;
		} else if (what == OVERLAP_STRINGS && s->sh_type == SHT_SYMTAB) {
			sections[s->sh_link].sh_offset = s->sh_offset + 1;
		} else if (what == OVERLAP_ALL) {
			s->sh_offset = text.sh_offset;
			s->sh_addr = text.sh_addr;
			s->sh_size = text.sh_size - (Elf64_Xword)i;
		}
	}
	rewind(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	fclose(file);
	free(data);
}

/* Where only code lies on code the symbols are as true as before; else some answer must come. */
static void test_overlapping_sections(void **state)
{
	static const char *const made[] = {"over-code", "over-strings", "over-all"};
	char path[128];

	(void)state;
	for (int what = OVERLAP_CODE; what <= OVERLAP_ALL; what++) {
		struct elf_file *file;
		struct symtab *table;
		struct symbol symbol;

		lay_over(made[what], (enum overlap)what);
		snprintf(path, sizeof(path), "%s/%s", folder, made[what]);
		assert_int_equal(elf_file_open(path, &file), 0);
		if (symtab_new(file, NULL, &table))
			table = NULL;
		elf_file_free(file);
		if (what == OVERLAP_CODE) {
			assert_non_null(table);
			check_made(table);
		}
		for (uint64_t at = 0; table && at < 0x8000; at++)
			if (!symtab_find(table, at, &symbol))
				assert_in_range(at, symbol.start, symbol.start + symbol.size - 1);
		symtab_free(table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_begin_together),
		cmocka_unit_test(test_extents),
		cmocka_unit_test(test_debug_file),
		cmocka_unit_test(test_no_debug_file),
		cmocka_unit_test(test_thin_symtab),
		cmocka_unit_test(test_resolver),
		cmocka_unit_test(test_fifo_as_debug_file),
		cmocka_unit_test(test_no_fd_is_left),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_rest_other_debug_file),
		cmocka_unit_test(test_relocatable),
		cmocka_unit_test(test_overlapping_sections),
	};

	return cmocka_run_group_tests(tests, make_files, scratch_remove);
}
