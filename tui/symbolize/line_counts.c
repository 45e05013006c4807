/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See line_counts.h. A profile's stack has the calls inlined at an address as frames of their own
 * after the function's, so the kinds of frames tell which belong to one address.
 */
#include "tui/symbolize/line_counts.h"

#include <errno.h>

#include "tui/symbolize/inline_chain.h"
#include "tui/profile/profile.h"
#include "tui/query/query.h"
#include "tui/symbolize/inline_cache.h"

/*
 * The number of frames of one address from that one on: the function's, and those inlined into it.
 */
static uint32_t frames_of_address(const struct profile *p, const struct profile_stack *stack,
				  uint32_t at)
{
	uint32_t end = at + 1;

	while (end < stack->nframes && query_func(p, stack->frames[end])->kind == FUNC_INLINE)
		end++;
	return end - at;
}

/* The outermost call is the function itself. Inlined ones are missing before profile_settle. */
static int count_address(struct profile *p, const struct inline_chain *calls,
			 const uint32_t *frames, uint32_t nframes, uint64_t count)
{
	int err = 0;

	for (uint32_t i = 0; i < nframes && i < calls->count && !err; i++) {
		const struct inline_chain_frame *call = &calls->frames[calls->count - 1 - i];

		if (call->file && call->line)
			err = profile_line(p, frames[i], call->file, call->line, count);
	}
	return err;
}

int line_counts_add(struct profile *p, const struct inline_cache *sites, uint32_t stack,
		    const uint32_t *of, uint32_t n, uint64_t count)
{
	const struct profile_stack *s = query_stack(p, stack);
	uint32_t at = 0;
	int err = 0;

	if (!s)
		return -EINVAL;
	if (s->nframes && query_func(p, s->frames[0])->kind == FUNC_END)
		at++;
	for (uint32_t i = 0; i < n && at < s->nframes && !err; i++) {
		uint32_t frames = frames_of_address(p, s, at);
		const struct inline_chain *calls;

		if (of[i] && inline_cache_get(sites, of[i], &calls) && calls)
			err = count_address(p, calls, s->frames + at, frames, count);
		at += frames;
	}
	return err;
}
