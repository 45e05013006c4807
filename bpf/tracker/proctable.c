// SPDX-License-Identifier: GPL-2.0-or-later
/* See proctable.h. */
#include "bpf/tracker/proctable.h"

#include <stdlib.h>

#include <utlist.h>

#include "bpf/sampler/clock.h"
#include "bpf/tracker/maplist.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/tracker.h"
#include "symbols/files/procstat.h"
#include "symbols/files/rootfile.h"

#define DEAD_MAX 32768u

struct process *proctable_add(struct proctable *procs, pid_t pid)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pid = pid;
	p->hashed = true;
	HASH_ADD_INT(procs->live, pid, p);
	if (!p->hashed) {
		free(p);
		return NULL;
	}
	return p;
}

struct process *proctable_live(const struct proctable *procs, pid_t pid)
{
	struct process *p;

	HASH_FIND_INT(procs->live, &pid, p);
	return p;
}

/* --- finding --------------------------------------------------------------------------------- */

/* NULL if p is known to be of another exec. */
static struct process *unless_other_exec(struct process *p, uint64_t exec_id)
{
	return p && exec_id && p->exec_id && p->exec_id != exec_id ? NULL : p;
}

static struct process *find_dead(const struct proctable *procs, const struct tracker_exec *of,
				 uint64_t start_stack)
{
	struct dead_key key = {start_stack, of->pid};
	struct process *p;

	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): hashed as bytes */
	HASH_FIND(dead_hh, procs->dead_by_key, &key, sizeof(key), p);
	return unless_other_exec(p, of->exec_id);
}

static struct process *find_exec(const struct proctable *procs, const struct tracker_exec *of)
{
	struct exec_key key = {of->exec_id, of->pid};
	struct process *p = proctable_live(procs, of->pid);

	if (p && p->exec_id == of->exec_id)
		return p;
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): hashed as bytes */
	HASH_FIND(exec_hh, procs->dead_by_exec, &key, sizeof(key), p);
	return p;
}

/*
 * By exec_id, if a sample reported it while the process was known; else by start_stack. Two execs
 * may have the same one where addresses are not randomized: then neither is returned.
 *
 * The start_stack of a process that ended before it was read is 0, as that of a live one that is
 * not read yet. Such a process gets the samples of its PID whose start_stack fits no other process,
 * unless there were two such processes.
 */
struct process *proctable_find(const struct proctable *procs, const struct tracker_exec *of)
{
	struct process *p = of->exec_id ? find_exec(procs, of) : NULL, *now;

	if (p)
		return p;
	now = unless_other_exec(proctable_live(procs, of->pid), of->exec_id);
	p = find_dead(procs, of, of->start_stack);
	if (of->exec_id && of->start_stack && p &&
	    (p->ambiguous || (now && now->start_stack == of->start_stack)))
		return NULL;
	if (now && (!of->start_stack || now->start_stack == of->start_stack))
		return now;
	if (p)
		return p;
	p = find_dead(procs, of, 0);
	if (now && !now->start_stack)
		return p ? NULL : now;
	return p && p->ambiguous ? NULL : p;
}

static size_t forked_slot(uint64_t start_stack)
{
	return (start_stack * 0x9e3779b97f4a7c15u >> 32) % FORKED_MAX;
}

struct process *proctable_akin(const struct proctable *procs, uint64_t start_stack)
{
	const struct forked *f = &procs->forked[forked_slot(start_stack)];
	const struct tracker_exec parent = {.pid = f->pid, .start_stack = start_stack};
	struct process *p = NULL;

	if (start_stack && f->start_stack == start_stack)
		p = proctable_find(procs, &parent);
	return p && p->start_stack == start_stack ? p : NULL;
}

void proctable_note_fork(struct proctable *procs, const struct process *parent)
{
	procs->forked[forked_slot(parent->start_stack)] =
		(struct forked){parent->start_stack, parent->pid};
}

/* --- the dead -------------------------------------------------------------------------------- */

void proctable_remove(struct proctable *procs, struct process *p)
{
	HASH_DEL(procs->live, p);
	proctable_clean(procs, p);
}

