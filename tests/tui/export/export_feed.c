/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the same made-up seconds in every format, FORMAT in a folder, for
 * tests/tui/export/test_export.py:
 *
 *     export_feed DIR plain|hostile|languages|empty|off-cpu|wall|page-faults
 *
 * plain: random stacks with recursion, named threads, kernel frames, ends, and samples of no frames
 * at all. hostile: a function for each name that could break a format. off-cpu and wall: two
 * measures of the same seconds of waits, samples, times and wakes. page-faults: of an event without
 * time, whose samples stand for different numbers of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tests/support/languages.h"
#include "tui/export/export.h"
#include "tui/query/query.h"

#define SLICES	3
#define CELLS	400
#define FORMATS 16

static const char *const hostile[] = {
	"a;b",
	"say \"hi\" 'there'",
	"</title><script>alert(1)</script>",
	"<svg onload=alert(1)>",
	"]]>",
	"&amp;&#x41;&lt;",
	"<!-- --><![CDATA[",
	"back\\slash\\",
	"\\u0000\\n",
	"nl\nand\ttab\r",
	"\033[2J\033]0;title\007",
	"nul-\x01\x02\x1f\x7f",
	"\xff\xfe",
	"cut \xe2\x82",
	"\xef\xbf\xbe\xef\xbf\xbf",
	"\xed\xa0\x80",
	"x\x9by",
	"\xe2\x80\xae"
	"evil",
	"\xe2\x80\xa8line",
	"\xf0\x9f\x94\xa5 fire",
	"",
	" ",
	" (in) (brackets)",
	"1 2 3",
	"name 7",
	"[looks like an end]",
	"fake_[k]",
	"fake_[i]",
	"fake_[py]",
	"fake_[java]",
	"outer.<locals>.<lambda>",
	"prog+0x12ab",
	"%s%n%d",
	"operator()<int>(std::vector<char, A>&&) const",
	"javascript:alert(1)",
	"__proto__",
	"constructor",
};

#define HOSTILE (sizeof(hostile) / sizeof(*hostile))

/* f7 of liba.so is at line 107 of "/src/some file/f7.c"; the test knows that. */
static void give_line(struct profile *p, uint32_t func, const char *name)
{
	char file[64];

	snprintf(file, sizeof(file), "/src/some file/%s.c", name);
	assert_int_equal(profile_line(p, func, file, 100 + (unsigned int)atoi(name + 1), 1), 0);
}

static uint32_t pick(uint64_t *seed, struct profile *p, bool kernel)
{
	char name[32];
	uint32_t id;

	/* The same names in several modules, and in the kernel. */
	snprintf(name, sizeof(name), "f%u", feed_random(seed, 12));
	id = (uint32_t)profile_func(p, kernel ? FUNC_KERNEL : FUNC_USER, name,
				    kernel		   ? "vmlinux"
				    : feed_random(seed, 2) ? "liba.so"
							   : "");
	if (strcmp(query_func(p, id)->module, "liba.so") == 0)
		give_line(p, id, name);
	return id;
}

static uint32_t inlined(uint64_t *seed, struct profile *p, uint32_t in)
{
	char name[32];

	snprintf(name, sizeof(name), "inline%u", feed_random(seed, 5));
	return (uint32_t)profile_func(p, FUNC_INLINE, name, query_func(p, in)->module);
}

static uint32_t random_stack(uint64_t *seed, struct profile *p, bool kernel)
{
	uint32_t frames[32], n = 0, depth = 1 + feed_random(seed, 20);
	bool broken = !kernel && !feed_random(seed, 4);

	if (broken)
		frames[n++] = (uint32_t)profile_func(p, FUNC_END, "no table for pc", "");
	while (n < depth) {
		frames[n++] = pick(seed, p, kernel);
		/* Inlined functions are of the module of what they are in. */
		for (; !kernel && n < depth && !feed_random(seed, 3); n++)
			frames[n] = inlined(seed, p, frames[n - 1]);
	}
	/* What is inlined into an interpreter comes behind the function that it runs. */
	if (!kernel && !feed_random(seed, 4)) {
		frames[n++] = (uint32_t)profile_func(p, FUNC_EVAL, "eval", "liba.so");
		frames[n++] = (uint32_t)profile_func(p, FUNC_PYTHON, "run", "/app/run.py");
		frames[n++] = (uint32_t)profile_func(p, FUNC_INLINE, "inline0", "liba.so");
		frames[n++] = (uint32_t)profile_func(p, FUNC_INLINE, "inline1", "liba.so");
	}
	if (!kernel && !feed_random(seed, 5))
		frames[n++] = (uint32_t)profile_func(p, FUNC_JIT, "js:~work", "[jit]");
	return feed_stack(p, kernel, !broken, frames, n);
}

