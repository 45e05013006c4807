/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_TRAIL_H
#define STACKTOP_UNWIND_TRAIL_H

/*
 * The trail of a thread: the rules that its last walk used, frame by frame. From sample to sample
 * the outer frames of a thread stay, and where the next walk comes to the pc of a frame of the
 * trail the rule is the same, so it need not be found again. All words of the stack are read as
 * ever, and so a frame that is no longer there is never shown. A part of unwind/step.h, which
 * describes the seam.
 *
 * A trail is valid for one version of the list of mappings of one process between two execs:
 * user space publishes another one whenever a mapping or the table of one changes. Frames have
 * places that count up to the outermost one, in a ring, so that inner ones come and go before them.
 */

#include "unwind/walk.h"

#define TRAIL_ALIGN 2u /* frames that are passed over at once */
#define TRAIL_BASE  (TRAIL_FRAMES / 2)
/* Frames of one call; calls cost less on arm64. */
#define TRAIL_TURN (ARCH_HAS_LINK ? 1u : 3u)
#define TRAIL_NONE (~0u)

static __always_inline struct trail_frame *trail_at(struct trail *t, __u64 place)
{
	STEP_BARRIER(place);
	return &t->frames[place & (TRAIL_FRAMES - 1)];
}

/* Begins a walk along the trail, which is that of another thread unless `same`. */
static __always_inline void trail_begin(struct walk *w, struct trail *t, int same)
{
	if (!same) {
		t->end = t->base;
		trail_at(t, t->end)->pc = 0;
	}
	w->trail_at = t->base;
	w->trail_met = TRAIL_NONE;
	w->trail_map = TRAIL_NONE;
	w->ninner = 0;
}

static __always_inline __u64 trail_cfa(const struct trail_frame *f, __u64 sp, __u64 fp)
{
	__u64 cfa = f->cfa, mask = -(cfa & 1);

	STEP_BARRIER(mask);
	return (sp ^ ((sp ^ fp) & mask)) + (cfa & ~7ull);
}

/* Of a span: what must be read. */
#define TRAIL_BYTES(span) (ARCH_HAS_LINK ? 16 : (span)) /* arm64: a frame record */

/*
 * Looks for the frame of the pc in the trail, and reads the words of the stack that it needs. 1:
 * walk_trail can go on. Behind the outermost frame of a trail is one with a pc of 0.
 */
static __always_inline int trail_meet(struct walk *w, struct trail *t)
{
	__u64 sp = w->sp, cfa, span, at;
	const struct trail_frame *f;
	__u64 place = w->trail_at;
	__u64 i;

	for (i = 0; i < TRAIL_ALIGN; i++) {
		f = trail_at(t, place);
		if (place == t->end || f->sp >= sp)
			break;
		place++;
	}
	w->trail_at = place;
	f = trail_at(t, place);
	if (f->pc != w->pc || w->exact || w->nframes > WALK_FRAMES_MAX - TRAIL_TURN ||
	    walk_sp_is_least(w))
		return 0;
	if (f->map_at != w->trail_map) {
		if (!STEP_BELIEVE(w, f->map_at))
			return 0;
		w->trail_map = f->map_at;
	}
	cfa = trail_cfa(f, sp, w->fp);
	span = f->span & ~7;
	at = cfa - span - w->window_at;
	span = TRAIL_BYTES(span);
	if (cfa > sp && (at > WALK_WINDOW_MAX || at + span > w->window_size) &&
	    WALK_REFILL(w, w->window_at + at))
		return 0;
	if (w->trail_met == TRAIL_NONE)
		w->trail_met = place;
	w->known = 0; /* and no row needs it */
	w->fp_chain = 0;
	return 1;
}

/*
 * Goes on by at most TRAIL_TURN frames, each as walk_to_caller would have found it. Where anything
 * is out of the ordinary the walk stays, for walk_to_caller to decide.
 *
 * There is one path through the body of the loop, and nothing to do behind it.
 */
