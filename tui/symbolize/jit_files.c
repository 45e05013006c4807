/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See jit_files.h. The cost of a flood of stacks is bounded: a round has a number of address checks
 * and of searches for files, and each process is checked at intervals.
 */
#include "tui/symbolize/jit_files.h"

#include <stdlib.h>
#include <time.h>

#include "bpf/tracker/tracker.h"
#include "symbols/base/clock.h"
#include "symbols/names/jitdump.h"
#include "symbols/names/perfmap.h"
#include "symbols/files/procfile.h"

#define PROCESSES  64u
#define PLACES_MAX 4096u /* address checks in a round */
#define FILES_MAX  128u	 /* searches for files in a round */
#define AGAIN_NS   150000000ull
#define ROUNDS	   4u /* rounds that files wait to be taken; fewer if rounds are long */
#define WAIT_NS	   30000000000ull

struct jit_early {
	pid_t pid; /* 0: free */
	uint64_t time;
	uint64_t round;
	struct perfmap *map;
	struct jitdump *dump;
};

struct jit_files {
	struct tracker *tracker;
	struct fileasker *asker;
	struct jit_early at[PROCESSES];
	uint64_t round;
	unsigned int places, files; /* left in the round */
};

struct jit_files *jit_files_new(struct tracker *tracker, struct fileasker *asker)
{
	struct jit_files *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->tracker = tracker;
	e->asker = asker;
	e->places = PLACES_MAX;
	e->files = FILES_MAX;
	return e;
}

static void early_close(struct jit_early *early)
{
	perfmap_free(early->map);
	jitdump_free(early->dump);
	*early = (struct jit_early){0};
}

void jit_files_free(struct jit_files *e)
{
	for (unsigned int i = 0; e && i < PROCESSES; i++)
		early_close(&e->at[i]);
	free(e);
}

static bool is_made(struct jit_files *e, pid_t pid, uint64_t addr)
{
	struct code_place at;

	e->places--;
	tracker_place(e->tracker, &(struct tracker_exec){.pid = pid}, addr, &at);
	if (at.object)
		object_put(e->tracker, at.object);
	return at.kind == PLACE_JIT;
}

/* The slot of the process, else the least recently used one. */
static struct jit_early *early_of(struct jit_files *e, pid_t pid)
{
	struct jit_early *oldest = &e->at[0];

	for (unsigned int i = 0; i < PROCESSES; i++) {
		if (e->at[i].pid == pid)
			return &e->at[i];
		if (e->at[i].time < oldest->time)
			oldest = &e->at[i];
	}
	return oldest;
}

static void look(struct jit_files *e, struct jit_early *early)
{
	struct procfile_owner owner;
	int fd;

	e->files--;
	if (procfile_owner(early->pid, &owner))
		return;
	if (!early->map)
		early->map = perfmap_new();
	if (early->map && !perfmap_open(early->map, &owner, e->asker)) {
		perfmap_free(early->map);
		early->map = NULL;
	}
	if (early->dump)
		return;
	fd = tracker_open_mapped(e->tracker, &(struct tracker_exec){.pid = early->pid},
				 jitdump_is_name);
	if (fd >= 0 && !jitdump_new(fd, &early->dump))
		jitdump_set_early(early->dump);
}

void jit_files_seen(struct jit_files *e, pid_t pid, uint64_t addr)
{
	struct jit_early *early = early_of(e, pid);
	uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);

	if (early->pid == pid && (now < early->time + AGAIN_NS || early->map))
		return;
	if (!e->places || !e->files || !is_made(e, pid, addr))
		return;
	if (early->pid != pid)
		early_close(early);
	early->pid = pid;
	early->time = now;
	early->round = e->round;
	look(e, early);
}

void jit_files_take(struct jit_files *e, pid_t pid, struct perfmap **map, struct jitdump **dump)
{
	struct jit_early *early = early_of(e, pid);

	*map = NULL;
	*dump = NULL;
	if (early->pid != pid)
		return;
	*map = early->map;
	*dump = early->dump;
	*early = (struct jit_early){0};
}

/* What came in a round is named at the end of that or the next one. */
static bool is_over(const struct jit_files *e, const struct jit_early *early, uint64_t now)
{
	uint64_t rounds = e->round - early->round;

	return rounds > ROUNDS || (rounds > 1 && now - early->time > WAIT_NS);
}

void jit_files_age(struct jit_files *e)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);

	e->round++;
	e->places = PLACES_MAX;
	e->files = FILES_MAX;
	for (unsigned int i = 0; i < PROCESSES; i++)
		if (e->at[i].pid && is_over(e, &e->at[i], now))
			early_close(&e->at[i]);
}
