// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray */
/*
 * From the file to the table with each allocation failing in turn, until a round needs no more
 * allocations: the result is -ENOMEM and no table, or the same table as without a failure, and
 * nothing leaks (the sanitizer run detects that). The files have every source of rows: .eh_frame,
 * .debug_frame, .sframe beside CFI and alone, a PLT without CFI. Allocations within libelf and libc
 * do not fail.
 * Covers: unwind/table.c unwind/spans.c unwind/wide.c unwind/funcs.c unwind/ehframe.c
 * Covers: unwind/sframe.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "symbols/elf/elffile.h"
#include "tests/support/elfimage.h"
#include "unwind/funcs.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define ROUNDS_MAX 1000u

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t n, size_t size);

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

void *__wrap_reallocarray(void *old, size_t n, size_t size)
{
	return fails() ? NULL : __real_reallocarray(old, n, size);
}

struct source {
	const char *path;
	const void *image; /* used if path is NULL */
	size_t size;
};

static int open_source(const struct source *s, struct elf_file **file)
{
	return s->path ? elf_file_open(s->path, file)
		       : elf_file_open_memory(s->image, s->size, file);
}

/* The whole build; after an error there is nothing to free. */
static int build(const struct source *s, struct unwind_table **table, struct wide_rules **wide)
{
	struct elf_file *file = NULL;
	int err;

	*table = NULL;
	*wide = wide_rules_new();
	if (!*wide)
		return -ENOMEM;
	err = open_source(s, &file);
	if (err)
		assert_null(file);
	else
		err = unwind_table_build(file, *wide, table);
	elf_file_free(file);
	if (err) {
		assert_null(*table);
		wide_rules_free(*wide);
		*wide = NULL;
	}
	return err;
}

static void assert_same(const struct unwind_table *a, const struct unwind_table *b)
{
	assert_int_equal(a->nspans, b->nspans);
	assert_int_equal(a->nwords, b->nwords);
	assert_int_equal(a->nfdes, b->nfdes);
	assert_int_equal(a->bad_fdes, b->bad_fdes);
	assert_int_equal(a->cfi_bytes, b->cfi_bytes);
	for (uint32_t i = 0; i < a->nspans; i++) {
		assert_int_equal(a->spans[i].start, b->spans[i].start);
		assert_int_equal(a->spans[i].end, b->spans[i].end);
	}
	for (uint32_t i = 0; i < a->nwords; i++)
		assert_int_equal(a->words[i], b->words[i]);
}

/* fdes, least: the least numbers of FDEs and of failed allocations that make the test count. */
static void check_source(const struct source *s, unsigned int fdes, unsigned int least)
{
	struct unwind_table *expected, *table;
	struct wide_rules *wide, *other;
	unsigned int n, refused = 0;
	int more = 1;

	countdown = 0;
	assert_int_equal(build(s, &expected, &wide), 0);
	assert_true(expected->nfdes >= fdes);
	for (n = 1; more && n < ROUNDS_MAX; n++) {
		int err;

		countdown = n;
		err = build(s, &table, &other);
		more = !countdown;
		countdown = 0;
		if (err) {
			assert_int_equal(err, -ENOMEM);
			refused++;
			continue;
		}
		assert_same(expected, table);
		unwind_table_free(table);
		wide_rules_free(other);
	}
	assert_false(more);
	/* Only the allocation that trims the table may fail without harm. */
	assert_int_equal(refused, n - 3);
	assert_true(refused >= least);
	unwind_table_free(expected);
	wide_rules_free(wide);
}

/* The same for the functions that CFI describes. */
static void check_funcs(const struct source *s)
{
	int more = 1;

	for (unsigned int n = 1; more; n++) {
		struct elf_file *file;
		struct funcs *funcs;
		int err;

		assert_true(n < ROUNDS_MAX);
		assert_int_equal(open_source(s, &file), 0);
		countdown = n;
		err = funcs_new(file, &funcs);
		more = !countdown;
		countdown = 0;
		assert_int_equal(err, more ? -ENOMEM : 0);
		assert_int_equal(funcs == NULL, more);
		funcs_free(funcs);
		elf_file_free(file);
	}
}

