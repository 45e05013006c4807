/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps of this process and of children of other users, laid where a runtime would write them.
 * Covers: symbols/names/perfmap.c symbols/files/procfile.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "symbols/names/codemap.h"
#include "symbols/names/perfmap.h"
#include "symbols/files/procfile.h"
#include "tests/support/rights.h"

#define PLENTY ((size_t)1 << 30)

struct fixture {
	char path[64];
	struct procfile_owner owner;
	struct perfmap *pm;
	struct codemap *map;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	snprintf(f->path, sizeof(f->path), "/tmp/perf-%d.map", (int)getpid());
	unlink(f->path);
	assert_int_equal(procfile_owner(getpid(), &f->owner), 0);
	f->pm = perfmap_new();
	f->map = codemap_new(8 << 20);
	assert_true(f->pm && f->map);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	perfmap_free(f->pm);
	codemap_free(f->map);
	free(f);
	return 0;
}

static void put(const struct fixture *f, const char *mode, const char *text)
{
	FILE *file = fopen(f->path, mode);

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int update_in(struct fixture *f, uint64_t round)
{
	size_t budget = PLENTY;

	return perfmap_update(f->pm, &f->owner, NULL, f->map, round, &budget);
}

static int update(struct fixture *f)
{
	return update_in(f, 1);
}

static void assert_name(struct fixture *f, uint64_t addr, const char *name)
{
	const char *found = codemap_find(f->map, addr);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
}

static void test_owner(void **state)
{
	const struct fixture *f = *state;
	struct procfile_owner other;
	struct stat st;

	assert_int_equal(f->owner.pid, getpid());
	assert_int_equal(f->owner.nspid, getpid()); /* in the namespace of the test */
	assert_int_equal(f->owner.uid, getuid());
	assert_int_equal(f->owner.euid, geteuid());
	/* The folder's time is that of its first look-up, which may be much later. */
	assert_int_equal(stat("/proc/self", &st), 0);
	assert_true(f->owner.start <= st.st_mtim.tv_sec + 2);
	assert_true(f->owner.start >= time(NULL) - 600);
	assert_int_equal(procfile_owner(0x7ffffffe, &other), -ESRCH);
}

static void test_forms_of_lines(void **state)
{
	struct fixture *f = *state;
	static const char text[] = "1000 10 plain\n"
				   "0x2000 0x10 prefixed with blanks inside\n"
				   "ABC0 10 upper\r\n"
				   "\n"
				   "3000 10\n"
				   "3000 10 \n"
				   "zzzz 10 no number\n"
				   "4000 0 empty\n"
				   "-5000 10 negative\n"
				   "10000000000005000 10 too big\n"
				   "fffffffffffffff0 100 beyond\n"
				   "0x 10 nothing\n"
				   "6000 10 _ZN5space3fooEi\n"
				   "1004 4 inner\n"
				   "7000\t10\ttabs\n"
				   "8000 10 unfinished";
	size_t taken;

	assert_int_equal(perfmap_parse(f->map, text, strlen(text), &taken), 0);
	assert_int_equal(taken, strlen(text) - strlen("8000 10 unfinished"));
	assert_name(f, 0x1000, "plain");
	assert_name(f, 0x1003, "plain");
	assert_name(f, 0x1004, "inner");
	assert_name(f, 0x1008, "plain");
	assert_name(f, 0x1010, NULL);
	assert_name(f, 0x200f, "prefixed with blanks inside");
	assert_name(f, 0xabc0, "upper");
	assert_name(f, 0x3000, NULL);
	assert_name(f, 0x4000, NULL);
	assert_name(f, 0x5000, NULL);
	assert_name(f, 0, NULL);
	assert_name(f, 0x6000, "space::foo");
	assert_name(f, 0x7000, "tabs");
	assert_name(f, 0x8000, NULL);
}

static void test_growth(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(update(f), -ENOENT);
	put(f, "w", "1000 10 one\n2000 1");
	assert_int_equal(update(f), 1);
	assert_name(f, 0x1000, "one");
	assert_name(f, 0x2000, NULL);
	assert_int_equal(update(f), 0);
	put(f, "a", "0 two\n1000 10 new one\n");
	assert_int_equal(update(f), 1);
	assert_name(f, 0x2000, "two");
	assert_name(f, 0x1000, "new one");
	assert_int_equal(update(f), 0);
}

static void test_written_anew(void **state)
{
	struct fixture *f = *state;

	put(f, "w", "1000 10 one\n2000 10 two\n");
	assert_int_equal(update(f), 1);
	put(f, "w", "1000 10 first\n"); /* shorter */
	assert_int_equal(update(f), 1);
	assert_name(f, 0x1000, "first");
	assert_name(f, 0x2000, NULL);
	put(f, "w", "3000 10 three\n4000 10 four\n"); /* longer */
	assert_int_equal(update(f), 1);
	assert_name(f, 0x1000, NULL);
	assert_name(f, 0x4000, "four");
	unlink(f->path); /* it stays good until there is another */
	assert_int_equal(update(f), 0);
	assert_name(f, 0x4000, "four");
	put(f, "w", "3000 10 three\n4000 10 four\n5000 10 five\n");
	assert_int_equal(update(f), 1);
	assert_name(f, 0x5000, "five");
}

/* In which round an address got another name is known, and what was told early is no change. */
static void test_rewritten(void **state)
{
	struct fixture *f = *state;

	put(f, "w", "1000 10 one\n1000 10 other\n2000 10 two\n2000 1");
	assert_true(perfmap_open(f->pm, &f->owner, NULL));
	put(f, "a", "0 late\n");
	assert_int_equal(update_in(f, 3), 1);
	assert_false(perfmap_is_behind(f->pm));
	assert_name(f, 0x1000, "other");
	assert_int_equal(codemap_rewritten(f->map, 0x1000), 0);
	assert_name(f, 0x2000, "late");
	assert_int_equal(codemap_rewritten(f->map, 0x2000), 3);
	put(f, "a", "1000 10 again\n3000 10 three\n");
	assert_int_equal(update_in(f, 4), 1);
	assert_int_equal(codemap_rewritten(f->map, 0x1000), 4);
	assert_int_equal(codemap_rewritten(f->map, 0x2000), 3);
	assert_int_equal(codemap_rewritten(f->map, 0x3000), 0);
}

/* Another file, or the same written anew: even an equal one may have been another between. */
static void test_rewritten_as_a_whole(void **state)
{
	struct fixture *f = *state;
	const struct timespec before[2] = {{1500000000, 0}, {1500000000, 0}};
	char other[80];

	put(f, "w", "1000 10 one\n");
	assert_true(perfmap_open(f->pm, &f->owner, NULL));
	snprintf(other, sizeof(other), "%s.new", f->path);
	assert_int_equal(rename(f->path, other), 0);
	put(f, "w", "1000 10 one\n");
	unlink(other);
	assert_int_equal(update_in(f, 1), 1); /* it was opened, though not read */
	assert_int_equal(codemap_rewritten(f->map, 0x1000), 1);
	assert_int_equal(update_in(f, 5), 0);
	put(f, "w", "1000 10 one\n");
	/* What is told of the process's own file, whose times it chooses. */
	assert_int_equal(utimensat(AT_FDCWD, f->path, before, 0), 0);
	f->owner.start = 1400000000;
	assert_int_equal(update_in(f, 6), 1);
	assert_int_equal(codemap_rewritten(f->map, 0x1000), 6);
	assert_int_equal(update_in(f, 7), 0);
	assert_int_equal(codemap_rewritten(f->map, 0x1000), 6);
}

/* What is read of may be about what has a name already. */
static void test_behind(void **state)
{
	struct fixture *f = *state;
	FILE *file = fopen(f->path, "w");
	size_t budget = 100000;

	assert_non_null(file);
	for (unsigned int i = 0; i < 20000; i++)
		fprintf(file, "%x 10 function %u\n", 0x1000 + i * 16, i);
	fclose(file);
	assert_int_equal(perfmap_update(f->pm, &f->owner, NULL, f->map, 1, &budget), 1);
	assert_true(perfmap_is_behind(f->pm));
	budget = 0;
	assert_int_equal(perfmap_update(f->pm, &f->owner, NULL, f->map, 2, &budget), 0);
	assert_true(perfmap_is_behind(f->pm));
	assert_int_equal(update_in(f, 3), 1);
	assert_false(perfmap_is_behind(f->pm));
}

/* The process has ended: no file is looked for, but what is open is read. */
static void test_after_the_end(void **state)
{
	struct fixture *f = *state;
	size_t budget = PLENTY;

	put(f, "w", "1000 10 one\n");
	assert_int_equal(perfmap_update(f->pm, NULL, NULL, f->map, 1, &budget), -ENOENT);
	assert_int_equal(update(f), 1);
	put(f, "a", "2000 10 two\n");
	unlink(f->path);
	assert_int_equal(perfmap_update(f->pm, NULL, NULL, f->map, 1, &budget), 1);
	assert_name(f, 0x2000, "two");
}

static void test_budget(void **state)
{
	struct fixture *f = *state;
	FILE *file = fopen(f->path, "w");
	size_t budget;
	int looks = 0;

	assert_non_null(file);
	for (unsigned int i = 0; i < 20000; i++)
		fprintf(file, "%x 10 function %u\n", 0x1000 + i * 16, i);
	fclose(file);
	for (int err = 1; err; looks++) {
		budget = 100000;
		err = perfmap_update(f->pm, &f->owner, NULL, f->map, 1, &budget);
		assert_true(err >= 0 && budget < 100000);
	}
	assert_in_range(looks, 6, 12); /* half a megabyte, 64 KiB each */
	assert_name(f, 0x1000, "function 0");
	assert_name(f, 0x1000 + 19999 * 16, "function 19999");
}

static void test_long_lines(void **state)
{
	struct fixture *f = *state;
	const size_t length = 5 << 20;
	char *line = malloc(length + 64);

	assert_non_null(line);
	memset(line, 'x', length);
	memcpy(line, "1000 10 ", 8);
	strcpy(line + length, "\n2000 10 two\n");
	put(f, "w", line);
	assert_int_equal(update(f), 1);
	assert_name(f, 0x1000, NULL);
	assert_name(f, 0x2000, "two");
	/* What looks like a line where the file is read on is the long one's still. */
	for (size_t at = 4096; at < length - 8192; at += 4096)
		memcpy(line + at, "5000 10 wrong", 13);
	strcpy(line + length - 8192, "\n2000 10 two\n");
	put(f, "w", line);
	assert_int_equal(update(f), 1);
	assert_name(f, 0x5000, NULL);
	assert_name(f, 0x2000, "two");
	memset(line + 8, 'x', length - 8);
	strcpy(line + 60000, "\n3000 10 three\n");
	put(f, "w", line);
	assert_int_equal(update(f), 1);
	assert_int_equal(strlen(codemap_find(f->map, 0x1000)), CODEMAP_NAME_MAX);
	assert_name(f, 0x3000, "three");
	memset(line, 'y', length); /* no newline at all */
	line[length] = '\0';
	put(f, "w", line);
	update(f);
	assert_name(f, 0x1000, NULL);
	put(f, "a", "\n4000 10 four\n");
	assert_int_equal(update(f), 1);
	assert_name(f, 0x4000, "four");
	free(line);
}

/* Only the first GiB is read, and of it no more than the budget at a time. */
static void test_sparse_terabyte(void **state)
{
	struct fixture *f = *state;
	size_t budget = (size_t)64 << 20;
	int looks = 0;

	put(f, "w", "1000 10 one\n");
	if (truncate(f->path, (off_t)1 << 40)) /* what the file system of /tmp allows */
		assert_int_equal(truncate(f->path, (off_t)10 << 30), 0);
	while (perfmap_update(f->pm, &f->owner, NULL, f->map, 1, &budget) == 1) {
		budget = (size_t)64 << 20;
		assert_true(++looks < 40);
	}
	assert_name(f, 0x1000, "one");
	assert_true(codemap_bytes(f->map) < 4096);
}

static void test_what_is_no_file(void **state)
{
	struct fixture *f = *state;
	char other[80];

	alarm(20); /* a FIFO that is waited for would end the test */
	assert_int_equal(mkfifo(f->path, 0600), 0);
	assert_int_equal(update(f), -ENOENT);
	unlink(f->path);
	assert_int_equal(mkdir(f->path, 0700), 0);
	assert_int_equal(update(f), -ENOENT);
	rmdir(f->path);
	snprintf(other, sizeof(other), "%s.other", f->path);
	assert_int_equal(symlink(other, f->path), 0);
	assert_int_equal(update(f), -ENOENT);
	FILE *file = fopen(other, "w");

	assert_non_null(file);
	fputs("1000 10 one\n", file);
	fclose(file);
	assert_int_equal(update(f), -ENOENT); /* a link to a good one */
	unlink(other);
	unlink(f->path);
	assert_int_equal(symlink(f->path, f->path), 0);
	assert_int_equal(update(f), -ENOENT);
	unlink(f->path);
	if (!mknod(f->path, S_IFCHR | 0600, makedev(1, 5))) /* /dev/zero */
		assert_int_equal(update(f), -ENOENT);
	alarm(0);
}

/* A child of that user, and who owns its map. */
static int update_of_user(uid_t user, uid_t owner)
{
	struct codemap *map = codemap_new(1 << 20);
	struct perfmap *pm = perfmap_new();
	struct procfile_owner of;
	size_t budget = PLENTY;
	struct fixture f;
	int ready[2], err;
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (setgid(user) || setuid(user) || write(ready[1], &byte, 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	snprintf(f.path, sizeof(f.path), "/tmp/perf-%d.map", (int)pid);
	unlink(f.path);
	put(&f, "w", "1000 10 one\n");
	assert_int_equal(chown(f.path, owner, owner), 0);
	assert_int_equal(procfile_owner(pid, &of), 0);
	err = perfmap_update(pm, &of, NULL, map, 1, &budget);
	unlink(f.path);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	perfmap_free(pm);
	codemap_free(map);
	return err;
}

static void test_whose_file_it_is(void **state)
{
	(void)state;
	need_sys_ptrace();
	if (geteuid())
		skip_since("not root");
	assert_int_equal(update_of_user(12345, 12345), 1);
	assert_int_equal(update_of_user(12345, 0), 1);
	assert_int_equal(update_of_user(12345, 12346), -ENOENT);
	assert_int_equal(update_of_user(0, 12346), -ENOENT);
}

/*
 * What a process is refused that has bound `what` to the name of its map, in a mount namespace of
 * its own; 0: its map is opened, 1: it may not bind.
 */
static int open_bound(const char *what)
{
	struct procfile_owner of;
	char path[64], byte = 0;
	int ready[2], fd;
	struct stat st;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
		byte = unshare(CLONE_NEWNS) || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		       mount("tmpfs", "/tmp", "tmpfs", 0, NULL) || mknod(path, S_IFREG | 0600, 0) ||
		       (what && mount(what, path, NULL, MS_BIND, NULL));
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	snprintf(path, sizeof(path), "tmp/perf-%d.map", (int)pid);
	assert_int_equal(procfile_owner(pid, &of), 0);
	fd = byte ? 1 : procfile_open(&of, path, &st);
	if (!byte && fd >= 0) {
		close(fd);
		fd = 0;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return fd;
}

/* To read some of them takes what is there from its reader: /proc/kmsg. */
static void test_files_of_the_kernel(void **state)
{
	(void)state;
	need_sys_admin();
	assert_int_equal(open_bound(NULL), 0);
	assert_int_equal(open_bound("/proc/version"), -EPERM);
	if (!access("/sys/kernel/uevent_seqnum", F_OK))
		assert_int_equal(open_bound("/sys/kernel/uevent_seqnum"), -EPERM);
}

/* What stands behind the list of groups is found, however long that is. */
static void test_many_groups(void **state)
{
	enum { GROUPS = 1200 };
	gid_t groups[GROUPS];
	int ready[2];
	char byte = 0, *text;
	pid_t pid;

	(void)state;
	if (geteuid())
		skip_since("not root");
	for (int i = 0; i < GROUPS; i++)
		groups[i] = 1000000000u + (gid_t)i;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (setgroups(GROUPS, groups) || write(ready[1], &byte, 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	text = procfile_text(pid, "status");
	assert_non_null(text);
	assert_true(strlen(text) > 4096);
	assert_non_null(strstr(text, "\nNSpid:"));
	assert_non_null(strstr(text, "\nVmExe:"));
	free(text);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Left by another process that had the number. */
static void test_older_than_the_process(void **state)
{
	struct fixture *f = *state;
	struct timespec times[2] = {{.tv_sec = f->owner.start - 60},
				    {.tv_sec = f->owner.start - 60}};

	put(f, "w", "1000 10 one\n");
	assert_int_equal(utimensat(AT_FDCWD, f->path, times, 0), 0);
	assert_int_equal(update(f), -ENOENT);
	put(f, "a", "2000 10 two\n");
	assert_int_equal(update(f), 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_owner),
		TEST(test_forms_of_lines),
		TEST(test_growth),
		TEST(test_written_anew),
		TEST(test_after_the_end),
		TEST(test_rewritten),
		TEST(test_rewritten_as_a_whole),
		TEST(test_behind),
		TEST(test_budget),
		TEST(test_long_lines),
		TEST(test_sparse_terabyte),
		TEST(test_what_is_no_file),
		TEST(test_whose_file_it_is),
		TEST(test_many_groups),
		TEST(test_older_than_the_process),
		TEST(test_files_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
