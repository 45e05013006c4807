// SPDX-License-Identifier: GPL-2.0-or-later
/* build: alone */
/*
 * Names of files that are closed and opened again, and of files that take long to read: addresses
 * until they are read, names from then on. Nothing of it runs in the kernel; the clock is the
 * test's own, and another thread reads a file when the test says so.
 * Covers: tui/symbolize/modules.c tui/symbolize/module_reader.c tui/symbolize/modules_read.c
 * Covers: bpf/tracker/answers.c
 */
#include <dlfcn.h>
#include <errno.h>
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
#include <sys/syscall.h>
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

#define SECOND	1000000000ull
#define LONG_NS 100000000000ull
#define LATE	(60 * SECOND) /* well beyond the time for which an idle file stays open */

static char folder[SCRATCH];
static uint64_t passed;	   /* ns */
static unsigned int begun; /* files that libelf was to read */
static pthread_t owner;
static atomic_bool held; /* the other thread may not read yet */

/* In the place of libc's, for all that is linked here. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	int err = (int)syscall(SYS_clock_gettime, clock, now);

	now->tv_sec += (time_t)(passed / SECOND);
	return err;
}

/* Likewise, of libelf's. */
Elf *elf_begin(int fd, Elf_Cmd cmd, Elf *ref)
{
	Elf *(*begin)(int, Elf_Cmd, Elf *) = NULL;

	while (!pthread_equal(pthread_self(), owner) && atomic_load(&held))
		syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 1000000}, NULL);
	*(void **)&begin = dlsym(RTLD_NEXT, "elf_begin");
	begun++;
	return begin(fd, cmd, ref);
}

