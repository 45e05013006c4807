// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the executable mappings of a process are. Records add to them one by one. No record tells
 * of munmap and mremap, so a reading of /proc/PID/maps replaces all of them.
 */
#include "bpf/tracker/mapping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/tracker/idlefile.h"
#include "bpf/tracker/notices.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/objectfile.h"
#include "bpf/tracker/openfile.h"
#include "bpf/tracker/opener.h"
#include "bpf/tracker/proctable.h"
#include "bpf/tracker/turnlock.h"
#include "symbols/files/procmaps.h"

static void tell_quota(struct mappings *ms, const struct process *p)
{
	if (notices_first(ms->notices, NOTICE_MAPPINGS_QUOTA))
		notices_tell(ms->notices, 1,
			     "%s (%d) and others of its user have too many mappings for the memory "
			     "that there is: only the lower ones are known",
			     p->comm, (int)p->pid);
}

/* How many more the process may have. */
static uint64_t room_for_mappings(const struct mappings *ms, const struct process *p)
{
	uint64_t room = quota_room(&ms->quota, p->nmappings ? p->payer : p->uid);

	return room < MAPPINGS_MAX - p->nmappings ? room : MAPPINGS_MAX - p->nmappings;
}

/* Before they are counted in p->nmappings. */
static bool charge_mappings(struct mappings *ms, struct process *p, size_t n)
{
	if (!p->nmappings)
		p->payer = p->uid;
	return quota_take(&ms->quota, p->payer, n);
}

static void free_mappings(struct mappings *ms, struct mapping *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].object)
			object_unref(ms->objects, list[i].object);
	free(list);
}

void mappings_clear(struct mappings *ms, struct process *p)
{
	free_mappings(ms, p->mappings, p->nmappings);
	quota_give(&ms->quota, p->payer, p->nmappings);
	p->mappings = NULL;
	p->nmappings = 0;
}

int mappings_copy(struct mappings *ms, struct process *to, const struct process *from)
{
	uint64_t n = room_for_mappings(ms, to);
	size_t i;

	if (n < from->nmappings)
		tell_quota(ms, from);
	else
		n = from->nmappings;
	if (!n)
		return 0;
	to->mappings = malloc(n * sizeof(*to->mappings));
	if (!to->mappings || !charge_mappings(ms, to, n)) {
		free(to->mappings);
		to->mappings = NULL;
		return -ENOMEM;
	}
	to->nmappings = n;
	to->asks = from->asks;
	memcpy(to->mappings, from->mappings, to->nmappings * sizeof(*to->mappings));
	for (i = 0; i < to->nmappings; i++)
		if (to->mappings[i].object)
			object_get(ms->objects, to->mappings[i].object);
	return 0;
}

/* Gives p the list, or the lowest mappings of it if there is no room for all. */
static void take_mappings(struct mappings *ms, struct process *p, struct mapping *list, size_t n)
{
	const uint64_t most = p->nmappings + room_for_mappings(ms, p);

	if (n > most)
		tell_quota(ms, p);
	while (n > most)
		if (list[--n].object)
			object_unref(ms->objects, list[n].object);
	if (n > p->nmappings &&
	    !charge_mappings(ms, p, n - p->nmappings)) /* no memory for an account */
		while (n > p->nmappings)
			if (list[--n].object)
				object_unref(ms->objects, list[n].object);
	if (n < p->nmappings)
		quota_give(&ms->quota, p->payer, p->nmappings - n);
	free(p->mappings);
	p->mappings = list;
	p->nmappings = n;
}

/* Inserts the mapping; what it overlaps is cut or removed. */
static int mapping_add(struct mappings *ms, struct process *p, const struct mapping *m)
{
	struct mapping *list;
	size_t i, n = 0;
	bool placed = false;

	if (!room_for_mappings(ms, p) &&
	    (!p->nmappings || p->mappings[p->nmappings - 1].end <= m->start)) {
		if (p->nmappings < MAPPINGS_MAX)
			tell_quota(ms, p);
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
		if (old.start < m->start) { /* its start stays */
			list[n] = old;
			list[n++].end = m->start;
			if (old.object)
				object_get(ms->objects, old.object);
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
			/* If one mapping is cut in two, no other one is cut. */
			if (n >= p->nmappings + 2)
				break;
			list[n++] = old;
		} else if (old.object) {
			object_unref(ms->objects, old.object);
		}
	}
	if (!placed)
		list[n++] = *m;
	take_mappings(ms, p, list, n);
	return 0;
}

