/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits the totals without losing a sample. When there are more than cells_max cells,
 *	1. processes that exited and are in no recent slice are merged into one, "[exited]"; their
 *	   stacks stay, and short commands that did the same share them;
 *	2. the rarest cells get "[folded away]" for their stacks. There are three such stacks: for
 *	   complete user stacks, for incomplete ones, and for kernel stacks. So the shares of kernel
 *	   time and of complete stacks stay exact, and a process has at most six such cells;
 *	3. if there are still too many, exited processes are merged although slices have them.
 * At most cells_max cells are left, or six for each live process. Frees a quarter at a time, so
 * that it is rare.
 */
#include "tui/profile/profile_priv.h"

#include <errno.h>

#include "tui/profile/reasons.h"

#define EXITED_IMAGE UINT64_MAX
#define HOT_SHARE    256 /* a cell with more than 1/256 of all samples keeps its stack */

struct fold {
	struct profile *p;
	uint64_t below;	 /* folds all cells of lower counts */
	uint64_t upto;	 /* folds some cells of counts from below up to here */
	size_t boundary; /* how many of these */
	bool young;	 /* merges exited processes that are still in slices, too */
};

static int stack_make(struct profile *p, uint32_t func, bool kernel, bool complete, uint32_t *id)
{
	struct profile_stack stack = {
		.kernel = kernel, .complete = complete, .nframes = 1, .frames = &func};
	int64_t made = profile_stack_new(p, &stack);

	if (made < 0)
		return (int)made;
	*id = (uint32_t)made;
	return 0;
}

/* Of a stack of one frame, which says what its cells are. */
static int use_make(struct profile *p, enum func_kind kind, const char *name, uint32_t *id)
{
	int64_t func = profile_func(p, kind, name, "");

	return func < 0 ? (int)func : stack_make(p, (uint32_t)func, true, false, id);
}

int profile_fold_new(struct profile *p)
{
	struct profile_proc exited = {
		.image = EXITED_IMAGE, .comm = "[exited]", .cmdline = "[exited]", .exited = true};
	int64_t proc = profile_proc(p, &exited), func;
	int err;

	if (proc < 0)
		return (int)proc;
	func = profile_func(p, FUNC_END, CAUSE_FOLDED, "");
	if (func < 0)
		return (int)func;
	p->folded_func = (uint32_t)func;
	p->exited = (uint32_t)proc;
	pool_get(&p->procs, p->exited);
	err = stack_make(p, p->folded_func, false, true, &p->folded_complete);
	if (!err)
		err = stack_make(p, p->folded_func, false, false, &p->folded_broken);
	if (!err)
		err = stack_make(p, p->folded_func, true, false, &p->folded_kernel);
	for (int cause = WAIT_NONE; cause < WAIT_CAUSES && !err; cause++)
		err = use_make(p, FUNC_WAIT, wait_text((enum wait_cause)cause)->name,
			       &p->folded_waits[cause]);
	for (int cause = WAIT_NONE; cause < WAIT_CAUSES && !err; cause++)
		err = use_make(p, FUNC_TIME, wait_text((enum wait_cause)cause)->name,
			       &p->times[cause]);
	if (!err)
		err = use_make(p, FUNC_WAKER, CAUSE_FOLDED, &p->folded_wakes);
	p->nuses = 0;
	p->folds = !err;
	return err;
}

static bool is_folded(const struct profile *p, const struct cell *cell)
{
	const struct profile_stack *kernel =
		cell->kstack == PROFILE_NO_STACK ? NULL : &stack_at(p, cell->kstack)->stack;
	bool user = cell->ustack == PROFILE_NO_STACK || cell->ustack == p->folded_complete ||
		    cell->ustack == p->folded_broken;

	return user && (!kernel || cell->kstack == profile_folded(p, kernel));
}

static void fold_exited(struct cell *cell, void *arg)
{
	const struct fold *fold = arg;
	const struct process_entry *proc = proc_at(fold->p, cell->proc);

	if (proc->proc.exited && (fold->young || !proc->slices))
		cell->proc = fold->p->exited;
}

