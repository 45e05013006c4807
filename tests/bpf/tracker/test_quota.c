// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the processes of one user, or of many, can make the tracker keep: mappings, open files and
 * the memory of mapped files. Nothing of it runs in the kernel.
 * Covers: symbols/base/quota.c bpf/tracker/mapping.c bpf/tracker/idlefile.c bpf/tracker/object.c
 * Covers: bpf/tracker/mapsreader.c bpf/tracker/objectfile.c bpf/tracker/notices.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/tracker/tracker_priv.h"
#include "symbols/files/procmaps.h"
#include "tests/support/fds.h"
#include "tests/support/mapfile.h"
#include "tests/support/scratch.h"
#include "tests/support/shell.h"

#define USER  1000u
#define OTHER 1001u
#define PAGE  4096ull

static char folder[SCRATCH];
static char said[4096];

static void say(void *arg, int level, const char *text)
{
	(void)arg;
	(void)level;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", text);
}

static struct tracker *tracker(void)
{
	struct tracker *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->wake_fd = -1;
	t->notices.say = say;
	said[0] = '\0';
	turnlock_init(&t->lock);
	tracker_connect(t);
	pthread_cond_init(&t->builders.wake, NULL);
	return t;
}

static void done(struct tracker *t)
{
	objects_free(&t->objects);
	quota_free(&t->mappings.quota);
	quota_free(&t->objects.bytes);
	pthread_cond_destroy(&t->builders.wake);
	turnlock_destroy(&t->lock);
	free(t);
}

static void test_shares(void **state)
{
	struct quota q = {.max = 100};
	uid_t uid;

	(void)state;
	assert_int_equal(quota_room(&q, USER), 50);
	assert_true(quota_take(&q, USER, 50));
	assert_false(quota_take(&q, USER, 1));
	assert_int_equal(quota_room(&q, OTHER), 25); /* of three quarters */
	assert_false(quota_take(&q, OTHER, 26));
	assert_true(quota_take(&q, OTHER, 25));
	for (uid = 2000; uid < 2100; uid++)
		assert_false(quota_take(&q, uid, 1));
	assert_true(quota_take(&q, 0, 25)); /* which is root's whatever they do */
	assert_false(quota_take(&q, 0, 1));
	quota_give(&q, USER, 20);
	assert_int_equal(quota_used(&q, USER), 30);
	assert_int_equal(quota_room(&q, 0), 20);
	assert_int_equal(quota_room(&q, USER), 20);
	quota_give(&q, USER, 1000); /* no more than was taken */
	assert_int_equal(q.used, 50);
	assert_int_equal(q.others, 25);
	quota_give(&q, OTHER, 25);
	quota_give(&q, 0, 25);
	assert_int_equal(q.used, 0);
	assert_null(q.users);
	q.max = 0;
	assert_true(quota_take(&q, USER, UINT32_MAX));
	quota_free(&q);
}

/* --- mappings -------------------------------------------------------------------------------- */

static bool record(struct tracker *t, struct process *p, uint64_t page, uint64_t pages)
{
	const struct procmap map = {.start = page * PAGE, .end = (page + pages) * PAGE, .name = ""};

	return mapping_record(&t->mappings, p, &map);
}

static void test_mappings_of_users(void **state)
{
	struct tracker *t = tracker();
	struct process of[4] = {{.pid = 1, .uid = USER, .comm = "one"},
				{.pid = 2, .uid = USER, .comm = "two"},
				{.pid = 3, .uid = OTHER, .comm = "three"},
				{.pid = 4, .uid = 0, .comm = "four"}};
	static const size_t want[4] = {300, 200, 250, 250};

	(void)state;
	t->mappings.quota.max = 1000;
	for (uint64_t i = 0; i < 300; i++)
		assert_true(record(t, &of[0], 2 * i + 1, 1));
	assert_string_equal(said, "");
	for (size_t p = 1; p < 4; p++)
		for (uint64_t i = 0; i < 300; i++)
			assert_int_equal(record(t, &of[p], 2 * i + 1, 1), i < want[p]);
	for (size_t p = 0; p < 4; p++) {
		assert_int_equal(of[p].nmappings, want[p]);
		assert_int_equal(of[p].mappings[0].start, PAGE);
	}
	assert_int_equal(t->mappings.quota.used, 1000);
	assert_ptr_equal(strstr(said, "two (2)"), said); /* once, and with who was the first */
	assert_null(strstr(said, "three"));
	/* Who has gone makes room, also with another user by now. */
	of[0].uid = 0;
	mappings_clear(&t->mappings, &of[0]);
	assert_int_equal(t->mappings.quota.used, 700);
	assert_int_equal(quota_used(&t->mappings.quota, USER), 200);
	assert_true(record(t, &of[1], 900, 1));
	for (size_t p = 1; p < 4; p++)
		mappings_clear(&t->mappings, &of[p]);
	assert_int_equal(t->mappings.quota.used, 0);
	done(t);
}