/*
 * A program that dumps itself (GCL) keeps the code it has loaded in what ELF calls data. The
 * file says nothing of it, and the process goes on to change it.
 */
static bool is_own_code(const struct object *o, const struct mapping *m)
{
	return m->writable && !m->data &&
	       !objectfile_meets_code(o, m->start - m->bias, m->end - m->bias);
}

/*
 * The object of a mapping of p is there, or NULL: the file cannot be opened. Takes the reference.
 */
static void set_object(const struct mappings *ms, const struct process *p, struct mapping *m,
		       struct object *o)
{
	m->asked = 0;
	m->object = o;
	if (o && !o->nloads) {
		m->bias = m->start - m->offset; /* not ELF, or of another architecture: offsets */
	} else if (o && (!objectfile_bias(o, m, m->offset, &m->bias) || is_own_code(o, m))) {
		object_unref(ms->objects, o);
		m->object = NULL;
	}
	if (m->object && (p->target || !ms->objects->chosen_only))
		object_want_table(ms->objects, m->object);
}

/* The index of the first mapping that ends behind the address. */
static size_t find_mapping(const struct process *p, uint64_t address)
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

const struct mapping *mapping_at(const struct process *p, uint64_t address)
{
	const size_t at = find_mapping(p, address);

	return at < p->nmappings && p->mappings[at].start <= address ? &p->mappings[at] : NULL;
}

/* --- code that was replaced ------------------------------------------------------------------- */

/*
 * A program may copy its code to huge pages and map these in its place (node --use-largepages,
 * ClickHouse): anonymous memory inside a segment of code, next to a mapping of the file.
 */
static bool replaces_code_of(const struct mapping *m, const struct mapping *file)
{
	return file->object && !m->object && !m->asked && !m->file.inode && !m->file.dev &&
	       objectfile_has_code(file->object, m->start - file->bias, m->end - file->bias);
}

static void take_place(const struct mappings *ms, struct mapping *m, const struct mapping *file)
{
	object_get(ms->objects, file->object);
	m->object = file->object;
	m->bias = file->bias;
}

static void find_replaced(const struct mappings *ms, struct process *p)
{
	size_t i;

	for (i = 1; i < p->nmappings; i++) {
		struct mapping *m = &p->mappings[i];

		if (m[-1].end == m->start && replaces_code_of(m, &m[-1]))
			take_place(ms, m, &m[-1]);
	}
	for (i = p->nmappings; i-- > 1;) {
		struct mapping *m = &p->mappings[i - 1];

		if (m->end == m[1].start && replaces_code_of(m, &m[1]))
			take_place(ms, m, &m[1]);
	}
}

/* Takes the object from p's mapping there, if it is the same and need not be asked for again. */
static bool take_from_old(const struct mappings *ms, const struct process *p, struct mapping *m)
{
	const size_t at = find_mapping(p, m->start);
	const struct mapping *old = &p->mappings[at];

	if (at == p->nmappings || old->start != m->start || old->end != m->end ||
	    old->offset != m->offset || old->file.inode != m->file.inode ||
	    old->file.dev != m->file.dev)
		return false;
	if (old->asked)
		m->asked = old->asked;
	else if (objectfile_still(ms->objects, old))
		set_object(ms, p, m, old->object);
	else
		return false;
	return true;
}

static struct object *take_file(const struct mappings *ms, const struct open_request *r,
				const struct open_answer *a, uid_t uid, int fd)
{
	struct object *o = objectfile_take(ms->objects, r, a, uid, fd);

	if (o)
		idlefile_limit(ms->idlefiles);
	return o;
}

static void ask_for_file(const struct mappings *ms, const struct process *p, struct mapping *m,
			 const char *name, bool alone)
{
	struct open_request request;
	struct open_answer answer;
	int fd;

	objectfile_request(ms->objects, &request, process_thread(p), m, name);
	if (ms->opener) {
		m->asked = opener_ask(ms->opener, &request, p->pid, p->uid, alone);
	} else { /* in tests */
		openfile_do(&request, 0, &answer, &fd);
		set_object(ms, p, m,
			   answer.err ? NULL : take_file(ms, &request, &answer, p->uid, fd));
	}
}

