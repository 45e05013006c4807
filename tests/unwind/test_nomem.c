// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
/*
 * Building a table with each allocation failing in turn: the answer is -ENOMEM and nothing leaks
 * (the sanitizer run sees that).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "symbols/elffile.h"
#include "unwind/table.h"
#include "unwind/wide.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

static unsigned int countdown; /* the allocation that fails; 0: none */

static int fails(void)
{
	return countdown && !--countdown;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

static void test_table(void **state)
{
	unsigned int n, refused = 0;

	(void)state;
	for (n = 1; n < 1000; n++) {
		struct unwind_table *table = NULL;
		struct wide_rules *wide;
		struct elf_file *file;
		int err;

		assert_int_equal(elf_file_open("/lib64/ld-linux-x86-64.so.2", &file), 0);
		wide = wide_rules_new();
		assert_non_null(wide);
		countdown = n;
		err = unwind_table_build(file, wide, &table);
		if (err) {
			assert_int_equal(err, -ENOMEM);
			assert_null(table);
			refused++;
		}
		n = countdown ? 1000 : n; /* it needed fewer than n: the last round */
		countdown = 0;
		unwind_table_free(table);
		wide_rules_free(wide);
		elf_file_free(file);
	}
	/* the table, texts, CIEs, FDEs, states, index, rows, words, spans, wide rules; trimming
	 * may fail */
	assert_true(refused >= 10);
}

static void test_open(void **state)
{
	(void)state;
	countdown = 1;
	assert_null(wide_rules_new());
	for (unsigned int n = 1; n <= 2; n++) {
		struct elf_file *file;

		countdown = n;
		assert_int_equal(elf_file_open("/bin/ls", &file), -ENOMEM);
		assert_null(file);
	}
	countdown = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
