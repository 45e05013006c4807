// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the executable mappings of a process lie. Records add to them one by one; nothing tells of
 * munmap and mremap, so a reading of /proc/PID/maps replaces them as a whole.
 */
#include "bpf/tracker_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "symbols/procmaps.h"

#define MAPPINGS_MAX 8192u

void mappings_clear(struct tracker *t, struct process *p)
{
	size_t i;

	for (i = 0; i < p->nmappings; i++)
		if (p->mappings[i].object)
			object_unref(t, p->mappings[i].object);
	free(p->mappings);
	p->mappings = NULL;
	p->nmappings = 0;
}

int mappings_copy(struct tracker *t, struct process *to, const struct process *from)
{
	size_t i;

	if (!from->nmappings)
		return 0;
	to->mappings = malloc(from->nmappings * sizeof(*to->mappings));
	if (!to->mappings)
		return -ENOMEM;
	to->nmappings = from->nmappings;
	memcpy(to->mappings, from->mappings, to->nmappings * sizeof(*to->mappings));
	for (i = 0; i < to->nmappings; i++)
		if (to->mappings[i].object)
			object_get(t, to->mappings[i].object);
	return 0;
}

/* Puts the mapping in its place; what it overlaps is cut or goes. */
static int mapping_add(struct tracker *t, struct process *p, const struct mapping *m)
{
	struct mapping *list;
	size_t i, n = 0;
	bool placed = false;

	if (p->nmappings >= MAPPINGS_MAX)
		return -ENOSPC;
	list = malloc((p->nmappings + 2) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (i = 0; i < p->nmappings; i++) {
		struct mapping old = p->mappings[i];

		if (old.end <= m->start) {
			list[n++] = old;
			continue;
		}
		if (old.start < m->start) { /* its beginning stays */
			list[n] = old;
			list[n++].end = m->start;
			if (old.object)
				object_get(t, old.object);
		}
		if (!placed) {
			list[n++] = *m;
			placed = true;
		}
		if (old.end > m->end) { /* its end, or all of it, stays */
			if (old.start < m->end)
				old.start = m->end;
			/* one may be cut in two: then there is no other that is cut */
			if (n >= p->nmappings + 2)
				break;
			list[n++] = old;
		} else if (old.object) {
			object_unref(t, old.object);
		}
	}
	if (!placed)
		list[n++] = *m;
	free(p->mappings);
	p->mappings = list;
	p->nmappings = n;
	return 0;
}

/* With a reference to its object. */
static struct mapping describe(struct tracker *t, pid_t pid, const struct procmap *map)
{
	struct mapping m = {.start = map->start, .end = map->end};

	if (!strcmp(map->name, "[vdso]"))
		m.object = object_vdso(t);
	else if (map->inode && strcmp(map->name, "//anon"))
		m.object = object_of_mapping(t, pid, map->start, map->end, map->name,
					     makedev(map->dev_major, map->dev_minor), map->inode);
	if (m.object && !m.object->nloads) {
		m.bias = m.start - map->offset; /* not ELF, or of another machine: offsets */
	} else if (m.object && !object_bias(m.object, &m, map->offset, &m.bias)) {
		object_unref(t, m.object);
		m.object = NULL;
	}
	return m;
}

static bool is_known(const struct process *p, const struct mapping *m)
{
	size_t i;

	for (i = 0; i < p->nmappings; i++)
		if (p->mappings[i].start <= m->start && p->mappings[i].end >= m->end &&
		    p->mappings[i].object == m->object && p->mappings[i].bias == m->bias)
			return true;
	return false;
}

bool mapping_record(struct tracker *t, struct process *p, const struct procmap *map)
{
	struct mapping m;

	if (map->start >= map->end)
		return false;
	m = describe(t, process_thread(p), map);
	if (!is_known(p, &m) && !mapping_add(t, p, &m))
		return true;
	if (m.object)
		object_unref(t, m.object);
	return false;
}

struct scan {
	struct tracker *t;
	struct process to; /* only its mappings */
	size_t room;
};

static int on_map(const struct procmap *map, void *arg)
{
	struct scan *s = arg;
	struct mapping *more;
	size_t room;

	if (!strcmp(map->name, "[vsyscall]") || s->to.nmappings >= MAPPINGS_MAX)
		return 0;
	if (s->to.nmappings == s->room) {
		room = s->room ? s->room * 2 : 32;
		more = realloc(s->to.mappings, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->to.mappings = more;
		s->room = room;
	}
	s->to.mappings[s->to.nmappings++] = describe(s->t, s->to.pid, map);
	return 0;
}

static bool same(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->object == b->object &&
	       (!a->object || a->bias == b->bias);
}

int mappings_read(struct tracker *t, struct process *p)
{
	struct scan s = {.t = t, .to.pid = process_thread(p)};
	int err = procmaps_read(s.to.pid, true, on_map, &s);
	bool changed = s.to.nmappings != p->nmappings;
	struct process old = {.mappings = p->mappings, .nmappings = p->nmappings};
	size_t i;

	/* One that is exiting shows nothing; what is known serves to name its last samples. */
	if (err || !s.to.nmappings) {
		mappings_clear(t, &s.to);
		return err < 0 ? err : 0;
	}
	for (i = 0; i < s.to.nmappings && !changed; i++)
		changed = !same(&s.to.mappings[i], &p->mappings[i]);
	if (changed && old.nmappings && !process_has_image(p)) {
		mappings_clear(t, &s.to);
		return -EAGAIN;
	}
	p->mappings = s.to.mappings;
	p->nmappings = s.to.nmappings;
	mappings_clear(t, &old);
	return changed;
}