/* With a reference to its object, or without while its file is asked for. */
static struct mapping describe_mapping(const struct mappings *ms, const struct process *p,
				       const struct procmap *map)
{
	struct mapping m = {.start = map->start,
			    .end = map->end,
			    .offset = map->offset,
			    .data = !map->exec,
			    .writable = map->write};
	struct object *o;

	/* That of a 32-bit process is another file, which is nowhere to be read. */
	if (!strcmp(map->name, "[vdso]") && map->end <= (uint64_t)UINT32_MAX + 1)
		return m;
	if (!strcmp(map->name, "[vdso]")) {
		set_object(ms, p, &m, objectfile_vdso(ms->objects));
		return m;
	}
	/* The first segment of System V's shared memory has inode 0. */
	if ((!map->inode && !map->dev_major && !map->dev_minor) || !strcmp(map->name, "//anon"))
		return m;
	m.file = (struct file_id){makedev(map->dev_major, map->dev_minor), map->inode};
	o = objectfile_known(ms->objects, &m.file, p->uid);
	if (o)
		set_object(ms, p, &m, o);
	else if (!take_from_old(ms, p, &m))
		ask_for_file(ms, p, &m, map->name, false);
	return m;
}

static bool is_known(const struct process *p, const struct mapping *m)
{
	const size_t at = find_mapping(p, m->start);
	const struct mapping *old = &p->mappings[at];

	return at < p->nmappings && old->start <= m->start && old->end >= m->end &&
	       old->object == m->object && old->bias == m->bias && old->asked == m->asked &&
	       old->file.inode == m->file.inode && old->file.dev == m->file.dev;
}

bool mapping_record(struct mappings *ms, struct process *p, const struct procmap *map)
{
	const struct mapping *old;
	struct mapping m;

	if (map->start >= map->end)
		return false;
	if (p->nmappings >= MAPPINGS_MAX) { /* those to keep are chosen when all are read */
		proctable_doubt(ms->procs, p->pid);
		return false;
	}
	m = describe_mapping(ms, p, map);
	old = mapping_at(p, m.start);
	if (old && replaces_code_of(&m, old))
		take_place(ms, &m, old);
	p->asks |= m.asked != 0;
	if (!is_known(p, &m) && !mapping_add(ms, p, &m))
		return true;
	if (m.object)
		object_unref(ms->objects, m.object);
	return false;
}

/*
 * The process may keep its mappings locked, or have many of them, so the tracker gives up its lock
 * meanwhile. Only its own thread changes processes and their mappings, and threads that wait until
 * ms->reading is false.
 */
static int read_unlocked(struct mappings *ms, struct maps_reading *s)
{
	int err;

	if (!ms->has_reader || !pthread_equal(ms->reader, pthread_self()))
		return mapsreader_read(s);
	ms->reading = true;
	turnlock_give(ms->lock);
	err = mapsreader_read(s);
	turnlock_take(ms->lock);
	ms->reading = false;
	pthread_cond_broadcast(&ms->has_read);
	return err;
}

/* Enters in `to` what was read of p; the lower ones if p's user has no room for all. */
static int describe_all(struct mappings *ms, const struct process *p, const struct maps_reading *s,
			struct process *to)
{
	const uint64_t room = room_for_mappings(ms, to);
	const size_t n = s->nseen < room ? s->nseen : (size_t)room;

	if (n < s->nseen)
		tell_quota(ms, p);
	if (!n)
		return 0;
	to->mappings = malloc(n * sizeof(*to->mappings));
	if (!to->mappings || !charge_mappings(ms, to, n))
		return -ENOMEM;
	for (to->nmappings = 0; to->nmappings < n; to->nmappings++) {
		struct procmap map = s->seen[to->nmappings].map;
		struct mapping *m = &to->mappings[to->nmappings];

		map.name = s->names + s->seen[to->nmappings].name;
		*m = describe_mapping(ms, p, &map);
		to->asks |= m->asked != 0;
	}
	find_replaced(ms, to);
	return 0;
}

/* Should what was read replace what is known? 1: it differs, 0: it does not, or -errno. */
static int compare_with_old(const struct process *p, const struct process *to)
{
	bool changed = to->nmappings != p->nmappings;

	/* A file that could not be opened and is asked for again is the same until it comes. */
	for (size_t i = 0; i < to->nmappings && !changed; i++) {
		const struct mapping *a = &to->mappings[i], *b = &p->mappings[i];

		changed = a->start != b->start || a->end != b->end || a->object != b->object ||
			  (a->object && a->bias != b->bias);
	}
	return changed && p->nmappings && !process_has_stack_start(p) ? -EAGAIN : changed;
}

