// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A slice has as many cells and frames as a chunk of a session and its definitions hold, and takes
 * as long as a session may be that has so many (session_may_have): a profile of an hour that
 * differs in every sample becomes several slices instead of one that is refused.
 */
#include "tui/import/import_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/keyhash.h"
#include "symbols/base/text.h"
#include "tui/import/import_names.h"
#include "tui/profile/profile.h"
#include "tui/util/idtable.h"

#define CLOCK_LEAST   315532800000000000ull /* ns: 1980 */
#define CELLS_MAX     200000u
#define FRAMES_MAX    ((size_t)16 << 20) /* of the new samples of a slice */
#define PROCS_MAX     1000000u
#define NS_PER_CELL   5000u /* a session's slice has at most one cell for so many ns */
#define SUM_MAX	      ((uint64_t)1 << 50)
#define COUNT_MAX     ((uint64_t)1 << 48)
#define FIRST_TIME_NS 1000000000ull

struct import_proc_key {
	int64_t pid;
	char comm[16];
};

struct import_proc_entry {
	struct import_proc_key key;
	uint32_t id;
};

struct import_cell_key {
	uint32_t proc, tid, ustack, kstack, cpu;
};

struct import_builder {
	struct import_to *to;
	struct profile *p;
	struct import_event event;
	/* the sample */
	uint32_t *frames;
	size_t nframes, frames_room;
	size_t kernel_from; /* the frames behind are of the kernel; nframes: none is */
	bool ended;	    /* its first frame is why a walk ended */
	bool caused;	    /* its last frame says why a thread waited */
	enum wait_cause cause;
	/* the slice */
	uint32_t round;
	struct profile_cell *cells;
	size_t ncells, cells_room;
	struct idtable index;
	size_t slice_frames;
	struct profile_health health;
	uint64_t slice_count;
	/* all */
	struct import_proc_entry *procs;
	size_t nprocs, procs_room;
	struct idtable proc_index;
	uint64_t count, weight;
	uint64_t time, clock;
	uint64_t pace_ns, pace_count;
};

int import_builder_new(struct import_to *to, const struct import_event *event,
		       struct import_builder **out)
{
	struct import_builder *b = calloc(1, sizeof(*b));

	*out = b;
	if (!b)
		return -ENOMEM;
	b->to = to;
	b->p = to->profile;
	b->event = *event;
	b->time = FIRST_TIME_NS;
	b->round = 1;
	return 0;
}

void import_builder_free(struct import_builder *b)
{
	if (!b)
		return;
	free(b->frames);
	free(b->cells);
	idtable_free(&b->index);
	free(b->procs);
	idtable_free(&b->proc_index);
	free(b);
}

/* --- processes ------------------------------------------------------------------------------- */

static void proc_info(const struct import_builder *b, const struct import_proc *proc,
		      const struct import_proc_key *key, struct profile_proc *out)
{
	*out = (struct profile_proc){.image = b->nprocs + 1, .nthreads = 1};
	out->pid = key->pid >= 0 ? (pid_t)key->pid : PROFILE_NO_PID + (pid_t)b->nprocs;
	memcpy(out->comm, key->comm, sizeof(out->comm));
	text_clean(out->user, sizeof(out->user), proc->user.at, proc->user.length);
	text_clean(out->group, sizeof(out->group), proc->group.at, proc->group.length);
	if (!text_clean(out->cmdline, sizeof(out->cmdline), proc->command.at, proc->command.length))
		snprintf(out->cmdline, sizeof(out->cmdline), "[%s]", out->comm);
}

static int64_t proc_new(struct import_builder *b, const struct import_proc *proc,
			const struct import_proc_key *key, uint32_t hash)
{
	struct profile_proc info;
	int64_t id;

	if (b->nprocs == PROCS_MAX)
		return import_fail(b->to, -EFBIG, "has more than %u processes", PROCS_MAX);
	if (GROW(b->procs, b->nprocs, b->procs_room, PROCS_MAX) ||
	    idtable_reserve(&b->proc_index, b->nprocs + 1))
		return -ENOMEM;
	proc_info(b, proc, key, &info);
	id = profile_proc(b->p, &info);
	if (id < 0)
		return id;
	idtable_add(&b->proc_index, hash, (uint32_t)b->nprocs);
	b->procs[b->nprocs++] = (struct import_proc_entry){*key, (uint32_t)id};
	return id;
}

