// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=publish_read_exec,--wrap=sampler_drop_process,--wrap=targets_apply */
/*
 * To which process a sample of a PID, a start_stack and an exec_id belongs, among processes that
 * had this PID one after the other. Some ended before the tracker read their start_stack, or before
 * a sample reported their exec_id.
 * Covers: bpf/tracker/process.c bpf/tracker/proctable.c bpf/tracker/mapping.c bpf/tracker/rescan.c
 * Covers: bpf/tracker/answers.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/tracker/bareset.h"
#include "bpf/tracker/sideband.h"
#include "bpf/tracker/tracker_priv.h"

#define PID   7
#define START 0x7ffc00001230u
#define EXEC  123456789012u

static struct tracker t;
static struct process now, before, unread;

static void live(struct process *p, uint64_t start_stack)
{
	*p = (struct process){.pid = PID, .start_stack = start_stack};
	HASH_ADD_INT(t.procs.live, pid, p);
}

static void dead(struct process *p, uint64_t start_stack, bool ambiguous)
{
	*p = (struct process){
		.pid = PID, .start_stack = start_stack, .exited = true, .ambiguous = ambiguous};
	p->dead_key = (struct dead_key){start_stack, PID};
	HASH_ADD(dead_hh, t.procs.dead_by_key, dead_key, sizeof(p->dead_key), p);
}

static struct process *find_exec(pid_t pid, uint64_t start_stack, uint64_t exec)
{
	return proctable_find(
		&t.procs,
		&(struct tracker_exec){.pid = pid, .start_stack = start_stack, .exec_id = exec});
}

static struct process *find(pid_t pid, uint64_t start_stack)
{
	return find_exec(pid, start_stack, 0);
}

static int forget_all(void **state)
{
	(void)state;
	HASH_CLEAR(hh, t.procs.live);
	HASH_CLEAR(dead_hh, t.procs.dead_by_key);
	HASH_CLEAR(exec_hh, t.procs.dead_by_exec);
	return 0;
}

static void test_known(void **state)
{
	(void)state;
	live(&now, START);
	dead(&before, START + 16, false);
	dead(&unread, 0, false);
	assert_ptr_equal(find(PID, START), &now);
	assert_ptr_equal(find(PID, START + 16), &before);
	assert_ptr_equal(find(PID, 0), &now);
	assert_null(find(PID + 1, START));
}

/* A start_stack that no process is known to have had is that of the one whose start_stack is
 * unknown. */
static void test_one_unread(void **state)
{
	(void)state;
	live(&now, 0);
	assert_ptr_equal(find(PID, START), &now);
	forget_all(NULL);
	dead(&unread, 0, false);
	assert_ptr_equal(find(PID, START), &unread);
	live(&now, START + 16);
	assert_ptr_equal(find(PID, START), &unread);
}

/* Of two with an unknown start_stack neither is chosen. */
static void test_two_unread(void **state)
{
	(void)state;
	dead(&unread, 0, true);
	assert_null(find(PID, START));
	forget_all(NULL);
	live(&now, 0);
	dead(&unread, 0, false);
	assert_null(find(PID, START));
}

static void of_exec(struct process *p, uint64_t exec)
{
	p->exec_id = exec;
	p->exec_key = (struct exec_key){exec, PID};
	if (p->exited)
		HASH_ADD(exec_hh, t.procs.dead_by_exec, exec_key, sizeof(p->exec_key), p);
}

/* Where addresses are not randomized an exec leaves the start_stack as it was. */
static void test_same_stack_start(void **state)
{
	(void)state;
	live(&now, START);
	of_exec(&now, EXEC + 1);
	dead(&before, START, false);
	of_exec(&before, EXEC);
	assert_ptr_equal(find_exec(PID, START, EXEC), &before);
	assert_ptr_equal(find_exec(PID, START, EXEC + 1), &now);
	/* a sample without an address space: it ends */
	assert_ptr_equal(find_exec(PID, 0, EXEC), &before);
	assert_ptr_equal(find_exec(PID, 0, EXEC + 1), &now);
	/* what it is since the last exec, of which no record has come yet, or was before all */
	assert_null(find_exec(PID, START, EXEC + 2));
	assert_null(find_exec(PID, 0, EXEC - 1));
	assert_null(find_exec(PID + 1, START, EXEC));
	assert_ptr_equal(find(PID, START), &now);
}

