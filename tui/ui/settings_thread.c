// SPDX-License-Identifier: GPL-2.0-or-later
/* See settings_thread.h. One lock, which is not held while an answer is waited for. */
#include "tui/ui/settings_thread.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "symbols/base/thread.h"
#include "tui/profile/board.h"
#include "tui/profile/profile.h"
#include "tui/screen/theme.h"

#define END_MS	300 /* for what is still to be written */
#define TURN_MS 10

struct settings_thread {
	struct profile *profile;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake, opening;
	int event;
	/* Under the lock. */
	bool ending, ask_theme, ask_save;
	bool opened, taken, failed;
	struct settings_reply first; /* when opened */
	struct theme *first_theme;
	char name[CONFIG_THEME_MAX];
	struct config config; /* to be written */
	struct theme *theme;  /* to be taken */
	/* The thread's own. */
	struct settings_process process;
	struct settings_request request;
	struct settings_reply reply;
	struct themes_stamp stamp;
	char used[CONFIG_THEME_MAX]; /* the theme that was read last */
	char refused[CONFIG_THEME_MAX];
};

static void signal_event(const struct settings_thread *k)
{
	uint64_t one = 1;

	if (write(k->event, &one, sizeof(one)) < 0)
		return; /* full: it is readable */
}

static bool is_ending(struct settings_thread *k)
{
	bool ending;

	pthread_mutex_lock(&k->lock);
	ending = k->ending;
	pthread_mutex_unlock(&k->lock);
	return ending;
}

/* Waits for the reply to k->request; at the end not for long. False: there is none. */
static bool ask(struct settings_thread *k, struct theme **theme)
{
	struct pollfd fd = {.fd = k->process.socket, .events = POLLIN};
	int left = END_MS;

	*theme = NULL;
	if (settings_process_send(&k->process, &k->request))
		return false;
	while (poll(&fd, 1, TURN_MS) <= 0) {
		if (!is_ending(k))
			continue;
		left -= TURN_MS;
		if (left <= 0 || k->request.order == SETTINGS_OPEN)
			return false;
	}
	if (settings_process_receive(&k->process, &k->reply, theme))
		return false;
	for (int i = 0; i < k->reply.nsaid; i++)
		board_message(profile_board(k->profile), k->reply.said[i].level, "%s",
			      k->reply.said[i].text);
	return true;
}

static void open_all(struct settings_thread *k)
{
	struct theme *theme;
	bool there;

	k->request.order = SETTINGS_OPEN;
	there = ask(k, &theme);
	pthread_mutex_lock(&k->lock);
	if (there) {
		k->first = k->reply;
		k->first_theme = theme;
		k->stamp = k->reply.stamp;
		snprintf(k->used, sizeof(k->used), "%s", k->reply.theme);
		if (!k->ask_theme) /* one was chosen meanwhile */
			memcpy(k->name, k->used, sizeof(k->name));
		k->opened = true;
	}
	k->failed = !there;
	pthread_cond_broadcast(&k->opening);
	pthread_mutex_unlock(&k->lock);
	signal_event(k);
}

static bool read_theme(struct settings_thread *k, const char *name)
{
	struct theme *theme;

	k->request.order = SETTINGS_THEME;
	snprintf(k->request.theme, sizeof(k->request.theme), "%s", name);
	if (!ask(k, &theme))
		return false;
	k->stamp = k->reply.stamp;
	if (!theme) {
		board_message(profile_board(k->profile), MESSAGE_ERROR, "theme %s: %s", name,
			      themes_error(k->reply.err));
		snprintf(k->refused, sizeof(k->refused), "%s", name);
		return true;
	}
	snprintf(k->used, sizeof(k->used), "%s", name);
	k->refused[0] = '\0';
	pthread_mutex_lock(&k->lock);
	theme_free(k->theme);
	k->theme = theme;
	pthread_mutex_unlock(&k->lock);
	signal_event(k);
	return true;
}

/* Reads the theme again if its file was saved. */
static bool look(struct settings_thread *k, const char *name)
{
	struct theme *none;

	k->request.order = SETTINGS_STAMP;
	snprintf(k->request.theme, sizeof(k->request.theme), "%s", name);
	if (!ask(k, &none))
		return false;
	return memcmp(&k->reply.stamp, &k->stamp, sizeof(k->stamp)) == 0 || read_theme(k, name);
}

