/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_QUERY_PROFILE_COPY_H
#define STACKTOP_TUI_QUERY_PROFILE_COPY_H

/*
 * A copy of what is on the screen as a profile of its own, to be written to a file while sampling
 * goes on.
 */

#include "tui/query/query.h"

/*
 * Copies the cells of the query into a profile of one slice, which has ids of its own. The caller
 * holds p's lock and frees *out by profile_free. -ENOMEM.
 */
int profile_copy_new(struct profile **out, const struct profile *p, const struct query *query);

#endif
