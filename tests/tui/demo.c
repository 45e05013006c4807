// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The screen with a made-up machine and without BPF, so that what it does to a terminal can be
 * tested by anyone. Takes the options of stacktop.
 */
#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/tui/feed.h"
#include "tui/engine.h"
#include "tui/options.h"
#include "tui/screen.h"

struct engine {
	struct feed feed;
	int event;
};

void engine_post(struct engine *engine, enum engine_command command, const char *arg)
{
	uint64_t one = 1;

	profile_lock(engine->feed.p);
	profile_message(engine->feed.p, MESSAGE_INFO, "engine: command %d '%s'", (int)command, arg);
	profile_unlock(engine->feed.p);
	if (write(engine->event, &one, sizeof(one)) < 0)
		perror("demo");
}

int engine_event_fd(const struct engine *engine)
{
	return engine->event;
}

bool engine_finished(const struct engine *engine)
{
	(void)engine;
	return false;
}

static void *feed_thread(void *arg)
{
	struct engine *engine = arg;
	uint64_t one = 1;

	for (int i = 0;; i++) {
		if (feed_slice(&engine->feed, i / 5 % 2) ||
		    write(engine->event, &one, sizeof(one)) < 0)
			return NULL;
		nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
	}
}

int main(int argc, char **argv)
{
	struct engine engine = {.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	struct options options;
	pthread_t thread;
	int status;

	setlocale(LC_CTYPE, "");
	if (options_parse(argc, argv, &options, stderr) != OPTIONS_RUN)
		return 2;
	feed_open(&engine.feed);
	if (pthread_create(&thread, NULL, feed_thread, &engine))
		return 1;
	status = screen_run(engine.feed.p, &engine, &options);
	options_free(&options);
	/* The thread feeds on; the end of the process is its end. */
	return status;
}