/* Seconds that are not whole, and a different number of each loss: an export swaps none. */
static void commit_event(struct profile *p, const struct profile_cell *cells, size_t n,
			 const char *event)
{
	static uint64_t time = 1000000000000;
	struct profile_health health = {.elapsed = 1005000000, .ncpus = 2, .frequency = 99};

	snprintf(health.event, sizeof(health.event), "%s", event);
	health.time = time += health.elapsed;
	health.clock = 1700000000000000000 + time;
	for (size_t i = 0; i < n; i++)
		health.samples += cells[i].count;
	if (strcmp(event, "cpu-clock") != 0)
		health.counted = 1000000;
	health.taken = health.samples;
	for (unsigned int i = 0; i < LOSS_COUNT; i++)
		health.loss[i] = 1 + i;
	assert_int_equal(profile_commit(p, cells, n, &health), 0);
}

static void plain_slice(struct profile *p, uint64_t *seed)
{
	struct profile_cell cells[CELLS];

	for (int i = 0; i < CELLS; i++) {
		pid_t pid = (pid_t)(100 + feed_random(seed, 5));
		uint32_t proc = feed_proc(p, pid, 1, pid % 2 ? "odd" : "even one", false);
		uint32_t what = feed_random(seed, 8), none = PROFILE_NO_STACK;
		uint32_t user = what && what < 7 ? random_stack(seed, p, false) : none;
		uint32_t kernel = what == 7 || what == 6 ? random_stack(seed, p, true) : none;

		cells[i] = (struct profile_cell){proc,
						 (uint32_t)pid + feed_random(seed, 3),
						 user,
						 kernel,
						 1 + feed_random(seed, 40),
						 (unsigned int)i % 5,
						 0};
		/* The first thread has its process's name, and so has one of the others. */
		if (cells[i].tid == (uint32_t)pid + 2)
			assert_int_equal(profile_thread(p, proc, cells[i].tid,
							pid == 100 ? "at \"work\" 1" : "helper"),
					 0);
	}
	assert_int_equal(profile_module(p, "liba.so", "0123abcd"), 0);
	commit_event(p, cells, CELLS, "cpu-clock");
}

/* Some are so many that perf's text joins them; none is so short that no drawing has it. */
static void wait_cell(struct profile *p, uint64_t *seed, struct profile_cell *cell)
{
	uint32_t frames[8], n = feed_random(seed, 8);
	enum wait_cause cause = (enum wait_cause)feed_random(seed, WAIT_CAUSES);

	for (uint32_t i = 0; i < n; i++)
		frames[i] = pick(seed, p, true);
	cell->kstack = (uint32_t)profile_wait_stack(p, frames, n, cause);
	if (!feed_random(seed, 6))
		cell->ustack = PROFILE_NO_STACK;
	cell->count = 1 + feed_random(seed, feed_random(seed, 20) ? 9 : 3000);
	cell->weight = cell->count + 2000 + feed_random(seed, feed_random(seed, 4) ? 5000 : 200000);
}

static void other_cell(struct profile *p, uint64_t *seed, struct profile_cell *cell, bool time)
{
	uint32_t frames[2] = {(uint32_t)profile_func(p, FUNC_WAIT, "lock", ""),
			      (uint32_t)profile_func(p, FUNC_WAKER, "woke", "pid 1")};

	if (time) {
		cell->ustack = PROFILE_NO_STACK;
		cell->kstack = profile_time_stack(p, WAIT_LOCK);
	} else {
		cell->kstack = feed_stack(p, true, false, frames, 2);
	}
	cell->count = 1;
	cell->weight = 1 + feed_random(seed, 1000);
}

static void waits_slice(struct profile *p, uint64_t *seed)
{
	struct profile_cell cells[CELLS];

	for (int i = 0; i < CELLS; i++) {
		pid_t pid = (pid_t)(100 + feed_random(seed, 3));
		struct profile_cell *cell = &cells[i];

		*cell = (struct profile_cell){.proc = feed_proc(p, pid, 1, "waits", false),
					      .tid = (uint32_t)pid + feed_random(seed, 3),
					      .ustack = random_stack(seed, p, false),
					      .kstack = PROFILE_NO_STACK,
					      .count = 1 + feed_random(seed, 40)};
		cell->weight = cell->count * 10101 + feed_random(seed, 3000);
		if (i % 4 == 3)
			other_cell(p, seed, cell, i % 8 == 7);
		else if (i % 4)
			wait_cell(p, seed, cell);
	}
	commit_event(p, cells, CELLS, "cpu-clock");
}

static void faults_slice(struct profile *p, uint64_t *seed)
{
	struct profile_cell cells[CELLS];

	for (int i = 0; i < CELLS; i++) {
		cells[i] = (struct profile_cell){.proc = feed_proc(p, 7, 1, "faults", false),
						 .tid = 7,
						 .ustack = random_stack(seed, p, false),
						 .kstack = PROFILE_NO_STACK,
						 .count = 1 + feed_random(seed, 9)};
		cells[i].weight = cells[i].count + 300 + feed_random(seed, 20000);
	}
	commit_event(p, cells, CELLS, "page-faults");
}

