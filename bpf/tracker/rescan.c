// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads processes again that are known, since no record reports munmap, dlclose and mremap, and
 * records get lost.
 *
 * All processes are read at the start, and again when records were lost. With ten thousand of them
 * that takes seconds, in which more records would get lost, and other threads would wait for the
 * tracker's lock. So it is done between two readings of the records, a few milliseconds at a time.
 *
 * A process that maps code all the time makes the kernel lose records as fast as they can be read.
 * So there is a rest after each round; else the tracker, which has the weight of nine other
 * threads, would only read /proc, and the collector could not report. Unknown processes that are
 * sampled meanwhile are read at once.
 *
 * One process is read when walks through it end with certain reasons, less and less often while
 * that finds nothing new. In addition, the amount of executable memory of a few processes is
 * checked each second, which costs a tenth of reading their mappings.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "bpf/tracker/tracker_priv.h"
#include "symbols/files/procfile.h"
#include "unwind/reason.h"

#define PORTION	    8u
#define REST_SHARE  7u /* times the CPU time that a round took, before the next one */
#define REST_MAX_NS (10ull * 1000000000)
/* CPU time, so that a turn makes progress on a busy machine. */
#define TURN_NS	    (4ull * 1000000)
#define WAIT_MIN_NS (250ull * 1000000)
#define WAIT_MAX_NS (32000ull * 1000000)
#define SCAN_SHARE  32u /* 1/n of the time at most goes into readings of one process */
#define CHECK_NS    (1000ull * 1000000)
#define CHECK_MAX   24u	  /* processes in that time */
#define CHECK_PASS  1024u /* including kernel threads, which are only skipped */

/* --- all of them ----------------------------------------------------------------------------- */

void rescan_begin(struct tracker *t)
{
	/* Processes that the current round has passed would not be read again. */
	if (t->rescan.proc || clock_now() < t->rescan.rest_until) {
		t->rescan.again = true;
		return;
	}
	t->rescan.proc = opendir("/proc");
	t->rescan.again = !t->rescan.proc; /* no descriptors or memory: later */
	t->rescan.round++;
}

static void rescan_end(struct tracker *t)
{
	struct process *p, *next;

	closedir(t->rescan.proc);
	t->rescan.proc = NULL;
	t->rescan.started = true;
	/* The records of their exits may be among the lost ones. */
	HASH_ITER(hh, t->procs.live, p, next)
		if (p->scan_round != t->rescan.round)
			process_scan_gone(t, p->pid);
}

static void scan_once(struct tracker *t, pid_t pid)
{
	struct process *p = proctable_live(&t->procs, pid);

	if (p && p->scan_round == t->rescan.round)
		return;
	process_scan(t, pid);
	p = proctable_live(&t->procs, pid);
	if (p)
		p->scan_round = t->rescan.round;
}

void rescan_want(struct tracker *t, pid_t pid)
{
	if ((t->rescan.proc || t->rescan.again) && t->rescan.nstrangers < STRANGERS_MAX)
		t->rescan.strangers[t->rescan.nstrangers++] = pid;
}

/* At least PORTION entries, so that it ends even if other threads always want the lock. */
static void rescan_some(struct tracker *t, uint64_t until)
{
	unsigned int n = 0;
	struct dirent *e;

	while (t->rescan.nstrangers)
		scan_once(t, t->rescan.strangers[--t->rescan.nstrangers]);
	while (t->rescan.proc &&
	       (++n % PORTION || (clock_cpu_time() < until && !turnlock_is_wanted(&t->lock)))) {
		e = readdir(t->rescan.proc);
		if (!e)
			rescan_end(t);
		else if (isdigit((unsigned char)e->d_name[0]))
			scan_once(t, (pid_t)strtol(e->d_name, NULL, 10));
	}
}

