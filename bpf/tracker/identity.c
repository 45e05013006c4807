// SPDX-License-Identifier: GPL-2.0-or-later
/* See identity.h. */
#include "bpf/tracker/identity.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "symbols/files/procstat.h"

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
