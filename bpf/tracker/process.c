// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The processes and where their executable mappings lie, followed by side-band records and read
 * from /proc for what existed before.
 */
#include "bpf/tracker/tracker_priv.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/tracker/procstat.h"
#include "bpf/sampler/sampler.h"
#include "symbols/files/livethread.h"
#include "symbols/files/procmaps.h"

#define DEAD_MAX	32768u
#define PUBLISH_PORTION 64u
#define PUBLISH_NS	(4ull * 1000000)
#define EXEC_TRIES	50u /* of a millisecond each, to see an exec come to its end */

/* One that is known to be of another exec is not the one. */
static struct process *unless_other(struct process *p, uint64_t exec)
{
	return p && exec && p->exec_id && p->exec_id != exec ? NULL : p;
}

static struct process *dead_find(struct tracker *t, const struct tracker_exec *of, uint64_t image)
{
	struct dead_key key = {image, of->pid};
	struct process *p;

	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): hashed as bytes */
	HASH_FIND(dead_hh, t->dead_by_key, &key, sizeof(key), p);
	return unless_other(p, of->exec);
}

static struct process *find_exec(struct tracker *t, const struct tracker_exec *of)
{
	struct exec_key key = {of->exec, of->pid};
	struct process *p = process_live(t, of->pid);

	if (p && p->exec_id == of->exec)
		return p;
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): hashed as bytes */
	HASH_FIND(exec_hh, t->dead_by_exec, &key, sizeof(key), p);
	return p;
}

/*
 * By its exec, if a sample told of it while the process was known. Else by its image, which two may
 * share where addresses are not randomized: then neither is the one.
 *
 * A process that died before its image was read has none, like a live one that is not read yet. It
 * gets the samples of its PID whose image fits no other, unless two such processes had that PID.
 */
struct process *process_find(struct tracker *t, const struct tracker_exec *of)
{
	struct process *p = of->exec ? find_exec(t, of) : NULL, *now;

	if (p)
		return p;
	now = unless_other(process_live(t, of->pid), of->exec);
	p = dead_find(t, of, of->image);
	if (of->exec && of->image && p && (p->ambiguous || (now && now->image == of->image)))
		return NULL;
	if (now && (!of->image || now->image == of->image))
		return now;
	if (p)
		return p;
	p = dead_find(t, of, 0);
	if (now && !now->image)
		return p ? NULL : now;
	return p && p->ambiguous ? NULL : p;
}

static struct forked *forked_slot(struct tracker *t, uint64_t image)
{
	return &t->forked[(image * 0x9e3779b97f4a7c15u >> 32) % FORKED_MAX];
}

struct process *process_akin(struct tracker *t, uint64_t image)
{
	const struct forked *f = forked_slot(t, image);
	struct process *p = NULL;

	if (image && f->image == image)
		p = process_find(t, &(struct tracker_exec){.pid = f->pid, .image = image});
	return p && p->image == image ? p : NULL;
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
	p->ambiguous = other != NULL;
	if (other)
		HASH_DELETE(dead_hh, t->dead_by_key, other);
	HASH_ADD(dead_hh, t->dead_by_key, dead_key, sizeof(p->dead_key), p);
	if (!p->exec_id)
		return;
	p->exec_key = (struct exec_key){p->exec_id, p->pid};
	HASH_FIND(exec_hh, t->dead_by_exec, &p->exec_key, sizeof(p->exec_key), other);
	if (other)
		HASH_DELETE(exec_hh, t->dead_by_exec, other);
	HASH_ADD(exec_hh, t->dead_by_exec, exec_key, sizeof(p->exec_key), p);
}

struct process *process_live(struct tracker *t, pid_t pid)
{
	struct process *p;

	HASH_FIND_INT(t->processes, &pid, p);
	return p;
}

static void process_free(struct tracker *t, struct process *p)
{
	mappings_clear(t, p);
	publish_put(t, p->list);
	free(p);
}

void process_dirty(struct tracker *t, struct process *p)
{
	if (p->dirty)
		return;
	p->dirty = true;
	p->next_dirty = t->dirty;
	p->prev_dirty = &t->dirty;
	if (t->dirty)
		t->dirty->prev_dirty = &p->next_dirty;
	t->dirty = p;
}

