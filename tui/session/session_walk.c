// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Only what the inspector shows is kept: the part of the stack, the steps with what each looked at,
 * the names. Fields are in lists that writing and reading share, so neither can forget one.
 */
#include "tui/session/session_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/report/trace.h"
#include "tui/util/bytes.h"
#include "tui/profile/inspection.h"

#define STEP_BYTES 32 /* of a step in the file, at least */
#define FP_BYTES   5

/* All unsigned. New ones come last. */
#define WALK_FIELDS(X)                                                                             \
	X(capture.tgid)                                                                            \
	X(capture.tid)                                                                             \
	X(capture.cpu)                                                                             \
	X(capture.nframes)                                                                         \
	X(capture.reason)                                                                          \
	X(capture.user_mode)                                                                       \
	X(capture.exact)                                                                           \
	X(capture.stack_at)                                                                        \
	X(agrees)                                                                                  \
	X(short_of)                                                                                \
	X(fp_last)

#define STEP_FIELDS(X)                                                                             \
	X(frame)                                                                                   \
	X(pc)                                                                                      \
	X(sp)                                                                                      \
	X(fp)                                                                                      \
	X(addr)                                                                                    \
	X(exact)                                                                                   \
	X(mapped)                                                                                  \
	X(has_row)                                                                                 \
	X(map.start)                                                                               \
	X(map.end)                                                                                 \
	X(map.frame)                                                                               \
	X(map.word)                                                                                \
	X(map.meta)                                                                                \
	X(granule)                                                                                 \
	X(index)                                                                                   \
	X(row)                                                                                     \
	X(row_word)                                                                                \
	X(row_start)                                                                               \
	X(row_end)                                                                                 \
	X(rule)                                                                                    \
	X(wide)                                                                                    \
	X(wide_rule.cfa_kind)                                                                      \
	X(wide_rule.cfa_reg)                                                                       \
	X(wide_rule.fp_kind)                                                                       \
	X(wide_rule.fp_reg)                                                                        \
	X(wide_rule.ra_kind)                                                                       \
	X(wide_rule.ra_reg)                                                                        \
	X(wide_rule.flags)                                                                         \
	X(cfa)                                                                                     \
	X(ra_at)                                                                                   \
	X(ra)                                                                                      \
	X(fp_at)                                                                                   \
	X(caller_fp)

#define STEP_OFFSETS(X)                                                                            \
	X(wide_rule.cfa_off)                                                                       \
	X(wide_rule.cfa_add)                                                                       \
	X(wide_rule.fp_off)                                                                        \
	X(wide_rule.ra_off)

/* --- writing --------------------------------------------------------------------------------- */

static void put_frame(struct outbytes *to, const struct inspection_frame *frame)
{
	bytes_put_text(to, frame->name);
	bytes_put_text(to, frame->module);
	bytes_put_number(to, frame->vaddr);
	bytes_put_number(to, frame->offset);
}

static void put_step(struct outbytes *to, const struct trace_step *step)
{
#define PUT(field)	  bytes_put_number(to, step->field);
#define PUT_OFFSET(field) bytes_put_signed(to, step->field);
	STEP_FIELDS(PUT)
	STEP_OFFSETS(PUT_OFFSET)
#undef PUT_OFFSET
#undef PUT
	bytes_put_number(to, step->way);
	bytes_put_number(to, (unsigned int)step->reason);
}

void session_walk_put(struct outbytes *to, const struct inspection *i)
{
	const struct trace *t = i->trace;
	size_t stack = (size_t)t->capture.pages * CAPTURE_PAGE;

	bytes_put_text(to, i->comm);
#define PUT(field) bytes_put_number(to, t->field);
	WALK_FIELDS(PUT)
#undef PUT
	bytes_put_number(to, t->fp_end);
	bytes_put_number(to, stack);
	bytes_put(to, t->capture.stack, stack);
	bytes_put_number(to, t->nsteps);
	for (uint32_t n = 0; n < t->nsteps; n++) {
		put_step(to, &t->steps[n]);
		put_frame(to, &i->frames[n]);
	}
	bytes_put_number(to, t->nfp);
	for (uint32_t n = 0; n < t->nfp; n++) {
		bytes_put_number(to, t->fp_frames[n]);
		put_frame(to, &i->fp_frames[n]);
	}
}

/* --- reading --------------------------------------------------------------------------------- */

static void take_frame(struct cursor *c, struct inspection_frame *frame)
{
	cursor_clean(c, frame->name, sizeof(frame->name));
	cursor_clean(c, frame->module, sizeof(frame->module));
	frame->vaddr = cursor_number(c);
	frame->offset = cursor_number(c);
}

