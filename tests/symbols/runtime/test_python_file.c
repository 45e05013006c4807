/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What files of CPython say: of those of this machine as nm and the interpreters say it, and of
 * libraries that have only its symbols, also if they were damaged.
 * Covers: symbols/runtime/python_file.c
 */
#include "tests/symbols/runtime/pythons.h"

#include <errno.h>
#include <inttypes.h>

#include "symbols/elf/elffile.h"
#include "symbols/runtime/python_file.h"
#include "symbols/runtime/python_offsets.h"
#include "tests/support/nm.h"
#include "tests/support/scratch.h"
#include "tests/support/shell.h"
#include "tests/symbols/runtime/layouts.h"

static char folder[SCRATCH];

/* --- files of interpreters ------------------------------------------------------------------- */

/* Adds what nm prints of the tables that python_file_read reads. */
static void nm_read(const char *path, const char *options, struct python_file *out)
{
	char command[2 * PATH_MAX], line[512];
	FILE *f;

	snprintf(command, sizeof(command), NM "-P --defined-only %s '%s' 2>/dev/null", options,
		 path);
	f = popen(command, "r"); /* NOLINT(cert-env33-c) */
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char name[256];
		uint64_t addr, size;

		if (sscanf(line, "%255s %*s %" SCNx64 " %" SCNx64, name, &addr, &size) != 3)
			continue;
		if (!strcmp(name, "_PyRuntime")) {
			out->runtime = addr;
		} else if (!strcmp(name, "PyCode_Type")) {
			out->type = addr;
		} else if (!strcmp(name, "_PyEval_EvalFrameDefault")) {
			out->eval[0][0] = addr;
			out->eval[0][1] = addr + size;
		} else if (!strcmp(name, "_PyEval_EvalFrameDefault.cold")) {
			out->eval[1][0] = addr;
			out->eval[1][1] = addr + size;
		}
	}
	pclose(f);
}

/* What the running interpreter says of its version and its layout. */
static void check_version(const struct facts *facts, const struct python_file *got)
{
	struct python_layout expected;
	uint32_t version = facts->version;
	int err;

	if (version < 0x030b0000)
		version = (version & 0xffff0000) | 0xf0;
	assert_int_equal(got->version, version);
	err = python_layout_of(version, facts->table, sizeof(facts->table), &expected);
	assert_int_equal(got->err, err);
	layouts_same(&got->layout, &expected);
}

/* 1: compared. */
static size_t check_python(const char *path)
{
	static struct facts facts;
	struct python_file got, expected = {0};
	struct elf_file *file;
	uint64_t least;
	bool found;

	facts_read(path, &facts);
	assert_int_equal(elf_file_open(facts.file, &file), 0);
	found = python_file_read(file, strrchr(facts.file, '/') + 1, &got);
	elf_file_free(file);
	if (facts.version < 0x03070000) { /* there is no _PyRuntime */
		assert_false(found);
		return 0;
	}
	/* It is small where instructions are functions of their own. */
	least = facts.version < 0x030e0000 ? 4096 : 512;
	assert_true(found);
	nm_read(facts.file, "-D", &expected);
	nm_read(facts.file, "", &expected);
	assert_int_equal(got.runtime, expected.runtime);
	assert_int_equal(got.type, expected.type);
	assert_memory_equal(got.eval, expected.eval, sizeof(got.eval));
	assert_true(got.runtime && got.type && got.eval[0][1] - got.eval[0][0] > least);
	check_version(&facts, &got);
	print_message("%s: %x, eval %" PRIx64 "+%" PRIx64 "\n", facts.file, got.version,
		      got.eval[0][0], got.eval[0][1] - got.eval[0][0]);
	return 1;
}

static void files_are_as_nm_and_they_themselves_say(void **state)
{
	(void)state;
	pythons_each(check_python);
}

/* --- made files ------------------------------------------------------------------------------ */