bool rescan_turn(struct tracker *t)
{
	const uint64_t began = clock_cpu_time();
	uint64_t rest;
	bool goes_on;

	if (!t->rescan.proc && t->rescan.again)
		rescan_begin(t);
	goes_on = t->rescan.proc;
	rescan_some(t, began + TURN_NS);
	if (goes_on)
		t->rescan.spent += clock_cpu_time() - began;
	if (goes_on && !t->rescan.proc) {
		rest = t->rescan.spent * REST_SHARE;
		t->rescan.rest_until = clock_now() + (rest < REST_MAX_NS ? rest : REST_MAX_NS);
		t->rescan.spent = 0;
	}
	return t->rescan.proc != NULL;
}

/* --- one that is in doubt -------------------------------------------------------------------- */

void tracker_doubt(struct tracker *t, pid_t pid, unsigned int reason)
{
	switch (reason) {
	case WALK_UNKNOWN_PROCESS:
	case WALK_OTHER_EXEC:
	case WALK_NO_MAPPING:
	case WALK_NOT_COVERED:
	case WALK_READ_FAULT:
	case WALK_BAD_CFA:
	case WALK_REGISTER:
	case WALK_CHANGED:
		turnlock_take(&t->lock);
		proctable_doubt(&t->procs, pid);
		turnlock_give(&t->lock);
		eventfd_write(t->wake_fd, 1);
		break;
	default:
		break;
	}
}

/* VmExe + VmLib of /proc/PID/status is mm->exec_vm (task_mem in fs/proc). 0: it is gone. */
static uint64_t read_exec_kb(pid_t pid)
{
	static const char *const names[] = {"\nVmExe:", "\nVmLib:"};
	char *text = procfile_text(pid, "status");
	uint64_t sum = 0;
	const char *at;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		at = text ? strstr(text, names[i]) : NULL;
		if (at)
			sum += strtoull(at + strlen(names[i]), NULL, 10);
	}
	free(text);
	return sum;
}

/* Tens of thousands of mappings take 0.1 s, in which other threads wait for the lock. */
static bool scan_again(struct tracker *t, pid_t pid)
{
	const uint64_t began = clock_now();
	const bool changed = process_scan(t, pid);
	struct process *p = proctable_live(&t->procs, pid);
	const uint64_t ended = clock_now();

	if (p)
		p->scan_rest = ended + (ended - began) * SCAN_SHARE;
	return changed;
}

/* False: it is too early, the doubt remains. */
static bool settle_doubt(struct tracker *t, pid_t pid, uint64_t now)
{
	struct process *p = proctable_live(&t->procs, pid);
	bool changed;

	if (p && (process_is_unread(p) || p->kthread))
		return true;
	if (p && (now < p->scan_next || now < p->scan_rest))
		return false;
	changed = scan_again(t, pid);
	p = proctable_live(&t->procs, pid);
	if (!p)
		return true;
	if (changed || !p->scan_wait)
		p->scan_wait = WAIT_MIN_NS;
	else if (p->scan_wait < WAIT_MAX_NS)
		p->scan_wait *= 2;
	p->scan_next = now + p->scan_wait;
	return true;
}

static void check_exec_memory(struct tracker *t, uint64_t now)
{
	struct process *p = proctable_live(&t->procs, t->stale.check_at), *next;
	unsigned int passed, checked = 0;
	uint64_t kb;

	for (passed = 0; passed < CHECK_PASS && checked < CHECK_MAX; passed++, p = next) {
		if (!p)
			p = t->procs.live;
		if (!p)
			return;
		next = p->hh.next;
		t->stale.check_at = next ? next->pid : 0;
		if (p->kthread || process_is_unread(p) || now < p->scan_rest)
			continue;
		checked++;
		kb = read_exec_kb(p->pid);
		if (kb && kb == p->exec_kb)
			continue;
		p->exec_kb = kb;
		scan_again(t, p->pid);
	}
}

void stale_turn(struct tracker *t, uint64_t now)
{
	const size_t n = t->procs.ndoubts;
	pid_t pid;

	t->procs.ndoubts = 0;
	for (size_t i = 0; i < n; i++) { /* each may come to be in doubt again */
		pid = t->procs.doubts[i];
		if (!settle_doubt(t, pid, now))
			proctable_doubt(&t->procs, pid);
	}
	if (now - t->stale.checked >= CHECK_NS) {
		t->stale.checked = now;
		check_exec_memory(t, now);
	}
}
