/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_RECORDING_H
#define STACKTOP_TUI_SESSION_RECORDING_H

/*
 * Writes the slices that a profile keeps to a session, and goes on with each new one if that is
 * wanted. A thread does it; the outcome becomes a message of the profile.
 */

#include <stdbool.h>
#include <stdint.h>

struct profile;
struct recording;
struct source;

/*
 * Slices first..last; 0: from the first one that is kept, up to the newest. goes_on: until
 * recording_stop, and the file grows under its name; else it is there when it is complete. In both
 * cases it must not exist. The profile and its source, which is signalled then (NULL: none), must
 * outlive the recording. At most one that goes on at a time. -ENOMEM, or what pthread_create says.
 */
int recording_start(struct recording **out, struct profile *p, struct source *source,
		    const char *path, uint64_t first, uint64_t last, bool goes_on);
/* Ends one that goes on, with the newest slice. Never blocks. */
void recording_stop(struct recording *r);
bool recording_done(const struct recording *r);
const char *recording_path(const struct recording *r);
/* Stops, and waits until it is done. r may be NULL. */
void recording_free(struct recording *r);

#endif
