// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/steps.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t steps, limit; /* 0: none */

void __sanitizer_cov_trace_pc(void)
{
	if (++steps != limit)
		return;
	limit = 0;
	fail_msg("more than %" PRIu64 " steps", steps - 1);
}

uint64_t steps_of(void (*run)(void *arg), void *arg, uint64_t most)
{
	steps = 0;
	limit = most + 1;
	run(arg);
	limit = 0;
	return steps;
}
