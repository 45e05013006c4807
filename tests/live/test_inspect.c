// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Captures walks and replays them: the steps must give exactly the frames that the BPF program
 * gave, these must be the functions that the program under test calls, and each step's words must
 * match the next step. Run as root, from the top of the tree.
 * Covers: bpf/report/trace.c tui/collect/collector_slice.c
 * Covers: tui/profile/inspection.c tui/views/inspector_words.c
 * Covers: tui/collect/collector_post.c tui/collect/collector_priv.h
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/report/trace.h"
#include "tests/support/rights.h"
#include "tui/collect/collector.h"
#include "tui/profile/board.h"
#include "tui/profile/source.h"
#include "bpf/sampler/event.h"
#include "tui/profile/inspection.h"
#include "tui/views/inspector.h"
#include "tui/profile/profile.h"

#define PATIENCE_MS 120000

struct expected {
	const char *program, *mode;
	const char *chain[6]; /* leaf first; */
	bool beyond;	      /* its stack is deeper than the captured part */
	enum trace_way way;   /* of some step; TRACE_NONE: CFI all the way */
	bool fp_works;	      /* frame pointers alone find these frames, too */
};

static const struct expected cases[] = {
	{"nest", "alloca", {"spin", "with_alloca", "main"}, false, TRACE_NONE, false},
	{"nest", "depth500", {"spin", "f0", "f1", "f2", "f3", "f4"}, true, TRACE_NONE, false},
	{"realign",
	 "dleaf",
	 {"spin", "drap", "drap_loop", "drap_leaf", "main"},
	 false,
	 TRACE_NONE,
	 false},
	{"coro", "last", {"spin", "last_call", "to_last_call", "main"}, false, TRACE_NONE, false},
	{"signals", "one", {"spin", "outer_handler"}, false, TRACE_SIGNAL, false},
	{"blind",
	 "fcall",
	 {"spin", "blind_framed_call", "framed_call", "main"},
	 false,
	 TRACE_NONE,
	 false},
	{"../work/returns",
	 "4",
	 {"spin", "second", "plain", "down", "down", "down"},
	 false,
	 TRACE_NONE,
	 false},
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

static pid_t start(const struct expected *e)
{
	char path[256], line[16] = "";
	const char *build = getenv("BUILD");
	int out[2];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/tests/frames/%s", build ? build : "build", e->program);
	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		dup2(out[1], 1);
		execl(path, path, e->mode, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	/* It prints its PID when it runs only the construct. */
	if (read(out[0], line, sizeof(line) - 1) <= 0 || atoi(line) != pid)
		fail_msg("%s %s did not start", path, e->mode);
	close(out[0]);
	return pid;
}

static struct inspection *catch (struct source *source, struct profile *p, pid_t pid)
{
	char arg[32];

	snprintf(arg, sizeof(arg), "%d 0", (int)pid);
	for (int waited = 0; waited < PATIENCE_MS; waited += 50) {
		struct inspection *i;

		/* The first samples may come before the tables. */
		if (waited % 2000 == 0)
			source_post(source, SOURCE_INSPECT, arg);
		nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
		profile_lock(p);
		i = board_inspection(profile_board(p));
		profile_unlock(p);
		if (i && i->trace->capture.tgid == (uint32_t)pid && i->trace->capture.user_mode &&
		    (i->trace->short_of || i->trace->capture.reason == WALK_BOTTOM))
			return i;
		inspection_put(i);
	}
	fail_msg("no walk of %d was caught", (int)pid);
	return NULL;
}

static void check_steps(const struct expected *e, const struct inspection *i)
{
	const struct trace *t = i->trace;
	bool seen = e->way == TRACE_NONE;

	for (uint32_t n = 0; n < t->nsteps; n++) {
		const struct trace_step *s = &t->steps[n];
		char lines[INSPECTOR_LINES][INSPECTOR_WIDTH];
		uint64_t value;

		assert_int_equal(s->frame, t->capture.frames[n]);
		/* a call is looked up at the call instruction, an interrupted frame at its pc */
		assert_int_equal(s->exact, !n || t->steps[n - 1].way == TRACE_SIGNAL);
		assert_int_equal(s->addr, s->exact ? s->pc : s->pc - 1);
		assert_true(inspector_words(i, n, lines) > 3);
		if (s->has_row) { /* of the granule, or the last before it */
			assert_in_range(s->row + 1, INDEX_FIRST(s->index),
					INDEX_FIRST(s->index) + INDEX_ROWS(s->index));
			assert_true(s->row_start <= s->addr);
			assert_true(!s->row_end || s->addr < s->row_end);
		}
		seen |= s->way == e->way;
		if (s->reason != WALK_CONTINUE)
			continue;
		assert_true(n + 1 < t->nsteps);
		assert_int_equal(t->steps[n + 1].pc, s->ra);
		if (s->way != TRACE_CFI)
			continue;
		assert_int_equal(t->steps[n + 1].sp, s->cfa);
		if (s->ra_at) {
			assert_true(trace_word(t, s->ra_at, &value));
			assert_int_equal(value, s->ra);
		}
		if (s->fp_at && trace_word(t, s->fp_at, &value))
			assert_int_equal(value, s->caller_fp);
	}
	assert_true(seen);
}

static void check(const struct expected *e, const struct inspection *i)
{
	const struct trace *t = i->trace;
	uint32_t first;
	char why[512];

	for (uint32_t n = 0; n < 6 && e->chain[n]; n++) {
		if (n >= t->nsteps || strcmp(i->frames[n].name, e->chain[n]) != 0)
			fail_msg("%s %s: frame %u is %s, not %s", e->program, e->mode, n,
				 n < t->nsteps ? i->frames[n].name : "none", e->chain[n]);
	}
	assert_true(t->capture.nframes >= t->nsteps);
	assert_int_equal(t->short_of, e->beyond);
	assert_int_equal(t->agrees, !e->beyond);
	if (!e->beyond)
		assert_int_equal(t->nsteps, t->capture.nframes);
	check_steps(e, i);
	inspection_compare(i, &first, why, sizeof(why));
	print_message("# %s %s: %u frames; %s\n", e->program, e->mode, t->capture.nframes, why);
	/* Without frame pointers the first caller or one soon after is missed. */
	assert_int_equal(first >= t->nsteps, e->fp_works);
	assert_true(why[0]);
}

/* All programs at once, in one source that samples only them. */
static void steps_are_the_walk(void **state)
{
	static const struct collector_options base = {.delay = 1, .frequency = 199, .tables = 64};
	struct collector_options options = base;
	struct inspection *inspections[CASES];
	struct collector *collector;
	struct source *source;
	struct profile *p;
	pid_t pids[CASES];
	char error[512];

	(void)state;
	need_sampling();
	p = profile_new(10, 16384);
	for (size_t i = 0; i < CASES; i++)
		pids[i] = start(&cases[i]);
	options.event = event_find("cpu-clock");
	options.pids = pids;
	options.npids = CASES;
	if (collector_new(p, &options, NULL, &collector, error, sizeof(error)) ||
	    collector_start(collector, error, sizeof(error)))
		fail_msg("%s", error);
	source = collector_source(collector);
	for (size_t i = 0; i < CASES; i++)
		inspections[i] = catch (source, p, pids[i]);
	source_free(source);
	for (size_t i = 0; i < CASES; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
		check(&cases[i], inspections[i]);
		inspection_put(inspections[i]);
	}
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_are_the_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
