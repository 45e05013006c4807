// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=picture_save */
/*
 * The screen, or with --plain its lines, with a made-up machine and without BPF, so that what it
 * does to a terminal can be tested by anyone. Takes the options of stacktop; -n counts seconds of
 * the machine.
 */
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/machine.h"
#include "tui/profile/source_base.h"
#include "tui/options.h"
#include "tui/app/plain.h"
#include "tui/app/screen.h"

struct engine {
	struct engine_base base;
	struct machine feed;
	unsigned int slices, most; /* most 0: no end */
	int event;
};

int __real_picture_save(const char *path, const char *text, size_t size);
int __wrap_picture_save(const char *path, const char *text, size_t size);

/* A disk that takes its time. */
int __wrap_picture_save(const char *path, const char *text, size_t size)
{
	if (strcmp(path, "slow.txt") == 0)
		sleep(600);
	return __real_picture_save(path, text, size);
}

static void demo_post(struct engine *engine, enum engine_command command, const char *arg)
{
	profile_lock(engine->feed.p);
	profile_message(engine->feed.p, MESSAGE_INFO, "engine: command %d '%s'", (int)command, arg);
	profile_unlock(engine->feed.p);
	engine_signal(engine->event);
}

static int demo_event_fd(const struct engine *engine)
{
	return engine->event;
}

static uint64_t demo_slices(const struct engine *engine)
{
	return __atomic_load_n(&engine->slices, __ATOMIC_ACQUIRE);
}

static bool demo_finished(const struct engine *engine)
{
	return engine->most && demo_slices(engine) >= engine->most;
}

/* The end of the process is that of the machine. */
static void demo_end(struct engine *engine)
{
	(void)engine;
}

static const struct engine_ops demo_ops = {
	.finish = demo_end,
	.free = demo_end,
	.slices = demo_slices,
	.post = demo_post,
	.event_fd = demo_event_fd,
	.finished = demo_finished,
};

static void *feed_thread(void *arg)
{
	struct engine *engine = arg;

	for (int i = 0;; i++) {
		if (machine_slice(&engine->feed, i / 5 % 2))
			return NULL;
		__atomic_fetch_add(&engine->slices, 1, __ATOMIC_RELEASE);
		engine_signal(engine->event);
		if (demo_finished(engine))
			return NULL;
		nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
	}
}

/* As main.c does it: before there are threads. */
static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int main(int argc, char **argv)
{
	/* Static: what it leads to is no leak when main has returned and the thread feeds on. */
	static struct engine engine = {.base.ops = &demo_ops};
	struct options options;
	pthread_t thread;
	int status, signals;

	setlocale(LC_CTYPE, "");
	if (options_parse(argc, argv, &options, stderr) != OPTIONS_RUN)
		return 2;
	engine.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	engine.most = options.iterations;
	signal(SIGPIPE, SIG_IGN);
	signals = options.plain ? block_signals() : -1;
	machine_open(&engine.feed);
	if (pthread_create(&thread, NULL, feed_thread, &engine))
		return 1;
	status = options.plain ? plain_run(engine.feed.p, &engine, &options, signals)
			       : screen_run(engine.feed.p, &engine, &options);
	options_free(&options);
	/* The thread feeds on; the end of the process is its end. */
	return status;
}