static int make_files(void **state)
{
	(void)state;
	owner = pthread_self();
	scratch_folder(folder, "modules");
	must("cd %s && echo 'int one(void) { return 1; } int two(void) { return 2; } "
	     "static int three(void) { return 3; } int (*four)(void) = three;' >lib.c && "
	     "gcc -shared -fPIC -fasynchronous-unwind-tables -o lib.so lib.c && " NM
	     "lib.so >names && strip -o bare.so lib.so && cp lib.so guest.so && "
	     "printf '\\376\\376' | dd of=guest.so bs=1 seek=18 conv=notrunc status=none",
	     folder);
	must("cd %s && printf '%%b' '.globl sizeless\\n.type sizeless,%%function\\n' "
	     "'sizeless: nop\\nret\\n.section .note.GNU-stack,\"\"\\n' >s.s && "
	     "echo 'int local(void); __attribute__((visibility(\"hidden\"))) int local(void) "
	     "{ return 5; }' >t.c && gcc -shared -fPIC -fasynchronous-unwind-tables -o full.so s.s "
	     "t.c && " NM "full.so >>names && strip -o sizeless.so full.so",
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

/* A process maps the file. */
static void map_file(struct world *w, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	w->object = mapfile(&w->t, path, 0);
	assert_non_null(w->object);
	w->t.objects.queue = NULL; /* as if its table had been built */
	w->object->in_queue = false;
	object_set_state(&w->t.objects, w->object, OBJECT_READY);
}

static void map(struct world *w)
{
	map_file(w, "lib.so");
}

static struct world *world_new(void)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->t.wake_fd = -1;
	turnlock_init(&w->t.lock);
	tracker_connect(&w->t);
	pthread_cond_init(&w->t.builders.wake, NULL);
	w->profile = profile_new(10, 1000);
	w->modules = modules_new(w->profile, &w->t, NULL);
	assert_non_null(w->modules);
	map(w);
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

/* The process has ended, and its file is closed by all. */
static void rest(struct world *w)
{
	object_unref(&w->t.objects, w->object);
	idlefile_look(&w->t.idlefiles, clock_ns(CLOCK_MONOTONIC));
	modules_trim(w->modules);
	passed += LATE;
	idlefile_look(&w->t.idlefiles, clock_ns(CLOCK_MONOTONIC));
	modules_rest(w->modules);
	assert_true(object_is_closed(w->object));
}

static int get(struct world *w, struct symbol_module **m)
{
	return modules_get(w->modules, w->object, getpid(), m);
}

static void assert_name(struct world *w, const char *want)
{
	struct symbol_module *m;
	uint64_t start;
	bool guessed;

	assert_int_equal(get(w, &m), 0);
	assert_true(module_has_symbols(m));
	assert_string_equal(
		modules_find(w->modules, m, w->object, address(want), UINT64_MAX, &start, &guessed),
		want);
	assert_int_equal(start, address(want));
	modules_trim(w->modules);
}

/* As a sample of a program that runs again is looked up before its mappings are known. */
static void look_up_early(struct world *w)
{
	struct symbol_module *m;

	object_get(&w->t.objects, w->object);
	w->object->held++;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(get(w, &m), -EAGAIN);
		modules_trim(w->modules);
	}
	assert_false(w->object->wanted);
	object_put(&w->t, w->object);
}

static void test_known(void **state)
{
	struct world *w = world_new();

	(void)state;
	assert_name(w, "one");
	rest(w);
	look_up_early(w);
	map(w);
	assert_name(w, "two");
	assert_name(w, "one");
	world_free(w);
}

/* Its table was dropped in the meantime, or it was never sampled. */
static void test_unknown(void **state)
{
	struct world *w = world_new();

	(void)state;
	rest(w);
	look_up_early(w);
	map(w);
	assert_name(w, "one");
	world_free(w);
}

/* A closed file is asked for while a process maps it, once in a while. */
static void test_asks(void **state)
{
	struct world *w = world_new();
	struct symbol_module *m;

	(void)state;
	rest(w);
	for (int refs = 0; refs < 2; refs++) /* the first is that of who looks it up */
		object_get(&w->t.objects, w->object);
	w->object->held++;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(get(w, &m), -EAGAIN);
		assert_true(w->object->wanted);
		w->object->wanted = false; /* as if it had been asked for in vain */
		w->t.objects.nwanted = 0;
		assert_int_equal(get(w, &m), -EAGAIN);
		assert_false(w->object->wanted);
		passed += 2 * LATE;
	}
	object_put(&w->t, w->object);
	object_unref(&w->t.objects, w->object);
	world_free(w);
}

/* That a file cannot be read, here one of another machine, is found once, not for each name. */
static void test_other_machine(void **state)
{
	struct world *w = world_new();
	struct symbol_module *m;
	unsigned int before;
	uint64_t start;
	bool guessed;

	(void)state;
	map_file(w, "guest.so");
	assert_int_equal(get(w, &m), 0);
	assert_false(module_has_symbols(m));
	assert_string_equal(
		modules_find(w->modules, m, w->object, 16, UINT64_MAX, &start, &guessed),
		"guest.so+0x10");
	before = begun;
	assert_true(before > 0);
	for (uint64_t vaddr = 0; vaddr < 3; vaddr++)
		assert_non_null(modules_find(w->modules, m, w->object, vaddr, UINT64_MAX, &start,
					     &guessed));
	assert_int_equal(begun, before);
	world_free(w);
}

/* A closed file without symbols may be another one, too. */
static void test_without_symbols(void **state)
{
	struct world *w = world_new();
	struct symbol_module *m;

	(void)state;
	map_file(w, "guest.so");
	assert_int_equal(get(w, &m), 0);
	assert_false(module_has_symbols(m));
	rest(w);
	look_up_early(w);
	map_file(w, "guest.so");
	assert_int_equal(get(w, &m), 0);
	assert_false(module_has_symbols(m));
	world_free(w);
}

