// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How busy each CPU was in a slice. It is no part of struct profile_health, which is copied by
 * value in many places and would grow by the number of CPUs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/profile/profile_priv.h"

int profile_cpu_use(struct profile *p, const struct cpu_use *use, size_t n)
{
	struct slice *slice = p->nslices ? slice_at(p, 0) : NULL;

	if (n > CPU_USE_MAX)
		n = CPU_USE_MAX;
	if (!slice || slice->use || !n)
		return 0;
	slice->use = malloc(n * sizeof(*use));
	if (!slice->use)
		return -ENOMEM;
	memcpy(slice->use, use, n * sizeof(*use));
	slice->nuse = n;
	p->history_bytes += n * sizeof(*use);
	return 0;
}

size_t query_cpu_use(const struct profile *p, uint64_t time, struct cpu_use *to, size_t max)
{
	for (size_t age = 0; age < p->nslices; age++) {
		const struct slice *slice = slice_at(p, age);
		size_t n = slice->nuse < max ? slice->nuse : max;

		if (slice->health.time != time)
			continue;
		if (n)
			memcpy(to, slice->use, n * sizeof(*to));
		return n;
	}
	return 0;
}
