/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits the memory of stacks and names. The number of cells is limited, but a hostile process can
 * have stacks of a thousand frames with names of a kilobyte each: 50,000 of these are gigabytes.
 * Above three quarters of the limit history is dropped, then stacks of the totals, each time the
 * rarest half of those that are not hot (profile_fold.c). What is recent is on the screen and
 * stays, so at the limit new stacks are not kept: their samples count as folded away. No sample is
 * lost.
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

/* False: it freed too little, since slices or the feeder may hold the stacks, too. */
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
