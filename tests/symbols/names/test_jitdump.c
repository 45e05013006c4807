/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dumps written record by record after the specification, in both byte orders.
 * Covers: symbols/names/jitdump.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <byteswap.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/names/codemap.h"
#include "symbols/names/jitdump.h"

#define PLENTY ((size_t)1 << 30)

enum { LOAD, MOVE, DEBUG_INFO, CLOSE, UNWINDING_INFO };

struct dump {
	uint8_t bytes[1 << 16];
	size_t length;
	bool swapped;
	struct codemap *map;
	struct jitdump *jd;
	FILE *file;
	size_t written;
};

static void put32(struct dump *d, uint32_t value)
{
	value = d->swapped ? bswap_32(value) : value;
	assert_true(d->length + 4 <= sizeof(d->bytes));
	memcpy(d->bytes + d->length, &value, 4);
	d->length += 4;
}

static void put64(struct dump *d, uint64_t value)
{
	value = d->swapped ? bswap_64(value) : value;
	assert_true(d->length + 8 <= sizeof(d->bytes));
	memcpy(d->bytes + d->length, &value, 8);
	d->length += 8;
}

static void put_bytes(struct dump *d, const void *bytes, size_t size)
{
	assert_true(d->length + size <= sizeof(d->bytes));
	memcpy(d->bytes + d->length, bytes, size);
	d->length += size;
}

static void put_header(struct dump *d, uint32_t more)
{
	put32(d, 0x4a695444);
	put32(d, 1);
	put32(d, 40 + more);
	put32(d, 62);
	put32(d, 0);
	put32(d, 4711);
	put64(d, 1);
	put64(d, 0);
	while (more--)
		put_bytes(d, "?", 1);
}

static void put_load(struct dump *d, uint64_t index, uint64_t addr, uint32_t size, const char *name)
{
	put32(d, LOAD);
	put32(d, (uint32_t)(56 + strlen(name) + 1 + size));
	put64(d, 2);
	put32(d, 4711);
	put32(d, 4711);
	put64(d, addr);
	put64(d, addr);
	put64(d, size);
	put64(d, index);
	put_bytes(d, name, strlen(name) + 1);
	while (size--)
		put_bytes(d, "\xcc", 1);
}

static void put_move(struct dump *d, uint64_t index, uint64_t from, uint64_t to, uint64_t size)
{
	put32(d, MOVE);
	put32(d, 64);
	put64(d, 3);
	put32(d, 4711);
	put32(d, 4711);
	put64(d, to);
	put64(d, from);
	put64(d, to);
	put64(d, size);
	put64(d, index);
}

static void put_other(struct dump *d, uint32_t id, uint32_t size)
{
	put32(d, id);
	put32(d, 16 + size);
	put64(d, 4);
	while (size--)
		put_bytes(d, "\0", 1);
}

static int setup(void **state)
{
	struct dump *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	d->map = codemap_new(8 << 20);
	d->file = tmpfile();
	assert_non_null(d->map);
	assert_non_null(d->file);
	assert_int_equal(jitdump_new(dup(fileno(d->file)), &d->jd), 0);
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	struct dump *d = *state;

	jitdump_free(d->jd);
	codemap_free(d->map);
	fclose(d->file);
	free(d);
	return 0;
}

/* Writes what the dump holds up to a length and reads it. */
static int update_in(struct dump *d, size_t length, uint64_t round)
{
	size_t budget = PLENTY;

	assert_int_equal(pwrite(fileno(d->file), d->bytes + d->written, length - d->written,
				(off_t)d->written),
			 length - d->written);
	d->written = length;
	return jitdump_update(d->jd, d->map, round, &budget);
}

static int update(struct dump *d, size_t length)
{
	return update_in(d, length, 1);
}

static void assert_name(struct dump *d, uint64_t addr, const char *name)
{
	const char *found = codemap_find(d->map, addr);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
}

static void fill(struct dump *d)
{
	put_header(d, 8);
	put_load(d, 1, 0x1000, 0x20, "one");
	put_other(d, DEBUG_INFO, 100);
	put_load(d, 2, 0x2000, 0x20, "two words");
	put_other(d, UNWINDING_INFO, 40);
	put_load(d, 3, 0x1010, 0x10, "later");
	put_move(d, 1, 0x1000, 0x3000, 0x20);
	put_other(d, 77, 5); /* of a later version */
	put_load(d, 4, 0x4000, 0x10, "");
}

static void assert_filled(struct dump *d)
{
	assert_name(d, 0x1000, "one");
	assert_name(d, 0x100f, "one");
	assert_name(d, 0x1010, "later");
	assert_name(d, 0x1020, NULL);
	assert_name(d, 0x2000, "two words");
	assert_name(d, 0x301f, "one");
	assert_name(d, 0x4000, "");
}

static void test_records(void **state)
{
	struct dump *d = *state;

	fill(d);
	assert_int_equal(update(d, d->length), 1);
	assert_filled(d);
	assert_int_equal(update(d, d->length), 0);
}

static void test_other_byte_order(void **state)
{
	struct dump *d = *state;

	d->swapped = true;
	fill(d);
	assert_int_equal(update(d, d->length), 1);
	assert_filled(d);
}

static void test_growth_by_bytes(void **state)
{
	struct dump *d = *state;

	fill(d);
	for (size_t i = 1; i <= d->length; i++)
		assert_true(update(d, i) >= 0);
	assert_filled(d);
	put_load(d, 9, 0x5000, 0x10, "five");
	assert_int_equal(update(d, d->length), 1);
	assert_name(d, 0x5000, "five");
}

