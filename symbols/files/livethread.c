// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc/PID shows a process whose first thread has called pthread_exit as a zombie: maps, auxv and
 * root are that thread's and are gone, while the other threads go on.
 */
#include "symbols/files/livethread.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What /proc/PID/stat calls its state (proc_pid_stat(5)); 0: there is none. */
static char state_of(pid_t tid)
{
	char path[32], text[128], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	return at && at[1] == ' ' ? at[2] : 0;
}

static bool lives(pid_t tid)
{
	char state = state_of(tid);

	return state && state != 'Z' && state != 'X';
}

pid_t livethread(pid_t pid)
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
