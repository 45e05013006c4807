// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=screen_file_save */
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
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/machine.h"
#include "tui/profile/board.h"
#include "tui/profile/source.h"
#include "tui/options.h"
#include "tui/app/dispatch.h"
#include "tui/app/plain.h"
#include "tui/app/screen.h"

struct demo {
	struct source source;
	struct machine feed;
	unsigned int most; /* slices; 0: no end */
};

int __real_screen_file_save(const char *path, const char *text, size_t size);
int __wrap_screen_file_save(const char *path, const char *text, size_t size);

/* A disk that takes its time. */
int __wrap_screen_file_save(const char *path, const char *text, size_t size)
{
	if (strcmp(path, "slow.txt") == 0)
		sleep(600);
	return __real_screen_file_save(path, text, size);
}

static struct demo *demo_of(const struct source *source)
{
	return (struct demo *)((uintptr_t)source - offsetof(struct demo, source));
}

static void demo_post(struct source *source, enum source_command command, const char *arg)
{
	struct demo *demo = demo_of(source);

	profile_lock(demo->feed.p);
	board_message(profile_board(demo->feed.p), MESSAGE_INFO, "engine: command %d '%s'",
		      (int)command, arg);
	profile_unlock(demo->feed.p);
	source_signal(demo->source.event);
}

/* The end of the process is that of the machine. */
static void demo_end(struct source *source)
{
	(void)source;
}

static const struct source_ops demo_ops = {
	.finish = demo_end,
	.free = demo_end,
	.post = demo_post,
};

static void *feed_thread(void *arg)
{
	struct demo *demo = arg;

	for (int i = 0;; i++) {
		if (machine_slice(&demo->feed, i / 5 % 2))
			return NULL;
		if (atomic_fetch_add(&demo->source.slices, 1) + 1 == demo->most)
			atomic_store(&demo->source.finished, true);
		source_signal(demo->source.event);
		if (demo->source.finished)
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
	static struct demo demo = {.source.ops = &demo_ops};
	struct options options;
	struct ui_options ui;
	pthread_t thread;
	int status, signals;

	setlocale(LC_CTYPE, "");
	if (options_parse(argc, argv, &options, stderr) != OPTIONS_RUN)
		return 2;
	demo.source.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	demo.most = options.iterations;
	signal(SIGPIPE, SIG_IGN);
	signals = options.plain ? block_signals() : -1;
	machine_open(&demo.feed);
	ui = options_ui(&options);
	if (pthread_create(&thread, NULL, feed_thread, &demo))
		return 1;
	status = options.plain ? plain_run(demo.feed.p, &demo.source, &ui, signals)
			       : screen_run(demo.feed.p, &demo.source, &ui);
	options_free(&options);
	/* The thread feeds on; the end of the process is its end. */
	return status;
}
