// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What other threads ask the tracker: where a frame lies, what is known of a process, how far it
 * is. Each holds the lock for the answer only.
 */
#include "bpf/tracker/tracker_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "bpf/tracker/opener.h"
#include "bpf/sampler/sampler.h"

int tracker_follow(struct tracker *t, pid_t pid)
{
	struct process *p;

	turnlock_take(&t->lock);
	while (t->reading)
		pthread_cond_wait(&t->has_read, &t->lock.lock);
	process_scan(t, pid);
	HASH_FIND_INT(t->processes, &pid, p);
	if (p) {
		p->follow = true;
		t->following = true;
		choice_apply(t, p);
		choice_filter(t);
	}
	turnlock_give(&t->lock);
	tracker_wake(t);
	return p ? 0 : -ESRCH;
}

static void place_in(struct tracker *t, struct object *o, uint64_t vaddr, struct place *out)
{
	object_get(t, o);
	o->held++;
	*out = (struct place){
		.kind = o == t->vdso ? PLACE_VDSO : PLACE_FILE, .object = o, .vaddr = vaddr};
}

static void place_address(struct tracker *t, const struct process *p, uint64_t addr,
			  struct place *out)
{
	size_t low = 0, high = p->nmappings, mid;
	const struct mapping *m;

	while (low < high) {
		mid = (low + high) / 2;
		if (p->mappings[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == p->nmappings || p->mappings[low].start > addr)
		return;
	m = &p->mappings[low];
	if (m->object) {
		place_in(t, m->object, addr - m->bias, out);
		out->since = sampler_checks_lists(t->sampler) && m->object != t->vdso &&
			     publish_frame(m);
	} else if (!m->asked) {
		out->kind = PLACE_JIT;
	}
}

static const struct process *find(struct tracker *t, const struct tracker_exec *of)
{
	struct process *now = process_live(t, of->pid);

	if (now && of->exec)
		publish_read_exec(t, now);
	return process_find(t, of);
}

/* Where it is not known as what it is now, it may have been forked by another of its image. */
static const struct process *find_or_akin(struct tracker *t, const struct tracker_exec *of)
{
	const struct process *p = find(t, of), *now = process_live(t, of->pid);

	return p || (now && now->image == of->image) ? p : process_akin(t, of->image);
}

void tracker_place(struct tracker *t, const struct tracker_exec *of, uint64_t frame,
		   struct place *out)
{
	const struct process *p;
	struct object *o;
	uint64_t vaddr;

	*out = (struct place){.kind = PLACE_UNKNOWN};
	turnlock_take(&t->lock);
	if (frame & FRAME_IN_OBJECT) {
		o = object_by_id(t, FRAME_OBJECT(frame));
		if (o)
			place_in(t, o, FRAME_VADDR(frame), out);
	} else if (frame & FRAME_IN_FILE) {
		o = object_by_tag(t, frame, &vaddr);
		if (o)
			place_in(t, o, vaddr, out);
	} else {
		p = find_or_akin(t, of);
		if (p)
			place_address(t, p, frame, out);
	}
	turnlock_give(&t->lock);
}

int tracker_open_mapped(struct tracker *t, const struct tracker_exec *of,
			bool (*is_wanted)(const char *name))
{
	const struct process *p;
	int fd = -ENOENT;
	size_t i;

	turnlock_take(&t->lock);
	p = find(t, of);
	for (i = 0; p && fd == -ENOENT && i < p->nmappings; i++) {
		const struct object *o = p->mappings[i].object;

		if (!o || o->image || !is_wanted(o->name))
			continue;
		if (rest_is(o))
			rest_want(t, p->mappings[i].object);
		else
			fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
	}
	if (fd == -1)
		fd = -errno;
	turnlock_give(&t->lock);
	return fd;
}

/*
 * Whether a process that was found by its number is the very one. While the tracker is behind, one
 * whose image is not read yet may be what it was before an exec whose record is still to be read,
 * and one whose image was just read may have the name of before.
 */
static bool is_the_one(const struct process *p, const struct tracker_exec *of)
{
	if (!of->exec || p->kthread)
		return true;
	if (p->exec_id)
		return p->exec_id == of->exec;
	return of->image && p->image == of->image && !p->unsettled;
}

bool tracker_proc(struct tracker *t, const struct tracker_exec *of, struct tracker_proc *out)
{
	const struct process *p;

	turnlock_take(&t->lock);
	p = find(t, of);
	if (p) {
		out->ppid = p->ppid;
		memset(out->comm, 0, sizeof(out->comm));
		if (is_the_one(p, of))
			memcpy(out->comm, p->comm, sizeof(out->comm));
		out->attached = p->target;
		out->exited = p->exited;
		out->kthread = p->kthread;
		out->exit_time = p->exit_time;
	} else if (!of->exec || !process_live(t, of->pid)) {
		rescan_want(t, of->pid);
	}
	turnlock_give(&t->lock);
	return p != NULL;
}

/* Does a process that is sampled wait for a table? */
static bool is_waited_for(const struct tracker *t)
{
	const struct process *p, *next;
	size_t i;

	if (!t->started || t->publishing)
		return true;
	if (!t->filtering)
		return t->queue || t->building || opener_is_busy(t->opener, tracker_now());
	HASH_ITER(hh, t->processes, p, next) {
		if (p->target && p->dirty) /* its list is still that of before */
			return true;
		for (i = 0; p->target && i < p->nmappings; i++)
			if (p->mappings[i].object && p->mappings[i].object->state == OBJECT_QUEUED)
				return true;
		if (p->target && p->asks && opener_is_busy(t->opener, tracker_now()))
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
	out->nprocs = HASH_COUNT(t->processes);
	out->nattached = t->nattached;
	out->filtering = t->filtering;
	out->nobjects = HASH_COUNT(t->objects);
	out->shards_max = shards_max(t->shards);
	out->words_max = (uint64_t)out->shards_max * SHARD_WORDS;
	out->words_used = shards_used(t->shards, &out->shards_created);
	for (i = 0; i < out->shards_max; i++) {
		shards_info(t->shards, i, &info);
		out->shards_used += info.used != 0;
	}
	out->lost_records = t->lost_records;
	out->evicted = evict_waiting(t);
	out->evictions = t->evictions;
	out->started = t->started;
	out->idle = !is_waited_for(t);
	turnlock_give(&t->lock);
}
