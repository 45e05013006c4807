/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_UNWIND_TABLES_H
#define STACKTOP_TESTS_UNWIND_TABLES_H

/* A table made of hand-written CFI, in an image whose options the test may change. What stands in a
 * .sframe beside it is sframe_image.h's. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "symbols/elffile.h"
#include "tests/unwind/elfimage.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define TEXT_SIZE 0x1000000u

struct section;

struct fixture {
	struct cfi_bytes cfi;
	struct image_options options;
	unsigned char *image;
	struct elf_file *file;
	struct wide_rules *wide;
	struct unwind_table *table;
	struct section *s; /* see sframe_image.h; NULL: none */
};

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->options.text_size = TEXT_SIZE;
	f->wide = wide_rules_new();
	*state = f;
	return f->wide ? 0 : -1;
}

static inline void drop_table(struct fixture *f)
{
	unwind_table_free(f->table);
	elf_file_free(f->file);
	free(f->image);
	f->table = NULL;
	f->file = NULL;
	f->image = NULL;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	drop_table(f);
	wide_rules_free(f->wide);
	free(f->s);
	free(f);
	return 0;
}

/* What unwind_table_build says. */
static inline int build_status(struct fixture *f)
{
	size_t size;

	drop_table(f);
	f->image = image_new(f->cfi.data, f->cfi.size, &f->options, &size);
	assert_int_equal(elf_file_open_memory(f->image, size, &f->file), 0);
	return unwind_table_build(f->file, f->wide, &f->table);
}

static inline void assert_dump(const struct fixture *f, const char *expected)
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

#endif