/* The lower ones are what a process keeps. */
static void test_lowest(void **state)
{
	struct tracker *t = tracker();
	struct process p = {.pid = 1, .uid = USER, .comm = "one"};

	(void)state;
	t->mappings.quota.max = 20;
	for (uint64_t i = 0; i < 10; i++)
		assert_true(record(t, &p, 100 + 2 * i, 1));
	assert_false(record(t, &p, 200, 1));
	assert_true(record(t, &p, 50, 1)); /* in the place of the highest */
	assert_int_equal(p.nmappings, 10);
	assert_int_equal(p.mappings[0].start, 50 * PAGE);
	assert_int_equal(p.mappings[9].start, 116 * PAGE);
	assert_true(record(t, &p, 101, 14)); /* replaces seven, 102 to 114 */
	assert_int_equal(p.nmappings, 10 - 7 + 1);
	assert_int_equal(t->mappings.quota.used, p.nmappings);
	mappings_clear(&t->mappings, &p);
	assert_int_equal(t->mappings.quota.used, 0);
	done(t);
}

static void test_forks(void **state)
{
	struct tracker *t = tracker();
	struct process parent = {.pid = 1, .uid = USER, .comm = "one"};
	struct process child[8];

	(void)state;
	t->mappings.quota.max = 1000;
	for (uint64_t i = 0; i < 120; i++)
		assert_true(record(t, &parent, 2 * i + 1, 1));
	for (size_t i = 0; i < 8; i++) {
		child[i] = (struct process){.pid = 10 + (pid_t)i, .uid = USER};
		assert_int_equal(mappings_copy(&t->mappings, &child[i], &parent), 0);
	}
	/* 500 in all: the parent, three whole ones, one of 20, and none for the others */
	assert_int_equal(child[2].nmappings, 120);
	assert_int_equal(child[3].nmappings, 20);
	assert_int_equal(child[3].mappings[19].start, 39 * PAGE);
	assert_int_equal(child[4].nmappings, 0);
	assert_ptr_equal(strstr(said, "one (1)"), said);
	for (size_t i = 0; i < 8; i++)
		mappings_clear(&t->mappings, &child[i]);
	mappings_clear(&t->mappings, &parent);
	assert_int_equal(t->mappings.quota.used, 0);
	done(t);
}

/* A process that is read anew has what it had, although no more is allowed. */
static void test_read_anew(void **state)
{
	struct tracker *t = tracker();
	struct process p = {.pid = getpid(), .uid = USER, .comm = "self"};
	size_t n;

	(void)state;
	assert_int_equal(mappings_read(&t->mappings, &p), 1);
	n = p.nmappings;
	assert_true(n > 2);
	assert_int_equal(t->mappings.quota.used, n);
	t->mappings.quota.max = 2 * n;
	assert_int_equal(mappings_read(&t->mappings, &p), 0);
	assert_int_equal(p.nmappings, n);
	assert_int_equal(t->mappings.quota.used, n);
	t->mappings.quota.max = 4; /* of which the user has half */
	mappings_clear(&t->mappings, &p);
	assert_int_equal(mappings_read(&t->mappings, &p), 1);
	assert_int_equal(p.nmappings, 2);
	assert_ptr_equal(strstr(said, "self"), said);
	mappings_clear(&t->mappings, &p);
	done(t);
}

/* --- files ----------------------------------------------------------------------------------- */

/* File i, as if a process of the user had mapped it; NULL: there is no room for it. */
static struct object *map(struct tracker *t, unsigned int i, uid_t uid)
{
	char path[96];
	struct object *o;

	snprintf(path, sizeof(path), "%s/%u", folder, i);
	o = mapfile(t, path, uid);
	idlefile_limit(&t->idlefiles);
	return o;
}

static size_t count_open(struct object *const *list, size_t n)
{
	size_t open = 0;

	for (size_t i = 0; i < n; i++)
		open += !object_is_closed(list[i]);
	return open;
}

