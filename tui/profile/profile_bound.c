/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keeps stacks and names bounded in bytes. Cells are bounded by number, but a stack may have a
 * thousand frames and each of them a name of a kilobyte, if a process chooses so: 50,000 of them
 * are gigabytes. Above three quarters of the limit history goes, then stacks of the totals, the
 * rarest half of those that are not hot at a time (profile_fold.c). What is recent is on the screen
 * and stays, so at the limit new stacks are not kept: their samples count as folded away. No sample
 * is lost.
 */
#include "tui/profile/profile_priv.h"

void profile_bound(struct profile *p, uint64_t bytes)
{
	p->bound_max = bytes;
}

static bool is_near(const struct profile *p)
{
	return p->bound_bytes > p->bound_max / 4 * 3;
}

/* False: it was not worth it. Others may hold the stacks, too, those that were named last. */
static bool fold(struct profile *p)
{
	const uint64_t before = p->bound_bytes;

	if (!profile_fold_half(p))
		return false;
	profile_sweep(p);
	return before - p->bound_bytes >= p->bound_max / 256;
}

void bound_keep(struct profile *p)
{
	while (is_near(p) && p->nslices > p->nrecent) {
		history_drop_oldest(p);
		profile_sweep(p);
	}
	while (is_near(p) && fold(p))
		;
}
