// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Covers: bpf/tracker/builder.c
 *
 * Whose table is built next, and by which builder. No file here is ELF, so that each is over at
 * once.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/tracker/tracker_priv.h"

#define SMALL 4096u
#define LARGE 65536u

struct world {
	struct tracker t;
	struct object objects[4];
	struct table_builder any, small;
};

/* They do not share a slot. */
enum { FIRST_USER = 0, SECOND_USER = 1000 };

static int no_shard(void *arg, unsigned int i)
{
	(void)arg;
	(void)i;
	return -ENOMEM;
}

static const struct shards_ops no_shards = {.create = no_shard};

static struct world *world_new(void)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->t.wake_fd = -1;
	w->t.shards = shards_new(1, &no_shards, NULL);
	assert_non_null(w->t.shards);
	turnlock_init(&w->t.lock);
	tracker_connect(&w->t);
	pthread_cond_init(&w->t.builders.wake, NULL);
	w->any = (struct table_builder){.all = &w->t.builders, .size_max = UINT64_MAX};
	w->small = (struct table_builder){.all = &w->t.builders, .size_max = SMALL};
	turnlock_take(&w->t.lock);
	return w;
}

static void world_free(struct world *w)
{
	turnlock_give(&w->t.lock);
	for (size_t i = 0; i < 4; i++)
		if (w->objects[i].id)
			close(w->objects[i].fd);
	shards_free(w->t.shards);
	pthread_cond_destroy(&w->t.builders.wake);
	turnlock_destroy(&w->t.lock);
	free(w);
}

static struct object *queued(struct world *w, size_t i, uint64_t size, uid_t uid)
{
	struct object *o = &w->objects[i];

	o->id = i + 1;
	o->uid = uid;
	o->fd = memfd_create("text", MFD_CLOEXEC);
	assert_true(o->fd >= 0 && !ftruncate(o->fd, (off_t)size));
	o->key.size = size;
	object_enqueue(&w->t.objects, o);
	return o;
}

static void test_small_ones(void **state)
{
	struct world *w = world_new();
	struct object *large = queued(w, 0, LARGE, FIRST_USER), *small;

	(void)state;
	assert_false(builder_has_work(&w->small));
	assert_false(builder_run(&w->small));
	small = queued(w, 1, SMALL, FIRST_USER);
	assert_true(builder_has_work(&w->small));
	assert_true(builder_run(&w->small));
	assert_int_equal(small->state, OBJECT_FAILED);
	assert_int_equal(large->state, OBJECT_QUEUED);
	assert_false(builder_run(&w->small));
	assert_true(builder_has_work(&w->any));
	assert_true(builder_run(&w->any));
	assert_int_equal(large->state, OBJECT_FAILED);
	assert_false(builder_has_work(&w->any));
	world_free(w);
}

/* One who has had ten seconds waits for one who has had none, whatever the files are. */
static void test_turns(void **state)
{
	struct world *w = world_new();
	struct object *small = queued(w, 0, SMALL, SECOND_USER),
		      *large = queued(w, 1, LARGE, FIRST_USER);

	(void)state;
	w->t.builders.uses[SECOND_USER % BUILDER_USERS] =
		(struct builder_use){10000000000u, clock_now()};
	assert_true(builder_run(&w->any));
	assert_int_equal(large->state, OBJECT_FAILED);
	assert_int_equal(small->state, OBJECT_QUEUED);
	/* It is forgotten after a minute, and small files come first again. */
	large = queued(w, 2, LARGE, FIRST_USER);
	w->t.builders.uses[SECOND_USER % BUILDER_USERS].since -= 60000000000u;
	assert_true(builder_run(&w->any));
	assert_int_equal(small->state, OBJECT_FAILED);
	assert_int_equal(large->state, OBJECT_QUEUED);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_ones),
		cmocka_unit_test(test_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
