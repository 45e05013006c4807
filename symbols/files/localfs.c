// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tells by its kind whether a file system may keep readers waiting: a local disk or memory answers.
 * Any user can mount a FUSE file system, and an overlay on top of it in a user namespace, but no
 * user can mount anything where we look.
 *
 * statfs(2) asks the file system itself. So threads that must not wait use the table of mounts
 * instead, which only the kernel writes. A file with the device of one of our mounts is on that
 * file system, also in another namespace, since no two mounted ones share a device. The number of a
 * mount covers parts of Btrfs, which have devices that are not in the table. Neither number is
 * reused while a descriptor is open, and the table is read again if it has changed since the
 * descriptor was opened.
 */
#include "symbols/files/localfs.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "symbols/base/grow.h"

#define MOUNTS_MAX 65536u

static const struct {
	const char *name;
	uint32_t magic;
} kinds[] = {
	{"ext4", EXT4_SUPER_MAGIC},
	{"ext3", EXT3_SUPER_MAGIC},
	{"ext2", EXT2_SUPER_MAGIC},
	{"xfs", XFS_SUPER_MAGIC},
	{"btrfs", BTRFS_SUPER_MAGIC},
	{"tmpfs", TMPFS_MAGIC},
	{"ramfs", RAMFS_MAGIC},
	{"hugetlbfs", HUGETLBFS_MAGIC},
	{"f2fs", F2FS_SUPER_MAGIC},
	{"squashfs", SQUASHFS_MAGIC},
	{"erofs", EROFS_SUPER_MAGIC_V1},
	{"iso9660", ISOFS_SUPER_MAGIC},
	{"reiserfs", REISERFS_SUPER_MAGIC},
	{"nilfs2", NILFS_SUPER_MAGIC},
	{"vfat", MSDOS_SUPER_MAGIC},
	{"msdos", MSDOS_SUPER_MAGIC},
	{"udf", UDF_SUPER_MAGIC},
	{"exfat", EXFAT_SUPER_MAGIC},
	{"zfs", 0x2fc12fc1},
	{"bcachefs", 0xca451a4e},
	{"jfs", 0x3153464a},
	{"ntfs3", 0x7366746e},
};

static struct {
	pthread_mutex_t lock;
	int fd;	   /* of the table */
	pid_t pid; /* process that opened fd: a forked one has closed it; 0: none */
	struct localfs_mount {
		uint64_t id; /* 0: of none */
		dev_t dev;
	} * all;
	size_t n, room;
} mounts = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static bool is_local_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return true;
	return !strcmp(name, "overlay");
}

/* The lock is held. Without memory the mount stays unknown. */
static void add(uint64_t id, dev_t dev)
{
	if (!GROW(mounts.all, mounts.n, mounts.room, MOUNTS_MAX))
		mounts.all[mounts.n++] = (struct localfs_mount){id, dev};
}

/* proc_pid_mountinfo(5). Fields contain no blanks, so no user can forge one. */
static void read_line(const char *line)
{
	const char *kind = strstr(line, " - ");
	unsigned int id, major, minor;
	char name[32];

	if (kind && sscanf(line, "%u %*d %u:%u ", &id, &major, &minor) == 3 &&
	    sscanf(kind, " - %31s ", name) == 1 && is_local_kind(name))
		add(id, makedev(major, minor));
}

/* The lock is held. */
static void read_table(void)
{
	int copy = fcntl(mounts.fd, F_DUPFD_CLOEXEC, 0);
	FILE *file = copy < 0 ? NULL : fdopen(copy, "r");
	size_t room = 0;
	char *line = NULL;
	struct statx root;

	mounts.n = 0;
	if (!file) {
		if (copy >= 0)
			close(copy);
		return;
	}
	rewind(file);
	while (getline(&line, &room, file) > 0)
		read_line(line);
	free(line);
	fclose(file);
	if (!statx(AT_FDCWD, "/", AT_STATX_DONT_SYNC, STATX_TYPE, &root))
		add(0, makedev(root.stx_dev_major, root.stx_dev_minor));
}

/* The lock is held. False: there is no table. */
static bool is_up_to_date(void)
{
	struct pollfd changed = {.events = POLLPRI};

	if (mounts.pid != getpid()) {
		mounts.fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
		mounts.pid = mounts.fd < 0 ? 0 : getpid();
		if (mounts.fd < 0)
			return false;
		changed.revents = POLLPRI;
	}
	changed.fd = mounts.fd;
	if (changed.revents || poll(&changed, 1, 0) != 0)
		read_table();
	return true;
}

static bool is_in_table(uint64_t id, dev_t dev)
{
	bool found = false;

	pthread_mutex_lock(&mounts.lock);
	if (is_up_to_date())
		for (size_t i = 0; i < mounts.n && !found; i++)
			found = mounts.all[i].dev == dev || (id && mounts.all[i].id == id);
	pthread_mutex_unlock(&mounts.lock);
	return found;
}

bool localfs_has(int folder)
{
	const unsigned int wanted = STATX_TYPE | STATX_MNT_ID;
	struct statx st;

	/* A file of an overlay may have another device than the overlay. */
	return !statx(folder, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, wanted, &st) &&
	       S_ISDIR(st.stx_mode) &&
	       is_in_table(st.stx_mask & STATX_MNT_ID ? st.stx_mnt_id : 0,
			   makedev(st.stx_dev_major, st.stx_dev_minor));
}

bool localfs_is(int fd, dev_t dev)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].magic == (uint32_t)fs.f_type)
			return true;
	return (uint32_t)fs.f_type == OVERLAYFS_SUPER_MAGIC && is_in_table(0, dev);
}
