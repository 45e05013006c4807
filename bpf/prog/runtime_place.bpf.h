/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_RUNTIME_PLACE_BPF_H
#define STACKTOP_BPF_PROG_RUNTIME_PLACE_BPF_H

/*
 * Which native frame runs a run of a language's frames: by an address on its part of the stack, or
 * by the number of calls of the interpreter (docs/design/runtimes.md). What has no place is lost.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/prog/runtime.bpf.h"

#define PLACE_TURN 32u
#define FIND_TURN  16u

/*
 * 0: found, or there are no more; r->native is the frame then, or beyond the last but one. Without
 * branches in the body of the loop, so that the verifier sees one path.
 */
__attribute__((noinline)) int runtime_find_some(__u64 addr)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u64 begin, end;
	__u32 i, at;

	if (!st || !r)
		return 0;
	at = r->native;
	for (i = 0; i < FIND_TURN; i++) {
		STEP_BARRIER(at);
		begin = st->walk.sps[at & (WALK_FRAMES_MAX - 1)];
		end = st->walk.sps[(at + 1) & (WALK_FRAMES_MAX - 1)];
		r->native = at;
		/* begin <= addr < end; user addresses are below 2^63 */
		if (!((addr - begin | (end - 1 - addr)) >> 63) | (at + 1 >= st->walk.nframes))
			return 0;
		at++;
	}
	r->native = at;
	return 1;
}

/* Is the native frame in the code that runs the language's frames? */
__attribute__((noinline)) int runtime_is_eval(__u32 at)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u64 frame;

	if (!st || !r)
		return 0;
	STEP_BARRIER(at);
	frame = st->walk.frames[at & (WALK_FRAMES_MAX - 1)];
	/* A return address may be the first one behind the code. */
	frame = (frame & ~FRAME_EXACT) - !(frame >> 63);
	return (frame >= r->process.eval[0][0] && frame < r->process.eval[0][1]) ||
	       (frame >= r->process.eval[1][0] && frame < r->process.eval[1][1]);
}

/*
 * The frames without a place are run by the native frame on whose part of the stack this address
 * is: the last of them says so. If there is none they are lost, and the search goes on where it
 * began. A call that runs no frame yet has no place.
 */
__attribute__((noinline)) int runtime_place(__u64 addr)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u32 i, begin, at, n;

	if (!st || !r || r->from == r->nframes)
		return 0;
	n = r->nproofs++;
	STEP_BARRIER(n);
	if (n < LANGUAGE_PROOFS)
		r->proofs[n & (LANGUAGE_PROOFS - 1)] = addr;
	begin = r->native;
	for (i = 0; i < WALK_FRAMES_MAX / FIND_TURN + 1; i++)
		if (!runtime_find_some(addr))
			break;
	at = r->native;
	if (at + 1 >= st->walk.nframes || (r->in_eval && !runtime_is_eval(at))) {
		r->native = begin;
		r->lost += r->nframes - r->from;
		at = LANGUAGE_NOWHERE;
	} else {
		r->native++;
		at |= r->cut ? LANGUAGE_CUT : 0;
	}
	r->from = r->nframes;
	n = r->nframes - 1;
	STEP_BARRIER(n);
	if (n < LANGUAGE_FRAMES_MAX)
		r->frames[n & (LANGUAGE_FRAMES_MAX - 1)].at = at;
	return 0;
}

#define SEARCH_TURN   8u
#define SEARCH_FRAMES 512u

/* 1: begin <= value < end; all are below 2^63. Without a branch. */
static __always_inline __u64 runtime_is_between(__u64 value, __u64 begin, __u64 end)
{
	return ~(value - begin | (end - 1 - value)) >> 63;
}

/*
 * Native frames from r->native on, up to the one that has the address among its variables, where 0
 * is that of none. 1: go on; 0: r->found says whether it is r->native. Counts those of the
 * runtime's code before it in r->words, the last of which is r->record; ends behind the first one
 * if first is 1. One branch in the body of the loop, so that the verifier sees few paths.
 */
__attribute__((noinline)) int runtime_search_some(__u64 addr, int first)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u64 frame, eval, found, last;
	__u32 i, at;

	if (!st || !r)
		return 0;
	at = r->native;
	for (i = 0; i < SEARCH_TURN; i++) {
		STEP_BARRIER(at);
		found = runtime_is_between(addr, st->walk.sps[at & (WALK_FRAMES_MAX - 1)],
					   st->walk.sps[(at + 1) & (WALK_FRAMES_MAX - 1)]);
		frame = st->walk.frames[at & (WALK_FRAMES_MAX - 1)];
		/* A return address may be the first one behind the code. */
		frame = (frame & ~FRAME_EXACT) - (~frame >> 63);
		eval = runtime_is_between(frame, r->process.eval[0][0], r->process.eval[0][1]) |
		       runtime_is_between(frame, r->process.eval[1][0], r->process.eval[1][1]);
		last = ((__u64)at + 1 - st->walk.nframes) >> 63 ^ 1;
		eval &= ~(found | last);
		r->native = at + !(found | last);
		r->words += eval;
		r->record = (r->record & (eval - 1)) | (at & -eval);
		if (found | last | (eval & first)) {
			r->found = found & ~last;
			return 0;
		}
		at++;
	}
	return 1;
}

