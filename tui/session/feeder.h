/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_FEEDER_H
#define STACKTOP_TUI_SESSION_FEEDER_H

/*
 * Slices of a session into a profile, one after another or by a jump. The profile is locked while
 * it is fed; no file is read meanwhile.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the profile, for functions, stacks and processes; a session that has more goes up to there. */
#define FEEDER_NAMES_MAX ((size_t)512 << 20)

struct feeder;
struct profile;
struct session;

/* Both outlive the feeder. -ENOMEM. */
int feeder_new(struct profile *p, struct session *s, struct feeder **out);
/* The profile forgets what only the feeder held. NULL is fine. */
void feeder_free(struct feeder *f);

/* Gives the profile the build-ids of the session's modules: for one that has nothing else. */
void feeder_modules(struct feeder *f);
/* Feeds slice n, which follows on the last; quiet: without its messages. -errno of session_read,
 * -ENOMEM. */
int feeder_slice(struct feeder *f, uint32_t n, bool quiet);
/*
 * Brings the profile to where slice `next` is the one to come: as if all from `first` on had been
 * fed, of which it has those before `from`. Errors as above.
 */
int feeder_go(struct feeder *f, uint32_t first, uint32_t from, uint32_t next);
/* Makes all of the session the profile's baseline (frozen_sum_recorded). As above, or -EFBIG: it
 * has too many different samples; -ECANCELED: *stop became true. */
int feeder_baseline(struct feeder *f, const atomic_bool *stop);
/* Puts stacks into the profile while there is nothing else to do: a jump has less to make then.
 * False: all are there. */
bool feeder_warm(struct feeder *f);

#endif