static void clear_dirty(struct process *p)
{
	if (!p->dirty)
		return;
	p->dirty = false;
	*p->prev_dirty = p->next_dirty;
	if (p->next_dirty)
		p->next_dirty->prev_dirty = p->prev_dirty;
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

static void drop_entry(struct tracker *t, struct process *p)
{
	if (p->entered)
		sampler_drop_process(t->sampler, p->pid);
	p->entered = false;
}

/*
 * Until when it is what it is now: a sample that has told of an exec since was of the next one, for
 * which the entry stood where the images are the same. True: so it was.
 */
static bool exec_is_later(struct tracker *t, struct process *p, uint64_t until)
{
	publish_read_exec(t, p);
	return p->exec_id && p->exec_at > until;
}

#define UNTIL_NOW UINT64_MAX

/* until: when it ended, by the kernel's clock. */
static void on_exit_event(struct tracker *t, pid_t pid, uint64_t until)
{
	struct process *p = process_live(t, pid);

	if (!p)
		return;
	choice_ends(t, pid);
	HASH_DEL(t->processes, p);
	clear_dirty(p);
	if (exec_is_later(t, p, until))
		p->exec_id = 0;
	drop_entry(t, p);
	if (p->target) {
		sampler_set_target(t->sampler, pid, 0, false);
		t->nattached--;
		p->target = false;
	}
	publish_put(t, p->list);
	p->list = NULL;
	add_dead(t, p);
}

/*
 * The old image's last samples are named by a copy that counts as dead. until: when the next one
 * came, by the kernel's clock.
 */
static void retire_image(struct tracker *t, struct process *p, uint64_t until)
{
	struct process *old = p->nmappings ? calloc(1, sizeof(*old)) : NULL;
	bool later = exec_is_later(t, p, until);

	if (old) {
		*old = *p;
		old->exec_id = later ? 0 : p->exec_id;
		memset(&old->hh, 0, sizeof(old->hh));
		old->list = NULL;
		old->target = old->dirty = false;
		add_dead(t, old);
		p->mappings = NULL;
		p->nmappings = 0;
	}
	mappings_clear(t, p);
	drop_entry(t, p);
	publish_put(t, p->list);
	p->list = NULL;
	p->image = 0;
	p->exec_id = later ? p->exec_id : 0;
}

/* --- /proc ---------------------------------------------------------------------------------- */

pid_t process_thread(const struct process *p)
{
	return p->threaded ? livethread(p->pid) : p->pid;
}

bool process_has_image(const struct process *p)
{
	struct procstat s;

	return !procstat_read(process_thread(p), &s) && s.image == p->image;
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

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)process_thread(p));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, vector, sizeof(vector));
	close(fd);
	n = n < 0 ? 0 : n / (ssize_t)sizeof(vector[0]);
	for (i = 0; i < n && vector[i].a_type != AT_NULL; i++) {
		struct procmap map = {.start = vector[i].a_un.a_val, .name = "[vdso]"};

		if (vector[i].a_type != AT_SYSINFO_EHDR || map.start % page || map.start >> 47)
			continue;
		vdso = object_vdso(t);
		if (!vdso)
			break;
		map.end = map.start + (vdso->image_size + page - 1) / page * page;
		mapping_record(t, p, &map);
		object_unref(t, vdso);
	}
}

/*
 * Reads what can be known of the process now, of which uid was asked before. After an exec that was
 * seen, the records tell of its mappings, and the kernel need not print them all. 1: something has
 * changed, 0, or -errno. -ESTALE: another process has the number now, and records of that were lost
 * or are to come.
 */
static int refresh(struct tracker *t, struct process *p, uid_t uid, bool *complete)
{
	struct procstat s, live;
	int changed = 0, err;

	err = procstat_read(p->pid, &s);
	p->unread = true;
	if (err)
		return err;
	if (p->start && p->start != s.start)
		return -ESTALE;
	p->start = s.start;
	p->threaded |= s.threads > 1;
	p->leaderless = s.zombie && s.threads > 1;
	if (p->leaderless && !procstat_read(process_thread(p), &live)) {
		s.image = live.image;
		s.complete = live.complete;
	} else if (s.zombie) {
		return -ESRCH; /* its last samples are still to be named by what it was */
	}
	*complete = s.complete;
	p->unread = !s.complete;
	/* Within an exec, and at the end, it is 0. */
	if (!p->fresh && p->image && s.image != p->image && (s.image || !s.complete)) {
		retire_image(
			t, p,
			UNTIL_NOW); /* the record of its exec was lost, or is still to be read */
		changed = 1;
	}
	p->ppid = s.ppid;
	p->uid = uid;
	p->kthread = s.kthread;
	/* The name in /proc may be the next image's already. */
	if (!p->recorded)
		memcpy(p->comm, s.comm, sizeof(p->comm));
	choice_read(t, p);
	if (s.image && s.image != p->image) {
		p->image = s.image;
		changed = 1;
	}
	if (p->kthread)
		return changed;
	if (p->recorded) {
		if (*complete)
			add_vdso(t, p);
		return 1;
	}
	err = mappings_read(t, p);
	if (err == -EAGAIN) {
		retire_image(t, p, UNTIL_NOW);
		*complete = false;
		return 1;
	}
	return err < 0 ? err : err | changed;
}

