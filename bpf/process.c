// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The processes and where their executable mappings lie, followed by side-band records and read
 * from /proc for what existed before. What the walk needs of it, a sorted list of spans and gaps
 * per process, is published to the map_lists and procs maps.
 */
#include "bpf/tracker_priv.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/sampler.h"
#include "symbols/procmaps.h"

#define DEAD_MAX     32768u
#define ENTRY_WORDS  (sizeof(struct map_entry) / sizeof(uint32_t))
#define EXEC_TRIES   50u /* of a millisecond each, to see an exec come to its end */
#define MAPPINGS_MAX 8192u
#define PF_KTHREAD   0x00200000u

struct process *process_find(struct tracker *t, pid_t pid, uint64_t image)
{
	const struct dead_key key = {image, pid};
	struct process *p;

	HASH_FIND_INT(t->processes, &pid, p);
	if (p && (!image || !p->image || p->image == image))
		return p;
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): hashed as bytes */
	HASH_FIND(dead_hh, t->dead_by_key, &key, sizeof(key), p);
	return p;
}

/* It keeps its mappings for a while, for the samples that are still to be named. */
static void add_dead(struct tracker *t, struct process *p)
{
	struct process *other;

	p->exited = true;
	p->exit_time = tracker_now();
	p->next_dead = NULL;
	*t->dead_end = p;
	t->dead_end = &p->next_dead;
	t->ndead++;
	p->dead_key = (struct dead_key){p->image, p->pid};
	/* Of two with one key the younger is found. */
	HASH_FIND(dead_hh, t->dead_by_key, &p->dead_key, sizeof(p->dead_key), other);
	if (other)
		HASH_DELETE(dead_hh, t->dead_by_key, other);
	HASH_ADD(dead_hh, t->dead_by_key, dead_key, sizeof(p->dead_key), p);
}

static struct process *live(struct tracker *t, pid_t pid)
{
	struct process *p;

	HASH_FIND_INT(t->processes, &pid, p);
	return p;
}

static void mappings_clear(struct tracker *t, struct process *p)
{
	size_t i;

	for (i = 0; i < p->nmappings; i++)
		if (p->mappings[i].object)
			object_unref(t, p->mappings[i].object);
	free(p->mappings);
	p->mappings = NULL;
	p->nmappings = 0;
}

static void list_put(struct tracker *t, struct published *list)
{
	if (!list || --list->refs)
		return;
	if (list->count)
		tracker_discard(t, t->lists, list->word);
	free(list);
}

static void process_free(struct tracker *t, struct process *p)
{
	mappings_clear(t, p);
	list_put(t, p->list);
	free(p);
}

static void set_dirty(struct tracker *t, struct process *p)
{
	p->dirty = true;
	t->any_dirty = true;
}

static struct process *process_new(struct tracker *t, pid_t pid)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pid = pid;
	HASH_ADD_INT(t->processes, pid, p);
	return p;
}

static void on_exit_event(struct tracker *t, pid_t pid)
{
	struct process *p = live(t, pid);

	if (!p)
		return;
	HASH_DEL(t->processes, p);
	sampler_drop_process(t->sampler, pid);
	if (p->target) {
		sampler_set_target(t->sampler, pid, false);
		t->nattached--;
		p->target = false;
	}
	list_put(t, p->list);
	p->list = NULL;
	add_dead(t, p);
}

/* --- whether it is sampled ------------------------------------------------------------------ */

static bool chosen_by_options(const struct tracker *t, const struct process *p)
{
	const struct tracker_filter *f = t->filter;
	size_t i;

	if (p->follow)
		return true;
	if (!t->by_options)
		return false;
	if (f->npids) {
		for (i = 0; i < f->npids && f->pids[i] != p->pid; i++)
			;
		if (i == f->npids)
			return false;
	}
	if (f->comm && regexec(f->comm, p->comm, 0, NULL, 0))
		return false;
	return !f->user_given || f->user == p->uid;
}

void process_choose(struct tracker *t, struct process *p)
{
	bool target = p->attached || (!p->excluded && chosen_by_options(t, p));

	if (target == p->target)
		return;
	if (sampler_set_target(t->sampler, p->pid, target) && target) {
		tracker_tell(t, 1, "too many processes attached, %d is not", (int)p->pid);
		return;
	}
	p->target = target;
	t->nattached += target ? 1 : -1;
}

void process_choose_all(struct tracker *t)
{
	struct process *p, *next;

	HASH_ITER(hh, t->processes, p, next)
		process_choose(t, p);
}

/* --- mappings ------------------------------------------------------------------------------- */

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

