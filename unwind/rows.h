/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_ROWS_H
#define STACKTOP_UNWIND_ROWS_H

/*
 * Rows that were found in files' text, each with the addresses in its granule for which it is in
 * force. A row is kept in the place that the hash of its address and of the list's version gives,
 * and counts for that version only. A part of unwind/step.h, which describes the seam.
 */

#include "unwind/walk.h"

/* Where a row for the address is kept, below 1 << ROWS_SHIFT. */
static __always_inline __u32 rows_place(__u64 addr, __u32 version)
{
	return ((addr >> ROWS_BLOCK) ^ (__u64)version << 40) * 0x9e3779b97f4a7c15ull >>
	       (64 - ROWS_SHIFT);
}

/* The rule in force at the address, if this row has it, with what belongs to it; else 0. */
static __always_inline __u32 row_recall(struct walk *w, const struct found_row *row, __u64 addr,
					__u32 version)
{
	if (row->version != version || addr - row->start >= row->size)
		return 0;
	if (row->map_at != w->trail_map) {
		if (!STEP_BELIEVE(w, row->map_at))
			return 0;
		w->trail_map = row->map_at;
	}
	w->to_frame = row->to_frame;
	w->kept_at = row->map_at;
	w->again++;
	return row->rule;
}

/* Keeps the rule that was found for the address looked up last. */
static __always_inline void row_keep(const struct walk *w, struct found_row *row, __u32 rule,
				     __u32 version)
{
	__u64 end = w->row_end;

	if (end > w->map.end)
		end = w->map.end;
	row->start = w->looked_at;
	row->to_frame = w->to_frame;
	row->size = end - row->start;
	row->version = version;
	row->rule = rule;
	row->map_at = w->kept_at;
}

#endif
