/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_REASONS_H
#define STACKTOP_TUI_PROFILE_REASONS_H

/*
 * In words: why a stack is not complete, and why a sample is not shown. Header, reports and the
 * Unwind view take them from here, so that a cause has one name and one remedy everywhere.
 */

#include "tui/profile/profile.h"
#include "unwind/reason.h"

struct cause {
	const char *name;
	const char *meaning; /* what has happened */
	const char *remedy;  /* what helps; "" nothing has to */
};

/* How a walk ended; "?" for what is no reason. Static. */
const struct cause *reasons_end(unsigned int reason);
/* By the name of a FUNC_END, also those that are no walk's; "?" for an unknown one. Static. */
const struct cause *reasons_find(const char *name);

/* The enum walk_reason of that name; WALK_CONTINUE, 0: it is none. */
unsigned int reasons_reason(const char *name);

/* A stack whose frames did not arrive, and one whose frames were given up. */
#define CAUSE_STACK_LOST "stack lost"
#define CAUSE_FOLDED	 "folded away"
#define CAUSE_EARLY	 "it waited before"
#define CAUSE_NOT_TAKEN	 "stack not taken"

const struct cause *reasons_loss(enum loss loss);
/* As a report's sentence has it: "9 samples (5 the count map was full)". NULL: it tells of this
 * loss elsewhere. */
const char *reasons_reported(enum loss loss);

#endif
