// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which processes are chosen, by options and by commands, seen in the kernel's own map of targets
 * and not only in the tracker's word.
 * Covers: bpf/tracker/targets.c bpf/tracker/tracker_commands.c bpf/tracker/notices.c
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf/sampler/sampler.h"
#include "tests/support/orders.h"
#include "tests/support/rights.h"

#define NOBODY 65534
#define NO_PID 0x3fffffff

/* --- what there is to see -------------------------------------------------------------------- */

static size_t count_targets(void)
{
	__u32 key, next;
	size_t n = 0;
	int fd = fd_of_map("targets");

	for (void *at = NULL; !bpf_map_get_next_key(fd, at, &next);) {
		key = next;
		at = &key;
		n += has_target((pid_t)key);
	}
	return n;
}

static bool is_filtering(struct running *r)
{
	struct profiler_control control;
	struct tracker_state ts;
	__u32 zero = 0;

	assert_int_equal(bpf_map_lookup_elem(fd_of_map("control"), &zero, &control), 0);
	tracker_state(r->tracker, &ts);
	return control.filtering && ts.filtering;
}

/* Both say so. */
static bool is_chosen(struct running *r, pid_t pid)
{
	return is_attached(r, pid) && has_target(pid);
}

static bool is_left_out(struct running *r, pid_t pid)
{
	return is_known(r, pid) && !is_attached(r, pid) && !has_target(pid);
}

/* A name of this run only: another may go on at the same time. */
struct own {
	char text[64];
};

static struct own own(const char *before, const char *after)
{
	struct own o;

	snprintf(o.text, sizeof(o.text), "%s%d%s", before, getpid(), after);
	return o;
}

/* The pattern compiled, with this run's number between the two parts. */
static void compile(regex_t *regex, const char *before, const char *after)
{
	assert_int_equal(regcomp(regex, own(before, after).text, REG_EXTENDED | REG_NOSUB), 0);
}

/* --- options --------------------------------------------------------------------------------- */

