/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_FUZZ_SESSION_CHECKS_H
#define STACKTOP_TESTS_FUZZ_SESSION_CHECKS_H

/* Conditions on the names of a session, wherever its bytes come from. */

#include "tests/fuzz/fuzz.h"
#include "tui/session/session_names.h"

static inline void check_text(const char *text)
{
	for (; *text; text++)
		require((unsigned char)*text >= 0x20 && *text != 0x7f);
}

/* Names can be shown, and each frame has one. */
static inline void check_stacks(const struct session_names *names)
{
	for (uint32_t i = 0; i < session_names_counts(names).funcs; i++) {
		check_text(session_names_func(names, i).name);
		check_text(session_names_func(names, i).module);
	}
	for (uint32_t i = 0; i < session_names_counts(names).stacks; i++) {
		struct profile_stack stack = session_names_stack(names, i);

		for (uint32_t k = 0; k < stack.nframes; k++)
			require(stack.frames[k] < session_names_counts(names).funcs);
	}
}

#endif
