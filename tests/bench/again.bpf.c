// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sampler's walk as a program that runs on demand: over the caller's own stack, again and
 * again, without a timer interrupt and with warm caches. The rest of a sample's cost is that of
 * the interrupt.
 */
#include "bpf/prog/profiler.bpf.c"

#include "tests/bench/again.h"

SEC("syscall")
int again(struct again *a)
{
	struct cpu_state *st = this_state();
	struct walk *w;
	__u64 began;
	int i;

	if (!st)
		return 1;
	w = &st->walk;
	for (i = 0; i < DWARF_COUNT; i++)
		w->regs[i] = a->regs[i];
	w->list_at = 0;
	w->list_count = a->list_count;
	w->code_count = 0;
	w->window_top = 0;
	w->start_stack = 0;
	began = bpf_ktime_get_ns();
	walk_begin(w, 1);
	st->trail = TRAIL_NONE;
	st->version = 0;
	st->exec_id = 1;
	if (a->along)
		walk_begin_trail(1);
	a->reason = walk_all(0);
	if (a->along)
		walk_finish_trail();
	a->ns = bpf_ktime_get_ns() - began;
	a->nframes = w->nframes;
	return 0;
}
