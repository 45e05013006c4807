/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_DELTA_H
#define STACKTOP_TUI_SCREEN_DELTA_H

/*
 * How every view shows that a share differs from that of another time: by an arrow, a sign and a
 * colour. Samples are drawn by chance, so a share of few of them differs from one time to the next
 * although nothing has changed. A difference is "sure" beyond two standard errors, and only then
 * has a colour.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/screen/theme.h"

struct grid;

struct delta {
	double now, before; /* in percent; before < 0: nothing is compared */
	bool sure;	    /* chance alone is no explanation of it */
	bool fresh;	    /* of at least SHARE_FEW samples now, and of none before; sure */
};

/*
 * Of a part of the samples of each time. before_of 0: nothing is compared. Samples that decay count
 * by their weight. That is at most 1, so the error is never taken to be smaller than it is.
 */
struct delta delta_of_shares(uint64_t now, uint64_t now_of, uint64_t before, uint64_t before_of);
/* Of numbers of samples; *_full are those of 100 %, which are not drawn by chance. 0 of before:
 * nothing is compared. */
struct delta delta_of_rates(uint64_t now, double now_full, uint64_t before, double before_full);
/* Nothing is compared. */
struct delta delta_none(void);

/* "▲ +4.1", "= 0.0", "new" if it is fresh, "-" if nothing is compared. */
void delta_text(const struct delta *delta, const struct grid *g, char *to, size_t size);
/* Dim unless it is sure and large enough to matter. */
enum role delta_role(const struct delta *delta);

#endif
