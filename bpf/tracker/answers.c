// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What other threads ask the tracker: where the code of a frame is, what is known of a process or
 * an object, how far the tracker is. Each holds the lock for the answer only.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bpf/sampler/sampler.h"
#include "bpf/tracker/codefile.h"
#include "bpf/tracker/objectfile.h"
#include "bpf/tracker/opener.h"
#include "bpf/tracker/tracker_priv.h"

/* --- processes ------------------------------------------------------------------------------- */

int tracker_follow(struct tracker *t, pid_t pid)
{
	struct process *p;

	turnlock_take(&t->lock);
	while (t->mappings.reading)
		pthread_cond_wait(&t->mappings.has_read, &t->lock.lock);
	process_scan(t, pid);
	p = proctable_live(&t->procs, pid);
	if (p) {
		p->waits = true;
		targets_follow(&t->targets, p);
	}
	turnlock_give(&t->lock);
	eventfd_write(t->wake_fd, 1);
	return p ? 0 : -ESRCH;
}

static const struct process *find_process(struct tracker *t, const struct tracker_exec *of)
{
	struct process *now = proctable_live(&t->procs, of->pid);

	if (now && of->exec_id)
		publish_read_exec(&t->publisher, now);
	return proctable_find(&t->procs, of);
}

/*
 * Whether the process found by its PID is in the exec that is asked about. One of which no sample
 * has told since it was entered may be in the one before or after; so may be one of which a sample
 * has told after the last record that was handled.
 */
static bool has_name_of(const struct tracker *t, const struct process *p,
			const struct tracker_exec *of)
{
	return !of->exec_id || p->kthread ||
	       (p->exec_id == of->exec_id && (p->exited || p->exec_at <= t->told_until));
}

bool tracker_is_chosen(struct tracker *t, const struct tracker_exec *of, const char comm[16])
{
	const struct process *p;
	bool chosen;

	turnlock_take(&t->lock);
	p = find_process(t, of);
	chosen = targets_choose(&t->targets, p ? p : proctable_live(&t->procs, of->pid),
				p && has_name_of(t, p, of) ? p->comm : comm);
	turnlock_give(&t->lock);
	return chosen;
}

bool tracker_proc(struct tracker *t, const struct tracker_exec *of, struct tracker_proc *out)
{
	const struct process *p;

	turnlock_take(&t->lock);
	p = find_process(t, of);
	if (p) {
		out->ppid = p->ppid;
		memset(out->comm, 0, sizeof(out->comm));
		if (has_name_of(t, p, of))
			memcpy(out->comm, p->comm, sizeof(out->comm));
		out->attached = p->target;
		out->exited = p->exited;
		out->kthread = p->kthread;
		out->exit_time = p->exit_time;
	} else if (!of->exec_id || !proctable_live(&t->procs, of->pid)) {
		rescan_want(t, of->pid);
	}
	turnlock_give(&t->lock);
	return p != NULL;
}

/* --- places ---------------------------------------------------------------------------------- */

static void place_in_object(struct tracker *t, struct object *o, uint64_t vaddr,
			    struct code_place *out)
{
	object_get(&t->objects, o);
	o->held++;
	*out = (struct code_place){.kind = o == t->objects.vdso ? PLACE_VDSO : PLACE_FILE,
				   .object = o,
				   .vaddr = vaddr};
}

static void place_in_process(struct tracker *t, const struct process *p, uint64_t addr,
			     struct code_place *out)
{
	const struct mapping *m = mapping_at(p, addr);

	if (!m)
		return;
	if (maplist_is_runcode(m)) {
		*out = (struct code_place){.kind = PLACE_JIT, .vaddr = addr};
	} else if (m->object) {
		place_in_object(t, m->object, addr - m->bias, out);
		out->since = sampler_checks_lists(t->sampler) && m->object != t->objects.vdso &&
			     maplist_frame(m);
	}
}

/* In a file without code: where the process has mapped those bytes of it. */
static void place_by_offset(const struct process *p, const struct object *o, uint64_t offset,
			    struct code_place *out)
{
	const struct mapping *m = p ? p->mappings : NULL, *end = m ? m + p->nmappings : NULL;

