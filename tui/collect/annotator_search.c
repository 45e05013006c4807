// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The stacks that a function is in. A stack of the profile and its record have the same frames,
 * except for inlined ones and those of a language; that tells at which of the record's addresses
 * the function is. Lines of a language were kept when the stack was named. The profile's lock is
 * held: nothing is looked up here.
 */
#include "tui/collect/annotator_priv.h"

#include "symbols/base/grow.h"
#include "bpf/sampler/sampler.h"
#include "tui/collect/stack_ring.h"
#include "tui/collect/stackcache.h"
#include "tui/symbolize/inline_cache.h"

#define WINDOW_NS 10000000000ull
#define FOUND_MAX (1u << 20)

static void found_add(struct annotator *a, const struct stack_hit *hit,
		      const struct tracker_exec *of, uint64_t frame, bool self, size_t first,
		      uint64_t now)
{
	struct annotator_match *f;

	for (size_t i = first; i < a->nfound; i++) /* recursion */
		if (a->found[i].frame == frame) {
			a->found[i].self |= self;
			return;
		}
	if (GROW(a->found, a->nfound, a->found_room, FOUND_MAX))
		return;
	f = &a->found[a->nfound++];
	*f = (struct annotator_match){.of = *of,
				      .frame = frame,
				      .count = hit->count,
				      .self = self,
				      .once = a->nfound - 1 == first,
				      .window = hit->time + WINDOW_NS > now,
				      .fresh = hit->time > a->counted};
}

/* The stack of the hit, if the function is in it. The lock is held. */
static const struct profile_stack *stack_with(const struct annotator *a, uint64_t hash,
					      uint32_t func, struct stackcache_stack *of)
{
	const struct profile_stack *stack;

	if (!stackcache_peek(a->stacks, hash, of))
		return NULL;
	stack = query_stack(a->profile, of->id);
	for (uint32_t i = 0; stack && i < stack->nframes; i++)
		if (stack->frames[i] == func)
			return stack;
	return NULL;
}

/* Is the frame one of the record? Those that an interpreter runs follow its own. */
static bool has_address(const struct annotator *a, const struct profile_stack *stack, uint32_t at)
{
	const enum func_kind kind = query_func(a->profile, stack->frames[at])->kind;

	if (kind == FUNC_JS)
		return !at || query_func(a->profile, stack->frames[at - 1])->kind != FUNC_EVAL;
	return kind != FUNC_INLINE && kind != FUNC_END && !func_has_source(kind);
}

/* The lock is held. */
static void search_stack(struct annotator *a, const struct stack_hit *hit, uint32_t func,
			 uint64_t now)
{
	struct stackcache_stack is;
	const struct profile_stack *stack = stack_with(a, hit->hash, func, &is);
	struct tracker_exec of = {.pid = hit->pid, .exec_id = hit->exec};
	size_t first = a->nfound;
	uint32_t raw, nraw = 0;

	if (!stack)
		return;
	of.start_stack = is.rec->start_stack;
	raw = is.rec->nframes < WALK_FRAMES_MAX ? is.rec->nframes : WALK_FRAMES_MAX;
	for (uint32_t i = 0; i < stack->nframes && nraw <= raw; i++) {
		nraw += has_address(a, stack, i);
		if (stack->frames[i] == func && nraw && nraw <= raw)
			found_add(a, hit, &of, is.rec->frames[raw - nraw],
				  raw == nraw && !hit->kernel, first, now);
	}
}

/*
 * The lock is held. The innermost frame of a language has the samples of its line, whatever native
 * code it runs: the interpreter, functions in C, the kernel.
 */
static void search_language(struct annotator *a, const struct stack_hit *hit, uint32_t func,
			    uint64_t now)
{
	struct stackcache_stack is;
	const struct profile_stack *stack = stack_with(a, hit->hash, func, &is);
	struct tracker_exec of = {.pid = hit->pid, .exec_id = hit->exec};
	size_t first = a->nfound;
	uint32_t at = 0, last = 0;

	if (!stack)
		return;
	of.start_stack = is.rec->start_stack;
	for (uint32_t i = 0; i < stack->nframes; i++)
		if (func_is_language(query_func(a->profile, stack->frames[i])->kind))
			last = i;
	/* One place for each frame, as in inline_cache_count_lines. */
	for (uint32_t i = 0; i <= last; i++) {
		enum func_kind kind = query_func(a->profile, stack->frames[i])->kind;
		uint32_t place = at < is.nplaces ? is.places[at] : 0;

		if (stack->frames[i] == func)
			found_add(a, hit, &of,
				  place & INLINE_CACHE_LINE ? place & ~INLINE_CACHE_LINE : 0,
				  i == last, first, now);
		at += kind != FUNC_INLINE && kind != FUNC_END;
	}
}

/* The lock is held. A kernel stack has no inlined frames, and the leaf's address is exact. */
static void search_kernel(struct annotator *a, const struct stack_hit *hit, uint32_t func,
			  uint64_t now)
{
	const struct profile_stack *stack;
	struct stackcache_stack is;
	struct tracker_exec of = {.pid = 0};
	size_t first = a->nfound;
	uint32_t n;

	if (!hit->kernel || !stackcache_peek(a->stacks, hit->kernel, &is))
		return;
	stack = query_stack(a->profile, is.id);
	n = is.rec->nframes < KERNEL_FRAMES_MAX ? is.rec->nframes : KERNEL_FRAMES_MAX;
	if (!stack || !stack->kernel || stack->nframes != n)
		return;
	of.exec_id = is.rec->kernel_code;
	for (uint32_t i = 0; i < n; i++)
		if (stack->frames[n - 1 - i] == func)
			found_add(a, hit, &of, is.rec->frames[i] - (i > 0), i == 0, first, now);
}

void annotator_search(struct annotator *a, uint64_t now)
{
	const struct annotation_wish *w = &a->wish;
	uint64_t from = now > WINDOW_NS ? now - WINDOW_NS : 0;
	int64_t func;

	if (a->counted < from)
		from = a->counted;
	if (w->after > from)
		from = w->after;
	a->nfound = 0;
	profile_lock(a->profile);
	func = profile_func(a->profile, w->kind, w->name, w->module);
	for (size_t i = stack_ring_count(a->hits); func >= 0 && i-- > 0;) {
		const struct stack_hit *hit = stack_ring_at(a->hits, i);

		if (hit->time <= from)
			break;
		if (!a->since || hit->time < a->since)
			a->since = hit->time;
		if (!w->all && (hit->pid != w->pid || hit->exec != w->image))
			continue;
		if (w->kind == FUNC_KERNEL)
			search_kernel(a, hit, (uint32_t)func, now);
		else if (func_has_source(w->kind))
			search_language(a, hit, (uint32_t)func, now);
		else
			search_stack(a, hit, (uint32_t)func, now);
	}
	profile_unlock(a->profile);
}
