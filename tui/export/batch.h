/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_EXPORT_BATCH_H
#define STACKTOP_TUI_EXPORT_BATCH_H

/*
 * Reports without a screen, for people (text) and for programs (folded). Both take the lock while
 * they read the profile and write only after they released it, so a slow or closed pipe never holds
 * up the collection. The output has no control characters but newlines, whatever the names contain.
 *
 * Those with a result return 0, -ENOMEM, or the -errno of the write. If the reader has gone it is
 * -EPIPE, provided that SIGPIPE is ignored; the caller then ends quietly.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tui/profile/profile.h"
#include "tui/query/query.h"

/*
 * Messages of the profile since *serial, one a line, as `stacktop: warning: ...`. *serial is 0 at
 * first and moves on.
 */
int batch_messages(FILE *to, struct profile *profile, uint64_t *serial);

/* What was sampled, and since when, in ns from the start of the recording. */
struct batch_event {
	char name[sizeof(((struct profile_health *)NULL)->event)];
	uint64_t from; /* 0: its start */
	uint64_t position;
};

/*
 * For callers that make one report of all slices, after each slice: warns if it is the first of
 * another event, since that report then starts over. path: of the session; *event is zeroed at
 * first.
 */
void batch_event(FILE *to, const char *path, struct profile *profile, struct batch_event *event);

/* A report of the samples that the query asks for. */
int batch_text(FILE *to, struct profile *profile, const struct query *q);
/*
 * `comm;outermost;...;leaf COUNT` a line, the most frequent first. Kernel frames end in `_[k]`; an
 * incomplete stack begins below comm with `[reason]`. `;` in a name becomes `:`.
 */
int batch_folded(FILE *to, struct profile *profile, const struct query *q);

#endif
