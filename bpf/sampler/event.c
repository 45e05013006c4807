/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table instead of libpfm: the generic events of perf_event_open(2) have the same numbers on
 * every architecture, and no others are offered.
 */
#include "bpf/sampler/event.h"

#include <linux/perf_event.h>
#include <string.h>

#define CACHE(cache, op, result)                                                                   \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 |                          \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct event events[] = {
	{"cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	{"task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branches", "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	{"ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
	{"stalled-cycles-frontend", "idle-cycles-frontend", PERF_TYPE_HARDWARE,
	 PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", "idle-cycles-backend", PERF_TYPE_HARDWARE,
	 PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"L1-dcache-load-misses", NULL, PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS)},
	{"LLC-load-misses", NULL, PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS)},
	{"dTLB-load-misses", NULL, PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS)},
	{"iTLB-load-misses", NULL, PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS)},
};

const struct event *event_find(const char *name)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		if (!strcmp(name, events[i].name))
			return &events[i];
		if (events[i].alias && !strcmp(name, events[i].alias))
			return &events[i];
	}
	return NULL;
}

const struct event *event_table(size_t *count)
{
	*count = sizeof(events) / sizeof(*events);
	return events;
}
