/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of the screen on a large machine: 5,000 processes and a call tree of 100,000 nodes in
 * the window; 12,600 stacks a second, each time in another order, of which a twentieth is new and
 * an eighth goes on in the kernel; the real profile, queries and views, and a grid of 200x50.
 * Every second brings new data to the view, then comes a key. From key to paint is wall time from
 * the key until the grid is drawn; a frame is CPU time to draw it again. The terminal's own time
 * is not measured: terminals differ.
 *
 * Prints a line for each figure: median and worst milliseconds of wall time, median and worst of
 * CPU time, name, view. With arguments only that view, or only that key there. -n sets the number
 * of stacks: 2,500 make a tree of 20,000 nodes, 20,000 one of 140,000. -p sets fewer processes, -s
 * for another number of seconds before the over after 250 most stacks of the history are
 * gone. -t makes it one process with this many threads,
 * which do the same 300 things, for the view
 * Threads: Procs with a row for each.
 */
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/trees.h"
#include "tui/profile/source.h"
#include "tui/app/dispatch.h"

#define PROCS	5000 /* at most, and without -p */
#define STACKS	12600
#define MOST	40000 /* stacks of -n */
#define SHARED	12    /* frames at the root, shared by groups of stacks */
#define OWN	5     /* frames at the end, a stack's own */
#define KERNEL	4
#define KSTACKS 40
#define FUNCS	8000
#define HELD	100 /* divides FUNCS */
#define SLICES	30
#define ALIKE	300 /* stacks of -t */
#define ROUNDS	6   /* of each key; even, so that toggles end as they were */
#define SECOND	1000000000ULL

struct machine {
	struct profile *p;
	struct ui *ui;
	struct grid *g;
	uint32_t funcs[FUNCS], procs[PROCS], kstacks[KSTACKS], stacks[MOST];
	uint32_t order[MOST];
	struct profile_cell cells[MOST];
	uint32_t nstacks; /* per second */
	uint32_t nprocs;
	uint32_t nthreads; /* of the one process; 0: there are many */
	int nslices;	   /* at first */
	uint32_t made;
	uint64_t time, random;
};

struct figure {
	double wall[ROUNDS], cpu[ROUNDS];
};

static double clock_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* --- the machine ----------------------------------------------------------------------------- */

static uint32_t draw_random(struct machine *m, uint32_t below)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (uint32_t)(m->random % below);
}

static void make_names(struct machine *m)
{
	for (uint32_t i = 0; i < FUNCS; i++) {
		char name[64];

		snprintf(name, sizeof(name), "some_function_of_a_program_%u", i);
		m->funcs[i] = (uint32_t)profile_func(m->p,
						     i % 11 == 0  ? FUNC_JIT
						     : i % 7 == 0 ? FUNC_INLINE
								  : FUNC_USER,
						     name, i % 3 ? "libsomething.so.1" : "program");
	}
	for (uint32_t i = 0; i < m->nprocs; i++) {
		struct profile_proc proc = {.pid = (int)i + 1, .image = 1, .nthreads = 4};

		strcpy(proc.comm, "program");
		snprintf(proc.user, sizeof(proc.user), "user%u", i % 9);
		snprintf(proc.group, sizeof(proc.group), "docker %012u", i % 100);
		snprintf(proc.cmdline, sizeof(proc.cmdline), "/usr/bin/program --id=%u", i);
		m->procs[i] = (uint32_t)profile_proc(m->p, &proc);
	}
	for (uint32_t i = 0; i < KSTACKS; i++) {
		struct profile_stack made = {.kernel = true, .nframes = KERNEL};
		uint32_t frames[KERNEL];

		for (uint32_t k = 0; k < KERNEL; k++) {
			char name[64];

			snprintf(name, sizeof(name), "kernel_function_%u", k ? k * 100 + i : 0);
			frames[k] = (uint32_t)profile_func(m->p, FUNC_KERNEL, name, "vmlinux");
		}
		made.frames = frames;
		m->kstacks[i] = (uint32_t)profile_stack_new(m->p, &made);
	}
}