/* The same among the next SEARCH_FRAMES; 1: r->native has the address. */
__attribute__((noinline)) int runtime_search(__u64 addr, int first)
{
	struct runtime_state *r = runtime_state();
	int i;

	if (!r)
		return 0;
	r->words = 0;
	r->record = LANGUAGE_NOWHERE;
	r->found = 0;
	for (i = 0; i < (int)(SEARCH_FRAMES / SEARCH_TURN); i++)
		if (!runtime_search_some(addr, first))
			break;
	return r->found;
}

__attribute__((noinline)) int runtime_forget_some(__u32 first)
{
	struct runtime_state *r = runtime_state();
	struct language_frame *f;
	__u32 i, at = first;

	if (!r)
		return 0;
	for (i = 0; i < 2 * SEARCH_TURN; i++) {
		if (at >= r->nframes)
			return 0;
		STEP_BARRIER(at);
		f = &r->frames[at & (LANGUAGE_FRAMES_MAX - 1)];
		/* LANGUAGE_SAME stays; that and LANGUAGE_NOWHERE are the highest numbers. */
		f->at |= (((__u32)f->at - LANGUAGE_SAME) >> 31) * LANGUAGE_NOWHERE;
		at++;
	}
	return 1;
}

/* Takes the places of the frames from r->from on, which are not proven. */
__attribute__((noinline)) int runtime_forget_places(void)
{
	struct runtime_state *r = runtime_state();
	__u32 i;

	if (!r)
		return 0;
	r->lost += r->nframes - r->from;
	for (i = 0; i < LANGUAGE_FRAMES_MAX / SEARCH_TURN / 2; i++)
		if (!runtime_forget_some(r->from + 2 * i * SEARCH_TURN))
			break;
	return 0;
}

/* Gives the native frame one of the language if it is such a frame; r->from is the next of these.
 */
__attribute__((noinline)) int runtime_place_eval(__u32 at)
{
	struct runtime_state *r = runtime_state();
	__u32 n;

	if (!r)
		return 0;
	n = r->from;
	if (n >= r->nframes)
		return 0;
	r->native++;
	if (!runtime_is_eval(at))
		return 1;
	if (r->lost) { /* those that run none yet */
		r->lost--;
		return 1;
	}
	STEP_BARRIER(n);
	r->frames[n & (LANGUAGE_FRAMES_MAX - 1)].at = at;
	r->from++;
	return 1;
}

__attribute__((noinline)) int runtime_place_evals(void)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u32 i;

	if (!st || !r)
		return 0;
	for (i = 0; i < PLACE_TURN; i++)
		if (r->native >= st->walk.nframes || !runtime_place_eval(r->native))
			return 0;
	return 1;
}

/*
 * Is the value among the last words of what the native frame and its caller have of the stack?
 * Without a branch in the body of the loop, so that the verifier sees one path.
 */
__attribute__((noinline)) int runtime_holds(__u32 at, __u64 value)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u64 begin, size, differs, found = 0;
	__u32 i;

	if (!st || !r || at + 2 >= st->walk.nframes)
		return 0;
	STEP_BARRIER(at);
	begin = st->walk.sps[at & (WALK_FRAMES_MAX - 1)];
	size = st->walk.sps[(at + 2) & (WALK_FRAMES_MAX - 1)] - begin;
	if (size > LANGUAGE_WINDOW) {
		begin += size - LANGUAGE_WINDOW;
		size = LANGUAGE_WINDOW;
	}
	STEP_BARRIER(size);
	if (size > LANGUAGE_WINDOW || bpf_probe_read_user(r->window, size, (const void *)begin))
		return 0;
	r->window_size = 0;
	size /= 8;
	for (i = 0; i < LANGUAGE_WINDOW / 8; i++) {
		differs = *(const __u64 *)(r->window + 8 * i) ^ value;
		found |= ~(differs | -differs) & (i - size);
	}
	return found >> 63;
}

/* Places the frames in all such calls but the innermost ones, which are idle. */
__attribute__((noinline)) int runtime_place_behind(int idle)
{
	struct runtime_state *r = runtime_state();
	__u32 i;

	if (!r)
		return 0;
	r->native = r->from = 0;
	r->lost = idle;
	for (i = 0; i < WALK_FRAMES_MAX / PLACE_TURN + 1; i++)
		if (!runtime_place_evals())
			break;
	r->lost = r->nframes - r->from;
	return 0;
}

/*
 * For runtimes that run one frame of the language in each native frame of their eval function. The
 * innermost call may be about to begin or to end; which one runs the innermost frame has its
 * address: its caller needs it afterwards, in a register that the call saves, or on the stack. If
 * the call outside has it, too, left of an earlier one, the outermost frame tells. Further calls
 * outside are those of the greenlet or the interpreter that has called this one. Between two
 * greenlets the frames are those of another stack.
 */
__attribute__((noinline)) int runtime_place_by_count(int complete, __u64 innermost, __u64 outermost)
{
	struct runtime_state *r = runtime_state();
	int first, second;

	if (!r)
		return 0;
	r->native = 0;
	runtime_search(0, 1);
	first = runtime_holds(r->record, innermost);
	runtime_search(0, 1);
	second = runtime_holds(r->record, innermost);
	runtime_place_behind(!first);
	if (first && second && !r->lost) {
		runtime_search(0, 1);
		if (runtime_holds(r->record, outermost))
			runtime_place_behind(1);
	}
	if (!(first | second) || (complete && r->lost)) {
		r->lost = r->nframes;
		r->nframes = 0;
	}
	return 0;
}

#endif