static __always_inline void walk_trail(struct walk *w, struct trail *t)
{
	__u64 pc, sp, cfa, at, value, mask, span, n;
	const struct trail_frame *f;
	__u64 i;

	for (i = 0; i < TRAIL_TURN; i++) {
		f = trail_at(t, w->trail_at);
		n = w->nframes;
		value = (f->pc ^ w->pc) | (f->map_at ^ w->trail_map);
		STEP_BARRIER(value);
		if (value)
			return;
		sp = w->sp;
		cfa = trail_cfa(f, sp, w->fp);
		span = f->span;
		mask = -(span & 1); /* ones: FP is saved */
		STEP_BARRIER(mask);
		span &= ~7ull;
		at = cfa - span - w->window_at;
		span = TRAIL_BYTES(span);
		if ((cfa - sp - 1) >> 63 | at >> 13 | ((__u64)w->window_size - at - span) >> 63)
			return;
		STEP_BARRIER(at);
		value = *(const __u64 *)(w->window + (at & (WALK_WINDOW_MAX - 1)));
		at += span - 8;
		STEP_BARRIER(at);
		pc = arch_code(*(const __u64 *)(w->window + (at & (WALK_WINDOW_MAX - 1))));
		if (!pc)
			return;
		w->fp ^= (w->fp ^ arch_data(value)) & mask;
		STEP_BARRIER(n);
		n &= WALK_FRAMES_MAX - 1;
		w->frames[n] = f->frame;
		w->sps[n] = sp;
		w->nframes = n + 1;
		walk_mix(w, f->frame);
		w->pc = pc;
		w->sp = cfa;
		w->trail_at++;
	}
}

/* Keeps the rule by which the walk has left its last frame, of ROW_SP or ROW_FP. */
static __always_inline void trail_note(struct walk *w, struct trail *t, __u32 rule)
{
	__u64 n = w->nframes - 1, inner = w->ninner, depth = RULE_FP_DEPTH(rule);
	__u16 cfa = RULE_CFA(rule) | (rule >> 21 & 1);	    /* ROW_FP, not ROW_SP */
	__u16 span = (depth | 1) + 7 * ((depth - 1) >> 63); /* 8 without a depth */
	struct trail_frame *f;

	STEP_BARRIER(n);
	n &= WALK_FRAMES_MAX - 1;
	if (w->frames[n] & FRAME_EXACT || (ARCH_HAS_LINK && !depth))
		return;
	if (w->trail_met == TRAIL_NONE) {
		if (inner >= TRAIL_INNER)
			return;
		STEP_BARRIER(inner);
		f = &w->inner[inner & (TRAIL_INNER - 1)];
		w->ninner = inner + 1;
	} else {
		f = trail_at(t, w->trail_at);
		if (w->trail_at != t->end && f->sp > w->sps[n])
			t->end = w->trail_at; /* a frame has come in between */
		if (w->trail_at == t->end) {
			if (t->end - t->base == TRAIL_FRAMES - 1)
				return;
			t->end++;
			trail_at(t, t->end)->pc = 0;
		}
		w->trail_at++;
	}
	f->frame = w->frames[n];
	f->pc = f->frame - w->to_frame;
	f->sp = w->sps[n];
	f->cfa = cfa;
	f->span = span;
	f->map_at = w->kept_at;
}

/* The walk has ended: puts the frames that it came by before it met the trail in front of it. */
static __always_inline void trail_finish(struct walk *w, struct trail *t)
{
	__u64 n = w->ninner, place;

	if (w->trail_met == TRAIL_NONE) {
		if (!n)
			return;
		t->base = TRAIL_BASE;
		t->end = TRAIL_BASE + w->ninner;
	} else {
		t->base = w->trail_met - w->ninner;
		if (t->end - t->base > TRAIL_FRAMES - 1)
			t->end = t->base + TRAIL_FRAMES - 1;
	}
	place = t->base;
	STEP_BARRIER(place);
	place &= TRAIL_FRAMES - 1;
	/* They are copied in one piece. Where the ring ends between them the trail begins anew. */
	if (place + n > TRAIL_FRAMES) {
		t->end = t->base;
		n = 0;
	}
	trail_at(t, t->end)->pc = 0;
	STEP_BARRIER(n);
	if (n <= TRAIL_INNER)
		STEP_COPY(&t->frames[place], n * sizeof(struct trail_frame), w->inner);
}

#endif
