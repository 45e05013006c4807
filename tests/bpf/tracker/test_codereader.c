// SPDX-License-Identifier: GPL-2.0-or-later
/* build: alone */
/*
 * This process describes functions that it has not really made, and what is read of them is
 * compared with what it has written: rows by address, names, marks. Then descriptions and files of
 * rows that are broken on purpose.
 * Covers: bpf/tracker/codereader.c bpf/tracker/gdbjit.c bpf/tracker/codefile.c
 * Covers: bpf/tracker/codedraft.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/tracker/codedraft.h"
#include "bpf/tracker/codefile.h"
#include "bpf/tracker/codereader.h"
#include "symbols/elf/elffile.h"
#include "tests/bpf/tracker/jitimage.h"
#include "unwind/row.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define TEXT 0x7000000000ull

struct jit_descriptor_of_gdb __jit_debug_descriptor = {.version = 1};

/* The rule in force at an address, by the description of the format in unwind/row.h. */
static uint32_t rule_at(const struct unwind_table *t, uint64_t addr)
{
	for (uint32_t i = 0; i < t->nspans; i++) {
		const struct unwind_span *s = &t->spans[i];
		const uint32_t *words = t->words + s->first, granule = (addr - s->start) >> 8;
		uint32_t row;

		if (addr < s->start || addr >= s->end)
			continue;
		row = INDEX_FIRST(words[granule]) + INDEX_ROWS(words[granule]);
		while (row-- > INDEX_FIRST(words[granule]))
			if (ROW_OFFSET(words[s->ngranules + row]) <= (addr & 255))
				break;
		return ROW_RULE(words[s->ngranules + row]);
	}
	return RULE(ROW_END, 0);
}

static struct unwind_table *read_table(int fd)
{
	struct wide_rules *wide = wide_rules_new();
	struct unwind_table *table = NULL;

	assert_non_null(wide);
	assert_int_equal(codefile_table(fd, wide, NULL, &table), 0);
	wide_rules_free(wide);
	return table;
}

static int note_name(void *arg, uint64_t start, uint64_t size, const char *name)
{
	char *text = arg;

	sprintf(text + strlen(text), "%llx+%llu=%s ", (unsigned long long)start,
		(unsigned long long)size, name);
	return 0;
}

static struct code_places own_places(void)
{
	return (struct code_places){.descriptors = {(uint64_t)(uintptr_t)&__jit_debug_descriptor}};
}

static void describe(struct jit_code_entry *entries, struct jitimage *images, size_t n)
{
	for (size_t i = 0; i < n; i++)
		entries[i] = (struct jit_code_entry){i + 1 < n ? &entries[i + 1] : NULL, NULL,
						     (const char *)&images[i], sizeof(images[i])};
	__jit_debug_descriptor.first = n ? entries : NULL;
}

static void test_own_functions(void **state)
{
	struct jit_code_entry entries[3];
	struct jitimage images[3];
	struct code_places places = own_places();
	struct unwind_table *t;
	const char *missing;
	uint64_t mark, again;
	char names[256] = "";
	int fd;

	(void)state;
	/* In one granule, not in the order of their addresses; one far away. */
	jitimage_make(&images[0], TEXT + 0x40, 0x20, 48, "second");
	jitimage_make(&images[1], TEXT + 0x10, 0x30, 16, "first");
	jitimage_make(&images[2], TEXT + 0x900000, 0x123, 96, "far");
	describe(entries, images, 3);
	fd = codereader_read(getpid(), &places, NULL, &mark, &missing);
	assert_true(fd >= 0);
	assert_true(mark);
	t = read_table(fd);
	assert_int_equal(rule_at(t, TEXT + 0x0f), RULE(ROW_END, 0));
	assert_int_equal(rule_at(t, TEXT + 0x10), RULE_FRAME(ROW_SP, 16, 0));
	assert_int_equal(rule_at(t, TEXT + 0x3f), RULE_FRAME(ROW_SP, 16, 0));
	assert_int_equal(rule_at(t, TEXT + 0x40), RULE_FRAME(ROW_SP, 48, 0));
	assert_int_equal(rule_at(t, TEXT + 0x5f), RULE_FRAME(ROW_SP, 48, 0));
	assert_int_equal(rule_at(t, TEXT + 0x60), RULE(ROW_END, 0));
	assert_int_equal(rule_at(t, TEXT + 0x900000), RULE_FRAME(ROW_SP, 96, 0));
	assert_int_equal(rule_at(t, TEXT + 0x900122), RULE_FRAME(ROW_SP, 96, 0));
	assert_int_equal(rule_at(t, TEXT + 0x900123), RULE(ROW_END, 0));
	assert_int_equal(t->nspans, 2);
	unwind_table_free(t);
	assert_int_equal(codefile_names(fd, note_name, names), 0);
	assert_string_equal(names, "7000000040+32=second 7000000010+48=first 7000900000+291=far ");
	close(fd);
	/* The same again is not read; a change is. */
	places.mark = mark;
	assert_int_equal(codereader_read(getpid(), &places, NULL, &again, &missing), -EALREADY);
	describe(entries, images, 2);
	fd = codereader_read(getpid(), &places, NULL, &again, &missing);
	assert_true(fd >= 0);
	assert_int_not_equal(again, mark);
	close(fd);
	describe(entries, images, 0);
	assert_int_equal(codereader_read(getpid(), &places, NULL, &again, &missing), -ENOENT);
}

