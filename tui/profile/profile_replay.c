// SPDX-License-Identifier: GPL-2.0-or-later
/* The position in a recording, passed from the player to the screen. */
#include "tui/profile/profile_priv.h"

void profile_set_replay(struct profile *p, const struct profile_replay *replay)
{
	p->replay = *replay;
	p->replayed = true;
}

const struct profile_replay *profile_replay(const struct profile *p)
{
	return p->replayed ? &p->replay : NULL;
}

void profile_rewind(struct profile *p)
{
	profile_zero(p);
	p->ntimeline = 0;
}

uint32_t profile_nprocs(const struct profile *p)
{
	return p->procs.live;
}
