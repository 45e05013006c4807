// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows the processes by side-band records, and reads from /proc what existed before or what
 * records do not tell.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/sampler/sampler.h"
#include "bpf/tracker/objectfile.h"
#include "bpf/tracker/sideband.h"
#include "bpf/tracker/tracker_priv.h"
#include "symbols/files/procfile.h"
#include "symbols/files/procmaps.h"
#include "symbols/files/procstat.h"

#define EXEC_TRIES 50u /* of a millisecond each, until an exec is complete */

static void process_free(struct tracker *t, struct process *p)
{
	mappings_clear(&t->mappings, p);
	maplist_unref(&t->maplists, p->list);
	runcode_drop(&t->runcode, p);
	free(p);
}

/*
 * Has a sample from after `until` written exec_id into the entry? Then it belongs to the next exec,
 * which the entry fitted as well because both have the same start_stack.
 */
static bool has_later_exec_id(struct tracker *t, struct process *p, uint64_t until)
{
	publish_read_exec(&t->publisher, p);
	return p->exec_id && p->exec_at > until;
}

#define UNTIL_NOW UINT64_MAX

/* until: when the process ended, by the kernel's clock. */
static void on_exit_event(struct tracker *t, pid_t pid, uint64_t until)
{
	struct process *p = proctable_live(&t->procs, pid);

	if (!p)
		return;
	targets_note_end(&t->targets, pid);
	proctable_remove(&t->procs, p);
	if (has_later_exec_id(t, p, until))
		p->exec_id = 0;
	targets_drop(&t->targets, p);
	publish_drop(&t->publisher, p);
	runcode_drop_places(&t->runcode, p);
	proctable_add_dead(&t->procs, p);
}

/*
 * A copy, which counts as dead, names the last samples from before the exec. until: time of the
 * exec, by the kernel's clock.
 */
static void retire_exec(struct tracker *t, struct process *p, uint64_t until)
{
	struct process *old = p->nmappings ? calloc(1, sizeof(*old)) : NULL;
	bool later = has_later_exec_id(t, p, until);

	if (old) {
		*old = *p;
		old->exec_id = later ? 0 : p->exec_id;
		memset(&old->hh, 0, sizeof(old->hh));
		old->list = NULL;
		old->target = old->listed = old->dirty = false;
		old->code.bare = NULL; /* goes with the image that runs now */
		proctable_add_dead(&t->procs, old);
		p->mappings = NULL;
		p->nmappings = 0;
		p->code.table = NULL;
	}
	runcode_drop(&t->runcode, p);
	mappings_clear(&t->mappings, p);
	publish_drop(&t->publisher, p);
	p->waits = false;
	p->start_stack = 0;
	p->exec_id = later ? p->exec_id : 0;
}

/* --- /proc ---------------------------------------------------------------------------------- */

/*
 * The one executable mapping that no record reports; its address is in the auxiliary vector
 * (proc_pid_auxv(5)). A 32-bit process has pairs of 32-bit words, in which it is not found.
 */
static void add_vdso(struct tracker *t, struct process *p)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	Elf64_auxv_t vector[64];
	struct object *vdso;
	char path[64];
	size_t size;
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
		struct procmap map = {
			.start = vector[i].a_un.a_val, .exec = true, .name = "[vdso]"};

		if (vector[i].a_type != AT_SYSINFO_EHDR || map.start % page || map.start >> 47)
			continue;
		vdso = objectfile_vdso(&t->objects);
		if (!vdso)
			break;
		object_image(vdso, &size);
		map.end = map.start + (size + page - 1) / page * page;
		mapping_record(&t->mappings, p, &map);
		object_unref(&t->objects, vdso);
	}
}

/*
 * Another name than the records have told is that of the next exec, if the record of that is still
 * to be read: nothing else tells the two apart where addresses are not randomized. The tracker
 * reads records before it scans again, so a name that is still there then has no record.
 */
static bool may_be_next_exec(struct tracker *t, struct process *p, const struct procstat *s)
{
	if (p->recorded || process_is_unread(p) || s->kthread || !p->comm[0] ||
	    !strcmp(p->comm, s->comm) || !strcmp(p->scanned, s->comm))
		return false;
	memcpy(p->scanned, s->comm, sizeof(p->scanned));
	p->scan_rest = clock_now();
	proctable_doubt(&t->procs, p->pid);
	return true;
}

/*
 * Reads what /proc shows of the process now; its uid was read before. After an exec that a record
 * reported, records also report its mappings, and the kernel need not print them all. 1: something
 * has changed, 0, or -errno. -ESTALE: another process has the PID now; its records were lost or are
 * still to come.
 */
