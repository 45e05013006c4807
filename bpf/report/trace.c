// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See trace.h. The step is compiled here with seams that read the captured stack, the process's
 * code, and the sampler's maps, which do not change while the tracker's lock is held.
 */
#include "bpf/report/trace.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "bpf/sampler/kernelinfo.h"
#include "bpf/sampler/sampler.h"
#include "bpf/sampler/shardmaps.h"
#include "bpf/tracker/tracker.h"
#include "symbols/base/grow.h"
#include "unwind/shards.h"

#define STACK_MAX (64ull << 20)
#define FP_MAX	  1024u

struct tracer {
	struct walk walk;
	struct sampler *sampler;
	struct trace *trace;
	struct trace_step *step;	    /* that is noted */
	const uint32_t *shards[SHARDS_MAX]; /* mapped; NULL: not yet */
	bool missed;			    /* a read went beyond what was captured */
};

/* The seams get the walk, which is the tracer's first member. */
#define STEP_KEY(n)		     0 /* a trace has no use for the hash */
#define STEP_CODE_MASK		     kernelinfo_address_mask()
#define STEP_BARRIER(x)		     ((void)(x))
#define step_shard(shard)	     trace_shard((struct tracer *)w, shard)
#define step_map_entries()	     sampler_memory(((struct tracer *)w)->sampler)->map_entries
#define step_wide_rule(index)	     trace_wide((struct tracer *)w, index)
#define STEP_NOTE(w, what, value)    (((struct tracer *)(w))->step->what = (value))
#define STEP_NOTE_ROW(w, addr, word) note_row((struct tracer *)(w), addr, word)
#ifndef __always_inline
#define __always_inline inline
#endif

static const uint32_t *trace_shard(struct tracer *r, uint32_t shard)
{
	if (shard >= SHARDS_MAX)
		return NULL;
	if (!r->shards[shard])
		r->shards[shard] = shardmaps_view(sampler_shards(r->sampler), shard);
	return r->shards[shard];
}

static const struct wide_rule *trace_wide(struct tracer *r, uint32_t index)
{
	return &sampler_memory(r->sampler)->wide_rules[index & (WIDE_RULES_MAX - 1)];
}

static bool is_captured(const struct capture_record *c, uint64_t addr, uint64_t size)
{
	uint64_t at = addr - c->stack_at, all = (uint64_t)c->pages * CAPTURE_PAGE;

	return at < all && size <= all - at;
}

/* Code does not change and can be read now; of a stack only captured words can. */
static bool is_code(struct tracer *r, uint64_t addr)
{
	const struct map_entry *e = sampler_memory(r->sampler)->map_entries + r->walk.list_at;

	for (uint32_t i = 0; i < r->walk.list_count; i++)
		if (addr >= e[i].start && addr < e[i].end)
			return true;
	return false;
}

static int step_read_user(struct walk *w, void *to, uint64_t size, uint64_t from)
{
	struct tracer *r = (struct tracer *)w;
	const struct capture_record *c = &r->trace->capture;
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)from, size};

	if (is_captured(c, from, size)) {
		memcpy(to, c->stack + (from - c->stack_at), size);
		return 0;
	}
	/* A window is read as a whole first; only a read of one word tells that it is missing. */
	if (size == 8 && from - c->stack_at < STACK_MAX)
		r->missed = true;
	if (!is_code(r, from))
		return -1;
	return process_vm_readv((pid_t)c->tgid, &local, 1, &remote, 1, 0) != (ssize_t)size;
}

