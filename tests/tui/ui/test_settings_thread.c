// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the keeper reads, and what it writes of a theme: one that could be read. Settings that were
 * not read are not overwritten.
 * Covers: tui/ui/settings_thread.c tui/ui/settings_process.c tui/ui/themes.c symbols/base/forked.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/scratch.h"
#include "tui/ui/config.h"
#include "tui/ui/settings_thread.h"
#include "tui/profile/board.h"
#include "tui/profile/profile.h"
#include "tui/screen/theme.h"

static char folder[SCRATCH];

static void read_config(char *text, size_t size)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/stacktop/config", folder);
	file = fopen(path, "r");
	assert_non_null(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
}

/* Asks for a theme and for the settings to be written with it; the end waits for both. */
static void ask(const char *theme, char *text, size_t size)
{
	struct profile *p = profile_new(10, 100);
	struct settings_thread *k = settings_thread_new(p, "nord");
	struct settings_reply reply;
	struct theme *opened;
	struct config config = {0};

	assert_non_null(k);
	assert_true(settings_thread_open(k, 0, &reply, &opened));
	assert_non_null(opened);
	assert_string_equal(reply.theme, "nord");
	theme_free(opened);
	assert_false(settings_thread_open(k, 0, &reply, &opened)); /* once */
	snprintf(config.theme, sizeof(config.theme), "%s", theme);
	settings_thread_use_theme(k, theme);
	settings_thread_save(k, &config);
	settings_thread_free(k);
	profile_free(p);
	read_config(text, size);
}

static void themes_that_are_there(void **state)
{
	char text[4096];

	(void)state;
	ask("light", text, sizeof(text));
	assert_non_null(strstr(text, "theme = light\n"));
	ask("no-such", text, sizeof(text));
	assert_null(strstr(text, "no-such"));
	assert_non_null(strstr(text, "theme = nord\n"));
}

static void write_config(const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/stacktop/config", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* The theme is that of the settings, unless one is named; what is wrong becomes messages. */
static void settings_are_read(void **state)
{
	static const char *const names[] = {NULL, "light", "no-such"};
	struct profile *p = profile_new(10, 100);
	struct settings_reply reply;
	struct board_message message;
	struct settings_thread *k;
	struct theme *theme;

	(void)state;
	write_config("refresh = 2.5\ntheme = nord\nno-such = 1\n");
	for (size_t i = 0; i < 3; i++) {
		uint64_t serial = 0;

		k = settings_thread_new(p, names[i]);
		assert_true(settings_thread_open(k, 0, &reply, &theme));
		assert_true(reply.config.refresh > 2.4 && reply.config.refresh < 2.6);
		assert_string_equal(reply.theme, names[i] ? names[i] : "nord");
		assert_int_equal(!theme, i == 2);
		assert_int_equal(reply.err != 0, i == 2);
		assert_true(reply.nsaid > 0);
		assert_true(board_next(profile_board(p), &serial, &message));
		assert_non_null(strstr(message.text, "no-such"));
		theme_free(theme);
		settings_thread_free(k);
	}
	profile_free(p);
}

/* A file whose contents have not been taken may say more than is known here. */
static void what_was_not_read_is_not_overwritten(void **state)
{
	struct profile *p = profile_new(10, 100);
	struct settings_thread *k = settings_thread_new(p, NULL);
	struct config config = {0};
	struct board_message message;
	uint64_t serial = 0;
	bool told = false;
	char text[4096];

	(void)state;
	write_config("refresh = 3\n");
	settings_thread_save(k, &config);
	settings_thread_free(k);
	read_config(text, sizeof(text));
	assert_string_equal(text, "refresh = 3\n");
	while (board_next(profile_board(p), &serial, &message))
		told |= strstr(message.text, "settings are not saved") != NULL;
	assert_true(told);
	profile_free(p);
}

static int make_folder(void **state)
{
	(void)state;
	scratch_folder(folder, "keeper");
	return setenv("XDG_CONFIG_HOME", folder, 1);
}

static int remove_folder(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/stacktop/config", folder);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(themes_that_are_there),
		cmocka_unit_test(settings_are_read),
		cmocka_unit_test(what_was_not_read_is_not_overwritten),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
