/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SNAPSHOT_H
#define STACKTOP_TUI_SNAPSHOT_H

/*
 * A copy of what is on the screen as a profile of its own, so that a frozen view can still be
 * zoomed, opened and searched while sampling goes on in the original.
 */

#include "tui/query.h"

/*
 * Copies the cells of the weighing into a profile of one slice; the caller holds p's lock and
 * frees *out by profile_free. -ENOMEM.
 */
int snapshot_take(struct profile **out, const struct profile *p, enum weigh weigh);

#endif
