// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * No record tells of munmap, dlclose and mremap, and records get lost. What is known of a process
 * is therefore read anew when walks through it end as they should not, ever more rarely while that
 * finds nothing new. And a few processes a second are asked how much executable memory they have:
 * to read that costs a tenth of reading their mappings.
 */
#include "bpf/tracker/tracker_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/files/procfile.h"
#include "unwind/reason.h"

#define WAIT_MIN_NS (250ull * 1000000)
#define WAIT_MAX_NS (32000ull * 1000000)
#define SCAN_SHARE  32u /* of the time goes into readings of one process, at most */
#define CHECK_NS    (1000ull * 1000000)
#define CHECK_MAX   24u	  /* processes in that time */
#define CHECK_PASS  1024u /* kernel threads among them are only passed */

void doubt_add(struct tracker *t, pid_t pid)
{
	size_t i;

	for (i = 0; i < t->ndoubts; i++)
		if (t->doubts[i] == pid)
			return;
	if (t->ndoubts < DOUBTS_MAX) /* else it comes again */
		t->doubts[t->ndoubts++] = pid;
}

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
		doubt_add(t, pid);
		turnlock_give(&t->lock);
		tracker_wake(t);
		break;
	default:
		break;
	}
}

/* VmExe and VmLib of /proc/PID/status together are mm->exec_vm (task_mem in fs/proc). 0: gone. */
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

/* Tens of thousands of mappings take a tenth of a second, in which others wait for the lock. */
static bool scan(struct tracker *t, pid_t pid)
{
	const uint64_t began = tracker_now();
	const bool changed = process_scan(t, pid);
	struct process *p = process_live(t, pid);
	const uint64_t ended = tracker_now();

	if (p)
		p->scan_rest = ended + (ended - began) * SCAN_SHARE;
	return changed;
}

/* False: it is too early, the doubt remains. */
static bool settle(struct tracker *t, pid_t pid, uint64_t now)
{
	struct process *p = process_live(t, pid);
	bool changed;

	if (p && (p->fresh || p->kthread))
		return true;
	if (p && (now < p->scan_next || now < p->scan_rest))
		return false;
	changed = scan(t, pid);
	p = process_live(t, pid);
	if (!p)
		return true;
	if (changed || !p->scan_wait)
		p->scan_wait = WAIT_MIN_NS;
	else if (p->scan_wait < WAIT_MAX_NS)
		p->scan_wait *= 2;
	p->scan_next = now + p->scan_wait;
	return true;
}

static void check(struct tracker *t, uint64_t now)
{
	struct process *p = process_live(t, t->check_at), *next;
	unsigned int passed, checked = 0;
	uint64_t kb;

	for (passed = 0; passed < CHECK_PASS && checked < CHECK_MAX; passed++, p = next) {
		if (!p)
			p = t->processes;
		if (!p)
			return;
		next = p->hh.next;
		t->check_at = next ? next->pid : 0;
		if (p->kthread || p->fresh || now < p->scan_rest)
			continue;
		checked++;
		kb = read_exec_kb(p->pid);
		if (kb && kb == p->exec_kb)
			continue;
		p->exec_kb = kb;
		scan(t, p->pid);
	}
}

void doubt_settle(struct tracker *t, uint64_t now)
{
	size_t i, n = 0;

	for (i = 0; i < t->ndoubts; i++)
		if (!settle(t, t->doubts[i], now))
			t->doubts[n++] = t->doubts[i];
	t->ndoubts = n;
	if (now - t->checked >= CHECK_NS) {
		t->checked = now;
		check(t, now);
	}
}
