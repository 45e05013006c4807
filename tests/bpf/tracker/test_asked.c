// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that are asked for by name: those that are there, are not, or are on a FUSE file system
 * whose requests are never read.
 * Covers: bpf/tracker/asked.c bpf/tracker/openfile.c
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/tracker/tracker.h"
#include "symbols/files/fileasker.h"
#include "symbols/files/procfile.h"
#include "tests/support/scratch.h"
#include "tests/support/serve.h"
#include "tests/support/shell.h"

#define PATIENCE_NS 60000000000ull
#define GIVEN_UP    300 /* seconds; what waits for the file system waits for ever */

static char folder[SCRATCH];
static int fuse = -1;

static const char *in(const char *name)
{
	static char path[2 * SCRATCH];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int setup(void **state)
{
	char options[96];

	(void)state;
	scratch_folder(folder, "asked");
	must("cd %s && echo text >file && mkfifo fifo && mkdir fuse", folder);
	if (unshare(CLONE_NEWNS) || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 0;
	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	if (fuse >= 0 && mount("silent", in("fuse"), "fuse", MS_NOSUID | MS_NODEV, options)) {
		close(fuse);
		fuse = -1;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (fuse >= 0) {
		umount2(in("fuse"), MNT_DETACH);
		close(fuse);
	}
	must("rm -r %s", folder);
	return 0;
}

/* 0: it is the file; or -errno. */
static int ask(struct running *r, pid_t pid, const char *name, const struct procfile_owner *owner)
{
	struct file_question q = {.pid = pid, .path = in(name), .owner = owner};
	struct file_facts facts;
	struct stat a, b;
	int fd = tracker_ask_file(r->tracker, &q, &facts);

	if (fd < 0)
		return fd;
	assert_int_equal(fstat(fd, &a), 0);
	assert_int_equal(stat(in(name), &b), 0);
	close(fd);
	assert_true(facts.copied || (a.st_dev == b.st_dev && a.st_ino == b.st_ino));
	assert_true(facts.dev == b.st_dev && facts.inode == b.st_ino);
	assert_int_equal(facts.size, b.st_size);
	return 0;
}

static void test_answers(void **state)
{
	static struct running r;
	struct procfile_owner owner;

	(void)state;
	run(&r, NULL);
	tracker_patience(r.tracker, PATIENCE_NS);
	assert_int_equal(ask(&r, 0, "file", NULL), 0);
	assert_int_equal(ask(&r, 0, "file", NULL), 0); /* it is kept for a while */
	assert_int_equal(ask(&r, 0, "none", NULL), -ENOENT);
	assert_int_equal(ask(&r, 0, "fifo", NULL), -EINVAL);
	WAIT(is_known(&r, getpid()));
	assert_int_equal(ask(&r, getpid(), "file", NULL), 0);
	assert_int_equal(ask(&r, 0x3fffffff, "file", NULL), -ESRCH);
	/* As a map for profilers: of the process's user or of root. */
	assert_int_equal(procfile_owner(getpid(), &owner), 0);
	assert_int_equal(ask(&r, getpid(), "file", &owner), 0);
	assert_int_equal(ask(&r, getpid(), "file", &owner), 0);
	owner.start += 1000000000; /* it was written before that */
	assert_int_equal(ask(&r, getpid(), "file", &owner), -EPERM);
	run_end(&r);
}

/* Who asks goes on, now and each time, until it is given up; others are answered meanwhile. */
static void test_silent(void **state)
{
	static struct running r;
	int err;

	(void)state;
	if (fuse < 0)
		skip();
	alarm(GIVEN_UP);
	run(&r, NULL);
	assert_int_equal(ask(&r, 0, "fuse/file", NULL), -EAGAIN);
	tracker_patience(r.tracker, 0);
	assert_int_equal(ask(&r, 0, "fuse/file", NULL), -EAGAIN);
	WAIT((err = ask(&r, 0, "fuse/file", NULL)) != -EAGAIN);
	assert_int_equal(err, -ETIMEDOUT);
	WAIT(ask(&r, 0, "file", NULL) == 0);
	run_end(&r);
	alarm(0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_silent),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
