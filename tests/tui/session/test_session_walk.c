// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A captured walk, recorded and replayed: the inspector says the same words about each of its steps
 * and the stack has the same words in it; and nothing but an error comes from what is cut off or
 * changed, or it can be shown.
 * Covers: tui/session/session_states.c tui/util/bytes.h
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/report/trace.h"
#include "tests/support/feed_inspection.h"
#include "tests/support/machine.h"
#include "tests/support/moments.h"
#include "tests/support/scratch.h"
#include "tui/profile/board.h"
#include "tui/util/bytes.h"
#include "tui/views/inspector.h"
#include "tui/session/session_states.h"

static struct inspection *take(const uint8_t *data, size_t size, int *err)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct cursor c = {.at = copy, .end = copy + size};
	struct inspection *i;

	memcpy(copy, data, size);
	*err = session_walk_take(&c, &i);
	free(copy);
	assert_int_equal(!i, !!*err);
	return i;
}

/* Something of everything, also of what the made-up walk has not. */
static struct inspection *make(void)
{
	struct inspection *i = feed_inspection(4121);
	struct trace_step *s = &i->trace->steps[1];

	s->wide = true;
	s->rule = RULE(ROW_WIDE, 3);
	s->wide_rule = (struct wide_rule){.cfa_kind = WIDE_CFA_DEREF,
					  .cfa_reg = 3,
					  .cfa_off = -16,
					  .cfa_add = 8,
					  .ra_kind = WIDE_AT_REG,
					  .ra_reg = 6,
					  .ra_off = -8,
					  .fp_kind = WIDE_AT_CFA,
					  .fp_off = -24};
	s->way = TRACE_FRAME_POINTER;
	i->trace->short_of = true;
	strcpy(i->fp_frames[0].name, "by_fp");
	i->fp_frames[0].vaddr = 77;
	return i;
}

static void same_frame(const struct inspection_frame *a, const struct inspection_frame *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->module, b->module);
	assert_int_equal(a->vaddr, b->vaddr);
	assert_int_equal(a->offset, b->offset);
}

static void same_words(const struct inspection *a, const struct inspection *b, uint32_t frame)
{
	static char x[INSPECTOR_LINES][INSPECTOR_WIDTH], y[INSPECTOR_LINES][INSPECTOR_WIDTH];
	int n = inspector_words(a, frame, x);

	assert_true(n > 5);
	assert_int_equal(inspector_words(b, frame, y), n);
	for (int line = 0; line < n; line++)
		assert_string_equal(x[line], y[line]);
}

static void same(const struct inspection *a, const struct inspection *b)
{
	const struct trace *x = a->trace, *y = b->trace;
	char why[2][512];
	uint32_t first[2];

	assert_string_equal(a->comm, b->comm);
	assert_int_equal(x->nsteps, y->nsteps);
	assert_int_equal(x->nfp, y->nfp);
	assert_int_equal(x->agrees, y->agrees);
	assert_int_equal(x->short_of, y->short_of);
	assert_int_equal(x->capture.tgid, y->capture.tgid);
	assert_int_equal(x->capture.tid, y->capture.tid);
	assert_int_equal(x->capture.cpu, y->capture.cpu);
	assert_int_equal(x->capture.nframes, y->capture.nframes);
	assert_int_equal(x->capture.reason, y->capture.reason);
	assert_int_equal(x->capture.user_mode, y->capture.user_mode);
	assert_int_equal(x->capture.stack_at, y->capture.stack_at);
	assert_int_equal(x->capture.pages, y->capture.pages);
	assert_memory_equal(x->capture.stack, y->capture.stack, x->capture.pages * CAPTURE_PAGE);
	for (uint32_t n = 0; n < x->nsteps; n++) {
		same_words(a, b, n);
		same_frame(&a->frames[n], &b->frames[n]);
		assert_memory_equal(&x->steps[n].wide_rule, &y->steps[n].wide_rule,
				    sizeof(struct wide_rule));
	}
	for (uint32_t n = 0; n < x->nfp; n++) {
		assert_int_equal(x->fp_frames[n], y->fp_frames[n]);
		same_frame(&a->fp_frames[n], &b->fp_frames[n]);
	}
	inspection_compare(a, &first[0], why[0], sizeof(why[0]));
	inspection_compare(b, &first[1], why[1], sizeof(why[1]));
	assert_int_equal(first[0], first[1]);
	assert_string_equal(why[0], why[1]);
}

static void is_what_was_put(void **state)
{
	struct inspection *i = make(), *back;
	struct outbytes to = {0};
	int err;

	(void)state;
	session_walk_put(&to, i);
	back = take(to.data, to.size, &err);
	assert_int_equal(err, 0);
	same(i, back);
	inspection_put(i);
	inspection_put(back);
	bytes_free(&to);
}

static void show(const struct inspection *i)
{
	static char lines[INSPECTOR_LINES][INSPECTOR_WIDTH];
	char why[512];
	uint32_t first;

	for (uint32_t n = 0; n < i->trace->nsteps; n++)
		inspector_words(i, n, lines);
	inspection_compare(i, &first, why, sizeof(why));
	assert_true(first <= i->trace->nsteps);
}

static void refuses_what_makes_no_sense(void **state)
{
	struct inspection *i = make(), *back;
	struct outbytes to = {0};
	int err, refused = 0, taken = 0;

	(void)state;
	session_walk_put(&to, i);
	for (size_t size = 0; size < to.size; size++) {
		/* Of the stack some are enough. */
		if (size > 100 && size < CAPTURE_PAGE && size % 256)
			continue;
		back = take(to.data, size, &err);
		assert_int_equal(err, -EBADMSG);
	}
	for (size_t at = 0; at < to.size; at++) {
		if (at > 100 && at < CAPTURE_PAGE)
			continue;
		for (unsigned int bit = 0; bit < 8; bit++) {
			to.data[at] ^= (uint8_t)(1u << bit);
			back = take(to.data, to.size, &err);
			refused += err != 0;
			taken += err == 0;
			if (back)
				show(back);
			inspection_put(back);
			to.data[at] ^= (uint8_t)(1u << bit);
		}
	}
	assert_true(refused > 100 && taken > 100);
	inspection_put(i);
	bytes_free(&to);
}

/* --- in a session ----------------------------------------------------------------------------- */

static void give(struct machine *f, struct session_writer *w, int n)
{
	(void)w;
	if (n == 5 || n == 12)
		board_set_inspection(profile_board(f->p), feed_inspection(4000 + n));
}

static uint64_t has(struct profile *p)
{
	struct inspection *i;
	uint32_t pid;

	profile_lock(p);
	i = board_inspection(profile_board(p));
	profile_unlock(p);
	pid = i ? i->trace->capture.tgid : 0;
	inspection_put(i);
	return pid;
}

static void is_there_at_its_time(void **state)
{
	static const struct moment_place places[] = {{5, 0},	{6, 4005}, {12, 4005}, {30, 4012},
						     {7, 4005}, {1, 0},	   {29, 4012}};
	char path[SCRATCH];

	(void)state;
	close(scratch_file(path, "walk"));
	record_moments(path, 30, give);
	assert_moments(path, places, sizeof(places) / sizeof(places[0]), has);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_was_put),
		cmocka_unit_test(refuses_what_makes_no_sense),
		cmocka_unit_test(is_there_at_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
