// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of threads. Most are that of the process; the others are kept, sorted by thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/search.h"
#include "tui/profile/profile_priv.h"

#define THREADS_MAX 4096 /* names kept for a process */

/* The index that the thread has, or would get. */
static uint32_t place_of(const struct process_entry *entry, uint32_t tid)
{
	return (uint32_t)SEARCH(entry->nthreads, i, entry->threads[i].tid < tid);
}

static bool is_at(const struct process_entry *entry, uint32_t at, uint32_t tid)
{
	return at < entry->nthreads && entry->threads[at].tid == tid;
}

int profile_thread(struct profile *p, uint32_t proc, uint32_t tid, const char *comm)
{
	struct process_entry *entry;
	struct thread_name *grown;
	uint32_t at;

	if (!pool_has(&p->procs, proc))
		return -EINVAL;
	entry = proc_at(p, proc);
	at = place_of(entry, tid);
	if (!is_at(entry, at, tid)) {
		if (strcmp(entry->proc.comm, comm) == 0 || entry->nthreads >= THREADS_MAX)
			return 0;
		grown = reallocarray(entry->threads, entry->nthreads + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		entry->threads = grown;
		memmove(grown + at + 1, grown + at, (entry->nthreads - at) * sizeof(*grown));
		entry->nthreads++;
		grown[at].tid = tid;
	}
	snprintf(entry->threads[at].comm, sizeof(entry->threads[at].comm), "%s", comm);
	return 0;
}

const char *query_thread(const struct profile *p, uint32_t proc, uint32_t tid)
{
	const struct process_entry *entry;
	uint32_t at;

	if (!pool_has(&p->procs, proc))
		return "";
	entry = proc_at(p, proc);
	at = place_of(entry, tid);
	return is_at(entry, at, tid) ? entry->threads[at].comm : entry->proc.comm;
}
