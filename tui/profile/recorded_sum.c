/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A baseline of another time has other processes. Matches them by name with those of now, again
 * whenever there are new ones: a restarted service is compared with its earlier self.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/profile/frozen_sum.h"
#include "tui/profile/profile_priv.h"

#define LOOKED_AT 64 /* processes of the same name */

static bool is_sample(const struct profile *p, const struct profile_cell *cell)
{
	return cell->kstack == PROFILE_NO_STACK ||
	       stack_at(p, cell->kstack)->stack.use == STACK_SAMPLES;
}

int frozen_sum_recorded(struct profile *p, const struct profile_cell *cells, size_t ncells,
			const struct profile_health *health)
{
	struct frozen_sum made = {.health = *health, .recorded = true};

	if (celltable_reserve(&made.sum.cells, ncells))
		return -ENOMEM;
	made.health.weight = 0;
	for (size_t i = 0; i < ncells; i++) {
		const struct cell cell = {.proc = cells[i].proc,
					  .ustack = cells[i].ustack,
					  .kstack = cells[i].kstack,
					  .count = cells[i].count,
					  .weight = profile_weight(health, &cells[i])};

		celltable_add(&made.sum.cells, &cell);
		if (is_sample(p, &cells[i]))
			made.health.weight += cell.weight;
	}
	frozen_sum_replace(p, FROZEN_BASELINE, &made);
	return 0;
}

struct match {
	struct profile *p;
	struct idtable names; /* of live processes, by comm */
	uint32_t *to;	      /* by process of the baseline: the match; IDTABLE_NONE: none */
	uint32_t *taken;      /* by live process: how many match it */
	bool moved;
};

static bool runs(const struct process_entry *entry)
{
	return entry->entry.live && !entry->proc.exited && !(entry->proc.image & PROFILE_RECORDED);
}

static int match_begin(struct match *m)
{
	size_t count = m->p->procs.count;

	m->to = malloc((count + 1) * sizeof(*m->to));
	m->taken = calloc(count + 1, sizeof(*m->taken));
	if (!m->to || !m->taken || idtable_reserve(&m->names, count))
		return -ENOMEM;
	memset(m->to, 0xff, (count + 1) * sizeof(*m->to));
	for (uint32_t id = 0; id < count; id++)
		if (runs(proc_at(m->p, id)))
			idtable_add(&m->names, idtable_text(proc_at(m->p, id)->proc.comm), id);
	return 0;
}

/* The process of that name (and command line) with the fewest matches. */
static uint32_t find(const struct match *m, const struct profile_proc *proc, bool exact)
{
	uint32_t hash = idtable_text(proc->comm), at = hash, best = IDTABLE_NONE, id;

	for (int n = 0; n < LOOKED_AT; n++) {
		const struct profile_proc *other;

		id = idtable_next(&m->names, hash, &at);
		if (id == IDTABLE_NONE)
			break;
		other = &proc_at(m->p, id)->proc;
		if (strcmp(other->comm, proc->comm) != 0 ||
		    (exact && strcmp(other->cmdline, proc->cmdline) != 0))
			continue;
		if (best == IDTABLE_NONE || m->taken[id] < m->taken[best])
			best = id;
	}
	return best;
}

/* The same process, if this is still the run that was recorded. */
static uint32_t same(const struct match *m, const struct profile_proc *proc)
{
	uint32_t id = query_find_proc(m->p, proc->pid, proc->image & ~PROFILE_RECORDED);

	return id != QUERY_ALL && runs(proc_at(m->p, id)) &&
			       !strcmp(proc_at(m->p, id)->proc.comm, proc->comm)
		       ? id
		       : IDTABLE_NONE;
}

/* Each round is less exact: the same process, the same command line, the same name. */
static void match_round(struct match *m, int round)
{
	const struct celltable *cells = &m->p->frozen[FROZEN_BASELINE].sum.cells;

	for (size_t i = 0; i < cells->count; i++) {
		uint32_t from = cells->cells[i].proc, to;
		const struct process_entry *entry = proc_at(m->p, from);

		if (m->to[from] != IDTABLE_NONE)
			continue;
		if (runs(entry))
			to = from;
		else
			to = round ? find(m, &entry->proc, round == 1) : same(m, &entry->proc);
		if (to == IDTABLE_NONE)
			continue;
		m->to[from] = to;
		m->taken[to]++;
		m->moved |= to != from;
	}
}

static int move_cells(struct match *m)
{
	const struct frozen_sum *old = &m->p->frozen[FROZEN_BASELINE];
	struct frozen_sum made = {.health = old->health, .recorded = true};

	if (celltable_reserve(&made.sum.cells, old->sum.cells.count))
		return -ENOMEM;
	for (size_t i = 0; i < old->sum.cells.count; i++) {
		struct cell cell = old->sum.cells.cells[i];

		if (m->to[cell.proc] != IDTABLE_NONE)
			cell.proc = m->to[cell.proc];
		celltable_add(&made.sum.cells, &cell);
	}
	frozen_sum_replace(m->p, FROZEN_BASELINE, &made);
	return 0;
}

int frozen_sum_match(struct profile *p)
{
	struct frozen_sum *baseline = &p->frozen[FROZEN_BASELINE];
	struct match m = {.p = p};
	int err;

	if (!baseline->recorded || baseline->matched == p->procs.serials)
		return 0;
	err = match_begin(&m);
	for (int round = 0; round < 3 && !err; round++)
		match_round(&m, round);
	if (!err && m.moved)
		err = move_cells(&m);
	if (!err)
		baseline->matched = p->procs.serials;
	idtable_free(&m.names);
	free(m.to);
	free(m.taken);
	return err;
}
