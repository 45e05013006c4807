// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=tracker_place,--wrap=object_put,--wrap=modules_get,--wrap=modules_find */
/* build: -Wl,--wrap=inline_cache_find,--wrap=inline_cache_get */
/* build: -Wl,--wrap=profile_func,--wrap=profile_stack_new */
/*
 * Where frames of a language stand among the native ones. Native frames are made: frame i of the
 * record is in the function ni of one file.
 * Covers: tui/symbolize/resolver.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/sampler/sampler.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/tracker.h"
#include "tui/profile/profile.h"
#include "tui/symbolize/inline_cache.h"
#include "tui/symbolize/inline_chain.h"
#include "tui/symbolize/language.h"
#include "tui/symbolize/modules_priv.h"
#include "tui/symbolize/resolver.h"

#define NATIVES	       8u
#define LANGUAGE_CALLS 8u
#define STEP	       0x1000u /* from one native frame's address to the next */

/* --- what the resolver asks ------------------------------------------------------------------ */

/* There is one of each. */
static struct symbol_module module = {.symtab = (struct symtab *)&module, .name = "libpython"};
static struct object object = {.id = 1};
static const struct inline_chain *chains[NATIVES]; /* of native frames; NULL: nothing is inlined */
static bool waits[NATIVES];			   /* it is not known yet */
static char interned[64][64];			   /* names of functions, by id */
static unsigned int ninterned;
static char made[1024]; /* the last stack */
static uint32_t sites[64];

void __wrap_tracker_place(struct tracker *t, const struct tracker_exec *of, uint64_t frame,
			  struct code_place *out);
void __wrap_tracker_place(struct tracker *t, const struct tracker_exec *of, uint64_t frame,
			  struct code_place *out)
{
	(void)t;
	(void)of;
	*out = (struct code_place){.kind = PLACE_FILE, .object = &object, .vaddr = frame};
}

void __wrap_object_put(struct tracker *t, struct object *o);
void __wrap_object_put(struct tracker *t, struct object *o)
{
	(void)t;
	(void)o;
}

int __wrap_modules_get(struct modules *all, const struct object *o, pid_t pid,
		       struct symbol_module **out);
int __wrap_modules_get(struct modules *all, const struct object *o, pid_t pid,
		       struct symbol_module **out)
{
	(void)all;
	(void)o;
	(void)pid;
	*out = &module;
	return 0;
}

static uint64_t reaches[NATIVES]; /* as was asked for the native frames */
static const char *names[NATIVES] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"};

const char *__wrap_modules_find(struct modules *all, struct symbol_module *m,
				const struct object *o, uint64_t vaddr, uint64_t reach,
				uint64_t *start, bool *guessed);
const char *__wrap_modules_find(struct modules *all, struct symbol_module *m,
				const struct object *o, uint64_t vaddr, uint64_t reach,
				uint64_t *start, bool *guessed)
{

	(void)all;
	(void)m;
	(void)o;
	reaches[vaddr / STEP - 1] = reach;
	*start = vaddr;
	*guessed = false;
	return names[vaddr / STEP - 1];
}

uint32_t __wrap_inline_cache_find(struct inline_cache *c, uint64_t o, int fd, pid_t pid,
				  uint64_t vaddr, uint64_t symbol,
				  const struct inline_chain **calls);
uint32_t __wrap_inline_cache_find(struct inline_cache *c, uint64_t o, int fd, pid_t pid,
				  uint64_t vaddr, uint64_t symbol,
				  const struct inline_chain **calls)
{
	(void)c;
	(void)o;
	(void)fd;
	(void)pid;
	(void)symbol;
	*calls = chains[vaddr / STEP - 1];
	return (uint32_t)(vaddr / STEP);
}

bool __wrap_inline_cache_get(const struct inline_cache *c, uint32_t id,
			     const struct inline_chain **calls);
bool __wrap_inline_cache_get(const struct inline_cache *c, uint32_t id,
			     const struct inline_chain **calls)
{
	(void)c;
	*calls = chains[id - 1];
	return !waits[id - 1];
}

/* --- what it makes --------------------------------------------------------------------------- */

int64_t __wrap_profile_func(struct profile *p, enum func_kind kind, const char *name,
			    const char *of);
