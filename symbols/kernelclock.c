// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In a time namespace (time_namespaces(7)) clock_gettime adds an offset to the clock, and perf and
 * BPF do not.
 */
#include "symbols/kernelclock.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t offset; /* ns, modulo 2^64 */

/* The file of offsets is that of the children's namespace, which unshare may have made another. */
static bool shares_with_children(void)
{
	char own[64], its[64];
	ssize_t n = readlink("/proc/self/ns/time", own, sizeof(own));

	return n > 0 && readlink("/proc/self/ns/time_for_children", its, sizeof(its)) == n &&
	       !memcmp(own, its, (size_t)n);
}

static void read_offset(void)
{
	FILE *file = shares_with_children() ? fopen("/proc/self/timens_offsets", "re") : NULL;
	int64_t seconds, ns;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "monotonic %" SCNd64 "%" SCNd64, &seconds, &ns) == 2)
			offset = (uint64_t)seconds * 1000000000u + (uint64_t)ns;
	if (file)
		fclose(file);
}

uint64_t kernelclock_now(void)
{
	struct timespec t;

	pthread_once(&once, read_offset);
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec - offset;
}
