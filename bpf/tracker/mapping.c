// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the executable mappings of a process lie. Records add to them one by one; nothing tells of
 * munmap and mremap, so a reading of /proc/PID/maps replaces them as a whole.
 */
#include "bpf/tracker/tracker_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/tracker/openfile.h"
#include "bpf/tracker/opener.h"
#include "symbols/files/procmaps.h"

#define MAPPINGS_MAX 8192u
#define ALL_MAX	     (1u << 18) /* that are counted to choose among */

static void tell_quota(struct tracker *t, const struct process *p)
{
	if (!t->told_quota)
		tracker_tell(t, 1,
			     "%s (%d) and others of its user have too many mappings for the memory "
			     "that there is: only the lower ones are known",
			     p->comm, (int)p->pid);
	t->told_quota = true;
}

/* How many more the process may have. */
static uint64_t room_for(const struct tracker *t, const struct process *p)
{
	uint64_t room = quota_room(&t->mappings, p->nmappings ? p->payer : p->uid);

	return room < MAPPINGS_MAX - p->nmappings ? room : MAPPINGS_MAX - p->nmappings;
}

/* Before they are counted in p->nmappings. */
static bool charge(struct tracker *t, struct process *p, size_t n)
{
	if (!p->nmappings)
		p->payer = p->uid;
	return quota_take(&t->mappings, p->payer, n);
}

static void list_free(struct tracker *t, struct mapping *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].object)
			object_unref(t, list[i].object);
	free(list);
}

void mappings_clear(struct tracker *t, struct process *p)
{
	list_free(t, p->mappings, p->nmappings);
	quota_give(&t->mappings, p->payer, p->nmappings);
	p->mappings = NULL;
	p->nmappings = 0;
}

int mappings_copy(struct tracker *t, struct process *to, const struct process *from)
{
	uint64_t n = room_for(t, to);
	size_t i;

	if (n < from->nmappings)
		tell_quota(t, from);
	else
		n = from->nmappings;
	if (!n)
		return 0;
	to->mappings = malloc(n * sizeof(*to->mappings));
	if (!to->mappings || !charge(t, to, n)) {
		free(to->mappings);
		to->mappings = NULL;
		return -ENOMEM;
	}
	to->nmappings = n;
	to->asks = from->asks;
	memcpy(to->mappings, from->mappings, to->nmappings * sizeof(*to->mappings));
	for (i = 0; i < to->nmappings; i++)
		if (to->mappings[i].object)
			object_get(t, to->mappings[i].object);
	return 0;
}

/* The list is what p is to have: the lowest of it, as far as there is room. */
static void list_take(struct tracker *t, struct process *p, struct mapping *list, size_t n)
{
	const uint64_t most = p->nmappings + room_for(t, p);

	if (n > most)
		tell_quota(t, p);
	while (n > most)
		if (list[--n].object)
			object_unref(t, list[n].object);
	if (n > p->nmappings && !charge(t, p, n - p->nmappings)) /* no memory for an account */
		while (n > p->nmappings)
			if (list[--n].object)
				object_unref(t, list[n].object);
	if (n < p->nmappings)
		quota_give(&t->mappings, p->payer, p->nmappings - n);
	free(p->mappings);
	p->mappings = list;
	p->nmappings = n;
}

/* Puts the mapping in its place; what it overlaps is cut or goes. */
static int mapping_add(struct tracker *t, struct process *p, const struct mapping *m)
{
	struct mapping *list;
	size_t i, n = 0;
	bool placed = false;

	if (!room_for(t, p) && (!p->nmappings || p->mappings[p->nmappings - 1].end <= m->start)) {
		if (p->nmappings < MAPPINGS_MAX)
			tell_quota(t, p);
		return -ENOSPC;
	}
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
			if (old.start < m->end) {
				old.offset += m->end - old.start;
				old.start = m->end;
			}
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
	list_take(t, p, list, n);
	return 0;
}

/* Its object is there, or its file cannot be had. Takes the reference, as far as it is of use. */
static void settle(struct tracker *t, struct mapping *m, struct object *o)
{
	m->asked = 0;
	m->object = o;
	if (o && !o->nloads) {
		m->bias = m->start - m->offset; /* not ELF, or of another machine: offsets */
	} else if (o && !object_bias(o, m, m->offset, &m->bias)) {
		object_unref(t, o);
		m->object = NULL;
	}
}

