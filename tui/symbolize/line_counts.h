/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_LINE_COUNTS_H
#define STACKTOP_TUI_SYMBOLIZE_LINE_COUNTS_H

/* Turns the addresses of a stack into source lines of its functions, for profile_line. */

#include <stdint.h>

struct profile;
struct inline_cache;

/*
 * Counts so many samples of a profile's stack for the lines of its frames. of: the site, or 0, of
 * each of the n addresses that it was made from, outermost first. Lines that are not known yet are
 * not counted. The profile's lock is held. -ENOMEM; -EINVAL: no such stack.
 */
int line_counts_add(struct profile *p, const struct inline_cache *sites, uint32_t stack,
		    const uint32_t *of, uint32_t n, uint64_t count);

#endif
