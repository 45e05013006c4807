// SPDX-License-Identifier: GPL-2.0-or-later
/* Each reading is worth PACE_NS of time; PACE_AT_ONCE of them may be had in advance. See pace.h. */
#include "bpf/pace.h"

#define ADVANCE_NS ((PACE_AT_ONCE - 1) * PACE_NS)

uint64_t pace_wait(struct pace *pace, bool has_read, uint64_t now)
{
	if (has_read) {
		if (pace->until < now)
			pace->until = now;
		pace->until += PACE_NS;
	}
	return pace->until > now + ADVANCE_NS ? pace->until - now - ADVANCE_NS : 0;
}
