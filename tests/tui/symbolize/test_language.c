/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of languages as records bring them: which are known, where the frames of a stack
 * belong, their lines, and what is forgotten when there are too many.
 * Covers: tui/symbolize/language.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/base/memory.h"
#include "tui/symbolize/language.h"

#define MEMORY	 (4u << 20) /* a quarter of it is for functions */
#define ASCII	 48u
#define COMPACT	 72u
#define TGID	 17u
#define EXEC_ID	 23u
#define V3_9	 0x030900f0u
#define V3_10	 0x030a00f0u
#define V3_11	 0x030b00f0u
#define HASH_MAX 100000u

static struct language *language;
static unsigned int forgotten[HASH_MAX], nforgotten;

static void on_forget(void *arg, uint64_t hash)
{
	assert_ptr_equal(arg, &language);
	assert_true(hash < HASH_MAX);
	forgotten[hash]++;
	nforgotten++;
}

static int setup(void **state)
{
	static struct memory_plan plan;

	(void)state;
	memory_plan(&plan, (uint64_t)1 << 33, 0, &(struct memory_given){0});
	plan.part[MEMORY_JIT] = MEMORY;
	memory_use(&plan);
	memset(forgotten, 0, sizeof(forgotten));
	nforgotten = 0;
	return language_new(on_forget, &language, &language);
}

static int teardown(void **state)
{
	(void)state;
	language_free(language);
	return 0;
}

/* --- records --------------------------------------------------------------------------------- */

struct sent {
	struct method_record method;
	uint8_t table[METHOD_TABLE + 1];
};

/* A str of ASCII characters as CPython 3.11 has it. */
static void put_text(struct sent *s, enum method_text of, const char *text)
{
	const uint64_t length = strlen(text);
	const uint32_t state = 0x64; /* kind 1, compact, ASCII */
	uint8_t *to = s->method.text[of];

	assert_true(ASCII + length <= METHOD_TEXT);
	memcpy(to + 16, &length, sizeof(length));
	memcpy(to + 32, &state, sizeof(state));
	memcpy(to + ASCII, text, length);
	s->method.text_size[of] = (uint16_t)(ASCII + length);
}

static void put_table(struct sent *s, const void *table, size_t size)
{
	memcpy(s->table, table, size);
	s->method.table_size = s->method.table_all = (uint32_t)size;
}

static struct sent *sent_new(uint64_t code, const char *name)
{
	struct sent *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->method = (struct method_record){
		.hash = code,
		.code = code,
		.exec_id = EXEC_ID,
		.tgid = TGID,
		.kernel = STACK_METHOD,
		.runtime = RUNTIME_PYTHON,
		.first = 100,
		.version = V3_11,
		.text_layout = {16, 32, ASCII, COMPACT},
	};
	put_text(s, METHOD_NAME, name);
	put_text(s, METHOD_FILE, "/lib/some.py");
	return s;
}

static void send(struct sent *s)
{
	language_add(language, &s->method);
	free(s);
}

static void send_named(uint64_t code, const char *name)
{
	send(sent_new(code, name));
}

struct sent_stack {
	struct stack_record record;
	uint64_t frames[2 * 16];
};

static struct language_stack *stack_by(enum runtime runtime, const struct language_frame *frames,
				       unsigned int n)
{
	struct sent_stack s = {.record = {.hash = 1,
					  .start_stack = runtime,
					  .exec_id = EXEC_ID,
					  .tgid = TGID,
					  .nframes = (uint16_t)(2 * n),
					  .kernel = STACK_LANGUAGE,
					  .reason = LANGUAGE_HOLDS}};

	assert_true(n <= 16);
	memcpy(s.record.frames, frames, n * sizeof(*frames));
	return language_stack_new(language, &s.record);
}

static struct language_stack *stack_of(const struct language_frame *frames, unsigned int n)
{
	return stack_by(RUNTIME_PYTHON, frames, n);
}

static bool is_known(uint64_t code, uint32_t check)
{
	const struct language_frame frame = {.code = code, .check = check};
	struct language_stack *stack = stack_of(&frame, 1);

	language_stack_free(language, stack);
	return stack != NULL;
}

/* --- functions ------------------------------------------------------------------------------- */

