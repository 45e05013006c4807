/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_TABLES_H
#define STACKTOP_TESTS_SUPPORT_TABLES_H

/* A table made of hand-written CFI, in an image whose options the test may change. What stands in a
 * .sframe beside it is sframe_image.h's. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/elfimage.h"

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

int tables_setup(void **state);

int tables_teardown(void **state);

/* What unwind_table_build says. */
int build_status(struct fixture *f);

void assert_dump(const struct fixture *f, const char *expected);

#endif
