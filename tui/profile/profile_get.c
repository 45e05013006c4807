// SPDX-License-Identifier: GPL-2.0-or-later
/* What is in the profile, by id and by slice. */
#include <stdio.h>
#include <string.h>

#include "tui/profile/profile_priv.h"

const struct profile_func *query_func(const struct profile *p, uint32_t func)
{
	return pool_has(&p->funcs, func) ? &func_at(p, func)->func : NULL;
}

const struct profile_stack *query_stack(const struct profile *p, uint32_t stack)
{
	return pool_has(&p->stacks, stack) ? &stack_at(p, stack)->stack : NULL;
}

const struct profile_proc *query_proc(const struct profile *p, uint32_t proc)
{
	return pool_has(&p->procs, proc) ? &proc_at(p, proc)->proc : NULL;
}

/* Only the end of a path is shown: its beginning is the build directory. */
void sourcename(const struct profile_func *func, char *to, size_t size)
{
	const char *slash = func->file ? strrchr(func->file, '/') : NULL;

	if (size)
		to[0] = '\0';
	if (func->file)
		snprintf(to, size, "%s:%u", slash ? slash + 1 : func->file, func->line);
}

uint32_t profile_nprocs(const struct profile *p)
{
	return p->procs.live;
}

uint32_t query_pid(const struct profile *p, pid_t pid)
{
	for (uint32_t id = 0; id < p->procs.count; id++) {
		const struct process_entry *proc = proc_at(p, id);

		if (proc->entry.live && proc->proc.pid == pid && !proc->proc.exited)
			return id;
	}
	return QUERY_ALL;
}

uint64_t query_func_serial(const struct profile *p, uint32_t func)
{
	return pool_has(&p->funcs, func) ? pool_entry(&p->funcs, func)->serial : 0;
}

uint64_t query_stack_serial(const struct profile *p, uint32_t stack)
{
	return pool_has(&p->stacks, stack) ? pool_entry(&p->stacks, stack)->serial : 0;
}

void query_health(const struct profile *p, struct profile_health *last)
{
	*last = p->last;
}

size_t query_timeline(const struct profile *p, float *use, size_t max)
{
	size_t n = p->ntimeline < TIMELINE_MAX ? (size_t)p->ntimeline : TIMELINE_MAX;

	if (n > max)
		n = max;
	for (size_t i = 0; i < n; i++)
		use[i] = p->timeline[(p->ntimeline - n + i) % TIMELINE_MAX];
	return n;
}

uint64_t query_slices(const struct profile *p)
{
	return p->committed;
}

/* --- health ---------------------------------------------------------------------------------- */

bool profile_is_time(const struct profile_health *health)
{
	static const char *const events[] = {"",       "cpu-clock",  "task-clock",
					     "cycles", "cpu-cycles", "ref-cycles"};

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		if (strcmp(health->event, events[i]) == 0)
			return true;
	return health->ticks > 0;
}

double profile_full(const struct profile_health *health)
{
	return profile_is_time(health) ? (double)health->elapsed / NS_PER_SEC * health->frequency
				       : (double)health->weight;
}

void profile_health_add(struct profile_health *sum, const struct profile_health *health)
{
	struct profile_health old = *sum;

	*sum = *health;
#define ADD(counter) sum->counter += old.counter;
	HEALTH_COUNTERS(ADD);
#undef ADD
	for (int i = 0; i < LOSS_COUNT; i++)
		sum->loss[i] += old.loss[i];
}
