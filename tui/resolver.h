/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_RESOLVER_H
#define STACKTOP_TUI_RESOLVER_H

/*
 * From the addresses of a stack to the functions of the profile. Symbol tables are read when a
 * stack first needs them and thrown away again when they become too many. Used by one thread, which
 * does not hold the profile's lock: names are looked up without it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ksyms;
struct profile;
struct resolver;
struct stack_record;
struct tracker;

/* Nothing is owned; all must outlive the resolver. -ENOMEM. */
int resolver_new(struct profile *profile, struct tracker *tracker, struct ksyms *ksyms,
		 struct resolver **out);
void resolver_free(struct resolver *r);

/*
 * The stack of a record as a profile stack, with a reference that the caller gives back. *vague
 * (may be NULL): some address lay in no mapping that the tracker knows yet, so that it is worth
 * trying again later. -ENOMEM.
 */
int64_t resolver_user(struct resolver *r, pid_t pid, uint64_t image, const struct stack_record *rec,
		      bool *vague);
int64_t resolver_kernel(struct resolver *r, const struct stack_record *rec);
/* A stack whose frames did not arrive, with a reference as above. */
int64_t resolver_lost(struct resolver *r, bool kernel);

/* Between two slices: drops the symbol tables that were not used for longest when they are many. */
void resolver_trim(struct resolver *r);

#endif
