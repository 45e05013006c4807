// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/collect/waitcells.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sampler/sampler.h"
#include "symbols/base/grow.h"
#include "symbols/base/text.h"
#include "tui/collect/stackcache.h"
#include "tui/profile/profile.h"
#include "tui/profile/reasons.h"

#define FRAMES_MAX 2048u /* of a wait with its wakers */
#define NS_PER_US  1000u

struct waitcells {
	struct profile *profile;
	struct stackcache *stacks;
	struct profile_cell *cells;
	size_t ncells, cells_room;
	uint32_t *held; /* stacks with a reference of ours */
	size_t nheld, held_room;
	uint64_t lost;
	uint32_t frames[FRAMES_MAX];
};

int waitcells_new(struct profile *profile, struct stackcache *stacks, struct waitcells **out)
{
	struct waitcells *w = calloc(1, sizeof(*w));

	*out = w;
	if (!w)
		return -ENOMEM;
	w->profile = profile;
	w->stacks = stacks;
	return 0;
}

void waitcells_free(struct waitcells *w)
{
	if (!w)
		return;
	free(w->cells);
	free(w->held);
	free(w);
}

void waitcells_begin(struct waitcells *w)
{
	w->ncells = 0;
}

size_t waitcells_all(const struct waitcells *w, const struct profile_cell **cells)
{
	*cells = w->cells;
	return w->ncells;
}

uint64_t waitcells_lost(struct waitcells *w)
{
	uint64_t lost = w->lost;

	w->lost = 0;
	return lost;
}

void waitcells_release(struct waitcells *w)
{
	profile_lock(w->profile);
	for (size_t i = 0; i < w->nheld; i++)
		profile_stack_put(w->profile, w->held[i]);
	profile_unlock(w->profile);
	w->nheld = 0;
}

int waitcells_add(struct waitcells *w, const struct profile_cell *cell)
{
	if (GROW(w->cells, w->ncells, w->cells_room, SIZE_MAX))
		return -ENOMEM;
	w->cells[w->ncells++] = *cell;
	return 0;
}

/* The reference is given back after the commit. */
static int hold(struct waitcells *w, int64_t stack)
{
	if (stack < 0)
		return (int)stack;
	if (GROW(w->held, w->nheld, w->held_room, SIZE_MAX)) {
		profile_lock(w->profile);
		profile_stack_put(w->profile, (uint32_t)stack);
		profile_unlock(w->profile);
		return -ENOMEM;
	}
	w->held[w->nheld++] = (uint32_t)stack;
	return 0;
}

