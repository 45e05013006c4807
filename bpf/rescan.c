// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads all processes, at the start, and anew when records were lost. With ten thousand of them
 * that takes seconds, in which more records would get lost, and other threads would wait for the
 * tracker's lock; so it goes on between two readings of the records, a few milliseconds at a time.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <time.h>

#include "bpf/tracker_priv.h"

#define TURN_NS                                                                                    \
	(4ull * 1000000) /* of CPU time: where others take it, a turn still gets somewhere */

static uint64_t cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

void rescan_begin(struct tracker *t)
{
	/* What comes before the place that has been reached would not be seen again. */
	if (t->rescan) {
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
	if (t->rescan_again)
		rescan_begin(t);
}

static bool rescan_some(struct tracker *t, uint64_t until)
{
	struct process *p;
	struct dirent *e;
	pid_t pid;

	while (t->rescan && cpu_time() < until) {
		e = readdir(t->rescan);
		if (!e) {
			rescan_end(t);
			break;
		}
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		pid = (pid_t)strtol(e->d_name, NULL, 10);
		process_scan(t, pid);
		p = process_live(t, pid);
		if (p)
			p->scan_round = t->rescan_round;
	}
	return t->rescan != NULL;
}

bool rescan_turn(struct tracker *t)
{
	if (!t->rescan && t->rescan_again)
		rescan_begin(t);
	return t->rescan && rescan_some(t, cpu_time() + TURN_NS);
}

void rescan_all(struct tracker *t)
{
	rescan_begin(t);
	rescan_some(t, UINT64_MAX);
}

void rescan_free(struct tracker *t)
{
	if (t->rescan)
		closedir(t->rescan);
	t->rescan = NULL;
}