/* A function without a stack is forgotten: these stacks, never sampled, keep all functions. */
static void hold_names(struct machine *m)
{
	for (uint32_t i = 0; i < FUNCS; i += HELD) {
		struct profile_stack made = {.nframes = HELD, .frames = m->funcs + i};

		profile_stack_new(m->p, &made);
	}
}

static uint32_t stack(struct machine *m, uint32_t n)
{
	uint32_t frames[SHARED + OWN];
	struct profile_stack made = {.complete = true, .nframes = SHARED + OWN, .frames = frames};

	for (uint32_t i = 0; i < SHARED; i++)
		frames[i] = m->funcs[(i * 31 + (n % m->nstacks >> (16 - i)) % 64) % FUNCS];
	for (uint32_t i = 0; i < OWN; i++)
		frames[SHARED + i] = m->funcs[(1000 + n * 7 + i * 13) % FUNCS];
	return (uint32_t)profile_stack_new(m->p, &made);
}

/* A second passes; the cells come in a hash table's order, that is none. */
static int second(struct machine *m)
{
	struct profile_health health = {.elapsed = SECOND,
					.samples = 2ULL * m->nstacks,
					.user_samples = 2ULL * m->nstacks,
					.ncpus = 256,
					.frequency = 99,
					.event = "cpu-clock"};
	int err;

	profile_lock(m->p);
	for (uint32_t i = 0; i < m->nstacks / 20; i++) {
		uint32_t at = draw_random(m, m->nstacks);

		profile_stack_put(m->p, m->stacks[at]);
		m->stacks[at] = stack(m, m->made++);
	}
	for (uint32_t i = 0; i < m->nstacks; i++) {
		uint32_t other = draw_random(m, m->nstacks), at = m->order[i];

		m->order[i] = m->order[other];
		m->order[other] = at;
	}
	for (uint32_t i = 0; i < m->nstacks; i++) {
		uint32_t n = m->order[i];

		m->cells[i] = (struct profile_cell){m->procs[n % m->nprocs],
						    n % m->nprocs + n / m->nprocs,
						    m->stacks[n],
						    n % 8 ? PROFILE_NO_STACK
							  : m->kstacks[n / 8 % KSTACKS],
						    1 + n % 3,
						    0,
						    0};
		if (m->nthreads) {
			m->cells[i].proc = m->procs[0];
			m->cells[i].tid = 1 + n % m->nthreads;
			m->cells[i].ustack = m->stacks[n % ALIKE];
		}
	}
	m->time += SECOND;
	health.time = m->time;
	err = profile_commit(m->p, m->cells, m->nstacks, &health);
	profile_unlock(m->p);
	return err;
}

static int machine_open(struct machine *m)
{
	static const struct ui_options options = {.delay = 1};
	int err = 0;

	m->random = 88172645463325252ULL;
	m->p = profile_new(10, 50000);
	m->ui = m->p ? ui_new(m->p, NULL, &options) : NULL;
	m->g = grid_new(50, 200);
	if (!m->ui || !m->g)
		return -1;
	m->ui->utf8 = true;
	profile_lock(m->p);
	make_names(m);
	hold_names(m);
	for (uint32_t i = 0; i < m->nstacks; i++) {
		m->order[i] = i;
		m->stacks[i] = stack(m, m->made++);
	}
	profile_unlock(m->p);
	for (int i = 0; i < m->nslices && !err; i++)
		err = second(m);
	return err;
}

static void machine_close(struct machine *m)
{
	ui_free(m->ui);
	grid_free(m->g);
	profile_free(m->p);
}

