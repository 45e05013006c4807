/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inlined calls that become known after the samples: no sample is counted twice, or lost, or in
 * both ways. And the thread that finds them out, asked about functions of this program.
 * Covers: tui/symbolize/inline_worker.c tui/symbolize/inline_cache.c tui/symbolize/inline_chain.c
 * Covers: tui/profile/profile_sites.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/dwarf/debuginfo.h"
#include "symbols/elf/elffile.h"
#include "tests/support/rights.h"
#include "tests/support/scratch.h"
#include "tui/symbolize/inline_chain.h"
#include "tui/export/folded.h"
#include "tui/symbolize/inline_worker.h"
#include "tui/profile/profile.h"
#include "tui/query/query.h"
#include "tui/symbolize/inline_cache.h"

#define SITE_WORK  7u
#define SITE_OTHER 9u

struct answers {
	struct profile *p;
	bool work, other;
	int asked;
};

static uint32_t func(struct profile *p, enum func_kind kind, const char *name)
{
	int64_t id = profile_func(p, kind, name, "prog");

	assert_true(id >= 0);
	return (uint32_t)id;
}

/* work has middle and leaf inlined; other has nothing. prog+0x40 is work without its symbol. */
static int known(uint32_t site, const char *name, const char *module, uint32_t *outer,
		 uint32_t inlined[PROFILE_INLINED_MAX], void *arg)
{
	struct answers *a = arg;

	a->asked++;
	assert_string_equal(module, "prog");
	if (site == SITE_OTHER)
		return a->other ? 0 : PROFILE_SITE_WAITS;
	assert_int_equal(site, SITE_WORK);
	if (!a->work)
		return PROFILE_SITE_WAITS;
	if (!strcmp(name, "prog+0x40"))
		*outer = func(a->p, FUNC_USER, "work");
	inlined[0] = func(a->p, FUNC_INLINE, "middle");
	inlined[1] = func(a->p, FUNC_INLINE, "leaf");
	return 2;
}

static void assert_folded(struct profile *p, enum span span, bool hide, const char *want)
{
	struct query q = {.span = span, .proc = QUERY_ALL, .hide_inline = hide};
	struct folded folded;
	char text[512] = "";

	assert_int_equal(folded_read(&folded, p, &q), 0);
	for (size_t i = 0; i < folded.count; i++) {
		const struct folded_line *line = &folded.lines[i];
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, "%.*s %d\n", (int)line->length,
			 folded.text + line->at, (int)line->count);
	}
	folded_free(&folded);
	assert_string_equal(text, want);
}

static void assert_func(struct profile *p, bool hide, const char *name, uint64_t self,
			uint64_t total)
{
	struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL, .hide_inline = hide};
	struct func_row *rows;
	uint64_t got_self = 0, got_total = 0;
	size_t count;

	assert_int_equal(query_funcs(p, &q, &rows, &count), 0);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(query_func(p, rows[i].func)->name, name)) {
			got_self = rows[i].self;
			got_total = rows[i].total;
		}
	free(rows);
	assert_int_equal(got_self, self);
	assert_int_equal(got_total, total);
}

static uint32_t stack(struct profile *p, const uint32_t *frames, const uint32_t *sites, uint32_t n)
{
	struct profile_stack s = {.complete = true, .nframes = n, .frames = frames, .sites = sites};
	int64_t id = profile_stack_new(p, &s);

	assert_true(id >= 0);
	return (uint32_t)id;
}

static void commit(struct profile *p, uint32_t ustack, uint64_t count)
{
	struct profile_proc info = {.pid = 5, .image = 1, .comm = "x"};
	struct profile_health health = {.elapsed = 1000000000, .samples = count};
	struct profile_cell cell = {
		(uint32_t)profile_proc(p, &info), 5, ustack, PROFILE_NO_STACK, count, 0, 0};

	assert_int_equal(profile_commit(p, &cell, 1, &health), 0);
}

