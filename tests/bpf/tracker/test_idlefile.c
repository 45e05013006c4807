// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files of objects that no process maps are closed after a while and opened with the next mapping,
 * if they are still the same. Nothing of it runs in the kernel, and nothing is built.
 * Covers: bpf/tracker/idlefile.c bpf/tracker/object.c bpf/tracker/objectfile.c
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

#include "bpf/tracker/objectfile.h"
#include "bpf/tracker/tracker_priv.h"
#include "tests/support/fds.h"
#include "tests/support/mapfile.h"
#include "tests/support/scratch.h"
#include "tests/support/shell.h"

#define SECOND 1000000000ull
#define SOON   (20 * SECOND) /* well within what is promised, and well beyond it */
#define LATE   (60 * SECOND)

static char folder[SCRATCH];

/* Libraries that differ in what a function returns: with a build-id, and without. */
static int make_files(void **state)
{
	(void)state;
	scratch_folder(folder, "rest");
	must("cd %s && for n in 1 2; do echo \"int f(void) { return $n; }\" >$n.c && "
	     "gcc -shared -fPIC -Wl,--build-id=sha1 -o id$n $n.c && "
	     "gcc -shared -fPIC -Wl,--build-id=none -o no$n $n.c || exit 1; done && "
	     "cmp -s id1 id2; test $? = 1 && cmp -s no1 no2; test $? = 1 && "
	     "head -c 8192 /dev/zero >text1 && (head -c 8191 /dev/zero; echo) >text2",
	     folder);
	return 0;
}

struct world {
	struct tracker t;
	char path[96];
	uint64_t now;
	size_t fds; /* before */
};

/* The file, by a name of its own. */
static struct world *world_new(const char *file)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	snprintf(w->path, sizeof(w->path), "%s/mapped", folder);
	must("cp %s/%s %s", folder, file, w->path);
	turnlock_init(&w->t.lock);
	tracker_connect(&w->t);
	pthread_cond_init(&w->t.builders.wake, NULL);
	w->now = clock_now();
	w->fds = count_fds();
	return w;
}

static void world_free(struct world *w)
{
	objects_free(&w->t.objects);
	quota_free(&w->t.objects.bytes);
	assert_int_equal(count_fds(), w->fds);
	pthread_cond_destroy(&w->t.builders.wake);
	turnlock_destroy(&w->t.lock);
	unlink(w->path);
	free(w);
}

/* As if the process had mapped it. */
static struct object *map(struct world *w)
{
	struct file_id id;
	struct object *o;
	struct stat st;

	assert_int_equal(stat(w->path, &st), 0);
	id = (struct file_id){st.st_dev, st.st_ino};
	o = objectfile_known(&w->t.objects, &id, 0);
	if (!o)
		o = mapfile(&w->t, w->path, 0);
	assert_non_null(o);
	assert_int_equal(fstat(object_fd(o), &st), 0);
	return o;
}

/* As if its table had been built. */
static void built(struct world *w, struct object *o)
{
	assert_ptr_equal(w->t.objects.queue, o);
	w->t.objects.queue = NULL;
	o->in_queue = false;
	object_set_state(&w->t.objects, o, OBJECT_READY);
}

static void pass(struct world *w, uint64_t ns)
{
	for (uint64_t end = w->now + ns; w->now < end; w->now += SECOND)
		idlefile_look(&w->t.idlefiles, w->now);
}

/* Mapped, and not any more; its file is closed. */
static struct object *resting(struct world *w)
{
	struct object *o = map(w);

	if (o->in_queue)
		built(w, o);
	object_unref(&w->t.objects, o);
	pass(w, LATE);
	assert_true(object_is_closed(o));
	return o;
}

/* Writes other bytes into the file, whose time stays. */
static void overwrite(const struct world *w, const char *file)
{
	must("cp -p %s %s/time && cat %s/%s >%s && touch -r %s/time %s", w->path, folder, folder,
	     file, w->path, folder, w->path);
}

static void test_closes(void **state)
{
	struct world *w = world_new("id1");
	struct object *o = map(w), *again;

	(void)state;
	assert_int_equal(count_fds(), w->fds + 1);
	built(w, o);
	pass(w, LATE); /* it is mapped */
	assert_int_equal(count_fds(), w->fds + 1);
	again = map(w);
	assert_ptr_equal(again, o);
	object_unref(&w->t.objects, o);
	pass(w, LATE); /* by the other */
	assert_int_equal(count_fds(), w->fds + 1);
	object_unref(&w->t.objects, o);
	pass(w, SOON);
	assert_false(object_is_closed(o));
	assert_ptr_equal(map(w), o); /* again, and all begins anew */
	pass(w, SECOND);
	object_unref(&w->t.objects, o);
	pass(w, SOON);
	assert_false(object_is_closed(o));
	pass(w, LATE - SOON);
	assert_true(object_is_closed(o));
	assert_int_equal(count_fds(), w->fds);
	assert_int_equal(w->t.objects.nunused, 1);
	world_free(w);
}

static void test_comes_back(void **state)
{
	static const char *const files[] = {"id1", "no1", "text1"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct world *w = world_new(files[i]);
		struct object *o = resting(w);
		uint64_t id = o->id;

		assert_int_equal(count_fds(), w->fds);
		assert_ptr_equal(map(w), o);
		assert_int_equal(o->id, id);
		assert_int_equal(o->state, OBJECT_READY); /* nothing is built anew */
		assert_int_equal(count_fds(), w->fds + 1);
		assert_int_equal(w->t.objects.nunused, 0);
		pass(w, LATE);
		assert_false(object_is_closed(o));
		object_unref(&w->t.objects, o);
		assert_ptr_equal(resting(w), o);
		world_free(w);
	}
}