int64_t import_proc(struct import_builder *b, const struct import_proc *proc)
{
	struct import_proc_key key;
	uint32_t hash, at, id;

	memset(&key, 0, sizeof(key)); /* all of it is compared */
	key.pid = proc->pid;
	if (!text_clean(key.comm, sizeof(key.comm), proc->comm.at, proc->comm.length))
		strcpy(key.comm, "?");
	memset(key.comm + strlen(key.comm), 0, sizeof(key.comm) - strlen(key.comm));
	at = hash = keyhash(&key, sizeof(key));
	while ((id = idtable_next(&b->proc_index, hash, &at)) != IDTABLE_NONE)
		if (!memcmp(&b->procs[id].key, &key, sizeof(key)))
			return b->procs[id].id;
	return proc_new(b, proc, &key, hash);
}

int import_thread(struct import_builder *b, uint32_t proc, uint32_t tid, struct import_text name)
{
	char comm[16];

	if (!text_clean(comm, sizeof(comm), name.at, name.length))
		return 0;
	return strcmp(query_thread(b->p, proc, tid), comm) ? profile_thread(b->p, proc, tid, comm)
							   : 0;
}

/* --- frames ---------------------------------------------------------------------------------- */

static int append(struct import_builder *b, uint32_t func, enum func_kind kind)
{
	bool kernel = kind == FUNC_KERNEL || (kind == FUNC_INLINE && b->kernel_from < b->nframes);

	if (b->nframes == IMPORT_DEPTH_MAX)
		return import_fail(b->to, -EFBIG, "has a stack of more than %u frames",
				   IMPORT_DEPTH_MAX);
	if (GROW(b->frames, b->nframes, b->frames_room, IMPORT_DEPTH_MAX))
		return -ENOMEM;
	if (!b->nframes)
		b->ended = kind == FUNC_END;
	b->frames[b->nframes++] = func;
	if (!kernel)
		b->kernel_from = b->nframes;
	return 0;
}

/* True for "[lock]" in a profile with waits, and "[on]" in one of wall time. */
static bool take_cause(struct import_builder *b, struct import_text name)
{
	char cause[16];

	if (!b->event.waits || name.length < 3 || name.length >= sizeof(cause) || *name.at != '[' ||
	    name.at[name.length - 1] != ']')
		return false;
	memcpy(cause, name.at + 1, name.length - 2);
	cause[name.length - 2] = '\0';
	b->cause = wait_by_name(cause);
	b->caused = b->cause != WAIT_NONE || !strcmp(cause, wait_text(WAIT_NONE)->name);
	return b->caused;
}

/* What looked like the cause of a wait is not the innermost frame: then it was a function. */
static int keep_cause(struct import_builder *b)
{
	char name[20];
	int64_t func;

	b->caused = false;
	snprintf(name, sizeof(name), "[%s]", wait_text(b->cause)->name);
	func = profile_func(b->p, FUNC_USER, name, "");
	return func < 0 ? (int)func : append(b, (uint32_t)func, FUNC_USER);
}

int import_frame(struct import_builder *b, const struct import_frame *frame,
		 struct import_slot *slot, int64_t *func)
{
	const bool in_kernel = b->nframes && b->kernel_from < b->nframes;
	struct import_named named;
	int err = b->caused ? keep_cause(b) : 0;
	int64_t id;

	if (func)
		*func = -1;
	if (err || take_cause(b, frame->name))
		return err;
	if (slot && b->nframes && slot->round[in_kernel] == b->round)
		return append(b, slot->func[in_kernel], slot->kind[in_kernel]);
	import_named(frame, !b->nframes, in_kernel, &named);
	id = profile_func(b->p, named.kind, named.name, named.module);
	if (id < 0)
		return (int)id;
	if (slot && b->nframes) {
		slot->round[in_kernel] = b->round;
		slot->func[in_kernel] = (uint32_t)id;
		slot->kind[in_kernel] = (uint8_t)named.kind;
	}
	if (func)
		*func = id;
	return append(b, (uint32_t)id, named.kind);
}