static void functions_have_name_and_file(void **state)
{
	static const struct language_frame frames[] = {{.code = 8, .at = 1}, {.code = 16, .at = 2}};
	struct language_stack *stack;
	struct sent *s;

	(void)state;
	send_named(8, "inner");
	s = sent_new(16, "outer");
	s->method.text_size[METHOD_FILE] = 0; /* it could not be read */
	send(s);
	stack = stack_of(frames, 2);
	assert_non_null(stack);
	assert_int_equal(stack->nframes, 2);
	assert_int_equal(stack->lock, LANGUAGE_HOLDS);
	assert_int_equal(stack->frames[0].method->kind, FUNC_PYTHON);
	assert_string_equal(stack->frames[0].method->name, "inner");
	assert_string_equal(stack->frames[0].method->file, "/lib/some.py");
	assert_string_equal(stack->frames[1].method->name, "outer");
	assert_string_equal(stack->frames[1].method->file, "?");
	assert_true(language_stack_bytes(stack) >= 2 * sizeof(stack->frames[0]));
	language_stack_free(language, stack);
	assert_int_equal(nforgotten, 0);
}

/* Those of one runtime come behind those of the other; a frame without a place is none of its
 * callers'. */
static void frames_of_several_runtimes_are_woven(void **state)
{
	static const struct language_frame frames[] = {
		{.code = 8, .at = LANGUAGE_SAME},
		{.code = 16, .at = 2},
		{.code = 24, .at = LANGUAGE_NOWHERE},
		{.code = 32, .at = LANGUAGE_SAME},
		{.code = 40, .at = 1},
		{.code = 48, .at = 7},
	};
	static const char *const names[] = {"32", "40", "8", "16", "48", "24"};
	static const uint32_t at[] = {1, 1, 2, 2, 7, LANGUAGE_NOWHERE};
	struct language_stack *stack;
	char name[8];

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "%u", (unsigned int)frames[i].code);
		send_named(frames[i].code, name);
	}
	stack = stack_by(RUNTIME_NONE, frames, 6);
	assert_non_null(stack);
	for (unsigned int i = 0; i < 6; i++) {
		assert_string_equal(stack->frames[i].method->name, names[i]);
		assert_int_equal(stack->frames[i].at, at[i]);
	}
	language_stack_free(language, stack);
}

static void scopes_stand_before_names(void **state)
{
	static const struct language_frame frame = {.code = 8};
	struct language_stack *stack;
	struct sent *s = sent_new(8, "method");

	(void)state;
	put_text(s, METHOD_SCOPE, "Class");
	send(s);
	stack = stack_of(&frame, 1);
	assert_non_null(stack);
	assert_string_equal(stack->frames[0].method->name, "Class.method");
	language_stack_free(language, stack);
}

static void texts_as_long_as_a_record_allows_are_whole(void **state)
{
	static const struct language_frame frame = {.code = 8};
	struct language_stack *stack;
	char name[METHOD_TEXT];
	struct sent *s;

	(void)state;
	memset(name, 'x', sizeof(name));
	name[METHOD_TEXT - ASCII] = '\0';
	s = sent_new(8, name);
	put_text(s, METHOD_FILE, name);
	put_text(s, METHOD_SCOPE, name);
	s->method.table_size = s->method.table_all = METHOD_TABLE;
	send(s);
	stack = stack_of(&frame, 1);
	assert_non_null(stack);
	assert_int_equal(strlen(stack->frames[0].method->name), 2 * strlen(name) + 1);
	assert_string_equal(stack->frames[0].method->file, name);
	language_stack_free(language, stack);
}

/* Its function may be another one of the same process, exec or memory. */
static void stacks_with_unknown_functions_are_none(void **state)
{
	static const struct language_frame frames[] = {{.code = 8, .check = 1}, {.code = 16}};
	struct language_stack *stack;
	struct sent *s;

	(void)state;
	assert_null(stack_of(frames, 1));
	s = sent_new(8, "f");
	s->method.check = 1;
	send(s);
	assert_true(is_known(8, 1));
	assert_false(is_known(8, 2));
	assert_null(stack_of(frames, 2));
	s = sent_new(16, "other process");
	s->method.tgid = TGID + 1;
	send(s);
	s = sent_new(16, "other exec");
	s->method.exec_id = EXEC_ID + 1;
	send(s);
	assert_null(stack_of(frames, 2));
	send_named(16, "g");
	stack = stack_of(frames, 2);
	assert_non_null(stack);
	language_stack_free(language, stack);
	stack = stack_of(frames, 0);
	assert_non_null(stack);
	assert_int_equal(stack->nframes, 0);
	language_stack_free(language, stack);
}