/* The number of the first that ends behind the address. */
static size_t find(const struct process *p, uint64_t address)
{
	size_t low = 0, high = p->nmappings, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (p->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What p has there already, if it is the same and need not be asked for again. */
static bool is_there(struct tracker *t, const struct process *p, struct mapping *m)
{
	const size_t at = find(p, m->start);
	const struct mapping *old = &p->mappings[at];

	if (at == p->nmappings || old->start != m->start || old->end != m->end ||
	    old->offset != m->offset || old->file.inode != m->file.inode ||
	    old->file.dev != m->file.dev)
		return false;
	if (old->asked)
		m->asked = old->asked;
	else if (object_still(t, old))
		settle(t, m, old->object);
	else
		return false;
	return true;
}

/* For tests, which have no opener. */
static void open_here(struct tracker *t, const struct process *p, struct mapping *m,
		      const struct open_request *request)
{
	struct open_answer answer;
	int fd;

	openfile_do(request, 0, &answer, &fd);
	settle(t, m, answer.err ? NULL : object_of_answer(t, request, &answer, p->uid, fd));
}

static void ask(struct tracker *t, const struct process *p, struct mapping *m,
		const struct procmap *map, bool alone)
{
	struct open_request request;

	object_request(t, &request, process_thread(p), map);
	if (t->opener)
		m->asked = opener_ask(t->opener, &request, p->pid, p->uid, alone);
	else
		open_here(t, p, m, &request);
}

/* With a reference to its object, or without while its file is asked for. */
static struct mapping describe(struct tracker *t, const struct process *p,
			       const struct procmap *map)
{
	struct mapping m = {.start = map->start, .end = map->end, .offset = map->offset};
	struct object *o;

	if (!strcmp(map->name, "[vdso]")) {
		settle(t, &m, object_vdso(t));
		return m;
	}
	if (!map->inode || !strcmp(map->name, "//anon"))
		return m;
	m.file = (struct file_id){makedev(map->dev_major, map->dev_minor), map->inode};
	o = object_known(t, &m.file, p->uid);
	if (o)
		settle(t, &m, o);
	else if (!is_there(t, p, &m))
		ask(t, p, &m, map, false);
	return m;
}

static bool is_known(const struct process *p, const struct mapping *m)
{
	const size_t at = find(p, m->start);
	const struct mapping *old = &p->mappings[at];

	return at < p->nmappings && old->start <= m->start && old->end >= m->end &&
	       old->object == m->object && old->bias == m->bias && old->asked == m->asked;
}

/* Of too many, which are kept is decided when all are read. */
static bool is_crowded(struct tracker *t, const struct process *p)
{
	if (p->nmappings < MAPPINGS_MAX)
		return false;
	doubt_add(t, p->pid);
	return true;
}

bool mapping_record(struct tracker *t, struct process *p, const struct procmap *map)
{
	struct mapping m;

	if (map->start >= map->end || is_crowded(t, p))
		return false;
	m = describe(t, p, map);
	p->asks |= m.asked != 0;
	if (!is_known(p, &m) && !mapping_add(t, p, &m))
		return true;
	if (m.object)
		object_unref(t, m.object);
	return false;
}

/* A mapping as it was read. */
struct seen {
	struct procmap map; /* its name is at... */
	size_t name;	    /* ...in names */
};

struct scan {
	pid_t pid;
	struct file_id *files; /* of all that there are, up to ALL_MAX */
	size_t nfiles, files_room;
	bool *keep; /* of these; NULL: as many as there is room for */
	size_t at;  /* in keep */
	struct seen *seen;
	size_t nseen, seen_room;
	char *names; /* each with its null byte; those in a row that are the same stand once */
	size_t names_used, names_room;
};

/* Room for one more of the elements; NULL: no memory. */
static void *grow(void *at, size_t n, size_t *room, size_t more, size_t size)
{
	void *larger = at;

	if (n + more > *room) {
		*room = (n + more) * 2;
		larger = reallocarray(at, *room, size);
	}
	return larger;
}

static int add_file(struct scan *s, const struct procmap *map)
{
	struct file_id *more = grow(s->files, s->nfiles, &s->files_room, 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	s->files = more;
	s->files[s->nfiles++] =
		(struct file_id){makedev(map->dev_major, map->dev_minor), map->inode};
	return 0;
}

static int add_seen(struct scan *s, const struct procmap *map)
{
	const size_t length = strlen(map->name) + 1;
	struct seen *more = grow(s->seen, s->nseen, &s->seen_room, 1, sizeof(*more));
	size_t name = 0;
	char *names;

	if (!more)
		return -ENOMEM;
	s->seen = more;
	if (s->nseen)
		name = s->seen[s->nseen - 1].name;
	if (!s->nseen || strcmp(s->names + name, map->name) != 0) {
		names = grow(s->names, s->names_used, &s->names_room, length, 1);
		if (!names)
			return -ENOMEM;
		s->names = names;
		name = s->names_used;
		memcpy(s->names + name, map->name, length);
		s->names_used += length;
	}
	s->seen[s->nseen++] = (struct seen){*map, name};
	return 0;
}

static int on_map(const struct procmap *map, void *arg)
{
	struct scan *s = arg;
	bool wanted = true;
	int err = 0;

	if (!strcmp(map->name, "[vsyscall]"))
		return 0;
	if (s->keep)
		wanted = s->at < s->nfiles && s->keep[s->at++];
	else if (s->nfiles < ALL_MAX)
		err = add_file(s, map);
	return err || !wanted || s->nseen >= MAPPINGS_MAX ? err : add_seen(s, map);
}

/* Marks those that are kept. */
static int choose(struct scan *s)
{
	uint32_t *order = malloc(s->nfiles * sizeof(*order));
	int err = order ? crowd_order(s->files, (uint32_t)s->nfiles, order) : -ENOMEM;

	s->keep = err ? NULL : calloc(s->nfiles, sizeof(*s->keep));
	for (size_t i = 0; s->keep && i < MAPPINGS_MAX; i++)
		s->keep[order[i]] = true;
	free(order);
	return s->keep ? 0 : -ENOMEM;
}

/* Those that are kept of too many are read once more: only now is it known which. */
static int read_maps(struct scan *s)
{
	int err = procmaps_read(s->pid, true, on_map, s);

	if (err || s->nfiles <= MAPPINGS_MAX)
		return err;
	s->nseen = s->names_used = 0;
	err = choose(s);
	return err ? err : procmaps_read(s->pid, true, on_map, s);
}

/*
 * The process may keep its mappings locked, or have many of them, so the tracker gives up its lock
 * meanwhile. Processes and their mappings are changed by its own thread alone, and by who waits for
 * t->reading.
 */
static int read_unlocked(struct tracker *t, struct scan *s)
{
	int err;

	if (!t->in_thread || !pthread_equal(t->tracker_self, pthread_self()))
		return read_maps(s);
	t->reading = true;
	turnlock_give(&t->lock);
	err = read_maps(s);
	turnlock_take(&t->lock);
	t->reading = false;
	pthread_cond_broadcast(&t->has_read);
	return err;
}

/* to gets what was read, of the process p; of too many for its user the lower ones. */
static int describe_all(struct tracker *t, const struct process *p, const struct scan *s,
			struct process *to)
{
	const uint64_t room = room_for(t, to);
	const size_t n = s->nseen < room ? s->nseen : (size_t)room;

	if (n < s->nseen)
		tell_quota(t, p);
	if (!n)
		return 0;
	to->mappings = malloc(n * sizeof(*to->mappings));
	if (!to->mappings || !charge(t, to, n))
		return -ENOMEM;
	for (to->nmappings = 0; to->nmappings < n; to->nmappings++) {
		struct procmap map = s->seen[to->nmappings].map;
		struct mapping *m = &to->mappings[to->nmappings];

		map.name = s->names + s->seen[to->nmappings].name;
		*m = describe(t, p, &map);
		to->asks |= m->asked != 0;
	}
	return 0;
}

/* One that could not be had and is asked for again is the same until it comes. */
static bool same(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->object == b->object &&
	       (!a->object || a->bias == b->bias);
}

/* Is what was read to replace what is known? 1: it differs, 0: it does not, or -errno. */
static int judge(const struct process *p, const struct process *to)
{
	bool changed = to->nmappings != p->nmappings;

	for (size_t i = 0; i < to->nmappings && !changed; i++)
		changed = !same(&to->mappings[i], &p->mappings[i]);
	return changed && p->nmappings && !process_has_image(p) ? -EAGAIN : changed;
}

static int replace(struct tracker *t, struct process *p, const struct scan *s)
{
	struct process to = {.uid = p->uid};
	int err;

	/* What comes in their place is not to be kept out by them. */
	quota_give(&t->mappings, p->payer, p->nmappings);
	err = describe_all(t, p, s, &to);
	if (!err && to.nmappings)
		err = judge(p, &to);
	if (err < 0 || !to.nmappings) {
		mappings_clear(t, &to);
		quota_take(&t->mappings, p->payer, p->nmappings);
		return err;
	}
	list_free(t, p->mappings, p->nmappings);
	p->mappings = to.mappings;
	p->nmappings = to.nmappings;
	p->payer = to.payer;
	p->asks = to.asks;
	return err;
}

int mappings_read(struct tracker *t, struct process *p)
{
	struct scan s = {.pid = process_thread(p)};
	int err = read_unlocked(t, &s);

	/* One that is exiting shows nothing; what is known serves to name its last samples. */
	if (!err && s.nseen)
		err = replace(t, p, &s);
	free(s.files);
	free(s.keep);
	free(s.seen);
	free(s.names);
	return err < 0 ? err : err > 0;
}

/* --- answers --------------------------------------------------------------------------------- */

/* Of what was asked for in one question. */
struct settling {
	struct tracker *t;
	const struct opening *opening;
	struct object *object; /* NULL: none */
	bool sure;	       /* the numbers of the mapping are those of the file */
};

/* Others have joined the question because they map a file of the same numbers. */
static bool is_meant(const struct settling *s, const struct process *p, const struct mapping *m)
{
	const struct open_request *r = s->opening->request;

	return s->sure || (p->pid == s->opening->tgid && m->start >= r->start && m->end <= r->end);
}

static void settle_mapping(const struct settling *s, const struct process *p, struct mapping *m)
{
	const struct open_request *r = s->opening->request;
	const struct procmap map = {
		.start = m->start,
		.end = m->end,
		.offset = m->offset,
		.dev_major = major(m->file.dev),
		.dev_minor = minor(m->file.dev),
		.inode = m->file.inode,
		.exec = true,
		.name = r->name,
	};

	m->asked = 0;
	if (!s->object)
		return;
	if (!is_meant(s, p, m)) {
		ask(s->t, p, m, &map, true);
		return;
	}
	object_get(s->t, s->object);
	settle(s->t, m, s->object);
}

/* True: something has changed. */
static bool settle_process(const struct settling *s, struct process *p)
{
	bool changed = false, asks = false;
	size_t i;

	for (i = 0; i < p->nmappings; i++) {
		if (p->mappings[i].asked == s->opening->id) {
			settle_mapping(s, p, &p->mappings[i]);
			changed = true;
		}
		asks |= p->mappings[i].asked != 0;
	}
	p->asks = asks;
	return changed;
}

static void tell_failed(struct tracker *t, const struct open_request *r, int err)
{
	bool *told = err == -EMFILE || err == -ENFILE	       ? &t->told_files
		     : err == -EFBIG			       ? &t->told_copies
		     : err == -ETIMEDOUT || err == -ECONNRESET ? &t->told_silent
							       : NULL;

	if (!told || *told)
		return;
	*told = true;
	tracker_tell(t, 1,
		     err == -EFBIG ? "%s is of a file system that may not answer, and too large to "
				     "be copied: it and others cannot be walked"
		     : told == &t->told_silent
			     ? "%s does not answer: it and others cannot be walked"
			     : "too many open files: %s and others cannot be walked",
		     r->name);
}

void mappings_on_answer(struct tracker *t, const struct opening *o, const struct open_answer *a,
			int fd)
{
	struct settling s = {.t = t, .opening = o};
	struct process *p, *next;

	if (a->err)
		tell_failed(t, o->request, a->err);
	else if (a->file.dev == o->request->dev && a->file.inode != o->request->inode)
		close(fd); /* the number is another process's by now */
	else
		s.object = object_of_answer(t, o->request, a, o->uid, fd);
	s.sure = s.object && a->file.dev == o->request->dev;
	HASH_ITER(hh, t->processes, p, next)
		if (p->asks && settle_process(&s, p))
			process_dirty(t, p);
	for (p = t->dead; p; p = p->next_dead)
		if (p->asks)
			settle_process(&s, p);
	if (s.object)
		object_unref(t, s.object);
}