void import_drop(struct import_builder *b)
{
	b->nframes = 0;
	b->kernel_from = 0;
	b->caused = false;
	b->ended = false;
}

/* --- samples --------------------------------------------------------------------------------- */

static int take_stacks(struct import_builder *b, struct import_cell_key *key)
{
	size_t nuser = b->kernel_from, nkernel = b->nframes - nuser;
	struct profile_stack stack = {
		.complete = !b->ended, .nframes = (uint32_t)nuser, .frames = b->frames};
	int64_t id = nuser ? profile_stack_new(b->p, &stack) : PROFILE_NO_STACK;

	if (id < 0)
		return (int)id;
	key->ustack = (uint32_t)id;
	stack = (struct profile_stack){.kernel = true,
				       .nframes = (uint32_t)nkernel,
				       .frames = nkernel ? b->frames + nuser : b->frames};
	if (b->caused)
		id = profile_wait_stack(b->p, stack.frames, stack.nframes, b->cause);
	else
		id = nkernel ? profile_stack_new(b->p, &stack) : PROFILE_NO_STACK;
	if (id < 0 && key->ustack != PROFILE_NO_STACK)
		profile_stack_put(b->p, key->ustack);
	key->kstack = (uint32_t)id;
	return id < 0 ? (int)id : 0;
}

static void put_stacks(struct import_builder *b, uint32_t ustack, uint32_t kstack)
{
	if (ustack != PROFILE_NO_STACK)
		profile_stack_put(b->p, ustack);
	if (kstack != PROFILE_NO_STACK)
		profile_stack_put(b->p, kstack);
}

static struct profile_cell *find_cell(const struct import_builder *b,
				      const struct import_cell_key *key, uint32_t hash)
{
	uint32_t at = hash, id;

	while ((id = idtable_next(&b->index, hash, &at)) != IDTABLE_NONE) {
		struct profile_cell *cell = &b->cells[id];

		if (cell->proc == key->proc && cell->tid == key->tid &&
		    cell->ustack == key->ustack && cell->kstack == key->kstack &&
		    cell->cpu == key->cpu)
			return cell;
	}
	return NULL;
}

/* Takes the references of the stacks. */
static int add_cell(struct import_builder *b, const struct import_cell_key *key,
		    const struct import_sample *sample)
{
	uint32_t hash = keyhash(key, sizeof(*key));
	struct profile_cell *cell = find_cell(b, key, hash);

	if (cell) {
		put_stacks(b, key->ustack, key->kstack);
		cell->count += sample->count;
		cell->weight += sample->weight;
		return 0;
	}
	if (GROW(b->cells, b->ncells, b->cells_room, SIZE_MAX) ||
	    idtable_reserve(&b->index, b->ncells + 1)) {
		put_stacks(b, key->ustack, key->kstack);
		return -ENOMEM;
	}
	idtable_add(&b->index, hash, (uint32_t)b->ncells);
	b->cells[b->ncells++] = (struct profile_cell){.proc = key->proc,
						      .tid = key->tid,
						      .ustack = key->ustack,
						      .kstack = key->kstack,
						      .count = sample->count,
						      .cpu = key->cpu,
						      .weight = sample->weight};
	b->slice_frames += b->nframes;
	return 0;
}

static void add_health(struct import_builder *b, const struct import_sample *sample)
{
	struct profile_health *h = &b->health;

	b->slice_count += sample->count;
	b->count += sample->count;
	b->weight += sample->weight;
	if (b->caused) {
		h->wait_walks += sample->count;
		return;
	}
	h->samples += sample->count;
	if (b->kernel_from < b->nframes)
		h->kernel_samples += sample->count;
	else
		h->user_samples += sample->count;
	if (b->event.counted)
		h->counted += sample->weight;
	if (!b->kernel_from)
		return;
	h->user_walks += sample->count;
	h->frames += sample->count * b->kernel_from;
	if (!b->ended)
		h->complete_walks += sample->count;
}

