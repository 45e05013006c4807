// SPDX-License-Identifier: GPL-2.0-or-later
/* See idlefile.h. */
#include "bpf/tracker/idlefile.h"

#include <stdlib.h>
#include <sys/eventfd.h>

#include "bpf/sampler/clock.h"
#include "bpf/tracker/notices.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/objectfile.h"
#include "bpf/tracker/opener.h"
#include "bpf/tracker/proctable.h"

#define KEEP_NS	 (30ull * 1000000000) /* short commands that run again sooner find it open */
#define LOOK_NS	 (1ull * 1000000000)
#define AGAIN_NS (60ull * 1000000000) /* before a file is asked for again */

void idlefile_look(struct idlefiles *idle, uint64_t now)
{
	struct object *o, *next;

	if (now - idle->looked < LOOK_NS)
		return;
	idle->looked = now;
	HASH_ITER(hh, idle->objects->all, o, next) {
		if (object_is_mapped(o) || o->in_queue || o->fd < 0) {
			o->idle = 0;
			continue;
		}
		if (!o->idle)
			o->idle = now;
		if (o->idle + KEEP_NS <= now)
			object_close(idle->objects, o);
	}
}

/* --- too many of them ------------------------------------------------------------------------ */

static int by_user(const void *x, const void *y)
{
	const struct object *const *a = x, *const *b = y;

	return ((*a)->uid > (*b)->uid) - ((*a)->uid < (*b)->uid);
}

static int by_use(const void *x, const void *y)
{
	const struct object *const *a = x, *const *b = y;

	if ((*a)->sampled != (*b)->sampled)
		return (*a)->sampled < (*b)->sampled ? -1 : 1;
	return ((*a)->seen > (*b)->seen) - ((*a)->seen < (*b)->seen);
}

/* Of a list sorted by user: the part of the user who has most. */
static struct object **largest_user(struct object **list, size_t n, size_t *size)
{
	struct object **best = list;
	size_t i, first = 0;

	*size = 0;
	for (i = 1; i <= n; i++) {
		if (i < n && list[i]->uid == list[first]->uid)
			continue;
		if (i - first > *size) {
			*size = i - first;
			best = list + first;
		}
		first = i;
	}
	return best;
}

/* A sixteenth at once, since the search is expensive. */
void idlefile_limit(struct idlefiles *idle)
{
	struct object **list, **chosen, *o, *next;
	size_t n = 0, i, count;

	if (!idle->open_max || idle->objects->nopen <= idle->open_max)
		return;
	list = malloc(idle->objects->nopen * sizeof(struct object *));
	if (!list)
		return;
	HASH_ITER(hh, idle->objects->all, o, next)
		if (o->fd >= 0 && !o->held && !o->building && n < idle->objects->nopen)
			list[n++] = o;
	qsort(list, n, sizeof(struct object *), by_user);
	chosen = largest_user(list, n, &count);
	if (count < idle->open_max / 16) { /* many users have a few each */
		chosen = list;
		count = n;
	}
	qsort(chosen, count, sizeof(struct object *), by_use);
	for (i = 0; i < count && i <= idle->open_max / 16; i++) {
		if (chosen[i]->in_queue)
			object_unqueue(idle->objects, chosen[i]);
		if (notices_first(idle->notices, NOTICE_CLOSED_FILES))
			notices_tell(idle->notices, 0,
				     "more than %u files are mapped: those of user %u that are not "
				     "sampled are closed",
				     idle->open_max, (unsigned int)chosen[i]->uid);
		object_close(idle->objects, chosen[i]);
	}
	free(list);
}

void idlefile_want(struct idlefiles *idle, struct object *o)
{
	const uint64_t now = clock_now();

	if (o->wanted_at && now - o->wanted_at < AGAIN_NS)
		return;
	o->wanted_at = now;
	if (!o->wanted) {
		o->wanted = true;
		idle->objects->nwanted++;
	}
	eventfd_write(idle->wake_fd, 1);
}

void idlefile_ask(struct idlefiles *idle)
{
	struct open_request request;
	struct process *p, *next;
	struct object *o, *after;
	size_t i;

	if (!idle->objects->nwanted || !idle->opener)
		return;
	HASH_ITER(hh, idle->procs->live, p, next) {
		for (i = 0; i < p->nmappings && idle->objects->nwanted; i++) {
			o = p->mappings[i].object;
			if (!o || !o->wanted)
				continue;
			o->wanted = false;
			idle->objects->nwanted--;
			if (!object_is_closed(o))
				continue;
			objectfile_request(idle->objects, &request, process_thread(p),
					   &p->mappings[i], o->name);
			opener_ask(idle->opener, &request, p->pid, p->uid, false);
		}
	}
	/* The rest is no longer mapped. */
	if (idle->objects->nwanted)
		HASH_ITER(hh, idle->objects->all, o, after)
			o->wanted = false;
	idle->objects->nwanted = 0;
}