/* The search has found this row, but not what surrounds it. at: number of its word. */
static void note_row(struct tracer *r, uint64_t addr, uint32_t at)
{
	struct trace_step *s = r->step;
	uint32_t granules = MAP_GRANULES(r->walk.map.meta), rows = r->walk.map.word + granules, i;
	const uint32_t *words = trace_shard(r, r->walk.map.word >> SHARD_SHIFT);
	uint64_t base = addr & ~(uint64_t)(GRANULE_SIZE - 1);

	if (addr != s->addr) /* another address that the step has checked */
		return;
	s->granule = (uint32_t)((addr >> GRANULE_SHIFT) - (r->walk.map.start >> GRANULE_SHIFT));
	s->index = words[(r->walk.map.word + s->granule) & SHARD_MASK];
	s->row = at - rows;
	s->row_word = words[at & SHARD_MASK];
	i = s->row + 1 - INDEX_FIRST(s->index); /* rows of the granule up to and with this one */
	s->row_start = i ? base + ROW_OFFSET(s->row_word) : 0;
	s->row_end = i < INDEX_ROWS(s->index) ? base + ROW_OFFSET(words[(at + 1) & SHARD_MASK]) : 0;
	s->rule = ROW_RULE(s->row_word);
	s->has_row = true;
	s->wide = RULE_KIND(s->rule) == ROW_WIDE;
	if (s->wide)
		s->wide_rule = *trace_wide(r, RULE_PAYLOAD(s->rule));
}

#include "unwind/step.h"

_Static_assert(offsetof(struct tracer, walk) == 0, "the walk leads to its tracer");

bool trace_word(const struct trace *trace, uint64_t addr, uint64_t *value)
{
	if (!is_captured(&trace->capture, addr, sizeof(*value)))
		return false;
	memcpy(value, trace->capture.stack + (addr - trace->capture.stack_at), sizeof(*value));
	return true;
}

/* --- a step -------------------------------------------------------------------------------- */

static void note_before(struct tracer *r, struct trace_step *s)
{
	const struct walk *w = &r->walk;

	*s = (struct trace_step){.pc = w->pc,
				 .sp = w->sp,
				 .fp = w->fp,
				 .addr = w->exact ? w->pc : w->pc - 1,
				 .exact = w->exact != 0,
				 .way = TRACE_NONE};
	r->step = s;
}

static void note_after(const struct tracer *r, struct trace_step *s)
{
	const struct walk *w = &r->walk;
	uint32_t kind = s->has_row ? RULE_KIND(s->rule) : ROW_END;

	if (s->reason != WALK_CONTINUE)
		return;
	s->ra = w->pc;
	s->caller_fp = w->fp;
	if (w->exact && w->known == WALK_ALL_KNOWN)
		s->way = TRACE_SIGNAL;
	else if (kind == ROW_SP || kind == ROW_FP || kind == ROW_PLT || kind == ROW_WIDE)
		s->way = TRACE_CFI;
	else
		s->way = w->fp_chain ? TRACE_FRAME_POINTER : TRACE_LEAF;
}

/* The first step of a thread in rt_sigreturn uses no row, but it is shown. */
static int step_from_signal(struct walk *w, struct trace_step *s)
{
	s->mapped = walk_find_map(w, s->addr) != 0;
	if (s->mapped) {
		s->map = w->map;
		if (MAP_KIND(s->map.meta) == MAP_CFI)
			walk_find_rule(w, s->addr);
	}
	return walk_leave_signal(w);
}

static int trace_walk(struct tracer *r, bool in_sigreturn)
{
	struct trace *t = r->trace;
	size_t room = 0;
	int reason = WALK_CONTINUE;

	while (reason == WALK_CONTINUE && t->nsteps <= WALK_FRAMES_MAX) {
		struct trace_step *s;

		if (GROW(t->steps, t->nsteps, room, SIZE_MAX))
			return -ENOMEM;
		s = &t->steps[t->nsteps];
		note_before(r, s);
		if (in_sigreturn && !t->nsteps)
			reason = step_from_signal(&r->walk, s);
		else
			reason = walk_step(&r->walk);
		s->reason = reason;
		if (reason == WALK_DEPTH)
			break;
		note_after(r, s);
		t->nsteps++;
	}
	if (!t->nsteps)
		return 0;
	/* A later step may have found that an earlier frame is no caller. */
	for (uint32_t i = 0; i < t->nsteps; i++)
		t->steps[i].frame = r->walk.frames[i];
	t->steps[t->nsteps - 1].reason = reason;
	t->short_of = r->missed && !walk_is_complete(reason);
	t->agrees = reason == t->capture.reason && r->walk.nframes == t->capture.nframes &&
		    !memcmp(r->walk.frames, t->capture.frames,
			    t->capture.nframes * sizeof(t->capture.frames[0]));
	return 0;
}