/* Of two of one start_stack of which no sample has told it may be either, but no third one. */
static void test_same_stack_start_untold(void **state)
{
	(void)state;
	live(&now, START);
	assert_ptr_equal(find_exec(PID, START, EXEC), &now);
	dead(&before, START, false);
	assert_null(find_exec(PID, START, EXEC));
	of_exec(&now, EXEC + 1);
	assert_ptr_equal(find_exec(PID, START, EXEC), &before);
	now.exec_id = 0;
	of_exec(&before, EXEC);
	assert_ptr_equal(find_exec(PID, START, EXEC + 1), &now);
	before.ambiguous = true;
	assert_ptr_equal(find_exec(PID, START, EXEC), &before);
}

static uint64_t told_exec, told_at; /* by the last sample, in the map */

void __wrap_publish_read_exec(const struct publisher *pub, struct process *p);
void __wrap_sampler_drop_process(struct sampler *s, pid_t pid);
void __wrap_targets_apply(struct targets *ts, struct process *p);

void __wrap_publish_read_exec(const struct publisher *pub, struct process *p)
{
	(void)pub;
	if (p->exec_id)
		return;
	p->exec_id = told_exec;
	p->exec_at = told_at;
}

void __wrap_sampler_drop_process(struct sampler *s, pid_t pid)
{
	(void)s;
	assert_int_equal(pid, PID);
	told_exec = told_at = 0;
}

void __wrap_targets_apply(struct targets *ts, struct process *p)
{
	(void)ts;
	(void)p;
}

static void exec_of(pid_t pid, uint64_t time, const char *comm)
{
	struct sideband_event e = {.kind = SIDEBAND_EXEC, .pid = pid, .tid = pid, .time = time};

	snprintf(e.comm, sizeof(e.comm), "%s", comm);

	process_on_event(&t, &e);
}

/*
 * The record of an exec is read after samples of the new start_stack have been taken: what these
 * say is of the new start_stack, which may be walked by the old one's entry.
 */
static void test_late_record(void **state)
{
	(void)state;
	tracker_connect(&t);
	for (int later = 0; later < 2; later++) {
		live(&now, START);
		now.mappings = calloc(1, sizeof(*now.mappings));
		assert_non_null(now.mappings);
		now.nmappings = 1;
		memcpy(now.comm, "first", sizeof("first"));
		told_exec = later ? EXEC + 1 : EXEC;
		told_at = later ? 1001 : 999;
		exec_of(PID, 1000, "next");
		now.start_stack = START;
		assert_int_equal(now.exec_id, later ? EXEC + 1 : 0);
		assert_string_equal(find_exec(PID, START, EXEC)->comm, "first");
		if (later)
			assert_ptr_equal(find_exec(PID, START, EXEC + 1), &now);
		process_bury(&t, UINT64_MAX);
		assert_null(t.procs.dead_by_exec);
		HASH_CLEAR(hh, t.procs.live);
		t.procs.dirty = NULL;
	}
}

/* The places of code are those of one image: there is room for those of so many processes. */
static void test_places(void **state)
{
	static const struct tracker_filter none;
	struct sideband_event end = {.kind = SIDEBAND_EXIT, .pid = PID, .tid = PID, .time = 2000};
	struct process *p;

	(void)state;
	t = (struct tracker){.targets.filter = &none};
	tracker_connect(&t);
	p = proctable_add(&t.procs, PID);
	assert_non_null(p);
	p->threads = THREADS_ONE;
	for (int exits = 0; exits < 2; exits++) {
		p->code.bare = calloc(1, sizeof(*p->code.bare));
		assert_non_null(p->code.bare);
		p->code.bare_is_new = true;
		t.runcode.nbare++;
		if (exits)
			process_on_event(&t, &end);
		else
			exec_of(PID, 1000, "next");
		assert_ptr_equal(proctable_live(&t.procs, PID), exits ? NULL : p);
		assert_null(p->code.bare);
		assert_false(p->code.bare_is_new);
		assert_int_equal(t.runcode.nbare, 0);
	}
	process_bury(&t, UINT64_MAX);
	t.procs.dirty = NULL;
}

/*
 * What a sample has told belongs to the name that the records have told, if they were read up to
 * the sample. Before that, and without a sample, it may be of another exec.
 */
static void test_name_of_exec(void **state)
{
	static const struct {
		uint64_t exec, at;
		const char *name;
	} told[] = {{EXEC, 999, "first"}, {EXEC, 1001, ""}, {EXEC + 1, 999, NULL}, {0, 0, ""}};
	const struct tracker_exec of = {.pid = PID, .start_stack = START, .exec_id = EXEC};
	struct tracker_proc proc;

	(void)state;
	turnlock_init(&t.lock);
	t.told_until = 1000;
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		live(&now, START);
		memcpy(now.comm, "first", sizeof("first"));
		told_exec = told[i].exec;
		told_at = told[i].at;
		assert_int_equal(tracker_proc(&t, &of, &proc), told[i].name != NULL);
		if (told[i].name)
			assert_string_equal(proc.comm, told[i].name);
		forget_all(NULL);
	}
	turnlock_destroy(&t.lock);
}