int import_sample(struct import_builder *b, const struct import_sample *sample)
{
	struct import_cell_key key = {.proc = sample->proc, .tid = sample->tid, .cpu = sample->cpu};
	int err;

	if (b->count >= COUNT_MAX || sample->count >= COUNT_MAX - b->count ||
	    b->weight >= SUM_MAX || sample->weight >= SUM_MAX - b->weight)
		return import_fail(b->to, -EFBIG, "has larger numbers than can be added up");
	err = take_stacks(b, &key);
	if (!err)
		err = add_cell(b, &key, sample);
	if (!err)
		add_health(b, sample);
	import_drop(b);
	if (!err && (b->ncells >= CELLS_MAX || b->slice_frames >= FRAMES_MAX))
		err = import_slice(b, 0);
	return err;
}

/* --- slices ---------------------------------------------------------------------------------- */

/* A cell of a session has at most so many samples. */
static int split_cells(struct import_builder *b)
{
	for (size_t i = 0, n = b->ncells; i < n; i++) {
		while (b->cells[i].count > UINT32_MAX) {
			struct profile_cell part = b->cells[i];

			part.weight =
				(uint64_t)((double)part.weight * UINT32_MAX / (double)part.count);
			part.count = UINT32_MAX;
			if (GROW(b->cells, b->ncells, b->cells_room, SIZE_MAX))
				return -ENOMEM;
			b->cells[i].count -= part.count;
			b->cells[i].weight -= part.weight;
			b->cells[b->ncells++] = part;
		}
	}
	return 0;
}

static void finish_health(struct import_builder *b, uint64_t elapsed)
{
	struct profile_health *h = &b->health;
	double due = (double)elapsed / 1e9 * b->event.frequency;

	b->time += elapsed;
	h->time = b->time;
	h->clock = b->clock ? b->clock + b->time - FIRST_TIME_NS : 0;
	h->elapsed = elapsed;
	h->taken = h->samples;
	h->frequency = b->event.frequency;
	memcpy(h->event, b->event.name, sizeof(h->event));
	h->waits = b->event.waits;
	h->ncpus = 1;
	while (due > 0 && h->ncpus < 4096 && (double)h->samples > 1.05 * due * h->ncpus)
		h->ncpus++;
	/* This is what makes a clock of an event with another name. */
	if (b->event.time)
		h->ticks = h->taken;
}

static void begin_slice(struct import_builder *b, size_t ncells)
{
	for (size_t i = 0; i < ncells; i++)
		put_stacks(b, b->cells[i].ustack, b->cells[i].kstack);
	b->ncells = 0;
	idtable_clear(&b->index);
	b->slice_frames = 0;
	b->slice_count = 0;
	b->health = (struct profile_health){0};
	b->round++;
}

int import_slice(struct import_builder *b, uint64_t elapsed)
{
	const size_t ncells = b->ncells;
	uint64_t least;
	int err = split_cells(b);

	if (!elapsed && b->pace_count)
		elapsed = (uint64_t)((double)b->pace_ns * (double)b->slice_count /
				     (double)b->pace_count);
	least = b->ncells * (uint64_t)NS_PER_CELL + 1000000u;
	finish_health(b, elapsed < least ? least : elapsed);
	if (!err)
		err = profile_commit(b->p, b->cells, b->ncells, &b->health);
	if (!err)
		err = b->to->slice(b->p, b->cells, b->ncells, &b->health, b->to->arg);
	begin_slice(b, ncells);
	return err;
}

int import_end(struct import_builder *b, uint64_t elapsed)
{
	return b->ncells || b->time == FIRST_TIME_NS ? import_slice(b, elapsed) : 0;
}

bool import_begun(const struct import_builder *b)
{
	return b->ncells > 0;
}

void import_pace(struct import_builder *b, uint64_t ns, uint64_t count)
{
	b->pace_ns = ns;
	b->pace_count = count;
}

void import_skip(struct import_builder *b, uint64_t ns)
{
	b->time += ns;
}

void import_clock(struct import_builder *b, uint64_t clock)
{
	/* Files of some distributions are from 1970; then it is not known. */
	b->clock = clock > CLOCK_LEAST ? clock : 0;
}
