// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The settings as a file. If root runs with the HOME of another user, that user may own the
 * directory. So reads are bounded and do not block, root accepts only its own files, follows only
 * its own links, and a new file takes its name in one step.
 */
#include "tui/ui/config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/base/text.h"
#include "tui/util/outfile.h"
#include "tui/util/safepath.h"
#include "tui/util/smallfile.h"

bool config_path(char *to, size_t size)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	int n = -1;

	if (config && config[0] == '/')
		n = snprintf(to, size, "%s/stacktop/config", config);
	else if (home && home[0] == '/')
		n = snprintf(to, size, "%s/.config/stacktop/config", home);
	return n > 0 && (size_t)n < size;
}

/* Why the file was refused, found once more for the message. False: nothing refuses it now. */
static bool find_refusal(struct safepath *at, const char *path)
{
	int err = safepath_open(at, path, 0);

	if (!err && at->held >= 0 && at->status.st_uid != geteuid())
		safepath_refuse(at);
	safepath_close(at);
	return at->why[0];
}

void config_explain(const char *path, int err, char *to, size_t size)
{
	char text[PATH_MAX + 300];
	struct safepath at;

	snprintf(text, sizeof(text), "%s: %s", path,
		 err == -EINVAL		   ? "not a regular file"
		 : err == -EFBIG	   ? "larger than 64 KiB"
		 : err != -EPERM	   ? strerror(-err)
		 : find_refusal(&at, path) ? at.why
					   : "belongs to another user than root");
	text_clean(to, size, text, strlen(text));
}

/* The caller frees *text; NULL with 0: there is no file. */
static int read_text(const char *path, char **text, size_t *length)
{
	int err = smallfile_read(path, CONFIG_FILE_MAX, SMALLFILE_OWN, text, length);

	return err == -ENOENT || err == -ENOTDIR ? 0 : err;
}

int config_read(struct config *out, const char *path, config_warn_fn warn, void *arg)
{
	char *text;
	size_t length;
	int err = read_text(path, &text, &length);

	config_parse(out, text ? text : "", text ? length : 0, warn, arg);
	free(text);
	return err;
}

/* Makes the folder and the one above it, which a new user lacks, too. */
static int make_folder(const char *path)
{
	struct safepath at;
	struct stat st;
	int err = safepath_open(&at, path, SAFEPATH_MAKE);

	if (err)
		return err;
	/* Root trusts only its own folders; for other users the permissions suffice. */
	if (geteuid() == 0 && (fstat(at.folder, &st) || st.st_uid != 0))
		err = -EPERM;
	safepath_close(&at);
	return err;
}

int config_write(const struct config *c, const char *path)
{
	struct outfile *file = NULL;
	char *text, *edited = NULL;
	size_t length;
	int err = make_folder(path);

	if (err)
		return err;
	err = read_text(path, &text, &length);
	if (!err)
		err = config_edit(c, text ? text : "", length, &edited);
	free(text);
	if (!err)
		err = outfile_open(path, &file);
	if (!err && fputs(edited, outfile_stream(file)) < 0)
		err = -EIO;
	if (err)
		outfile_abandon(file);
	else
		err = outfile_commit(file);
	free(edited);
	return err;
}
