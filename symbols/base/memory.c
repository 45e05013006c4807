// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adds up what stacktop may take. "most" is the size beyond which a part gains nothing on a large
 * machine, "least" is what programs as large as a browser need; between the two sums each part gets
 * its share in proportion. The table is set once, before other threads start.
 */
#include "symbols/base/memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MIB	   ((uint64_t)1 << 20)
#define ITSELF	   (56 * MIB)	       /* code, libraries, threads, cells, the kernel's symbols */
#define UNLIMITED  ((uint64_t)1 << 62) /* version 1 reports no limit as a huge one */
#define DEPTH_MAX  64u		       /* of control groups */
#define GROUP_PATH 4096u

static const struct {
	const char *name, *meaning;
	uint64_t least, most;
} parts[MEMORY_PARTS] = {
	[MEMORY_TABLES] = {"memory.tables", "unwind tables, --memory", 24 * MIB, 64 * MIB},
	[MEMORY_BUILD] = {"memory.building", "tables that are being built", 112 * MIB, 256 * MIB},
	[MEMORY_STACKS] = {"memory.stacks", "stacks and names of functions", 40 * MIB, 256 * MIB},
	[MEMORY_HISTORY] = {"memory.history", "past slices", 8 * MIB, 64 * MIB},
	[MEMORY_RAW] = {"memory.sampled", "stacks as they were sampled", 8 * MIB, 32 * MIB},
	[MEMORY_SYMBOLS] = {"memory.symbols", "symbol tables", 16 * MIB, 32 * MIB},
	[MEMORY_READ] = {"memory.reading", "a symbol table that is being read", 48 * MIB,
			 256 * MIB},
	[MEMORY_JIT] = {"memory.jit", "names of code made at run time", 16 * MIB, 96 * MIB},
	[MEMORY_DEBUG] = {"memory.debug", "debug information of a file, --debug-memory", 32 * MIB,
			  256 * MIB},
	[MEMORY_KEPT] = {"memory.debug_kept", "debug information of unused files", 24 * MIB,
			 64 * MIB},
	[MEMORY_ANSWERS] = {"memory.lines", "lines and inlined calls", 4 * MIB, 16 * MIB},
	[MEMORY_COPIES] = {"memory.copies", "copies of files of remote file systems", 32 * MIB,
			   256 * MIB},
	[MEMORY_MAPPINGS] = {"memory.mappings", "mappings of processes", 16 * MIB, 64 * MIB},
	[MEMORY_OBJECTS] = {"memory.files", "mapped files", 8 * MIB, 32 * MIB},
};

static struct memory_plan used; /* sum is 0 until it is set */

const char *memory_name(enum memory_part part)
{
	return parts[part].name;
}

const char *memory_meaning(enum memory_part part)
{
	return parts[part].meaning;
}

static uint64_t given_of(const struct memory_given *given, enum memory_part part)
{
	return part == MEMORY_TABLES ? given->tables : part == MEMORY_DEBUG ? given->debug : 0;
}

void memory_plan(struct memory_plan *plan, uint64_t available, uint64_t maps,
		 const struct memory_given *given)
{
	uint64_t fixed = ITSELF + maps, range = 0, spare;

	*plan = (struct memory_plan){.available = available, .itself = ITSELF, .sum = ITSELF};
	for (unsigned int i = 0; i < MEMORY_PARTS; i++) {
		uint64_t own = given_of(given, i);

		fixed += own ? own : parts[i].least;
		range += own ? 0 : parts[i].most - parts[i].least;
	}
	spare = available > fixed ? available - fixed : 0;
	if (spare > range)
		spare = range;
	for (unsigned int i = 0; i < MEMORY_PARTS; i++) {
		uint64_t own = given_of(given, i), wide = parts[i].most - parts[i].least;

		/* in MiB, so that the product does not overflow */
		plan->part[i] = own	? own
				: range ? parts[i].least + wide / MIB * spare / range * MIB
					: parts[i].least;
		plan->sum += plan->part[i];
	}
}

void memory_plan_shrink(struct memory_plan *plan)
{
	static const enum memory_part caches[] = {MEMORY_STACKS, MEMORY_HISTORY, MEMORY_RAW,
						  MEMORY_SYMBOLS, MEMORY_JIT};

	for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++) {
		uint64_t *part = &plan->part[caches[i]], less = *part / 3 * 2;

		*part -= less;
		plan->sum -= less;
	}
}

void memory_use(const struct memory_plan *plan)
{
	used = *plan;
}

const struct memory_plan *memory_used(void)
{
	return used.sum ? &used : NULL;
}

size_t memory_limit(enum memory_part part)
{
	return used.sum ? used.part[part] : parts[part].most;
}

/* --- control groups -------------------------------------------------------------------------- */

/* UINT64_MAX: "max", huge, or not there. */
static uint64_t limit_read(const char *path)
{
	uint64_t limit = UINT64_MAX;
	FILE *f = fopen(path, "re");

	if (!f)
		return UINT64_MAX;
	if (fscanf(f, "%" SCNu64, &limit) != 1)
		limit = UINT64_MAX;
	fclose(f);
	return limit < UNLIMITED ? limit : UINT64_MAX;
}

/* Of the group and those above it: the path is cut part by part. */
static uint64_t limits_read(const char *root, char *group, const char *file)
{
	uint64_t least = UINT64_MAX, limit;
	char path[2 * GROUP_PATH], *slash;

	for (unsigned int i = 0; i < DEPTH_MAX; i++) {
		snprintf(path, sizeof(path), "%s%s/%s", root, group, file);
		limit = limit_read(path);
		if (limit < least)
			least = limit;
		slash = strrchr(group, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	return least;
}

/* Looks for a controller in the comma-separated list. */
static bool has_memory(const char *controllers, const char *end)
{
	const size_t length = strlen("memory");

	while (controllers < end) {
		const char *comma = memchr(controllers, ',', (size_t)(end - controllers));
		const char *stop = comma ? comma : end;

		if ((size_t)(stop - controllers) == length &&
		    !memcmp(controllers, "memory", length))
			return true;
		controllers = stop + 1;
	}
	return false;
}

/* A line is "number:controllers:path" (cgroups(7)); version 2 has no controllers. */
static uint64_t line_limit(const char *root, char *line)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;
	char mount[GROUP_PATH];

	if (!path)
		return UINT64_MAX;
	controllers++;
	path[strcspn(path, "\n")] = '\0';
	if (controllers == path)
		return limits_read(root, path + 1, "memory.max");
	if (!has_memory(controllers, path))
		return UINT64_MAX;
	snprintf(mount, sizeof(mount), "%s/memory", root);
	return limits_read(mount, path + 1, "memory.limit_in_bytes");
}

uint64_t memory_of_cgroup(const char *root, const char *self)
{
	uint64_t least = UINT64_MAX, limit;
	char line[GROUP_PATH];
	FILE *f = fopen(self, "re");

	while (f && fgets(line, sizeof(line), f)) {
		limit = line_limit(root, line);
		if (limit < least)
			least = limit;
	}
	if (f)
		fclose(f);
	return least;
}

uint64_t memory_available(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t machine = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 2 : 0;
	uint64_t group = memory_of_cgroup("/sys/fs/cgroup", "/proc/self/cgroup");

	/* A sixteenth is for page tables and the like, which are charged as well. */
	if (group < UINT64_MAX)
		group -= group / 16;
	return group < machine ? group : machine;
}
