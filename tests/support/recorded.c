// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/recorded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tui/profile/board.h"
#include "tui/session/session.h"

char folder[SCRATCH], path[96], other[96];

int make_folder(void **state)
{
	(void)state;
	scratch_folder(folder, "session");
	snprintf(path, sizeof(path), "%s/session", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	return 0;
}

int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	unlink(other);
	return rmdir(folder);
}

static int by_cpu(const void *a, const void *b)
{
	const struct proc_row *x = a, *y = b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

void report_cpus(FILE *to, const struct profile *p, enum span span)
{
	struct query q = {.span = span, .proc = QUERY_ALL, .cpus = true, .by_cpu = true};
	struct proc_row *rows;
	size_t count;

	assert_int_equal(query_procs(p, &q, &rows, &count), 0);
	if (count)
		qsort(rows, count, sizeof(*rows), by_cpu);
	for (size_t i = 0; i < count; i++)
		fprintf(to, "cpu %u: %llu\n", rows[i].cpu, (unsigned long long)rows[i].samples);
	free(rows);
}

char *report(struct profile *p)
{
	struct query last = {.span = SPAN_LAST, .proc = QUERY_ALL};
	struct query all = {.span = SPAN_LAST, .proc = QUERY_ALL, .frames = FRAMES_ALL};
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	assert_int_equal(batch_folded(to, p, &last), 0);
	assert_int_equal(batch_folded(to, p, &all), 0);
	profile_lock(p);
	report_cpus(to, p, SPAN_LAST);
	profile_unlock(p);
	fclose(to);
	return text;
}

/* Threads have names of their own, and some get another, but for the first one of a process. */
static void name_thread(struct recorded *r, int n, const struct profile_cell *cell, uint32_t pid)
{
	struct named *named = &r->threads[n][r->nthreads[n]];

	if (cell->tid == pid)
		return;
	r->nthreads[n]++;
	*named = (struct named){.pid = pid, .tid = cell->tid};
	snprintf(named->comm, sizeof(named->comm), "%u/%u", cell->tid,
		 (uint32_t)n / 15 + cell->tid % 2);
	assert_int_equal(profile_thread(r->p, cell->proc, cell->tid, named->comm), 0);
}

/* The stack of names, or, of some, one with functions of a language. */
static uint32_t make_stack(struct recorded *r, size_t i, uint32_t f, uint32_t g, uint32_t h)
{
	static const char *const languages[] = {"py", "php", "pl", "rb", "js", "java"};
	char stack[160];

	snprintf(stack, sizeof(stack), "main;f%u;g%u;h%u", f, g, h);
	if (i % 4 != 3)
		return feed_names(r->p, false, stack);
	snprintf(stack, sizeof(stack), "main@libx.so;f%u@libx.so;eval:g%u@libx.so;%s:h%u@/app/t.%s",
		 f, g, languages[h % 6], h, languages[h % 6]);
	return feed_frames(r->p, stack, 0);
}

size_t make_cells(struct recorded *r, int n, struct profile_cell *cells)
{
	size_t count = feed_random(&r->random, 20);

	for (size_t i = 0; i < count; i++) {
		struct profile_cell *cell = &cells[i];
		uint32_t pid = 100 + (uint32_t)(n / 10) * 3 + feed_random(&r->random, 5);
		uint32_t f, g, h;
		char comm[16];

		snprintf(comm, sizeof(comm), "work;%u", pid);
		h = (uint32_t)n / 7 * 10 + feed_random(&r->random, 6);
		g = feed_random(&r->random, 4);
		f = feed_random(&r->random, 4);
		*cell = (struct profile_cell){
			.proc = feed_proc(r->p, (pid_t)pid, pid / 2, comm, false),
			.tid = pid + feed_random(&r->random, 3),
			.ustack = make_stack(r, i, f, g, h),
			.kstack = PROFILE_NO_STACK,
			.count = 1 + feed_random(&r->random, 300),
			.cpu = n % 3 ? feed_random(&r->random, 4) * (SESSION_CPU_MAX / 3) : 0};
		if (!feed_random(&r->random, 3))
			cell->kstack = feed_names(r->p, true, "entry;do_it");
		name_thread(r, n, cell, pid);
	}
	return count;
}

unsigned int line_of(struct profile *p, int i)
{
	char name[16];
	const struct profile_func *func;

	snprintf(name, sizeof(name), "f%d", i);
	func = query_func(p, feed_func(p, FUNC_USER, name));
	if (func->file)
		assert_string_equal(func->file, "/src/f.c");
	return func->line;
}

static void give_lines(struct recorded *r, int n, const struct profile_cell *cells, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t func = query_stack(r->p, cells[i].ustack)->frames[1];

		assert_int_equal(profile_line(r->p, func, "/src/f.c",
					      (unsigned int)(n / 9 * 10) + func % 7 + 1, 100),
				 0);
	}
	for (int i = 0; i < 4; i++)
		r->lines[n][i] = line_of(r->p, i);
}

void commit(struct recorded *r, struct session_writer *w, int n)
{
	struct profile_cell cells[32];
	struct profile_health health = {.elapsed = NS,
					.ncpus = 2,
					.frequency = 99,
					.event = "cpu-clock",
					.ticks = 198,
					.by_cpu = n % 3 != 0,
					.loss = {[LOSS_MISSED] = (uint64_t)n}};
	size_t count;

	if (r->border && n >= r->border && n < r->border + OTHERS)
		strcpy(health.event, "page-faults");
	/* What the collector does then. */
	if (r->border && (n == r->border || n == r->border + OTHERS))
		profile_rewind(r->p);
	count = make_cells(r, n, cells);
	give_lines(r, n, cells, count);
	for (size_t i = 0; i < count; i++)
		health.samples += cells[i].count;
	health.time = r->time += NS;
	health.clock = 1700000000 * NS + (uint64_t)n * NS;
	if (n % 10 == 9)
		feed_proc(r->p, 100 + n / 10 * 3, (uint64_t)(100 + n / 10 * 3) / 2, "gone", true);
	board_message(profile_board(r->p), MESSAGE_WARNING, RECORDED_MESSAGE, n);
	assert_int_equal(profile_commit(r->p, cells, count, &health), 0);
	if (w) {
		assert_int_equal(session_note(w, r->p, cells, count, &health), 0);
		assert_int_equal(session_flush(w), 0);
	}
	for (size_t i = 0; i < count; i++) {
		profile_stack_put(r->p, cells[i].ustack);
		if (cells[i].kstack != PROFILE_NO_STACK)
			profile_stack_put(r->p, cells[i].kstack);
	}
}

void record_events(struct recorded *r, int slices, size_t cells_max, int border)
{
	struct session_writer *w;
	struct timespec now;
	char error[256];

	clock_gettime(CLOCK_MONOTONIC, &now);
	*r = (struct recorded){.p = profile_new(WINDOW, cells_max),
			       .random = 7,
			       .border = border,
			       .time = (uint64_t)now.tv_sec * NS};
	if (session_writer_new(path, &w, error, sizeof(error)))
		fail_msg("%s", error);
	for (int n = 0; n < slices; n++) {
		profile_lock(r->p);
		commit(r, w, n);
		profile_unlock(r->p);
		r->reports[n] = report(r->p);
	}
	session_writer_free(w);
}

void record(struct recorded *r, int slices, size_t cells_max)
{
	record_events(r, slices, cells_max, 0);
}

void recorded_free(struct recorded *r)
{
	for (int n = 0; n < SLICES; n++)
		free(r->reports[n]);
	profile_free(r->p);
}