static void test_loaded_frames(void **state)
{
	struct jitimage images[2];
	struct jit_code_entry entry;
	struct code_places places = own_places();
	struct unwind_table *t;
	const char *missing;
	uint64_t mark;
	int fd;

	(void)state;
	/* The image's own .eh_frame is not relocated; the one that was loaded is. */
	jitimage_make(&images[0], TEXT, 0x20, 24, "f");
	images[1] = images[0];
	memset(images[0].frame, 0, sizeof(images[0].frame));
	images[0].sections[2].sh_addr = (uint64_t)(uintptr_t)images[1].frame;
	describe(&entry, images, 1);
	fd = codereader_read(getpid(), &places, NULL, &mark, &missing);
	assert_true(fd >= 0);
	t = read_table(fd);
	assert_int_equal(rule_at(t, TEXT + 3), RULE_FRAME(ROW_SP, 24, 0));
	unwind_table_free(t);
	close(fd);
	describe(&entry, images, 0);
}

/* Whatever bytes the images and the list have, something comes back and nothing breaks. */
static void test_broken(void **state)
{
	struct jit_code_entry entries[2];
	struct jitimage images[2], good;
	struct code_places places = own_places();
	const char *missing;
	uint64_t mark, seed = 1;

	(void)state;
	jitimage_make(&good, TEXT, 0x40, 24, "f");
	for (int turn = 0; turn < 600; turn++) {
		struct unwind_table *t;
		int fd;

		images[0] = images[1] = good;
		for (int i = 0; i < 4; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			((uint8_t *)images)[(seed >> 33) % sizeof(images)] = (uint8_t)(seed >> 24);
		}
		describe(entries, images, 2);
		if (turn % 3 == 1)
			entries[1].next = entries; /* a circle */
		if (turn % 3 == 2)
			entries[0].symfile = (const char *)16;
		if (turn % 3 == 1 && turn > 3)
			continue; /* 65,536 images each time */
		fd = codereader_read(getpid(), &places, NULL, &mark, &missing);
		assert_true(fd >= 0);
		t = read_table(fd);
		unwind_table_free(t);
		close(fd);
	}
	describe(entries, images, 0);
	places.descriptors[0] = 8;
	assert_int_equal(codereader_read(getpid(), &places, NULL, &mark, &missing), -EFAULT);
}

static int write_draft(struct code_draft *d)
{
	int fd = memfd_create("test", 0);

	assert_true(fd >= 0);
	codedraft_sort(d);
	assert_int_equal(codedraft_write(d, fd), 0);
	return fd;
}

static void test_overlap_and_size(void **state)
{
	const uint32_t a = RULE_FRAME(ROW_SP, 16, 0), b = RULE_FRAME(ROW_SP, 32, 16);
	struct code_draft d;
	struct unwind_table *t;
	int fd;

	(void)state;
	assert_int_equal(codedraft_init(&d), 0);
	assert_int_equal(codedraft_row(&d, TEXT, a), 0);
	codedraft_end(&d, TEXT + (8ull << 30)); /* more granules than a table may have */
	assert_int_equal(codedraft_row(&d, TEXT + 0x50, b), 0);
	codedraft_end(&d, TEXT + 0x60);
	codedraft_row(&d, TEXT + 0x70, b);
	codedraft_end(&d, TEXT + 0x70); /* nothing */
	fd = write_draft(&d);
	t = read_table(fd);
	assert_int_equal(rule_at(t, TEXT + 0x4f), a);
	assert_int_equal(rule_at(t, TEXT + 0x50), b);
	assert_int_equal(rule_at(t, TEXT + 0x60), RULE(ROW_END, 0));
	unwind_table_free(t);
	close(fd);
	codedraft_free(&d);

	assert_int_equal(codedraft_init(&d), 0);
	codedraft_row(&d, TEXT, a);
	codedraft_end(&d, TEXT + (8ull << 30));
	fd = write_draft(&d);
	t = read_table(fd);
	assert_int_equal(rule_at(t, TEXT + (64ull << 20)), a);
	assert_true(t->nwords > CODE_WORDS_MAX * 9 / 10 && t->nwords <= CODE_WORDS_MAX + 1024);
	unwind_table_free(t);
	close(fd);
	codedraft_free(&d);
}

