// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that are asked for by name: those that are there, are not, or are on a FUSE file system
 * whose requests are never read. Memory of a process likewise: with a page that is never served.
 * Covers: bpf/tracker/asked.c bpf/tracker/openfile.c
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/tracker/tracker.h"
#include "symbols/files/fileasker.h"
#include "symbols/files/procfile.h"
#include "tests/support/rights.h"
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

/* A page that is never served; NULL: the kernel has no such thing. */
static void *silent_page(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = {.range = {(uintptr_t)page, 4096},
					.mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (page == MAP_FAILED || fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &range))
		return NULL;
	return page;
}

/* Who asks goes on, now and each time, until it is given up; others are answered meanwhile. */
static void test_silent(void **state)
{
	static struct running r;
	const void *page = silent_page();
	int err;

	(void)state;
	need_sys_admin();
	if (fuse < 0)
		skip_since("no FUSE");
	alarm(GIVEN_UP);
	run_own(&r);
	assert_int_equal(ask(&r, 0, "fuse/file", NULL), -EAGAIN);
	tracker_patience(r.tracker, 0);
	assert_int_equal(ask(&r, 0, "fuse/file", NULL), -EAGAIN);
	WAIT(is_known(&r, getpid()));
	if (page)
		assert_int_equal(tracker_ask_memory(r.tracker, getpid(), (uintptr_t)page, 16),
				 -EAGAIN);
	WAIT((err = ask(&r, 0, "fuse/file", NULL)) != -EAGAIN);
	assert_int_equal(err, -ETIMEDOUT);
	WAIT(ask(&r, 0, "file", NULL) == 0);
	if (page) {
		WAIT((err = tracker_ask_memory(r.tracker, getpid(), (uintptr_t)page, 16)) !=
		     -EAGAIN);
		assert_int_equal(err, -ETIMEDOUT);
	}
	run_end(&r);
	alarm(0);
}

/* As many of the bytes as are there. */
static ssize_t memory(struct running *r, pid_t pid, const void *at, size_t size, void *to)
{
	ssize_t n = -EAGAIN;

	WAIT((n = tracker_ask_memory(r->tracker, pid, (uintptr_t)at, size)) != -EAGAIN);
	if (n >= 0) {
		const int fd = (int)n;

		n = pread(fd, to, size, 0);
		close(fd);
	}
	return n;
}

static void test_memory(void **state)
{
	static struct running r;
	static uint8_t read[8192];
	uint8_t *pages =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	for (size_t i = 0; i < 4096; i++)
		pages[i] = (uint8_t)(i * 7);
	run_own(&r);
	WAIT(is_known(&r, getpid()));
	assert_int_equal(memory(&r, getpid(), pages + 10, 1000, read), 1000);
	assert_memory_equal(read, pages + 10, 1000);
	pages[20]++; /* it is read anew */
	assert_int_equal(memory(&r, getpid(), pages + 10, 1000, read), 1000);
	assert_memory_equal(read, pages + 10, 1000);
	assert_int_equal(memory(&r, getpid(), pages + 96, 8000, read), 4000);
	assert_memory_equal(read, pages + 96, 4000);
	assert_int_equal(memory(&r, getpid(), pages + 4096, 16, read), -EFAULT);
	assert_int_equal(memory(&r, getpid(), pages, 1 << 20, read), -EINVAL);
	assert_int_equal(memory(&r, getpid(), (void *)(UINTPTR_MAX - 4), 16, read), -EINVAL);
	assert_int_equal(memory(&r, 0x3fffffff, pages, 16, read), -ESRCH);
	run_end(&r);
	munmap(pages, 8192);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