int64_t __wrap_profile_func(struct profile *p, enum func_kind kind, const char *name,
			    const char *of)
{
	static const char *const kinds[] = {
		[FUNC_USER] = "",      [FUNC_END] = "end:",	[FUNC_INLINE] = "in:",
		[FUNC_EVAL] = "eval:", [FUNC_WAIT] = "wait:", /* the profile's own */
		[FUNC_TIME] = "time:", [FUNC_WAKER] = "waker:", [FUNC_PYTHON] = "py:"};

	(void)p;
	assert_true(kind < sizeof(kinds) / sizeof(*kinds) && kinds[kind]);
	assert_string_equal(of, kind == FUNC_END || func_is_wait(kind) ? ""
				: kind == FUNC_PYTHON		       ? "/some.py"
								       : "libpython");
	assert_true(ninterned < 64);
	snprintf(interned[ninterned], sizeof(interned[0]), "%s%s", kinds[kind],
		 kind == FUNC_END ? "" : name);
	return ninterned++;
}

static enum stack_lock made_lock;

int64_t __wrap_profile_stack_new(struct profile *p, const struct profile_stack *stack);
int64_t __wrap_profile_stack_new(struct profile *p, const struct profile_stack *stack)
{
	size_t at = 0;

	(void)p;
	made[0] = '\0';
	made_lock = stack->lock;
	for (uint32_t i = 0; i < stack->nframes; i++)
		at += (size_t)snprintf(made + at, sizeof(made) - at, "%s%s", i ? " " : "",
				       interned[stack->frames[i]]);
	memset(sites, 0, sizeof(sites));
	if (stack->sites)
		memcpy(sites, stack->sites, stack->nframes * sizeof(*sites));
	return 7;
}

/* --- stacks ---------------------------------------------------------------------------------- */

static struct profile *profile;
static struct resolver *resolver;

static int setup(void **state)
{
	(void)state;
	memset(chains, 0, sizeof(chains));
	memset(waits, 0, sizeof(waits));
	profile = profile_new(10, 1000);
	return resolver_new(profile, NULL, NULL, 1 << 20, &resolver);
}

static int teardown(void **state)
{
	(void)state;
	resolver_free(resolver);
	profile_free(profile);
	return 0;
}

static enum language_lock lock;	 /* of the next stacks */
static unsigned int exact = 255; /* a bit for each native frame of theirs, the leaf's first */

/* Frames of a language, leaf first, by the native frame that runs each. */
static struct resolver_doubt resolve(uint32_t natives, enum walk_reason reason,
				     const uint32_t *places, uint32_t n)
{
	static const struct language_method methods[LANGUAGE_CALLS] = {
		{FUNC_PYTHON, "f0", "/some.py"}, {FUNC_PYTHON, "f1", "/some.py"},
		{FUNC_PYTHON, "f2", "/some.py"}, {FUNC_PYTHON, "f3", "/some.py"},
		{FUNC_PYTHON, "f4", "/some.py"}, {FUNC_PYTHON, "f5", "/some.py"},
		{FUNC_PYTHON, "f6", "/some.py"}, {FUNC_PYTHON, "f7", "/some.py"}};
	static union {
		struct language_stack stack;
		char bytes[sizeof(struct language_stack) +
			   LANGUAGE_CALLS * sizeof(struct language_call)];
	} language;
	static union {
		struct stack_record record;
		char bytes[sizeof(struct stack_record) + NATIVES * sizeof(uint64_t)];
	} sent;
	struct resolver_doubt doubt;

	assert_true(natives <= NATIVES && n <= LANGUAGE_CALLS);
	language.stack.nframes = n;
	language.stack.lock = lock;
	for (uint32_t i = 0; i < n; i++)
		language.stack.frames[i] = (struct language_call){
			.method = &methods[i], .line = 100 + i, .at = places[i]};
	sent.record.nframes = (uint16_t)natives;
	sent.record.reason = (uint8_t)reason;
	for (uint32_t i = 0; i < natives; i++)
		sent.record.frames[i] =
			(exact >> i & 1 ? FRAME_EXACT : 0) | ((uint64_t)STEP * (i + 1) + 1);
	ninterned = 0;
	assert_int_equal(
		resolver_user(resolver, &sent.record, places ? &language.stack : NULL, &doubt), 7);
	return doubt;
}

