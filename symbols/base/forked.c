// SPDX-License-Identifier: GPL-2.0-or-later
/* See forked.h. */
#include "symbols/base/forked.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

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
	if (chdir("/"))
		_exit(1);
}
