// SPDX-License-Identifier: GPL-2.0-or-later
/* For callers that keep ids from slice to slice: an id may have been given to another entry. */
#include "tui/profile/profile_priv.h"
#include "tui/query/query.h"

uint64_t query_func_serial(const struct profile *p, uint32_t func)
{
	return pool_has(&p->funcs, func) ? pool_entry(&p->funcs, func)->serial : 0;
}

uint64_t query_stack_serial(const struct profile *p, uint32_t stack)
{
	return pool_has(&p->stacks, stack) ? pool_entry(&p->stacks, stack)->serial : 0;
}
