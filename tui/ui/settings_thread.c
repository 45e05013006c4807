// SPDX-License-Identifier: GPL-2.0-or-later
/* See settings_thread.h. One lock, which is not held while a file is read or written. */
#include "tui/ui/settings_thread.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "symbols/base/thread.h"
#include "tui/profile/board.h"
#include "tui/ui/config.h"
#include "tui/profile/profile.h"
#include "tui/screen/theme.h"
#include "tui/ui/themes.h"

#define PATH_BYTES 1024

struct settings_thread {
	struct profile *profile;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	int event;
	/* Under the lock. */
	bool ending, ask_theme, ask_save;
	char name[CONFIG_THEME_MAX];
	struct config config; /* to be written */
	struct theme *theme;  /* to be taken */
	/* The thread's own. */
	struct themes_stamp stamp;
	char used[CONFIG_THEME_MAX]; /* the theme that was read last */
	char refused[CONFIG_THEME_MAX];
};

static void read_theme(struct settings_thread *k, const char *name)
{
	struct theme *theme;
	uint64_t one = 1;
	int err = themes_load(&theme, name, profile_board(k->profile));

	if (err) {
		board_message(profile_board(k->profile), MESSAGE_ERROR, "theme %s: %s", name,
			      themes_error(err));
		snprintf(k->refused, sizeof(k->refused), "%s", name);
		return;
	}
	snprintf(k->used, sizeof(k->used), "%s", name);
	k->refused[0] = '\0';
	pthread_mutex_lock(&k->lock);
	theme_free(k->theme);
	k->theme = theme;
	pthread_mutex_unlock(&k->lock);
	if (write(k->event, &one, sizeof(one)) < 0)
		return; /* full: it is readable */
}

static void save(struct settings_thread *k, struct config *config)
{
	char path[PATH_BYTES], text[2 * PATH_BYTES];
	int err;

	/* Do not save a theme that cannot be read: the next start would only complain. */
	if (k->refused[0] && strcmp(config->theme, k->refused) == 0)
		memcpy(config->theme, k->used, sizeof(config->theme));

	if (!config_path(path, sizeof(path))) {
		board_message(profile_board(k->profile), MESSAGE_ERROR,
			      "settings are not kept: HOME is not set");
		return;
	}
	err = config_write(config, path);
	if (err) {
		config_explain(path, err, text, sizeof(text));
		board_message(profile_board(k->profile), MESSAGE_ERROR, "%s", text);
	} else
		board_message(profile_board(k->profile), MESSAGE_INFO, "%s: written", path);
}

static void *keep(void *arg)
{
	struct settings_thread *k = arg;
	char name[CONFIG_THEME_MAX];
	struct themes_stamp stamp;
	struct timespec until;
	struct config config;
	bool theme, write_it;

	pthread_mutex_lock(&k->lock);
	while (!k->ending || k->ask_save) {
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
		if (theme || !write_it)
			themes_stamp(name, &stamp);
		if (theme || (!write_it && memcmp(&stamp, &k->stamp, sizeof(stamp)) != 0)) {
			k->stamp = stamp;
			read_theme(k, name);
		}
		if (write_it)
			save(k, &config);
		pthread_mutex_lock(&k->lock);
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

struct settings_thread *settings_thread_new(struct profile *p, const char *name)
{
	struct settings_thread *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->profile = p;
	snprintf(k->name, sizeof(k->name), "%s", name);
	memcpy(k->used, k->name, sizeof(k->used));
	themes_stamp(k->name, &k->stamp);
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->wake, NULL);
	k->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (k->event < 0 || thread_start(&k->thread, keep, k)) {
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
	pthread_cond_destroy(&k->wake);
	pthread_mutex_destroy(&k->lock);
	theme_free(k->theme);
	close(k->event);
	free(k);
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
	pthread_mutex_lock(&k->lock);
	k->config = *config;
	k->ask_save = true;
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->lock);
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
