/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sum, the slices and the health of a span of time. */
#include <string.h>

#include "tui/profile/profile_priv.h"

size_t profile_span(const struct profile *p, size_t age)
{
	double seconds = 0;
	size_t n = 0;

	/* Half a slice of tolerance: ten slices of 0.999 s are a window of ten seconds. */
	for (; age < p->nslices; age++, n++) {
		double elapsed = (double)slice_at(p, age)->health.elapsed / NS_PER_SEC;

		if (n && seconds + elapsed / 2 >= p->window)
			break;
		seconds += elapsed;
	}
	return n;
}

bool profile_span_whole(const struct profile *p, size_t age, size_t n)
{
	double seconds = 0, elapsed = 0;

	for (size_t i = 0; i < n; i++) {
		elapsed = (double)slice_at(p, age + i)->health.elapsed / NS_PER_SEC;
		seconds += elapsed;
	}
	return n && seconds + elapsed / 2 >= p->window;
}

static const struct frozen_sum *frozen_of(const struct profile *p, enum span span)
{
	return span == SPAN_MOMENT   ? &p->frozen[FROZEN_MOMENT]
	       : span == SPAN_BEFORE ? &p->frozen[FROZEN_BEFORE]
				     : &p->frozen[FROZEN_BASELINE];
}

static bool is_frozen(enum span span)
{
	return span == SPAN_MOMENT || span == SPAN_BEFORE || span == SPAN_BASELINE;
}

const struct sum *span_sum(const struct profile *p, enum span span)
{
	return is_frozen(span)	    ? &frozen_of(p, span)->sum
	       : span == SPAN_TOTAL ? &p->totals
				    : &p->sliding;
}

size_t span_count(const struct profile *p, enum span span)
{
	if (span == SPAN_LAST)
		return p->nslices ? 1 : 0;
	return p->nwindow;
}

void span_slices(const struct profile *p, enum span span, uint64_t *first, uint64_t *last)
{
	size_t n = span_count(p, span);

	*last = p->committed;
	*first = n ? p->committed + 1 - n : 0;
	if (span == SPAN_TOTAL || span == SPAN_DECAY)
		*first = 0;
	if (is_frozen(span)) {
		*first = frozen_of(p, span)->first;
		*last = frozen_of(p, span)->last;
	}
}

bool span_has_slices(const struct profile *p, enum span span, size_t *newest, size_t *n)
{
	uint64_t first, last;

	span_slices(p, span, &first, &last);
	*n = (size_t)(last + 1 - first);
	return first && slice_age(p, last, newest) && *newest + *n <= p->nslices;
}

void query_health_sum(const struct profile *p, enum span span, struct profile_health *sum)
{
	memset(sum, 0, sizeof(*sum));
	if (span == SPAN_TOTAL) {
		*sum = p->total_health;
	} else if (span == SPAN_DECAY) {
		decay_health(p, sum);
	} else if (is_frozen(span)) {
		*sum = frozen_of(p, span)->health;
	} else {
		for (size_t age = span_count(p, span); age-- > 0;)
			profile_health_add(sum, &slice_at(p, age)->health);
	}
}
