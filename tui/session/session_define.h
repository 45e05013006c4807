/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_SESSION_DEFINE_H
#define STACKTOP_TUI_SESSION_SESSION_DEFINE_H

/*
 * The definitions of a session (docs/SESSION.md) while it is written: gives ids of the file for
 * those of the profile, and collects the records of what the file does not have yet.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct session_definer;

/* NULL: no memory. */
struct session_definer *session_definer_new(void);
/* NULL is fine. */
void session_definer_free(struct session_definer *d);
/* CLOCK_MONOTONIC ns of the session's zero. */
void session_definer_start(struct session_definer *d, uint64_t start);

/* Ids in the file, of stacks one more, and 0 for none. The profile's lock is held. -ENOMEM, or
 * -EINVAL for what is not in the profile. */
int64_t session_definer_proc(struct session_definer *d, const struct profile *p, uint32_t proc);
int64_t session_definer_stack(struct session_definer *d, const struct profile *p, uint32_t stack);
/* The thread's name, where it is another than its process's, which is defined. -ENOMEM. */
int session_definer_thread(struct session_definer *d, const struct profile *p, uint32_t proc,
			   uint32_t tid);
/* What else changed of all that was defined, and what the profile has of the shards. -ENOMEM. */
int session_definer_update(struct session_definer *d, const struct profile *p);
/* There is none of late of the shards: CLOCK_MONOTONIC ns. */
bool session_definer_wants_inventory(const struct session_definer *d, uint64_t now);

/*
 * The records collected, in the parts that become a chunk each: *at is where to go on, from 0. Good
 * until the next call but these. NULL: no more.
 */
const uint8_t *session_definer_part(const struct session_definer *d, size_t *at, size_t *size);
/* -ENOMEM; -EFBIG: more than any session needs at once. */
int session_definer_error(const struct session_definer *d);
/* They are written. */
void session_definer_clear(struct session_definer *d);

#endif