	out->kind = PLACE_JIT;
	for (; m < end; m++)
		if (m->object == o && offset >= m->offset && offset - m->offset < m->end - m->start)
			out->vaddr = m->start + (offset - m->offset);
}

/* The process, or one that has the same mappings. */
static const struct process *process_akin(struct tracker *t, const struct tracker_exec *of)
{
	const struct process *p = find_process(t, of), *now = proctable_live(&t->procs, of->pid);

	/* If it is not known yet, another one with that start_stack may have forked it. */
	if (!p && !(now && now->start_stack == of->start_stack))
		p = proctable_akin(&t->procs, of->start_stack);
	return p;
}

void tracker_place(struct tracker *t, const struct tracker_exec *of, uint64_t frame,
		   struct code_place *out)
{
	const struct process *p;
	struct object *o;
	uint64_t vaddr;

	*out = (struct code_place){.kind = PLACE_UNKNOWN};
	turnlock_take(&t->lock);
	if (frame & FRAME_IN_OBJECT) {
		o = object_by_id(&t->objects, FRAME_OBJECT(frame));
		if (o)
			place_in_object(t, o, FRAME_VADDR(frame), out);
	} else if (frame & FRAME_IN_FILE) {
		o = objectfile_by_tag(&t->objects, frame, &vaddr);
		if (o && o->no_code)
			place_by_offset(process_akin(t, of), o, vaddr, out);
		else if (o)
			place_in_object(t, o, vaddr, out);
	} else {
		p = process_akin(t, of);
		if (p)
			place_in_process(t, p, frame, out);
	}
	turnlock_give(&t->lock);
}

int tracker_code_names(struct tracker *t, const struct tracker_exec *of, uint64_t *version,
		       tracker_name_fn *fn, void *arg)
{
	const struct process *p;
	const struct object *o;
	int fd = -1, err = 0;

	turnlock_take(&t->lock);
	p = find_process(t, of);
	o = p ? p->code.table : NULL;
	if (o && o->fd >= 0 && p->code.names != *version) {
		fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
		*version = p->code.names;
	}
	turnlock_give(&t->lock);
	if (fd < 0)
		return 0;
	err = codefile_names(fd, fn, arg);
	close(fd);
	return err ? err : 1;
}

bool tracker_runtime(struct tracker *t, const struct tracker_exec *of, unsigned int n,
		     struct tracker_runtime *out)
{
	const struct process *p;
	bool found;

	turnlock_take(&t->lock);
	p = find_process(t, of);
	found = p && runtimes_know(&t->runtimes, p, n, out);
	turnlock_give(&t->lock);
	return found;
}

void tracker_runtime_mute(struct tracker *t, const struct tracker_exec *of, unsigned int n,
			  uint64_t samples)
{
	const struct process *p;

	turnlock_take(&t->lock);
	p = find_process(t, of);
	if (p)
		runtimes_mute(&t->runtimes, p, n, samples);
	turnlock_give(&t->lock);
}

bool tracker_runs_hotspot(struct tracker *t, const struct tracker_exec *of)
{
	const struct process *p;
	bool found = false;

	turnlock_take(&t->lock);
	p = find_process(t, of);
	for (size_t i = 0; p && i < p->nmappings && !found; i++) {
		const struct object *o = p->mappings[i].object;

		found = o && o->symbols.vm_structs;
	}
	turnlock_give(&t->lock);
	return found;
}

int tracker_open_mapped(struct tracker *t, const struct tracker_exec *of,
			bool (*is_wanted)(const char *name))
{
	const struct process *p;
	int fd = -ENOENT;
	size_t i;

	turnlock_take(&t->lock);
	p = find_process(t, of);
	for (i = 0; p && fd == -ENOENT && i < p->nmappings; i++) {
		struct object *o = p->mappings[i].object;

		if (!o || o->image || !is_wanted(o->name))
			continue;
		if (object_is_closed(o))
			idlefile_want(&t->idlefiles, o);
		else
			fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
	}
	if (fd == -1)
		fd = -errno;
	turnlock_give(&t->lock);
	return fd;
}

/* --- objects --------------------------------------------------------------------------------- */

void object_put(struct tracker *t, struct object *object)
{
	turnlock_take(&t->lock);
	object->held--;
	object_unref(&t->objects, object);
	turnlock_give(&t->lock);
}

