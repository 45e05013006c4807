// SPDX-License-Identifier: GPL-2.0-or-later
/* See procstat.h. The name may contain blanks and parentheses: the last one ends it. */
#include "bpf/tracker/procstat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PF_KTHREAD 0x00200000u /* of include/linux/sched.h */

static void take_field(struct procstat *s, int field, const char *word)
{
	switch (field) {
	case 3:
		s->zombie = *word == 'Z' || *word == 'X';
		break;
	case 4:
		s->ppid = strtol(word, NULL, 10);
		break;
	case 9:
		s->kthread = (strtoul(word, NULL, 10) & PF_KTHREAD) != 0;
		break;
	case 20:
		s->threads = strtol(word, NULL, 10);
		break;
	case 22:
		s->start = strtoull(word, NULL, 10);
		break;
	case 27:
		s->complete = strcmp(word, "0") != 0;
		break;
	case 28:
		s->start_stack = strtoull(word, NULL, 10);
		break;
	default:
		break;
	}
}

int procstat_read(pid_t pid, struct procstat *s)
{
	char path[64], text[1024], *at, *word, *rest;
	ssize_t n;
	int fd, field;

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
	word = strchr(text, '(');
	at = strrchr(text, ')');
	if (!word || !at || at < word)
		return -EINVAL;
	*at++ = '\0';
	snprintf(s->comm, sizeof(s->comm), "%.15s", word + 1);
	for (field = 3, word = strtok_r(at, " ", &rest); word;
	     field++, word = strtok_r(NULL, " ", &rest))
		take_field(s, field, word);
	return 0;
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

/* --- identity ------------------------------------------------------------------------------- */

/* By the pidfd, which costs less than /proc; true if there is none. */
static bool may_have_ended(const struct identity *id)
{
	struct pollfd wait = {.fd = id->fd, .events = POLLIN};

	return id->fd < 0 || poll(&wait, 1, 0) > 0;
}

void identity_take(struct identity *id, pid_t pid, bool with_fd)
{
	struct procstat s;

	*id = (struct identity){.pid = pid};
	id->fd = with_fd ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (!procstat_read(pid, &s))
		id->start = s.start;
	/* If it has ended since, the start time may be that of the next one. */
	if (!id->start || (id->fd >= 0 && may_have_ended(id)) || identity_has_ended(id)) {
		id->start = 0;
		id->ended = true;
	}
}

bool identity_has_ended(struct identity *id)
{
	struct procstat s;

	if (!id->ended && may_have_ended(id))
		id->ended = procstat_read(id->pid, &s) || s.start != id->start ||
			    (s.zombie && s.threads <= 1);
	return id->ended;
}

void identity_drop(struct identity *id)
{
	if (id->fd >= 0)
		close(id->fd);
	id->fd = -1;
}