#define RUNTIME "long _PyRuntime[200] = {1}; "
#define TYPE	"long PyCode_Type[60] = {1}; "
#define EVAL	"int _PyEval_EvalFrameDefault(int a) { return a + 1; } "
#define VERSION "const unsigned long Py_Version = "

/* A library with that source. */
static void made_new(const char *source)
{
	must("echo '%s' | ${CC:-cc} -w -shared -fPIC -x c -o %s/made.so -", source, folder);
}

static bool made_read(const char *name, struct python_file *out)
{
	struct elf_file *file;
	char path[128];
	bool found;

	snprintf(path, sizeof(path), "%s/made.so", folder);
	assert_int_equal(elf_file_open(path, &file), 0);
	found = python_file_read(file, name, out);
	elf_file_free(file);
	return found;
}

static void other_files_are_none(void **state)
{
	static const char *const sources[] = {
		"int f(void) { return 1; }",
		/* only one of them, or only used */
		RUNTIME EVAL,
		TYPE EVAL,
		"extern long _PyRuntime[], PyCode_Type[]; long f(void) { return *_PyRuntime + "
		"*PyCode_Type; }",
		/* names that only begin or end like them */
		"long _PyRuntime_Old[9] = {1}, x_PyRuntime[9] = {1}; " TYPE,
	};
	const struct python_file none = {0};
	struct python_file got;

	(void)state;
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		made_new(sources[i]);
		memset(&got, 1, sizeof(got));
		assert_false(made_read("libpython3.9.so.1.0", &got));
		assert_memory_equal(&got, &none, sizeof(got));
	}
}

static void versions_are_told_by_symbol_or_name(void **state)
{
	static const struct {
		const char *name;
		uint32_t version;
		int err;
	} named[] = {
		{"libpython3.10.so.1.0", 0x030a00f0, 0},
		{"libpython3.8.so.1.0", 0x030800f0, 0},
		{"python3.9", 0x030900f0, 0},
		{"libpython3.7m.so.1.0", 0x030700f0, -ENOTSUP},
		/* from 3.11 on there is a symbol */
		{"libpython3.11.so.1.0", 0, -ENOTSUP},
		{"libpython3.so", 0, -ENOTSUP},
		{"python3.", 0, -ENOTSUP},
		{"python3.x", 0, -ENOTSUP},
		{"python3.-1", 0, -ENOTSUP},
		{"python3.18446744073709551624", 0, -ENOTSUP},
		{"uwsgi", 0, -ENOTSUP},
		{"", 0, -ENOTSUP},
	};
	struct python_file got;

	(void)state;
	made_new(RUNTIME TYPE EVAL);
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
		assert_true(made_read(named[i].name, &got));
		assert_int_equal(got.version, named[i].version);
		assert_int_equal(got.err, named[i].err);
		assert_int_equal(python_layout_is_sane(&got.layout), !got.err);
	}
	/* the symbol counts */
	made_new(VERSION "0x030b02f0; " RUNTIME TYPE EVAL);
	assert_true(made_read("python3.9", &got));
	assert_int_equal(got.version, 0x030b02f0);
	assert_int_equal(got.err, 0);
	/* from 3.13 on _PyRuntime has to begin with a table */
	made_new(VERSION "0x030d00f0; " RUNTIME TYPE EVAL);
	assert_true(made_read("python3.13", &got));
	assert_int_equal(got.err, -EINVAL);
	made_new(VERSION "0x031000f0; " RUNTIME TYPE EVAL);
	assert_true(made_read("python3.16", &got));
	assert_int_equal(got.err, -ENOTSUP);
	assert_int_equal(got.version, 0x031000f0);
}

