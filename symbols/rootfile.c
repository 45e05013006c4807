// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is at a path is looked at before it is opened: to open a device can rewind a tape or arm a
 * watchdog, O_NONBLOCK or not. Between looking and opening nothing can be put in its place, since
 * the file is opened again by the descriptor that was looked at.
 *
 * A regular file is not harmless either: to read /proc/kmsg takes the kernel's log from its reader,
 * to open an event of tracefs can switch it on, and a process may have bound any such file to the
 * name that is looked for. So the file system counts, too. A list of those that are refused would
 * be outdated by the next kernel, and a list of those that are allowed would miss the next disk.
 * But file systems that the kernel makes up share simple_statfs(), which knows no blocks, and those
 * that keep data have some, apart from a few that are listed.
 */
#include "symbols/rootfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "symbols/livethread.h"

/* linux/magic.h and, where it has none, the file systems' own sources. */
#define AFS_MAGIC      0x6b414653u
#define CIFS_MAGIC     0xff534d42u
#define EFIVARFS_MAGIC 0xde5e81e4u
#define FUSE_MAGIC     0x65735546u
#define HUGETLB_MAGIC  0x958458f6u
#define NFS_MAGIC      0x6969u
#define OVERLAY_MAGIC  0x794c7630u
#define PLAN9_MAGIC    0x01021997u
#define RAMFS_MAGIC    0x858458f6u
#define SMB2_MAGIC     0xfe534d42u
#define TMPFS_MAGIC    0x01021994u

/* Keep files without a limit of their own, or have what a server says: no blocks mean nothing. */
static const uint32_t sizeless[] = {
	AFS_MAGIC,     CIFS_MAGIC,  FUSE_MAGIC,	 HUGETLB_MAGIC, NFS_MAGIC,
	OVERLAY_MAGIC, PLAN9_MAGIC, RAMFS_MAGIC, SMB2_MAGIC,	TMPFS_MAGIC,
};

/* -EINVAL: it makes its files up. */
static int check_system(int held)
{
	struct statfs system;

	if (fstatfs(held, &system))
		return -errno;
	for (size_t i = 0; i < sizeof(sizeless) / sizeof(sizeless[0]); i++)
		if ((uint32_t)system.f_type == sizeless[i])
			return 0;
	/* The one that has a size and is made up: each read asks the firmware. */
	return system.f_blocks && (uint32_t)system.f_type != EFIVARFS_MAGIC ? 0 : -EINVAL;
}

int rootfile_check(int held, struct stat *st)
{
	if (fstat(held, st))
		return -errno;
	return S_ISREG(st->st_mode) ? check_system(held) : -EINVAL;
}

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
	fd = rootfile_check(held, &st);
	if (!fd)
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
