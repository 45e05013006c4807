/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_BATCH_H
#define STACKTOP_TUI_BATCH_H

/*
 * Reports of the last slice without a screen, for people (text) and for programs (folded). Both
 * take the lock while they read the profile and write only after they gave it back, so a slow or
 * closed pipe never holds up the collection. What they write has no control characters but
 * newlines, whatever the names contain.
 *
 * All return 0, -ENOMEM, or the -errno of the write. A reader that went away is -EPIPE, provided
 * that SIGPIPE is ignored; the caller then ends quietly.
 */

#include <stdint.h>
#include <stdio.h>

struct options;
struct profile;

/* A report of the last slice as options->format, no_kernel and no_user say. */
int batch_report(FILE *to, struct profile *profile, const struct options *options);

/*
 * Messages of the profile since *serial, one a line, as `stacktop: warning: ...`. *serial starts
 * at 0 and is moved on.
 */
int batch_messages(FILE *to, struct profile *profile, uint64_t *serial);

/* What batch_report calls, and other writers may. */
int batch_text(FILE *to, struct profile *profile, const struct options *options);
/*
 * `comm;outermost;...;leaf COUNT` a line, the most frequent first. Kernel frames end in `_[k]`; a
 * stack that broke begins below comm with `[reason]`. `;` in a name becomes `:`.
 */
int batch_folded(FILE *to, struct profile *profile, const struct options *options);

#endif
