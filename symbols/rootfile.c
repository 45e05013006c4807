// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is at a path is looked at before it is opened: to open a device can rewind a tape or arm a
 * watchdog, O_NONBLOCK or not. Between looking and opening nothing can be put in its place, since
 * the file is opened again by the descriptor that was looked at.
 */
#include "symbols/rootfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "symbols/livethread.h"

int rootfile_hold(int root, const char *path, int flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd;

	if (root < 0)
		fd = open(path, (int)how.flags);
	else
		fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

int rootfile_reopen(int held)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", held);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int rootfile_open(int root, const char *path)
{
	int held = rootfile_hold(root, path, 0), fd;
	struct stat st;

	if (held < 0)
		return held;
	if (fstat(held, &st))
		fd = -errno;
	else if (!S_ISREG(st.st_mode))
		fd = -EINVAL;
	else
		fd = rootfile_reopen(held);
	close(held);
	return fd;
}

int rootfile_root(int pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) { /* that of the first thread, which may have ended */
		snprintf(path, sizeof(path), "/proc/%d/root", (int)livethread(pid));
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}
