// SPDX-License-Identifier: GPL-2.0-or-later
/* See forked.h. */
#include "symbols/base/forked.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURN_MS 20

/* line: one of /proc/PID/maps. */
static void unmap_if_shared(char *line)
{
	char *end;
	uint64_t start = strtoull(line, &end, 16);
	uint64_t stop = *end == '-' ? strtoull(end + 1, NULL, 16) : 0;

	/* Those of perf events are not inherited. */
	if (stop > start && strstr(line, " anon_inode:"))
		munmap((void *)(uintptr_t)start, stop - start);
}

/*
 * Shared mappings of the parent would live as long as a process that is left behind. Nothing here
 * allocates: another thread of the parent may have held the allocator's lock.
 */
static void unmap_shared(void)
{
	char text[PATH_MAX + 256], *line, *end;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t kept = 0;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, text + kept, sizeof(text) - 1 - kept)) > 0) {
		text[kept + (size_t)n] = '\0';
		for (line = text; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			unmap_if_shared(line);
		}
		kept = strlen(line);
		memmove(text, line, kept);
	}
	if (fd >= 0)
		close(fd);
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
