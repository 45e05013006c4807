// SPDX-License-Identifier: GPL-2.0-or-later
/* See runtimefile.h. */
#include "bpf/tracker/runtimefile.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "bpf/sampler/sampler.h"
#include "bpf/tracker/codereader.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/proctable.h"
#include "unwind/walk.h"

#define CHECKS_MAX   200 /* the process runs meanwhile, so that some contradict themselves */
#define CHECKS_QUICK 100 /* without a pause */
#define PAUSE_NS     200000
#define LOCKED_MAX   30 /* of them, to see which thread holds the lock */

struct runtime_object *runtimefile_read(const struct elf_file *file, const char *name)
{
	struct runtime_object *r;
	struct python_file python;

	if (!python_file_read(file, name, &python))
		return NULL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->kind = RUNTIME_PYTHON;
	r->python = python;
	return r;
}

struct object *runtimefile_of(const struct process *p, uint64_t *bias)
{
	for (size_t i = 0; i < p->nmappings; i++) {
		struct object *o = p->mappings[i].object;

		if (!o || !o->runtime)
			continue;
		*bias = p->mappings[i].bias;
		return o;
	}
	return NULL;
}

bool runtimefile_is_proven(const struct runtime_object *r, const struct process *p)
{
	return r->proven && (!r->user || r->user == p->uid);
}

/* As a frame has it; 0 stays 0. */
static uint64_t frame_of(const struct object *o, uint64_t addr)
{
	return addr ? FRAME_OF(o->id, 0) + addr : 0;
}

enum runtime runtimefile_enter(struct sampler *s, struct process *p)
{
	uint64_t bias = 0;
	const struct object *o = runtimefile_of(p, &bias);
	struct runtime_process entry = {0};

	if (!o || !runtimefile_is_proven(o->runtime, p))
		return RUNTIME_NONE;
	entry.at = o->runtime->python.runtime + bias;
	entry.type = o->runtime->python.type + bias;
	for (int i = 0; i < 4; i++)
		entry.eval[i / 2][i % 2] = frame_of(o, o->runtime->python.eval[i / 2][i % 2]);
	entry.python = o->runtime->python.layout;
	p->runtime.entered = !sampler_set_runtime(s, p->pid, &entry);
	return p->runtime.entered ? o->runtime->kind : RUNTIME_NONE;
}

/* --- the check ------------------------------------------------------------------------------- */

void runtimefile_question(const struct object *o, uint64_t bias, struct runtime_question *q)
{
	q->place.runtime = o->runtime->python.runtime + bias;
	q->place.type = o->runtime->python.type + bias;
	q->layout = o->runtime->python.layout;
}

static int read_memory(void *arg, uint64_t addr, void *to, size_t size)
{
	return codereader_memory(arg, addr, to, size);
}

int runtimefile_check(struct code_memory *m, struct runtime_question *q, const char **why)
{
	const struct timespec pause = {0, PAUSE_NS};
	const uint32_t lock = q->layout.runtime_current;
	bool right = false;
	int err = -EINVAL;

	*why = NULL;
	for (int i = 0; i < CHECKS_MAX; i++) {
		struct python_layout layout = q->layout;

		err = python_check(&layout, &q->place, read_memory, m, why);
		if (err != -EINVAL && err)
			return err;
		right |= !err;
		if (!err && (!lock || layout.runtime_current))
			return 0;
		if (right && i >= LOCKED_MAX)
			break;
		if (i >= CHECKS_QUICK)
			nanosleep(&pause, NULL);
	}
	if (!right)
		return err;
	q->layout.runtime_current = 0;
	return 0;
}
