/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A FUSE file system whose requests are never read, a tmpfs, and one of another namespace, in a
 * mount namespace of the test's own: what leads into the first is told without asking it.
 * Covers: symbols/files/localfs.c symbols/files/rootfile.c symbols/files/fileasker.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/files/fileasker.h"
#include "symbols/files/localfs.h"
#include "symbols/files/rootfile.h"
#include "tests/support/rights.h"
#include "tests/support/scratch.h"
#include "tests/support/shell.h"

#define PATIENCE 120 /* seconds; who waits for the file system waits for ever */

static char folder[SCRATCH];
static bool own_mounts;
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
	scratch_folder(folder, "localfs");
	must("cd %s && mkdir tmpfs fuse other && touch file point && ln -s %s/tmpfs/file to_tmpfs && "
	     "ln -s fuse/file to_fuse && ln -s file to_file",
	     folder, folder);
	own_mounts = !unshare(CLONE_NEWNS) && !mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
		     !mount("none", in("tmpfs"), "tmpfs", 0, NULL);
	if (!own_mounts)
		return 0;
	must("touch %s/tmpfs/file && ln -s file %s/tmpfs/near && ln -s %s/file %s/tmpfs/back && "
	     "mkdir %s/tmpfs/deep && touch %s/tmpfs/deep/file",
	     folder, folder, folder, folder, folder, folder);
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
	if (own_mounts) {
		umount2(in("point"), MNT_DETACH);
		umount2(in("tmpfs"), MNT_DETACH);
	}
	must("rm -r %s", folder);
	return 0;
}

static int has(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC), found;

	assert_true(fd >= 0);
	found = localfs_has(fd);
	close(fd);
	return found;
}

/* 0: it is the file at `same`, which is as stat(2) has it; or -errno. */
static int open_at(int root, const char *path, const char *same)
{
	int fd = rootfile_open_local(root, path);
	struct stat a, b;

	if (fd < 0)
		return fd;
	assert_int_equal(fstat(fd, &a), 0);
	close(fd);
	assert_int_equal(stat(same, &b), 0);
	assert_true(a.st_dev == b.st_dev && a.st_ino == b.st_ino);
	return 0;
}

static int open_here(const char *name, const char *same)
{
	char path[2 * SCRATCH], other[2 * SCRATCH];

	snprintf(path, sizeof(path), "%s", in(name));
	snprintf(other, sizeof(other), "%s", in(same));
	return open_at(-1, path, other);
}

static void test_kinds(void **state)
{
	int status;

	(void)state;
	assert_true(has("/"));
	assert_false(has("/proc"));
	assert_false(has(in("file"))); /* no folder */
	if (!own_mounts)
		skip_without("CAP_SYS_ADMIN");
	assert_true(has(in("tmpfs")));
	/* What is mounted after the first look is seen. */
	assert_int_equal(mount("none", in("other"), "tmpfs", 0, NULL), 0);
	assert_true(has(in("other")));
	assert_int_equal(umount2(in("other"), MNT_DETACH), 0);
	/* A process that was forked has a table of its own. */
	if (!fork())
		_exit(!has(in("tmpfs")));
	assert_true(wait(&status) > 0);
	assert_int_equal(status, 0);
}

static int bind(const char *from, const char *to)
{
	char path[2 * SCRATCH];

	snprintf(path, sizeof(path), "%s", in(from));
	return mount(path, in(to), NULL, MS_BIND, NULL);
}

static void test_across_mounts(void **state)
{
	(void)state;
	if (!own_mounts)
		skip_without("CAP_SYS_ADMIN");
	assert_int_equal(open_here("file", "file"), 0);
	assert_int_equal(open_here("to_file", "file"), 0);
	assert_int_equal(open_here("none", "file"), -ENOENT);
	assert_int_equal(open_here("tmpfs/file", "tmpfs/file"), 0);
	assert_int_equal(open_here("tmpfs//near", "tmpfs/file"), 0);
	assert_int_equal(open_here("tmpfs/deep/../deep/file", "tmpfs/deep/file"), 0);
	assert_int_equal(open_here("tmpfs/none", "file"), -ENOENT);
	/* A link over mounts, and a file that is a mount, are left to who may wait. */
	assert_int_equal(open_here("to_tmpfs", "file"), -EXDEV);
	assert_int_equal(open_here("tmpfs/back", "file"), -EXDEV);
	assert_int_equal(bind("tmpfs/file", "point"), 0);
	assert_int_equal(open_here("point", "file"), -EXDEV);
}

static void test_silent(void **state)
{
	(void)state;
	need_sys_admin();
	if (fuse < 0)
		skip_since("no FUSE");
	alarm(PATIENCE);
	assert_false(has(in("fuse")));
	assert_int_equal(open_here("fuse/file", "file"), -EXDEV);
	assert_int_equal(open_here("fuse/deep/file", "file"), -EXDEV);
	assert_int_equal(open_here("to_fuse", "file"), -EXDEV);
	alarm(0);
}

/* A tmpfs that only the child has is not known here, unlike those that it has from here. */
static void test_other_namespace(void **state)
{
	char path[2 * SCRATCH], byte = 0;
	int ready[2], root;
	pid_t pid;

	(void)state;
	if (!own_mounts)
		skip_without("CAP_SYS_ADMIN");
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		byte = unshare(CLONE_NEWNS) || mount("none", in("other"), "tmpfs", 0, NULL) ||
		       mknod(in("other/file"), S_IFREG | 0600, 0);
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(byte, 0);
	root = rootfile_root(pid);
	assert_true(root >= 0);
	assert_int_equal(open_at(root, in("other/file"), "/"), -EXDEV);
	snprintf(path, sizeof(path), "%s", in("tmpfs/file"));
	assert_int_equal(open_at(root, path, path), 0);
	close(root);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

struct asked {
	unsigned int times;
	pid_t pid;
	char path[2 * SCRATCH];
	int answer;
};

static int ask(void *arg, const struct file_question *question, struct file_facts *facts)
{
	struct asked *asked = arg;

	(void)facts;
	asked->times++;
	asked->pid = question->pid;
	snprintf(asked->path, sizeof(asked->path), "%s", question->path);
	return asked->answer;
}

/* Only what may not answer is asked for. */
static void test_asks(void **state)
{
	struct asked asked = {.answer = -EAGAIN};
	struct fileasker asker = {.ask = ask, .arg = &asked};
	int root = open("/", O_PATH | O_CLOEXEC), fd;

	(void)state;
	need_sys_admin();
	if (fuse < 0)
		skip_since("no FUSE");
	alarm(PATIENCE);
	fd = fileasker_open(&asker, root, 17, in("tmpfs/file"));
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(fileasker_open(&asker, root, 17, in("none")), -ENOENT);
	assert_int_equal(asked.times, 0);
	assert_int_equal(fileasker_open(&asker, root, 17, in("fuse/file")), -EAGAIN);
	assert_true(asked.times == 1 && asked.pid == 17);
	assert_string_equal(asked.path, in("fuse/file"));
	assert_int_equal(fileasker_put_off(&asker), 1);
	asked.answer = -ETIMEDOUT;
	assert_int_equal(fileasker_open(&asker, -1, 17, in("fuse/file")), -ETIMEDOUT);
	assert_true(asked.times == 2 && asked.pid == 0);
	assert_int_equal(fileasker_put_off(&asker), 1);
	assert_int_equal(fileasker_put_off(NULL), 0);
	alarm(0);
	close(root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),		cmocka_unit_test(test_across_mounts),
		cmocka_unit_test(test_silent),		cmocka_unit_test(test_asks),
		cmocka_unit_test(test_other_namespace),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
