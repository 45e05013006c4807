// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file system of one file that stops answering. Speaks the protocol of fuse(4) itself, so it
 * needs no library.
 *
 *	hungfs FOLDER FILE [NAME]    mounts a file NAME ("mapped") on FOLDER with the present
 *				     contents of FILE
 *
 * Prints "ready" when it is mounted. On SIGUSR1 it prints "hung"; from then on it takes requests
 * and answers none: processes that wait for an answer cannot even be killed. When it ends they go
 * on.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FILE_ID	 2
#define READ_MAX (1 << 17)

static volatile sig_atomic_t hung;
static char *contents;
static size_t size;
static const char *name = "mapped";
static uint64_t written;

static void hang(int number)
{
	(void)number;
	hung = 1;
	if (write(STDOUT_FILENO, "hung\n", 5) < 0)
		_exit(3);
}

static void answer(int fd, uint64_t unique, int error, const void *data, size_t length)
{
	struct fuse_out_header head = {
		.len = (uint32_t)(sizeof(head) + length), .error = -error, .unique = unique};
	struct iovec parts[2] = {{&head, sizeof(head)}, {(void *)data, length}};

	if (!hung && writev(fd, parts, 2) < 0 && errno != ENOENT)
		exit(3);
}

static struct fuse_attr attributes(uint64_t node)
{
	struct fuse_attr attr = {.ino = node, .nlink = 1, .blksize = 4096, .mtime = written};

	attr.mode = node == FILE_ID ? S_IFREG | 0755 : S_IFDIR | 0755;
	attr.size = node == FILE_ID ? size : 0;
	return attr;
}

/* No answer may be cached: each request comes again. */
static void serve(int fd, const struct fuse_in_header *in, const void *arg)
{
	const struct fuse_read_in *read_in = arg;
	struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
				     .minor = 31,
				     .max_readahead = READ_MAX,
				     .max_write = READ_MAX};
	struct fuse_entry_out entry = {.nodeid = FILE_ID, .attr = attributes(FILE_ID)};
	struct fuse_attr_out attr = {.attr = attributes(in->nodeid)};
	struct fuse_open_out opened = {.fh = 1};
	struct fuse_statfs_out statfs_out = {.st = {.bsize = 4096, .namelen = 255}};

	switch (in->opcode) {
	case FUSE_INIT:
		answer(fd, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer(fd, in->unique, strcmp(arg, name) ? ENOENT : 0, &entry,
		       strcmp(arg, name) ? 0 : sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(fd, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(fd, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ: {
		size_t at = read_in->offset < size ? read_in->offset : size;
		size_t n = size - at < read_in->size ? size - at : read_in->size;

		answer(fd, in->unique, 0, contents + at, n);
		break;
	}
	case FUSE_STATFS:
		answer(fd, in->unique, 0, &statfs_out, sizeof(statfs_out));
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		answer(fd, in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(fd, in->unique, ENOSYS, NULL, 0);
	}
}

static void load(const char *path)
{
	FILE *file = fopen(path, "re");
	long end;

	if (!file || fseek(file, 0, SEEK_END) || (end = ftell(file)) < 0)
		exit(2);
	rewind(file);
	size = (size_t)end;
	contents = malloc(size + 1);
	if (!contents || fread(contents, 1, size, file) != size)
		exit(2);
	fclose(file);
}

int main(int argc, char **argv)
{
	static union {
		struct fuse_in_header in;
		char bytes[READ_MAX + 4096];
	} request;
	struct sigaction action = {.sa_handler = hang};
	char options[128];
	ssize_t n;
	int fd;

	if (argc != 3 && argc != 4)
		return 2;
	if (argc == 4)
		name = argv[3];
	written = (uint64_t)time(NULL);
	load(argv[2]);
	sigaction(SIGUSR1, &action, NULL);
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		perror("/dev/fuse");
		return 1;
	}
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fd);
	if (mount("hungfs", argv[1], "fuse.hungfs", MS_NOSUID | MS_NODEV, options)) {
		perror("mount");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	for (;;) {
		n = read(fd, request.bytes, sizeof(request.bytes));
		if (n < (ssize_t)sizeof(request.in)) {
			if (n < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN))
				continue;
			return 0; /* unmounted */
		}
		serve(fd, &request.in, &request.in + 1);
	}
}
