// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file at a path is examined before it is opened: opening a device can rewind a tape or arm a
 * watchdog, with or without O_NONBLOCK. The file cannot be swapped in between, since it is opened
 * by the descriptor that was examined.
 *
 * Regular files can be harmful as well: reading /proc/kmsg takes the kernel's log away from its
 * reader, opening an event of tracefs can enable it, and a process may have bind-mounted any such
 * file at the name. So the file system counts, too. A list of refused ones would be outdated by the
 * next kernel, and a list of allowed ones would miss the next disk. But file systems that the
 * kernel makes up share simple_statfs(), which reports no blocks, while those that keep data have
 * some, apart from a few that are listed.
 */
#include "symbols/files/rootfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "symbols/files/localfs.h"

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

/*
 * These keep files without a limit of their own, or have what a server reports: no blocks mean
 * nothing.
 */
static const uint32_t sizeless[] = {
	AFS_MAGIC,     CIFS_MAGIC,  FUSE_MAGIC,	 HUGETLB_MAGIC, NFS_MAGIC,
	OVERLAY_MAGIC, PLAN9_MAGIC, RAMFS_MAGIC, SMB2_MAGIC,	TMPFS_MAGIC,
};

/* -EINVAL: the file system makes its files up. */
static int check_system(int held)
{
	struct statfs system;

	if (fstatfs(held, &system))
		return -errno;
	for (size_t i = 0; i < sizeof(sizeless) / sizeof(sizeless[0]); i++)
		if ((uint32_t)system.f_type == sizeless[i])
			return 0;
	/* efivarfs has a size but is made up: each read asks the firmware. */
	return system.f_blocks && (uint32_t)system.f_type != EFIVARFS_MAGIC ? 0 : -EINVAL;
}

int rootfile_check(int held, struct stat *st)
{
	if (fstat(held, st))
		return -errno;
	return S_ISREG(st->st_mode) ? check_system(held) : -EINVAL;
}

static int hold_below(int at, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags,
			       .resolve = resolve | RESOLVE_NO_MAGICLINKS};
	int fd = (int)syscall(SYS_openat2, at, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int rootfile_hold(int root, const char *path, int flags)
{
	int fd;

	if (root >= 0)
		return hold_below(root, path, (uint64_t)flags & O_NOFOLLOW, RESOLVE_IN_ROOT);
	fd = open(path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));
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

static int open_held(int held)
{
	struct stat st;
	int fd;

	if (held < 0)
		return held;
	fd = rootfile_check(held, &st);
	if (!fd)
		fd = rootfile_reopen(held);
	close(held);
	return fd;
}

int rootfile_open(int root, const char *path)
{
	return open_held(rootfile_hold(root, path, 0));
}

/* --- without waiting ------------------------------------------------------------------------- */

/*
 * A folder further down, which may be a mount point: opening it with O_PATH asks the mounted file
 * system nothing. A link is not followed, since it may lead anywhere.
 */
static int step(int *at, const char **path)
{
	const char *name = *path + strspn(*path, "/"), *end = strchr(name, '/');
	char folder[NAME_MAX + 1];
	int next;

	if (!end || (size_t)(end - name) >= sizeof(folder))
		return -EXDEV;
	memcpy(folder, name, (size_t)(end - name));
	folder[end - name] = '\0';
	next = hold_below(*at, folder, O_NOFOLLOW, RESOLVE_BENEATH);
	if (next < 0)
		return next;
	if (!localfs_has(next)) {
		close(next);
		return -EXDEV;
	}
	close(*at);
	*at = next;
	*path = end + strspn(end, "/");
	return 0;
}

int rootfile_hold_local(int root, const char *path, int flags)
{
	const uint64_t follow = (uint64_t)flags & O_NOFOLLOW;
	int at, held, err = 0;

	at = root < 0 ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)
		      : fcntl(root, F_DUPFD_CLOEXEC, 0);
	if (at < 0)
		return -errno;
	if (!localfs_has(at)) {
		close(at);
		return -EXDEV;
	}
	held = hold_below(at, path, follow, RESOLVE_IN_ROOT | RESOLVE_NO_XDEV);
	/* Below a folder, an absolute link would be resolved from that folder. */
	while (held == -EXDEV && !err) {
		err = step(&at, &path);
		held = err ? err : hold_below(at, path, follow, RESOLVE_BENEATH | RESOLVE_NO_XDEV);
	}
	close(at);
	return held;
}

int rootfile_open_local(int root, const char *path)
{
	return open_held(rootfile_hold_local(root, path, 0));
}

/* --- roots ----------------------------------------------------------------------------------- */

/*
 * /proc/PID shows a process whose first thread has called pthread_exit as a zombie: maps, auxv and
 * root are that thread's and are gone, while the other threads go on.
 */

/* By its state (proc_pid_stat(5)). */
static bool lives(pid_t tid)
{
	char path[32], text[128], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	return at && at[1] == ' ' && at[2] && at[2] != 'Z' && at[2] != 'X';
}

pid_t rootfile_livethread(pid_t pid)
{
	struct dirent *entry;
	pid_t found = pid;
	char path[32];
	DIR *folder;

	if (lives(pid))
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	while (folder && found == pid && (entry = readdir(folder))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && tid != pid && lives(tid))
			found = tid;
	}
	if (folder)
		closedir(folder);
	return found;
}

int rootfile_root(int pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) { /* the root of the first thread, which may have ended */
		snprintf(path, sizeof(path), "/proc/%d/root", (int)rootfile_livethread(pid));
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}
