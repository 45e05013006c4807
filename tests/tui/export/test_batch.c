/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports: exact folded lines, the figures of the text, and that nothing a process calls itself or
 * its functions can break a line, a terminal or the sums.
 * Covers: tui/export/batch.c tui/export/folded.c tui/util/share.h
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tests/support/languages.h"
#include "tui/export/batch.h"
#include "tui/export/folded.h"

struct report {
	bool folded, no_kernel, no_user;
};
#include "tui/profile/board.h"

static int write_report(FILE *to, struct profile *p, const struct report *r)
{
	const struct query q = {.span = SPAN_LAST,
				.proc = QUERY_ALL,
				.hide_kernel = r->no_kernel,
				.hide_user = r->no_user};

	return r->folded ? batch_folded(to, p, &q) : batch_text(to, p, &q);
}

static char *report(struct profile *p, const struct report *r)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_int_equal(write_report(to, p, r), 0);
	fclose(to);
	assert_int_equal(strlen(text), size);
	return text;
}

static const struct report folded = {.folded = true};

static struct profile_cell cell(uint32_t proc, uint32_t u, uint32_t k, uint64_t count)
{
	return (struct profile_cell){proc, proc, u, k, count, 0, 0};
}

/* Two processes of one name, a broken stack, kernel frames, a sample without any frame. */
static struct profile *example(void)
{
	struct profile *p = profile_new(10, 1000);
	uint32_t frames[2] = {feed_func(p, FUNC_END, "no table for pc"),
			      feed_func(p, FUNC_JIT, "[jit]")};
	uint32_t work = feed_names(p, false, "_start;main;work"), sys = feed_names(p, true, "e;r");
	uint32_t broken = feed_stack(p, false, false, frames, 2);
	uint32_t a = feed_proc(p, 10, 1, "cc", false), b = feed_proc(p, 11, 1, "cc", true);
	uint32_t c = feed_proc(p, 12, 1, "node", false);
	struct profile_cell cells[] = {cell(a, work, PROFILE_NO_STACK, 5),
				       cell(b, work, PROFILE_NO_STACK, 7),
				       cell(a, work, sys, 3),
				       cell(c, broken, PROFILE_NO_STACK, 2),
				       cell(c, broken, sys, 1),
				       cell(c, PROFILE_NO_STACK, sys, 4),
				       cell(c, PROFILE_NO_STACK, PROFILE_NO_STACK, 6)};
	struct profile_health health = {.elapsed = 2 * NS,
					.samples = 28,
					.user_samples = 20,
					.kernel_samples = 8,
					.user_walks = 18,
					.complete_walks = 15,
					.complete_fp_walks = 3,
					.taken = 40,
					.idle = 340,
					.ticks = 400,
					.filtered = 12,
					.loss = {[LOSS_COUNTS_FULL] = 9,
						 [LOSS_STACK_RING] = 6,
						 [LOSS_THROTTLED] = 12,
						 [LOSS_MISSED] = 8},
					.ncpus = 2,
					.frequency = 99,
					.event = "cpu-clock",
					.shards_used = 3,
					.words_used = 1 << 18,
					.words_max = 1 << 24,
					.self_ns = NS / 50};

	assert_int_equal(profile_line(p, feed_func(p, FUNC_USER, "work"), "/src/work.c", 12, 1), 0);
	/* The slice before must not show. */
	assert_int_equal(feed_commit(p, cells, 4), 0);
	assert_int_equal(profile_commit(p, cells, sizeof(cells) / sizeof(*cells), &health), 0);
	return p;
}

static void test_folded(void **state)
{
	static const struct {
		bool no_kernel, no_user;
		const char *text;
	} cases[] = {
		{false, false,
		 "cc;_start;main;work 12\n"
		 "node 6\n"
		 "node;e_[k];r_[k] 4\n"
		 "cc;_start;main;work;e_[k];r_[k] 3\n"
		 "node;[no table for pc];[jit] 2\n"
		 "node;[no table for pc];[jit];e_[k];r_[k] 1\n"},
		{true, false,
		 "cc;_start;main;work 15\n"
		 "node 10\n"
		 "node;[no table for pc];[jit] 3\n"},
		{false, true,
		 "node;e_[k];r_[k] 5\n"
		 "cc;e_[k];r_[k] 3\n"},
	};
	struct profile *p = example();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct report r = {.folded = true,
				   .no_kernel = cases[i].no_kernel,
				   .no_user = cases[i].no_user};
		char *text = report(p, &r);

		assert_string_equal(text, cases[i].text);
		free(text);
	}
	profile_free(p);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("`%s' is not in the report:\n%s", part, text);
}

