// SPDX-License-Identifier: GPL-2.0-or-later
/* See delta.h. One place decides what is chance, so that no two views disagree about it. */
#include "tui/screen/delta.h"

#include <math.h>
#include <stdio.h>

#include "tui/screen/grid.h"
#include "tui/util/share.h"

#define ERRORS 2.0  /* standard errors; chance alone exceeds them once in 20 times at most */
#define SHOWN  0.05 /* points; less is shown as none */
#define LARGE  0.5  /* points; less does not matter, however sure it is */

static bool is_fresh(uint64_t now, uint64_t before, bool sure)
{
	return sure && !before && now >= SHARE_FEW;
}

/*
 * One sample inside and one outside are added to both times (Agresti and Caffo, "Simple and
 * effective confidence intervals for proportions and differences of proportions", The American
 * Statistician 54, 2000): else 0 of 3 samples, or 3 of 3, would have no error at all. The error
 * is the larger of that of two shares and that of one, which both times are drawn from: the former
 * is too small where one time is much shorter than the other.
 */
struct delta delta_of_shares(uint64_t now, uint64_t now_of, uint64_t before, uint64_t before_of)
{
	double n1 = (double)now_of + 2, n2 = (double)before_of + 2;
	double p1 = ((double)now + 1) / n1, p2 = ((double)before + 1) / n2;
	double p = (n1 * p1 + n2 * p2) / (n1 + n2);
	double two = p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2;
	double one = p * (1 - p) * (1 / n1 + 1 / n2);
	bool sure = fabs(p1 - p2) > ERRORS * sqrt(fmax(one, two));

	if (!before_of)
		return delta_none();
	return (struct delta){
		.now = percent_of(now, now_of),
		.before = percent_of(before, before_of),
		.sure = sure,
		.fresh = is_fresh(now, before, sure),
	};
}

/* Counts have the variance of Poisson's distribution, which is their mean; one is added, and the
 * larger error taken, for the same reasons. A process that is busy all the time varies less. */
struct delta delta_of_rates(uint64_t now, double now_full, uint64_t before, double before_full)
{
	double a = (double)now, b = (double)before, one, two;
	bool sure;

	if (before_full <= 0)
		return delta_none();
	now_full = now_full > 0 ? now_full : before_full; /* nothing was sampled */
	two = (a + 1) / now_full / now_full + (b + 1) / before_full / before_full;
	one = (a + b + 2) / (now_full + before_full) * (1 / now_full + 1 / before_full);
	sure = fabs(a / now_full - b / before_full) > ERRORS * sqrt(fmax(one, two));
	return (struct delta){
		.now = 100 * a / now_full,
		.before = 100 * b / before_full,
		.sure = sure,
		.fresh = is_fresh(now, before, sure),
	};
}

struct delta delta_none(void)
{
	return (struct delta){.before = -1};
}

void delta_text(const struct delta *delta, const struct grid *g, char *to, size_t size)
{
	double points = delta->now - delta->before;
	const char *mark = grid_glyph(g, points > 0 ? GLYPH_RISE : GLYPH_FALL);

	if (delta->before < 0 || (delta->now <= 0 && delta->before <= 0))
		snprintf(to, size, "-");
	else if (delta->fresh)
		snprintf(to, size, "new");
	else if (fabs(points) < SHOWN)
		snprintf(to, size, "= 0.0");
	else
		snprintf(to, size, "%s %+.1f", g->ascii ? "" : mark, points);
}

enum role delta_role(const struct delta *delta)
{
	if (!delta->sure || fabs(delta->now - delta->before) < LARGE)
		return ROLE_DIM;
	return delta->now > delta->before ? ROLE_UP : ROLE_DOWN;
}
