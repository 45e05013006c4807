/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_SESSION_DEFINE_H
#define STACKTOP_TUI_SESSION_SESSION_DEFINE_H

/*
 * The definitions of a session (docs/SESSION.md) while it is written: maps ids of the profile to
 * ids of the file, and collects the records that the file lacks.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct session_definer;

/* NULL: no memory. */
struct session_definer *session_definer_new(void);
/* d may be NULL. */
void session_definer_free(struct session_definer *d);
/* CLOCK_MONOTONIC ns of the session's time 0. */
void session_definer_start(struct session_definer *d, uint64_t start);
/*
 * The next slice ended at that time (ns, likewise) and is noted late: processes that have exited
 * since were running. states: inventory and walk, which are those of now, belong to it.
 */
void session_definer_past(struct session_definer *d, uint64_t time, bool states);

/*
 * Ids in the file; stacks have one more, and 0 means none. The profile's lock is held. -ENOMEM;
 * -EINVAL: it is not in the profile.
 */
int64_t session_definer_proc(struct session_definer *d, const struct profile *p, uint32_t proc);
int64_t session_definer_stack(struct session_definer *d, const struct profile *p, uint32_t stack);
/* The thread's name, if it differs from that of its process, which must be defined. -ENOMEM. */
int session_definer_thread(struct session_definer *d, const struct profile *p, uint32_t proc,
			   uint32_t tid);
/* All other changes of what was defined, and the profile's inventory of the shards. -ENOMEM. */
int session_definer_update(struct session_definer *d, const struct profile *p);
/* True if there is no recent inventory of the shards; CLOCK_MONOTONIC ns. */
bool session_definer_wants_inventory(const struct session_definer *d, uint64_t now);

/*
 * The collected records, in parts that become a chunk each: *at is the position, from 0. Valid
 * until the next call of another function. NULL: no more.
 */
const uint8_t *session_definer_part(const struct session_definer *d, size_t *at, size_t *size);
/* -ENOMEM; -EFBIG: more than any session needs at once. */
int session_definer_error(const struct session_definer *d);
/* The records were written. */
void session_definer_clear(struct session_definer *d);

#endif