/* --- figures --------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print(const char *view, const char *what, struct figure *f)
{
	qsort(f->wall, ROUNDS, sizeof(*f->wall), ascending);
	qsort(f->cpu, ROUNDS, sizeof(*f->cpu), ascending);
	printf("%.3f %.3f %.3f %.3f %s %s\n", f->wall[ROUNDS / 2], f->wall[ROUNDS - 1],
	       f->cpu[ROUNDS / 2], f->cpu[ROUNDS - 1], what, view);
	fflush(stdout);
}

static void start(struct figure *f, int round)
{
	f->wall[round] = -clock_ms(CLOCK_MONOTONIC);
	f->cpu[round] = -clock_ms(CLOCK_THREAD_CPUTIME_ID);
}

static void stop(struct figure *f, int round)
{
	f->wall[round] += clock_ms(CLOCK_MONOTONIC);
	f->cpu[round] += clock_ms(CLOCK_THREAD_CPUTIME_ID);
}

static void type(struct machine *m, const char *keys)
{
	for (; keys && *keys; keys++)
		ui_key(m->ui, *keys == '\b' ? KEYCODE_BACKSPACE : *keys);
}

/* All but the last key only prepare for it. */
static void press(struct machine *m, const char *keys, struct figure *f, int round)
{
	char lead[32];

	snprintf(lead, sizeof(lead), "%.*s", (int)strlen(keys) - 1, keys);
	type(m, lead);
	start(f, round);
	type(m, keys + strlen(lead));
	ui_draw(m->ui, m->g);
	stop(f, round);
}

struct key {
	const char *what;
	const char *keys[4]; /* pressed in turn */
	const char *before, *after;
	const char *views; /* the views that have it */
	const char *undo;  /* pressed after each */
};

struct place {
	const char *name, *go, *leave;
};

static int measure(struct machine *m, const struct place *place, const struct key *key)
{
	const char *view = place->name;
	struct figure news, pressed, frame;
	int turns = 1, err = 0;

	while (turns < 4 && key->keys[turns])
		turns++;
	type(m, place->go);
	type(m, key->before);
	for (int i = 0; i < ROUNDS && !err; i++) {
		err = second(m);
		start(&news, i);
		err = err ? err : ui_refresh(m->ui);
		ui_draw(m->ui, m->g);
		stop(&news, i);
		start(&frame, i);
		ui_draw(m->ui, m->g);
		stop(&frame, i);
		press(m, key->keys[i % turns], &pressed, i);
		type(m, key->undo);
	}
	type(m, key->after);
	type(m, place->leave);
	if (strcmp(key->what, "down") == 0) {
		print(view, "frame", &frame);
		print(view, "news", &news);
	}
	print(view, key->what, &pressed);
	return err;
}

static void print_size(struct machine *m)
{
	struct history kept;
	struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL};
	struct tree tree;

	profile_lock(m->p);
	query_history(m->p, &kept);
	if (query_tree(m->p, &q, &tree) == 0) {
		printf("%u nodes\n%.1f history_mib\n", tree.count, (double)kept.bytes / 1048576);
		free(tree.nodes);
	}
	if (query_callers(m->p, &q, &tree) == 0) {
		printf("%u nodes_of_callers\n", tree.count);
		free(tree.nodes);
	}
	profile_unlock(m->p);
}