/* --- by frame pointers alone ---------------------------------------------------------------- */

/* As a profiler without CFI does it: without any check. */
static int trace_fp(struct tracer *r)
{
	struct trace *t = r->trace;
	uint64_t fp = t->capture.regs[ARCH_FP], ra, next;

	t->fp_frames = calloc(FP_MAX, sizeof(*t->fp_frames));
	if (!t->fp_frames)
		return -ENOMEM;
	t->fp_frames[t->nfp++] = t->capture.regs[ARCH_PC];
	t->fp_end = TRACE_FP_DEPTH;
	while (t->nfp < FP_MAX) {
		t->fp_last = fp;
		t->fp_end = TRACE_FP_ZERO;
		if (!fp)
			break;
		t->fp_end = TRACE_FP_UNREADABLE;
		if (!trace_word(t, fp, &next) || !trace_word(t, fp + 8, &ra))
			break;
		ra = arch_code(ra);
		next = arch_data(next);
		t->fp_end = TRACE_FP_NO_CODE;
		if (!is_code(r, ra))
			break;
		t->fp_frames[t->nfp++] = ra;
		t->fp_end = TRACE_FP_DOWN;
		if (next && next <= fp)
			break;
		fp = next;
	}
	return 0;
}

/* --- the whole ------------------------------------------------------------------------------ */

static int trace_all(struct sampler *sampler, void *arg)
{
	struct tracer *r = arg;
	const struct capture_record *c = &r->trace->capture;
	struct walk *w = &r->walk;
	struct proc_entry entry;
	int err;

	/* As the BPF program does. */
	r->sampler = sampler;
	memcpy(w->regs, c->regs, sizeof(w->regs));
	walk_begin(w, c->exact);
	if (!c->user_mode)
		walk_enter_signal(w);
	w->start_stack = c->start_stack;
	w->keeps_fp = c->keeps_fp;
	if (w->sp < c->start_stack && c->start_stack - w->sp < STACK_MAX)
		w->window_top = c->start_stack & ~7ull;
	if (sampler_process(sampler, (pid_t)c->tgid, &entry) ||
	    (entry.start_stack && entry.start_stack != c->start_stack) ||
	    entry.list_at > MAP_ENTRIES_MAX || entry.list_count > MAP_ENTRIES_MAX - entry.list_at)
		return -ESRCH;
	w->list_at = entry.list_at;
	w->list_count = entry.list_count;
	w->code_count = entry.code_count;
	err = trace_walk(r, c->in_sigreturn);
	return err ? err : trace_fp(r);
}

int trace_new(struct tracker *t, const struct capture_record *capture, struct trace **out)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	struct tracer *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	*out = NULL;
	if (trace && r) {
		trace->capture = *capture;
		if (trace->capture.pages > CAPTURE_PAGES)
			trace->capture.pages = CAPTURE_PAGES;
		r->trace = trace;
		err = tracker_with_maps(t, trace_all, r);
		for (unsigned int i = 0; i < SHARDS_MAX; i++)
			if (r->shards[i])
				munmap((void *)r->shards[i], SHARD_BYTES);
	}
	free(r);
	if (err)
		trace_free(trace);
	else
		*out = trace;
	return err;
}

void trace_free(struct trace *trace)
{
	if (!trace)
		return;
	free(trace->steps);
	free(trace->fp_frames);
	free(trace);
}