void proctable_add_dead(struct proctable *procs, struct process *p)
{
	struct process *other;

	p->exited = true;
	p->exit_time = clock_now();
	DL_APPEND2(procs->dead, p, prev_dead, next_dead);
	procs->ndead++;
	p->dead_key = (struct dead_key){p->start_stack, p->pid};
	/* Of two with one key the younger is found. */
	HASH_FIND(dead_hh, procs->dead_by_key, &p->dead_key, sizeof(p->dead_key), other);
	p->ambiguous = other != NULL;
	if (other)
		HASH_DELETE(dead_hh, procs->dead_by_key, other);
	HASH_ADD(dead_hh, procs->dead_by_key, dead_key, sizeof(p->dead_key), p);
	if (!p->exec_id)
		return;
	p->exec_key = (struct exec_key){p->exec_id, p->pid};
	HASH_FIND(exec_hh, procs->dead_by_exec, &p->exec_key, sizeof(p->exec_key), other);
	if (other)
		HASH_DELETE(exec_hh, procs->dead_by_exec, other);
	HASH_ADD(exec_hh, procs->dead_by_exec, exec_key, sizeof(p->exec_key), p);
}

struct process *proctable_take_dead(struct proctable *procs, uint64_t before)
{
	struct process *p = procs->dead, *found;

	if (!p || (p->exit_time >= before && procs->ndead <= DEAD_MAX))
		return NULL;
	DL_DELETE2(procs->dead, p, prev_dead, next_dead);
	procs->ndead--;
	HASH_FIND(dead_hh, procs->dead_by_key, &p->dead_key, sizeof(p->dead_key), found);
	if (found == p)
		HASH_DELETE(dead_hh, procs->dead_by_key, p);
	/* Without an exec_id it is not in there, and its exec_key is all zero. */
	HASH_FIND(exec_hh, procs->dead_by_exec, &p->exec_key, sizeof(p->exec_key), found);
	if (found == p)
		HASH_DELETE(exec_hh, procs->dead_by_exec, p);
	return p;
}

/* --- work for others ------------------------------------------------------------------------- */

void proctable_dirty(struct proctable *procs, struct process *p)
{
	if (p->dirty)
		return;
	p->dirty = true;
	DL_PREPEND2(procs->dirty, p, prev_dirty, next_dirty);
}

void proctable_clean(struct proctable *procs, struct process *p)
{
	if (!p->dirty)
		return;
	p->dirty = false;
	DL_DELETE2(procs->dirty, p, prev_dirty, next_dirty);
}

void proctable_touch(struct proctable *procs, const struct object *o)
{
	struct process *p, *next;
	size_t i;

	HASH_ITER(hh, procs->live, p, next) {
		/* A cold list refers to no table. */
		for (i = 0; i < p->nmappings && !(p->list && p->list->cold); i++) {
			if (p->mappings[i].object == o || p->code.table == o) {
				proctable_dirty(procs, p);
				break;
			}
		}
	}
}

void proctable_doubt(struct proctable *procs, pid_t pid)
{
	size_t i;

	for (i = 0; i < procs->ndoubts; i++)
		if (procs->doubts[i] == pid)
			return;
	if (procs->ndoubts < DOUBTS_MAX) /* else the doubt will come again */
		procs->doubts[procs->ndoubts++] = pid;
}

/* --- a process ------------------------------------------------------------------------------- */

pid_t process_thread(const struct process *p)
{
	return p->threads == THREADS_ONE ? p->pid : rootfile_livethread(p->pid);
}

bool process_has_stack_start(const struct process *p)
{
	struct procstat s;

	return !procstat_read(process_thread(p), &s) && s.start_stack == p->start_stack;
}

bool process_is_unread(const struct process *p)
{
	return p->exec_state >= EXEC_UNREAD;
}

bool process_is_described(const struct process *p)
{
	for (size_t i = 0; i < p->nmappings; i++)
		if (p->mappings[i].object && p->mappings[i].object->describes)
			return true;
	return false;
}

#define HOMES_MAX 8 /* biases of one file in a process among which the home is chosen */

uint64_t process_home(const struct process *p, const struct object *o)
{
	struct {
		uint64_t bias, bytes;
	} homes[HOMES_MAX];
	size_t n = 0, at, best = 0;

	for (size_t i = 0; i < p->nmappings; i++) {
		const struct mapping *m = &p->mappings[i];

		if (m->object != o)
			continue;
		for (at = 0; at < n && homes[at].bias != m->bias; at++)
			;
		if (at == HOMES_MAX)
			continue;
		if (at == n) {
			homes[n].bias = m->bias;
			homes[n++].bytes = 0;
		}
		homes[at].bytes += m->end - m->start;
		if (homes[at].bytes > homes[best].bytes)
			best = at;
	}
	return n ? homes[best].bias : 0;
}