/* A helper that another program has taken over may answer anything. */
static void test_hostile_file(void **state)
{
	struct wide_rules *wide = wide_rules_new();
	const struct codefile_head heads[] = {
		{CODEFILE_MAGIC + 1, 1, 0, 0, 0, 0},
		{CODEFILE_MAGIC, UINT32_MAX, 0, 0, 0, 0},
		{CODEFILE_MAGIC, 1, UINT32_MAX, 0, 0, 0},
		{CODEFILE_MAGIC, 0, 0, UINT32_MAX, 0, 0},
		{CODEFILE_MAGIC, 0, 0, 0, UINT32_MAX, 0},
		{CODEFILE_MAGIC, 3, 0, 0, 0, 0}, /* and no rows */
	};
	const struct {
		struct codefile_head head;
		struct code_row rows[3];
		struct code_name name;
	} files[] = {
		{{CODEFILE_MAGIC, 2, 0, 0, 0, 0}, {{512, 0, 0}, {256, 0, 0}, {0, 0, 0}}, {0}},
		{{CODEFILE_MAGIC, 1, 0, 0, 0, 0}, {{1ull << 60, 0, 0}, {0}, {0}}, {0}},
	};
	const struct {
		struct codefile_head head;
		struct code_row rows[2];
		struct code_name name;
		char text[4];
	} odd = {{CODEFILE_MAGIC, 2, 0, 1, 4, 0},
		 {{256, RULE(ROW_WIDE, 77), 0}, {512, RULE(15, 3), 0}},
		 {256, 8, 4000},
		 "abcd"};
	struct unwind_table *t;
	char names[256] = "";
	int fd;

	(void)state;
	assert_non_null(wide);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		fd = memfd_create("test", 0);
		assert_int_equal(write(fd, &heads[i], sizeof(heads[i])), sizeof(heads[i]));
		if (i != 3 && i != 4)
			assert_int_equal(codefile_table(fd, wide, NULL, &t), -EINVAL);
		if (i < 5)
			assert_int_equal(codefile_names(fd, note_name, names), -EINVAL);
		close(fd);
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		fd = memfd_create("test", 0);
		assert_int_equal(write(fd, &files[i], sizeof(files[i])), sizeof(files[i]));
		assert_int_equal(codefile_table(fd, wide, NULL, &t), -EINVAL);
		close(fd);
	}
	fd = memfd_create("test", 0);
	assert_int_equal(write(fd, &odd, sizeof(odd)), sizeof(odd));
	assert_int_equal(codefile_table(fd, wide, NULL, &t), 0);
	assert_int_equal(rule_at(t, 300), RULE(ROW_END, 0));
	unwind_table_free(t);
	assert_int_equal(codefile_names(fd, note_name, names), 0);
	assert_string_equal(names, "");
	close(fd);
	wide_rules_free(wide);
}

static void test_symbols(void **state)
{
	struct code_symbols symbols;
	struct elf_file *file;

	(void)state;
	/* This program has no such symbol for its dynamic linker, but one in .symtab. */
	assert_int_equal(elf_file_open("/proc/self/exe", &file), 0);
	assert_true(codereader_symbols(file, &symbols));
	assert_true(symbols.descriptor);
	assert_int_equal(symbols.descriptor & 0xfff,
			 (uint64_t)(uintptr_t)&__jit_debug_descriptor & 0xfff);
	assert_int_equal(symbols.vm_structs, 0);
	elf_file_free(file);
	assert_int_equal(elf_file_open("/bin/true", &file), 0);
	assert_false(codereader_symbols(file, &symbols));
	elf_file_free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_functions), cmocka_unit_test(test_loaded_frames),
		cmocka_unit_test(test_broken),	      cmocka_unit_test(test_overlap_and_size),
		cmocka_unit_test(test_hostile_file),  cmocka_unit_test(test_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
