/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of the demonstration: a program that spends its time in the kernel. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char buffer[1 << 20];

static void read_zeros(int fd)
{
	for (int i = 0; i < 20; i++)
		if (read(fd, buffer, sizeof(buffer)) < 0)
			perror("/dev/zero");
}

static void list_folder(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	struct stat st;

	while (folder && (entry = readdir(folder)))
		if (fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			perror(entry->d_name);
	if (folder)
		closedir(folder);
}

int main(void)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (;;) {
		read_zeros(fd);
		list_folder("/usr/bin");
	}
}
