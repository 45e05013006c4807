/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What waits to be sent: its order and bounds in memory and in a folder, what a new process finds
 * there, files that are damaged or foreign, folders that others may write, a disk that is full, and
 * two threads.
 * Covers: tui/push/queue.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/rights.h"
#include "tests/support/scratch.h"
#include "tests/support/shell.h"
#include "tui/push/queue.h"

#define HEAD 64 /* bytes before the data of a file, which count, too */
#define MOST ((uint64_t)1 << 20)

static char top[SCRATCH], spool[2 * SCRATCH];
static char error[256];

static struct push_queue *open_queue(const char *folder, uint64_t most)
{
	struct push_queue *q;

	if (push_queue_open(folder, most, &q, error, sizeof(error)))
		fail_msg("%s", error);
	return q;
}

/* Data of that size that says which it is. */
static int add(struct push_queue *q, uint8_t which, size_t size)
{
	uint8_t *data = malloc(size);

	assert_non_null(data);
	memset(data, which, size);
	return push_queue_add(q, data, size, 10u * which);
}

static struct push_queue_state state_of(struct push_queue *q)
{
	struct push_queue_state s;

	push_queue_state(q, &s);
	return s;
}

/* The first entry is that one; its number. */
static uint64_t assert_first(struct push_queue *q, uint8_t which, size_t size)
{
	struct push_entry entry;

	assert_true(push_queue_first(q, &entry));
	assert_int_equal(entry.size, size);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(entry.data[i], which);
	push_entry_free(&entry);
	return entry.number;
}

static void assert_empty(struct push_queue *q)
{
	struct push_entry entry;

	assert_false(push_queue_first(q, &entry));
	assert_int_equal(state_of(q).entries, 0);
	assert_int_equal(state_of(q).bytes, 0);
	assert_int_equal(state_of(q).unwritten, 0);
}

/* Files in the spool whose names end so. */
static unsigned int files(const char *end)
{
	DIR *dir = opendir(spool);
	unsigned int n = 0;

	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));)
		n += strlen(e->d_name) >= strlen(end) &&
		     !strcmp(e->d_name + strlen(e->d_name) - strlen(end), end);
	closedir(dir);
	return n;
}

static int make_top(void **state)
{
	(void)state;
	scratch_folder(top, "queue");
	snprintf(spool, sizeof(spool), "%s/spool", top);
	return 0;
}

static int clean(void **state)
{
	(void)state;
	must("rm -rf %s", spool);
	return 0;
}

/* --- order and bounds, in memory and in a folder --------------------------------------------- */

static const char *const places[] = {NULL, spool};

static void test_order(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct push_queue *q = open_queue(places[i], MOST);

		assert_empty(q);
		for (uint8_t n = 1; n < 100; n++)
			assert_int_equal(add(q, n, n), 0);
		assert_int_equal(state_of(q).entries, 99);
		assert_int_equal(state_of(q).bytes, 99 * HEAD + 99 * 50);
		/* It stays until it is removed. */
		assert_first(q, 1, 1);
		for (uint8_t n = 1; n < 100; n++)
			push_queue_remove(q, assert_first(q, n, n));
		assert_empty(q);
		assert_int_equal(state_of(q).dropped, 0);
		push_queue_free(q);
	}
}