/* Field 28 of /proc/PID/stat (proc_pid_stat(5)). */
static uint64_t own_stack_start(void)
{
	FILE *file = fopen("/proc/self/stat", "r");
	char text[1024], *at;

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	at = strrchr(text, ')');
	for (int field = 2; at && field < 28; field++)
		at = strchr(at + 1, ' ');
	assert_non_null(at);
	return at ? strtoull(at, NULL, 10) : 0;
}

/* As if start_stack had been read before an exec, and the mappings after it. */
static void test_exec_between(void **state)
{
	struct process p = {.pid = getpid(), .start_stack = own_stack_start() ^ 16};

	(void)state;
	tracker_connect(&t);
	pthread_cond_init(&t.builders.wake, NULL);
	p.mappings = calloc(1, sizeof(*p.mappings));
	assert_non_null(p.mappings);
	p.mappings[0] = (struct mapping){.start = 0x1000, .end = 0x2000};
	p.nmappings = 1;
	assert_int_equal(mappings_read(&t.mappings, &p), -EAGAIN);
	assert_int_equal(p.nmappings, 1);
	assert_int_equal(p.mappings[0].start, 0x1000);
	p.start_stack ^= 16;
	assert_int_equal(mappings_read(&t.mappings, &p), 1);
	assert_true(p.nmappings > 1);
	assert_int_not_equal(p.mappings[0].start, 0x1000);
	mappings_clear(&t.mappings, &p);
	objects_free(&t.objects);
	quota_free(&t.objects.bytes);
	pthread_cond_destroy(&t.builders.wake);
}

/*
 * The process has called exec, and /proc shows the next program with the same start_stack; the
 * record of that comes a moment later, or is lost. This process takes the name of the next one.
 */
static void test_scan_before_record(void **state)
{
	static const struct tracker_filter none;
	struct process *p;
	char own[16];

	(void)state;
	t = (struct tracker){.targets.filter = &none};
	tracker_connect(&t);
	pthread_cond_init(&t.builders.wake, NULL);
	told_exec = EXEC;
	told_at = 999;
	prctl(PR_GET_NAME, own);
	for (int lost = 0; lost < 2; lost++) {
		uint64_t turn = clock_now();

		process_scan(&t, getpid());
		p = proctable_live(&t.procs, getpid());
		assert_non_null(p);
		assert_string_equal(p->comm, own);
		p->exec_id = EXEC;
		prctl(PR_SET_NAME, "next");
		p->exec_state = EXEC_UNREAD; /* its own exec is still to be read */
		process_scan(&t, getpid());
		assert_string_equal(p->comm, own);
		p->exec_state = EXEC_SETTLED;
		process_scan(&t, getpid());
		t.stale.checked = turn;
		stale_turn(&t, turn);
		assert_string_equal(p->comm, own);
		if (!lost)
			exec_of(getpid(), 1000, "next");
		stale_turn(&t, clock_now());
		assert_string_equal(p->comm, "next");
		if (!lost)
			assert_string_equal(find_exec(getpid(), p->start_stack, EXEC)->comm, own);
		/* the same name again: it belongs to this exec, not to an earlier one */
		exec_of(getpid(), 1001, own);
		p->exec_state = EXEC_SETTLED;
		process_scan(&t, getpid());
		assert_string_equal(p->comm, own);
		prctl(PR_SET_NAME, own);
		processes_free(&t);
		t.procs.ndoubts = 0;
	}
	objects_free(&t.objects);
	quota_free(&t.objects.bytes);
	pthread_cond_destroy(&t.builders.wake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_known, forget_all),
		cmocka_unit_test_teardown(test_one_unread, forget_all),
		cmocka_unit_test_teardown(test_two_unread, forget_all),
		cmocka_unit_test_teardown(test_same_stack_start, forget_all),
		cmocka_unit_test_teardown(test_same_stack_start_untold, forget_all),
		cmocka_unit_test_teardown(test_late_record, forget_all),
		cmocka_unit_test_teardown(test_places, forget_all),
		cmocka_unit_test_teardown(test_name_of_exec, forget_all),
		cmocka_unit_test(test_exec_between),
		cmocka_unit_test(test_scan_before_record),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
