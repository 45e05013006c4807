/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_QUERY_PROFILE_COPY_H
#define STACKTOP_TUI_QUERY_PROFILE_COPY_H

/*
 * A copy of what is on the screen as a profile of its own, for who writes it to a file while
 * sampling goes on in the original.
 */

#include "tui/query/query.h"

/*
 * Copies the cells that the query asks for into a profile of one slice; the caller holds p's lock
 * and frees *out by profile_free. Ids of the copy are its own: whom and what the query chooses is
 * chosen here, and means nothing there. -ENOMEM.
 */
int profile_copy_new(struct profile **out, const struct profile *p, const struct query *query);

#endif
