// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which process a sample of a PID and an image belongs to, among processes that had this PID one
 * after the other, some of which ended before the tracker read their image.
 * Covers: bpf/process.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/tracker_priv.h"

#define PID   7
#define IMAGE 0x7ffc00001230u

static struct tracker t;
static struct process now, before, unread;

static void live(struct process *p, uint64_t image)
{
	*p = (struct process){.pid = PID, .image = image};
	HASH_ADD_INT(t.processes, pid, p);
}

static void dead(struct process *p, uint64_t image, bool ambiguous)
{
	*p = (struct process){.pid = PID, .image = image, .exited = true, .ambiguous = ambiguous};
	p->dead_key = (struct dead_key){image, PID};
	HASH_ADD(dead_hh, t.dead_by_key, dead_key, sizeof(p->dead_key), p);
}

static int forget_all(void **state)
{
	(void)state;
	HASH_CLEAR(hh, t.processes);
	HASH_CLEAR(dead_hh, t.dead_by_key);
	return 0;
}

static void test_known(void **state)
{
	(void)state;
	live(&now, IMAGE);
	dead(&before, IMAGE + 16, false);
	dead(&unread, 0, false);
	assert_ptr_equal(process_find(&t, PID, IMAGE), &now);
	assert_ptr_equal(process_find(&t, PID, IMAGE + 16), &before);
	assert_ptr_equal(process_find(&t, PID, 0), &now);
	assert_null(process_find(&t, PID + 1, IMAGE));
}

/* An image that no process is known to have had is that of the one whose image is unknown. */
static void test_one_unread(void **state)
{
	(void)state;
	live(&now, 0);
	assert_ptr_equal(process_find(&t, PID, IMAGE), &now);
	forget_all(NULL);
	dead(&unread, 0, false);
	assert_ptr_equal(process_find(&t, PID, IMAGE), &unread);
	live(&now, IMAGE + 16);
	assert_ptr_equal(process_find(&t, PID, IMAGE), &unread);
}

/* Of two with an unknown image neither is chosen. */
static void test_two_unread(void **state)
{
	(void)state;
	dead(&unread, 0, true);
	assert_null(process_find(&t, PID, IMAGE));
	forget_all(NULL);
	live(&now, 0);
	dead(&unread, 0, false);
	assert_null(process_find(&t, PID, IMAGE));
}

/* Field 28 of /proc/PID/stat (proc_pid_stat(5)). */
static uint64_t own_image(void)
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
	return strtoull(at, NULL, 10);
}

/* As if the image had been read before an exec, and the mappings after it. */
static void test_exec_between(void **state)
{
	struct process p = {.pid = getpid(), .image = own_image() ^ 16};

	(void)state;
	t.queue_end = &t.queue;
	pthread_cond_init(&t.builder_wake, NULL);
	p.mappings = calloc(1, sizeof(*p.mappings));
	assert_non_null(p.mappings);
	p.mappings[0] = (struct mapping){.start = 0x1000, .end = 0x2000};
	p.nmappings = 1;
	assert_int_equal(mappings_read(&t, &p), -EAGAIN);
	assert_int_equal(p.nmappings, 1);
	assert_int_equal(p.mappings[0].start, 0x1000);
	p.image ^= 16;
	assert_int_equal(mappings_read(&t, &p), 1);
	assert_true(p.nmappings > 1);
	assert_int_not_equal(p.mappings[0].start, 0x1000);
	mappings_clear(&t, &p);
	objects_free(&t);
	pthread_cond_destroy(&t.builder_wake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_known, forget_all),
		cmocka_unit_test_teardown(test_one_unread, forget_all),
		cmocka_unit_test_teardown(test_two_unread, forget_all),
		cmocka_unit_test(test_exec_between),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