static bool same_mapping(const struct process *p, uint64_t start, uint64_t end,
			 const struct object *object)
{
	size_t i;

	for (i = 0; i < p->nmappings; i++)
		if (p->mappings[i].start <= start && p->mappings[i].end >= end &&
		    p->mappings[i].object == object)
			return true;
	return false;
}

static void add_area(struct tracker *t, struct process *p, uint64_t start, uint64_t end,
		     uint64_t offset, dev_t dev, uint64_t inode, const char *name)
{
	struct mapping m = {.start = start, .end = end};

	if (start >= end)
		return;
	if (!strcmp(name, "[vdso]"))
		m.object = object_vdso(t);
	else if (inode && strcmp(name, "//anon"))
		m.object = object_of_mapping(t, p->pid, start, end, name, dev, inode);
	if (m.object && !object_bias(m.object, start, offset, &m.bias)) {
		object_unref(t, m.object);
		m.object = NULL;
	}
	if (same_mapping(p, start, end, m.object) || mapping_add(t, p, &m)) {
		if (m.object)
			object_unref(t, m.object);
		return;
	}
	set_dirty(t, p);
}

struct scan {
	struct tracker *t;
	struct process *p;
};

static int on_map(const struct procmap *map, void *arg)
{
	struct scan *s = arg;

	if (strcmp(map->name, "[vsyscall]"))
		add_area(s->t, s->p, map->start, map->end, map->offset,
			 makedev(map->dev_major, map->dev_minor), map->inode, map->name);
	return 0;
}

/* --- /proc ---------------------------------------------------------------------------------- */

/*
 * comm, parent, flags and start_stack from /proc/PID/stat (proc_pid_stat(5)). -errno. An exec sets
 * start_stack twice; only the second, after end_code, is that of the new image: *complete.
 */
static int read_stat(struct process *p, bool *complete)
{
	char path[64], text[1024], *at, *word, *rest;
	struct stat st;
	ssize_t n;
	int fd, field;

	/* What is in it belongs to root once the process has given up its privileges. */
	snprintf(path, sizeof(path), "/proc/%d", (int)p->pid);
	if (!stat(path, &st))
		p->uid = st.st_uid;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)p->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return -ESRCH;
	text[n] = '\0';
	word = strchr(text, '(');
	at = strrchr(text, ')');
	if (!word || !at || at < word)
		return -EINVAL;
	*at++ = '\0';
	snprintf(p->comm, sizeof(p->comm), "%.15s", word + 1);
	p->image = 0;
	for (field = 3, word = strtok_r(at, " ", &rest); word;
	     field++, word = strtok_r(NULL, " ", &rest)) {
		if (field == 4)
			p->ppid = strtol(word, NULL, 10);
		else if (field == 9)
			p->kthread = (strtoul(word, NULL, 10) & PF_KTHREAD) != 0;
		else if (field == 27)
			*complete = strcmp(word, "0") != 0;
		else if (field == 28)
			p->image = strtoull(word, NULL, 10);
	}
	return 0;
}

/*
 * The one executable mapping that no record tells of; its address is in the auxiliary vector
 * (proc_pid_auxv(5)). A 32-bit process has pairs of 32-bit words, in which nothing is found.
 */
static void add_vdso(struct tracker *t, struct process *p)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	Elf64_auxv_t vector[64];
	struct object *vdso;
	char path[64];
	ssize_t n, i;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)p->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, vector, sizeof(vector));
	close(fd);
	n = n < 0 ? 0 : n / (ssize_t)sizeof(vector[0]);
	for (i = 0; i < n && vector[i].a_type != AT_NULL; i++) {
		uint64_t at = vector[i].a_un.a_val;

		if (vector[i].a_type != AT_SYSINFO_EHDR || at % page || at >> 47)
			continue;
		vdso = object_vdso(t);
		if (!vdso)
			break;
		add_area(t, p, at, at + (vdso->image_size + page - 1) / page * page, 0, 0, 0,
			 "[vdso]");
		object_unref(t, vdso);
	}
}

/*
 * Reads what can be known of the process now. After an exec that was seen, the records tell of
 * its mappings, and the kernel need not print them all.
 */
static int refresh(struct tracker *t, struct process *p, bool *complete)
{
	struct scan scan = {t, p};
	int err = read_stat(p, complete);

	if (err || p->kthread)
		return err;
	if (!p->recorded)
		err = procmaps_read(p->pid, true, on_map, &scan);
	else if (*complete)
		add_vdso(t, p);
	set_dirty(t, p);
	return err;
}

static bool exists(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return !access(path, F_OK);
}

void process_scan(struct tracker *t, pid_t pid)
{
	struct process *p = live(t, pid);
	bool complete = true;

	if (!exists(pid)) {
		on_exit_event(t, pid);
		return;
	}
	if (!p)
		p = process_new(t, pid);
	if (!p)
		return;
	p->recorded = false;
	refresh(t, p, &complete);
	p->fresh = !complete && !p->kthread;
	process_choose(t, p);
}