static void test_real(void **state)
{
	/* the file, wide rules, table, texts, CIEs, FDEs, states, index, rows, words, spans */
	(void)state;
	check_source(&(struct source){.path = "/lib64/ld-linux-x86-64.so.2"}, 100, 15);
	check_source(&(struct source){.path = "/proc/self/exe"}, 10, 12);
	check_funcs(&(struct source){.path = "/lib64/ld-linux-x86-64.so.2"});
}

/* Rules of each kind, and enough of them that every list grows. */
static void put_cfi(struct cfi_bytes *cfi, int debug_frame)
{
	cfi_cie(cfi, "zR");
	if (debug_frame)
		memset(cfi->data + cfi->cie + 4, 0xff, 4);
	for (unsigned int i = 0; i < 600; i++) {
		cfi_fde_begin(cfi, IMAGE_TEXT + 0x1000 + 0x40ull * i, 0x30);
		if (debug_frame) {
			cfi->size -= 21;
			cfi_u32(cfi, (uint32_t)cfi->cie);
			cfi->size += 17;
		}
		cfi_put(cfi, "\x41\x0e\x10\x42\x0c\x0a", 6); /* CFA = r10 + 8 * i: a wide rule */
		cfi_uleb(cfi, 8 * i);
		cfi_end(cfi);
	}
}

static size_t put_sframe(unsigned char *to, uint64_t start)
{
	struct sframe_v2 { /* one function of two rows */
		uint16_t magic;
		uint8_t version, flags, abi;
		int8_t fixed_fp, fixed_ra;
		uint8_t aux;
		uint32_t nfdes, nfres, fres_size, fdes_at, fres_at;
		int32_t start;
		uint32_t size, rows_at, nrows;
		uint8_t info, block;
		uint16_t pad;
		uint8_t rows[7];
	} __attribute__((packed)) section = {0xdee2,
					     2,
					     0,
					     3,
					     0,
					     -8,
					     0,
					     1,
					     2,
					     7,
					     0,
					     20,
					     (int32_t)(start - IMAGE_SFRAME),
					     0x20,
					     0,
					     2,
					     0,
					     0,
					     0,
					     {0, 3, 8, 1, 5, 16, 0xf0}};

	memcpy(to, &section, sizeof(section));
	return sizeof(section);
}

static void check_image(const struct cfi_bytes *cfi, const struct image_options *options,
			unsigned int fdes, unsigned int least)
{
	struct source s = {0};
	unsigned char *image = image_new(cfi->data, cfi->size, options, &s.size);

	s.image = image;
	check_source(&s, fdes, least);
	check_funcs(&s);
	free(image);
}

static void test_images(void **state)
{
	struct image_options options = {.text_size = 0x100000, .plt = IMAGE_TEXT + 0x200};
	struct cfi_bytes *cfi = calloc(1, sizeof(*cfi)), *debug = calloc(1, sizeof(*debug));
	unsigned char sframe[128];

	(void)state;
	assert_true(cfi && debug);
	options.sframe = sframe;
	options.sframe_size = put_sframe(sframe, IMAGE_TEXT + 0x400);
	check_image(cfi, &options, 1, 10); /* .sframe alone */
	put_cfi(cfi, 0);
	check_image(cfi, &options, 601, 20);
	put_sframe(sframe, IMAGE_TEXT + 0x1020); /* half in a function, half in a gap */
	check_image(cfi, &options, 601, 20);
	put_cfi(debug, 1);
	options.debug_frame = 1;
	check_image(debug, &options, 601, 20);
	/* .debug_frame beside a .eh_frame with half of its functions. */
	options.debug_frame = 0;
	options.sframe = debug->data;
	options.sframe_size = debug->size;
	options.sframe_is_debug = 1;
	cfi->size /= 2;
	check_image(cfi, &options, 600, 20);
	free(debug);
	free(cfi);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real),
		cmocka_unit_test(test_images),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
