// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a session of ten minutes on two busy CPUs, with 200 processes and 50,000 stacks, and
 * measures what a user waits for: opening it, and jumping in it. Prints its size in bytes, then
 * milliseconds to write a slice, to open, and of each jump, a line each.
 *
 *	session FILE
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tui/profile/source.h"
#include "tui/profile/profile.h"
#include "tui/query/query.h"
#include "tui/session/player.h"
#include "tui/session/session_read.h"
#include "tui/session/session_write.h"

#define NS	1000000000ull
#define SLICES	600
#define PROCS	200
#define STACKS	50000
#define FUNCS	8000
#define FRAMES	30
#define SAMPLES 198 /* two CPUs at 99 Hz */

static uint64_t random_state = 42;

static uint32_t below(uint32_t n)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t)((random_state * 0x2545f4914f6cdd1dull >> 33) % n);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static uint32_t must(int64_t id)
{
	if (id < 0) {
		fprintf(stderr, "session: %s\n", strerror((int)-id));
		exit(1);
	}
	return (uint32_t)id;
}

static uint32_t make_proc(struct profile *p, uint32_t n)
{
	struct profile_proc proc = {.pid = (pid_t)(1000 + n), .image = n + 1, .nthreads = 4};

	snprintf(proc.comm, sizeof(proc.comm), "worker-%u", n);
	snprintf(proc.user, sizeof(proc.user), "user%u", n % 7);
	snprintf(proc.cmdline, sizeof(proc.cmdline), "/usr/bin/worker-%u --config /etc/%u.conf", n,
		 n);
	return must(profile_proc(p, &proc));
}

/* Stack n is a walk down a tree: the outer frames are shared, as in real programs. */
static uint32_t make_stack(struct profile *p, uint32_t n)
{
	uint32_t frames[FRAMES];
	struct profile_stack stack = {.complete = true, .nframes = FRAMES, .frames = frames};
	uint32_t seed = n;

	for (uint32_t i = 0; i < FRAMES; i++) {
		char name[64], module[32];
		uint32_t func = (seed >> (FRAMES - i) / 2) * 2654435761u % FUNCS;

		snprintf(name, sizeof(name), "namespace_%u::function_of_some_length_%u(int)",
			 func % 37, func);
		snprintf(module, sizeof(module), "libsomething%u.so.1", func % 23);
		frames[i] = must(profile_func(p, FUNC_USER, name, module));
	}
	return must(profile_stack_new(p, &stack));
}

static double write_session(const char *path)
{
	struct profile *p = profile_new(10, 4 * (size_t)STACKS);
	struct session_writer *w;
	struct timespec now;
	double took = 0;
	uint32_t made = 0, *stacks = calloc(STACKS, sizeof(*stacks));
	char error[256] = "no memory";

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!p || !stacks || session_writer_new(path, &w, error, sizeof(error))) {
		fprintf(stderr, "session: %s\n", error);
		exit(1);
	}
	for (int n = 0; n < SLICES; n++) {
		struct profile_cell cells[SAMPLES];
		struct profile_health health = {.elapsed = NS, .ncpus = 2, .frequency = 99};
		double before;

		health.samples = SAMPLES;
		health.time = ((uint64_t)now.tv_sec + 1 + (uint64_t)n) * NS;
		for (int i = 0; i < SAMPLES; i++) {
			/* New stacks come all the time, until all are known. */
			uint32_t s = made < STACKS && i % 7 < 3 ? made++ : below(made ? made : 1);

			if (!stacks[s])
				stacks[s] = 1 + make_stack(p, s);
			cells[i] = (struct profile_cell){.proc = make_proc(p, s % PROCS),
							 .tid = 1000 + s % PROCS,
							 .ustack = stacks[s] - 1,
							 .kstack = PROFILE_NO_STACK,
							 .count = 1};
		}
		must(profile_commit(p, cells, SAMPLES, &health));
		before = now_ms();
		must(session_note(w, p, cells, SAMPLES, &health));
		must(session_flush(w));
		took += now_ms() - before;
	}
	session_writer_free(w);
	profile_free(p);
	free(stacks);
	return took / SLICES;
}

static uint64_t position(struct profile *p)
{
	uint64_t at;

	profile_lock(p);
	at = profile_replay(p) ? profile_replay(p)->position : 0;
	profile_unlock(p);
	return at;
}

static double jump(struct profile *p, struct source *source, uint64_t to)
{
	struct pollfd fd = {.fd = source->event, .events = POLLIN};
	double start = now_ms();
	char text[32];
	uint64_t n;

	snprintf(text, sizeof(text), "%.6f", (double)to / 1e9 + 0.000001);
	source_post(source, SOURCE_JUMP, text);
	while (position(p) != to)
		if (poll(&fd, 1, 10000) != 1 || read(fd.fd, &n, sizeof(n)) < 0)
			return -1;
	return now_ms() - start;
}

int main(int argc, char **argv)
{
	static const int places[] = {599, 0, 300, 10, 598, 299, 1, 450, 449, 440, 599};
	struct player_options options = {.path = argv[1], .speed = 1};
	struct profile *p = profile_new(10, 50000);
	struct source *source;
	struct session *s;
	struct stat st;
	char error[256];
	double start;

	if (argc != 2)
		return 2;
	start = write_session(argv[1]);
	stat(argv[1], &st);
	printf("%lld bytes\n%.3f write\n", (long long)st.st_size, start);
	start = now_ms();
	if (!p || session_open(argv[1], &s, error, sizeof(error)))
		return 1;
	printf("%.3f open\n", now_ms() - start);
	fprintf(stderr, "%u slices, %u processes, %u stacks, %u functions\n", session_slices(s),
		session_names_counts(session_all_names(s)).procs,
		session_names_counts(session_all_names(s)).stacks,
		session_names_counts(session_all_names(s)).funcs);
	if (player_new(p, &options, &source, error, sizeof(error)))
		return 1;
	source_post(source, SOURCE_PLAY, NULL);
	while (!position(p))
		usleep(1000);
	/* Time in which a user looks at the first screen. */
	usleep(500000);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		uint64_t to = session_time(s, (uint32_t)places[i]);

		if (to != position(p))
			printf("%.3f jump\n", jump(p, source, to));
	}
	source_free(source);
	session_free(s);
	profile_free(p);
	return 0;
}
