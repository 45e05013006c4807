// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=tracker_runtime,--wrap=tracker_runtime_mute,--wrap=stackcache_peek */
/* build: -Wl,--wrap=procinfo_mute */
/*
 * Which processes are told of because their stacks have no frames of the language that they run.
 * Stacks and runtimes are made up.
 * Covers: tui/collect/mutes.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/prog/layout.h"
#include "bpf/prog/runtime_layout.h"
#include "bpf/tracker/tracker.h"
#include "tui/collect/mutes.h"
#include "tui/collect/procinfo.h"
#include "tui/collect/stackcache.h"
#include "unwind/reason.h"
#include "unwind/walk.h"

#define FILE_ID	 7u
#define OTHER_ID 8u
#define EVAL	 0x1000u
#define EVAL_END 0x1100u
#define ENOUGH	 100u

static struct tracker_runtime runtime; /* of all processes; kind 0: they have none */
static struct tracker_runtime other;   /* their second one */
static unsigned int told_of;
static struct stackcache_stack stack; /* of all samples */
static struct stack_record *record;
static unsigned int told; /* messages */
static uint64_t told_samples;
static enum func_kind mark;
static char marked_why[200];

bool __wrap_tracker_runtime(struct tracker *t, const struct tracker_exec *of, unsigned int n,
			    struct tracker_runtime *out);
bool __wrap_tracker_runtime(struct tracker *t, const struct tracker_exec *of, unsigned int n,
			    struct tracker_runtime *out)
{
	(void)t;
	(void)of;
	*out = n == 1 ? other : runtime;
	return n < 2 && out->kind != RUNTIME_NONE;
}

void __wrap_tracker_runtime_mute(struct tracker *t, const struct tracker_exec *of, unsigned int n,
				 uint64_t samples);
void __wrap_tracker_runtime_mute(struct tracker *t, const struct tracker_exec *of, unsigned int n,
				 uint64_t samples)
{
	(void)t;
	(void)of;
	told_of = n;
	told++;
	told_samples = samples;
}

bool __wrap_stackcache_peek(const struct stackcache *c, uint64_t hash,
			    struct stackcache_stack *out);
bool __wrap_stackcache_peek(const struct stackcache *c, uint64_t hash, struct stackcache_stack *out)
{
	(void)c;
	(void)hash;
	*out = stack;
	return true;
}

int __wrap_procinfo_mute(struct procinfo *pi, const struct tracker_exec *of,
			 enum func_kind language, const char *why);
int __wrap_procinfo_mute(struct procinfo *pi, const struct tracker_exec *of,
			 enum func_kind language, const char *why)
{
	(void)pi;
	(void)of;
	mark = language;
	snprintf(marked_why, sizeof(marked_why), "%s", why);
	return 0;
}

/* --- stacks ---------------------------------------------------------------------------------- */

static uint64_t frame(unsigned int object, uint64_t vaddr)
{
	return FRAME_OF(object, 0) + vaddr;
}

/* A stack of these frames, leaf first, up to a 0. */
static void set_stack(unsigned int reason, bool mute, const uint64_t *frames)
{
	uint32_t n = 0;

	while (frames[n])
		n++;
	free(record);
	record = calloc(1, sizeof(*record) + n * sizeof(frames[0]));
	assert_non_null(record);
	record->nframes = (uint16_t)n;
	record->reason = (uint8_t)reason;
	memcpy(record->frames, frames, n * sizeof(frames[0]));
	stack = (struct stackcache_stack){.rec = record, .languages = mute ? 0 : ~0u};
}

#define STACK(reason, mute, ...) set_stack(reason, mute, (const uint64_t[]){__VA_ARGS__, 0})

static void set_runtime(enum runtime kind, bool eval)
{
	runtime = (struct tracker_runtime){
		.kind = kind, .object = FILE_ID, .settled = true, .enough = ENOUGH};
	if (eval) {
		runtime.eval[0][0] = frame(FILE_ID, EVAL);
		runtime.eval[0][1] = frame(FILE_ID, EVAL_END);
	}
	runtime.made = kind == RUNTIME_V8 || kind == RUNTIME_COUNT;
	snprintf(runtime.shown, sizeof(runtime.shown), "Tongue 1.0");
	snprintf(runtime.why, sizeof(runtime.why), "it is shy");
}

static bool ran(void)
{
	return mutes_ran(&runtime, record);
}

static void code_that_runs_the_language_shows_that_it_ran(void **state)
{
	(void)state;
	set_runtime(RUNTIME_PYTHON, true);
	/* A return address may be the first one behind the code, a leaf may not. */
	STACK(WALK_BOTTOM, true, frame(OTHER_ID, 1) | FRAME_EXACT, frame(FILE_ID, EVAL_END));
	assert_true(ran());
	STACK(WALK_BOTTOM, true, frame(FILE_ID, EVAL_END) | FRAME_EXACT, frame(OTHER_ID, 1));
	assert_false(ran());
	STACK(WALK_BOTTOM, true, frame(FILE_ID, EVAL) | FRAME_EXACT, frame(OTHER_ID, 1));
	assert_true(ran());
	/* Its other code is that of a parser, or of threads of its own. */
	STACK(WALK_BOTTOM, true, frame(FILE_ID, 8) | FRAME_EXACT, frame(FILE_ID, 0x99));
	assert_false(ran());
	/* The same address in another file. */
	STACK(WALK_BOTTOM, true, frame(OTHER_ID, EVAL) | FRAME_EXACT, frame(OTHER_ID, EVAL + 4));
	assert_false(ran());
}