static void test_samples_move(void **state)
{
	struct profile *p = profile_new(10, 1000);
	struct answers a = {.p = p};
	uint32_t frames[4] = {func(p, FUNC_USER, "main"), func(p, FUNC_USER, "work")};
	uint32_t sites[2] = {SITE_OTHER, SITE_WORK}, early, late;

	(void)state;
	profile_lock(p);
	early = stack(p, frames, sites, 2);
	assert_int_equal(stack(p, frames, sites, 2), early);
	assert_int_not_equal(stack(p, frames, NULL, 2), early);
	commit(p, early, 5);
	assert_int_equal(profile_settle(p, known, &a), 0);
	assert_int_equal(a.asked, 2);
	assert_folded(p, SPAN_WINDOW, false, "x;main;work 5\n");
	assert_func(p, false, "work", 5, 5);

	/* Some of it: the rest waits on. */
	a.work = true;
	assert_int_equal(profile_settle(p, known, &a), 0);
	for (int span = SPAN_WINDOW; span <= SPAN_LAST; span++) {
		assert_folded(p, (enum span)span, false, "x;main;work;middle_[i];leaf_[i] 5\n");
		assert_folded(p, (enum span)span, true, "x;main;work 5\n");
	}
	assert_func(p, false, "work", 0, 5);
	assert_func(p, false, "middle", 0, 5);
	assert_func(p, false, "leaf", 5, 5);
	assert_func(p, true, "work", 5, 5);
	assert_func(p, true, "leaf", 0, 0);

	/* A stack named afterwards is the same one. */
	a.other = true;
	assert_int_equal(profile_settle(p, known, &a), 0);
	frames[2] = func(p, FUNC_INLINE, "middle");
	frames[3] = func(p, FUNC_INLINE, "leaf");
	late = stack(p, frames, NULL, 4);
	assert_int_equal(late, early);
	commit(p, late, 3);
	assert_folded(p, SPAN_TOTAL, false, "x;main;work;middle_[i];leaf_[i] 8\n");
	a.asked = 0;
	assert_int_equal(profile_settle(p, known, &a), 0);
	assert_int_equal(a.asked, 0);
	profile_unlock(p);
	profile_free(p);
}

/* A function whose name only the debug information tells is not there under two names. */
static void test_name_comes(void **state)
{
	struct profile *p = profile_new(10, 1000);
	struct answers a = {.p = p};
	uint32_t frames[2] = {func(p, FUNC_USER, "main"), func(p, FUNC_USER, "prog+0x40")};
	uint32_t sites[2] = {0, SITE_WORK};

	(void)state;
	profile_lock(p);
	commit(p, stack(p, frames, sites, 2), 5);
	assert_int_equal(profile_settle(p, known, &a), 0);
	assert_folded(p, SPAN_TOTAL, false, "x;main;prog+0x40 5\n");
	a.work = true;
	assert_int_equal(profile_settle(p, known, &a), 0);
	assert_folded(p, SPAN_TOTAL, false, "x;main;work;middle_[i];leaf_[i] 5\n");
	assert_func(p, true, "work", 5, 5);
	assert_func(p, true, "prog+0x40", 0, 0);
	profile_unlock(p);
	profile_free(p);
}

/* A stack of the largest depth keeps all its own frames. */
static void test_deep(void **state)
{
	struct profile *p = profile_new(10, 1000);
	struct answers a = {.p = p, .work = true, .other = true};
	uint32_t frames[1025], sites[1025], id;
	const struct profile_stack *s;
	uint32_t users = 0;

	(void)state;
	profile_lock(p);
	for (int i = 0; i < 1025; i++) {
		frames[i] = func(p, FUNC_USER, i == 1024 ? "last" : "work");
		sites[i] = SITE_WORK;
	}
	id = stack(p, frames, sites, 1025);
	assert_int_equal(profile_settle(p, known, &a), 0);
	s = query_stack(p, id);
	assert_true(s->nframes > 3000);
	for (uint32_t i = 0; i < s->nframes; i++)
		users += query_func(p, s->frames[i])->kind == FUNC_USER;
	assert_int_equal(users, 1025);
	profile_stack_put(p, id);
	profile_unlock(p);
	profile_free(p);
}

/* --- the thread ------------------------------------------------------------------------------ */

static volatile int sink;

static inline __attribute__((always_inline)) void test_inlined_here(int x)
{
	for (int i = 0; i < x; i++)
		sink = sink * 3 + i;
}

__attribute__((noinline)) static void test_function(int x)
{
	sink = 1;
	test_inlined_here(x);
	sink = 2;
}

static uint64_t vaddr_of(uintptr_t address)
{
	Dl_info info;

	assert_true(dladdr((void *)address, &info));
	/* A program that is not position independent has its addresses in the file. */
	return (uintptr_t)info.dli_fbase == 0x400000 ? address
						     : address - (uintptr_t)info.dli_fbase;
}

static bool find_inlined(struct inline_cache *sites, int fd, pid_t pid, uint64_t start)
{
	const struct inline_chain *calls;
	bool found = false;

	for (int turn = 0; turn < 2 && !found; turn++) {
		for (uint64_t at = start; at < start + 64 && !found; at++) {
			inline_cache_find(sites, 1, fd, pid, at, 0, &calls);
			found = calls && calls->count > 1 && calls->frames[0].name &&
				!strcmp(calls->frames[0].name, "test_inlined_here") &&
				!strcmp(calls->frames[calls->count - 1].name, "test_function");
		}
		inline_cache_wait(sites, 30000000000);
		inline_cache_update(sites);
	}
	return found;
}