/* Another file of the same inode number, time and size: possible since the first was closed, as an
 * open file keeps its number. */
static void test_other_file(void **state)
{
	static const char *const pairs[][2] = {{"id1", "id2"}, {"no1", "no2"}, {"text1", "text2"}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct world *w = world_new(pairs[i][0]);
		uint64_t id = resting(w)->id;
		struct object *o;

		overwrite(w, pairs[i][1]);
		o = map(w);
		assert_int_not_equal(o->id, id);
		assert_int_equal(HASH_COUNT(w->t.objects.all), 1);
		assert_int_equal(count_fds(), w->fds + 1);
		world_free(w);
	}
}

/* Who has a build-id is known by it, whatever else happened to the file. */
static void test_renamed(void **state)
{
	struct world *w = world_new("id1");
	struct object *o = resting(w);

	(void)state;
	must("chmod 700 %s && mv %s %s.new && mv %s.new %s", w->path, w->path, w->path, w->path,
	     w->path);
	assert_ptr_equal(map(w), o);
	world_free(w);
}

/* The builder reads what is queued. */
static void test_queued(void **state)
{
	struct world *w = world_new("id1");
	struct object *o = map(w);

	(void)state;
	object_unref(&w->t.objects, o);
	assert_true(o->in_queue);
	pass(w, LATE);
	assert_false(object_is_closed(o));
	built(w, o);
	pass(w, LATE);
	assert_true(object_is_closed(o));
	/* What was closed is not queued: it comes when it is mapped and sampled. */
	object_rebuild(&w->t.objects, o);
	assert_null(w->t.objects.queue);
	assert_int_equal(o->state, OBJECT_EVICTED);
	assert_int_equal(w->t.objects.nevicted, 1);
	assert_ptr_equal(map(w), o);
	object_rebuild(&w->t.objects, o);
	assert_ptr_equal(w->t.objects.queue, o);
	assert_int_equal(w->t.objects.nevicted, 0);
	world_free(w);
}

/* A pin holds the table, not the file. */
static void test_pinned(void **state)
{
	struct world *w = world_new("id1");
	struct object *o = map(w);
	uint64_t id = o->id;

	(void)state;
	built(w, o);
	o->pinned = true; /* with the reference of the mapping */
	pass(w, LATE);
	assert_true(object_is_closed(o));
	assert_int_equal(count_fds(), w->fds);
	assert_ptr_equal(map(w), o);
	assert_int_equal(o->refs, 2);
	pass(w, LATE);
	assert_false(object_is_closed(o));
	object_unref(&w->t.objects, o);
	pass(w, LATE);
	assert_true(object_is_closed(o));
	overwrite(w, "id2");
	o = map(w);
	assert_int_not_equal(o->id, id);
	assert_int_equal(HASH_COUNT(w->t.objects.all), 1);
	assert_int_equal(w->t.objects.nunused, 0);
	world_free(w);
}

/* One that is closed while it is mapped, and whose numbers another file has when it is opened. */
static void test_disowned(void **state)
{
	struct world *w = world_new("id1");
	struct object *o = map(w), *other;

	(void)state;
	built(w, o);
	object_close(&w->t.objects, o);
	overwrite(w, "id2");
	other = map(w);
	assert_ptr_not_equal(other, o);
	built(w, other);
	assert_int_equal(HASH_COUNT(w->t.objects.all), 2);
	assert_int_equal(HASH_CNT(key_hh, w->t.objects.by_key), 1);
	assert_int_equal(HASH_CNT(file_hh, w->t.objects.by_file), 1);
	assert_ptr_equal(object_by_id(&w->t.objects, o->id), o);
	assert_ptr_equal(map(w), other);
	world_free(w);
}

/* Of many ids those that are mapped; what is pinned, or not known, is not. */
static void test_mapped(void **state)
{
	struct world *w = world_new("id1");
	struct object *o = map(w), *other;
	uint64_t ids[] = {o->id, o->id + 1, o->id + 2};
	bool mapped[3];

	(void)state;
	built(w, o);
	tracker_mapped(&w->t, ids, 3, mapped);
	assert_true(mapped[0] && !mapped[1] && !mapped[2]);
	must("cp %s/id2 %s/other && mv %s/other %s", folder, folder, folder, w->path);
	other = map(w);
	built(w, other);
	assert_int_equal(other->id, ids[1]);
	object_unref(&w->t.objects, o);
	tracker_mapped(&w->t, ids, 3, mapped);
	assert_true(!mapped[0] && mapped[1] && !mapped[2]);
	other->pinned = true; /* with the reference of the mapping */
	tracker_mapped(&w->t, ids, 3, mapped);
	assert_true(!mapped[0] && !mapped[1] && !mapped[2]);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closes),	   cmocka_unit_test(test_comes_back),
		cmocka_unit_test(test_other_file), cmocka_unit_test(test_renamed),
		cmocka_unit_test(test_queued),	   cmocka_unit_test(test_pinned),
		cmocka_unit_test(test_disowned),   cmocka_unit_test(test_mapped),
	};

	return cmocka_run_group_tests(tests, make_files, scratch_remove);
}
