/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_FEEDER_H
#define STACKTOP_TUI_SESSION_FEEDER_H

/*
 * Feeds slices of a session to a profile, one after another or by a jump. The profile is locked
 * while it is fed; no file is read meanwhile.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the profile, for functions, stacks and processes; a larger session is fed up to there. */
#define FEEDER_NAMES_MAX ((size_t)512 << 20)

struct feeder;
struct profile;
struct session;

/* Both outlive the feeder. -ENOMEM. */
int feeder_new(struct profile *p, struct session *s, struct feeder **out);
/* The profile forgets what only the feeder held. f may be NULL. */
void feeder_free(struct feeder *f);

/* Gives the profile the build-ids of the session's modules, for one who feeds nothing else. */
void feeder_modules(struct feeder *f);
/*
 * Feeds slice n, the successor of the last one; quiet: without its messages. -errno of
 * session_read, -ENOMEM.
 */
int feeder_slice(struct feeder *f, uint32_t n, bool quiet);
/*
 * Brings the profile to where slice `next` comes next: as if all from `first` on had been fed, of
 * which it has those before `from`. Errors as above.
 */
int feeder_go(struct feeder *f, uint32_t first, uint32_t from, uint32_t next);
/*
 * Makes the whole session the profile's baseline (frozen_sum_recorded). As above, or -EFBIG: it
 * has too many different samples; -ECANCELED: *stop became true.
 */
int feeder_baseline(struct feeder *f, const atomic_bool *stop);
/* Puts stacks into the profile ahead of time: a jump has less to do then. False: all are there. */
bool feeder_warm(struct feeder *f);

#endif
