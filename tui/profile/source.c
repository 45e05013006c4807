// SPDX-License-Identifier: GPL-2.0-or-later
/* Passes each call on to the kind of source, and holds what all kinds need. */
#include "tui/profile/source.h"

#include <time.h>
#include <unistd.h>

void source_finish(struct source *source)
{
	source->ops->finish(source);
}

int source_stop(struct source *source, unsigned int ms, char *error, size_t size)
{
	error[0] = '\0';
	return source && source->ops->stop ? source->ops->stop(source, ms, error, size) : 0;
}

void source_free(struct source *source)
{
	if (source)
		source->ops->free(source);
}

uint64_t source_slices(const struct source *source)
{
	return source->ops->slices(source);
}

void source_post(struct source *source, enum source_command command, const char *arg)
{
	source->ops->post(source, command, arg);
}

int source_event_fd(const struct source *source)
{
	return source->ops->event_fd(source);
}

bool source_finished(const struct source *source)
{
	return source->ops->finished(source);
}

uint64_t source_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Only a full counter can fail, and that is readable, too. */
void source_signal(int fd)
{
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof(one));

	(void)n;
}
