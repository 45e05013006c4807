// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/session/session_states.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/report/trace.h"
#include "bpf/tracker/inventory.h"
#include "symbols/base/text.h"
#include "tui/profile/inspection.h"
#include "tui/util/bytes.h"

/* --- what is in the shards ------------------------------------------------------------------- */

/*
 * Each block is written as the gap before it, which is small and never negative, since blocks are
 * in order and do not overlap; so a file cannot claim otherwise. Times are ages.
 */

#define OBJECT_BYTES 10 /* of an object in the file, at least */
#define BLOCK_BYTES  3
#define PINNED	     0x80u

/* One more than that; 0: there is none. */
static void put_age(struct outbytes *to, const struct inventory *inv, uint64_t time)
{
	bytes_put_number(to, !time ? 0 : time < inv->time ? inv->time - time + 1 : 1);
}

static void put_shard(struct outbytes *to, const struct inventory *inv, unsigned int i)
{
	const struct inventory_shard *shard = &inv->shards[i];

	put_age(to, inv, shard->created ? shard->since : 0);
	bytes_put_number(to, shard->generation);
	bytes_put_number(to, shard->evictions);
}

static void put_object(struct outbytes *to, const struct inventory *inv, uint32_t i)
{
	const struct inventory_object *o = &inv->objects[i];
	char name[sizeof(o->name)];

	text_clean(name, sizeof(name), o->name, strnlen(o->name, sizeof(o->name)));
	bytes_put_number(to, o->id);
	bytes_put_text(to, name);
	bytes_put_number(to, (unsigned int)o->state | (o->pinned ? PINNED : 0));
	bytes_put_number(to, o->words);
	bytes_put_number(to, o->cfi_bytes);
	bytes_put_number(to, o->rows);
	bytes_put_number(to, o->processes);
	put_age(to, inv, o->sampled);
	bytes_put_number(to, o->missed);
	bytes_put_number(to, o->build_id_size);
	bytes_put(to, o->build_id, o->build_id_size);
}

void session_inventory_put(struct outbytes *to, const struct inventory *inv)
{
	uint32_t at = 0;

	bytes_put_number(to, inv->left_out);
	bytes_put_number(to, inv->nshards);
	bytes_put_number(to, inv->nobjects);
	bytes_put_number(to, inv->nblocks);
	for (unsigned int i = 0; i < inv->nshards; i++)
		put_shard(to, inv, i);
	for (uint32_t i = 0; i < inv->nobjects; i++)
		put_object(to, inv, i);
	for (uint32_t i = 0; i < inv->nblocks; i++) {
		const struct inventory_block *block = &inv->blocks[i];

		bytes_put_number(to, block->word - at);
		bytes_put_number(to, block->words);
		bytes_put_number(to, block->object);
		at = block->word + block->words;
	}
}

static uint64_t take_time(struct cursor *c, uint64_t now)
{
	uint64_t age = cursor_number(c);

	c->bad |= age > now;
	return age ? now - (age - 1) : 0;
}

static void take_object(struct cursor *c, struct inventory *inv, struct inventory_object *o)
{
	const char *name;
	uint32_t state;
	size_t length;

	o->id = cursor_number(c);
	cursor_clean(c, o->name, sizeof(o->name));
	state = cursor_number32(c, PINNED | INVENTORY_REFUSED);
	o->pinned = state & PINNED;
	state &= ~PINNED;
	c->bad |= state > INVENTORY_REFUSED;
	o->state = c->bad ? INVENTORY_FAILED : (enum inventory_state)state;
	o->words = cursor_number32(c, UINT32_MAX);
	o->cfi_bytes = cursor_number(c);
	o->rows = cursor_number32(c, UINT32_MAX);
	o->processes = cursor_number32(c, UINT32_MAX);
	o->sampled = take_time(c, inv->time);
	o->missed = cursor_number32(c, UINT32_MAX);
	name = cursor_text(c, &length);
	c->bad |= length > sizeof(o->build_id);
	if (c->bad)
		return;
	memcpy(o->build_id, name, length);
	o->build_id_size = (uint8_t)length;
}

static void take_block(struct cursor *c, const struct inventory *inv, uint64_t *at,
		       struct inventory_block *block)
{
	uint64_t word = *at + cursor_number32(c, UINT32_MAX);
	uint32_t words = cursor_number32(c, SHARD_WORDS);