static void test_nothing_after_close(void **state)
{
	struct dump *d = *state;

	put_header(d, 0);
	put_load(d, 1, 0x1000, 0x20, "one");
	put_other(d, CLOSE, 0);
	put_load(d, 2, 0x2000, 0x20, "two");
	assert_int_equal(update(d, d->length), 1);
	assert_name(d, 0x1000, "one");
	assert_name(d, 0x2000, NULL);
}

static void test_no_dump(void **state)
{
	struct dump *d = *state;

	put_header(d, 0);
	d->bytes[0] ^= 1;
	assert_int_equal(update(d, d->length), -EINVAL);
	assert_int_equal(update(d, d->length), -EINVAL);
}

static void test_senseless_sizes(void **state)
{
	struct dump *d = *state;

	put_header(d, 0);
	put_load(d, 1, 0x1000, 0x20, "one");
	put32(d, LOAD);
	put32(d, 60); /* ends in the name, which nothing ends */
	put64(d, 2);
	put64(d, 0);
	put64(d, 0x2000);
	put64(d, 0x2000);
	put64(d, 0x10);
	put64(d, 2);
	put_bytes(d, "twotwotwo", 4);
	put_other(d, MOVE, 3);
	put_other(d, LOAD, 40);
	assert_int_equal(update(d, d->length), 1);
	assert_name(d, 0x1000, "one");
	assert_name(d, 0x2000, "twot");
	put32(d, LOAD);
	put32(d, 15);
	put64(d, 0);
	assert_int_equal(update(d, d->length), -EINVAL);
}

/* The code is not there, nor ever will be: its name is. */
static void test_huge_record(void **state)
{
	struct dump *d = *state;
	size_t begin;

	put_header(d, 0);
	begin = d->length;
	put_load(d, 1, 0x1000, 2000, "one");
	memset(d->bytes + begin + 4, 0xff, 4);
	assert_int_equal(update(d, d->length), 1);
	assert_name(d, 0x1000, "one");
	assert_int_equal(update(d, d->length), 0);
}

/* In which round an address got another name is known, and what was told early is no change. */
static void test_rewritten(void **state)
{
	struct dump *d = *state;
	size_t early;

	put_header(d, 0);
	put_load(d, 0, 0x1000, 0x100, "one");
	put_load(d, 1, 0x1000, 0x80, "two");
	early = d->length;
	put_load(d, 2, 0x1080, 0x80, "three");
	assert_int_equal(pwrite(fileno(d->file), d->bytes, early + 20, 0), early + 20);
	jitdump_set_early(d->jd); /* within a record */
	assert_int_equal(update_in(d, d->length, 3), 1);
	assert_false(jitdump_is_behind(d->jd));
	assert_name(d, 0x1000, "two");
	assert_int_equal(codemap_rewritten(d->map, 0x1000), 0);
	assert_name(d, 0x1080, "three");
	assert_int_equal(codemap_rewritten(d->map, 0x1080), 3);
	put_move(d, 2, 0x1080, 0x1000, 0x80);
	put_load(d, 4, 0x4000, 0x80, "four");
	assert_int_equal(update_in(d, d->length, 4), 1);
	assert_name(d, 0x1000, "three");
	assert_int_equal(codemap_rewritten(d->map, 0x1000), 4);
	assert_int_equal(codemap_rewritten(d->map, 0x4000), 0);
}

static void test_budget(void **state)
{
	struct dump *d = *state;
	size_t budget;
	int looks = 0;

	put_header(d, 0);
	assert_int_equal(update(d, d->length), 1);
	for (unsigned int i = 0; i < 1000; i++) {
		d->length = 0;
		put_load(d, i, 0x1000 + i * 0x100, 0x100, "function");
		assert_int_equal(
			pwrite(fileno(d->file), d->bytes, d->length, (off_t)(40 + i * d->length)),
			d->length);
	}
	do {
		budget = 70000;
		looks++;
		if (looks == 1) {
			assert_int_equal(jitdump_update(d->jd, d->map, 1, &budget), 1);
			assert_true(jitdump_is_behind(d->jd));
			budget = 70000;
		}
	} while (jitdump_update(d->jd, d->map, 1, &budget) == 1);
	assert_in_range(looks, 5, 10); /* 321,000 bytes */
	assert_false(jitdump_is_behind(d->jd));
	assert_name(d, 0x1000 + 999 * 0x100, "function");
}

static void test_names_of_files(void **state)
{
	(void)state;
	assert_true(jitdump_is_name("jit-1.dump"));
	assert_true(jitdump_is_name("jit-4194304.dump"));
	assert_false(jitdump_is_name("jit-.dump"));
	assert_false(jitdump_is_name("jit-1.dump2"));
	assert_false(jitdump_is_name("jit-1x.dump"));
	assert_false(jitdump_is_name("libjit-1.dump"));
	assert_false(jitdump_is_name(""));
}

static void test_no_file(void **state)
{
	struct jitdump *jd;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(jitdump_new(ends[0], &jd), -EINVAL);
	assert_null(jd);
	close(ends[1]);
	jitdump_free(NULL);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_records),
		TEST(test_other_byte_order),
		TEST(test_growth_by_bytes),
		TEST(test_nothing_after_close),
		TEST(test_no_dump),
		TEST(test_senseless_sizes),
		TEST(test_huge_record),
		TEST(test_rewritten),
		TEST(test_budget),
		cmocka_unit_test(test_names_of_files),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
