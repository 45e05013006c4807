/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds inlined calls to stacks when they become known. A stack keeps its id and gets more frames,
 * so all its samples, in slices and sums, change at once, and none is counted in both ways. Two
 * stacks that differed only in what they waited for may be equal then. Queries add up functions and
 * paths, so no answer depends on it.
 */
#include "tui/profile/profile_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 4096u /* of a stack with its inlined calls */

struct longer { /* the new frames of a stack */
	uint32_t frames[FRAMES_MAX];
	uint32_t sites[FRAMES_MAX];
	uint32_t count;
	bool waits;
};

static void longer_add(struct longer *l, uint32_t func, uint32_t site)
{
	l->frames[l->count] = func;
	l->sites[l->count++] = site;
	l->waits |= site != 0;
}

/* 1: something was known, 0: all of it still waits, or -ENOMEM. */
static int expand(const struct profile *p, const struct stack_entry *entry, profile_site_fn known,
		  void *arg, struct longer *l)
{
	const struct profile_stack *stack = &entry->stack;
	uint32_t inlined[PROFILE_INLINED_MAX];
	int any = 0;

	l->count = 0;
	l->waits = false;
	for (uint32_t i = 0; i < stack->nframes; i++) {
		uint32_t site = stack->sites[i];
		uint32_t outer = stack->frames[i];
		const struct profile_func *func = &func_at(p, outer)->func;
		int n = site ? known(site, func->name, func->module, &outer, inlined, arg)
			     : PROFILE_SITE_WAITS;

		if (n < 0 && n != PROFILE_SITE_WAITS)
			return n;
		longer_add(l, outer, n == PROFILE_SITE_WAITS ? site : 0);
		any |= n != PROFILE_SITE_WAITS;
		/* Leaves room for all frames that follow. */
		for (int k = 0; k < n && l->count + stack->nframes - i < FRAMES_MAX; k++)
			longer_add(l, inlined[k], 0);
	}
	return any;
}

static int settle(struct profile *p, uint32_t id, profile_site_fn known, void *arg,
		  struct longer *l)
{
	struct stack_entry *entry = stack_at(p, id);
	uint32_t *frames, *sites = NULL;
	int err = expand(p, entry, known, arg, l);

	if (err <= 0)
		return err;
	frames = malloc(l->count * sizeof(*frames));
	if (frames && l->waits)
		sites = malloc(l->count * sizeof(*sites));
	if (!frames || (l->waits && !sites)) {
		free(frames);
		return -ENOMEM;
	}
	memcpy(frames, l->frames, l->count * sizeof(*frames));
	if (sites)
		memcpy(sites, l->sites, l->count * sizeof(*sites));
	if (entry->entry.held)
		history_unhold_frames(p, id);
	p->bound_bytes -= stack_bytes(entry);
	for (uint32_t i = 0; i < l->count; i++)
		pool_get(&p->funcs, frames[i]);
	for (uint32_t i = 0; i < entry->stack.nframes; i++)
		pool_put(&p->funcs, entry->stack.frames[i]);
	free((void *)entry->stack.frames);
	free((void *)entry->stack.sites);
	entry->stack.frames = frames;
	entry->stack.sites = sites;
	entry->stack.nframes = l->count;
	entry->stack.language = profile_stack_language(p, &entry->stack);
	p->bound_bytes += stack_bytes(entry);
	if (entry->entry.held)
		history_hold_frames(p, id);
	p->nwaiting -= !sites;
	idtable_remove(&p->stacks.index, entry->hash, id);
	entry->hash = profile_stack_hash(&entry->stack);
	idtable_add(&p->stacks.index, entry->hash, id);
	return 0;
}

int profile_settle(struct profile *p, profile_site_fn known, void *arg)
{
	struct longer *l;
	int err = 0;

	if (!p->nwaiting)
		return 0;
	l = malloc(sizeof(*l));
	if (!l)
		return -ENOMEM;
	for (uint32_t id = 0; id < p->stacks.count && !err; id++)
		if (stack_at(p, id)->entry.live && stack_at(p, id)->stack.sites)
			err = settle(p, id, known, arg, l);
	free(l);
	return err;
}
