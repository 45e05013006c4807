/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_TREES_H
#define STACKTOP_TESTS_SUPPORT_TREES_H

/* Whole trees; see query_rows. */

#include "tui/query/query.h"

static inline int query_tree(const struct profile *p, const struct query *q, struct tree *out)
{
	uint32_t hottest;

	return query_rows(p, q, false, 0, out, &hottest);
}

static inline int query_callers(const struct profile *p, const struct query *q, struct tree *out)
{
	uint32_t hottest;

	return query_rows(p, q, true, 0, out, &hottest);
}

#endif
