/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_EXPORT_WRITER_H
#define STACKTOP_TUI_EXPORT_WRITER_H

/* Writes samples to a file while the screen goes on: the live view's `w`. */

#include <stdbool.h>

struct profile;
struct query;
struct theme;
struct writer;

/*
 * Begins to write what the query asks of the copy to a new file, in the format of its suffix. The
 * writer then owns the copy (on an error the caller does). The outcome becomes a message of
 * `messages`. theme and messages must outlive the writer. -EINVAL: the name has no format's suffix;
 * -ENOMEM, or what pthread_create says.
 */
int writer_start(struct writer **out, const char *path, struct profile *copy, const struct query *q,
		 const struct theme *theme, struct profile *messages);
bool writer_done(struct writer *writer);
/* Waits until it is done. writer may be NULL. */
void writer_free(struct writer *writer);

#endif