static bool save(struct settings_thread *k, const struct config *config)
{
	struct theme *none;

	k->request.order = SETTINGS_SAVE;
	k->request.config = *config;
	/* Do not save a theme that cannot be read: the next start would only complain. */
	if (k->refused[0] && strcmp(config->theme, k->refused) == 0)
		memcpy(k->request.config.theme, k->used, sizeof(k->used));
	return ask(k, &none);
}

static void *keep(void *arg)
{
	struct settings_thread *k = arg;
	char name[CONFIG_THEME_MAX];
	struct timespec until;
	struct config config;
	bool theme, write_it, alive = true;

	open_all(k);
	pthread_mutex_lock(&k->lock);
	while (k->opened && alive && (!k->ending || k->ask_save)) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		if (!k->ask_theme && !k->ask_save && !k->ending)
			pthread_cond_timedwait(&k->wake, &k->lock, &until);
		theme = k->ask_theme;
		write_it = k->ask_save;
		k->ask_theme = k->ask_save = false;
		memcpy(name, k->name, sizeof(name));
		config = k->config;
		pthread_mutex_unlock(&k->lock);
		/* A second without a wish is for a look at the file. */
		if (theme)
			alive = read_theme(k, name);
		else if (!write_it)
			alive = look(k, name);
		if (write_it && alive)
			alive = save(k, &config);
		pthread_mutex_lock(&k->lock);
		if (!alive && !k->ending)
			board_message(profile_board(k->profile), MESSAGE_ERROR,
				      "settings and themes are not read or saved any more: the "
				      "process that does it has ended");
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

struct settings_thread *settings_thread_new(struct profile *p, const char *theme)
{
	struct settings_thread *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->profile = p;
	if (theme)
		snprintf(k->request.theme, sizeof(k->request.theme), "%s", theme);
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->wake, NULL);
	pthread_cond_init(&k->opening, NULL);
	k->process.socket = -1;
	k->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (k->event < 0 || settings_process_new(&k->process) ||
	    thread_start(&k->thread, keep, k)) {
		settings_process_free(&k->process);
		if (k->event >= 0)
			close(k->event);
		free(k);
		return NULL;
	}
	return k;
}

void settings_thread_free(struct settings_thread *k)
{
	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	k->ending = true;
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->lock);
	pthread_join(k->thread, NULL);
	settings_process_free(&k->process);
	pthread_cond_destroy(&k->wake);
	pthread_cond_destroy(&k->opening);
	pthread_mutex_destroy(&k->lock);
	theme_free(k->theme);
	theme_free(k->first_theme);
	close(k->event);
	free(k);
}

bool settings_thread_open(struct settings_thread *k, unsigned int ms, struct settings_reply *reply,
			  struct theme **theme)
{
	struct timespec until = clock_in(CLOCK_REALTIME, ms * 1000000ull);
	bool opened;
	int err = 0;

	pthread_mutex_lock(&k->lock);
	while (!k->opened && !k->failed && err != ETIMEDOUT)
		err = ms ? pthread_cond_timedwait(&k->opening, &k->lock, &until)
			 : pthread_cond_wait(&k->opening, &k->lock);
	opened = k->opened && !k->taken;
	if (opened) {
		*reply = k->first;
		*theme = k->first_theme;
		k->first_theme = NULL;
		k->taken = true;
	}
	pthread_mutex_unlock(&k->lock);
	return opened;
}

void settings_thread_use_theme(struct settings_thread *k, const char *name)
{
	pthread_mutex_lock(&k->lock);
	snprintf(k->name, sizeof(k->name), "%s", name);
	k->ask_theme = true;
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->lock);
}

void settings_thread_save(struct settings_thread *k, const struct config *config)
{
	char path[PATH_MAX] = "";
	bool opened;

	pthread_mutex_lock(&k->lock);
	opened = k->taken;
	if (opened) {
		k->config = *config;
		k->ask_save = true;
		pthread_cond_signal(&k->wake);
	}
	pthread_mutex_unlock(&k->lock);
	if (opened)
		return;
	config_path(path, sizeof(path));
	board_message(profile_board(k->profile), MESSAGE_ERROR,
		      "settings are not saved: %s has not been read yet", path);
}

int settings_thread_fd(const struct settings_thread *k)
{
	return k->event;
}

struct theme *settings_thread_take_theme(struct settings_thread *k)
{
	struct theme *theme;
	uint64_t count;

	if (read(k->event, &count, sizeof(count)) < 0)
		return NULL;
	pthread_mutex_lock(&k->lock);
	theme = k->theme;
	k->theme = NULL;
	pthread_mutex_unlock(&k->lock);
	return theme;
}