#define RESOLVE(natives, reason, ...)                                                              \
	resolve(natives, reason, (const uint32_t[]){__VA_ARGS__},                                  \
		sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void stacks_without_a_language_are_native(void **state)
{
	(void)state;
	resolve(3, WALK_BOTTOM, NULL, 0);
	assert_string_equal(made, "n2 n1 n0");
	resolve(3, WALK_NO_TABLE, NULL, 0);
	assert_string_equal(made, "end: n2 n1 n0");
	/* a thread that runs no frame */
	resolve(3, WALK_BOTTOM, (const uint32_t[]){0}, 0);
	assert_string_equal(made, "n2 n1 n0");
}

static void runs_stand_behind_the_frame_that_runs_them(void **state)
{
	(void)state;
	RESOLVE(4, WALK_BOTTOM, 2);
	assert_string_equal(made, "n3 eval:n2 py:f0 n1 n0");
	/* several frames in one run, two runs */
	RESOLVE(5, WALK_BOTTOM, 1, 1, 1, 3);
	assert_string_equal(made, "n4 eval:n3 py:f3 n2 eval:n1 py:f2 py:f1 py:f0 n0");
	/* the leaf itself, and the outermost one */
	RESOLVE(2, WALK_BOTTOM, 0, 1);
	assert_string_equal(made, "eval:n1 py:f1 eval:n0 py:f0");
}

static void runs_without_a_place_are_left_out_of_complete_walks(void **state)
{
	(void)state;
	RESOLVE(4, WALK_BOTTOM, LANGUAGE_NOWHERE, LANGUAGE_NOWHERE);
	assert_string_equal(made, "n3 n2 n1 n0");
	RESOLVE(4, WALK_BOTTOM_FP, 1, LANGUAGE_NOWHERE, LANGUAGE_NOWHERE);
	assert_string_equal(made, "n3 n2 eval:n1 py:f0 n0");
	/* between two others, and inside of them */
	RESOLVE(4, WALK_BOTTOM, LANGUAGE_NOWHERE, 1, LANGUAGE_NOWHERE, 3, 3);
	assert_string_equal(made, "eval:n3 py:f4 py:f3 n2 eval:n1 py:f1 n0");
}

static void runs_without_a_place_are_outermost_of_others(void **state)
{
	(void)state;
	RESOLVE(3, WALK_NO_TABLE, 1, LANGUAGE_NOWHERE, LANGUAGE_NOWHERE);
	assert_string_equal(made, "end: py:f2 py:f1 n2 eval:n1 py:f0 n0");
	RESOLVE(3, WALK_GUESSED, LANGUAGE_NOWHERE);
	assert_string_equal(made, "end: py:f0 n2 n1 n0");
	/* only those that are outside of all that have a place */
	RESOLVE(3, WALK_NO_TABLE, LANGUAGE_NOWHERE, 1, LANGUAGE_NOWHERE);
	assert_string_equal(made, "end: py:f2 n2 eval:n1 py:f1 n0");
}

/* What contradicts the native frames is left out, with what is inside of it. */
static void places_that_contradict_each_other_do_no_harm(void **state)
{
	(void)state;
	RESOLVE(3, WALK_BOTTOM, 7);
	assert_string_equal(made, "n2 n1 n0");
	RESOLVE(3, WALK_BOTTOM, 1, 0);
	assert_string_equal(made, "n2 n1 eval:n0 py:f1");
	RESOLVE(0, WALK_BOTTOM, 0);
	assert_string_equal(made, "");
}

/* A thread waits where the interpreter takes the lock, inside of the innermost frame. */
static void locks_are_those_of_the_thread(void **state)
{
	(void)state;
	names[0] = "take_gil";
	lock = LANGUAGE_NO_LOCK;
	RESOLVE(3, WALK_BOTTOM, 2);
	assert_int_equal(made_lock, STACK_LOCK_NONE);
	lock = LANGUAGE_HOLDS;
	RESOLVE(3, WALK_BOTTOM, 2);
	assert_int_equal(made_lock, STACK_LOCK_HELD);
	lock = LANGUAGE_RELEASED;
	RESOLVE(3, WALK_BOTTOM, 2);
	assert_int_equal(made_lock, STACK_LOCK_WAITS);
	/* outside of the innermost frame that was long ago */
	RESOLVE(3, WALK_BOTTOM, 0, 2);
	assert_int_equal(made_lock, STACK_LOCK_RELEASED);
	names[0] = "n0";
	RESOLVE(3, WALK_BOTTOM, 2);
	assert_int_equal(made_lock, STACK_LOCK_RELEASED);
	names[2] = "take_gil";
	RESOLVE(3, WALK_BOTTOM, 1);
	assert_int_equal(made_lock, STACK_LOCK_RELEASED);
	names[2] = "n2";
	resolve(3, WALK_BOTTOM, NULL, 0);
	assert_int_equal(made_lock, STACK_LOCK_NONE);
	lock = LANGUAGE_NO_LOCK;
}

/*
 * Where a signal interrupted code, the frame inside of that is the trampoline, and a symbol without
 * a size that begins before it is not its name. A leaf is in the trampoline's call.
 */
static void trampolines_begin_at_their_address(void **state)
{
	static const struct {
		unsigned int exact;
		uint64_t reaches[4];
	} want[] = {
		{1, {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}},
		{1 | 2 | 4, {16, 0, UINT64_MAX, UINT64_MAX}},
		{1 | 4 | 8, {UINT64_MAX, UINT64_MAX, 0, UINT64_MAX}},
		{4, {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		exact = want[i].exact;
		resolve(4, WALK_BOTTOM, NULL, 0);
		assert_memory_equal(reaches, want[i].reaches, sizeof(want[i].reaches));
	}
	exact = 255;
}

/* --- inlined calls --------------------------------------------------------------------------- */

static const struct inline_chain *chain_of(void)
{
	static union {
		struct inline_chain chain;
		char bytes[sizeof(struct inline_chain) + 3 * sizeof(struct inline_chain_frame)];
	} c;

	c.chain.count = 3;
	c.chain.frames[0].name = "deepest";
	c.chain.frames[1].name = "deeper";
	c.chain.frames[2].name = "itself";
	return &c.chain;
}

static void inlined_calls_come_behind_the_frames_of_the_language(void **state)
{
	(void)state;
	chains[1] = chain_of();
	RESOLVE(3, WALK_BOTTOM, 1, 1);
	assert_string_equal(made, "n2 eval:n1 py:f1 py:f0 in:deeper in:deepest n0");
	RESOLVE(3, WALK_BOTTOM, 2);
	assert_string_equal(made, "eval:n2 py:f0 n1 in:deeper in:deepest n0");
}

/* Those of an eval frame cannot be added later: its stack is named again instead. */
static void inlined_calls_that_are_not_known_yet_are_waited_for(void **state)
{
	struct resolver_doubt doubt;

	(void)state;
	waits[1] = true;
	doubt = RESOLVE(3, WALK_BOTTOM, 2);
	assert_false(doubt.waits);
	assert_string_equal(made, "eval:n2 py:f0 n1 n0");
	assert_int_equal(sites[0] | sites[1] | sites[3], 0);
	assert_int_equal(sites[2], 2);
	doubt = RESOLVE(3, WALK_BOTTOM, 1);
	assert_true(doubt.waits);
	assert_string_equal(made, "n2 eval:n1 py:f0 n0");
	for (int i = 0; i < 4; i++)
		assert_int_equal(sites[i], 0);
	waits[1] = false;
	chains[1] = chain_of();
	doubt = RESOLVE(3, WALK_BOTTOM, 1);
	assert_false(doubt.waits);
	assert_string_equal(made, "n2 eval:n1 py:f0 in:deeper in:deepest n0");
}

static void places_are_those_of_the_frames(void **state)
{
	const uint32_t *places;
	uint32_t n;

	(void)state;
	chains[1] = chain_of();
	RESOLVE(3, WALK_NO_TABLE, 1, 1, LANGUAGE_NOWHERE);
	assert_string_equal(made, "end: py:f2 n2 eval:n1 py:f1 py:f0 in:deeper in:deepest n0");
	places = resolver_places(resolver, &n);
	assert_int_equal(n, 6);
	assert_int_equal(places[0], INLINE_CACHE_LINE | 102);
	assert_int_equal(places[1], 3);
	assert_int_equal(places[2], 2);
	assert_int_equal(places[3], INLINE_CACHE_LINE | 101);
	assert_int_equal(places[4], INLINE_CACHE_LINE | 100);
	assert_int_equal(places[5], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(stacks_without_a_language_are_native, setup,
						teardown),
		cmocka_unit_test_setup_teardown(runs_stand_behind_the_frame_that_runs_them, setup,
						teardown),
		cmocka_unit_test_setup_teardown(runs_without_a_place_are_left_out_of_complete_walks,
						setup, teardown),
		cmocka_unit_test_setup_teardown(runs_without_a_place_are_outermost_of_others, setup,
						teardown),
		cmocka_unit_test_setup_teardown(places_that_contradict_each_other_do_no_harm, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			inlined_calls_come_behind_the_frames_of_the_language, setup, teardown),
		cmocka_unit_test_setup_teardown(inlined_calls_that_are_not_known_yet_are_waited_for,
						setup, teardown),
		cmocka_unit_test_setup_teardown(places_are_those_of_the_frames, setup, teardown),
		cmocka_unit_test_setup_teardown(locks_are_those_of_the_thread, setup, teardown),
		cmocka_unit_test_setup_teardown(trampolines_begin_at_their_address, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