void process_scan_all(struct tracker *t)
{
	DIR *dir = opendir("/proc");
	struct process *p, *next;
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			process_scan(t, strtol(e->d_name, NULL, 10));
	if (dir)
		closedir(dir);
	/* Records of their exits may be among those that were lost. */
	HASH_ITER(hh, t->processes, p, next)
		if (!exists(p->pid))
			on_exit_event(t, p->pid);
}

/* --- side-band records ---------------------------------------------------------------------- */

void process_bury(struct tracker *t, uint64_t before)
{
	struct process *p, *found;

	while ((p = t->dead) && (p->exit_time < before || t->ndead > DEAD_MAX)) {
		t->dead = p->next_dead;
		t->ndead--;
		if (!t->dead)
			t->dead_end = &t->dead;
		HASH_FIND(dead_hh, t->dead_by_key, &p->dead_key, sizeof(p->dead_key), found);
		if (found == p)
			HASH_DELETE(dead_hh, t->dead_by_key, p);
		process_free(t, p);
	}
}

static void publish_entry(struct tracker *t, struct process *p)
{
	struct proc_entry entry = {.image = p->image};

	if (p->list) {
		entry.list_at = p->list->word / ENTRY_WORDS;
		entry.list_count = p->list->count;
	}
	if (sampler_set_process(t->sampler, p->pid, &entry))
		tracker_tell(t, 1, "too many processes: %d cannot be walked", (int)p->pid);
}

static void on_fork(struct tracker *t, const struct sideband_event *e)
{
	struct process *parent = live(t, e->ppid), *p;
	size_t i;

	if (e->pid != e->tid || e->pid == e->ppid)
		return;		  /* a thread */
	on_exit_event(t, e->pid); /* a pid that is used again, its exit lost */
	p = process_new(t, e->pid);
	if (!p)
		return;
	if (!parent) {
		p->ppid = e->ppid;
		p->fresh = true;
		set_dirty(t, p);
		return;
	}
	p->ppid = e->ppid;
	p->uid = parent->uid;
	p->image = parent->image;
	p->follow = parent->follow;
	p->fresh = parent->fresh;
	p->recorded = parent->recorded;
	p->dirty = parent->dirty;
	memcpy(p->comm, parent->comm, sizeof(p->comm));
	p->mappings = malloc((parent->nmappings + 1) * sizeof(*p->mappings));
	if (p->mappings && parent->nmappings) {
		p->nmappings = parent->nmappings;
		memcpy(p->mappings, parent->mappings, p->nmappings * sizeof(*p->mappings));
		for (i = 0; i < p->nmappings; i++)
			if (p->mappings[i].object)
				object_get(t, p->mappings[i].object);
	}
	p->list = parent->list;
	if (p->list) {
		p->list->refs++;
		publish_entry(t, p);
	}
	process_choose(t, p);
}

static void on_exec(struct tracker *t, const struct sideband_event *e)
{
	struct process *p = live(t, e->pid), *old;

	if (p && p->nmappings) {
		/* The old image's last samples are named by a copy that counts as dead. */
		old = calloc(1, sizeof(*old));
		if (old) {
			*old = *p;
			memset(&old->hh, 0, sizeof(old->hh));
			old->list = NULL;
			old->target = false;
			add_dead(t, old);
			p->mappings = NULL;
			p->nmappings = 0;
		}
		mappings_clear(t, p);
	}
	if (!p)
		p = process_new(t, e->pid);
	if (!p)
		return;
	sampler_drop_process(t->sampler, p->pid);
	list_put(t, p->list);
	p->list = NULL;
	memcpy(p->comm, e->comm, sizeof(p->comm));
	p->comm[sizeof(p->comm) - 1] = '\0';
	p->image = 0;
	p->fresh = true;
	p->recorded = true;
	p->tries = 0;
	set_dirty(t, p);
	process_choose(t, p);
}

void process_on_event(struct tracker *t, const struct sideband_event *e)
{
	struct process *p;

	switch (e->kind) {
	case SIDEBAND_FORK:
		on_fork(t, e);
		break;
	case SIDEBAND_EXEC:
		on_exec(t, e);
		break;
	case SIDEBAND_EXIT:
		if (e->pid == e->tid)
			on_exit_event(t, e->pid);
		break;
	case SIDEBAND_COMM:
		p = e->pid == e->tid ? live(t, e->pid) : NULL;
		if (p) {
			memcpy(p->comm, e->comm, sizeof(p->comm));
			p->comm[sizeof(p->comm) - 1] = '\0';
			process_choose(t, p);
		}
		break;
	case SIDEBAND_MMAP:
		p = live(t, e->pid);
		if (p)
			add_area(t, p, e->start, e->start + e->length, e->offset,
				 makedev(e->dev_major, e->dev_minor), e->inode, e->name);
		break;
	}
}

