/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_DEEP_H
#define STACKTOP_TESTS_SUPPORT_DEEP_H

/* More paths than a profile keeps, for tests that include cmocka first. */

#include "tests/support/feed.h"
#include "tui/profile/profile.h"

/*
 * Cells of n stacks of so many functions, of which only the outermost differ: f1000 and so on.
 * Counts are 1 to n, each once: of stack i 1 + i * 7919 % n.
 */
void feed_deep(struct profile *p, uint32_t n, uint32_t deep);

#endif