static int replace_mappings(struct mappings *ms, struct process *p, const struct maps_reading *s)
{
	struct process to = {.uid = p->uid};
	int err;

	/* The old mappings must not take the room of the new ones. */
	quota_give(&ms->quota, p->payer, p->nmappings);
	err = describe_all(ms, p, s, &to);
	if (!err && to.nmappings)
		err = compare_with_old(p, &to);
	if (err < 0 || !to.nmappings) {
		mappings_clear(ms, &to);
		quota_take(&ms->quota, p->payer, p->nmappings);
		return err;
	}
	free_mappings(ms, p->mappings, p->nmappings);
	p->mappings = to.mappings;
	p->nmappings = to.nmappings;
	p->payer = to.payer;
	p->asks = to.asks;
	return err;
}

int mappings_read(struct mappings *ms, struct process *p)
{
	struct maps_reading s = {.pid = process_thread(p)};
	int err = read_unlocked(ms, &s);

	/* An exiting process shows none; what is known still names its last samples. */
	if (!err && s.nseen)
		err = replace_mappings(ms, p, &s);
	mapsreader_free(&s);
	return err < 0 ? err : err > 0;
}

/* --- answers --------------------------------------------------------------------------------- */

/* The answer to one question. */
struct mapping_answer {
	struct mappings *ms;
	const struct opening *opening;
	struct object *object; /* NULL: none */
	bool same_numbers;     /* mapping and file have the same device number */
};

static void answer_mapping(const struct mapping_answer *s, const struct process *p,
			   struct mapping *m)
{
	const struct open_request *r = s->opening->request;

	m->asked = 0;
	if (!s->object)
		return;
	/* Other mappings have joined the question, since their files have the same numbers. */
	if (!s->same_numbers &&
	    (p->pid != s->opening->tgid || m->start < r->start || m->end > r->end)) {
		ask_for_file(s->ms, p, m, r->name, true);
		return;
	}
	object_get(s->ms->objects, s->object);
	set_object(s->ms, p, m, s->object);
}

/* True: something has changed. */
static bool answer_process(const struct mapping_answer *s, struct process *p)
{
	bool changed = false, asks = false;
	size_t i;

	for (i = 0; i < p->nmappings; i++) {
		if (p->mappings[i].asked == s->opening->id) {
			answer_mapping(s, p, &p->mappings[i]);
			changed = true;
		}
		asks |= p->mappings[i].asked != 0;
	}
	if (changed)
		find_replaced(s->ms, p);
	p->asks = asks;
	return changed;
}

static void tell_failed(const struct mappings *ms, const struct open_request *r, int err)
{
	if (err == -EMFILE || err == -ENFILE) {
		if (notices_first(ms->notices, NOTICE_OPEN_FILES))
			notices_tell(ms->notices, 1,
				     "too many open files: %s and others cannot be walked",
				     r->name);
	} else if (err == -EFBIG) {
		if (notices_first(ms->notices, NOTICE_COPIES))
			notices_tell(ms->notices, 1,
				     "%s is on a file system that may not answer, and too large to "
				     "be copied: it and others cannot be walked",
				     r->name);
	} else if (err == -ETIMEDOUT || err == -ECONNRESET) {
		if (notices_first(ms->notices, NOTICE_SILENT_FILE))
			notices_tell(ms->notices, 1,
				     "%s does not answer: it and others cannot be walked", r->name);
	}
}

void mappings_on_answer(struct mappings *ms, const struct opening *o, const struct open_answer *a,
			int fd)
{
	struct mapping_answer s = {.ms = ms, .opening = o};
	struct process *p, *next;

	if (a->err)
		tell_failed(ms, o->request, a->err);
	else if (a->file.dev == o->request->dev && a->file.inode != o->request->inode)
		close(fd); /* the PID was reused meanwhile */
	else
		s.object = take_file(ms, o->request, a, o->uid, fd);
	s.same_numbers = s.object && a->file.dev == o->request->dev;
	HASH_ITER(hh, ms->procs->live, p, next)
		if (p->asks && answer_process(&s, p))
			proctable_dirty(ms->procs, p);
	for (p = ms->procs->dead; p; p = p->next_dead)
		if (p->asks)
			answer_process(&s, p);
	if (s.object)
		object_unref(ms->objects, s.object);
}
