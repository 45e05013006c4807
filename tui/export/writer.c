/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A disk may be slow, and so is a flame graph of many stacks. So both are done in a thread of their
 * own, on a copy that no other thread uses. The live profile only gets the message.
 */
#include "tui/export/writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/thread.h"
#include "tui/export/export.h"
#include "tui/profile/board.h"
#include "tui/util/outfile.h"
#include "tui/profile/profile.h"
#include "tui/query/query.h"

struct writer {
	pthread_t thread;
	atomic_bool done;
	const struct export_format *format;
	struct profile *copy, *messages;
	const struct theme *theme;
	struct query query;
	char path[];
};

static int write_file(struct writer *w)
{
	struct exporter *exporter = NULL;
	struct outfile *file;
	int err = outfile_new(w->path, &file);

	if (err)
		return err;
	err = export_new(w->format->format, outfile_stream(file), w->theme, &exporter);
	if (!err)
		err = export_add(exporter, w->copy, &w->query);
	if (!err)
		err = export_finish(exporter);
	export_free(exporter);
	if (!err)
		return outfile_commit(file);
	outfile_abandon(file);
	return err;
}

static void *run(void *arg)
{
	struct writer *w = arg;
	char text[512];
	int err = write_file(w);

	if (err)
		outfile_error(w->path, err, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "saved to %s", w->path);
	board_message(profile_board(w->messages), err ? MESSAGE_ERROR : MESSAGE_INFO, "%s", text);
	w->done = true;
	return NULL;
}

int writer_start(struct writer **out, const char *path, struct profile *copy, const struct query *q,
		 const struct theme *theme, struct profile *messages)
{
	const struct export_format *format = export_by_file(path);
	struct writer *w;
	int err;

	*out = NULL;
	if (!format)
		return -EINVAL;
	w = calloc(1, sizeof(*w) + strlen(path) + 1);
	if (!w)
		return -ENOMEM;
	memcpy(w->path, path, strlen(path) + 1);
	w->format = format;
	w->copy = copy;
	w->messages = messages;
	w->theme = theme;
	w->query = *q;
	err = thread_start(&w->thread, run, w);
	if (err)
		free(w);
	else
		*out = w;
	return err;
}

bool writer_done(struct writer *writer)
{
	return writer->done;
}

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	pthread_join(writer->thread, NULL);
	profile_free(writer->copy);
	free(writer);
}
