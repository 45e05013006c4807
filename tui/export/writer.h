/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_EXPORT_WRITER_H
#define STACKTOP_TUI_EXPORT_WRITER_H

/* Samples written to a file while the screen goes on: the live view's `w`. */

#include <stdbool.h>

struct profile;
struct query;
struct theme;
struct writer;

/*
 * Begins to write what the query asks of the copy, which belongs to the writer from then on (to the
 * caller after an error), to a new file in the format that its name ends in. What came of it
 * becomes a message of `messages`. theme and messages outlive the writer. -EINVAL: the name ends in
 * no format; -ENOMEM, or what pthread_create says.
 */
int writer_start(struct writer **out, const char *path, struct profile *copy, const struct query *q,
		 const struct theme *theme, struct profile *messages);
bool writer_done(struct writer *writer);
/* Waits until it is done. NULL is fine. */
void writer_free(struct writer *writer);

#endif
