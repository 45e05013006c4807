// SPDX-License-Identifier: GPL-2.0-or-later
/* See pace.h. Each reading uses up `each` ns; PACE_AT_ONCE readings may be used in advance. */
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