static void a_walk_that_ended_early_may_not_show_that_code(void **state)
{
	(void)state;
	set_runtime(RUNTIME_PYTHON, true);
	STACK(WALK_NO_TABLE, true, frame(FILE_ID, 8) | FRAME_EXACT, frame(FILE_ID, 0x99));
	assert_true(ran());
	/* The outermost frame may be wrong, unless it is where the thread was. */
	STACK(WALK_NO_TABLE, true, frame(OTHER_ID, 8) | FRAME_EXACT, frame(FILE_ID, 0x99));
	assert_false(ran());
	STACK(WALK_NO_TABLE, true, frame(FILE_ID, 8) | FRAME_EXACT);
	assert_true(ran());
}

static void without_such_code_the_file_shows_it(void **state)
{
	(void)state;
	set_runtime(RUNTIME_RUBY, false);
	STACK(WALK_BOTTOM, true, frame(OTHER_ID, 8) | FRAME_EXACT, frame(FILE_ID, 8));
	assert_true(ran());
	STACK(WALK_BOTTOM, true, frame(OTHER_ID, 8) | FRAME_EXACT, frame(OTHER_ID, 8));
	assert_false(ran());
}

/* Threads that compile or collect garbage have no frames in it. */
static void code_that_was_made_shows_it(void **state)
{
	static const enum runtime kinds[] = {RUNTIME_V8, RUNTIME_COUNT};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		set_runtime(kinds[i], kinds[i] == RUNTIME_V8);
		STACK(WALK_BOTTOM, true, frame(FILE_ID, 8) | FRAME_EXACT, 0x7f0000001000);
		assert_true(ran());
		STACK(WALK_BOTTOM, true, frame(FILE_ID, 8) | FRAME_EXACT, frame(FILE_ID, 9));
		assert_false(ran());
		STACK(WALK_NO_TABLE, true, frame(FILE_ID, 8) | FRAME_EXACT, frame(FILE_ID, 9));
		assert_false(ran());
	}
}

/* --- processes ------------------------------------------------------------------------------- */

#define RAN    STACK(WALK_BOTTOM, true, frame(FILE_ID, EVAL + 1) | FRAME_EXACT)
#define HEARD  STACK(WALK_BOTTOM, false, frame(FILE_ID, EVAL + 1) | FRAME_EXACT)
#define BESIDE STACK(WALK_BOTTOM, true, frame(OTHER_ID, 1) | FRAME_EXACT)

static const struct tracker_exec process = {4711, 0x7ffffffde000, 5};

static struct mutes *begin(void)
{
	struct mutes *m;

	told = 0;
	mark = FUNC_USER;
	marked_why[0] = '\0';
	assert_int_equal(mutes_new(NULL, NULL, NULL, &m), 0);
	return m;
}

static void slice(struct mutes *m, uint64_t count)
{
	mutes_note(m, &process, 1, count);
	assert_int_equal(mutes_judge(m), 0);
}

/* Of a process that was sampled before, and whose runtime was settled then. */
static struct mutes *begin_settled(enum runtime kind, bool eval)
{
	struct mutes *m = begin();

	set_runtime(kind, eval);
	BESIDE;
	slice(m, 1);
	return m;
}

static void a_hundred_samples_without_a_frame_are_told_once(void **state)
{
	struct mutes *m = begin_settled(RUNTIME_PYTHON, true);

	(void)state;
	RAN;
	slice(m, ENOUGH - 1);
	BESIDE;
	slice(m, 1000);
	assert_int_equal(told, 0);
	assert_int_equal(mark, FUNC_USER);
	RAN;
	slice(m, 1);
	assert_int_equal(told, 1);
	assert_int_equal(told_samples, ENOUGH);
	assert_int_equal(mark, FUNC_PYTHON);
	assert_string_equal(marked_why, "Tongue 1.0: it is shy");
	slice(m, 1000);
	assert_int_equal(told, 1);
	mutes_free(m);
}

static void a_frame_takes_the_mark_away(void **state)
{
	struct mutes *m = begin_settled(RUNTIME_V8, true);

	(void)state;
	RAN;
	slice(m, ENOUGH);
	assert_int_equal(mark, FUNC_JS);
	HEARD;
	slice(m, 1);
	assert_int_equal(mark, FUNC_USER);
	assert_string_equal(marked_why, "");
	/* It counts from there on. */
	RAN;
	slice(m, ENOUGH - 1);
	assert_int_equal(told, 1);
	assert_int_equal(mark, FUNC_USER);
	slice(m, 1);
	assert_int_equal(told, 2);
	assert_int_equal(mark, FUNC_JS);
	mutes_free(m);
}

