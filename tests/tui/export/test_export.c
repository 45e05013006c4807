/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats by name and by file, files that are there as a whole or not at all, and errors of writes.
 * What is in the files is compared by tests/tui/export/test_export.py.
 * Covers: tui/export/export.c tui/util/outfile.c tui/export/export_model.c
 * Covers: tui/export/export_places.c tui/query/profile_copy.c tui/profile/profile_lines.c
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tests/support/scratch.h"
#include "tui/export/export_model.h"
#include "tui/export/export.h"
#include "tui/util/outfile.h"
#include "tui/query/query.h"

static const struct query last = {.span = SPAN_LAST, .proc = QUERY_ALL};

static void test_names(void **state)
{
	static const struct {
		const char *path, *name;
	} cases[] = {
		{"x.txt", "text"},
		{"/a.json/x.folded", "folded"},
		{"x.JSON", "json"},
		{"x.speedscope.json", "speedscope"},
		{"x.firefox.json", "firefox"},
		{"x.pb.gz", "pprof"},
		{".pb.gz", "pprof"},
		{"x.svg", "svg"},
		{"x.flame.svg", "flame"},
		{"x.gz", NULL},
		{"json", NULL},
		{"xjson", NULL},
		{"x.json/y", NULL},
		{"x.", NULL},
		{"", NULL},
	};
	size_t count;
	const struct export_format *formats = export_table(&count);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct export_format *format = export_by_file(cases[i].path);

		if (cases[i].name)
			assert_string_equal(format->name, cases[i].name);
		else
			assert_null(format);
	}
	for (size_t i = 0; i < count; i++)
		assert_ptr_equal(export_by_name(formats[i].name), &formats[i]);
	for (size_t i = 0; i < count; i++) {
		size_t length = strcspn(formats[i].suffixes, " ");
		char suffix[32];

		snprintf(suffix, sizeof(suffix), " .%.*s ", (int)length, formats[i].suffixes);
		assert_non_null(strstr(" " EXPORT_SUFFIXES " ", suffix));
	}
	assert_null(export_by_name("xml"));
	assert_null(export_by_name(""));
}

/* --- files ----------------------------------------------------------------------------------- */

static int folder_new(void **state)
{
	static char folder[SCRATCH];

	scratch_folder(folder, "export");
	*state = folder;
	return chdir(folder);
}

