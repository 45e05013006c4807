// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of files that take long to read: addresses until they are read, names from then on. The
 * file is read when the test says so.
 * Covers: tui/symbolize/module_reader.c tui/symbolize/modules.c tui/symbolize/modules_read.c
 */
#include <dlfcn.h>
#include <libelf.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/tracker/tracker_priv.h"
#include "symbols/base/clock.h"
#include "tests/support/mapfile.h"
#include "tests/support/nm.h"
#include "tests/support/scratch.h"
#include "tests/support/shell.h"
#include "tui/profile/profile.h"
#include "tui/symbolize/modules.h"

#define LONG_NS 100000000000ull

static char folder[SCRATCH];
static pthread_t owner;
static atomic_bool held; /* the other thread may not read yet */

/* In the place of libelf's, for all that is linked here. */
Elf *elf_begin(int fd, Elf_Cmd cmd, Elf *ref)
{
	Elf *(*begin)(int, Elf_Cmd, Elf *) = NULL;

	while (!pthread_equal(pthread_self(), owner) && atomic_load(&held))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	*(void **)&begin = dlsym(RTLD_NEXT, "elf_begin");
	return begin(fd, cmd, ref);
}

static int make_files(void **state)
{
	(void)state;
	owner = pthread_self();
	scratch_folder(folder, "module-reader");
	must("cd %s && echo 'int one(void) { return 1; } int two(void) { return 2; } "
	     "static int three(void) { return 3; } int (*four)(void) = three;' >lib.c && "
	     "gcc -shared -fPIC -fasynchronous-unwind-tables -o lib.so lib.c && " NM
	     "lib.so >names && strip -o bare.so lib.so",
	     folder);
	return 0;
}

/* Where nm says that the function is. */
static uint64_t address(const char *name)
{
	char path[96], line[256], found[128];
	unsigned long long at;
	uint64_t is = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/names", folder);
	file = fopen(path, "re");
	assert_non_null(file);
	while (!is && fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx %*c %127s", &at, found) == 2 && !strcmp(found, name))
			is = at;
	fclose(file);
	assert_true(is > 0);
	return is;
}

struct world {
	struct tracker t;
	struct profile *profile;
	struct modules *modules;
	struct object *object;
};

static struct world *world_new(const char *name)
{
	struct world *w = calloc(1, sizeof(*w));
	char path[96];

	assert_non_null(w);
	w->t.wake_fd = -1;
	turnlock_init(&w->t.lock);
	tracker_connect(&w->t);
	pthread_cond_init(&w->t.builders.wake, NULL);
	w->profile = profile_new(10, 1000);
	w->modules = modules_new(w->profile, &w->t, NULL);
	assert_non_null(w->modules);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	w->object = mapfile(&w->t, path, 0);
	assert_non_null(w->object);
	w->t.objects.queue = NULL; /* as if its table had been built */
	w->object->in_queue = false;
	object_set_state(&w->t.objects, w->object, OBJECT_READY);
	return w;
}

static void world_free(struct world *w)
{
	modules_free(w->modules);
	profile_free(w->profile);
	objects_free(&w->t.objects);
	quota_free(&w->t.objects.bytes);
	pthread_cond_destroy(&w->t.builders.wake);
	turnlock_destroy(&w->t.lock);
	free(w);
}

static const char *name_at(struct world *w, uint64_t vaddr, bool *waits)
{
	struct symbol_module *m;
	const char *name;
	uint64_t start;
	bool guessed;

	assert_int_equal(modules_get(w->modules, w->object, getpid(), &m), 0);
	name = modules_find(w->modules, m, w->object, vaddr, &start, &guessed);
	assert_non_null(name);
	*waits = module_waits(m);
	return name;
}

/* The patience is over at once: a name comes without the file, and a better one once it was read.
 */
static void test_late(void **state)
{
	struct world *w = world_new("lib.so");
	uint64_t at = address("two"); /* where a function begins, its name has the same key */
	const char *early, *later;
	char want[64];
	bool waits;

	(void)state;
	snprintf(want, sizeof(want), "lib.so+0x%llx", (unsigned long long)at);
	held = true;
	modules_wait_until(w->modules, 1);
	early = name_at(w, at, &waits);
	assert_true(waits);
	assert_string_equal(early, want);
	assert_string_equal(name_at(w, at, &waits), want);
	assert_true(waits);
	modules_trim(w->modules);
	assert_string_equal(name_at(w, at, &waits), want);
	assert_true(waits);
	held = false;
	modules_wait_until(w->modules, clock_ns(CLOCK_MONOTONIC) + LONG_NS);
	later = name_at(w, at, &waits);
	assert_false(waits);
	assert_string_equal(later, "two");
	/* A stack that has both is still being named. */
	assert_string_equal(early, want);
	modules_bound(w->modules);
	assert_string_equal(name_at(w, at, &waits), "two");
	assert_string_equal(name_at(w, address("one"), &waits), "one");
	assert_false(waits);
	world_free(w);
}

/* Who has time for it gets the name at once. */
static void test_patient(void **state)
{
	struct world *w = world_new("lib.so");
	bool waits;

	(void)state;
	held = false;
	modules_wait_until(w->modules, clock_ns(CLOCK_MONOTONIC) + LONG_NS);
	assert_string_equal(name_at(w, address("one"), &waits), "one");
	assert_false(waits);
	assert_string_not_equal(query_build(w->profile, "lib.so"), "");
	world_free(w);
}

/* Functions without a symbol are told apart by CFI, which is read later, too. */
static void test_functions(void **state)
{
	struct world *w = world_new("bare.so");
	uint64_t three = address("three");
	char inside[64], start[64];
	bool waits;

	(void)state;
	snprintf(inside, sizeof(inside), "bare.so+0x%llx", (unsigned long long)three + 2);
	snprintf(start, sizeof(start), "bare.so+0x%llx", (unsigned long long)three);
	held = false;
	modules_wait_until(w->modules, clock_ns(CLOCK_MONOTONIC) + LONG_NS);
	assert_string_equal(name_at(w, address("one") + 1, &waits), "one"); /* of .dynsym */
	held = true;
	modules_wait_until(w->modules, 1);
	assert_string_equal(name_at(w, three + 2, &waits), inside);
	assert_true(waits);
	assert_string_equal(name_at(w, address("one") + 1, &waits), "one");
	held = false;
	modules_wait_until(w->modules, clock_ns(CLOCK_MONOTONIC) + LONG_NS);
	modules_trim(w->modules);
	assert_string_equal(name_at(w, three + 2, &waits), start);
	assert_false(waits);
	world_free(w);
}

/* What is being read, or is still to be read, at the end is not needed any more. */
static void test_end(void **state)
{
	struct world *w = world_new("lib.so");
	bool waits;

	(void)state;
	held = true;
	modules_wait_until(w->modules, 1);
	name_at(w, address("one"), &waits);
	assert_true(waits);
	held = false;
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_patient),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests_name("module_reader", tests, make_files, NULL);
}
