/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slices of a profile on their way to a server: all parts together. What arrives, what is told at
 * the end, and what a next run finds.
 * Covers: tui/push/push.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "tests/support/feed.h"
#include "tests/support/httpserver.h"
#include "tests/support/rights.h"
#include "tests/support/scratch.h"
#include "tests/support/shell.h"
#include "tui/net/http.h"
#include "tui/profile/board.h"
#include "tui/push/push.h"

/* Nothing here says how fast, only that it comes. */
#define WAIT(condition)                                                                            \
	do {                                                                                       \
		uint64_t until_ = clock_ns(CLOCK_MONOTONIC) + 60 * CLOCK_NS_PER_SEC;               \
		while (!(condition)) {                                                             \
			if (clock_ns(CLOCK_MONOTONIC) > until_)                                    \
				fail_msg("never: %s", #condition);                                 \
			usleep(2000);                                                              \
		}                                                                                  \
	} while (0)

#define NOWHERE "pyroscope+http://127.0.0.1:1"

static char top[SCRATCH], spool[2 * SCRATCH], url[128], error[320];
static struct httpserver *server;
static struct profile *p;
static struct push *push;
static struct push_options options;
static uint64_t now;

static enum http_then serve(void *arg, const struct http_got *got, FILE *answer)
{
	(void)arg;
	if (got->body)
		http_answer(answer, "200 OK", "Content-Type: application/proto\r\n", "", 0);
	return HTTP_GO_ON;
}

static struct push_options sensible(void)
{
	return (struct push_options){
		.url = url, .every = 2, .service = "{comm}", .cpu = true, .threads = true};
}

static int begin(void **state)
{
	(void)state;
	if (http_missing()) {
		skip_since(http_missing());
	}
	server = httpserver_new(serve, NULL);
	snprintf(url, sizeof(url), "pyroscope+http://127.0.0.1:%u", httpserver_port(server));
	options = sensible();
	p = profile_new(600, 100000);
	assert_non_null(p);
	push_keep(p, &options);
	now = 1000 * NS;
	return 0;
}

static int end(void **state)
{
	(void)state;
	profile_free(p);
	httpserver_free(server);
	must("rm -rf %s", spool);
	return 0;
}

static void start(enum push_reader reader)
{
	if (push_start(&push, p, &options, reader, error, sizeof(error)))
		fail_msg("%s", error);
}

static void slices(int n, uint32_t samples)
{
	while (n--) {
		struct profile_health health = {.time = now += NS,
						.clock = 1700000000 * NS + now,
						.elapsed = NS,
						.ncpus = 2,
						.frequency = 99,
						.event = "cpu-clock"};
		struct profile_cell cell = {.kstack = PROFILE_NO_STACK, .count = samples};

		profile_lock(p);
		cell.proc = feed_proc(p, 7, 1, "work", false);
		cell.ustack = feed_names(p, false, "main;work");
		assert_int_equal(profile_commit(p, &cell, 1, &health), 0);
		profile_unlock(p);
	}
}

static struct push_state state_of(void)
{
	struct push_state s;

	push_state(push, &s);
	return s;
}

static bool was_said(const char *part)
{
	struct board_message message;
	uint64_t serial = 0;

	while (board_next(profile_board(p), &serial, &message))
		if (strstr(message.text, part))
			return true;
	return false;
}

static void use_spool(void)
{
	options.spool = spool;
	options.spool_length = strlen(spool);
	options.spool_bytes = 1 << 20;
}

/* --- all is well -------------------------------------------------------------------------------
 */

static void test_by_caller(void **state)
{
	(void)state;
	start(PUSH_BY_CALLER);
	assert_string_equal(push_url(push), url);
	for (int i = 0; i < 11; i++) {
		slices(1, 10);
		push_take(push);
	}
	WAIT(state_of().sent.samples == 100);
	assert_int_equal(state_of().gathered.samples, 100);
	assert_int_equal(state_of().gathered.intervals, 5);
	/* And the rest. */
	assert_true(push_end(push, 60000));
	assert_int_equal(httpserver_requests(server), 6);
	assert_true(push_end(NULL, 0));
}

static void test_by_thread(void **state)
{
	(void)state;
	start(PUSH_BY_THREAD);
	slices(6, 10);
	/* The last ones are too young until the end. */
	WAIT(state_of().sent.samples == 20);
	assert_true(push_end(push, 60000));
	assert_int_equal(httpserver_requests(server), 3);
	assert_false(was_said("lost"));
}

static void test_change(void **state)
{
	static struct push_options right;

	(void)state;
	right = options;
	options.url = NOWHERE;
	start(PUSH_BY_CALLER);
	slices(2, 10);
	push_take(push);
	WAIT(state_of().sent.failed > 0);
	assert_true(was_said("Connection refused"));
	push_change(push, &right);
	WAIT(state_of().sent.samples == 10 + 10);
	assert_string_equal(push_url(push), url);
	assert_true(push_end(push, 60000));
}

/* --- the server is down ------------------------------------------------------------------------
 */

static void test_down(void **state)
{
	(void)state;
	options.url = NOWHERE;
	start(PUSH_BY_CALLER);
	slices(5, 10);
	push_take(push);
	WAIT(state_of().sent.failed > 0);
	assert_false(push_end(push, 10));
	assert_true(was_said("3 intervals were not sent"));
}

static void test_spool(void **state)
{
	struct stat st;

	(void)state;
	options.url = NOWHERE;
	use_spool();
	start(PUSH_BY_CALLER);
	slices(5, 10);
	push_take(push);
	WAIT(state_of().sent.failed > 0);
	/* Nothing is lost. */
	assert_true(push_end(push, 3600000));
	assert_true(was_said("3 intervals wait in the spool"));
	assert_false(was_said("not sent"));
	profile_free(p);

	p = profile_new(600, 100000);
	options.url = url;
	start(PUSH_BY_CALLER);
	assert_true(was_said("3 intervals of the run before"));
	assert_false(was_said("cut off"));
	WAIT(state_of().sent.samples == 50);
	slices(1, 7);
	assert_true(push_end(push, 60000));
	assert_int_equal(httpserver_requests(server), 4);
	assert_false(was_said("wait in the spool"));
	assert_int_equal(stat(spool, &st), 0);
}

/* A run that is killed says nothing, but the next one knows. */
static void test_cut_off(void **state)
{
	struct push_queue *q;

	(void)state;
	use_spool();
	assert_int_equal(push_queue_open(spool, 1 << 20, &q, error, sizeof(error)), 0);
	push_queue_mark_open(q, 1700000000 * NS);
	push_queue_free(q);
	must("echo text >%s/0000000000000005.push", spool);
	start(PUSH_BY_CALLER);
	assert_true(was_said("cut off"));
	assert_true(was_said("2023-11-14"));
	assert_true(was_said("1 damaged files"));
	assert_true(push_end(push, 60000));
	assert_int_equal(push_queue_open(spool, 1 << 20, &q, error, sizeof(error)), 0);
	assert_int_equal(push_queue_left_open(q), 0);
	push_queue_free(q);
}

/* What was not sent and stands in no file is lost. */
static void test_spool_gone(void **state)
{
	(void)state;
	use_spool();
	options.url = NOWHERE;
	start(PUSH_BY_CALLER);
	must("rm -rf %s", spool);
	slices(2, 10);
	push_take(push);
	WAIT(state_of().sent.failed > 0);
	assert_int_equal(state_of().queue.unwritten, 1);
	assert_true(was_said("kept in memory"));
	assert_false(push_end(push, 10));
	assert_true(was_said("1 intervals were not sent"));
}

static void test_full(void **state)
{
	(void)state;
	options.url = NOWHERE;
	use_spool();
	options.spool_bytes = 300;
	start(PUSH_BY_CALLER);
	slices(40, 10);
	push_take(push);
	assert_true(state_of().queue.dropped > 0);
	assert_true(was_said("samples lost: the oldest went, since the spool is full"));
	assert_false(push_end(push, 10));
}

/* --- it does not start ---------------------------------------------------------------------------
 */

static void assert_refused(int err, const char *why)
{
	push = (struct push *)&err;
	assert_int_equal(push_start(&push, p, &options, PUSH_BY_THREAD, error, sizeof(error)), err);
	assert_null(push);
	if (!strstr(error, why))
		fail_msg("\"%s\" does not say \"%s\"", error, why);
	options = sensible();
}

static void test_refused(void **state)
{
	static char folder[PUSH_URL_MAX + 2];

	(void)state;
	options.url = "nowhere";
	assert_refused(-EINVAL, "is not a URL");
	options.secrets = "/nonexistent";
	assert_refused(-ENOENT, "/nonexistent");
	use_spool();
	must("mkdir %s && chmod 777 %s", spool, spool);
	assert_refused(-EPERM, "others may write");
	memset(folder, 'x', sizeof(folder) - 1);
	use_spool();
	options.spool = folder;
	options.spool_length = sizeof(folder) - 1;
	assert_refused(-ENAMETOOLONG, "too long");
	/* Nothing of it is left. */
	slices(3, 10);
	profile_lock(p);
	profile_zero(p);
	profile_unlock(p);
}

static int make_top(void **state)
{
	(void)state;
	scratch_folder(top, "push");
	snprintf(spool, sizeof(spool), "%s/spool", top);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_by_caller),  TEST(test_by_thread), TEST(test_change),
		TEST(test_down),       TEST(test_spool),     TEST(test_cut_off),
		TEST(test_spool_gone), TEST(test_full),	     TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, make_top, scratch_remove);
}