static int entries(void)
{
	DIR *dir = opendir(".");
	int n = -2;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static int folder_free(void **state)
{
	static const char *const names[] = {"file", "link", "dangling", "dir", "fifo"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		remove(names[i]);
	return chdir("/") || rmdir(*state);
}

static void assert_content(const char *path, const char *want)
{
	char text[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_int_equal(fread(text, 1, sizeof(text) - 1, file), strlen(want));
	assert_string_equal(text, want);
	fclose(file);
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	assert_int_equal(lstat(path, &status), 0);
	return status.st_mode;
}

static void put(const char *path, const char *text)
{
	struct outfile *file;

	assert_int_equal(outfile_open(path, &file), 0);
	fputs(text, outfile_stream(file));
	assert_int_equal(outfile_commit(file), 0);
	assert_content(path, text);
}

static void test_whole(void **state)
{
	mode_t mask = umask(027);
	struct outfile *file;

	(void)state;
	put("file", "one");
	assert_int_equal(mode_of("file") & 0777, 0640);
	chmod("file", 0604);
	assert_int_equal(outfile_open("file", &file), 0);
	fputs("two", outfile_stream(file));
	fflush(outfile_stream(file));
	assert_content("file", "one"); /* until it is complete */
	assert_int_equal(entries(), 2);
	outfile_abandon(file);
	assert_content("file", "one");
	assert_int_equal(entries(), 1);
	put("file", "three");
	assert_int_equal(mode_of("file") & 0777, 0604);
	assert_int_equal(entries(), 1);
	outfile_abandon(NULL);
	umask(mask);
}

/* A file that could not be written whole takes no name, and what had it stays. */
static void test_full(void **state)
{
	struct rlimit old, small = {.rlim_cur = 1000};
	char text[4000] = "";
	struct outfile *file;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	put("file", "one");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int n = 0; n < 2; n++) {
		assert_int_equal(outfile_open(n ? "other" : "file", &file), 0);
		fputs(text, outfile_stream(file));
		assert_int_equal(outfile_commit(file), -EFBIG);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_content("file", "one");
	assert_int_equal(entries(), 1);
}

/* Nothing is replaced, not even what came in between. */
static void test_new(void **state)
{
	struct outfile *file;

	(void)state;
	assert_int_equal(outfile_new("file", &file), 0);
	fputs("new", outfile_stream(file));
	assert_int_equal(outfile_commit(file), 0);
	assert_content("file", "new");
	assert_int_equal(outfile_new("file", &file), -EEXIST);
	assert_int_equal(outfile_new("/dev/null", &file), -EEXIST);
	assert_int_equal(outfile_new("link", &file), 0);
	fputs("late", outfile_stream(file));
	assert_int_equal(symlink("file", "link"), 0);
	assert_int_equal(outfile_commit(file), -EEXIST);
	assert_content("link", "new");
	assert_int_equal(entries(), 2);
}

/* A link stays one and its file is written; what is no file is written and stays what it is. */
static void test_others(void **state)
{
	struct outfile *file;
	int fd;

	(void)state;
	put("file", "plain");
	assert_int_equal(symlink("file", "link"), 0);
	put("link", "through");
	assert_true(S_ISLNK(mode_of("link")));
	assert_content("file", "through");
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_true(outfile_open("dangling", &file) < 0);
	assert_null(file);
	assert_int_equal(mkdir("dir", 0700), 0);
	assert_int_equal(outfile_open("dir", &file), -EISDIR);
	assert_int_equal(outfile_open("", &file), -ENOENT);
	assert_int_equal(outfile_open("none/file", &file), -ENOENT);
	assert_int_equal(outfile_open("file/file", &file), -ENOTDIR);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDWR | O_NONBLOCK);
	assert_true(fd >= 0);
	assert_int_equal(outfile_open("fifo", &file), 0);
	fputs("piped", outfile_stream(file));
	assert_int_equal(outfile_commit(file), 0);
	assert_true(S_ISFIFO(mode_of("fifo")));
	close(fd);
	assert_int_equal(outfile_open("/dev/full", &file), 0);
	fputs("too much", outfile_stream(file));
	assert_int_equal(outfile_commit(file), -ENOSPC);
	assert_true(S_ISCHR(mode_of("/dev/full")));
	assert_int_equal(entries(), 5);
	if (geteuid() == 0) {
		/* The owner of the link would choose which file root replaces. */
		assert_int_equal(lchown("link", 65534, 65534), 0);
		assert_int_equal(outfile_open("link", &file), -EPERM);
		assert_null(file);
		assert_content("file", "through");
	}
}

/* --- writes that fail ------------------------------------------------------------------------ */

static struct profile *small(void)
{
	struct profile *p = profile_new(10, 1000);
	struct profile_cell cell = {feed_proc(p, 7, 1, "work", false),
				    7,
				    feed_names(p, false, "main;work"),
				    PROFILE_NO_STACK,
				    5,
				    0,
				    0};

	assert_int_equal(feed_commit(p, &cell, 1), 0);
	return p;
}

static int write_to(FILE *to, enum file_format format, struct profile *p)
{
	struct exporter *e;
	int err = export_new(format, to, NULL, &e);

	if (!err)
		err = export_add(e, p, &last);
	if (!err)
		err = export_finish(e);
	export_free(e);
	return err;
}

static void test_errors(void **state)
{
	struct profile *p = small();
	size_t count;
	const struct export_format *formats = export_table(&count);

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < count; i++) {
		FILE *to = fopen("/dev/full", "w");
		int fds[2];

		assert_int_equal(write_to(to, formats[i].format, p), -ENOSPC);
		fclose(to);
		assert_int_equal(pipe(fds), 0);
		close(fds[0]);
		to = fdopen(fds[1], "w");
		assert_int_equal(write_to(to, formats[i].format, p), -EPIPE);
		fclose(to);
	}
	export_free(NULL);
	profile_lock(p); /* it was given back each time */
	profile_unlock(p);
	profile_free(p);
}

/* --- what is copied -------------------------------------------------------------------------- */

/* Ids change hands between slices; names do not. */
static void test_capture_slices(void **state)
{
	struct profile *p = profile_new(1, 1000);
	struct export_model c = {0};
	struct export_model_sample *merged;
	struct export_model_sum *sums;
	uint64_t weight = 0;
	size_t count;

	(void)state;
	for (int i = 0; i < 50; i++) {
		char names[64];
		struct profile_cell cell = {.tid = 7,
					    .kstack = PROFILE_NO_STACK,
					    .count = 2,
					    .weight = 1000 + (uint64_t)i};

		snprintf(names, sizeof(names), "main;f%d;main", i % 7);
		cell.proc = feed_proc(p, 7 + i % 2, 1, "work", false);
		cell.ustack = feed_names(p, false, names);
		profile_lock(p);
		assert_int_equal(feed_commit(p, &cell, 1), 0);
		profile_stack_put(p, cell.ustack);
		assert_int_equal(export_model_add(&c, p, &last), 0);
		profile_zero(p);
		profile_unlock(p);
	}
	assert_int_equal(c.nslices, 50);
	assert_int_equal(c.nfuncs, 8);
	assert_int_equal(c.nnodes, 15);
	assert_int_equal(c.nprocs, 2);
	assert_int_equal(c.count, 100);
	assert_int_equal(c.health.samples, 100);
	assert_int_equal(c.health.elapsed, 50 * NS);
	merged = export_model_merged(&c, &count);
	assert_int_equal(count, 14);
	for (size_t i = 0; i < count; i++)
		weight += merged[i].weight;
	assert_int_equal(weight, 50 * 1000 + 49 * 50 / 2);
	assert_int_equal(c.weight, weight);
	free(merged);
	sums = export_model_sums(&c);
	assert_string_equal(export_model_text(&c, c.funcs[0].name), "main");
	assert_int_equal(sums[0].self, 100);
	assert_int_equal(sums[0].total, 100);
	assert_int_equal(sums[1].self, 0);
	assert_int_equal(sums[1].total, 16);
	assert_int_equal(sums[0].self_weight, weight);
	assert_int_equal(sums[0].total_weight, weight);
	assert_int_equal(sums[1].self_weight, 0);
	/* f0, every seventh. */
	assert_int_equal(sums[1].total_weight, 8 * 1000 + 7 * 28);
	free(sums);
	for (uint32_t i = 1; i < c.nslices; i++)
		assert_true(c.slices[i].time >= c.slices[i - 1].time + c.slices[i - 1].elapsed);
	export_model_free(&c);
	assert_int_equal(c.nslices, 0);
	profile_free(p);
}

/* Those beyond the limit are put together; those that were there go on to be told apart. */
static void test_too_many_procs(void **state)
{
	enum { AT_ONCE = 1024 };
	static struct profile_cell cells[AT_ONCE];
	struct profile *p = profile_new(1, 2 * AT_ONCE);
	struct export_model c = {0};
	const struct export_model_proc *known, *other;

	(void)state;
	profile_lock(p);
	for (pid_t pid = 1; (uint32_t)pid <= EXPORT_MODEL_PROCS_MAX + 1; pid += AT_ONCE) {
		uint32_t stack = feed_names(p, false, "main;work");

		for (int i = 0; i < AT_ONCE; i++)
			cells[i] = (struct profile_cell){
				.proc = feed_proc(p, pid + i, 1, "work", true),
				.ustack = stack,
				.kstack = PROFILE_NO_STACK,
				.count = 1};
		assert_int_equal(feed_commit(p, cells, AT_ONCE), 0);
		profile_stack_put(p, stack);
		assert_int_equal(export_model_add(&c, p, &last), 0);
		profile_zero(p);
	}
	assert_int_equal(c.nprocs, EXPORT_MODEL_PROCS_MAX + 1);
	cells[0].ustack = feed_names(p, false, "main;work");
	cells[0].proc = feed_proc(p, 1, 1, "late", false);
	assert_int_equal(feed_commit(p, cells, 1), 0);
	assert_int_equal(export_model_add(&c, p, &last), 0);
	profile_unlock(p);
	known = &c.procs[c.samples[c.nsamples - 1].proc];
	other = &c.procs[c.samples[c.nsamples - 2].proc];
	assert_int_equal(known->pid, 1);
	assert_string_equal(export_model_text(&c, known->comm), "late");
	assert_string_equal(export_model_text(&c, other->comm), "[others]");
	assert_int_equal(other->pid, 0);
	export_model_free(&c);
	profile_free(p);
}

static void test_builds(void **state)
{
	struct profile *p = profile_new(1, 10);

	(void)state;
	profile_lock(p);
	assert_string_equal(query_build(p, "a.so"), "");
	assert_int_equal(profile_module(p, "a.so", "ab12"), 0);
	assert_int_equal(profile_module(p, "b.so", ""), 0);
	assert_int_equal(profile_module(p, "a.so", "ab12"), 0);
	assert_string_equal(query_build(p, "a.so"), "ab12");
	assert_int_equal(profile_module(p, "b.so", "cd34"), 0);
	assert_string_equal(query_build(p, "b.so"), "");
	assert_int_equal(profile_module(p, "a.so", "ef"), 0);
	assert_string_equal(query_build(p, "a.so"), "");
	assert_int_equal(profile_module(p, "a.so", "ab12"), 0);
	assert_string_equal(query_build(p, "a.so"), "");
	profile_unlock(p);
	profile_free(p);
}

/* One that turns out to be of two files is none, also of what was captured before. */
static void test_captured_builds(void **state)
{
	static const char *const told[] = {"", "ab12", "ab12", "cd34"};
	static const char *const want[] = {"", "ab12", "ab12", ""};
	struct profile *p = profile_new(1, 1000);
	struct export_model c = {0};

	(void)state;
	profile_lock(p);
	for (int i = 0; i < 4; i++) {
		struct profile_cell cell = {.proc = feed_proc(p, 7, 1, "work", false),
					    .ustack = feed_names(p, false, "main"),
					    .kstack = PROFILE_NO_STACK,
					    .count = 1};

		if (*told[i])
			assert_int_equal(profile_module(p, "libx.so", told[i]), 0);
		assert_int_equal(feed_commit(p, &cell, 1), 0);
		profile_stack_put(p, cell.ustack);
		assert_int_equal(export_model_add(&c, p, &last), 0);
		assert_int_equal(c.nmodules, 1);
		assert_string_equal(export_model_text(&c, c.modules[0].name), "libx.so");
		assert_string_equal(export_model_text(&c, c.modules[0].build), want[i]);
	}
	profile_unlock(p);
	export_model_free(&c);
	profile_free(p);
}

/* What `w` writes is made of a copy, which has all that the profile has. */
static void test_copied(void **state)
{
	struct profile *p = profile_new(1, 1000), *copy;
	struct profile_cell cell = {.tid = 9, .kstack = PROFILE_NO_STACK, .count = 3};
	struct export_model c = {0};

	(void)state;
	profile_lock(p);
	cell.proc = feed_proc(p, 7, 1, "work", false);
	cell.ustack = feed_names(p, false, "main;leaf");
	assert_int_equal(profile_thread(p, cell.proc, 9, "helper"), 0);
	assert_int_equal(profile_module(p, "libx.so", "ab12"), 0);
	assert_int_equal(
		profile_line(p, query_stack(p, cell.ustack)->frames[1], "/src/leaf.c", 42, 1), 0);
	assert_int_equal(feed_commit(p, &cell, 1), 0);
	profile_stack_put(p, cell.ustack);
	assert_int_equal(profile_copy_new(&copy, p, &last), 0);
	profile_unlock(p);
	profile_free(p);
	profile_lock(copy);
	assert_int_equal(export_model_add(&c, copy, &last), 0);
	profile_unlock(copy);
	profile_free(copy);
	assert_int_equal(c.nsamples, 1);
	assert_string_equal(export_model_thread(&c, 0, 9), "helper");
	assert_string_equal(export_model_thread(&c, 0, 7), "work");
	assert_string_equal(export_model_text(&c, c.modules[0].build), "ab12");
	assert_int_equal(c.nfuncs, 2);
	assert_int_equal(c.funcs[0].file, EXPORT_MODEL_NONE);
	assert_string_equal(export_model_text(&c, c.files[c.funcs[1].file]), "/src/leaf.c");
	assert_int_equal(c.funcs[1].line, 42);
	export_model_free(&c);
}

static void copied_alike(const struct profile *p, enum measure measure, bool hide_kernel)
{
	const struct query q = {.span = SPAN_TOTAL,
				.proc = QUERY_ALL,
				.measure = measure,
				.hide_kernel = hide_kernel};
	/* As of tui/app/user_files.c. */
	const struct query of_copy = {.span = SPAN_LAST,
				      .proc = QUERY_ALL,
				      .measure = measure,
				      .hide_kernel = hide_kernel};
	struct export_model want = {0}, got = {0};
	struct profile *copy;

	assert_int_equal(export_model_add(&want, p, &q), 0);
	assert_int_equal(profile_copy_new(&copy, p, &q), 0);
	profile_lock(copy);
	assert_int_equal(export_model_add(&got, copy, &of_copy), 0);
	profile_unlock(copy);
	profile_free(copy);
	assert_true(want.count > 0 && want.weight > want.count);
	assert_int_equal(got.count, want.count);
	assert_int_equal(got.weight, want.weight);
	assert_int_equal(got.nfuncs, want.nfuncs);
	assert_int_equal(got.nnodes, want.nnodes);
	assert_int_equal(export_model_unit(&got), export_model_unit(&want));
	export_model_free(&want);
	export_model_free(&got);
}

/* A copy has what is measured, with its weights. */
static void test_copied_measures(void **state)
{
	static const char *const events[] = {"cpu-clock", "page-faults"};

	(void)state;
	for (int e = 0; e < 2; e++) {
		struct profile *p = profile_new(1, 1000);
		struct profile_health health = {
			.elapsed = NS, .ncpus = 1, .frequency = 99, .taken = 3, .counted = 5000};
		uint32_t kernel = feed_func(p, FUNC_KERNEL, "futex_wait");
		struct profile_cell cells[3] = {
			{.tid = 9, .kstack = PROFILE_NO_STACK, .count = 3, .weight = 4711},
			{.tid = 9, .count = 7, .weight = 123456},
			{.tid = 9, .ustack = PROFILE_NO_STACK, .count = 1, .weight = 99}};

		snprintf(health.event, sizeof(health.event), "%s", events[e]);
		profile_lock(p);
		for (int i = 0; i < 3; i++)
			cells[i].proc = feed_proc(p, 7, 1, "work", false);
		cells[0].ustack = cells[1].ustack = feed_names(p, false, "main;leaf");
		cells[1].kstack = (uint32_t)profile_wait_stack(p, &kernel, 1, WAIT_LOCK);
		cells[2].kstack = profile_time_stack(p, WAIT_LOCK);
		assert_int_equal(profile_commit(p, cells, 3, &health), 0);
		for (int hide = 0; hide < 2; hide++) {
			copied_alike(p, MEASURE_CPU, hide);
			copied_alike(p, MEASURE_OFF, hide);
			copied_alike(p, MEASURE_WALL, hide);
		}
		profile_unlock(p);
		profile_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test_setup_teardown(test_whole, folder_new, folder_free),
		cmocka_unit_test_setup_teardown(test_full, folder_new, folder_free),
		cmocka_unit_test_setup_teardown(test_new, folder_new, folder_free),
		cmocka_unit_test_setup_teardown(test_others, folder_new, folder_free),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_capture_slices),
		cmocka_unit_test(test_captured_builds),
		cmocka_unit_test(test_copied),
		cmocka_unit_test(test_copied_measures),
		cmocka_unit_test(test_too_many_procs),
		cmocka_unit_test(test_builds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
