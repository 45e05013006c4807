/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layouts by debug information: of a program with odd structures, also if it was damaged, and of
 * the CPythons of this machine that have any.
 * Covers: symbols/runtime/python_dwarf.c
 */
#include "tests/symbols/runtime/pythons.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "symbols/base/clock.h"
#include "symbols/base/work.h"
#include "symbols/elf/elffile.h"
#include "symbols/runtime/python_offsets.h"
#include "tests/support/scratch.h"
#include "tests/support/shell.h"
#include "tests/symbols/runtime/layouts.h"

static char folder[SCRATCH];

/* Compiles the odd program; *layout is what it prints. */
static void odd_make(unsigned int minor, const char *flags, struct python_layout *layout)
{
	char command[512];

	must("${CC:-cc} -w -g %s -DMINOR=%u -x c -o %s/odd tests/symbols/runtime/odd_layout.h",
	     flags, minor, folder);
	snprintf(command, sizeof(command), "%s/odd", folder);
	layouts_print(command, 0x030000f0 | minor << 16, layout);
	/* members have another order than those of Python */
	layout->tstate_size = layout->tstate_thread + 8;
	if (minor == 8)
		layout->code_head = layout->code_name + 8;
	else
		layout->code_head = layout->code_size = layout->code_framesize + 4;
}

static struct elf_file *odd_open(void)
{
	struct elf_file *file;
	char path[128];

	snprintf(path, sizeof(path), "%s/odd", folder);
	assert_int_equal(elf_file_open(path, &file), 0);
	return file;
}

static void layouts_of_odd_structures_are_found(void **state)
{
	static const char *const flags[] = {"-gdwarf-5", "-gdwarf-4 -O2",
					    "-gdwarf-3 -gstrict-dwarf",
					    "-gdwarf-5 -fdebug-types-section", "-gz"};

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		for (unsigned int minor = 8; minor <= 12; minor += 4) {
			struct python_layout got, expected;
			struct elf_file *file;

			odd_make(minor, flags[i], &expected);
			assert_int_equal(python_layout_of(expected.version, NULL, 0, &got), 0);
			file = odd_open();
			assert_int_equal(python_layout_dwarf(file, NULL, &got),
					 minor == 8 ? 23 : 32);
			layouts_same(&got, &expected);
			elf_file_free(file);
		}
}

static void files_without_layouts_leave_it_as_it_is(void **state)
{
	struct python_layout got, before;
	struct elf_file *file;
	atomic_bool cancel = true;

	(void)state;
	odd_make(8, "", &before);
	assert_int_equal(python_layout_of(0x030800f0, NULL, 0, &before), 0);
	got = before;
	/* cancelled */
	file = odd_open();
	elf_file_work(file)->cancel = &cancel;
	assert_int_equal(python_layout_dwarf(file, NULL, &got), -ECANCELED);
	assert_memory_equal(&got, &before, sizeof(got));
	elf_file_free(file);
	/* a layout that was none */
	file = odd_open();
	memset(&got, 0, sizeof(got));
	assert_int_equal(python_layout_dwarf(file, NULL, &got), -EINVAL);
	elf_file_free(file);
	got = before;
	/* the alternate file is missing */
	must("printf '/nonexistent\\0abcdefghijklmnopqrst' >%s/link", folder);
	must("objcopy --add-section .gnu_debugaltlink=%s/link %s/odd", folder, folder);
	file = odd_open();
	assert_int_equal(python_layout_dwarf(file, NULL, &got), -ENOENT);
	elf_file_free(file);
	/* stripped; another program */
	must("strip %s/odd", folder);
	file = odd_open();
	assert_int_equal(python_layout_dwarf(file, NULL, &got), -ENOENT);
	elf_file_free(file);
	must("echo 'int main(void) { return 0; }' | ${CC:-cc} -g -x c -o %s/odd -", folder);
	file = odd_open();
	assert_int_equal(python_layout_dwarf(file, NULL, &got), -ENOENT);
	elf_file_free(file);
	assert_memory_equal(&got, &before, sizeof(got));
}

static uint8_t *file_read(size_t *size)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/odd", folder);
	return scratch_read(path, size);
}

/* Bytes of the debug sections are changed at random, a few at a time. */
static void damaged_files_do_no_harm(void **state)
{
	static const char *const names[] = {".debug_info", ".debug_abbrev", ".debug_str"};
	struct python_layout layout, got;
	struct elf_section section;
	struct elf_file *file;
	unsigned int seed = 1, found = 0;
	uint8_t *bytes;
	size_t size;

	(void)state;
	odd_make(12, "-gdwarf-5", &layout);
	file = odd_open();
	bytes = file_read(&size);
	for (unsigned int round = 0; round < 3000; round++) {
		uint8_t *copy = malloc(size);
		struct elf_file *damaged;

		assert_non_null(copy);
		memcpy(copy, bytes, size);
		assert_int_equal(elf_file_section(file, names[round % 3], &section), 0);
		for (unsigned int i = 0; i <= round % 4; i++)
			copy[section.offset + (size_t)rand_r(&seed) % section.size] =
				(uint8_t)rand_r(&seed);
		assert_int_equal(elf_file_open_block(copy, size, &damaged), 0);
		got = layout;
		if (python_layout_dwarf(damaged, NULL, &got) >= 0)
			found++;
		assert_true(python_layout_is_sane(&got));
		elf_file_free(damaged);
	}
	/* most damage is to names and numbers that are not looked at */
	assert_true(found > 1000);
	free(bytes);
	elf_file_free(file);
}

/* 1: its layout is the one that its version says. */
static size_t check_python(const char *path)
{
	static struct facts facts;
	struct python_layout expected, got;
	struct elf_file *file;
	uint64_t start;
	int found;

	facts_read(path, &facts);
	if (python_layout_of(facts.version, facts.table, sizeof(facts.table), &expected) ||
	    elf_file_open(facts.file, &file))
		return 0;
	got = expected;
	start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	found = python_layout_dwarf(file, NULL, &got);
	start = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	elf_file_free(file);
	if (found == -ENOENT)
		return 0;
	print_message("%s: %d offsets in %u ms\n", facts.file, found,
		      (unsigned int)(start / 1000000));
	layouts_same(&got, &expected);
	assert_true(found >= 23);
	return 1;
}

static void layouts_of_interpreters_are_those_of_their_versions(void **state)
{
	(void)state;
	pythons_each(check_python);
}

static int setup(void **state)
{
	(void)state;
	scratch_folder(folder, "dwarf");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layouts_of_odd_structures_are_found),
		cmocka_unit_test(files_without_layouts_leave_it_as_it_is),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(layouts_of_interpreters_are_those_of_their_versions),
	};

	return cmocka_run_group_tests(tests, setup, scratch_remove);
}
