// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads all processes, at the start, and anew when records were lost. With ten thousand of them
 * that takes seconds, in which more records would get lost, and other threads would wait for the
 * tracker's lock; so it goes on between two readings of the records, a few milliseconds at a time.
 *
 * Who maps code all the time makes the kernel lose records as fast as they can be read. So after a
 * round there is a rest before the next one; else the tracker, whose weight is that of nine other
 * threads, would read nothing but /proc, and the collector would not come to its reports. What is
 * sampled meanwhile and not known is read at once.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>

#include "bpf/tracker/tracker_priv.h"

#define PORTION	    8u
#define REST_SHARE  7u /* times the CPU time that a round took, before the next one */
#define REST_MAX_NS (10ull * 1000000000)
#define TURN_NS                                                                                    \
	(4ull * 1000000) /* of CPU time: where others take it, a turn still gets somewhere */

/* With all time of the world it is the caller who wants the lock. */
static bool may_yield(struct tracker *t, uint64_t until)
{
	return until != UINT64_MAX && turnlock_is_wanted(&t->lock);
}

void rescan_begin(struct tracker *t)
{
	/* What comes before the place that has been reached would not be seen again. */
	if (t->rescan || tracker_now() < t->rescan_rest) {
		t->rescan_again = true;
		return;
	}
	t->rescan = opendir("/proc");
	t->rescan_again = !t->rescan; /* without descriptors or memory: later */
	t->rescan_round++;
}

/* Records of their exits may be among those that were lost. */
static void bury_unseen(struct tracker *t)
{
	struct process *p, *next;

	HASH_ITER(hh, t->processes, p, next)
		if (p->scan_round != t->rescan_round)
			process_scan_gone(t, p->pid);
}

static void rescan_end(struct tracker *t)
{
	closedir(t->rescan);
	t->rescan = NULL;
	t->started = true;
	bury_unseen(t);
}

static void scan_once(struct tracker *t, pid_t pid)
{
	struct process *p = process_live(t, pid);

	if (p && p->scan_round == t->rescan_round)
		return;
	process_scan(t, pid);
	p = process_live(t, pid);
	if (p)
		p->scan_round = t->rescan_round;
}

void rescan_want(struct tracker *t, pid_t pid)
{
	if ((t->rescan || t->rescan_again) && t->nstrangers < STRANGERS_MAX)
		t->strangers[t->nstrangers++] = pid;
}

/* At least PORTION entries, so that it ends although others always want the lock. */
static void rescan_some(struct tracker *t, uint64_t until)
{
	unsigned int n = 0;
	struct dirent *e;

	while (t->nstrangers)
		scan_once(t, t->strangers[--t->nstrangers]);
	while (t->rescan &&
	       (++n % PORTION || (tracker_cpu_time() < until && !may_yield(t, until)))) {
		e = readdir(t->rescan);
		if (!e)
			rescan_end(t);
		else if (isdigit((unsigned char)e->d_name[0]))
			scan_once(t, (pid_t)strtol(e->d_name, NULL, 10));
	}
}

static void rest(struct tracker *t)
{
	uint64_t ns = t->rescan_spent * REST_SHARE;

	t->rescan_rest = tracker_now() + (ns < REST_MAX_NS ? ns : REST_MAX_NS);
	t->rescan_spent = 0;
}

bool rescan_turn(struct tracker *t)
{
	const uint64_t began = tracker_cpu_time();
	bool goes_on;

	if (!t->rescan && t->rescan_again)
		rescan_begin(t);
	goes_on = t->rescan;
	rescan_some(t, began + TURN_NS);
	if (goes_on)
		t->rescan_spent += tracker_cpu_time() - began;
	if (goes_on && !t->rescan)
		rest(t);
	return t->rescan != NULL;
}

void rescan_all(struct tracker *t)
{
	t->rescan_rest = 0;
	rescan_begin(t);
	while (t->rescan) {
		rescan_some(t, UINT64_MAX);
		if (t->rescan_again)
			rescan_begin(t);
	}
}

void rescan_free(struct tracker *t)
{
	if (t->rescan)
		closedir(t->rescan);
	t->rescan = NULL;
}