static void test_bound(void **state)
{
	struct push_entry entry;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct push_queue *q = open_queue(places[i], 10 * (1000 + HEAD));

		for (uint8_t n = 0; n < 100; n++) {
			assert_int_equal(add(q, n, 1000), 0);
			assert_true(state_of(q).bytes <= 10 * (1000 + HEAD));
			assert_int_equal(state_of(q).entries, n < 10 ? n + 1 : 10);
			assert_int_equal(state_of(q).dropped, n < 10 ? 0 : n - 9);
			assert_first(q, n < 10 ? 0 : n - 9, 1000);
			if (places[i])
				assert_int_equal(files(".push"), n < 10 ? n + 1 : 10);
		}
		/* 0 to 89 went. */
		assert_int_equal(state_of(q).dropped_samples, 10 * 89 * 90 / 2);
		/* What is larger than all drops nothing else. */
		assert_int_equal(add(q, 7, 10 * (1000 + HEAD)), -ENOSPC);
		assert_int_equal(state_of(q).entries, 10);
		assert_int_equal(state_of(q).dropped, 91);
		assert_int_equal(state_of(q).dropped_samples, 10 * 89 * 90 / 2 + 70);
		/* What is as large as all drops the others. */
		assert_int_equal(add(q, 8, 10 * (1000 + HEAD) - HEAD), 0);
		assert_int_equal(state_of(q).entries, 1);
		push_queue_remove(q, assert_first(q, 8, 10 * (1000 + HEAD) - HEAD));
		/* Removed from the middle, and what is not there. */
		for (uint8_t n = 0; n < 3; n++)
			add(q, n, 10);
		assert_true(push_queue_first(q, &entry));
		push_entry_free(&entry);
		push_queue_remove(q, entry.number + 1);
		push_queue_remove(q, entry.number + 100);
		assert_false(push_queue_note(q, entry.number + 1, &(struct push_progress){1, 2}));
		push_queue_remove(q, assert_first(q, 0, 10));
		push_queue_remove(q, assert_first(q, 2, 10));
		assert_empty(q);
		push_queue_free(q);
		if (places[i])
			assert_int_equal(files(".push"), 0);
	}
}

/* --- a folder outlives the process ----------------------------------------------------------- */

