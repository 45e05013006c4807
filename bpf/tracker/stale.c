// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * No record reports munmap, dlclose and mremap, and records get lost. So a process is read anew
 * when walks through it end with certain reasons, less and less often while that finds nothing new.
 * In addition, the amount of executable memory of a few processes is checked each second, which
 * costs a tenth of reading their mappings.
 */
#include "bpf/tracker/tracker_priv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "symbols/files/procfile.h"
#include "unwind/reason.h"

#define WAIT_MIN_NS (250ull * 1000000)
#define WAIT_MAX_NS (32000ull * 1000000)
#define SCAN_SHARE  32u /* 1/n of the time at most goes into readings of one process */
#define CHECK_NS    (1000ull * 1000000)
#define CHECK_MAX   24u	  /* processes in that time */
#define CHECK_PASS  1024u /* including kernel threads, which are only skipped */

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
	size_t i, n = 0;

	for (i = 0; i < t->procs.ndoubts; i++)
		if (!settle_doubt(t, t->procs.doubts[i], now))
			t->procs.doubts[n++] = t->procs.doubts[i];
	t->procs.ndoubts = n;
	if (now - t->stale.checked >= CHECK_NS) {
		t->stale.checked = now;
		check_exec_memory(t, now);
	}
}