/* One stack with a frame is enough in a slice. */
static void a_slice_with_a_frame_counts_for_nothing(void **state)
{
	struct mutes *m = begin_settled(RUNTIME_PYTHON, true);

	(void)state;
	for (int i = 0; i < 5; i++) {
		RAN;
		mutes_note(m, &process, 1, ENOUGH);
		HEARD;
		mutes_note(m, &process, 2, 1);
		RAN;
		slice(m, ENOUGH);
	}
	assert_int_equal(told, 0);
	assert_int_equal(mark, FUNC_USER);
	mutes_free(m);
}

/* It may end, and free its objects without running any of its code. */
static void a_file_shows_nothing_of_a_process_that_had_frames(void **state)
{
	struct mutes *m = begin_settled(RUNTIME_RUBY, false);

	(void)state;
	HEARD;
	slice(m, 1);
	RAN;
	slice(m, 10 * ENOUGH);
	assert_int_equal(told, 0);
	assert_int_equal(mark, FUNC_USER);
	mutes_free(m);
}

/* That was told when it was refused. */
static void a_refused_runtime_is_marked_at_once(void **state)
{
	struct mutes *m = begin();

	(void)state;
	set_runtime(RUNTIME_PERL, true);
	runtime.refused = true;
	BESIDE;
	slice(m, 1);
	assert_int_equal(mark, FUNC_USER);
	RAN;
	slice(m, 1);
	assert_int_equal(mark, FUNC_PERL);
	assert_int_equal(told, 0);
	mutes_free(m);
}

static void processes_without_a_runtime_are_not_judged(void **state)
{
	struct mutes *m = begin();

	(void)state;
	set_runtime(RUNTIME_NONE, true);
	RAN;
	slice(m, 10 * ENOUGH);
	assert_int_equal(mark, FUNC_USER);
	/* The library came later. */
	set_runtime(RUNTIME_COUNT, false);
	STACK(WALK_BOTTOM, true, 0x7f0000001000);
	slice(m, ENOUGH);
	slice(m, ENOUGH);
	assert_int_equal(mark, FUNC_JAVA);
	assert_int_equal(told, 1);
	mutes_free(m);
}

/* Frames of the one do not speak for the other. */
static void each_of_several_runtimes_is_judged(void **state)
{
	struct mutes *m = begin();

	(void)state;
	set_runtime(RUNTIME_PYTHON, true);
	other = runtime;
	other.kind = RUNTIME_PERL;
	RAN;
	stack.languages = 1u << FUNC_PYTHON;
	slice(m, ENOUGH);
	slice(m, ENOUGH);
	assert_int_equal(told, 1);
	assert_int_equal(told_of, 1);
	assert_int_equal(mark, FUNC_PERL);
	/* It is only mapped. */
	stack.languages |= 1u << FUNC_PERL;
	slice(m, 1);
	BESIDE;
	stack.languages = 1u << FUNC_PYTHON;
	slice(m, 10 * ENOUGH);
	assert_int_equal(told, 1);
	other = (struct tracker_runtime){0};
	mutes_free(m);
}

/* Until then there are no frames, however many samples there are. */
static void samples_count_after_the_runtime_is_settled(void **state)
{
	struct mutes *m = begin();

	(void)state;
	set_runtime(RUNTIME_PYTHON, true);
	runtime.settled = false;
	RAN;
	slice(m, 10 * ENOUGH);
	slice(m, 10 * ENOUGH);
	runtime.settled = true;
	slice(m, 10 * ENOUGH);
	assert_int_equal(told, 0);
	assert_int_equal(mark, FUNC_USER);
	slice(m, ENOUGH);
	assert_int_equal(told, 1);
	assert_int_equal(told_samples, ENOUGH);
	assert_int_equal(mark, FUNC_PYTHON);
	mutes_free(m);
}

static int free_record(void **state)
{
	(void)state;
	free(record);
	record = NULL;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_that_runs_the_language_shows_that_it_ran),
		cmocka_unit_test(a_walk_that_ended_early_may_not_show_that_code),
		cmocka_unit_test(without_such_code_the_file_shows_it),
		cmocka_unit_test(code_that_was_made_shows_it),
		cmocka_unit_test(a_hundred_samples_without_a_frame_are_told_once),
		cmocka_unit_test(a_frame_takes_the_mark_away),
		cmocka_unit_test(a_slice_with_a_frame_counts_for_nothing),
		cmocka_unit_test(a_file_shows_nothing_of_a_process_that_had_frames),
		cmocka_unit_test(a_refused_runtime_is_marked_at_once),
		cmocka_unit_test(processes_without_a_runtime_are_not_judged),
		cmocka_unit_test(each_of_several_runtimes_is_judged),
		cmocka_unit_test(samples_count_after_the_runtime_is_settled),
	};

	return cmocka_run_group_tests_name("mutes", tests, NULL, free_record);
}
