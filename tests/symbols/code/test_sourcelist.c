// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Source files as listings: every line by its number, what is no text, files that are newer than
 * their process, missing, empty and too long.
 * Covers: symbols/code/sourcelist.c symbols/files/sourcefile.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/code/listing.h"
#include "symbols/code/sourcelist.h"
#include "tests/support/scratch.h"

static char folder[SCRATCH], path[SCRATCH + 16];

static int setup(void **state)
{
	(void)state;
	scratch_folder(folder, "sourcelist");
	snprintf(path, sizeof(path), "%s/app.py", folder);
	return 0;
}

static int teardown(void **state)
{
	char command[SCRATCH + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command); /* NOLINT(cert-env33-c): of the test's own making */
}

static void write_source(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_not_equal(fputs(text, f), EOF);
	fclose(f);
}

static int read_around(uint32_t line, time_t since, struct listing **out)
{
	const struct sourcelist_request request = {
		.root = -1, .path = path, .around = line, .since = since};

	return sourcelist_read(&request, out);
}

static const char *text_of(const struct listing *l, uint64_t number)
{
	uint32_t at = listing_find(l, number);

	assert_int_not_equal(at, LISTING_NONE);
	return l->strings + l->insns[at].text;
}

static void every_line_has_its_number(void **state)
{
	struct listing *l;

	(void)state;
	write_source("import os\n\n\tx = 1\nprint('Z\xc3\xbcrich \x1b[31m \xe2\x80\xae\xff')");
	assert_int_equal(read_around(1, 0, &l), 0);
	assert_true(l->source);
	assert_false(l->cut);
	assert_false(l->newer);
	assert_int_equal(l->start, 1);
	assert_int_equal(l->end, 5);
	assert_int_equal(l->ninsns, 4);
	assert_string_equal(text_of(l, 1), "import os");
	assert_string_equal(text_of(l, 2), "");
	assert_string_equal(text_of(l, 3), "        x = 1");
	assert_string_equal(text_of(l, 4), "print('Z\xc3\xbcrich  [31m ?\?')");
	assert_int_equal(listing_find(l, 0), LISTING_NONE);
	assert_int_equal(listing_find(l, 5), LISTING_NONE);
	listing_put(l);
}

static void newer_files_say_so(void **state)
{
	struct listing *l;

	(void)state;
	write_source("x\n");
	assert_int_equal(read_around(1, time(NULL) - 100, &l), 0);
	assert_true(l->newer);
	listing_put(l);
	assert_int_equal(read_around(1, time(NULL) + 100, &l), 0);
	assert_false(l->newer);
	listing_put(l);
}

/* The line is in the middle of what is shown. */
static void long_files_are_cut(void **state)
{
	const uint32_t lines = 3 * SOURCELIST_LINES, half = SOURCELIST_LINES / 2;
	struct listing *l;
	FILE *f = fopen(path, "w");

	(void)state;
	assert_non_null(f);
	for (uint32_t i = 1; i <= lines; i++)
		fprintf(f, "%u\n", i);
	fclose(f);
	assert_int_equal(read_around(1, 0, &l), 0);
	assert_true(l->cut);
	assert_int_equal(l->ninsns, SOURCELIST_LINES);
	assert_int_equal(l->start, 1);
	listing_put(l);
	assert_int_equal(read_around(100000, 0, &l), 0);
	assert_true(l->cut);
	assert_int_equal(l->start, 100000 - half);
	assert_int_equal(l->ninsns, SOURCELIST_LINES);
	assert_string_equal(text_of(l, 100000), "100000");
	listing_put(l);
	assert_int_equal(read_around(lines, 0, &l), 0);
	assert_int_equal(l->end, lines + 1);
	assert_string_equal(text_of(l, lines), "196608");
	listing_put(l);
}

static void what_is_no_source_is_refused(void **state)
{
	struct listing *l;
	atomic_bool cancel = true;
	struct sourcelist_request request = {.root = -1, .path = path, .cancel = &cancel};

	(void)state;
	write_source("x\n");
	assert_int_equal(sourcelist_read(&request, &l), -ECANCELED);
	assert_null(l);
	/* It has become shorter: the line is not there any more. */
	assert_int_equal(read_around(UINT32_MAX, 0, &l), -ENODATA);
	write_source("");
	assert_int_equal(read_around(1, 0, &l), -ENODATA);
	assert_null(l);
	remove(path);
	assert_int_equal(read_around(1, 0, &l), -ENOENT);
	request.path = "app.py";
	assert_int_equal(sourcelist_read(&request, &l), -EINVAL);
	request.path = "/proc/self/maps";
	assert_int_equal(sourcelist_read(&request, &l), -EINVAL);
	request.path = folder;
	assert_int_equal(sourcelist_read(&request, &l), -EINVAL);
}

static void lines_do_without_a_file(void **state)
{
	static const uint32_t numbers[] = {3, 7, 4000000000u};
	struct listing *l;

	(void)state;
	assert_int_equal(sourcelist_bare(numbers, 3, "gone", &l), 0);
	assert_true(l->source);
	assert_string_equal(l->lines_missing, "gone");
	assert_int_equal(l->ninsns, 3);
	assert_int_equal(listing_find(l, 3), 0);
	assert_int_equal(listing_find(l, 4), LISTING_NONE);
	assert_int_equal(listing_find(l, 4000000000u), 2);
	assert_string_equal(text_of(l, 7), "");
	listing_put(l);
	assert_int_equal(sourcelist_bare(numbers, 0, "gone", &l), -ENODATA);
	assert_null(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_has_its_number),
		cmocka_unit_test(newer_files_say_so),
		cmocka_unit_test(long_files_are_cut),
		cmocka_unit_test(what_is_no_source_is_refused),
		cmocka_unit_test(lines_do_without_a_file),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
