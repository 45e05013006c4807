// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/fds.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bpf/prog/layout.h"

size_t count_fds(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

uint32_t file_generation(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint32_t generation = 0;
	struct statfs fs;

	if (fstatfs(fd, &fs) || !vma_has_generations((uint32_t)fs.f_type) ||
	    ioctl(fd, FS_IOC_GETVERSION, &generation))
		generation = 0;
	close(fd);
	return generation;
}
