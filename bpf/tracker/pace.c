// SPDX-License-Identifier: GPL-2.0-or-later
/* Each reading is worth so much time; PACE_AT_ONCE of them may be had in advance. See pace.h. */
#include "bpf/tracker/pace.h"

uint64_t pace_wait(struct pace *pace, uint64_t each, bool has_read, uint64_t now)
{
	const uint64_t advance = now + (PACE_AT_ONCE - 1) * each;

	if (has_read) {
		if (pace->until < now)
			pace->until = now;
		pace->until += each;
	}
	if (pace->until > advance + each)
		pace->until = advance + each;
	return pace->until > advance ? pace->until - advance : 0;
}