static void test_found(void **state)
{
	struct push_queue *q = open_queue(spool, MOST);
	struct push_entry before[3], after;
	struct stat st;

	(void)state;
	for (uint8_t n = 0; n < 20; n++)
		add(q, n, 100);
	for (uint8_t n = 0; n < 3; n++) {
		assert_true(push_queue_first(q, &before[n]));
		if (n == 2)
			assert_true(push_queue_note(q, before[n].number,
						    &(struct push_progress){123456789, 4711}));
		else
			push_queue_remove(q, before[n].number);
		push_entry_free(&before[n]);
	}
	push_queue_free(q);
	assert_int_equal(stat(spool, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);

	q = open_queue(spool, MOST);
	assert_int_equal(state_of(q).found, 18);
	assert_int_equal(state_of(q).entries, 18);
	assert_int_equal(state_of(q).bytes, 18 * (100 + HEAD));
	assert_int_equal(state_of(q).damaged, 0);
	assert_true(push_queue_first(q, &after));
	push_entry_free(&after);
	assert_int_equal(after.number, before[2].number);
	assert_memory_equal(after.id, before[2].id, PUSH_ID);
	assert_memory_not_equal(after.id, before[1].id, PUSH_ID);
	assert_int_equal(after.progress.cursor, 123456789);
	assert_int_equal(after.progress.piece, 4711);
	/* What is new comes behind what was found. */
	add(q, 20, 100);
	for (uint8_t n = 2; n <= 20; n++)
		push_queue_remove(q, assert_first(q, n, 100));
	push_queue_free(q);

	/* With less room the oldest go, and are counted. */
	q = open_queue(spool, MOST);
	for (uint8_t n = 0; n < 20; n++)
		add(q, n, 100);
	push_queue_free(q);
	q = open_queue(spool, 5 * (100 + HEAD) + 3);
	assert_int_equal(state_of(q).found, 20);
	assert_int_equal(state_of(q).entries, 5);
	assert_int_equal(state_of(q).dropped_samples, 10 * 14 * 15 / 2);
	assert_int_equal(files(".push"), 5);
	assert_first(q, 15, 100);
	push_queue_free(q);
}

static void test_open(void **state)
{
	struct push_queue *q = open_queue(NULL, MOST);

	(void)state;
	push_queue_mark_open(q, 5);
	assert_int_equal(push_queue_left_open(q), 0);
	push_queue_free(q);
	q = open_queue(spool, MOST);
	assert_int_equal(push_queue_left_open(q), 0);
	push_queue_mark_open(q, 1);
	push_queue_mark_open(q, 1700000000123456789);
	push_queue_free(q);
	q = open_queue(spool, MOST);
	assert_int_equal(push_queue_left_open(q), 1700000000123456789);
	push_queue_mark_open(q, 0);
	push_queue_mark_open(q, 0);
	push_queue_free(q);
	q = open_queue(spool, MOST);
	assert_int_equal(push_queue_left_open(q), 0);
	push_queue_free(q);
	must("printf nonsense >%s/open", spool);
	q = open_queue(spool, MOST);
	assert_int_equal(push_queue_left_open(q), 0);
	push_queue_free(q);
	must("rm %s/open && ln -s /etc/passwd %s/open", spool, spool);
	q = open_queue(spool, MOST);
	assert_int_equal(push_queue_left_open(q), 0);
	push_queue_mark_open(q, 3);
	push_queue_free(q);
	q = open_queue(spool, MOST);
	assert_int_equal(push_queue_left_open(q), 3);
	push_queue_free(q);
}

/* --- files that make no sense ---------------------------------------------------------------- */

/* A spool with one entry, closed; *to is its file. */
static void one_entry(char *to, size_t room)
{
	struct push_queue *q = open_queue(spool, MOST);

	assert_int_equal(add(q, 9, 50), 0);
	push_queue_free(q);
	snprintf(to, room, "%s/%016x.push", spool, 0);
	assert_int_equal(access(to, F_OK), 0);
}

/* As many entries and damaged files are found; what is damaged is gone afterwards. */
static void assert_finds(size_t entries, uint64_t damaged)
{
	struct push_queue *q = open_queue(spool, MOST);

	assert_int_equal(state_of(q).entries, entries);
	assert_int_equal(state_of(q).damaged, damaged);
	push_queue_free(q);
	q = open_queue(spool, MOST);
	assert_int_equal(state_of(q).damaged, 0);
	push_queue_free(q);
}

static void test_flipped(void **state)
{
	char file[256];

	(void)state;
	for (size_t at = 0; at < HEAD; at++) {
		/* What changes, and what is not used. */
		const bool harmless = at >= HEAD - sizeof(struct push_progress) || at / 4 == 11;
		uint8_t byte;
		int fd;

		one_entry(file, sizeof(file));
		fd = open(file, O_RDWR);
		assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
		byte ^= (uint8_t)(1 << at % 8);
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
		close(fd);
		assert_finds(harmless, !harmless);
		assert_int_equal(files(".push"), harmless);
		assert_int_equal(unlink(file), harmless ? 0 : -1);
	}
}

static void test_truncated(void **state)
{
	char file[256];

	(void)state;
	for (off_t size = 0; size < HEAD + 52; size++) {
		one_entry(file, sizeof(file));
		assert_int_equal(truncate(file, size), 0);
		assert_finds(size == HEAD + 50, size != HEAD + 50);
		assert_int_equal(unlink(file), size == HEAD + 50 ? 0 : -1);
	}
}

static void test_foreign(void **state)
{
	char file[256];

	(void)state;
	one_entry(file, sizeof(file));
	must("cd %s && echo text >0000000000000001.push && ln -s 0000000000000000.push "
	     "0000000000000002.push && mkfifo 0000000000000003.push && "
	     "printf half >.0000000000000004.push && "
	     "for n in 5.push 000000000000000G.push notes.txt 0000000000000005.pushed "
	     "1000000000000000.push +000000000000006.push; do echo other >$n; done",
	     spool);
	assert_finds(1, 3);
	/* What has another name is not of the spool, and stays. */
	assert_int_equal(files(".push"), 5);
	must("cd %s && test -e notes.txt && test -e 0000000000000005.pushed && "
	     "test ! -e .0000000000000004.push",
	     spool);
}

/* Damaged while the queue is open. */
static void test_damaged_later(void **state)
{
	struct push_queue *q = open_queue(spool, MOST);

	(void)state;
	for (uint8_t n = 0; n < 4; n++)
		add(q, n, 100);
	must("cd %s && rm 0000000000000000.push && truncate -s 100 0000000000000001.push", spool);
	assert_first(q, 2, 100);
	assert_int_equal(state_of(q).damaged, 2);
	assert_int_equal(state_of(q).entries, 2);
	assert_int_equal(files(".push"), 2);
	push_queue_free(q);
}

/* An error that passes is no damage: the file is still there when it has passed. */
static void test_no_descriptors(void **state)
{
	struct push_queue *q = open_queue(spool, MOST), *again;
	struct push_entry entry;
	struct rlimit limit, none;
	int err;

	(void)state;
	add(q, 1, 100);
	add(q, 2, 100);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_false(push_queue_first(q, &entry));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(state_of(q).damaged, 0);
	assert_int_equal(state_of(q).entries, 2);
	assert_first(q, 1, 100);
	push_queue_free(q);
	/* Each number of descriptors too small to open the spool leaves its files. */
	for (rlim_t n = 3; n < 12; n++) {
		none.rlim_cur = n;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
		err = push_queue_open(spool, MOST, &again, error, sizeof(error));
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		if (err)
			assert_non_null(strstr(error, spool));
		else
			push_queue_free(again);
		assert_int_equal(files(".push"), 2);
	}
}

/* --- folders --------------------------------------------------------------------------------- */

static void assert_refused(const char *folder, int err, const char *why)
{
	struct push_queue *q = (struct push_queue *)&err;

	assert_int_equal(push_queue_open(folder, MOST, &q, error, sizeof(error)), err);
	assert_null(q);
	if (!strstr(error, why) || !strstr(error, folder))
		fail_msg("\"%s\" does not say \"%s\"", error, why);
}

static void test_folders(void **state)
{
	struct push_queue *q = open_queue(spool, MOST);
	char other[256];

	(void)state;
	assert_refused(spool, -EWOULDBLOCK, "another stacktop");
	push_queue_free(q);
	for (unsigned int mode = 0; mode < 0100; mode++) {
		assert_int_equal(chmod(spool, 0700 | mode), 0);
		if (mode & 022) {
			assert_refused(spool, -EPERM, "others may write");
		} else {
			q = open_queue(spool, MOST);
			push_queue_free(q);
		}
	}
	assert_int_equal(chmod(spool, 0700), 0);
	snprintf(other, sizeof(other), "%s/link", top);
	must("ln -sfn %s %s", spool, other);
	q = open_queue(other, MOST); /* a link of this user */
	push_queue_free(q);
	snprintf(other, sizeof(other), "%s/missing/spool", top);
	q = open_queue(other, MOST);
	push_queue_free(q);
	snprintf(other, sizeof(other), "%s/file", top);
	must("echo text >%s", other);
	assert_refused(other, -ENOTDIR, strerror(ENOTDIR));
	if (geteuid())
		skip_since("not root");
	snprintf(other, sizeof(other), "%s/link", top);
	assert_int_equal(lchown(other, 65534, 65534), 0);
	assert_refused(other, -EPERM, "link");
	assert_int_equal(chown(spool, 65534, 65534), 0);
	assert_refused(spool, -EPERM, "another user");
}

/* --- a disk that is full --------------------------------------------------------------------- */

/* No file may be larger than that. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_full(void **state)
{
	struct push_queue *q = open_queue(spool, MOST);

	(void)state;
	add(q, 1, 100);
	limit_files(150);
	assert_int_equal(add(q, 2, 100), 0);
	assert_int_equal(add(q, 3, 10), 0);
	assert_int_equal(add(q, 4, 100), 0);
	limit_files(RLIM_INFINITY);
	assert_int_equal(state_of(q).error, -EFBIG);
	assert_int_equal(state_of(q).entries, 4);
	assert_int_equal(state_of(q).unwritten, 2);
	assert_int_equal(state_of(q).dropped, 0);
	assert_int_equal(files(".push"), 2);
	assert_int_equal(add(q, 5, 100), 0);
	assert_int_equal(state_of(q).error, 0);
	assert_int_equal(state_of(q).unwritten, 2);
	/* The order is that in which they came. */
	push_queue_remove(q, assert_first(q, 1, 100));
	assert_true(push_queue_note(q, assert_first(q, 2, 100), &(struct push_progress){1, 1}));
	push_queue_remove(q, assert_first(q, 2, 100));
	assert_int_equal(state_of(q).unwritten, 1);
	push_queue_remove(q, assert_first(q, 3, 10));
	push_queue_remove(q, assert_first(q, 4, 100));
	push_queue_remove(q, assert_first(q, 5, 100));
	assert_empty(q);
	push_queue_free(q);
}

