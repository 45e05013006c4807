/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_FROZEN_SUM_H
#define STACKTOP_TUI_PROFILE_FROZEN_SUM_H

/*
 * Sums that stay as they are until they are dropped: what a frozen view shows, and what is compared
 * with it. They hold references of their own, so that they outlive their slices and a zero of the
 * counts. The lock is held.
 */

#include "tui/profile/profile.h"

enum frozen_kind {
	FROZEN_MOMENT,	 /* what a frozen view shows ... */
	FROZEN_BEFORE,	 /* ... and the time before that */
	FROZEN_BASELINE, /* what is compared with */
	FROZEN_COUNT,
};

/*
 * Freezes the sum of the slices from first to last, or of a span as it is now, in place of the sum
 * of that kind. -ENOMEM leaves that as it was, as does -ENOENT: none of the slices is there.
 */
int frozen_sum_slices(struct profile *p, enum frozen_kind kind, uint64_t first, uint64_t last);
int frozen_sum_span(struct profile *p, enum frozen_kind kind, enum span span);
/*
 * The baseline is what was recorded at another time. Processes have PROFILE_RECORDED in their image
 * until frozen_sum_match finds those of now that do the same. It is called again and again, since
 * there may be new ones. -ENOMEM.
 */
int frozen_sum_recorded(struct profile *p, const struct profile_cell *cells, size_t ncells,
			const struct profile_health *health);
int frozen_sum_match(struct profile *p);
void frozen_sum_drop(struct profile *p, enum frozen_kind kind);
bool frozen_sum_taken(const struct profile *p, enum frozen_kind kind);

#endif
