/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a span of time is made of: a sum, and slices if these are still there. */
#include <string.h>

#include "tui/profile/profile_priv.h"

size_t profile_span(const struct profile *p, size_t age)
{
	double seconds = 0;
	size_t n = 0;

	/* Half a slice of tolerance: ten slices of 0.999 s are the ten seconds that were meant. */
	for (; age < p->nslices; age++, n++) {
		double elapsed = (double)slice_at(p, age)->health.elapsed / NS_PER_SEC;

		if (n && seconds + elapsed / 2 >= p->window)
			break;
		seconds += elapsed;
	}
	return n;
}

static const struct frozen_sum *frozen_of(const struct profile *p, enum weigh weigh)
{
	return weigh == WEIGH_MOMENT   ? &p->frozen[FROZEN_MOMENT]
	       : weigh == WEIGH_BEFORE ? &p->frozen[FROZEN_BEFORE]
				       : &p->frozen[FROZEN_BASELINE];
}

static bool is_frozen(enum weigh weigh)
{
	return weigh == WEIGH_MOMENT || weigh == WEIGH_BEFORE || weigh == WEIGH_BASELINE;
}

const struct sum *span_sum(const struct profile *p, enum weigh weigh)
{
	return is_frozen(weigh)	      ? &frozen_of(p, weigh)->sum
	       : weigh == WEIGH_TOTAL ? &p->totals
				      : &p->sliding;
}

size_t span_count(const struct profile *p, enum weigh weigh)
{
	if (weigh == WEIGH_LAST)
		return p->nslices ? 1 : 0;
	return p->nwindow;
}

void span_slices(const struct profile *p, enum weigh weigh, uint64_t *first, uint64_t *last)
{
	size_t n = span_count(p, weigh);

	*last = p->committed;
	*first = n ? p->committed + 1 - n : 0;
	if (weigh == WEIGH_TOTAL || weigh == WEIGH_DECAY)
		*first = 0;
	if (is_frozen(weigh)) {
		*first = frozen_of(p, weigh)->first;
		*last = frozen_of(p, weigh)->last;
	}
}

bool span_has_slices(const struct profile *p, enum weigh weigh, size_t *newest, size_t *n)
{
	uint64_t first, last;

	span_slices(p, weigh, &first, &last);
	*n = (size_t)(last + 1 - first);
	return first && slice_age(p, last, newest) && *newest + *n <= p->nslices;
}

void query_health_sum(const struct profile *p, enum weigh weigh, struct profile_health *sum)
{
	memset(sum, 0, sizeof(*sum));
	if (weigh == WEIGH_TOTAL) {
		*sum = p->total_health;
	} else if (weigh == WEIGH_DECAY) {
		decay_health(p, sum);
	} else if (is_frozen(weigh)) {
		*sum = frozen_of(p, weigh)->health;
	} else {
		for (size_t age = span_count(p, weigh); age-- > 0;)
			profile_health_add(sum, &slice_at(p, age)->health);
	}
}
