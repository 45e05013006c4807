/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is written in place, looked at round by round.
 * Covers: symbols/files/writtenfile.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/files/writtenfile.h"
#include "tests/support/scratch.h"

#define SECOND	1000000000ull
#define OF_FILE 1500000000u /* seconds */

struct fixture {
	char path[SCRATCH];
	int fd;
	uint64_t size;
	struct writtenfile w;
};

/* Another contents of so many bytes, and the time of a second. */
static void write_file(struct fixture *f, size_t size, unsigned int seconds)
{
	const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};

	assert_int_equal(ftruncate(f->fd, (off_t)size), 0);
	assert_int_equal(futimens(f->fd, times), 0);
	f->size = size;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->fd = scratch_file(f->path, "written");
	write_file(f, 100, OF_FILE);
	writtenfile_begin(&f->w, f->fd, OF_FILE * SECOND, f->size, 10, 1000 * SECOND);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	close(f->fd);
	free(f);
	return 0;
}

static void test_left_alone(void **state)
{
	struct fixture *f = *state;
	char other[80];

	assert_false(writtenfile_is_uncertain(&f->w, 10));
	assert_int_equal(fchmod(f->fd, 0755), 0);
	snprintf(other, sizeof(other), "%s.link", f->path);
	assert_int_equal(link(f->path, other), 0); /* as a backup does */
	unlink(other);
	assert_false(writtenfile_look(&f->w, f->fd, 11));
	assert_false(writtenfile_is_uncertain(&f->w, 11));
	assert_false(writtenfile_is_due(&f->w, 1000, 2000 * SECOND));
}

/* It is uncertain until it is read again, which is not before a quiet round and ten seconds. */
static void test_written_once(void **state)
{
	struct fixture *f = *state;

	write_file(f, 100, OF_FILE + 1);
	assert_true(writtenfile_look(&f->w, f->fd, 11));
	assert_true(writtenfile_is_uncertain(&f->w, 11));
	assert_false(writtenfile_is_due(&f->w, 11, 1020 * SECOND));
	assert_false(writtenfile_look(&f->w, f->fd, 12));
	assert_false(writtenfile_is_due(&f->w, 12, 1020 * SECOND)); /* of before, in part */
	assert_false(writtenfile_is_due(&f->w, 13, 1009 * SECOND));
	assert_true(writtenfile_is_due(&f->w, 13, 1010 * SECOND));
	assert_true(writtenfile_is_uncertain(&f->w, 13));
	writtenfile_again(&f->w, 1010 * SECOND);
	assert_false(writtenfile_is_uncertain(&f->w, 13));
	assert_false(writtenfile_look(&f->w, f->fd, 14));
	write_file(f, 101, OF_FILE + 1); /* of the same time */
	assert_true(writtenfile_look(&f->w, f->fd, 15));
}

/* One that is written all the time is not told of again, and is read ever more rarely. */
static void test_written_all_the_time(void **state)
{
	struct fixture *f = *state;
	unsigned int told = 0, reads = 0;

	for (unsigned int round = 11; round < 3611; round++) {
		const uint64_t now = (1000 + round) * SECOND;

		if (round % 4 == 0)
			write_file(f, 100 + round % 8, OF_FILE + round);
		told += writtenfile_look(&f->w, f->fd, round);
		if (writtenfile_is_due(&f->w, round, now)) {
			writtenfile_again(&f->w, now);
			reads++;
		}
	}
	/* After 10, 20, 40 ... 640 seconds, and then each 640: 7 times in 1,270 s, 4 more in 3,600.
	 */
	assert_in_range(reads, 7, 11);
	assert_in_range(told, reads, reads + 1);
}

/* Between the mapping and the first look: what was sampled may be what was there then. */
static void test_written_before_it_was_read(void **state)
{
	struct fixture *f = *state;

	write_file(f, 100, OF_FILE + 5);
	writtenfile_begin(&f->w, f->fd, OF_FILE * SECOND, f->size, 20, 0);
	assert_true(writtenfile_is_uncertain(&f->w, 20));
	assert_true(writtenfile_is_uncertain(&f->w, 21));
	assert_false(writtenfile_is_uncertain(&f->w, 22));
	assert_false(writtenfile_is_due(&f->w, 22, 1000 * SECOND)); /* what was read is good */
}

static void test_no_file(void **state)
{
	struct writtenfile w;

	(void)state;
	writtenfile_begin(&w, -1, 1, 2, 20, 0);
	assert_false(writtenfile_is_uncertain(&w, 20));
	assert_false(writtenfile_look(&w, -1, 21));
	assert_false(writtenfile_look(&w, 0, 21));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_left_alone),		 TEST(test_written_once),
		TEST(test_written_all_the_time), TEST(test_written_before_it_was_read),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
