// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "symbols/elf/elffile.h"
#include "unwind/table.h"
#include "unwind/wide.h"

int tables_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->options.text_size = TEXT_SIZE;
	f->wide = wide_rules_new();
	*state = f;
	return f->wide ? 0 : -1;
}

static void drop_table(struct fixture *f)
{
	unwind_table_free(f->table);
	elf_file_free(f->file);
	free(f->image);
	f->table = NULL;
	f->file = NULL;
	f->image = NULL;
}

int tables_teardown(void **state)
{
	struct fixture *f = *state;

	drop_table(f);
	wide_rules_free(f->wide);
	free(f->s);
	free(f);
	return 0;
}

int build_status(struct fixture *f)
{
	size_t size;

	drop_table(f);
	f->image = image_new(f->cfi.data, f->cfi.size, &f->options, &size);
	assert_int_equal(elf_file_open_memory(f->image, size, &f->file), 0);
	return unwind_table_build(f->file, f->wide, &f->table);
}

void assert_dump(const struct fixture *f, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(unwind_table_dump(f->table, f->wide, out), 0);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}
