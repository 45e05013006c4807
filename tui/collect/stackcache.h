/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_STACKCACHE_H
#define STACKTOP_TUI_COLLECT_STACKCACHE_H

/*
 * Stacks from the kernel, by hash, and the profile stacks made from them. A hash means the same
 * stack of the same code wherever it is counted, so it is named once. A stack is sent once, so it
 * is kept for as long as the kernel may count it; what was not counted for a while is forgotten on
 * both sides. Used by one thread, without the profile's lock.
 */

#include <stdbool.h>
#include <stdint.h>

struct language_stack;
struct profile;
struct resolver;
struct sampler;
struct stack_record;
struct stackcache;

/* Nothing is owned. -ENOMEM. */
int stackcache_new(struct profile *profile, struct sampler *sampler, struct resolver *resolver,
		   struct stackcache **out);
void stackcache_free(struct stackcache *c);

/* Keeps a copy of the record. -ENOMEM: it has to be sent again. */
int stackcache_add(struct stackcache *c, const struct stack_record *rec);

/* Keeps frames of a language (STACK_LANGUAGE), to be joined with the stack of the same hash, or a
 * function of it (STACK_METHOD). */
void stackcache_language(struct stackcache *c, const struct stack_record *rec);

/* The frames of a language in the stack of that hash; NULL: none. Valid until the next
 * stackcache_age. */
const struct language_stack *stackcache_language_of(const struct stackcache *c, uint64_t hash);

/*
 * Profile id of the user or kernel stack with that hash. *lost: its record is missing, and the
 * stack only says so. Valid until the next stackcache_age and the next commit. -ENOMEM.
 */
int64_t stackcache_stack(struct stackcache *c, uint64_t hash, bool kernel, bool *lost);

/*
 * Counts so many samples of a user stack in the slice, for its functions' source lines. The
 * profile's lock is held. -ENOMEM.
 */
int stackcache_count_lines(const struct stackcache *c, uint64_t hash, uint64_t count);

/* A stack that was counted lately: its profile id, its record, and as in resolver_places. */
struct stackcache_stack {
	uint32_t id;
	const struct stack_record *rec;
	const uint32_t *places;
	uint32_t nplaces;
	uint32_t languages; /* of which it has frames: 1 << enum func_kind */
};
/* False: it is forgotten. Valid until the next stackcache_age and the next commit. */
bool stackcache_peek(const struct stackcache *c, uint64_t hash, struct stackcache_stack *stack);

/* After a slice. now: CLOCK_MONOTONIC ns. */
void stackcache_age(struct stackcache *c, uint64_t now);

#endif
