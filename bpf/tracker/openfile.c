// SPDX-License-Identifier: GPL-2.0-or-later
/* See openfile.h. Files are copied unless their file system is local (symbols/files/localfs.h). */
#include "bpf/tracker/openfile.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bpf/prog/layout.h"
#include "bpf/sampler/clock.h"
#include "symbols/elf/arch.h"
#include "symbols/files/localfs.h"
#include "symbols/files/procmaps.h"
#include "symbols/files/rootfile.h"

#define COPY_STEP   (1u << 20)
#define MEMORY_PAGE 4096u
#define PE_MAGIC    "MZ" /* programs of Windows in Wine, and assemblies of .NET */

/* Returns a file in memory, or -errno. */
static int copy_file(int from, uint64_t size)
{
	int to = memfd_create(OPEN_COPY_NAME, MFD_CLOEXEC);
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

/* root -1: our own. The numbers must be those of the mapping. */
static int open_by_name(const struct open_request *r, int root)
{
	int fd = rootfile_open(root, r->name);
	struct stat st;

	/* Some file systems show another device number in /proc, so below other roots only the
	 * inode is compared. */
	if (fd >= 0 &&
	    (fstat(fd, &st) || st.st_ino != r->inode || (root < 0 && st.st_dev != r->dev))) {
		close(fd);
		fd = -ESTALE;
	}
	return fd;
}

static int open_mapped(const struct open_request *r)
{
	char path[64];
	int fd, root;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)r->pid,
		 (unsigned long long)r->start, (unsigned long long)r->end);
	fd = rootfile_open(-1, path);
	if (fd >= 0 || fd == -EMFILE || fd == -ENFILE)
		return fd;
	/* The mapping was split, its process is gone, or map_files is not permitted. */
	if (r->name[0] != '/' || !r->inode)
		return -ENOENT;
	root = rootfile_root(r->pid);
	if (root >= 0) {
		fd = open_by_name(r, root);
		close(root);
	}
	return fd >= 0 ? fd : open_by_name(r, -1);
}

static int open_named(const struct open_request *r)
{
	int root = r->pid ? rootfile_root(r->pid) : -1, fd;

	if (r->pid && root < 0)
		return root;
	fd = rootfile_open(root, r->name);
	if (root >= 0)
		close(root);
	return fd;
}

static int open_request(const struct open_request *r)
{
	struct stat st;

	switch ((enum open_kind)r->kind) {
	case OPEN_MAPPED:
		return open_mapped(r);
	case OPEN_NAMED:
		return open_named(r);
	case OPEN_CODE: /* opens nothing */
		break;
	case OPEN_OWN:
		return procfile_open(&r->owner, r->name, &st);
	case OPEN_RUNTIME: /* likewise */
	case OPEN_MEMORY:
		break;
	}
	return -EINVAL;
}

/*
 * True for a file that no compiler made. What runs in its mappings was written there by the
 * process: runtimes that map their code twice take a memfd, /dev/zero, or shared memory. An empty
 * one counts.
 */
static bool has_no_code(int fd)
{
	const struct bytes bytes = {.fd = fd};
	char magic[SELFMAG] = "";

	if (!bytes_read(&bytes, 0, magic, SELFMAG) && !memcmp(magic, ELFMAG, SELFMAG))
		return false;
	return memcmp(magic, PE_MAGIC, strlen(PE_MAGIC)) != 0;
}

static void read_elf(int fd, struct open_answer *a)
{
	struct elf_file *file = NULL;
	const struct elf_load *loads;
	size_t n;

	a->elf_err = elf_file_open_any_fd(fd, &file);
	a->no_code = a->elf_err && has_no_code(fd);
	if (a->elf_err)
		return;
	loads = elf_file_loads(file, &n);
	if (n > OPEN_LOADS_MAX) {
		a->elf_err = -EINVAL;
	} else {
		a->nloads = (uint32_t)n;
		memcpy(a->loads, loads, n * sizeof(*loads));
		a->build_id_size = (uint8_t)elf_file_build_id(file, a->build_id);
		a->elf_err = elf_file_is_narrow(file) || elf_file_machine(file) != ARCH_ELF_MACHINE
				     ? -ENOTSUP
				     : 0;
	}
	elf_file_free(file);
}

/* Takes the descriptor. Returns that of a copy, or -errno. */
static int replace_by_copy(const struct open_request *r, int opened, const struct file_facts *file)
{
	const struct file_facts *known = &r->known;
	int copy;

	if (known->copied && known->dev == file->dev && known->inode == file->inode &&
	    known->mtime == file->mtime && known->size == file->size)
		copy = -EALREADY;
	else
		copy = file->size > r->copy_max ? -EFBIG : copy_file(opened, file->size);

	close(opened);
	return copy;
}