static int refresh_process(struct tracker *t, struct process *p, uid_t uid, bool *complete)
{
	struct procstat s, live;
	int changed = 0, err;

	err = procstat_read(p->pid, &s);
	p->stack_start_open = true;
	if (err)
		return err;
	if (p->start && p->start != s.start)
		return -ESTALE;
	p->start = s.start;
	if (s.threads > 1)
		p->threads = s.zombie ? THREADS_LEADERLESS : THREADS_MANY;
	else if (p->threads == THREADS_LEADERLESS)
		p->threads = THREADS_MANY;
	if (p->threads == THREADS_LEADERLESS && !procstat_read(process_thread(p), &live)) {
		s.start_stack = live.start_stack;
		s.complete = live.complete;
	} else if (s.zombie) {
		return -ESRCH; /* what is known still names its last samples */
	}
	if (may_be_next_exec(t, p, &s))
		return 0;
	*complete = s.complete;
	p->stack_start_open = !s.complete;
	/*
	 * If it differs, the record of an exec was lost, or is still to be read. Within an exec,
	 * and at the end of the process, it is 0.
	 */
	if (!process_is_unread(p) && p->start_stack && s.start_stack != p->start_stack &&
	    (s.start_stack || !s.complete)) {
		retire_exec(t, p, UNTIL_NOW);
		changed = 1;
	}
	p->ppid = s.ppid;
	p->uid = uid;
	p->kthread = s.kthread;
	/* The name in /proc may already be that of the next exec; a record has told another one. */
	if (!p->recorded && (!process_is_unread(p) || !p->comm[0]))
		memcpy(p->comm, s.comm, sizeof(p->comm));
	targets_read(&t->targets, p);
	if (s.start_stack && s.start_stack != p->start_stack) {
		p->start_stack = s.start_stack;
		changed = 1;
	}
	if (p->kthread)
		return changed;
	if (p->recorded) {
		if (*complete)
			add_vdso(t, p);
		return 1;
	}
	err = mappings_read(&t->mappings, p);
	if (err == -EAGAIN) {
		retire_exec(t, p, UNTIL_NOW);
		*complete = false;
		return 1;
	}
	return err < 0 ? err : err | changed;
}

/* The first thread has ended. True: others live, or one of them has called exec. */
static bool has_live_threads(struct process *p)
{
	struct procstat s;

	if (p->threads == THREADS_ONE || procstat_read(p->pid, &s) || (s.zombie && s.threads <= 1))
		return false;
	p->threads = s.zombie ? THREADS_LEADERLESS : THREADS_MANY;
	return true;
}

/* Whether an earlier reading may belong to the next exec (EXEC_READ) is not changed by a scan. */
static void set_scanned(struct process *p, bool unread)
{
	if (unread)
		p->exec_state = p->exec_state == EXEC_READ || p->exec_state == EXEC_UNREAD_AGAIN
					? EXEC_UNREAD_AGAIN
					: EXEC_UNREAD;
	else if (p->exec_state == EXEC_UNREAD)
		p->exec_state = EXEC_SETTLED;
	else if (p->exec_state == EXEC_UNREAD_AGAIN)
		p->exec_state = EXEC_READ;
}

bool process_scan(struct tracker *t, pid_t pid)
{
	struct process *p = proctable_live(&t->procs, pid);
	bool complete = true, unread;
	uid_t uid = 0;
	int err;

	if (!procstat_uid(pid, &uid) ||
	    (p && p->threads == THREADS_LEADERLESS && !has_live_threads(p))) {
		on_exit_event(t, pid, UNTIL_NOW);
		return p != NULL;
	}
	if (!p)
		p = proctable_add(&t->procs, pid);
	if (!p)
		return false;
	p->recorded = false;
	err = refresh_process(t, p, uid, &complete);
	if (err == -ESTALE) {
		on_exit_event(t, pid, UNTIL_NOW);
		p = proctable_add(&t->procs, pid);
		if (!p)
			return true;
		procstat_uid(pid, &uid);
		err = refresh_process(t, p, uid, &complete);
	}
	unread = !complete && !p->kthread && p->threads != THREADS_LEADERLESS;
	set_scanned(p, unread);
	/* Without an entry no sample would mark a cold list. */
	if (err > 0 || unread || !p->list || (p->list->cold && !p->list->count))
		proctable_dirty(&t->procs, p);
	targets_apply(&t->targets, p);
	return err > 0;
}

void process_scan_gone(struct tracker *t, pid_t pid)
{
	uid_t uid;

	if (!procstat_uid(pid, &uid))
		on_exit_event(t, pid, UNTIL_NOW);
}

/* --- side-band records ---------------------------------------------------------------------- */

void process_bury(struct tracker *t, uint64_t before)
{
	struct process *p;

	while ((p = proctable_take_dead(&t->procs, before)))
		process_free(t, p);
}

