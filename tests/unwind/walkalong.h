/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_UNWIND_WALKALONG_H
#define STACKTOP_TESTS_UNWIND_WALKALONG_H

/* A walk by the frames of its thread's trail, as bpf/prog/walker.bpf.h does it. */

#include "tests/unwind/stepfake.h"

/* trail: NULL, or begun. *again grows by the frames from the trail. Returns the reason of its end.
 */
static int walk_along(struct walk *w, struct trail *trail, unsigned int *again)
{
	int reason = WALK_CONTINUE;

	for (unsigned int i = 0; i <= WALK_FRAMES_MAX && reason == WALK_CONTINUE; i++) {
		const uint32_t before = w->nframes;

		if (trail && trail_meet(w, trail)) {
			walk_trail(w, trail);
			*again += w->nframes - before;
			if (w->nframes > before)
				continue;
		}
		reason = walk_step(w);
	}
	if (trail)
		trail_finish(w, trail);
	return reason;
}

#endif
