// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which processes are chosen, by options and by commands, seen in the kernel's own map of targets
 * and not only in the tracker's word; tables that are thrown away and come again, seen in walks of
 * a child; and records that the kernel lost.
 */
#include "serve.h"

#include <bpf/bpf.h>

#define NOBODY 65534
#define NO_PID 0x3fffffff

/* --- what there is to see -------------------------------------------------------------------- */

/* The sampler's map of that name; of a test's before that failed there may be one, too. */
static int fd_of_map(const char *name)
{
	struct bpf_map_info info;
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;
	int found = -1;
	__u32 size;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		memset(&info, 0, sizeof(info));
		size = sizeof(info);
		if (!bpf_obj_get_info_by_fd(atoi(e->d_name), &info, &size) &&
		    !strcmp(info.name, name) && atoi(e->d_name) > found)
			found = atoi(e->d_name);
	}
	closedir(dir);
	assert_true(found >= 0);
	return found;
}

static bool has_target(pid_t pid)
{
	__u32 key = pid;
	__u8 value;

	return bpf_map_lookup_elem(fd_of_map("targets"), &key, &value) == 0;
}

static size_t count_targets(void)
{
	__u32 key, next;
	size_t n = 0;
	int fd = fd_of_map("targets");

	for (void *at = NULL; !bpf_map_get_next_key(fd, at, &next); n++) {
		key = next;
		at = &key;
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

static unsigned int count_attached(struct running *r)
{
	struct tracker_state ts;

	tracker_state(r->tracker, &ts);
	return ts.nattached;
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

/* Posts the command and waits for its answer, of that level, which begins so. */
static void post(struct running *r, enum tracker_command command, const char *arg, int level,
		 const char *begin)
{
	unsigned int before = last_message(r).number;
	struct message m;

	tracker_post(r->tracker, command, arg);
	WAIT((m = last_message(r)).number != before);
	if (m.level != level || strncmp(m.text, begin, strlen(begin)) || strstr(m.text, "(null)"))
		fail_msg("%d: %s", m.level, m.text);
}

static void post_pid(struct running *r, enum tracker_command command, pid_t pid, int level,
		     const char *begin)
{
	char arg[16];

	snprintf(arg, sizeof(arg), "%d", pid);
	post(r, command, arg, level, begin);
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
	/* the last is gone: still nobody else is sampled */
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
	if (geteuid() != 0)
		skip();
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
	post(&r, TRACKER_DETACH, own("a", "-y").text, 0, "detached from 1 processes");
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
		{TRACKER_ATTACH, "^t-nobody-is-called-so$", "attached to nothing"},
		{TRACKER_DETACH, "^t-nobody-is-called-so$", "detached from nothing"},
		{TRACKER_ATTACH, "123 x", "attached to nothing"},
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

/* --- tables ---------------------------------------------------------------------------------- */

struct walks {
	pid_t pid;
	uint64_t bottom[64]; /* hashes of the child's stacks that reached the bottom */
	size_t n;
};

static void on_stack(const struct stack_record *rec, void *arg)
{
	struct walks *w = arg;

	if (rec->tgid == (uint32_t)w->pid && !rec->kernel && rec->reason == WALK_BOTTOM &&
	    rec->nframes > 3)
		w->bottom[w->n++ % 64] = rec->hash;
}

static bool is_walked(struct running *r, struct walks *w)
{
	const struct sampler_count *counts;
	size_t n;

	assert_int_equal(sampler_drain(r->sampler, on_stack, w, &counts, &n), 0);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < w->n && j < 64; j++)
			if (counts[i].key.user == w->bottom[j])
				return true;
	return false;
}

/* Samples from now on, not those that were taken before. */
static void wait_for_walks(struct running *r, struct walks *w)
{
	is_walked(r, w);
	WAIT(is_walked(r, w));
}

static bool is_idle(struct running *r, struct tracker_state *ts)
{
	tracker_state(r->tracker, ts);
	return ts->idle;
}

static bool is_back(struct running *r, uint64_t words)
{
	struct tracker_state ts;

	return is_idle(r, &ts) && ts.words_used >= words - words / 50 &&
	       ts.words_used <= words + words / 50;
}

/*
 * Gives the orders and waits until as many words are in use as before. When others have mapped
 * something new meanwhile, that many is what the next time is measured by; a leak never ends.
 */
static void reset(struct running *r, enum tracker_command command, const char *arg, int times)
{
	struct tracker_state ts;
	uint64_t until;

	WAIT(is_idle(r, &ts));
	for (int i = 0; i < 8; i++) {
		assert_true(ts.words_used > 0);
		for (int j = 1; j < times; j++)
			tracker_post(r->tracker, command, arg);
		post(r, command, arg, 0, "reset: ");
		until = clock_now() + 5000000000ull;
		while (clock_now() < until) {
			if (is_back(r, ts.words_used))
				return;
			usleep(2000);
		}
		WAIT(is_idle(r, &ts));
	}
	fail_msg("%" PRIu64 " words are in use", ts.words_used);
}

static void test_reset(void **state)
{
	static struct running r;
	struct tracker_state ts;
	struct walks walks = {0};
	struct child c;
	char shard[16];

	(void)state;
	c = child_start(BY_EXEC, "t-reset", 0);
	walks.pid = c.pid;
	run(&r, NULL);
	child_order(&c, ORDER_SPIN, NULL);
	wait_for_walks(&r, &walks);
	for (int i = 0; i < 3; i++) {
		reset(&r, TRACKER_RESET_SHARDS, "", 1);
		assert_true(atoi(last_message(&r).text + 7) > 1);
		wait_for_walks(&r, &walks);
	}
	/* before the builder is done with the one before */
	reset(&r, TRACKER_RESET_SHARDS, "", 20);
	wait_for_walks(&r, &walks);
	tracker_state(r.tracker, &ts);
	for (unsigned int i = 0; i < ts.shards_created; i++) {
		snprintf(shard, sizeof(shard), "%u", i);
		reset(&r, TRACKER_RESET_SHARD, shard, 1);
	}
	wait_for_walks(&r, &walks);
	/* one that holds nothing */
	snprintf(shard, sizeof(shard), "%u", SHARDS - 1);
	post(&r, TRACKER_RESET_SHARD, shard, 0, "reset: 0 objects");
	child_end(&c);
	run_end(&r);
}

/* --- lost records ---------------------------------------------------------------------------- */

static void pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(pid, sizeof(set), &set), 0);
}

/*
 * The tracker is kept from reading while one CPU's ring overflows. Then a process ends there and
 * another begins, of which there are no records: both have to be found out otherwise.
 */
static void test_lost(void **state)
{
	struct child noisy, leaves, comes;
	int cpu = sched_getcpu();
	struct tracker_state ts;
	cpu_set_t before;
	static struct running r;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	noisy = child_start(BY_FORK, "t-noisy", 0);
	leaves = child_start(BY_FORK, "t-leaves", 0);
	run(&r, NULL);
	post_pid(&r, TRACKER_ATTACH, leaves.pid, 0, "attached to");
	pin(0, cpu);
	pin(noisy.pid, cpu);
	pin(leaves.pid, cpu);
	pthread_mutex_lock(&r.gate);
	tracker_post(r.tracker, TRACKER_ATTACH, "1073741823");
	child_ask(&noisy, ORDER_RENAMES, "t-loud");
	child_end(&leaves);
	comes = child_start(BY_EXEC, "t-comes", 0);
	pthread_mutex_unlock(&r.gate); /* the tracker has its lock until here: no post before */
	/* the kernel tells of it with the next record that finds room */
	WAIT((child_ask(&noisy, ORDER_COMM, "t-silent"), tracker_state(r.tracker, &ts),
	      ts.lost_records > 0));
	WAIT(is_called(&r, noisy.pid, "t-silent"));
	WAIT(is_known(&r, comes.pid));
	WAIT(!is_known(&r, leaves.pid));
	WAIT(!has_target(leaves.pid));
	assert_int_equal(count_attached(&r), 0);
	sched_setaffinity(0, sizeof(before), &before);
	child_end(&noisy);
	child_end(&comes);
	run_end(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pids),	     cmocka_unit_test(test_comm),
		cmocka_unit_test(test_user),	     cmocka_unit_test(test_follow),
		cmocka_unit_test(test_attach),	     cmocka_unit_test(test_detach_chosen),
		cmocka_unit_test(test_bad_commands), cmocka_unit_test(test_reset),
		cmocka_unit_test(test_lost),
	};

	if (argc > 1 && !strcmp(argv[1], "--serve"))
		return serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
