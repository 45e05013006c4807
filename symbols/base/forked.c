// SPDX-License-Identifier: GPL-2.0-or-later
/* See forked.h. */
#include "symbols/base/forked.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURN_MS 20

/* Shared mappings of the parent would live as long as a process that is left behind. */
static void unmap_shared(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	uint64_t start, end;
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		if ((strstr(line, " anon_inode:") || strstr(line, "[perf_event]")) &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2)
			munmap((void *)(uintptr_t)start, end - start);
	if (file)
		fclose(file);
}

void forked_let_go(int keep)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid(); /* no signals from the terminal */
	prctl(PR_SET_NAME, "stacktop-files");
	if (keep != FORKED_FD)
		dup2(keep, FORKED_FD);
	for (int fd = 0; fd < FORKED_FD; fd++)
		dup2(null, fd);
	syscall(SYS_close_range, FORKED_FD + 1, ~0u, 0);
	unmap_shared();
}

/* A file system may answer about a file, and not with what is in it. */
static void touch(const char *path)
{
	struct stat st;
	char byte;
	int fd;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && pread(fd, &byte, 1, 0) < 0)
		return; /* whatever it is, it is an answer */
}

bool forked_await(const char *path, const atomic_bool *stop)
{
	struct pollfd fd = {.events = POLLIN};
	bool answered = false;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return true;
	pid = fork();
	if (!pid) {
		forked_let_go(ends[1]);
		touch(path);
		_exit(0);
	}
	close(ends[1]);
	fd.fd = ends[0];
	/* The end of the process ends the pipe. */
	while (pid > 0 && !answered && !atomic_load(stop))
		answered = poll(&fd, 1, TURN_MS) > 0;
	close(ends[0]);
	if (pid > 0 && !answered)
		kill(pid, SIGKILL);
	if (pid > 0)
		waitpid(pid, NULL, answered ? 0 : WNOHANG);
	return pid < 0 || answered;
}