bool object_is_open(struct tracker *t, const struct object *object)
{
	if (!object_is_closed(object)) /* an open file stays open while it is held */
		return true;
	turnlock_take(&t->lock);
	if (object->refs > object->pinned + object->held)
		idlefile_want(&t->idlefiles, object_by_id(&t->objects, object->id));
	turnlock_give(&t->lock);
	return false;
}

bool tracker_mapped_as(struct tracker *t, const struct object *object, struct file_facts *facts)
{
	bool written;

	turnlock_take(&t->lock);
	*facts = (struct file_facts){.dev = object->key.dev,
				     .inode = object->key.inode,
				     .mtime = object->mapped_mtime,
				     .size = object->mapped_size,
				     .copied = object->copied};
	written = object->written;
	turnlock_give(&t->lock);
	return written;
}

void tracker_written(struct tracker *t, uint64_t id)
{
	struct object *o;

	turnlock_take(&t->lock);
	o = object_by_id(&t->objects, id);
	if (o && !o->image && !o->copied) {
		o->written = true;
		object_rebuild(&t->objects, o);
	}
	turnlock_give(&t->lock);
}

static int by_id(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

void tracker_mapped(struct tracker *t, const uint64_t *ids, size_t n, bool *mapped)
{
	const struct object *o, *next;
	const uint64_t *id;

	memset(mapped, 0, n * sizeof(*mapped));
	turnlock_take(&t->lock);
	HASH_ITER(hh, t->objects.all, o, next) {
		id = object_is_mapped(o) ? bsearch(&o->id, ids, n, sizeof(*ids), by_id) : NULL;
		if (id)
			mapped[id - ids] = true;
	}
	turnlock_give(&t->lock);
}

/* --- the whole ------------------------------------------------------------------------------- */

int tracker_with_maps(struct tracker *t, int (*fn)(struct sampler *sampler, void *arg), void *arg)
{
	int err;

	turnlock_take(&t->lock);
	err = fn(t->sampler, arg);
	turnlock_give(&t->lock);
	return err;
}

static bool has_question(const struct process *p)
{
	bool any = p->asks || p->code.question;

	for (unsigned int i = 0; i < PROCESS_RUNTIMES; i++)
		any |= p->runtimes[i].question != 0;
	return any;
}

/* Does a process that is sampled wait for a table, or for the frames of its language? */
static bool is_waited_for(const struct tracker *t)
{
	const struct process *p, *next;
	size_t i;

	if (!t->rescan.started || t->publisher.publishing || t->procs.runtime_came)
		return true;
	if (!t->targets.filtering)
		return t->objects.queue || t->builders.building ||
		       opener_is_busy(t->opener, clock_now());
	HASH_ITER(hh, t->procs.live, p, next) {
		if (p->target && p->dirty) /* its list is an old one */
			return true;
		for (i = 0; p->target && i < p->nmappings; i++)
			if (p->mappings[i].object && p->mappings[i].object->in_queue)
				return true;
		if (p->target && has_question(p) && opener_is_busy(t->opener, clock_now()))
			return true;
		if (p->target && p->code.table && p->code.table->state == OBJECT_QUEUED)
			return true;
		if (p->target && p->code.described && !p->waits &&
		    !p->code.next) /* is asked with the next turn */
			return true;
	}
	return false;
}

void tracker_state(struct tracker *t, struct tracker_state *out)
{
	struct shard_info info;
	unsigned int i;

	memset(out, 0, sizeof(*out));
	turnlock_take(&t->lock);
	out->nprocs = HASH_COUNT(t->procs.live);
	out->nattached = t->targets.nattached;
	out->filtering = t->targets.filtering;
	out->nobjects = HASH_COUNT(t->objects.all);
	out->shards_max = shards_max(t->shards);
	out->words_max = (uint64_t)out->shards_max * SHARD_WORDS;
	out->words_used = shards_used(t->shards, &out->shards_created);
	for (i = 0; i < out->shards_max; i++) {
		shards_info(t->shards, i, &info);
		out->shards_used += info.used != 0;
	}
	out->lost_records = t->lost_records;
	out->evicted = evict_waiting(&t->evictor);
	out->evictions = t->evictor.evictions;
	out->started = t->rescan.started;
	out->idle = !is_waited_for(t);
	turnlock_give(&t->lock);
}
