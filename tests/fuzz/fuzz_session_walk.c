// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz: -max_len=8192 */
/*
 * Bytes as a session's record of a captured walk, described in the inspector's words.
 * Covers: tui/session/session_states.c tui/views/inspector.c
 */
#include "tests/fuzz/fuzz.h"

#include "bpf/report/trace.h"
#include "tui/util/bytes.h"
#include "tui/profile/inspection.h"
#include "tui/views/inspector.h"
#include "tui/session/session_states.h"

static int take_input(const uint8_t *data, size_t size)
{
	static char lines[INSPECTOR_LINES][INSPECTOR_WIDTH];
	uint8_t *copy = fuzz_copy(data, size);
	struct cursor c = {.at = copy, .end = copy + size};
	struct inspection *i = NULL;
	int err = session_walk_take(&c, &i);
	char why[512];
	uint32_t first;

	free(copy);
	require(err ? !i : i != NULL);
	if (!i)
		return 0;
	for (uint32_t n = 0; n < i->trace->nsteps; n++)
		require(inspector_words(i, n, lines) <= INSPECTOR_LINES);
	inspection_compare(i, &first, why, sizeof(why));
	require(first <= i->trace->nsteps);
	inspection_put(i);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 18, 1024)