static uint32_t generation_of(int fd)
{
	struct statfs fs;
	int generation = 0;

	if (fstatfs(fd, &fs) || !vma_has_generations((uint32_t)fs.f_type) ||
	    ioctl(fd, FS_IOC_GETVERSION, &generation))
		return 0;
	return (uint32_t)generation;
}

static int is_of_file(const struct procmap *map, void *path)
{
	return !strcmp(map->name, path);
}

/* True for a program that was unpacked into memory, where its code is in no file. */
static bool has_moved(pid_t pid)
{
	char link[32], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	return !procmaps_read(pid, true, is_of_file, path);
}

static void read_code(struct open_request *r, struct open_answer *a, int *fd)
{
	const uint64_t began = clock_cpu_time();
	const char *missing;
	struct stat st;

	*fd = codereader_read(r->pid, &r->code, &r->bare, &a->mark, &missing);
	snprintf(a->why, sizeof(a->why), "%s", missing ? missing : "");
	a->moved = r->code.first && has_moved(r->pid);
	a->err = *fd < 0 ? *fd : 0;
	if (*fd >= 0 && !fstat(*fd, &st))
		file_facts_of(&a->file, &st);
	else
		*fd = -1;
	a->spent = clock_cpu_time() - began;
}

static void check_runtime(struct open_request *r, struct open_answer *a)
{
	struct code_memory m = {.pid = r->pid, .left = RUNTIME_READ_MAX};
	const char *why;

	a->err = runtimefile_check(&m, &r->runtime, &a->mark, &why);
	snprintf(a->why, sizeof(a->why), "%s", why ? why : "");
}

void openfile_range(char name[40], uint64_t addr, uint64_t size)
{
	snprintf(name, 40, "%" PRIx64 " %" PRIx64, addr, size);
}

/*
 * Page by page, since the end of the code may be that of the mapping. -EFAULT: not one byte is
 * there.
 */
static ssize_t read_range(pid_t pid, uint64_t addr, uint8_t *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const size_t page = MEMORY_PAGE - (addr + done) % MEMORY_PAGE;
		const size_t n = page < size - done ? page : size - done;
		struct iovec here = {to + done, n};
		struct iovec there = {(void *)(uintptr_t)(addr + done), n};
		ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);

		if (got < 0 && !done)
			return -errno;
		if (got > 0)
			done += (size_t)got;
		if (got < (ssize_t)n)
			break;
	}
	return (ssize_t)done;
}

/* Returns a file in memory, or -errno. */
static int read_memory(const struct open_request *r)
{
	static uint8_t bytes[OPEN_MEMORY_MAX];
	uint64_t addr, size;
	ssize_t n;
	int fd;

	if (sscanf(r->name, "%" SCNx64 " %" SCNx64, &addr, &size) != 2 || size > sizeof(bytes) ||
	    addr + size < addr)
		return -EINVAL;
	n = read_range(r->pid, addr, bytes, (size_t)size);
	if (n < 0)
		return (int)n;
	fd = memfd_create(OPEN_COPY_NAME, MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, bytes, (size_t)n) == n)
		return fd;
	close(fd);
	return -EIO;
}

void openfile_do(struct open_request *request, uint64_t root_dev, struct open_answer *a, int *fd)
{
	struct stat st;
	int opened;

	memset(a, 0, offsetof(struct open_answer, loads));
	a->id = request->id;
	*fd = -1;
	if (request->kind == OPEN_CODE) {
		read_code(request, a, fd);
		return;
	}
	if (request->kind == OPEN_RUNTIME) {
		check_runtime(request, a);
		return;
	}
	if (request->kind == OPEN_MEMORY) {
		*fd = read_memory(request);
		a->err = *fd < 0 ? *fd : 0;
		return;
	}
	opened = open_request(request);
	a->err = opened < 0 ? opened : fstat(opened, &st) ? -errno : 0;
	if (!a->err) {
		file_facts_of(&a->file, &st);
		a->file.copied = st.st_dev != root_dev && !localfs_is(opened, st.st_dev);
	}
	if (!a->err && a->file.copied) {
		opened = replace_by_copy(request, opened, &a->file);
		a->err = opened < 0 ? opened : 0;
	}
	if (a->err) {
		if (opened >= 0)
			close(opened);
		return;
	}
	a->ctime = (uint64_t)st.st_ctim.tv_sec * 1000000000ull + (uint64_t)st.st_ctim.tv_nsec;
	a->deleted = !st.st_nlink;
	if (request->kind == OPEN_MAPPED) {
		a->generation = generation_of(opened);
		read_elf(opened, a);
	}
	*fd = opened;
}