static uint64_t function_start(struct world *w, const char *name)
{
	struct symbol_module *m;
	uint64_t start;
	bool guessed;

	assert_int_equal(get(w, &m), 0);
	assert_non_null(modules_find(w->modules, m, w->object, address(name) + 1, UINT64_MAX,
				     &start, &guessed));
	return start;
}

/* One of too many files: it is closed while it is mapped. Only of a copy it has no other one. */
static void test_functions(void **state)
{
	struct symbol_module *m;
	struct world *w;

	(void)state;
	for (int copied = 0; copied < 2; copied++) {
		w = world_new();
		map_file(w, "bare.so");
		w->object->copied = copied;
		w->t.objects.copied = copied ? w->object->key.size : 0;
		assert_int_equal(get(w, &m), 0);
		object_close(&w->t.objects, w->object);
		w->object->copied = false;
		assert_int_equal(function_start(w, "three"), address("three") + copied);
		map_file(w, "bare.so");
		assert_int_equal(function_start(w, "three"), address("three"));
		world_free(w);
	}
}

static const char *name_at(struct world *w, uint64_t vaddr, bool *waits)
{
	struct symbol_module *m;
	const char *name;
	uint64_t start;
	bool guessed;

	assert_int_equal(modules_get(w->modules, w->object, getpid(), &m), 0);
	name = modules_find(w->modules, m, w->object, vaddr, UINT64_MAX, &start, &guessed);
	assert_non_null(name);
	*waits = module_waits(m);
	return name;
}

/* The patience is over at once: a name comes without the file, and a better one later. */
static void test_late(void **state)
{
	struct world *w = world_new();
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
	struct world *w = world_new();
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
static void test_late_functions(void **state)
{
	struct world *w = world_new();
	uint64_t three = address("three");
	char inside[64], start[64];
	bool waits;

	(void)state;
	map_file(w, "bare.so");
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

/* A symbol without a size names addresses behind its start only as far as its function's CFI. */
static void test_sizeless(void **state)
{
	struct world *w = world_new();
	uint64_t at = address("sizeless"), four = address("local");
	struct symbol_module *m;
	char name[64];
	bool guessed, waits;
	uint64_t start;

	(void)state;
	map_file(w, "sizeless.so");
	held = false;
	modules_wait_until(w->modules, clock_ns(CLOCK_MONOTONIC) + LONG_NS);
	assert_string_equal(name_at(w, at, &waits), "sizeless");
	held = true;
	modules_wait_until(w->modules, 1);
	snprintf(name, sizeof(name), "sizeless.so+0x%llx", (unsigned long long)at + 1);
	assert_string_equal(name_at(w, at + 1, &waits), name);
	assert_true(waits);
	held = false;
	modules_wait_until(w->modules, clock_ns(CLOCK_MONOTONIC) + LONG_NS);
	modules_trim(w->modules);
	assert_string_equal(name_at(w, at + 1, &waits), "sizeless");
	assert_false(waits);
	snprintf(name, sizeof(name), "sizeless.so+0x%llx", (unsigned long long)four);
	assert_string_equal(name_at(w, four + 1, &waits), name);
	assert_int_equal(modules_get(w->modules, w->object, getpid(), &m), 0);
	snprintf(name, sizeof(name), "sizeless.so+0x%llx", (unsigned long long)at + 1);
	assert_string_equal(modules_find(w->modules, m, w->object, at + 1, 0, &start, &guessed),
			    name);
	assert_false(guessed);
	assert_string_equal(modules_find(w->modules, m, w->object, at + 1, 1, &start, &guessed),
			    "sizeless");
	assert_true(guessed);
	world_free(w);
}

/* What is being read, or is still to be read, at the end is not needed any more. */
static void test_end(void **state)
{
	struct world *w = world_new();
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
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_asks),
		cmocka_unit_test(test_other_machine),
		cmocka_unit_test(test_without_symbols),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_patient),
		cmocka_unit_test(test_late_functions),
		cmocka_unit_test(test_sizeless),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, make_files, scratch_remove);
}