static void test_text(void **state)
{
	static const char *const parts[] = {
		"2.00 s of cpu-clock at 99 Hz on 2 CPUs\n",
		"28 samples (20 in user mode, 8 in the kernel), 14.0 a second; lost 9 samples "
		"(9 the count map was full, 6 counted without their frames)\n"
		"400 ticks due: 40 samples taken, 340 idle, 12 throttled, 8 missed (2.0 %)\n"
		"throttled by the kernel: lower -F, or raise kernel.perf_event_max_sample_rate\n",
		"83.3 % of 18 user stacks complete, 20.0 % of these by frame pointers; "
		"unwind tables 1.0 of 64.0 MiB in 3 shards; own CPU 1.0 % of one\n",
		/* 13 of node: 6.5 a second at 99 Hz; 5 in the kernel; 3 walks, none complete */
		"\n      12 root            6.6       13     38.5        0.0  /bin/node -x\n",
		"\n      10 root            4.0        8     37.5      100.0  /bin/cc -x\n",
		"\n      11 root            3.5        7      0.0      100.0  /bin/cc -x (exited)\n",
		"\nHottest functions of node, PID 12 (% of its 13 samples)\n",
		"\n    38.5     38.5  vmlinux               r [k]\n",
		"\n    15.4     23.1  libx.so               [jit] [jit]\n",
		"\n    62.5    100.0  libx.so               work  work.c:12\n",
		"\nWhy stacks are not complete\n",
		"\n       3       12 node             no table for pc\n",
	};
	const struct report plain = {0};
	struct profile *p = example();
	char *text = report(p, &plain);

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		assert_has(text, parts[i]);
	assert_true(strstr(text, "/bin/node") < strstr(text, "/bin/cc"));
	free(text);
	profile_free(p);

	p = profile_new(10, 100);
	text = report(p, &plain);
	assert_has(text, "nothing was sampled");
	free(text);
	text = report(p, &folded);
	assert_string_equal(text, "");
	free(text);
	profile_free(p);
}

/* What a line must be, whatever stands in the names; returns its count. */
static uint64_t assert_line(const char *line, size_t length)
{
	const char *count = memrchr(line, ' ', length);
	uint64_t value = 0;

	assert_non_null(count);
	assert_true(count > line && count + 1 < line + length);
	for (const char *s = count + 1; s < line + length; s++) {
		assert_true(*s >= '0' && *s <= '9');
		value = value * 10 + (uint64_t)(*s - '0');
	}
	assert_true(value > 0);
	for (const char *s = line; s < count; s++) {
		assert_true((unsigned char)*s >= ' ' && *s != 127);
		assert_false((unsigned char)*s == 0xc2 && (unsigned char)s[1] < 0xa0);
		if (*s == ';') /* no frame is empty */
			assert_true(s > line && s[-1] != ';' && s + 1 < count);
	}
	return value;
}

/* After a COMMAND none of its processes is left, though their samples are in the report. */
static void test_chosen(void **state)
{
	struct profile_health health = {
		.elapsed = NS, .samples = 5, .filtered = 7, .filtering = true};
	const struct report plain = {0};
	struct profile *p = profile_new(10, 100);
	uint32_t proc = feed_proc(p, 10, 1, "cc", true);
	struct profile_cell cells[] = {
		cell(proc, feed_names(p, false, "main"), PROFILE_NO_STACK, 5)};
	char *text;

	(void)state;
	assert_int_equal(profile_commit(p, cells, 1, &health), 0);
	text = report(p, &plain);
	assert_has(text, "\nthe chosen processes have ended, 7 samples of others left out\n");
	free(text);
	health.nattached = 2;
	assert_int_equal(profile_commit(p, cells, 1, &health), 0);
	text = report(p, &plain);
	assert_has(text, "\n2 processes chosen, 7 samples of others left out\n");
	free(text);
	health.nattached = health.user_walks = health.complete_walks = 1;
	assert_int_equal(profile_commit(p, cells, 1, &health), 0);
	text = report(p, &plain);
	assert_has(text, "\n1 process chosen, 7 samples of others left out\n");
	assert_has(text, "\n100.0 % of 1 user stack complete; ");
	free(text);
	health = (struct profile_health){.elapsed = NS, .filtered = 7, .filtering = true};
	assert_int_equal(profile_commit(p, cells, 0, &health), 0);
	text = report(p, &plain);
	assert_has(text, "\n0 processes chosen, 7 samples of others left out\n");
	assert_has(text, "\nno user stacks; unwind tables ");
	free(text);
	profile_free(p);
}