static void symbols_are_found_without_either_table(void **state)
{
	struct python_file with, without;

	(void)state;
	made_new(RUNTIME TYPE EVAL "int cold(void) __asm__(\"_PyEval_EvalFrameDefault.cold\"); int "
				   "cold(void) { return 3; } ");
	assert_true(made_read("python3.9", &with));
	assert_true(with.runtime && with.type && with.eval[0][0] && with.eval[1][0]);
	assert_true(with.eval[0][1] > with.eval[0][0] && with.eval[1][1] > with.eval[1][0]);
	/* .dynsym alone */
	must("strip %s/made.so", folder);
	assert_true(made_read("python3.9", &without));
	assert_memory_equal(&with, &without, sizeof(with));
	/* .symtab alone, and a function that is not there */
	must("printf 'long _PyRuntime[9] = {1}, PyCode_Type[9] = {1}; int main(void) { return 0; "
	     "}' | ${CC:-cc} -static -x c -o %s/made.so -",
	     folder);
	assert_true(made_read("python3.9", &with));
	assert_true(with.runtime && with.type);
	assert_int_equal(with.eval[0][0] | with.eval[0][1] | with.eval[1][0], 0);
	must("strip %s/made.so", folder);
	assert_false(made_read("python3.9", &with));
}

static uint8_t *made_bytes(size_t *size)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/made.so", folder);
	return scratch_read(path, size);
}

static void check_damaged(const uint8_t *bytes, size_t size, unsigned int *opened,
			  unsigned int *found)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct python_file got;
	struct elf_file *file;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	if (elf_file_open_block(copy, size, &file))
		return;
	++*opened;
	if (python_file_read(file, "python3.9", &got)) {
		++*found;
		assert_true(got.runtime && got.type);
		for (int i = 0; i < 2; i++)
			assert_true(got.eval[i][0] ? got.eval[i][0] < got.eval[i][1]
						   : !got.eval[i][1]);
		assert_int_equal(python_layout_is_sane(&got.layout), !got.err);
	}
	elf_file_free(file);
}

/* Bytes of headers and symbol tables are changed at random, a few at a time; then the end is cut.
 */
static void damaged_files_do_no_harm(void **state)
{
	static const char *const names[] = {".dynsym", ".dynstr", ".symtab", ".strtab"};
	unsigned int seed = 1, opened = 0, found = 0;
	struct elf_section section;
	struct elf_file *file;
	uint8_t *bytes, *copy;
	size_t size;

	(void)state;
	made_new(VERSION "0x030b02f0; " RUNTIME TYPE EVAL);
	bytes = made_bytes(&size);
	copy = malloc(size);
	assert_non_null(copy);
	assert_int_equal(elf_file_open_memory(bytes, size, &file), 0);
	for (unsigned int round = 0; round < 5000; round++) {
		size_t from = 0, length = 64 * (size_t)6;

		memcpy(copy, bytes, size);
		if (round % 6 < 4) {
			assert_int_equal(elf_file_section(file, names[round % 6], &section), 0);
			from = section.offset;
			length = section.size;
		} else if (round % 6 == 4) { /* section headers */
			from = size - 64 * (size_t)20;
			length = 64 * (size_t)20;
		}
		for (unsigned int i = 0; i <= round % 8; i++)
			copy[from + (size_t)rand_r(&seed) % length] = (uint8_t)rand_r(&seed);
		check_damaged(copy, size, &opened, &found);
	}
	assert_true(opened > 2000 && found > 1000 && found < opened);
	for (size_t cut = 0; cut < size; cut += 61)
		check_damaged(bytes, cut, &opened, &found);
	elf_file_free(file);
	free(copy);
	free(bytes);
}

static int setup(void **state)
{
	(void)state;
	scratch_folder(folder, "pyfile");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_as_nm_and_they_themselves_say),
		cmocka_unit_test(other_files_are_none),
		cmocka_unit_test(versions_are_told_by_symbol_or_name),
		cmocka_unit_test(symbols_are_found_without_either_table),
		cmocka_unit_test(damaged_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, setup, scratch_remove);
}