	block->object = cursor_number32(c, UINT32_MAX);
	c->bad |= !words || block->object >= inv->nobjects ||
		  word >= (uint64_t)inv->nshards << SHARD_SHIFT ||
		  (word & SHARD_MASK) + words > SHARD_WORDS;
	block->word = c->bad ? 0 : (uint32_t)word;
	block->words = words;
	*at = word + words;
}

static int take_all(struct cursor *c, struct inventory *inv)
{
	uint64_t at = 0;

	for (unsigned int i = 0; i < inv->nshards && !c->bad; i++) {
		struct inventory_shard *shard = &inv->shards[i];

		shard->since = take_time(c, inv->time);
		shard->created = shard->since;
		shard->generation = cursor_number32(c, UINT32_MAX);
		shard->evictions = cursor_number32(c, UINT32_MAX);
	}
	for (uint32_t i = 0; i < inv->nobjects && !c->bad; i++)
		take_object(c, inv, &inv->objects[i]);
	for (uint32_t i = 0; i < inv->nblocks && !c->bad; i++)
		take_block(c, inv, &at, &inv->blocks[i]);
	return c->bad ? -EBADMSG : 0;
}

int session_inventory_take(struct cursor *c, uint64_t now, struct inventory **out)
{
	uint64_t left_out = cursor_number(c);
	uint32_t nshards = cursor_number32(c, UINT32_MAX >> SHARD_SHIFT);
	uint32_t nobjects = cursor_number32(c, INVENTORY_OBJECTS_MAX);
	uint32_t nblocks = cursor_number32(c, INVENTORY_BLOCKS_MAX);
	size_t left = (size_t)(c->end - c->at);
	struct inventory *inv;
	int err;

	*out = NULL;
	if (c->bad || nobjects > left / OBJECT_BYTES || nblocks > left / BLOCK_BYTES)
		return -EBADMSG;
	inv = inventory_new(nshards, nobjects, nblocks);
	if (!inv)
		return -ENOMEM;
	inv->time = now;
	inv->left_out = left_out;
	err = take_all(c, inv);
	if (err) {
		inventory_put(inv);
		return err;
	}
	inventory_settle(inv);
	*out = inv;
	return 0;
}

/* --- a captured walk ------------------------------------------------------------------------- */

/*
 * Only what the inspector shows is kept: the part of the stack, the steps with what each looked at,
 * the names. Fields are in lists that writing and reading share, so neither can forget one.
 */

#define STEP_BYTES 32 /* of a step in the file, at least */
#define FP_BYTES   5
#define RUN_BYTES  4

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

static void put_run(struct outbytes *to, const struct inspection_run *run)
{
	bytes_put_number(to, run->frame);
	bytes_put_number(to, run->record);
	bytes_put_text(to, run->language);
	bytes_put_text(to, run->calls);
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
	/* Without them as in earlier versions. */
	if (i->nruns)
		bytes_put_number(to, i->nruns);
	for (uint32_t n = 0; n < i->nruns; n++)
		put_run(to, &i->runs[n]);
}

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

/* There may be none. */
static int take_runs(struct cursor *c, struct inspection *i)
{
	const uint32_t count = c->at < c->end ? cursor_number32(c, INSPECTION_RUNS) : 0;

	c->bad |= count > (size_t)(c->end - c->at) / RUN_BYTES;
	if (c->bad)
		return -EBADMSG;
	i->runs = calloc((size_t)count + 1, sizeof(*i->runs));
	if (!i->runs)
		return -ENOMEM;
	for (; i->nruns < count && !c->bad; i->nruns++) {
		struct inspection_run *run = &i->runs[i->nruns];

		run->frame = cursor_number32(c, UINT32_MAX);
		run->record = cursor_number(c);
		cursor_clean(c, run->language, sizeof(run->language));
		cursor_clean(c, run->calls, sizeof(run->calls));
	}
	return c->bad ? -EBADMSG : 0;
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
		err = take_runs(c, *out);
		if (err) {
			inspection_put(*out);
			*out = NULL;
		}
	}
	free(frames);
	free(fp_frames);
	return err;
}
