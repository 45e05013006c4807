// SPDX-License-Identifier: GPL-2.0-or-later
/* Most threads have the name of their process; only the others are kept. */
#include "symbols/base/grow.h"
#include "tui/export/export_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/text.h"

static uint32_t thread_hash(uint32_t proc, uint32_t tid)
{
	return (uint32_t)idtable_mix(proc, tid);
}

static struct export_model_thread *find(const struct export_model *c, uint32_t proc, uint32_t tid)
{
	uint32_t hash = thread_hash(proc, tid), id;

	for (uint32_t at = hash; (id = idtable_next(&c->thread_index, hash, &at)) != IDTABLE_NONE;)
		if (c->threads[id].proc == proc && c->threads[id].tid == tid)
			return &c->threads[id];
	return NULL;
}

int export_model_thread_add(struct export_model *c, uint32_t proc, uint32_t tid, const char *dirty)
{
	struct export_model_thread *thread = find(c, proc, tid);
	char comm[16];

	text_clean(comm, sizeof(comm), dirty, strlen(dirty));
	if (!strcmp(thread ? export_model_text(c, thread->comm)
			   : export_model_text(c, c->procs[proc].comm),
		    comm))
		return 0;
	/* What it called itself last counts. */
	if (thread)
		return textpool_add(&c->pool, comm, &thread->comm);
	if (c->nthreads >= EXPORT_MODEL_THREADS_MAX)
		return 0;
	if (GROW(c->threads, c->nthreads, c->threads_room, EXPORT_MODEL_THREADS_MAX) ||
	    idtable_reserve(&c->thread_index, c->nthreads + 1u))
		return -ENOMEM;
	thread = &c->threads[c->nthreads];
	*thread = (struct export_model_thread){.proc = proc, .tid = tid};
	if (textpool_add(&c->pool, comm, &thread->comm))
		return -ENOMEM;
	idtable_add(&c->thread_index, thread_hash(proc, tid), c->nthreads++);
	return 0;
}

const struct export_model_thread *export_model_thread_find(const struct export_model *c,
							   uint32_t proc, uint32_t tid)
{
	return find(c, proc, tid);
}

const char *export_model_thread(const struct export_model *c, uint32_t proc, uint32_t tid)
{
	const struct export_model_thread *thread = export_model_thread_find(c, proc, tid);

	return export_model_text(c, thread ? thread->comm : c->procs[proc].comm);
}