static void hostile_slice(struct profile *p, uint64_t *seed)
{
	static const char *const modules[] = {"mod.so", "vmlinux",   "[jit]",
					      "",	"/a b/t.py", "/J.java"};
	static const enum func_kind kinds[] = {FUNC_USER, FUNC_KERNEL, FUNC_JIT,
					       FUNC_END,  FUNC_PYTHON, FUNC_JAVA};
	struct profile_cell cells[6 * HOSTILE];
	size_t n = 0;

	for (size_t i = 0; i < HOSTILE; i++) {
		for (int k = 0; k < 6; k++) {
			struct profile_proc info = {.pid = (pid_t)(10 + i), .image = 1};
			uint32_t frames[2] = {
				(uint32_t)profile_func(p, kinds[k], hostile[i], modules[k]),
				(uint32_t)profile_func(p, FUNC_USER, "leaf",
						       hostile[HOSTILE - 1 - i])};

			strncpy(info.comm, hostile[i], sizeof(info.comm) - 1);
			strncpy(info.user, hostile[i], sizeof(info.user) - 1);
			strncpy(info.cmdline, hostile[i], sizeof(info.cmdline) - 1);
			cells[n] = (struct profile_cell){
				(uint32_t)profile_proc(p, &info),
				(uint32_t)(10 + i),
				feed_stack(p, false, k != 3, frames, 1 + (k == 0)),
				PROFILE_NO_STACK,
				1 + feed_random(seed, 9),
				0,
				0};
			n++;
		}
	}
	assert_int_equal(feed_commit(p, cells, n), 0);
}

/* tests/tui/export/test_export.py knows these. */
static void languages_slice(struct profile *p, uint64_t *seed)
{
	static const char *const others[] = {
		"php:handle@/www/Kernel.php", "pl:main::work@/opt/w.pl", "rb:Foo#bar@/srv/foo.rb",
		"js:listen@/srv/s.js", "java:com.foo.Bar.baz@/src/Bar.java"};
	int64_t method = profile_func(p, FUNC_PYTHON, "Thing.method", "/app/t.py");
	struct profile_cell cells[LANGUAGES_CELLS + 5];

	(void)seed;
	languages_cells(p, cells);
	for (int i = 0; i < 5; i++)
		cells[LANGUAGES_CELLS + i] =
			(struct profile_cell){feed_proc(p, 900, 1, "mix", false),
					      900,
					      feed_frames(p, others[i], 0),
					      PROFILE_NO_STACK,
					      1 + (uint64_t)i,
					      0,
					      0};
	assert_int_equal(profile_line(p, (uint32_t)method, "/app/t.py", 42, 1), 0);
	assert_int_equal(feed_commit(p, cells, LANGUAGES_CELLS + 5), 0);
}

static void empty_slice(struct profile *p, uint64_t *seed)
{
	(void)seed;
	assert_int_equal(feed_commit(p, NULL, 0), 0);
}

static void (*slice_fn(const char *name))(struct profile *p, uint64_t *seed)
{
	return !strcmp(name, "plain")	      ? plain_slice
	       : !strcmp(name, "hostile")     ? hostile_slice
	       : !strcmp(name, "languages")   ? languages_slice
	       : !strcmp(name, "off-cpu")     ? waits_slice
	       : !strcmp(name, "wall")	      ? waits_slice
	       : !strcmp(name, "page-faults") ? faults_slice
					      : empty_slice;
}

int main(int argc, char **argv)
{
	struct query q = {.span = SPAN_LAST, .proc = QUERY_ALL};
	struct profile *p = profile_new(10, 100000);
	struct exporter *exporters[FORMATS];
	FILE *files[FORMATS];
	uint64_t seed = 42;
	size_t count;
	const struct export_format *formats = export_table(&count);

	assert_true(argc == 3 && count <= FORMATS);
	for (int m = MEASURE_OFF; m < MEASURES_SHOWN; m++)
		if (!strcmp(argv[2], measure_name((enum measure)m)))
			q.measure = (enum measure)m;
	for (size_t i = 0; i < count; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", argv[1], formats[i].name);
		files[i] = fopen(path, "w");
		assert_non_null(files[i]);
		assert_int_equal(export_new(formats[i].format, files[i], NULL, &exporters[i]), 0);
	}
	for (int n = 0; n < SLICES; n++) {
		slice_fn(argv[2])(p, &seed);
		for (size_t i = 0; i < count; i++)
			assert_int_equal(export_add(exporters[i], p, &q), 0);
	}
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(export_finish(exporters[i]), 0);
		export_free(exporters[i]);
		assert_int_equal(fclose(files[i]), 0);
	}
	profile_free(p);
	return 0;
}
