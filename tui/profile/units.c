// SPDX-License-Identifier: GPL-2.0-or-later
/* See units.h: a table beside that of the events, which the screen must not need. */
#include "tui/profile/units.h"

#include <stdio.h>
#include <string.h>

#include "tui/profile/profile.h"

#define SAMPLES "samples", "SMP/s"

static const struct unit units[] = {
	{"cpu-clock", SAMPLES, "where CPU time goes"},
	{"task-clock", SAMPLES, "the same, by the clock of the task"},
	{"page-faults", "faults", "FLT/s", "first touch of memory, and pages of files"},
	{"minor-faults", "faults", "FLT/s", "memory that is first touched: growth"},
	{"major-faults", "faults", "FLT/s", "waits for pages from disk"},
	{"context-switches", "switches", "CSW/s", "what gives up the CPU: waits, locks, reads"},
	{"cpu-migrations", "migrations", "MIG/s", "tasks that move to another CPU"},
	{"cycles", SAMPLES, "where CPU time goes, also with interrupts off"},
	{"instructions", "instructions", "INS/s", "what executes most, not what takes longest"},
	{"cache-references", "references", "REF/s", "who uses the last cache"},
	{"cache-misses", "misses", "MIS/s", "what waits for memory"},
	{"branches", "branches", "BRA/s", "code with many decisions"},
	{"branch-misses", "misses", "MIS/s", "decisions the CPU guesses wrong"},
	{"bus-cycles", "cycles", "CYC/s", "where time goes, by the bus clock"},
	{"ref-cycles", SAMPLES, "where CPU time goes, at a fixed clock"},
	{"stalled-cycles-frontend", "cycles", "CYC/s", "the CPU waits for instructions"},
	{"stalled-cycles-backend", "cycles", "CYC/s", "the CPU waits for data or units"},
	{"L1-dcache-load-misses", "misses", "MIS/s", "reads the first cache has not"},
	{"LLC-load-misses", "misses", "MIS/s", "reads that go to memory"},
	{"dTLB-load-misses", "misses", "MIS/s", "data spread over too many pages"},
	{"iTLB-load-misses", "misses", "MIS/s", "code spread over too many pages"},
	/* only of files of other profilers (tui/import) */
	{"core-cycles", "cycles", "CYC/s", "where CPU time goes, by the clock of the core"},
	{"alloc_objects", "objects", "OBJ/s", "what is allocated most often"},
	{"alloc_space", "bytes", "BYT/s", "what allocates most memory"},
	{"inuse_objects", "objects", "OBJ/s", "what was allocated most often, and is in use"},
	{"inuse_space", "bytes", "BYT/s", "who has the memory that is in use"},
	{"contentions", "contentions", "CON/s", "locks that are waited for most often"},
	{"delay", "microseconds", "US/s", "locks that are waited for longest"},
	{"goroutine", "goroutines", "GOR/s", "where goroutines are"},
	{"cpu-time", "microseconds", "US/s", "where CPU time goes"},
};

const struct unit *units_find(const char *event)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].event, event) == 0)
			return &units[i];
	return NULL;
}

static bool is_counted(const struct profile_health *health)
{
	return health->counted && !profile_is_time(health);
}

const struct unit *units_of(const struct profile_health *health)
{
	const struct unit *unit = is_counted(health) ? units_find(health->event) : NULL;

	return unit ? unit : &units[0];
}

void units_time(uint64_t us, char *to, size_t size)
{
	const double ms = (double)us / 1e3;

	if (!us)
		snprintf(to, size, "0");
	else if (ms < 10)
		snprintf(to, size, "%.2f ms", ms);
	else if (ms < 999.5)
		snprintf(to, size, "%.0f ms", ms);
	else if (ms < 9995)
		snprintf(to, size, "%.2f s", ms / 1e3);
	else if (ms < 99950)
		snprintf(to, size, "%.1f s", ms / 1e3);
	else if (ms < 9999999500)
		snprintf(to, size, "%.0f s", ms / 1e3);
	else /* of thousands of threads */
		snprintf(to, size, "%.0f h", ms / 3.6e6);
}

bool units_are_samples(const struct profile_health *health, enum measure measure)
{
	return measure == MEASURE_CPU && units_of(health) == &units[0];
}

void units_amount(const struct profile_health *health, enum measure measure, uint64_t n, char *to,
		  size_t size)
{
	const char *name = units_of(health)->name;
	char number[16];

	if (measure != MEASURE_CPU) {
		units_time(n, to, size);
		return;
	}
	snprintf(number, sizeof(number), "%llu", (unsigned long long)n);
	if (!units_are_samples(health, measure))
		units_number((double)n, number, sizeof(number));
	snprintf(to, size, "%s %.*s", number, (int)strlen(name) - (n == 1), name);
}

void units_number(double n, char *to, size_t size)
{
	static const char *const suffixes[] = {"", "k", "M", "G", "T"};
	size_t i = 0;

	while (n >= 9999.5 && i + 1 < sizeof(suffixes) / sizeof(suffixes[0])) {
		n /= 1000;
		i++;
	}
	snprintf(to, size, i && n < 99.95 ? "%.1f%s" : "%.0f%s", n, suffixes[i]);
}
