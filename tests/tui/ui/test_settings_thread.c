// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the keeper writes of a theme: one that could be read.
 * Covers: tui/ui/settings_thread.c tui/ui/themes.c
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
#include "tui/profile/profile.h"

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
	struct config config = {0};

	assert_non_null(k);
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
	const struct CMUnitTest tests[] = {cmocka_unit_test(themes_that_are_there)};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
