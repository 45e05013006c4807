// SPDX-License-Identifier: GPL-2.0-or-later
/* What is in the profile, by id and by slice. */
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

uint32_t query_find_proc(const struct profile *p, pid_t pid, uint64_t image)
{
	uint32_t hash = profile_proc_hash(pid, image), id;

	for (uint32_t at = hash; (id = idtable_next(&p->procs.index, hash, &at)) != IDTABLE_NONE;)
		if (proc_at(p, id)->proc.pid == pid && proc_at(p, id)->proc.image == image)
			return id;
	return QUERY_ALL;
}

uint32_t query_pid(const struct profile *p, pid_t pid)
{
	for (uint32_t id = 0; id < p->procs.count; id++) {
		const struct proc_entry *proc = proc_at(p, id);

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
