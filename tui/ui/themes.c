// SPDX-License-Identifier: GPL-2.0-or-later
/* See themes.h. */
#include "tui/ui/themes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tui/profile/board.h"
#include "tui/screen/theme.h"

#ifndef STACKTOP_THEME_DIR
#define STACKTOP_THEME_DIR "/usr/local/share/stacktop/themes"
#endif

static void theme_warning(void *arg, const char *text)
{
	board_message(arg, MESSAGE_WARNING, "theme: %s", text);
}

/* own is the buffer of the first directory. */
static void find_directories(char *own, size_t size, const char *directories[3])
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	own[0] = '\0';
	if (config && config[0] == '/')
		snprintf(own, size, "%s/stacktop/themes", config);
	else if (home && home[0] == '/')
		snprintf(own, size, "%s/.config/stacktop/themes", home);
	directories[0] = own[0] ? own : STACKTOP_THEME_DIR;
	directories[1] = STACKTOP_THEME_DIR;
	directories[2] = NULL;
}

int themes_load(struct theme **out, const char *name, struct board *messages)
{
	const char *directories[3];
	char own[512];

	find_directories(own, sizeof(own), directories);
	return theme_load(out, name, directories, theme_warning, messages);
}

const char *themes_error(int err)
{
	return err == -EINVAL  ? "not a file of the form '# stacktop theme 1'"
	       : err == -EPERM ? "behind a link of another user"
			       : strerror(-err);
}

void themes_stamp(const char *name, struct themes_stamp *out)
{
	const char *directories[3];
	char own[512], path[1024];
	struct stat st;

	memset(out, 0, sizeof(*out));
	find_directories(own, sizeof(own), directories);
	for (const char **d = directories; *d; d++) {
		snprintf(path, sizeof(path), "%s/%s.theme", *d, name);
		if (stat(path, &st))
			continue;
		out->inode = st.st_ino;
		out->size = st.st_size;
		out->time = st.st_mtim;
		return;
	}
}

int themes_open(struct theme **out, const char *name, struct board *messages)
{
	int err;

	if (!name)
		name = "default";
	err = themes_load(out, name, messages);
	if (err)
		themes_complain(name, err);
	return err;
}

void themes_complain(const char *name, int err)
{
	fprintf(stderr, "stacktop: theme %s: %s; shipped:", name, themes_error(err));
	for (const char *const *shipped = theme_embedded(); *shipped; shipped++)
		fprintf(stderr, " %s", *shipped);
	fprintf(stderr, "\n");
}

int themes_embedded(struct theme **out, const char *name)
{
	static const char *const none[] = {NULL};

	if (name && !theme_load(out, name, none, NULL, NULL))
		return 0;
	return theme_load(out, "default", none, NULL, NULL);
}