/* --- publishing ----------------------------------------------------------------------------- */

struct entries {
	struct map_entry *at;
	uint32_t count, room;
};

static int entry_add(struct entries *e, const struct map_entry *entry)
{
	struct map_entry *at;

	if (entry->start >= entry->end)
		return 0;
	if (e->count >= MAP_LIST_MAX)
		return -ENOSPC;
	if (e->count == e->room) {
		e->room = e->room ? e->room * 2 : 32;
		at = realloc(e->at, e->room * sizeof(*at));
		if (!at)
			return -ENOMEM;
		e->at = at;
	}
	e->at[e->count++] = *entry;
	return 0;
}

/* A mapping is cut in spans, which have rows, and the gaps between them, which have not. */
static int entries_of_mapping(struct entries *e, const struct mapping *m)
{
	const struct object *o = m->object;
	struct map_entry gap = {.start = m->start, .meta = MAP_META(MAP_NO_CFI, 0)}, span;
	uint32_t i;
	int err = 0;

	if (o && o->state != OBJECT_READY)
		gap.meta = MAP_META(MAP_PENDING, 0);
	for (i = 0; o && o->state == OBJECT_READY && i < o->nspans && !err; i++) {
		const struct placed_span *s = &o->spans[i];

		span.base = s->start + m->bias;
		span.start = span.base > gap.start ? span.base : gap.start;
		span.end = s->end + m->bias < m->end ? s->end + m->bias : m->end;
		span.word = s->word;
		span.meta = MAP_META(MAP_CFI, s->ngranules);
		if (span.start >= span.end)
			continue;
		gap.end = span.start;
		err = entry_add(e, &gap);
		if (!err)
			err = entry_add(e, &span);
		gap.start = span.end;
	}
	gap.end = m->end;
	return err ? err : entry_add(e, &gap);
}

static int publish(struct tracker *t, struct process *p)
{
	struct entries e = {0};
	struct published *list = calloc(1, sizeof(*list));
	size_t i;
	int err = list ? 0 : -ENOMEM;

	for (i = 0; i < p->nmappings && !err; i++)
		err = entries_of_mapping(&e, &p->mappings[i]);
	if (!err && e.count) {
		err = shards_add(t->lists, (uint32_t *)e.at, e.count * ENTRY_WORDS, &list->word);
		if (err == -ENOSPC && t->ngarbage) {
			tracker_flush(t);
			err = shards_add(t->lists, (uint32_t *)e.at, e.count * ENTRY_WORDS,
					 &list->word);
		}
	}
	free(e.at);
	if (err) {
		free(list);
		return err;
	}
	list->refs = 1;
	list->count = e.count;
	list_put(t, p->list);
	p->list = list;
	publish_entry(t, p);
	return 0;
}

/* False: to be tried again, the exec has not come to its end. */
static bool bring_up_to_date(struct tracker *t, struct process *p)
{
	bool complete = true;
	int err;

	if (p->fresh) {
		err = refresh(t, p, &complete);
		if (!err && !p->kthread && !complete && p->tries++ < EXEC_TRIES)
			return false;
		p->fresh = false;
		process_choose(t, p);
	}
	p->dirty = false;
	if (p->kthread)
		return true;
	err = publish(t, p);
	if (err == -ENOSPC && p->tries++ < EXEC_TRIES) {
		p->dirty = true; /* the builder may be freeing old lists right now */
		return false;
	}
	if (err == -ENOSPC)
		tracker_tell(t, 1, "no room for the mappings of process %d", (int)p->pid);
	return true;
}

bool process_publish(struct tracker *t)
{
	struct process *p, *next;
	bool again = false;

	if (!t->any_dirty)
		return false;
	t->any_dirty = false;
	HASH_ITER(hh, t->processes, p, next) {
		if (p->dirty && !bring_up_to_date(t, p)) {
			again = true;
			t->any_dirty = true;
		}
	}
	return again;
}

void process_touch(struct tracker *t, const struct object *o)
{
	struct process *p, *next;
	size_t i;

	HASH_ITER(hh, t->processes, p, next) {
		for (i = 0; i < p->nmappings; i++) {
			if (p->mappings[i].object == o) {
				set_dirty(t, p);
				break;
			}
		}
	}
}

void processes_free(struct tracker *t)
{
	struct process *p = t->processes, *next;

	HASH_CLEAR(hh, t->processes);
	for (; p; p = next) {
		next = p->hh.next;
		process_free(t, p);
	}
	process_bury(t, UINT64_MAX);
}
