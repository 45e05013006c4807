// SPDX-License-Identifier: GPL-2.0-or-later
/* See waits.h: one table for all that names a cause. */
#include "tui/profile/waits.h"

#include <string.h>

static const struct wait_text texts[WAIT_CAUSES] = {
	[WAIT_NONE] = {"on", '#', "on a CPU"},
	[WAIT_RUNNABLE] = {"runnable", 'r', "woken or preempted, waits for a CPU"},
	[WAIT_LOCK] = {"lock", 'L', "a lock: futex, semaphore, flock"},
	[WAIT_SLEEP] = {"sleep", 's', "the time that it asked for"},
	[WAIT_POLL] = {"poll", 'p', "events: poll, select, epoll"},
	[WAIT_PIPE] = {"pipe", 'i', "the other end of a pipe"},
	[WAIT_SOCKET] = {"socket", 'n', "the other end of a socket"},
	[WAIT_DISK] = {"disk", 'D', "a disk, or another device with blocks"},
	[WAIT_FAULT] = {"fault", 'f', "a page of memory"},
	[WAIT_CHILD] = {"child", 'c', "the end of a child"},
	[WAIT_STOPPED] = {"stopped", 'T', "stopped, traced or frozen"},
	[WAIT_OTHER] = {"other", 'o', "something else in the kernel"},
};

const struct wait_text *wait_text(enum wait_cause cause)
{
	return &texts[cause < WAIT_CAUSES ? cause : WAIT_OTHER];
}

enum wait_cause wait_by_name(const char *name)
{
	for (int i = WAIT_RUNNABLE; i < WAIT_CAUSES; i++)
		if (strcmp(texts[i].name, name) == 0)
			return (enum wait_cause)i;
	return WAIT_NONE;
}

const char *measure_name(enum measure measure)
{
	static const char *const names[] = {"cpu", "off-cpu", "wall", "time", "wakes"};

	return names[measure];
}
