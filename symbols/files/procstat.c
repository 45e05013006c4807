// SPDX-License-Identifier: GPL-2.0-or-later
/* See procstat.h. The name may contain blanks and parentheses: the last one ends it. */
#include "symbols/files/procstat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PF_KTHREAD 0x00200000u /* of include/linux/sched.h */

int procstat_read(pid_t pid, struct procstat *s)
{
	char path[64], text[1024], *at, *name;
	uint64_t end_code = 0;
	unsigned long flags = 0;
	ssize_t n;
	int fd;

	memset(s, 0, sizeof(*s));
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return -ESRCH;
	text[n] = '\0';
	name = strchr(text, '(');
	at = strrchr(text, ')');
	if (!name || !at || at < name)
		return -EINVAL;
	*at++ = '\0';
	snprintf(s->comm, sizeof(s->comm), "%.15s", name + 1);
	/* The fields 3, 4, 9, 20, 22, 27 and 28. */
	sscanf(at,
	       " %c %d %*s %*s %*s %*s %lu %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld %*s %" SCNu64
	       " %*s %*s %*s %*s %" SCNu64 " %" SCNu64,
	       &s->state, &s->ppid, &flags, &s->threads, &s->start, &end_code, &s->start_stack);
	s->zombie = s->state == 'Z' || s->state == 'X';
	s->kthread = (flags & PF_KTHREAD) != 0;
	s->complete = end_code != 0;
	return 0;
}

bool procstat_runs(int stat, uint64_t *cpu)
{
	const long ticks = sysconf(_SC_CLK_TCK);
	uint64_t user = 0, kernel = 0;
	char text[512], state = 0;
	ssize_t n = pread(stat, text, sizeof(text) - 1, 0);
	const char *end;

	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');
	/* The fields 3, 14 and 15. */
	if (!end || ticks <= 0 ||
	    sscanf(end + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64,
		   &state, &user, &kernel) != 3)
		return false;
	*cpu = (user + kernel) * (1000000000ull / (uint64_t)ticks);
	return state == 'R';
}

bool procstat_uid(pid_t pid, uid_t *uid)
{
	char path[32];
	struct stat st;

	/* The folder itself: its files belong to root once the process has dropped privileges. */
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st))
		return false;
	*uid = st.st_uid;
	return true;
}