/* The room of a disk is not that of memory. */
static void test_full_for_long(void **state)
{
	const size_t size = 1 << 20;
	struct push_queue *q = open_queue(spool, (uint64_t)1 << 40);

	(void)state;
	add(q, 1, 100);
	limit_files(150);
	for (uint8_t n = 2; n < 22; n++) {
		assert_int_equal(add(q, n, size), 0);
		assert_true(state_of(q).unwritten * (size + HEAD) <= PUSH_MEMORY);
	}
	assert_int_equal(state_of(q).unwritten, 7);
	assert_int_equal(state_of(q).dropped, 13);
	assert_int_equal(state_of(q).entries, 8);
	assert_int_equal(add(q, 99, PUSH_MEMORY), -ENOSPC);
	assert_int_equal(state_of(q).unwritten, 7);
	limit_files(RLIM_INFINITY);
	push_queue_remove(q, assert_first(q, 1, 100));
	for (uint8_t n = 15; n < 22; n++)
		push_queue_remove(q, assert_first(q, n, size));
	assert_empty(q);
	push_queue_free(q);
}

/* --- two threads ----------------------------------------------------------------------------- */

#define ADDED 1000u

static atomic_bool all_added;

static void *fill(void *arg)
{
	struct push_queue *q = arg;

	for (unsigned int i = 0; i < ADDED; i++) {
		uint8_t *data = malloc(100);

		memcpy(data, &i, sizeof(i));
		push_queue_add(q, data, 100, 1);
		push_queue_mark_open(q, i);
	}
	atomic_store(&all_added, true);
	return NULL;
}

