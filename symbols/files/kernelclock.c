// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In a time namespace (time_namespaces(7)), clock_gettime adds an offset to the clock that perf and
 * BPF do not add.
 */
#include "symbols/files/kernelclock.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbols/base/clock.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t offset, boottime_offset; /* ns, modulo 2^64 */
static bool is_known;

/* The file shows the offsets of the namespace for children, which unshare may have changed. */
static bool has_our_offsets(const char *process)
{
	char path[64], own[64], its[64];
	ssize_t n = readlink("/proc/self/ns/time", own, sizeof(own));

	snprintf(path, sizeof(path), "/proc/%s/ns/time_for_children", process);
	return n > 0 && readlink(path, its, sizeof(its)) == n && !memcmp(own, its, (size_t)n);
}

static void read_offset_of(const char *process)
{
	int64_t seconds, ns;
	char text[128];
	FILE *file;

	snprintf(text, sizeof(text), "/proc/%s/timens_offsets", process);
	file = fopen(text, "re");
	while (file && fgets(text, sizeof(text), file))
		if (sscanf(text, "monotonic %" SCNd64 "%" SCNd64, &seconds, &ns) == 2)
			offset = (uint64_t)seconds * 1000000000u + (uint64_t)ns;
		else if (sscanf(text, "boottime %" SCNd64 "%" SCNd64, &seconds, &ns) == 2)
			boottime_offset = (uint64_t)seconds * 1000000000u + (uint64_t)ns;
	is_known = file != NULL;
	if (file)
		fclose(file);
}

static void read_offset(void)
{
	char parent[16];

	snprintf(parent, sizeof(parent), "%d", (int)getppid());
	if (has_our_offsets("self"))
		read_offset_of("self");
	else if (has_our_offsets(parent))
		read_offset_of(parent);
	else
		is_known = access("/proc/self/ns/time", F_OK) != 0;
}

bool kernelclock_boottime_offset(uint64_t *ns)
{
	pthread_once(&once, read_offset);
	*ns = boottime_offset;
	return is_known;
}

uint64_t kernelclock_now(void)
{
	pthread_once(&once, read_offset);
	return clock_ns(CLOCK_MONOTONIC) - offset;
}
