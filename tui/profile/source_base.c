// SPDX-License-Identifier: GPL-2.0-or-later
/* Passes each call on to the collector or the replay, and holds what both need. */
#include "tui/profile/source_base.h"

#include <time.h>
#include <unistd.h>

#include "symbols/base/thread.h"

static const struct engine_ops *ops_of(const struct engine *engine)
{
	return ((const struct engine_base *)(const void *)engine)->ops;
}

void engine_finish(struct engine *engine)
{
	ops_of(engine)->finish(engine);
}

int engine_stop(struct engine *engine, unsigned int ms, char *error, size_t size)
{
	error[0] = '\0';
	return engine && ops_of(engine)->stop ? ops_of(engine)->stop(engine, ms, error, size) : 0;
}

void engine_free(struct engine *engine)
{
	if (engine)
		ops_of(engine)->free(engine);
}

uint64_t engine_slices(const struct engine *engine)
{
	return ops_of(engine)->slices(engine);
}

void engine_post(struct engine *engine, enum engine_command command, const char *arg)
{
	ops_of(engine)->post(engine, command, arg);
}

int engine_event_fd(const struct engine *engine)
{
	return ops_of(engine)->event_fd(engine);
}

bool engine_finished(const struct engine *engine)
{
	return ops_of(engine)->finished(engine);
}

uint64_t engine_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Only a full counter can fail, and that is readable, too. */
void engine_signal(int fd)
{
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof(one));

	(void)n;
}

void engine_block_signals(sigset_t *before)
{
	thread_block_signals(before);
}
