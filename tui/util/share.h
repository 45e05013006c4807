/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_SHARE_H
#define STACKTOP_TUI_UTIL_SHARE_H

#include <stdint.h>

/* A share of fewer samples says little: it is grey on the screen. */
#define SHARE_FEW 20

/* A part of a whole, 0..1; 0 of nothing. */
static inline double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static inline double percent_of(uint64_t part, uint64_t whole)
{
	return 100 * share_of(part, whole);
}

/* For sorting: by one member ?: by the next. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static inline int most_first(double a, double b)
{
	return ORDER(b, a);
}

#endif
