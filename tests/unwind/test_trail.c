// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks along a trail, over a made-up stack that changes from walk to walk as a thread's does:
 * calls return, others are made, frames in the middle return elsewhere. Each walk must be the same
 * as one without a trail, frame by frame.
 *
 * Covers: unwind/trail.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <linux/types.h>

struct walk;
static void keep_row(struct walk *w, __u32 rule);
#define WALK_KEEP(w, rule) keep_row(w, rule)

#include "tests/unwind/stepfake.h"
#include "tests/unwind/walkalong.h"

#define GRANULES   32u
#define ROWS	   (GRANULES * 16u) /* one every 16 bytes */
#define DEPTH_MAX  700u		    /* more than a trail keeps */
#define WALKS	   20000
#define FRAMES_TOP (STACK + STACK_SIZE - 256)

static struct trail *trail; /* NULL: walks have none */

static void keep_row(struct walk *w, __u32 rule)
{
	const uint32_t kind = RULE_KIND(rule);

	if (trail && (kind == ROW_SP || kind == ROW_FP))
		trail_note(w, trail, rule);
}

static uint64_t seed = 0x57ac4709;

static uint64_t random_below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

/* --- a thread ------------------------------------------------------------------------------- */

static struct row rows[ROWS];

/* A frame that has called the next one: where it goes on, and its registers then. */
static struct frame {
	uint64_t pc, sp, fp;
} frames[DEPTH_MAX + 1];
static unsigned int depth;

static uint32_t random_rule(void)
{
	switch (random_below(4)) {
	case 0: /* FP is the frame pointer */
		return RULE_FRAME(ROW_FP, 16, 16);
	case 1: /* FP is saved */
		return RULE_FRAME(ROW_SP, 32 + 8 * random_below(12), 16 + 8 * random_below(2));
	default:
		return RULE_FRAME(ROW_SP, 16 + 8 * random_below(12), 0);
	}
}

static uint64_t random_pc(void)
{
	return TEXT + 2 + 16 * random_below(ROWS) + random_below(14);
}

static uint32_t rule_at(uint64_t pc)
{
	return rows[(pc - 1 - TEXT) / 16].rule;
}

/* The last frame calls; false: there is no room. */
static int call(void)
{
	const struct frame *caller = &frames[depth];
	struct frame *f = &frames[depth + 1];
	const uint64_t cfa = caller->sp;
	uint32_t rule;

	if (depth == DEPTH_MAX || cfa < STACK + 0x400)
		return 0;
	f->pc = random_pc();
	rule = rule_at(f->pc);
	store(cfa - 8, caller->pc);
	f->fp = caller->fp;
	if (RULE_FP_DEPTH(rule) > 0) {
		store(cfa - RULE_FP_DEPTH(rule), caller->fp);
		f->fp = random_below(1000);
	}
	f->sp = cfa - RULE_CFA(rule);
	if (RULE_KIND(rule) == ROW_FP) {
		f->fp = f->sp;
		f->sp -= 8 * random_below(8);
	}
	depth++;
	return 1;
}

/* The frame goes on at another pc with the same rule, while those further in stay. */
static void go_on_elsewhere(unsigned int frame)
{
	for (unsigned int i = 0; i < 200; i++) {
		uint64_t pc = random_pc();

		if (rule_at(pc) != rule_at(frames[frame].pc))
			continue;
		frames[frame].pc = pc;
		store(frames[frame].sp - 8, pc);
		return;
	}
}

static void live_on(void)
{
	unsigned int gone, more;

	switch (random_below(8)) {
	case 0: /* a leaf's return, and calls */
	case 1:
	case 2:
		gone = random_below(4);
		more = random_below(5);
		break;
	case 3: /* much of it, or a deep recursion */
		gone = random_below(depth + 1);
		more = random_below(random_below(3) ? 60 : DEPTH_MAX);
		break;
	case 4:
		if (depth > 2)
			go_on_elsewhere(1 + random_below(depth - 1));
		/* fall through */
	default:
		gone = more = 0;
		break;
	}
	depth -= gone < depth ? gone : depth;
	while (more-- && call())
		;
}