static void run_threads(const char *folder)
{
	struct push_queue *q = open_queue(folder, 20 * (100 + HEAD));
	unsigned int taken = 0, noted = 0, last = 0, which;
	struct push_entry entry;
	pthread_t thread;

	atomic_store(&all_added, false);
	assert_int_equal(pthread_create(&thread, NULL, fill, q), 0);
	while (true) {
		/* Before the last look. */
		bool end = atomic_load(&all_added);

		if (!push_queue_first(q, &entry)) {
			if (end)
				break;
			continue;
		}
		memcpy(&which, entry.data, sizeof(which));
		assert_true(!taken || which > last);
		last = which;
		push_entry_free(&entry);
		taken++;
		noted += push_queue_note(q, entry.number, &(struct push_progress){which, 1});
		push_queue_remove(q, entry.number);
	}
	pthread_join(thread, NULL);
	/* What is dropped may have been taken before. */
	assert_true(noted <= taken);
	assert_true(taken + state_of(q).dropped_samples >= ADDED);
	assert_int_equal(state_of(q).damaged, 0);
	assert_empty(q);
	push_queue_free(q);
	if (folder)
		assert_int_equal(files(".push"), 0);
}

static void test_threads(void **state)
{
	(void)state;
	run_threads(NULL);
	run_threads(spool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_order, clean),
		cmocka_unit_test_teardown(test_bound, clean),
		cmocka_unit_test_teardown(test_found, clean),
		cmocka_unit_test_teardown(test_open, clean),
		cmocka_unit_test_teardown(test_flipped, clean),
		cmocka_unit_test_teardown(test_truncated, clean),
		cmocka_unit_test_teardown(test_foreign, clean),
		cmocka_unit_test_teardown(test_damaged_later, clean),
		cmocka_unit_test_teardown(test_no_descriptors, clean),
		cmocka_unit_test_teardown(test_folders, clean),
		cmocka_unit_test_teardown(test_full, clean),
		cmocka_unit_test_teardown(test_full_for_long, clean),
		cmocka_unit_test_teardown(test_threads, clean),
	};

	return cmocka_run_group_tests(tests, make_top, scratch_remove);
}