static bool exists(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return !access(path, F_OK);
}

/* The first thread has ended; true: others live on, or one of them has called exec. */
static bool lives_on(struct process *p)
{
	struct procstat s;

	if (!p->threaded || procstat_read(p->pid, &s) || (s.zombie && s.threads <= 1))
		return false;
	p->leaderless = s.zombie;
	return true;
}

bool process_scan(struct tracker *t, pid_t pid)
{
	struct process *p = process_live(t, pid);
	bool complete = true;
	uid_t uid = 0;
	int err;

	if (!choice_uid(pid, &uid) || (p && p->leaderless && !lives_on(p))) {
		on_exit_event(t, pid, UNTIL_NOW);
		return p != NULL;
	}
	if (!p)
		p = process_new(t, pid);
	if (!p)
		return false;
	p->recorded = false;
	err = refresh(t, p, uid, &complete);
	if (err == -ESTALE) {
		on_exit_event(t, pid, UNTIL_NOW);
		p = process_new(t, pid);
		if (!p)
			return true;
		choice_uid(pid, &uid);
		err = refresh(t, p, uid, &complete);
	}
	p->fresh = !complete && !p->kthread && !p->leaderless;
	/* Without an entry no sample would leave a mark on a list that is cold. */
	if (err > 0 || p->fresh || !p->list || (p->list->cold && !p->list->count))
		process_dirty(t, p);
	choice_apply(t, p);
	return err > 0;
}

void process_scan_gone(struct tracker *t, pid_t pid)
{
	if (!exists(pid))
		on_exit_event(t, pid, UNTIL_NOW);
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
		/* Without an exec_id it is not there, and its key is that of none. */
		HASH_FIND(exec_hh, t->dead_by_exec, &p->exec_key, sizeof(p->exec_key), found);
		if (found == p)
			HASH_DELETE(exec_hh, t->dead_by_exec, p);
		process_free(t, p);
	}
}

static void on_fork(struct tracker *t, const struct sideband_event *e)
{
	struct process *parent = process_live(t, e->ppid), *p;

	if (e->pid == e->ppid && parent)
		parent->threaded = true;
	if (e->pid != e->tid || e->pid == e->ppid)
		return;			   /* a thread */
	on_exit_event(t, e->pid, e->time); /* a pid that is used again, its exit lost */
	p = process_new(t, e->pid);
	if (!p)
		return;
	if (!parent) {
		p->ppid = e->ppid;
		p->fresh = true;
		process_dirty(t, p);
		return;
	}
	*forked_slot(t, parent->image) = (struct forked){parent->image, parent->pid};
	p->ppid = e->ppid;
	p->uid = parent->uid;
	p->groups = parent->groups;
	p->image = parent->image;
	p->follow = parent->follow;
	p->fresh = parent->fresh || parent->unsettled || parent->unread;
	p->recorded = parent->recorded;
	memcpy(p->comm, parent->comm, sizeof(p->comm));
	if (mappings_copy(t, p, parent))
		p->fresh = true;
	if (parent->dirty || p->fresh)
		process_dirty(t, p);
	p->list = parent->list;
	if (p->list) {
		p->list->refs++;
		publish_entry(t, p);
	}
	choice_apply(t, p);
}

static void on_exec(struct tracker *t, const struct sideband_event *e)
{
	struct process *p = process_live(t, e->pid);

	if (!p)
		p = process_new(t, e->pid);
	if (!p)
		return;
	/* What was read since may be of the image that is to come. */
	if (p->unsettled)
		p->image = 0;
	p->unsettled = false;
	retire_image(t, p, e->time);
	memcpy(p->comm, e->comm, sizeof(p->comm));
	p->comm[sizeof(p->comm) - 1] = '\0';
	p->fresh = true;
	p->recorded = true;
	p->threaded = p->leaderless = false;
	p->tries = 0;
	process_dirty(t, p);
	choice_apply(t, p);
}