static bool is_scheduler(const char *name)
{
	static const char *const names[] = {
		"__perf_event_task_sched_out",
		"perf_event_task_sched_out",
		"prepare_task_switch",
		"context_switch",
		"__schedule",
		"schedule",
		"__traceiter_sched_switch",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return strncmp(name, "bpf_", 4) == 0 || strncmp(name, "__bpf_", 6) == 0;
}

/*
 * The kernel's frames of a wait, outermost first, without those of the switch itself, into
 * w->frames. Returns how many. The lock is held.
 */
static uint32_t take_kernel(struct waitcells *w, uint32_t kstack)
{
	const struct profile_stack *stack = query_stack(w->profile, kstack);
	uint32_t n = stack ? stack->nframes : 0;

	while (n && is_scheduler(query_func(w->profile, stack->frames[n - 1])->name))
		n--;
	if (n > FRAMES_MAX / 4)
		n = FRAMES_MAX / 4;
	if (n)
		memcpy(w->frames, stack->frames, n * sizeof(*w->frames));
	return n;
}

/* Profile ids of the two stacks of a wait. *lost: the record of one is missing. */
static int take_stacks(struct waitcells *w, uint64_t user, uint64_t kernel, uint32_t *ustack,
		       uint32_t *kstack, bool *lost)
{
	bool user_lost = false, kernel_lost = false;
	int64_t id;

	*ustack = *kstack = PROFILE_NO_STACK;
	if (user && user != STACK_EARLY) {
		id = stackcache_stack(w->stacks, user, false, &user_lost);
		if (id < 0)
			return (int)id;
		*ustack = (uint32_t)id;
	}
	if (kernel) {
		id = stackcache_stack(w->stacks, kernel, true, &kernel_lost);
		if (id < 0)
			return (int)id;
		*kstack = (uint32_t)id;
	}
	*lost = user_lost || kernel_lost;
	return 0;
}

/* The stack of a wait whose user stack was not taken: only why. */
static int stack_untaken(struct waitcells *w, const char *why, uint32_t *ustack)
{
	int64_t func, id = -ENOMEM;
	struct profile_stack stack = {.nframes = 1};
	uint32_t frame;

	profile_lock(w->profile);
	func = profile_func(w->profile, FUNC_END, why, "");
	frame = (uint32_t)func;
	stack.frames = &frame;
	if (func >= 0)
		id = profile_stack_new(w->profile, &stack);
	profile_unlock(w->profile);
	*ustack = (uint32_t)id;
	return hold(w, id);
}

int waitcells_wait(struct waitcells *w, const struct waiting *of, uint64_t count, uint64_t ns)
{
	struct profile_cell cell = {.proc = of->proc,
				    .tid = of->tid,
				    .count = count ? count : 1,
				    .weight = ns / NS_PER_US};
	uint32_t ustack, kstack;
	int64_t id;
	bool lost;
	int err = take_stacks(w, of->user, of->kernel, &ustack, &kstack, &lost);

	if (err || !cell.weight)
		return err;
	w->lost += lost ? cell.count : 0;
	if (of->user == STACK_EARLY)
		err = stack_untaken(w, CAUSE_EARLY, &ustack);
	else if (!of->user && !of->kernel && of->cause != WAIT_NONE)
		err = stack_untaken(w, CAUSE_NOT_TAKEN, &ustack);
	if (err)
		return err;
	profile_lock(w->profile);
	id = profile_wait_stack(w->profile, w->frames, take_kernel(w, kstack), of->cause);
	profile_unlock(w->profile);
	err = hold(w, id);
	cell.ustack = ustack;
	cell.kstack = (uint32_t)id;
	return err ? err : waitcells_add(w, &cell);
}

/* --- who woke it ----------------------------------------------------------------------------- */

static bool is_interrupt(const char *name)
{
	return strncmp(name, "asm_sysvec_", 11) == 0 || strcmp(name, "asm_common_interrupt") == 0 ||
	       strcmp(name, "common_interrupt") == 0;
}

/* Adds the frames of a waker, innermost first, up to an interrupt. *interrupt: it was one. */
static uint32_t add_frames(struct waitcells *w, uint32_t n, uint32_t id, bool *interrupt)
{
	const struct profile_stack *stack = query_stack(w->profile, id);

	for (uint32_t i = stack ? stack->nframes : 0; i-- > 0 && n < FRAMES_MAX && !*interrupt;) {
		const struct profile_func *func = query_func(w->profile, stack->frames[i]);

		if (strncmp(func->name, "bpf_", 4) != 0 && !strstr(func->name, "traceiter"))
			w->frames[n++] = stack->frames[i];
		*interrupt = is_interrupt(func->name);
	}
	return n;
}

/* Adds what one waker is, and its frames. Returns the number of frames then, or -ENOMEM. */
static int64_t add_waker(struct waitcells *w, uint32_t n, const struct waker *by)
{
	uint32_t ustack, kstack, at = n;
	char name[64], pid[32] = "";
	bool interrupt = false, lost;
	int64_t func;
	int err = take_stacks(w, by->user, by->kernel, &ustack, &kstack, &lost);

	if (err)
		return err;
	text_clean(name, sizeof(name), by->comm, strnlen(by->comm, sizeof(by->comm)));
	snprintf(pid, sizeof(pid), "pid %u", by->tgid);
	if (n >= FRAMES_MAX)
		return n;
	profile_lock(w->profile);
	n = add_frames(w, n + 1, kstack, &interrupt);
	interrupt |= !by->tgid;
	if (!interrupt)
		n = add_frames(w, n, ustack, &interrupt);
	func = interrupt ? profile_func(w->profile, FUNC_WAKER, "interrupt", "")
			 : profile_func(w->profile, FUNC_WAKER, name, pid);
	profile_unlock(w->profile);
	if (func < 0)
		return func;
	w->frames[at] = (uint32_t)func;
	return n;
}

int waitcells_wake(struct waitcells *w, const struct waiting *of, const struct waker *wakers,
		   uint32_t nwakers, uint64_t ns)
{
	struct profile_cell cell = {
		.proc = of->proc, .tid = of->tid, .count = 1, .weight = ns / NS_PER_US};
	struct profile_stack stack = {.kernel = true, .frames = w->frames};
	char text[32];
	int64_t n, func = 0, id;
	bool lost;
	int err = take_stacks(w, of->user, of->kernel, &cell.ustack, &cell.kstack, &lost);

	if (err || !cell.weight)
		return err;
	profile_lock(w->profile);
	n = take_kernel(w, cell.kstack);
	func = profile_func(w->profile, FUNC_WAIT, wait_text(of->cause)->name, "");
	w->frames[n++] = (uint32_t)func;
	if (of->object && func >= 0) {
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)of->object);
		func = profile_func(w->profile, FUNC_LOCK, text, "");
		w->frames[n++] = (uint32_t)func;
	}
	profile_unlock(w->profile);
	if (func < 0)
		return (int)func;
	for (uint32_t i = 0; i < nwakers && i < WAKERS_MAX && n >= 0; i++)
		n = add_waker(w, (uint32_t)n, &wakers[i]);
	if (n < 0)
		return (int)n;
	stack.nframes = (uint32_t)n;
	profile_lock(w->profile);
	id = profile_stack_new(w->profile, &stack);
	profile_unlock(w->profile);
	err = hold(w, id);
	cell.kstack = (uint32_t)id;
	return err ? err : waitcells_add(w, &cell);
}