static const char *const hostile[] = {"a;b",
				      "a\nb 7\nc",
				      "\033[2J\033]0;title\007",
				      "",
				      ";",
				      "\r",
				      "\xff\xfe",
				      "x\x9by",
				      "\xc2\x9b"
				      "31m",
				      "\xe2\x80\xae"
				      "evil",
				      "tab\there",
				      "back\b\b",
				      "\x7f",
				      " ",
				      "1 2 3",
				      "_[k]",
				      "[reason]",
				      "%s%n"};

#define HOSTILE (sizeof(hostile) / sizeof(*hostile))

static struct profile *hostile_profile(uint64_t *sum)
{
	struct profile *p = profile_new(10, 1000);
	struct profile_cell cells[HOSTILE * (FUNC_END + 1)];
	size_t n = 0;

	*sum = 0;
	for (size_t i = 0; i < HOSTILE; i++) {
		for (enum func_kind kind = FUNC_USER; kind <= FUNC_END; kind++) {
			int64_t func = profile_func(p, kind, hostile[i], hostile[HOSTILE - 1 - i]);
			uint32_t frames[2] = {(uint32_t)func, (uint32_t)func};
			struct profile_proc info = {.pid = (pid_t)(10 + i), .image = 1};

			strncpy(info.comm, hostile[i], sizeof(info.comm) - 1);
			strncpy(info.user, hostile[i], sizeof(info.user) - 1);
			strncpy(info.cmdline, hostile[i], sizeof(info.cmdline) - 1);
			cells[n] = cell((uint32_t)profile_proc(p, &info),
					feed_stack(p, false, false, frames, 2), PROFILE_NO_STACK,
					n + 1);
			*sum += ++n;
		}
	}
	assert_int_equal(feed_commit(p, cells, n), 0);
	return p;
}

static void test_hostile_names(void **state)
{
	const struct report plain = {0};
	uint64_t sum, found = 0;
	struct profile *p = hostile_profile(&sum);
	char *text = report(p, &folded);

	(void)state;
	for (char *line = text; *line;) {
		char *end = strchr(line, '\n');

		found += assert_line(line, (size_t)(end - line));
		line = end + 1;
	}
	assert_int_equal(found, sum);
	assert_has(text, "a:b;a:b;a:b ");
	assert_has(text, "a?b 7?c;[a?b 7?c];[a?b 7?c] ");
	assert_has(text, "?;?_[k];?_[k] ");
	free(text);

	text = report(p, &plain);
	for (const char *s = text; *s; s++) {
		assert_true(*s == '\n' || (unsigned char)*s >= ' ');
		assert_int_not_equal(*s, 127);
	}
	assert_null(strstr(text, "\xc2\x9b"));
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_null(strstr(text, "\xff"));
	free(text);
	profile_free(p);
}

/* Equal lines from different stacks and a random profile: each line once, sorted, nothing lost. */
static void test_folded_merges(void **state)
{
	struct profile *p = profile_new(10, 10000);
	struct profile_cell cells[2000];
	uint64_t seed = 11, sum = 0, found = 0, last = UINT64_MAX;
	char *text, *before = NULL;
	int lines = 0;

	(void)state;
	for (size_t i = 0; i < 2000; i++) {
		char name[16], module[16];
		uint32_t frames[3];

		for (int f = 0; f < 3; f++) {
			sprintf(name, "f%u", feed_random(&seed, 4));
			sprintf(module, "m%u", feed_random(&seed, 4));
			frames[f] = (uint32_t)profile_func(p, FUNC_USER, name, module);
		}
		cells[i] = cell(feed_proc(p, (pid_t)(1 + i % 9), 1, i % 2 ? "a" : "b", false),
				feed_stack(p, false, true, frames, 3), PROFILE_NO_STACK,
				1 + feed_random(&seed, 50));
		sum += cells[i].count;
	}
	/* The name of a process is what was said last. */
	for (pid_t pid = 1; pid <= 9; pid++)
		feed_proc(p, pid, 1, pid % 2 ? "a" : "b", false);
	assert_int_equal(feed_commit(p, cells, 2000), 0);
	text = report(p, &folded);
	for (char *line = text; *line; lines++) {
		char *end = strchr(line, '\n');
		uint64_t count = assert_line(line, (size_t)(end - line));

		assert_true(count <= last);
		last = count;
		found += count;
		*end = 0;
		*strrchr(line, ' ') = 0; /* the stacks read so far lie between the counts */
		for (before = text; before < line; before += strlen(before) + 1) {
			if (*before == 'a' || *before == 'b')
				assert_string_not_equal(before, line);
		}
		line = end + 1;
	}
	assert_int_equal(found, sum);
	assert_int_equal(lines, 2 * 4 * 4 * 4);
	free(text);
	profile_free(p);
}

