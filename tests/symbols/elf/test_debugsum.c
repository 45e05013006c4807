// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=clock_gettime */
/*
 * Sums of debug files against those that gzip writes, and what they may cost, in units of work and
 * by a clock that the test sets.
 * Covers: symbols/base/clock.h symbols/elf/debugfile.c
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/elf/debugfile.h"
#include "symbols/elf/elffile.h"
#include "symbols/base/work.h"
#include "tests/support/scratch.h"

#define MIB (1ll << 20)

static time_t seconds = 1000;

int __wrap_clock_gettime(clockid_t clock, struct timespec *to);

int __wrap_clock_gettime(clockid_t clock, struct timespec *to)
{
	(void)clock;
	*to = (struct timespec){seconds, 0};
	return 0;
}

/* A copy of this program, with zeros behind it up to size, if that is not 0. */
static void make_copy(char path[SCRATCH], off_t size)
{
	char command[256];
	int fd = scratch_file(path, "debugsum");

	close(fd);
	snprintf(command, sizeof(command), "cat /bin/true >%s", path);
	assert_int_equal(system(command), 0);
	if (size)
		assert_int_equal(truncate(path, size), 0);
}

/* Units of work; *err: what it said. */
static uint64_t cost_of(const char *path, uint32_t *sum, int *err)
{
	struct elf_file *file;
	uint64_t work;

	assert_int_equal(elf_file_open(path, &file), 0);
	*err = debugsum_of(file, sum);
	work = elf_file_work(file)->done;
	elf_file_free(file);
	return work;
}

/* RFC 1952: the CRC-32 is before the last four bytes. */
static uint32_t gzip_sum(const char *path)
{
	char command[256];
	uint32_t sum = 0;
	FILE *in;

	snprintf(command, sizeof(command), "gzip -1 -c %s | tail -c 8 | head -c 4", path);
	in = popen(command, "r");
	assert_non_null(in);
	assert_int_equal(fread(&sum, sizeof(sum), 1, in), 1);
	pclose(in);
	return sum;
}

static void change(const char *path, off_t at, time_t time)
{
	const struct timespec times[2] = {{time, 0}, {time, 0}};
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_int_equal(pwrite(fd, "changed", 7, at), 7);
	close(fd);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void summed_once(void **state)
{
	char path[SCRATCH];
	uint32_t sum = 0;
	struct stat st;
	uint64_t work;
	int err;

	(void)state;
	make_copy(path, 0);
	assert_int_equal(stat(path, &st), 0);
	work = cost_of(path, &sum, &err);
	assert_int_equal(err, 0);
	assert_int_equal(sum, gzip_sum(path));
	assert_in_range(work, st.st_size / 64 - 1, st.st_size / 64);
	sum = 0;
	assert_int_equal(cost_of(path, &sum, &err), 0);
	assert_int_equal(err, 0);
	assert_int_equal(sum, gzip_sum(path));
	/* Another content of that size, at another time. */
	change(path, st.st_size - 100, 12345);
	assert_true(cost_of(path, &sum, &err) > 0);
	assert_int_equal(err, 0);
	assert_int_equal(sum, gzip_sum(path));
	unlink(path);
}

/* 200 and 121 MiB are more than 320, and so is 321. */
static void bounded_by_time(void **state)
{
	char large[SCRATCH], second[SCRATCH], huge[SCRATCH];
	uint64_t before = debugsum_put_off();
	uint32_t sum;
	int err;

	(void)state;
	seconds += 10;
	make_copy(large, 200 * MIB);
	make_copy(second, 121 * MIB);
	make_copy(huge, 321 * MIB);
	assert_int_equal(cost_of(huge, &sum, &err), 0);
	assert_int_equal(err, -EFBIG);
	assert_true(cost_of(large, &sum, &err) >= (uint64_t)(200 * MIB / 64));
	assert_int_equal(err, 0);
	assert_int_equal(cost_of(second, &sum, &err), 0);
	assert_int_equal(err, -EAGAIN);
	seconds += 9;
	assert_int_equal(cost_of(second, &sum, &err), 0);
	assert_int_equal(err, -EAGAIN);
	assert_int_equal(debugsum_put_off(), before + 2);
	seconds++;
	assert_true(cost_of(second, &sum, &err) >= (uint64_t)(121 * MIB / 64));
	assert_int_equal(err, 0);
	/* What is known costs nothing, whatever else was summed. */
	assert_int_equal(cost_of(large, &sum, &err), 0);
	assert_int_equal(err, 0);
	unlink(large);
	unlink(second);
	unlink(huge);
}

static void cancelled(void **state)
{
	atomic_bool cancel = true;
	struct elf_file *file;
	char path[SCRATCH];
	uint32_t sum;

	(void)state;
	seconds += 10;
	make_copy(path, 100 * MIB);
	assert_int_equal(elf_file_open(path, &file), 0);
	elf_file_work(file)->cancel = &cancel;
	assert_int_equal(debugsum_of(file, &sum), -ECANCELED);
	assert_in_range(elf_file_work(file)->done, 0, 65536 / 64);
	elf_file_free(file);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(summed_once),
		cmocka_unit_test(bounded_by_time),
		cmocka_unit_test(cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