static void test_thread(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), bad = open("/dev/null", O_RDONLY);
	uint64_t start = vaddr_of((uintptr_t)test_function);
	const struct inline_chain *calls;
	struct inline_cache *sites;
	uint32_t id;

	(void)state;
	test_function(3);
	assert_int_equal(inline_cache_new((size_t)256 << 20, NULL, &sites), 0);
	assert_true(find_inlined(sites, fd, 0, start));
	/* What is no ELF file is asked about once. */
	id = inline_cache_find(sites, 2, bad, 0, 64, 0, &calls);
	assert_int_not_equal(id, 0);
	assert_false(inline_cache_get(sites, id, &calls));
	inline_cache_wait(sites, 30000000000);
	assert_true(inline_cache_update(sites));
	assert_true(inline_cache_get(sites, id, &calls));
	assert_null(calls);
	assert_int_equal(inline_cache_find(sites, 2, bad, 0, 65, 0, &calls), 0);
	inline_cache_free(sites);

	/* Without room for debug information there are none, and nothing waits. */
	assert_int_equal(inline_cache_new(100, NULL, &sites), 0);
	assert_false(find_inlined(sites, fd, 0, start));
	assert_int_equal(inline_cache_find(sites, 1, fd, 0, start, 0, &calls), 0);
	inline_cache_free(sites);
	close(fd);
	close(bad);
}

/* A process of its own root, below which alone the debug file is. */
static pid_t child_in(const char *root)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (chroot(root) || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void test_root(void **state)
{
	static const char make[] =
		"set -e; exe=$(readlink /proc/$PPID/exe); cd %s; strip -o bare $exe\n"
		"id=$(readelf -n $exe | sed -n 's/.*Build ID: //p')\n"
		"to=usr/lib/debug/.build-id/$(echo $id | cut -c1-2); mkdir -p $to\n"
		"objcopy --only-keep-debug $exe $to/$(echo $id | cut -c3-).debug";
	char folder[SCRATCH], command[1024];
	uint64_t start = vaddr_of((uintptr_t)test_function);
	struct inline_cache *sites;
	pid_t pid;
	int fd;

	(void)state;
	if (geteuid())
		skip_since("not root");
	scratch_folder(folder, "inline");
	snprintf(command, sizeof(command), make, folder);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "%s/bare", folder);
	fd = open(command, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	pid = child_in(folder);
	assert_int_equal(inline_cache_new((size_t)256 << 20, NULL, &sites), 0);
	assert_false(find_inlined(sites, fd, 0, start));
	/* Known to have no debug information: it is opened again only after inline_cache_retry. */
	assert_false(find_inlined(sites, fd, pid, start));
	inline_cache_retry(sites);
	assert_true(find_inlined(sites, fd, pid, start));
	inline_cache_free(sites);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* As libdw and the index take them for this program. */
static size_t own_bytes(int fd)
{
	struct debuginfo_options options = {.limit = (size_t)256 << 20};
	struct debuginfo_frame frames[DEBUGINFO_FRAMES_MAX];
	struct debuginfo *info;
	struct elf_file *file;
	size_t bytes;

	assert_int_equal(elf_file_open_fd(fd, &file), 0);
	assert_int_equal(debuginfo_new(file, &options, &info), 0);
	debuginfo_find(info, vaddr_of((uintptr_t)test_function), frames);
	bytes = debuginfo_bytes(info);
	debuginfo_free(info);
	return bytes;
}

/* Where there is room for the debug information of one object, questions about many, by turns, are
 * answered as if there were room for all. */
static void test_many_objects(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t start = vaddr_of((uintptr_t)test_function);
	struct inline_worker_answer *answers, *a;
	struct inline_worker *inliner;
	unsigned int count = 0;

	(void)state;
	assert_int_equal(inline_worker_new(own_bytes(fd) * 5 / 4, NULL, &inliner), 0);
	for (uint32_t n = 1; n <= 60; n++)
		assert_int_equal(inline_worker_ask(inliner, n % 6, fd, 0, start + n / 6, 0, n), 0);
	assert_true(inline_worker_wait(inliner, 60000000000));
	answers = inline_worker_take(inliner);
	for (a = answers; a; a = a->next, count++) {
		assert_false(a->bare);
		assert_non_null(a->calls);
		assert_string_equal(a->calls->frames[a->calls->count - 1].name, "test_function");
	}
	assert_int_equal(count, 60);
	inline_worker_answers_free(answers);
	inline_worker_free(inliner);
	close(fd);
}

/* Unanswered questions do not hold up inline_worker_free. */
static void test_end(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t start = vaddr_of((uintptr_t)test_function);
	struct inline_worker *inliner;

	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_int_equal(inline_worker_new((size_t)64 << 20, NULL, &inliner), 0);
		for (uint32_t n = 1; n < 200; n++)
			assert_int_equal(inline_worker_ask(inliner, n % 5, fd, 0, start + n, 0, n),
					 0);
		inline_worker_free(inliner);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_move), cmocka_unit_test(test_name_comes),
		cmocka_unit_test(test_deep),	     cmocka_unit_test(test_thread),
		cmocka_unit_test(test_root),	     cmocka_unit_test(test_many_objects),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
