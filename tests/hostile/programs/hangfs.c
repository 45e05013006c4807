/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file system of one file, `file`, that stops answering. Root mounts it, as fusermount does for
 * a user, and another user serves it.
 *
 *	hangfs FOLDER FILE UID		with the contents of FILE
 *
 * Prints `made` once it is mounted, and answers until SIGUSR1. Processes that wait for it
 * continue when it is killed.
 */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define ROOM (1 << 20)

static char contents[ROOM];
static size_t size;
static int device;
static volatile int hung;

static void answer(const struct fuse_in_header *in, int error, const void *body, size_t length)
{
	struct fuse_out_header out = {sizeof(out) + length, error, in->unique};
	struct iovec parts[] = {{&out, sizeof(out)}, {(void *)body, length}};

	if (writev(device, parts, 2) < 0 && errno != ENOENT)
		err(1, "answer");
}

static struct fuse_attr attributes(__u64 node)
{
	struct fuse_attr attr = {.ino = node, .nlink = 1, .blksize = 4096};

	attr.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0755;
	attr.size = node == FUSE_ROOT_ID ? 0 : size;
	return attr;
}

static void serve(const struct fuse_in_header *in)
{
	const void *body = in + 1;

	switch (in->opcode) {
	case FUSE_INIT: {
		struct fuse_init_out out = {.major = 7, .minor = 31, .max_write = 65536};

		answer(in, 0, &out, sizeof(out));
		break;
	}
	case FUSE_LOOKUP: {
		struct fuse_entry_out out = {.nodeid = 2, .attr = attributes(2)};

		if (strcmp(body, "file") == 0)
			answer(in, 0, &out, sizeof(out));
		else
			answer(in, -ENOENT, NULL, 0);
		break;
	}
	case FUSE_GETATTR: {
		struct fuse_attr_out out = {.attr = attributes(in->nodeid)};

		answer(in, 0, &out, sizeof(out));
		break;
	}
	case FUSE_OPEN:
	case FUSE_OPENDIR: {
		struct fuse_open_out out = {0};

		answer(in, 0, &out, sizeof(out));
		break;
	}
	case FUSE_READ: {
		const struct fuse_read_in *read = body;
		size_t at = read->offset < size ? read->offset : size;

		answer(in, 0, contents + at, read->size < size - at ? read->size : size - at);
		break;
	}
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	case FUSE_RELEASE:
	case FUSE_FLUSH:
		answer(in, 0, NULL, 0);
		break;
	default:
		answer(in, -ENOSYS, NULL, 0);
	}
}

static void on_signal(int number)
{
	hung = number;
}

int main(int argc, char **argv)
{
	static char buf[ROOM] __attribute__((aligned(8)));
	char options[128];
	int fd;

	if (argc != 4)
		return 2;
	fd = open(argv[2], O_RDONLY);
	size = read(fd, contents, sizeof(contents));
	device = open("/dev/fuse", O_RDWR);
	if (fd < 0 || device < 0)
		err(1, "/dev/fuse");
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40755,user_id=%s,group_id=%s,allow_other", device, argv[3],
		 argv[3]);
	if (mount("hangfs", argv[1], "fuse", MS_NOSUID | MS_NODEV, options))
		err(1, "mount");
	if (setgid(atoi(argv[3])) || setuid(atoi(argv[3])))
		err(1, "setuid");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGUSR1, on_signal);
	puts("made");
	fflush(stdout);
	for (;;) {
		if (read(device, buf, sizeof(buf)) < 0) {
			if (errno != EINTR && errno != ENOENT)
				err(1, "read");
		} else if (!hung) {
			serve((void *)buf);
		}
	}
}