static void on_thread_exit(struct tracker *t, const struct sideband_event *e)
{
	struct process *p = process_live(t, e->pid);

	if (e->pid == e->tid) {
		if (p && !lives_on(p))
			on_exit_event(t, e->pid, e->time);
	} else if (p && p->leaderless) {
		doubt_add(t, e->pid); /* it may have been the last */
	}
}

static void on_mmap(struct tracker *t, const struct sideband_event *e)
{
	const struct procmap map = {
		.start = e->start,
		.end = e->start + e->length,
		.offset = e->offset,
		.dev_major = e->dev_major,
		.dev_minor = e->dev_minor,
		.inode = e->inode,
		.exec = true,
		.name = e->name,
	};
	struct process *p = process_live(t, e->pid);

	if (p && mapping_record(t, p, &map))
		process_dirty(t, p);
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
		on_thread_exit(t, e);
		break;
	case SIDEBAND_COMM:
		p = e->pid == e->tid ? process_live(t, e->pid) : NULL;
		if (p) {
			memcpy(p->comm, e->comm, sizeof(p->comm));
			p->comm[sizeof(p->comm) - 1] = '\0';
			choice_apply(t, p);
		}
		break;
	case SIDEBAND_MMAP:
		on_mmap(t, e);
		break;
	case SIDEBAND_KSYMBOL: /* of no process */
		break;
	}
}

/* --- publishing ----------------------------------------------------------------------------- */

bool process_refresh(struct tracker *t)
{
	struct process *p;
	bool complete, any = false;
	uid_t uid;
	int err;

	for (p = t->dirty; p; p = p->next_dirty) {
		if (!p->fresh)
			continue;
		complete = true;
		uid = 0;
		choice_uid(p->pid, &uid);
		err = refresh(t, p, uid, &complete);
		if (err >= 0 && !p->kthread && !complete && p->tries++ < EXEC_TRIES)
			continue; /* the exec has not come to its end */
		p->fresh = false;
		p->unsettled = any = true;
		choice_apply(t, p);
	}
	return any;
}

/* False: to be tried again. */
static bool bring_up_to_date(struct tracker *t, struct process *p)
{
	int err;

	if (p->fresh)
		return false;
	p->unsettled = false;
	clear_dirty(p);
	if (p->kthread)
		return true;
	err = publish_list(t, p);
	if (err) {
		/* The old list may lead to tables that are on their way out. */
		drop_entry(t, p);
		publish_put(t, p->list);
		p->list = NULL;
	}
	if (err == -ENOSPC && p->tries++ < EXEC_TRIES) {
		process_dirty(t, p); /* the builder may be freeing old lists right now */
		return false;
	}
	if (err == -ENOSPC)
		tracker_tell(t, 1, "no room for the mappings of process %d", (int)p->pid);
	return true;
}

/* until: of this thread's CPU time; UINT64_MAX: all, whatever waits. */
static bool publish_until(struct tracker *t, uint64_t until)
{
	struct process *p, *next;
	bool again = false;
	unsigned int n = 0;

	t->publishing = false;
	for (p = t->dirty; p; p = next) {
		if (n++ == PUBLISH_PORTION && until != UINT64_MAX) {
			t->publishing = turnlock_is_wanted(&t->lock) || tracker_cpu_time() >= until;
			if (t->publishing)
				return true;
			n = 0;
		}
		next = p->next_dirty;
		again |= !bring_up_to_date(t, p);
	}
	t->unpublished = false;
	return again;
}

bool process_publish(struct tracker *t)
{
	return publish_until(t, UINT64_MAX);
}

bool process_publish_some(struct tracker *t)
{
	return publish_until(t, tracker_cpu_time() + PUBLISH_NS);
}

void process_touch(struct tracker *t, const struct object *o)
{
	struct process *p, *next;
	size_t i;

	HASH_ITER(hh, t->processes, p, next) {
		/* A cold list leads to no table. */
		for (i = 0; i < p->nmappings && !(p->list && p->list->cold); i++) {
			if (p->mappings[i].object == o) {
				process_dirty(t, p);
				break;
			}
		}
	}
}

void processes_free(struct tracker *t)
{
	struct process *p = t->processes, *next;

	t->dirty = NULL;
	HASH_CLEAR(hh, t->processes);
	for (; p; p = next) {
		next = p->hh.next;
		process_free(t, p);
	}
	process_bury(t, UINT64_MAX);
}