/* The kernel forgets by itself. What stacks refer to stays. */
static void functions_that_are_sent_again_are_the_same(void **state)
{
	static const struct language_frame frame = {.code = 8};
	struct language_stack *first, *second;

	(void)state;
	send_named(8, "f");
	first = stack_of(&frame, 1);
	assert_non_null(first);
	send_named(8, "f");
	second = stack_of(&frame, 1);
	assert_non_null(second);
	assert_ptr_equal(first->frames[0].method, second->frames[0].method);
	language_stack_free(language, first);
	assert_string_equal(second->frames[0].method->name, "f");
	language_stack_free(language, second);
	assert_int_equal(nforgotten, 0);
}

static void records_with_impossible_sizes_are_ignored(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		struct sent *s = sent_new(8, "f");

		if (i == 0)
			s->method.runtime = RUNTIME_COUNT;
		if (i == 1)
			s->method.runtime = RUNTIME_NONE;
		if (i == 2)
			s->method.table_size = METHOD_TABLE + 1;
		if (i >= 3)
			s->method.text_size[i - 3] = METHOD_TEXT + 1;
		send(s);
		assert_false(is_known(8, 0));
	}
	assert_int_equal(nforgotten, 0);
}

/* --- places ---------------------------------------------------------------------------------- */

static void frames_without_a_place_have_that_of_their_caller(void **state)
{
	static const struct language_frame frames[] = {
		{.code = 8, .at = LANGUAGE_SAME},
		{.code = 8, .at = 2},
		{.code = 8, .at = LANGUAGE_SAME},
		{.code = 8, .at = LANGUAGE_SAME},
		{.code = 8, .at = LANGUAGE_NOWHERE},
		{.code = 8, .at = LANGUAGE_SAME},
		{.code = 8, .at = 9},
		{.code = 8, .at = LANGUAGE_SAME},
	};
	static const uint32_t expected[] = {
		2, 2, LANGUAGE_NOWHERE, LANGUAGE_NOWHERE, LANGUAGE_NOWHERE, 9, 9, LANGUAGE_NOWHERE,
	};
	struct language_stack *stack;

	(void)state;
	send_named(8, "f");
	stack = stack_of(frames, 8);
	assert_non_null(stack);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(stack->frames[i].at, expected[i]);
	language_stack_free(language, stack);
}

static uint32_t line_at(uint32_t version, const void *table, size_t size, uint32_t place)
{
	static uint64_t code = 8;
	const struct language_frame frame = {.code = code, .place = place};
	struct sent *s = sent_new(code, "f");
	struct language_stack *stack;
	uint32_t line;

	code += 8;
	s->method.version = version;
	put_table(s, table, size);
	send(s);
	stack = stack_of(&frame, 1);
	assert_non_null(stack);
	line = stack->frames[0].line;
	language_stack_free(language, stack);
	return line;
}

static void lines_are_those_of_the_version(void **state)
{
	/* (bytes of code, lines): up to 3.9 what follows is further, in 3.10 these are */
	static const int8_t table[] = {4, 1, 4, 5};
	/* 3.11: one entry without columns (code 13), 1 unit, 3 lines further */
	static const uint8_t locations[] = {0x80 | 13 << 3, 6};
	uint32_t max = INT32_MAX;

	(void)state;
	assert_int_equal(line_at(V3_9, table, sizeof(table), 2), 100);
	assert_int_equal(line_at(V3_9, table, sizeof(table), 4), 101);
	assert_int_equal(line_at(V3_9, table, sizeof(table), 8), 106);
	/* f_lasti of 3.10 counts instructions, of two bytes each */
	assert_int_equal(line_at(V3_10, table, sizeof(table), 0), 101);
	assert_int_equal(line_at(V3_10, table, sizeof(table), 1), 101);
	assert_int_equal(line_at(V3_10, table, sizeof(table), 2), 106);
	assert_int_equal(line_at(V3_10, table, sizeof(table), 3), 106);
	assert_int_equal(line_at(V3_10, table, sizeof(table), 4), 0);
	assert_int_equal(line_at(V3_10, table, sizeof(table), max), 0);
	assert_int_equal(line_at(V3_10, table, sizeof(table), max / 2 + 1), 0);
	assert_int_equal(line_at(V3_11, locations, sizeof(locations), 0), 103);
	assert_int_equal(line_at(V3_11, locations, sizeof(locations), 2), 0);
	/* not begun yet */
	assert_int_equal(line_at(V3_9, table, sizeof(table), UINT32_MAX), 100);
	assert_int_equal(line_at(V3_10, table, sizeof(table), UINT32_MAX), 100);
	assert_int_equal(line_at(V3_11, locations, sizeof(locations), UINT32_MAX), 100);
}