/* 64 may be open: who has most loses, the others nothing. */
static void test_descriptors(void **state)
{
	struct tracker *t = tracker();
	struct object *mine[20], *theirs[150];
	const size_t before = count_fds();

	(void)state;
	t->idlefiles.open_max = 64;
	for (unsigned int i = 0; i < 20; i++)
		mine[i] = map(t, i, OTHER);
	for (unsigned int i = 0; i < 150; i++) {
		theirs[i] = map(t, 20 + i, USER);
		object_enqueue(&t->objects, theirs[i]); /* as if it were an ELF file */
		theirs[i]->sampled = i == 5 ? 7 : 0;
		assert_in_range(count_fds(), before, before + 64);
	}
	assert_int_equal(count_open(mine, 20), 20);
	assert_in_range(count_open(theirs, 150), 64 - 20 - 64 / 16 - 1, 64 - 20);
	assert_false(object_is_closed(theirs[5])); /* which was sampled */
	assert_true(object_is_closed(theirs[6]));
	assert_false(object_is_closed(theirs[149]));
	assert_int_equal(t->objects.nopen, count_open(mine, 20) + count_open(theirs, 150));
	assert_non_null(strstr(said, "user 1000"));
	/* What is closed is not built, but when a sample asks for it. */
	for (struct object *o = t->objects.queue; o; o = o->next_queued)
		assert_false(object_is_closed(o));
	assert_int_equal(theirs[6]->state, OBJECT_EVICTED);
	done(t);
	assert_int_equal(count_fds(), before);
}

/* A file that is wanted comes back as the same object, and what is held or built stays open. */
static void test_wanted(void **state)
{
	struct tracker *t = tracker();
	struct object *o, *again, *list[100];

	(void)state;
	t->idlefiles.open_max = 32;
	o = map(t, 0, USER);
	o->held++;
	list[0] = map(t, 1, USER);
	list[0]->building = true;
	for (unsigned int i = 2; i < 100; i++)
		list[i] = map(t, i, USER);
	assert_false(object_is_closed(o));
	assert_false(object_is_closed(list[0]));
	assert_true(object_is_closed(list[2]));
	assert_true(object_is_open(t, o));
	assert_false(object_is_open(t, list[2]));
	assert_true(list[2]->wanted);
	assert_int_equal(t->objects.nwanted, 1);
	again = map(t, 2, USER);
	assert_ptr_equal(again, list[2]);
	assert_false(object_is_closed(list[2]));
	assert_true(object_is_open(t, list[2]));
	done(t);
}

/* Another file in its place, while it is mapped and closed, is another object. */
static void test_other_file(void **state)
{
	struct tracker *t = tracker();
	struct object *o, *other;
	uint64_t id;

	(void)state;
	t->idlefiles.open_max = 16;
	o = map(t, 100, USER);
	id = o->id;
	for (unsigned int i = 0; i < 32; i++)
		map(t, i, USER);
	assert_true(object_is_closed(o));
	must("cd %s && cp -p 100 time && cat two >100 && touch -r time 100", folder);
	other = map(t, 100, USER);
	assert_non_null(other);
	assert_ptr_not_equal(other, o);
	assert_int_equal(o->id, id);
	assert_ptr_equal(object_by_id(&t->objects, id), o);
	object_unref(&t->objects, o);
	done(t);
}

/* Memory of objects: a user has half of it, and what no process maps gives way. */
static void test_bytes(void **state)
{
	const size_t one = sizeof(struct object) + sizeof(struct elf_load); /* no ELF file */
	struct tracker *t = tracker();
	struct object *list[10];

	(void)state;
	t->objects.bytes.max = 20 * one;
	for (unsigned int i = 0; i < 10; i++) {
		list[i] = map(t, i, USER);
		assert_non_null(list[i]);
	}
	assert_int_equal(t->objects.bytes.used, 10 * one);
	assert_null(map(t, 10, USER));
	assert_non_null(strstr(said, "too many files"));
	assert_non_null(map(t, 11, OTHER));
	object_unref(&t->objects, list[3]);
	assert_non_null(map(t, 12, USER));
	assert_null(map(t, 13, USER));
	assert_int_equal(quota_used(&t->objects.bytes, USER), 10 * one);
	assert_int_equal(HASH_COUNT(t->objects.all), 11);
	done(t);
}

static int make_files(void **state)
{
	(void)state;
	scratch_folder(folder, "quota");
	must("cd %s && for i in $(seq 0 199); do echo $i of them >$i; done && echo 10X of them >two",
	     folder);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),	  cmocka_unit_test(test_mappings_of_users),
		cmocka_unit_test(test_lowest),	  cmocka_unit_test(test_forks),
		cmocka_unit_test(test_read_anew), cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_wanted),	  cmocka_unit_test(test_other_file),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, make_files, scratch_remove);
}