/* A number that exceeds its field makes no sense. */
#define TAKE_INTO(target)                                                                          \
	do {                                                                                       \
		uint64_t value = cursor_number(c);                                                 \
                                                                                                   \
		target = (__typeof__(target))value;                                                \
		c->bad |= (uint64_t)target != value;                                               \
	} while (0)

static void take_step(struct cursor *c, struct trace_step *step)
{
#define TAKE(field) TAKE_INTO(step->field);
#define TAKE_OFFSET(field)                                                                         \
	do {                                                                                       \
		int64_t value = cursor_signed(c);                                                  \
                                                                                                   \
		step->field = (int32_t)value;                                                      \
		c->bad |= step->field != value;                                                    \
	} while (0);
	STEP_FIELDS(TAKE)
	STEP_OFFSETS(TAKE_OFFSET)
#undef TAKE_OFFSET
#undef TAKE
	step->way = (enum trace_way)cursor_number32(c, TRACE_NONE);
	step->reason = (int)cursor_number32(c, WALK_REASON_COUNT - 1);
}

static void take_head(struct cursor *c, struct trace *t)
{
	const char *stack;
	size_t size;

#define TAKE(field) TAKE_INTO(t->field);
	WALK_FIELDS(TAKE)
#undef TAKE
	t->fp_end = (enum trace_fp_end)cursor_number32(c, TRACE_FP_DEPTH);
	stack = cursor_text(c, &size);
	c->bad |= t->capture.reason >= WALK_REASON_COUNT || size > sizeof(t->capture.stack) ||
		  size % CAPTURE_PAGE;
	/* Its last address must exist. */
	c->bad |= t->capture.stack_at > UINT64_MAX - sizeof(t->capture.stack);
	if (c->bad)
		return;
	memcpy(t->capture.stack, stack, size);
	t->capture.pages = (uint32_t)(size / CAPTURE_PAGE);
}

/* How many items of that many bytes follow. */
static uint32_t take_count(struct cursor *c, size_t bytes)
{
	uint32_t count = cursor_number32(c, 2 * WALK_FRAMES_MAX);

	c->bad |= count > (size_t)(c->end - c->at) / bytes;
	return c->bad ? 0 : count;
}

/* Steps and frames alternate in the file: names are kept until there is an inspection. */
static int take_steps(struct cursor *c, struct trace *t, struct inspection_frame **frames)
{
	t->nsteps = take_count(c, STEP_BYTES);
	t->steps = calloc((size_t)t->nsteps + 1, sizeof(*t->steps));
	*frames = calloc((size_t)t->nsteps + 1, sizeof(**frames));
	if (!t->steps || !*frames)
		return -ENOMEM;
	for (uint32_t n = 0; n < t->nsteps && !c->bad; n++) {
		take_step(c, &t->steps[n]);
		take_frame(c, &(*frames)[n]);
	}
	return 0;
}

static int take_fp(struct cursor *c, struct trace *t, struct inspection_frame **frames)
{
	t->nfp = take_count(c, FP_BYTES);
	t->fp_frames = calloc((size_t)t->nfp + 1, sizeof(*t->fp_frames));
	*frames = calloc((size_t)t->nfp + 1, sizeof(**frames));
	if (!t->fp_frames || !*frames)
		return -ENOMEM;
	for (uint32_t n = 0; n < t->nfp && !c->bad; n++) {
		t->fp_frames[n] = cursor_number(c);
		take_frame(c, &(*frames)[n]);
	}
	return c->bad || !t->nsteps ? -EBADMSG : 0;
}

int session_walk_take(struct cursor *c, struct inspection **out)
{
	struct inspection_frame *frames = NULL, *fp_frames = NULL;
	struct trace *t = calloc(1, sizeof(*t));
	char comm[16];
	int err;

	*out = NULL;
	if (!t)
		return -ENOMEM;
	cursor_clean(c, comm, sizeof(comm));
	take_head(c, t);
	err = take_steps(c, t, &frames);
	if (!err)
		err = take_fp(c, t, &fp_frames);
	if (err) {
		trace_free(t);
	} else {
		*out = inspection_new(t);
		err = *out ? 0 : -ENOMEM;
	}
	if (!err) {
		memcpy((*out)->comm, comm, sizeof(comm));
		memcpy((*out)->frames, frames, t->nsteps * sizeof(*frames));
		memcpy((*out)->fp_frames, fp_frames, t->nfp * sizeof(*fp_frames));
	}
	free(frames);
	free(fp_frames);
	return err;
}