static void begin_thread(void)
{
	for (unsigned int i = 0; i < ROWS; i++)
		rows[i] = (struct row){16 * i, random_rule()};
	put_block(0, GRANULES, rows, ROWS);
	fake.nentries = 0;
	/* Two mappings with their own lists of rows in one block. */
	add_map(TEXT, TEXT + GRANULES / 2 * GRANULE_SIZE, TEXT, 0, MAP_META(MAP_CFI, GRANULES));
	add_map(TEXT + GRANULES / 2 * GRANULE_SIZE, TEXT + GRANULES * GRANULE_SIZE, TEXT, 0,
		MAP_META(MAP_CFI, GRANULES));
	host.entries[0].frame = FRAME_OF(1, TEXT);
	host.entries[1].frame = FRAME_OF(2, TEXT);
	depth = 0;
	frames[0] = (struct frame){TEXT + 8, FRAMES_TOP, 0};
	rows[0].rule = RULE_FRAME(ROW_SP, 16, 0); /* of _start: its return address is 0 */
	put_block(0, GRANULES, rows, ROWS);
	store(FRAMES_TOP + 8, 0);
}

/* --- walks ---------------------------------------------------------------------------------- */

static struct walk *walk(struct trail *t, int same, int *reason, unsigned int *again)
{
	const struct frame *leaf = &frames[depth];
	struct walk *w = begin(leaf->pc - 1, leaf->sp, leaf->fp, 1);

	w->start_stack = FRAMES_TOP + 16;
	trail = t;
	if (t)
		trail_begin(w, t, same);
	*reason = walk_along(w, trail, again);
	return w;
}

static void check_frames(const struct walk *w)
{
	assert_int_equal(w->nframes, depth + 1);
	for (unsigned int i = 0; i <= depth; i++) {
		const uint64_t pc = frames[depth - i].pc - !i;
		const unsigned int object = pc - !!i >= TEXT + GRANULES / 2 * GRANULE_SIZE ? 2 : 1;

		assert_int_equal(w->frames[i],
				 (pc + FRAME_OF(object, TEXT)) | (i ? 0 : FRAME_EXACT));
		assert_int_equal(w->sps[i], frames[depth - i].sp);
	}
}

static void test_changing(void **state)
{
	unsigned long all = 0, deep = 0;
	unsigned int again = 0, none = 0;
	struct trail *t = calloc(1, sizeof(*t));
	struct stackhash hash;
	struct walk *w;
	int reason;

	(void)state;
	assert_non_null(t);
	begin_thread();
	for (unsigned int i = 0; i < WALKS; i++) {
		live_on();
		w = walk(NULL, 0, &reason, &none);
		assert_int_equal(reason, WALK_BOTTOM);
		check_frames(w);
		hash = w->hash;
		w = walk(t, i > 0, &reason, &again);
		assert_int_equal(reason, WALK_BOTTOM);
		check_frames(w);
		assert_memory_equal(&w->hash, &hash, sizeof(hash));
		all += depth + 1;
		deep += depth > TRAIL_FRAMES;
	}
	print_message("%u of %lu frames by the trail; %lu walks deeper than it\n", again, all,
		      deep);
	assert_true(again > all / 2 && deep > 100);
	assert_int_equal(none, 0);
	free(t);
}

/* The trail of another thread, or of another list of mappings, is not followed. */
static void test_other(void **state)
{
	struct trail *t = calloc(1, sizeof(*t));
	unsigned int again = 0;
	int reason;

	(void)state;
	assert_non_null(t);
	begin_thread();
	while (depth < 40 && call())
		;
	walk(t, 0, &reason, &again);
	walk(t, 0, &reason, &again);
	assert_int_equal(again, 0);
	walk(t, 1, &reason, &again);
	assert_true(again > 30);
	/* Rows that have changed since are those of another list. */
	for (unsigned int i = 1; i < ROWS; i++)
		rows[i].rule = RULE(ROW_UNSUPPORTED, ROW_CLASS_OFFSET);
	put_block(0, GRANULES, rows, ROWS);
	again = 0;
	walk(t, 0, &reason, &again);
	assert_int_equal(reason, WALK_UNSUPPORTED);
	assert_int_equal(again, 0);
	free(t);
}

/* A walk that ends early, where a word cannot be read, keeps what it came by. */
static void test_unreadable(void **state)
{
	struct trail *t = calloc(1, sizeof(*t));
	unsigned int again = 0;
	int reason;

	(void)state;
	assert_non_null(t);
	begin_thread();
	while (depth < 60 && call())
		;
	walk(t, 0, &reason, &again);
	fake.holes[0] = (struct range){frames[20].sp - 8, 8, 1};
	walk(t, 1, &reason, &again);
	assert_int_equal(reason, WALK_READ_FAULT);
	fake.holes[0] = (struct range){0, 0, 0};
	again = 0;
	check_frames(walk(t, 1, &reason, &again));
	assert_int_equal(reason, WALK_BOTTOM);
	assert_true(again > 30);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_changing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unreadable, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