static void fold_rare(struct cell *cell, void *arg)
{
	struct fold *fold = arg;
	struct profile *p = fold->p;

	if (cell->count > fold->upto || is_folded(p, cell))
		return;
	if (cell->count >= fold->below) {
		if (!fold->boundary)
			return;
		fold->boundary--;
	}
	if (cell->ustack != PROFILE_NO_STACK)
		cell->ustack = profile_folded(p, &stack_at(p, cell->ustack)->stack);
	if (cell->kstack != PROFILE_NO_STACK)
		cell->kstack = profile_folded(p, &stack_at(p, cell->kstack)->stack);
}

/* Chooses `excess` cells to fold, by powers of two of their counts. */
static bool fold_choose(struct fold *fold, size_t excess)
{
	const struct celltable *totals = &fold->p->totals.cells;
	size_t rare[64] = {0};
	int bucket = 0;

	for (size_t i = 0; i < totals->count; i++) {
		if (!is_folded(fold->p, &totals->cells[i]))
			rare[63 - __builtin_clzll(totals->cells[i].count)]++;
	}
	while (bucket < 63 && rare[bucket] < excess)
		excess -= rare[bucket++];
	fold->below = 1ull << bucket;
	fold->upto = fold->below + (fold->below - 1);
	fold->boundary = excess;
	for (int i = 0; i <= bucket; i++) {
		if (rare[i])
			return true;
	}
	return false;
}

void profile_fold(struct profile *p)
{
	struct fold fold = {.p = p};
	struct celltable *totals = &p->totals.cells;
	size_t target = p->cells_max - p->cells_max / 4;

	if (totals->count <= p->cells_max)
		return;
	/* Without references for a moment: nothing is recycled before the sweep. */
	sum_unhold(p, &p->totals);

	celltable_rebuild(totals, fold_exited, &fold);
	while (totals->count > target && fold_choose(&fold, totals->count - target))
		celltable_rebuild(totals, fold_rare, &fold);
	if (totals->count > p->cells_max) {
		fold.young = true;
		celltable_rebuild(totals, fold_exited, &fold);
	}

	sum_hold(p, &p->totals);
}

/*
 * Limits the memory of stacks and names. The number of cells is limited, but a hostile process can
 * have stacks of a thousand frames with names of a kilobyte each: 50,000 of these are gigabytes.
 * Above three quarters of the limit history is dropped, then stacks of the totals, each time the
 * rarest half of those that are not hot. What is recent is on the screen and stays, so at the limit
 * new stacks are not kept: their samples count as folded away. No sample is lost.
 */
void profile_bound(struct profile *p, uint64_t bytes)
{
	p->bound_max = bytes;
}

static bool is_near(const struct profile *p)
{
	return p->bound_bytes > p->bound_max / 4 * 3;
}

/*
 * Folds the stacks of the rarest half of the cells that are not hot. False: there are none, or it
 * freed too little, since slices or the feeder may hold the stacks, too.
 */
static bool bound_fold(struct profile *p)
{
	const uint64_t before = p->bound_bytes;
	struct celltable *totals = &p->totals.cells;
	struct fold fold = {.p = p};
	uint64_t samples = 0;
	size_t rare = 0;
	bool chosen;

	for (size_t i = 0; i < totals->count; i++)
		samples += totals->cells[i].count;
	for (size_t i = 0; i < totals->count; i++)
		rare += totals->cells[i].count < samples / HOT_SHARE &&
			!is_folded(p, &totals->cells[i]);
	if (!rare)
		return false;
	sum_unhold(p, &p->totals);
	chosen = fold_choose(&fold, rare - rare / 2);
	if (chosen)
		celltable_rebuild(totals, fold_rare, &fold);
	sum_hold(p, &p->totals);
	if (chosen)
		profile_sweep(p);
	return before - p->bound_bytes >= p->bound_max / 256;
}

void bound_keep(struct profile *p)
{
	while (is_near(p) && p->nslices > p->nrecent) {
		history_drop_oldest(p);
		profile_sweep(p);
	}
	while (is_near(p) && bound_fold(p))
		;
}
