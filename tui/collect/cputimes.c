// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPU time is the kernel's own account (/proc/stat), not a share of the samples: it is of all
 * processes, whichever are attached, and of the CPU, whatever the event counts.
 */
#include "tui/collect/cputimes.h"

#include <stdlib.h>
#include <string.h>

#define WHOLE 1000

static int by_cpu(const void *a, const void *b)
{
	const struct cpu_times *x = a, *y = b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static uint64_t delta(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* The counters of a CPU that was away may start again. */
static struct cpu_use use_of(const struct cpu_times *before, const struct cpu_times *now)
{
	uint64_t user = delta(now->user, before->user), kernel = delta(now->kernel, before->kernel);
	uint64_t all = delta(now->all, before->all);

	if (all < user + kernel)
		all = user + kernel;
	if (!all)
		all = 1;
	return (struct cpu_use){(uint16_t)now->cpu, (uint16_t)(user * WHOLE / all),
				(uint16_t)(kernel * WHOLE / all)};
}

size_t cputimes_between(struct cpu_times *before, size_t nbefore, struct cpu_times *now,
			size_t nnow, struct cpu_use *use)
{
	size_t n = 0;

	if (nbefore)
		qsort(before, nbefore, sizeof(*before), by_cpu);
	if (nnow)
		qsort(now, nnow, sizeof(*now), by_cpu);
	for (size_t i = 0, k = 0; i < nnow; i++) {
		while (k < nbefore && before[k].cpu < now[i].cpu)
			k++;
		/* Time that was waited for disks may become less: that says nothing of work. */
		if (k < nbefore && before[k].cpu == now[i].cpu && now[i].cpu <= UINT16_MAX &&
		    now[i].all > before[k].all)
			use[n++] = use_of(&before[k], &now[i]);
	}
	return n;
}

void cputimes_begin(struct cputimes *t, const struct sampler *s)
{
	t->nbefore = sampler_cpu_times(s, t->before, CPU_USE_MAX);
}

size_t cputimes_use(struct cputimes *t, const struct sampler *s, struct cpu_use *use)
{
	size_t n;

	t->nnow = sampler_cpu_times(s, t->now, CPU_USE_MAX);
	n = cputimes_between(t->before, t->nbefore, t->now, t->nnow, use);
	memcpy(t->before, t->now, t->nnow * sizeof(*t->now));
	t->nbefore = t->nnow;
	return n;
}