/* A child has the name of the thread that has forked it; of threads no record is kept. */
static void take_forker(struct process *p, const struct sideband_event *e)
{
	char name[64], *text;

	if (e->ptid == e->ppid)
		return;
	snprintf(name, sizeof(name), "task/%d/comm", (int)e->ptid);
	text = procfile_text(e->ppid, name);
	if (text && *text) /* it ends with a newline */
		snprintf(p->comm, sizeof(p->comm), "%.*s", (int)strlen(text) - 1, text);
	free(text);
}

static void on_fork(struct tracker *t, const struct sideband_event *e)
{
	struct process *parent = proctable_live(&t->procs, e->ppid), *p;

	if (e->pid == e->ppid && parent && parent->threads == THREADS_ONE)
		parent->threads = THREADS_MANY;
	if (e->pid != e->tid || e->pid == e->ppid)
		return;			   /* a thread */
	on_exit_event(t, e->pid, e->time); /* the PID is used again, and its exit was lost */
	p = proctable_add(&t->procs, e->pid);
	if (!p)
		return;
	if (!parent) {
		p->ppid = e->ppid;
		p->exec_state = EXEC_UNREAD;
		proctable_dirty(&t->procs, p);
		return;
	}
	proctable_note_fork(&t->procs, parent);
	p->ppid = e->ppid;
	p->uid = parent->uid;
	p->groups = parent->groups;
	p->start_stack = parent->start_stack;
	p->follow = parent->follow;
	if (parent->exec_state != EXEC_SETTLED || parent->stack_start_open)
		p->exec_state = EXEC_UNREAD;
	p->recorded = parent->recorded;
	memcpy(p->comm, parent->comm, sizeof(p->comm));
	take_forker(p, e);
	if (mappings_copy(&t->mappings, p, parent))
		p->exec_state = EXEC_UNREAD;
	runcode_fork(&t->runcode, p, parent);
	if (parent->dirty || process_is_unread(p))
		proctable_dirty(&t->procs, p);
	p->list = parent->list;
	if (p->list) {
		p->list->refs++;
		publish_entry(&t->publisher, p);
	}
	targets_apply(&t->targets, p);
}

static void set_comm(struct process *p, const struct sideband_event *e)
{
	memcpy(p->comm, e->comm, sizeof(p->comm));
	p->comm[sizeof(p->comm) - 1] = '\0';
	p->scanned[0] = '\0';
}

static void on_exec(struct tracker *t, const struct sideband_event *e)
{
	struct process *p = proctable_live(&t->procs, e->pid);

	if (!p)
		p = proctable_add(&t->procs, e->pid);
	if (!p)
		return;
	/* What was read may already be that of this exec. */
	if (p->exec_state == EXEC_READ || p->exec_state == EXEC_UNREAD_AGAIN)
		p->start_stack = 0;
	retire_exec(t, p, e->time);
	set_comm(p, e);
	p->exec_state = EXEC_UNREAD;
	p->recorded = true;
	p->threads = THREADS_ONE;
	p->tries = 0;
	proctable_dirty(&t->procs, p);
	targets_apply(&t->targets, p);
}

static void on_thread_exit(struct tracker *t, const struct sideband_event *e)
{
	struct process *p = proctable_live(&t->procs, e->pid);

	if (e->pid == e->tid) {
		if (p && !has_live_threads(p))
			on_exit_event(t, e->pid, e->time);
	} else if (p && p->threads == THREADS_LEADERLESS) {
		proctable_doubt(&t->procs, e->pid); /* it may have been the last */
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
		.write = e->write,
		.name = e->name,
	};
	struct process *p = proctable_live(&t->procs, e->pid);

	if (p && mapping_record(&t->mappings, p, &map))
		proctable_dirty(&t->procs, p);
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
		p = e->pid == e->tid ? proctable_live(&t->procs, e->pid) : NULL;
		if (p) {
			set_comm(p, e);
			targets_apply(&t->targets, p);
		}
		break;
	case SIDEBAND_MMAP:
		on_mmap(t, e);
		break;
	case SIDEBAND_KSYMBOL: /* belongs to no process */
		break;
	}
}

bool process_refresh(struct tracker *t)
{
	struct process *p;
	bool complete, any = false;
	uid_t uid;
	int err;

	for (p = t->procs.dirty; p; p = p->next_dirty) {
		if (!process_is_unread(p))
			continue;
		complete = true;
		uid = 0;
		procstat_uid(p->pid, &uid);
		err = refresh_process(t, p, uid, &complete);
		if (err >= 0 && !p->kthread && !complete && p->tries++ < EXEC_TRIES)
			continue; /* the exec is not complete */
		p->exec_state = EXEC_READ;
		any = true;
		targets_apply(&t->targets, p);
	}
	return any;
}

void processes_free(struct tracker *t)
{
	struct process *p = t->procs.live, *next;

	t->procs.dirty = NULL;
	HASH_CLEAR(hh, t->procs.live);
	for (; p; p = next) {
		next = p->hh.next;
		process_free(t, p);
	}
	process_bury(t, UINT64_MAX);
}
