/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_SEARCH_H
#define STACKTOP_SYMBOLS_BASE_SEARCH_H

/* Binary search, and the order that it needs. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * How many of `count` items meet a condition that those in front meet and those behind do not;
 * `i` names the number of an item in the condition:
 *
 *	SEARCH(n, i, items[i].start <= address)
 */
#define SEARCH(count, i, condition)                                                                \
	({                                                                                         \
		size_t low_ = 0, high_ = (count);                                                  \
                                                                                                   \
		while (low_ < high_) {                                                             \
			const size_t i = low_ + (high_ - low_) / 2;                                \
                                                                                                   \
			if (condition)                                                             \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})

/* For qsort(3) and bsearch(3): by the uint64_t that each item begins with. */
static inline int compare_u64(const void *left, const void *right)
{
	uint64_t a, b;

	memcpy(&a, left, sizeof(a));
	memcpy(&b, right, sizeof(b));
	return a < b ? -1 : a > b;
}

#endif