int main(int argc, char **argv)
{
#define ALL	    "1234567"
#define ALL_THREADS "1234567H" /* H: with a row for each thread */
	static const struct place views[] = {
		{"Threads", "1H", "H"},
		{"Procs", "1", 0},
		{"Funcs", "2", 0},
		{"Tree", "3", 0},
		{"Callers", "4", 0},
		{"Flame", "5", 0},
		{"Unwind", "7", 0},
		{"Callers-filtered", "\\7\r4", 0},
		{"Tree-of-a-process", "1\033\r3", 0},
	};
	static const struct key keys[] = {
		{"down", {"j", "k"}, 0, 0, ALL_THREADS, 0},
		{"end", {"G", "g"}, 0, 0, ALL_THREADS, 0},
		{"sort", {"<", ">"}, 0, 0, "1267H", 0},
		{"self-or-total", {"S"}, 0, 0, "12H", 0},
		{"invert", {"I"}, 0, 0, "127H", 0},
		{"fold", {"e"}, "Cg", 0, "34", 0},
		{"fold-all", {"E", "C"}, 0, 0, "34", 0},
		{"zoom", {"\r", "\033"}, "jjj", 0, "5", 0},
		{"search", {"/77\r", "n", "N"}, 0, 0, ALL_THREADS, 0},
		{"type-search", {"7", "\b"}, "/7", "\033", ALL_THREADS, 0},
		{"type-filter", {"7", "\b"}, "\\7", "\033", ALL_THREADS, 0},
		{"weigh-total", {"m"}, 0, 0, ALL, "mm"},
		{"weigh-decay", {"m"}, "m", "mm", ALL, "mm"},
		{"kernel-frames", {"K"}, 0, 0, ALL_THREADS, 0},
		{"user-frames", {"U"}, 0, 0, ALL_THREADS, 0},
		{"inlined-calls", {"J"}, 0, 0, ALL_THREADS, 0},
		{"flip", {"b"}, 0, 0, "5", 0},
		{"threads", {"H"}, 0, 0, "1H", "H"},
		{"group", {"c"}, 0, 0, "1", 0},
		{"filter", {"\\7.*9\r", "\033"}, 0, 0, ALL_THREADS, 0},
		{"limit", {"L\b\b\b0\r", "L\b0.5\r"}, 0, 0, "34", 0},
		{"freeze", {"z", "Z"}, 0, 0, ALL_THREADS, 0},
		{"second-back", {","}, "z", "Z", ALL_THREADS, 0},
		{"ten-seconds-back", {"{", "}"}, "z", "Z", ALL_THREADS, 0},
		{"mark", {"M"}, "z,,", "Z", ALL, 0},
		{"difference", {"X"}, "B", 0, "12345", 0},
		{"second-back-compared", {",", "."}, "BXz", "ZX", "12345", 0},
		{"to-Procs", {"21", "31", "41", "51"}, 0, 0, ALL_THREADS, 0},
		{"to-Funcs", {"12", "32", "42", "52"}, 0, 0, ALL_THREADS, 0},
		{"to-Tree", {"13", "23", "43", "53"}, 0, 0, ALL_THREADS, 0},
		{"to-Callers", {"14", "24", "34", "54"}, 0, 0, ALL, 0},
		{"to-Flame", {"15", "25", "35", "45"}, 0, 0, ALL_THREADS, 0},
	};
	static struct machine m = {.nstacks = STACKS, .nprocs = PROCS, .nslices = SLICES};
	int err;

	for (; argc > 2 && argv[1][0] == '-'; argc -= 2, argv += 2) {
		if (argv[1][1] == 'n')
			m.nstacks = (uint32_t)strtoul(argv[2], NULL, 10);
		else if (argv[1][1] == 'p')
			m.nprocs = (uint32_t)strtoul(argv[2], NULL, 10);
		else if (argv[1][1] == 't')
			m.nthreads = (uint32_t)strtoul(argv[2], NULL, 10);
		else
			m.nslices = atoi(argv[2]);
	}
	if (m.nstacks < 20 || m.nstacks > MOST || !m.nprocs || m.nprocs > PROCS || m.nslices < 1) {
		fprintf(stderr,
			"usage: ui [-n STACKS] [-p PROCESSES] [-s SECONDS] [-t THREADS] [VIEW [KEY]], of "
			"20 to %d stacks and 1 to %d processes\n",
			MOST, PROCS);
		return EXIT_FAILURE;
	}
	setlocale(LC_CTYPE, "C.UTF-8");
	err = machine_open(&m);
	if (!err)
		print_size(&m);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]) && !err; i++) {
		const char *go = views[i].go;

		if (argc > 1 ? strcmp(argv[1], views[i].name) != 0 : i == 0 && !m.nthreads)
			continue;
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]) && !err; k++)
			if (strchr(keys[k].views, go[strlen(go) - 1]) &&
			    (argc < 3 || strcmp(argv[2], keys[k].what) == 0))
				err = measure(&m, &views[i], &keys[k]);
	}
	machine_close(&m);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