static void test_closed_pipe(void **state)
{
	const struct report plain = {0};
	struct profile *p = example();
	int fds[2];
	FILE *to;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe(fds), 0);
		close(fds[0]);
		to = fdopen(fds[1], "w");
		assert_int_equal(write_report(to, p, i ? &folded : &plain), -EPIPE);
		fclose(to);
	}
	to = fopen("/dev/full", "w");
	assert_int_equal(write_report(to, p, &folded), -ENOSPC);
	fclose(to);
	/* The lock was given back each time. */
	profile_lock(p);
	profile_unlock(p);
	profile_free(p);
}

static void test_messages(void **state)
{
	struct profile *p = profile_new(10, 100);
	uint64_t serial = 0;
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	board_message(profile_board(p), MESSAGE_WARNING, "no table for %s", "a\033b");
	board_message(profile_board(p), MESSAGE_INFO, "done");
	assert_int_equal(batch_messages(to, p, &serial), 0);
	assert_int_equal(batch_messages(to, p, &serial), 0);
	board_message(profile_board(p), MESSAGE_ERROR, "gone");
	assert_int_equal(batch_messages(to, p, &serial), 0);
	fclose(to);
	assert_string_equal(text, "stacktop: warning: no table for a?b\nstacktop: done\n"
				  "stacktop: error: gone\n");
	free(text);
	profile_free(p);
}

static void test_frame(void **state)
{
	char to[8];

	(void)state;
	assert_int_equal(folded_frame(to, sizeof(to), "[T; 4]::len"), 7);
	assert_string_equal(to, "[T: 4]:");
	assert_int_equal(folded_frame(to, sizeof(to), ""), 1);
	assert_string_equal(to, "?");
}

/* What says of which kind a frame is, no name can say. */
static void test_label(void **state)
{
	static const struct {
		enum func_kind kind;
		const char *name, *label;
	} labels[] = {
		{FUNC_USER, "f", "f"},
		{FUNC_KERNEL, "f", "f_[k]"},
		{FUNC_INLINE, "f", "f_[i]"},
		{FUNC_END, "why", "[why]"},
		{FUNC_USER, "f_[k]", "f_[k?"},
		{FUNC_USER, "f_[i]", "f_[i?"},
		{FUNC_INLINE, "f_[k]", "f_[k?_[i]"},
		{FUNC_USER, "_[i]", "_[i?"},
		{FUNC_USER, "a;b", "a:b"},
		{FUNC_USER, "", "?"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		char text[32];
		size_t length = folded_label(text, sizeof(text), labels[i].kind, labels[i].name);

		assert_string_equal(text, labels[i].label);
		assert_int_equal(length, strlen(text));
	}
}

/* Of eleven samples; the interpreter gives way, and modules of a language are files. */
static void test_languages(void **state)
{
	static const struct report plain = {.folded = false};
	struct profile *p = profile_new(10, 1000);
	char *text;

	(void)state;
	languages_feed(p);
	text = report(p, &plain);
	assert_non_null(strstr(text,
			       "\n    45.5     63.6  _hashlib.cpython-311.so  sha256_update\n"
			       "    36.4    100.0  t.py                  main [py]\n"
			       "    18.2     18.2  vmlinux               sys_getrandom [k]\n"));
	assert_null(strstr(text, "_PyEval"));
	free(text);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_languages),     cmocka_unit_test(test_folded),
		cmocka_unit_test(test_text),	      cmocka_unit_test(test_chosen),
		cmocka_unit_test(test_hostile_names), cmocka_unit_test(test_folded_merges),
		cmocka_unit_test(test_closed_pipe),   cmocka_unit_test(test_messages),
		cmocka_unit_test(test_frame),	      cmocka_unit_test(test_label),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