static void test_pids(void **state)
{
	struct child c[3];
	static struct tracker_filter filter;
	static struct running r;
	static pid_t pids[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		c[i] = child_start(BY_FORK, "t-pids", 0);
	pids[0] = c[0].pid;
	pids[1] = NO_PID;
	pids[2] = c[1].pid;
	filter.pids = pids;
	filter.npids = 3;
	run(&r, &filter);
	assert_true(is_filtering(&r));
	assert_true(is_chosen(&r, c[0].pid));
	assert_true(is_chosen(&r, c[1].pid));
	assert_true(is_left_out(&r, c[2].pid));
	assert_int_equal(count_attached(&r), 2);
	assert_int_equal(count_targets(), 2);

	/* an exec changes nothing, an exit ends it */
	child_order(&c[0], ORDER_EXEC, NULL);
	WAIT(is_called(&r, c[0].pid, "sleep"));
	assert_true(is_chosen(&r, c[0].pid));
	child_end(&c[0]);
	WAIT(!is_known(&r, pids[0]));
	WAIT(!has_target(pids[0]));
	assert_int_equal(count_attached(&r), 1);
	/* the last is gone: still no other process is sampled */
	child_end(&c[1]);
	WAIT(count_attached(&r) == 0);
	assert_true(is_filtering(&r));
	assert_int_equal(count_targets(), 0);
	child_end(&c[2]);
	run_end(&r);
}

static void test_comm(void **state)
{
	static struct tracker_filter filter;
	struct child c[3];
	static struct running r;
	pid_t fork_;
	static regex_t regex;

	(void)state;
	compile(&regex, "^c", "-[ab]$");
	filter.comm = &regex;
	c[0] = child_start(BY_FORK, own("c", "-a").text, 0);
	c[1] = child_start(BY_FORK, own("c", "-c").text, 0);
	run(&r, &filter);
	assert_true(is_filtering(&r));
	assert_true(is_chosen(&r, c[0].pid));
	assert_true(is_left_out(&r, c[1].pid));
	/* one that comes later, a fork of one, and names that change */
	c[2] = child_start(BY_FORK, own("c", "-b").text, 0);
	WAIT(is_chosen(&r, c[2].pid));
	fork_ = (pid_t)child_ask(&c[0], ORDER_FORK, NULL);
	WAIT(is_chosen(&r, fork_));
	assert_int_equal(count_attached(&r), 3);
	assert_int_equal(child_ask(&c[1], ORDER_COMM, own("c", "-b").text), 0);
	WAIT(is_chosen(&r, c[1].pid));
	assert_int_equal(child_ask(&c[0], ORDER_COMM, own("c", "-ab").text), 0);
	WAIT(is_left_out(&r, c[0].pid));
	/* a thread's name does not count */
	assert_int_equal(child_ask(&c[0], ORDER_THREAD, own("c", "-a").text), 0);
	child_order(&c[2], ORDER_EXEC, NULL);
	WAIT(is_called(&r, c[2].pid, "sleep"));
	WAIT(is_left_out(&r, c[2].pid));
	assert_true(is_left_out(&r, c[0].pid));
	assert_int_equal(count_targets(), 2);
	for (int i = 0; i < 3; i++)
		child_end(&c[i]);
	run_end(&r);
	regfree(&regex);
}

static void test_user(void **state)
{
	static struct tracker_filter filter = {.user_given = true, .user = NOBODY};
	struct child c[2], later;
	static struct running r;
	static regex_t regex;

	(void)state;
	need_sampling();
	for (int i = 0; i < 2; i++)
		c[i] = child_start(BY_FORK, "t-user", i ? NOBODY : 0);
	run(&r, &filter);
	assert_true(is_left_out(&r, c[0].pid));
	assert_true(is_chosen(&r, c[1].pid));
	run_end(&r);

	/* both have to be true of a process */
	compile(&regex, "u", "-");
	filter.comm = &regex;
	run(&r, &filter);
	later = child_start(BY_FORK, own("u", "-").text, 0);
	WAIT(is_called(&r, later.pid, own("u", "-").text));
	assert_true(is_left_out(&r, later.pid));
	assert_true(is_left_out(&r, c[1].pid));
	assert_int_equal(child_ask(&c[1], ORDER_COMM, own("u", "-too").text), 0);
	WAIT(is_chosen(&r, c[1].pid));
	assert_int_equal(count_attached(&r), 1);
	child_end(&later);
	for (int i = 0; i < 2; i++)
		child_end(&c[i]);
	run_end(&r);
	regfree(&regex);
}

static void test_follow(void **state)
{
	struct child c, other;
	static struct running r;
	pid_t fork_;

	(void)state;
	run(&r, NULL);
	assert_false(is_filtering(&r));
	c = child_start(BY_FORK, "t-follow", 0);
	other = child_start(BY_FORK, "t-follow", 0);
	WAIT(is_known(&r, other.pid));
	assert_int_equal(tracker_follow(r.tracker, NO_PID), -ESRCH);
	assert_false(is_known(&r, NO_PID));
	assert_false(is_filtering(&r));
	assert_int_equal(tracker_follow(r.tracker, c.pid), 0);
	assert_true(is_filtering(&r));
	assert_true(is_chosen(&r, c.pid));
	fork_ = (pid_t)child_ask(&c, ORDER_FORK, NULL);
	WAIT(is_chosen(&r, fork_));
	child_order(&c, ORDER_EXEC, NULL);
	WAIT(is_called(&r, c.pid, "sleep"));
	assert_true(is_chosen(&r, c.pid));
	assert_true(is_left_out(&r, other.pid));
	assert_int_equal(count_targets(), 2);
	child_end(&c);
	child_end(&other);
	run_end(&r);
}

/* --- commands -------------------------------------------------------------------------------- */

static void test_attach(void **state)
{
	struct child c[3];
	char text[96];
	static struct running r;

	(void)state;
	for (int i = 0; i < 3; i++)
		c[i] = child_start(BY_FORK, own("a", i < 2 ? "-x" : "-y").text, 0);
	run(&r, NULL);
	snprintf(text, sizeof(text), "attached to %d (%s)", c[2].pid, own("a", "-y").text);
	post_pid(&r, TRACKER_ATTACH, c[2].pid, 0, text);
	assert_true(is_chosen(&r, c[2].pid));
	assert_true(is_left_out(&r, c[0].pid));
	assert_true(is_filtering(&r));
	assert_int_equal(count_targets(), 1);
	post(&r, TRACKER_ATTACH, own("^a", "-(x|z)").text, 0, "attached to 2 processes");
	assert_true(is_chosen(&r, c[0].pid) && is_chosen(&r, c[1].pid));
	assert_int_equal(count_attached(&r), 3);
	snprintf(text, sizeof(text), "detached from %d", c[0].pid);
	post_pid(&r, TRACKER_DETACH, c[0].pid, 0, text);
	assert_true(is_left_out(&r, c[0].pid));
	post(&r, TRACKER_DETACH, own("a", "-y").text, 0, "detached from 1 process");
	assert_true(is_left_out(&r, c[2].pid));
	assert_true(is_chosen(&r, c[1].pid));
	assert_true(is_filtering(&r));
	post(&r, TRACKER_DETACH_ALL, "", 0, "the whole machine");
	assert_false(is_filtering(&r));
	assert_int_equal(count_targets(), 0);
	assert_int_equal(count_attached(&r), 0);
	for (int i = 0; i < 3; i++)
		child_end(&c[i]);
	run_end(&r);
}

/* What was detached from by hand stays so, whatever the options say. */
static void test_detach_chosen(void **state)
{
	static struct tracker_filter filter;
	struct child c[2];
	static struct running r;
	static regex_t regex;

	(void)state;
	compile(&regex, "^d", "-");
	filter.comm = &regex;
	for (int i = 0; i < 2; i++)
		c[i] = child_start(BY_FORK, own("d", "-").text, 0);
	run(&r, &filter);
	assert_int_equal(count_attached(&r), 2);
	post_pid(&r, TRACKER_DETACH, c[0].pid, 0, "detached from");
	assert_true(is_left_out(&r, c[0].pid));
	assert_int_equal(child_ask(&c[0], ORDER_COMM, own("d", "-too").text), 0);
	WAIT(is_called(&r, c[0].pid, own("d", "-too").text));
	assert_true(is_left_out(&r, c[0].pid));
	assert_true(is_chosen(&r, c[1].pid));
	post_pid(&r, TRACKER_ATTACH, c[0].pid, 0, "attached to");
	assert_true(is_chosen(&r, c[0].pid));
	/* and then there are no options any more */
	post(&r, TRACKER_DETACH_ALL, NULL, 0, "the whole machine");
	assert_false(is_filtering(&r));
	assert_int_equal(count_attached(&r), 0);
	for (int i = 0; i < 2; i++)
		child_end(&c[i]);
	run_end(&r);
	regfree(&regex);
}

/* Words stay in force for who comes later, and the last one that fits a process decides. */
static void test_words(void **state)
{
	struct child c[3], later;
	static struct running r;

	(void)state;
	for (int i = 0; i < 3; i++)
		c[i] = child_start(BY_FORK, own("w", i < 2 ? "-x" : "-y").text, 0);
	run(&r, NULL);
	post(&r, TRACKER_ATTACH, own("^w", "-x").text, 0, "attached to 2 processes named");
	later = child_start(BY_FORK, own("w", "-x").text, 0);
	WAIT(is_chosen(&r, later.pid));
	assert_int_equal(count_attached(&r), 3);
	assert_int_equal(child_ask(&c[0], ORDER_COMM, own("w", "-z").text), 0);
	WAIT(is_left_out(&r, c[0].pid));
	/* again, and by another that fits all of them */
	post(&r, TRACKER_ATTACH, own("^w", "-x").text, 0, "attached to 2 processes named");
	post(&r, TRACKER_ATTACH, own("^w", "-").text, 0, "attached to 4 processes named");
	assert_int_equal(count_attached(&r), 4);
	post(&r, TRACKER_DETACH, own("^w", "-x").text, 0, "detached from 2 processes named");
	assert_true(is_left_out(&r, c[1].pid) && is_left_out(&r, later.pid));
	assert_int_equal(child_ask(&c[0], ORDER_COMM, own("w", "-x").text), 0);
	WAIT(is_left_out(&r, c[0].pid));
	assert_true(is_chosen(&r, c[2].pid));
	assert_int_equal(count_attached(&r), 1);
	/* one process goes before what is said of all */
	post_pid(&r, TRACKER_ATTACH, c[1].pid, 0, "attached to");
	assert_int_equal(count_attached(&r), 2);
	/* a new word that fits no process is dropped */
	post(&r, TRACKER_ATTACH, own("^w", "-nothing").text, 2, "attached to nothing");
	assert_int_equal(count_attached(&r), 2);
	assert_int_equal(child_ask(&c[2], ORDER_COMM, "t-else"), 0);
	WAIT(is_left_out(&r, c[2].pid));
	post_pid(&r, TRACKER_DETACH, c[1].pid, 0, "detached from");
	assert_true(is_filtering(&r));
	assert_int_equal(count_attached(&r), 0);
	/* the last that is taken back */
	post(&r, TRACKER_DETACH, own("^w", "-").text, 0, "detached from 3 processes");
	assert_false(is_filtering(&r));
	assert_int_equal(count_targets(), 0);
	for (int i = 0; i < 3; i++)
		child_end(&c[i]);
	child_end(&later);
	run_end(&r);
}

/* No more words than there is room for; what was said remains, and room comes back. */
static void test_many_words(void **state)
{
	static struct running r;
	struct child c;
	char text[96];

	(void)state;
	c = child_start(BY_FORK, own("m", "-").text, 0);
	run(&r, NULL);
	for (int i = 0; i < 24; i++) {
		snprintf(text, sizeof(text), "^m%d-(%d)?", getpid(), i);
		post(&r, TRACKER_ATTACH, text, 0, "attached to 1 process");
	}
	post(&r, TRACKER_ATTACH, own("m", "-").text, 2, "more than 24 selectors");
	assert_true(is_chosen(&r, c.pid));
	/* those that are there can be taken back, and said again */
	snprintf(text, sizeof(text), "^m%d-(%d)?", getpid(), 7);
	post(&r, TRACKER_DETACH, text, 0, "detached from 1 process");
	assert_true(is_left_out(&r, c.pid));
	post(&r, TRACKER_ATTACH, text, 0, "attached to 1 process");
	assert_true(is_chosen(&r, c.pid));
	post(&r, TRACKER_DETACH_ALL, "", 0, "the whole machine");
	/* cannot detach: no word is in force */
	post(&r, TRACKER_DETACH, text, 2, "the whole machine is sampled: attach");
	post_pid(&r, TRACKER_DETACH, c.pid, 2, "the whole machine is sampled: attach");
	assert_false(is_filtering(&r));
	post(&r, TRACKER_ATTACH, own("m", "-").text, 0, "attached to 1 process");
	child_end(&c);
	run_end(&r);
}

/* What changes without a record: the user by setuid. */
static void test_setuid(void **state)
{
	static struct tracker_filter filter = {.user_given = true, .user = NOBODY};
	static struct running r;
	struct child c[2];
	char word[32];

	(void)state;
	need_sampling();
	for (int i = 0; i < 2; i++)
		c[i] = child_start(BY_FORK, "t-setuid", 0);
	run(&r, &filter);
	assert_true(is_left_out(&r, c[0].pid));
	assert_int_equal(child_ask(&c[0], ORDER_USER, "65534"), 0);
	WAIT(is_chosen(&r, c[0].pid));
	assert_true(is_left_out(&r, c[1].pid));
	run_end(&r);

	run(&r, NULL);
	snprintf(word, sizeof(word), "user:%d nobody", NOBODY);
	post(&r, TRACKER_ATTACH, word, 0, "attached to ");
	assert_non_null(strstr(last_message(&r).text, " of the user nobody"));
	assert_true(is_chosen(&r, c[0].pid) && is_left_out(&r, c[1].pid));
	assert_int_equal(child_ask(&c[1], ORDER_USER, "65534"), 0);
	WAIT(is_chosen(&r, c[1].pid));
	/* the same user by another name */
	post(&r, TRACKER_DETACH, "user:65534", 0, "detached from ");
	assert_true(is_left_out(&r, c[0].pid) && is_left_out(&r, c[1].pid));
	assert_false(is_filtering(&r));
	for (int i = 0; i < 2; i++)
		child_end(&c[i]);
	run_end(&r);
}

/* How often it was told since the message of that number; others may have come between. */
static unsigned int told_full(struct running *r, unsigned int since)
{
	unsigned int n = 0;

	pthread_mutex_lock(&r->lock);
	for (unsigned int i = since + 1; i <= r->last.number; i++)
		n += !strncmp(r->kept[i % MESSAGES_KEPT].text, "more than 2 processes chosen:", 29);
	pthread_mutex_unlock(&r->lock);
	return n;
}

/*
 * More are chosen than there is room for: told once a command, not for each process that starts.
 * Those that are chosen by what they are need no room.
 */
static void test_full(void **state)
{
	static const struct tracker_filter all;
	static struct running r;
	struct child c[6];
	unsigned int before;
	char pid[16];

	(void)state;
	for (int i = 0; i < 4; i++)
		c[i] = child_start(BY_FORK, own("f", "-").text, 0);
	memset(&r, 0, sizeof(r));
	pthread_mutex_init(&r.lock, NULL);
	pthread_mutex_init(&r.gate, NULL);
	run_sampler_of(&r, 2);
	assert_int_equal(tracker_new(r.sampler, &all, SHARDS, on_say, &r, &r.tracker), 0);
	run_tracker(&r);
	for (int i = 0; i < 2; i++) {
		post_pid(&r, TRACKER_ATTACH, c[i].pid, 0, "attached to ");
		WAIT(count_attached(&r) == (unsigned int)i + 1);
	}
	for (int i = 0; i < 2; i++) {
		before = last_message(&r).number;
		snprintf(pid, sizeof(pid), "%d", (int)c[2 + i].pid);
		tracker_post(r.tracker, TRACKER_ATTACH, pid);
		WAIT(told_full(&r, before) == 1);
		assert_int_equal(count_targets(), 2);
		c[4 + i] = child_start(BY_FORK, own("f", "-").text, 0);
		WAIT(is_known(&r, c[4 + i].pid));
		WAIT(count_attached(&r) == 2);
		assert_int_equal(told_full(&r, before), 1);
	}
	before = last_message(&r).number;
	post(&r, TRACKER_ATTACH, own("^f", "-").text, 0, "attached to 6 processes");
	WAIT(count_attached(&r) == 6);
	assert_int_equal(told_full(&r, before), 0);
	for (int i = 0; i < 6; i++)
		child_end(&c[i]);
	run_end(&r);
}

static void test_bad_commands(void **state)
{
	static const struct {
		enum tracker_command command;
		const char *arg, *begin;
	} rows[] = {
		{TRACKER_ATTACH, "1073741823", "there is no process 1073741823"},
		{TRACKER_DETACH, "1073741823", "there is no process 1073741823"},
		{TRACKER_ATTACH, "0", "there is no process 0"},
		{TRACKER_ATTACH, "-1", "there is no process -1"},
		/* 1 and more than fits */
		{TRACKER_ATTACH, "4294967297", "there is no process 4294967297"},
		{TRACKER_ATTACH, "18446744073709551617", "there is no process"},
		{TRACKER_ATTACH, "t-bad(", "not a regular expression: t-bad("},
		{TRACKER_DETACH, "[", "not a regular expression: ["},
		{TRACKER_ATTACH, "\\", "not a regular expression: \\"},
		{TRACKER_ATTACH, "^t-no-such-name$", "attached to nothing"},
		{TRACKER_DETACH, "^t-no-such-name$", "detached from nothing"},
		{TRACKER_ATTACH, "123 x", "attached to nothing"},
		{TRACKER_ATTACH, "user:3999999999", "attached to nothing: no process of "},
		{TRACKER_DETACH, "user:3999999999", "detached from nothing: no process of "},
		{TRACKER_ATTACH, "user:t-no-such", "there is no user: user:t-no-such"},
		{TRACKER_ATTACH, "cgroup:/t-no/such/group", "attached to nothing"},
		{TRACKER_DETACH, "container:t-none", "detached from nothing"},
		{TRACKER_ATTACH, "cgroup:", "nothing to look for: cgroup:"},
		{TRACKER_ATTACH, "", "nothing to look for: "},
		{TRACKER_RESET_SHARD, "", "there is no shard"},
		{TRACKER_RESET_SHARD, "x", "there is no shard x"},
		{TRACKER_RESET_SHARD, "-1", "there is no shard -1"},
		{TRACKER_RESET_SHARD, "32", "there is no shard 32"},
		{TRACKER_RESET_SHARD, "1 ", "there is no shard 1"},
		{TRACKER_RESET_SHARD, "99999999999999999999", "there is no shard"},
	};
	char longest[1000];
	static struct running r;

	(void)state;
	run(&r, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		post(&r, rows[i].command, rows[i].arg, 2, rows[i].begin);
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	post(&r, TRACKER_ATTACH, longest, 2, "attached to nothing");
	memset(longest, '(', sizeof(longest) - 1);
	post(&r, TRACKER_ATTACH, longest, 2, "not a regular expression: (((");
	assert_false(is_filtering(&r));
	assert_int_equal(count_targets(), 0);
	assert_int_equal(count_attached(&r), 0);
	run_end(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pids),   cmocka_unit_test(test_comm),
		cmocka_unit_test(test_user),   cmocka_unit_test(test_follow),
		cmocka_unit_test(test_attach), cmocka_unit_test(test_detach_chosen),
		cmocka_unit_test(test_words),  cmocka_unit_test(test_many_words),
		cmocka_unit_test(test_setuid), cmocka_unit_test(test_bad_commands),
		cmocka_unit_test(test_full),
	};

	if (argc > 1 && !strcmp(argv[1], "--serve"))
		return serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