/* --- memory ---------------------------------------------------------------------------------- */

/* The oldest functions without a stack go, and the kernel is told; what has a stack stays. */
static void memory_is_bounded(void **state)
{
	static const struct language_frame frame = {.code = 1};
	struct language_stack *stack;
	const unsigned int n = 2000;

	(void)state;
	send_named(1, "kept");
	stack = stack_of(&frame, 1);
	assert_non_null(stack);
	for (uint64_t code = 2; code < n; code++) {
		struct sent *s = sent_new(code, "f");

		s->method.table_size = s->method.table_all = 4096;
		send(s);
	}
	/* half a MiB holds less than 128 of them */
	assert_in_range(nforgotten, n - 128, n - 100);
	for (uint64_t code = 1; code < n; code++)
		assert_int_equal(is_known(code, 0), !forgotten[code]);
	assert_int_equal(forgotten[1], 0);
	for (uint64_t code = 2; code < n; code++) /* in the order in which they came */
		assert_int_equal(forgotten[code], code < nforgotten + 2);
	assert_string_equal(stack->frames[0].method->name, "kept");
	language_stack_free(language, stack);
	/* now it is the oldest one, and the first that goes */
	send_named(n, "f");
	for (uint64_t code = n + 1; code < n + 4; code++) {
		struct sent *s = sent_new(code, "f");

		s->method.table_size = s->method.table_all = 4096;
		send(s);
	}
	assert_int_equal(forgotten[1], 1);
	assert_false(is_known(1, 0));
}

/* Stacks hold all that there is room for: others are not kept until some of them go. */
/* Beyond half of the memory functions are kept without their lines. */
static void functions_of_stacks_stay_at_the_bound(void **state)
{
	static struct language_stack *stacks[600];

	(void)state;
	for (unsigned int i = 0; i < 600; i++) {
		const struct language_frame frame = {.code = i + 1};
		struct sent *s = sent_new(i + 1, "f");

		s->method.table_size = s->method.table_all = 4096;
		send(s);
		stacks[i] = stack_of(&frame, 1);
		assert_non_null(stacks[i]);
		assert_int_equal(forgotten[i + 1], 0);
	}
	for (unsigned int i = 0; i < 600; i++) {
		assert_string_equal(stacks[i]->frames[0].method->name, "f");
		language_stack_free(language, stacks[i]);
	}
	send_named(1000, "f");
	assert_true(is_known(1000, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(functions_have_name_and_file, setup, teardown),
		cmocka_unit_test_setup_teardown(scopes_stand_before_names, setup, teardown),
		cmocka_unit_test_setup_teardown(frames_of_several_runtimes_are_woven, setup,
						teardown),
		cmocka_unit_test_setup_teardown(texts_as_long_as_a_record_allows_are_whole, setup,
						teardown),
		cmocka_unit_test_setup_teardown(stacks_with_unknown_functions_are_none, setup,
						teardown),
		cmocka_unit_test_setup_teardown(functions_that_are_sent_again_are_the_same, setup,
						teardown),
		cmocka_unit_test_setup_teardown(records_with_impossible_sizes_are_ignored, setup,
						teardown),
		cmocka_unit_test_setup_teardown(frames_without_a_place_have_that_of_their_caller,
						setup, teardown),
		cmocka_unit_test_setup_teardown(lines_are_those_of_the_version, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(functions_of_stacks_stay_at_the_bound, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
