// SPDX-License-Identifier: GPL-2.0-or-later
/* See identity.h. */
#include "bpf/tracker/identity.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/tracker/procstat.h"

/* The pidfd's word, which costs less than a look into /proc; without one, no word against it. */
static bool may_be_over(const struct identity *id)
{
	struct pollfd wait = {.fd = id->fd, .events = POLLIN};

	return id->fd < 0 || poll(&wait, 1, 0) > 0;
}

static bool is_over(const struct identity *id)
{
	struct procstat s;

	if (!may_be_over(id))
		return false;
	return procstat_read(id->pid, &s) || s.start != id->start || (s.zombie && s.threads <= 1);
}

void identity_take(struct identity *id, pid_t pid, bool with_fd)
{
	struct procstat s;

	*id = (struct identity){.pid = pid};
	id->fd = with_fd ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (!procstat_read(pid, &s))
		id->start = s.start;
	/* If it has ended since, what was read may be of the next one. */
	if (!id->start || (id->fd >= 0 && may_be_over(id)) || identity_has_ended(id)) {
		id->start = 0;
		id->ended = true;
	}
}

bool identity_has_ended(struct identity *id)
{
	id->ended |= is_over(id);
	return id->ended;
}

void identity_drop(struct identity *id)
{
	if (id->fd >= 0)
		close(id->fd);
	id->fd = -1;
}
