// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/deep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

void feed_deep(struct profile *p, uint32_t n, uint32_t deep)
{
	struct profile_cell *cells = calloc(n, sizeof(*cells));
	uint32_t *frames = calloc(deep, sizeof(*frames));
	uint32_t proc = feed_proc(p, 1, 1, "a", false);

	for (uint32_t i = 0; i < n; i++) {
		char name[16];

		for (uint32_t k = 0; k < deep; k++) {
			snprintf(name, sizeof(name), "f%u", k ? k : 1000 + i);
			frames[k] = feed_func(p, FUNC_USER, name);
		}
		cells[i] = (struct profile_cell){proc,
						 0,
						 feed_stack(p, false, true, frames, deep),
						 PROFILE_NO_STACK,
						 1 + (i * 7919) % n,
						 0,
						 0};
	}
	assert_int_equal(feed_commit(p, cells, n), 0);
	for (uint32_t i = 0; i < n; i++)
		profile_stack_put(p, cells[i].ustack);
	free(frames);
	free(cells);
}
