// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads all processes, at the start, and again when records were lost. With ten thousand of them
 * that takes seconds, in which more records would get lost, and other threads would wait for the
 * tracker's lock. So it is done between two readings of the records, a few milliseconds at a time.
 *
 * A process that maps code all the time makes the kernel lose records as fast as they can be read.
 * So there is a rest after each round; else the tracker, which has the weight of nine other
 * threads, would only read /proc, and the collector could not report. Unknown processes that are
 * sampled meanwhile are read at once.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>

#include "bpf/tracker/tracker_priv.h"

#define PORTION	    8u
#define REST_SHARE  7u /* times the CPU time that a round took, before the next one */
#define REST_MAX_NS (10ull * 1000000000)
/* CPU time, so that a turn makes progress on a busy machine. */
#define TURN_NS (4ull * 1000000)

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

void rescan_free(struct tracker *t)
{
	if (t->rescan.proc)
		closedir(t->rescan.proc);
	t->rescan.proc = NULL;
}
