// SPDX-License-Identifier: GPL-2.0-or-later
/* What is not of a file system that answers by itself (symbols/localfs.h) is copied. */
#include "bpf/openfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/localfs.h"
#include "symbols/rootfile.h"

#define COPY_STEP (1u << 20)

static bool is_local(int fd, const struct stat *st, uint64_t root_dev)
{
	return st->st_dev == root_dev || localfs_is(fd, st->st_dev);
}

/* A file in memory, or -errno. */
static int copy_file(int from, uint64_t size)
{
	int to = memfd_create("copy", MFD_CLOEXEC);
	off_t at = 0;
	ssize_t n = 0;

	if (to < 0)
		return -errno;
	while ((uint64_t)at < size) {
		n = sendfile(to, from, &at, COPY_STEP);
		if (n <= 0)
			break;
	}
	if (n < 0) {
		n = -errno;
		close(to);
		return (int)n;
	}
	return to;
}

static int by_range(const struct open_request *r)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)r->pid,
		 (unsigned long long)r->start, (unsigned long long)r->end);
	return rootfile_open(-1, path);
}

/* root -1: our own. Only numbers tell whether it is the file. */
static int by_name(const struct open_request *r, int root)
{
	int fd = rootfile_open(root, r->name);
	struct stat st;

	/* Some file systems have other numbers for their devices in /proc; not where we look. */
	if (fd >= 0 &&
	    (fstat(fd, &st) || st.st_ino != r->inode || (root < 0 && st.st_dev != r->dev))) {
		close(fd);
		fd = -ESTALE;
	}
	return fd;
}

static int open_mapped(const struct open_request *r)
{
	int fd = by_range(r), root;

	if (fd >= 0 || fd == -EMFILE || fd == -ENFILE)
		return fd;
	/* The mapping was split or its process is gone, or map_files is not for us. */
	if (r->name[0] != '/' || !r->inode)
		return -ENOENT;
	root = rootfile_root(r->pid);
	if (root >= 0) {
		fd = by_name(r, root);
		close(root);
	}
	return fd >= 0 ? fd : by_name(r, -1);
}

static void read_elf(int fd, struct open_answer *a)
{
	struct elf_file *file = NULL;
	const struct elf_load *loads;
	size_t n;

	a->elf_err = elf_file_open_fd(fd, &file);
	if (a->elf_err)
		return;
	loads = elf_file_loads(file, &n);
	if (n > OPEN_LOADS_MAX) {
		a->elf_err = -EINVAL;
	} else {
		a->nloads = (uint32_t)n;
		memcpy(a->loads, loads, n * sizeof(*loads));
		a->build_id_size = (uint8_t)elf_file_build_id(file, a->build_id);
	}
	elf_file_free(file);
}

static uint64_t ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000ull + (uint64_t)t->tv_nsec;
}

void openfile_do(const struct open_request *request, uint64_t root_dev, struct open_answer *a,
		 int *fd)
{
	int opened = open_mapped(request), copy;
	struct stat st;

	memset(a, 0, offsetof(struct open_answer, loads));
	a->id = request->id;
	*fd = -1;
	a->err = opened < 0 ? opened : fstat(opened, &st) ? -errno : 0;
	if (!a->err && !is_local(opened, &st, root_dev)) {
		copy = (uint64_t)st.st_size > request->copy_max
			       ? -EFBIG
			       : copy_file(opened, (uint64_t)st.st_size);
		a->err = copy < 0 ? copy : 0;
		a->copied = 1;
		close(opened);
		opened = copy;
	}
	if (a->err) {
		if (opened >= 0)
			close(opened);
		return;
	}
	a->dev = st.st_dev;
	a->inode = st.st_ino;
	a->size = (uint64_t)st.st_size;
	a->mtime = ns(&st.st_mtim);
	a->ctime = ns(&st.st_ctim);
	a->deleted = !st.st_nlink;
	read_elf(opened, a);
	*fd = opened;
}
