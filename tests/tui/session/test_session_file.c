// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What happens to the file of a session: cut or flipped anywhere it gives what stands before that;
 * other files, and those of other people, are never written over; a full disk ends it with a word.
 * Covers: tui/session/session_read.c tui/session/session_write.c
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/recorded.h"
#include "tests/support/scratch.h"
#include "tui/session/session.h"
#include "tui/session/session_read.h"

static void file_write(const char *name, const char *data, size_t size)
{
	FILE *file = fopen(name, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* How many slices are whole in the first size bytes; *end: where the last of them ends. */
static uint32_t whole_slices(const char *data, size_t size)
{
	size_t at = SESSION_MAGIC_SIZE;
	struct session_chunk head;
	uint32_t count = 0;

	while (at + sizeof(head) <= size) {
		memcpy(&head, data + at, sizeof(head));
		at += sizeof(head) + head.packed;
		if (at <= size)
			count += head.type == SESSION_SLICE;
	}
	return count;
}

/* Reads all of it; the number of slices, 0 when it is none. */
static uint32_t slices_of(const char *name)
{
	struct session_slice slice;
	struct session *s;
	char error[256];
	uint32_t count;

	if (session_open(name, &s, error, sizeof(error)))
		return 0;
	count = session_slices(s);
	for (uint32_t n = 0; n < count; n++) {
		struct profile_proc proc;
		uint32_t first, end;

		if (session_read(s, n, &slice))
			fail_msg("slice %u of %u cannot be read", n, count);
		for (session_changes(s, n, &first, &end); first < end; first++)
			assert_true(session_names_proc(
				session_all_names(s),
				session_names_change(session_all_names(s), first), n, &proc));
	}
	session_free(s);
	return count;
}

static void cut_anywhere(void **state)
{
	struct recorded r;
	size_t size;
	char *data;

	(void)state;
	record(&r, 12, CELLS);
	data = scratch_read(path, &size);
	assert_int_equal(whole_slices(data, size), 12);
	file_write(other, data, size);
	for (size_t end = size; end-- > 0;) {
		assert_int_equal(truncate(other, (off_t)end), 0);
		assert_int_equal(slices_of(other), whole_slices(data, end));
	}
	free(data);
	recorded_free(&r);
}

static void flipped_anywhere(void **state)
{
	struct recorded r;
	size_t size;
	char *data;
	int fd;

	(void)state;
	record(&r, 12, CELLS);
	data = scratch_read(path, &size);
	file_write(other, data, size);
	fd = open(other, O_RDWR | O_CLOEXEC);
	for (size_t at = 0; at < size; at++) {
		char flipped = (char)(data[at] ^ 1 << at % 8);

		assert_int_equal(pwrite(fd, &flipped, 1, (off_t)at), 1);
		/* Up to the chunk that the byte is in. */
		assert_int_equal(slices_of(other),
				 at < SESSION_MAGIC_SIZE ? 0 : whole_slices(data, at));
		assert_int_equal(pwrite(fd, &data[at], 1, (off_t)at), 1);
	}
	close(fd);
	free(data);
	recorded_free(&r);
}

static int writer_error(const char *name)
{
	struct session_writer *w;
	char error[256] = "";
	int err = session_writer_new(name, &w, error, sizeof(error));

	if (!err)
		session_writer_free(w);
	else
		assert_non_null(strstr(error, name));
	return err;
}

/* The version stands before the line's end. */
static void tells_another_version(void **state)
{
	struct session *s;
	char error[256], *data;
	size_t size;

	(void)state;
	unlink(path);
	assert_int_equal(writer_error(path), 0);
	data = scratch_read(path, &size);
	data[SESSION_MAGIC_SIZE - 2]++;
	file_write(other, data, size);
	assert_true(session_open(other, &s, error, sizeof(error)) < 0);
	assert_non_null(strstr(error, "another stacktop version"));
	data[SESSION_MAGIC_SIZE - 2]--;
	data[0]++;
	file_write(other, data, size);
	assert_true(session_open(other, &s, error, sizeof(error)) < 0);
	assert_null(strstr(error, "another stacktop version"));
	free(data);
}

static void keeps_other_files(void **state)
{
	static const char text[] = "not a session, and longer than the beginning of one\n";
	struct session_writer *w;
	char error[256], *data;
	struct stat st;
	size_t size;

	(void)state;
	unlink(path);
	umask(0);
	assert_int_equal(writer_error(path), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(writer_error(path), 0); /* a session is replaced */
	assert_int_equal(session_writer_new(path, &w, error, sizeof(error)), 0);
	assert_int_equal(writer_error(path), -EBUSY); /* but not while it is written */
	session_writer_free(w);
	file_write(other, text, sizeof(text));
	assert_int_equal(writer_error(other), -EEXIST);
	data = scratch_read(other, &size);
	assert_int_equal(size, sizeof(text));
	assert_memory_equal(data, text, size);
	free(data);
	file_write(other, "short", 5);
	assert_int_equal(writer_error(other), -EEXIST);
	unlink(other);
	/* Who has another name for it, or owns it, could read what is recorded. */
	assert_int_equal(link(path, other), 0);
	assert_int_equal(writer_error(path), -EPERM);
	unlink(other);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(writer_error(path), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	if (geteuid() == 0) {
		file_write(other, "", 0);
		assert_int_equal(chown(other, 65534, 65534), 0);
		assert_int_equal(writer_error(other), -EPERM);
		assert_int_equal(stat(other, &st), 0);
		assert_int_equal(st.st_size, 0);
		unlink(other);
	}
	assert_int_equal(symlink(path, other), 0);
	assert_int_equal(writer_error(other), -ELOOP);
	unlink(other);
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_int_equal(writer_error(other), -EEXIST);
	/* A pipe could bring a file of another profiler, but this one has no other end. */
	assert_int_equal(session_open(other, &(struct session *){NULL}, error, sizeof(error)),
			 -ENOMSG);
	unlink(other);
	assert_int_equal(writer_error("/nowhere/session"), -ENOENT);
	assert_int_equal(writer_error(folder), -EISDIR);
}

/* /dev/full is no regular file, so the error is made where a write meets it. */
static void says_that_the_disk_is_full(void **state)
{
	struct recorded r = {.p = profile_new(WINDOW, CELLS), .random = 7};
	struct profile_cell cells[32];
	struct profile_health health = {.elapsed = NS, .ncpus = 2, .frequency = 99};
	struct session_writer *w;
	char error[256];
	struct rlimit before, limit;
	int err = 0, written = 0;
	size_t count;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(session_writer_new(path, &w, error, sizeof(error)), 0);
	limit = (struct rlimit){.rlim_cur = 6000, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int n = 0; n < 1000 && !err; n++) {
		health.time += NS;
		count = make_cells(&r, n, cells);
		assert_int_equal(profile_commit(r.p, cells, count, &health), 0);
		assert_int_equal(session_note(w, r.p, cells, count, &health), 0);
		err = session_flush(w);
		written += !err;
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(err, -EFBIG);
	assert_int_equal(session_note(w, r.p, cells, count, &health), 0);
	assert_int_equal(session_flush(w), 0);
	session_writer_free(w);
	assert_int_equal(slices_of(path), written);
	profile_free(r.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(flipped_anywhere),
		cmocka_unit_test(tells_another_version),
		cmocka_unit_test(keeps_other_files),
		cmocka_unit_test(says_that_the_disk_is_full),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
