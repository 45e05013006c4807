// SPDX-License-Identifier: GPL-2.0-or-later
/* What each CPU did, for who asked for it: one that is busy with something else than the others is
 * not to be seen in sums. */
#include "tui/export/batch_cpus.h"
#include "tui/util/share.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/text.h"

#define CPUS_SHOWN 64

static int by_samples(const void *a, const void *b)
{
	const struct proc_row *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void write_row(FILE *to, const struct profile *p, const struct proc_row *row, uint64_t all)
{
	const struct profile_func *func = query_func(p, row->hottest);
	char cpu[16] = "unknown", name[512] = "-";

	if (row->cpu)
		snprintf(cpu, sizeof(cpu), "cpu%u", row->cpu - 1);
	if (func)
		text_clean(name, sizeof(name), func->name, strlen(func->name));
	fprintf(to, "%8s %6.1f %8" PRIu64 " %8.1f %8.1f  %s\n", cpu, row->cpu_percent, row->samples,
		percent_of(row->samples, all), percent_of(row->kernel_samples, row->samples), name);
}

int batch_cpus(FILE *to, const struct profile *p, const struct query *q)
{
	struct query cpus = *q;
	struct profile_health health;
	struct proc_row *rows;
	uint64_t all = 0;
	size_t count;
	int err;

	cpus.cpus = cpus.by_cpu = true;
	err = query_procs(p, &cpus, &rows, &count);
	if (err)
		return err;
	if (count > 1 || (count && rows[0].cpu)) {
		qsort(rows, count, sizeof(*rows), by_samples);
		for (size_t i = 0; i < count; i++)
			all += rows[i].samples;
		query_health_sum(p, q->span, &health);
		fprintf(to, "\n%8s %6s %8s %8s %8s  %s\n", "CPU",
			profile_is_time(&health) ? "CPU%" : "SMP%", "SAMPLES", "OF ALL%", "KERNEL%",
			"HOTTEST FUNCTION");
		for (size_t i = 0; i < count && i < CPUS_SHOWN; i++)
			write_row(to, p, &rows[i], all);
		if (count > CPUS_SHOWN)
			fprintf(to, "         and %zu more\n", count - CPUS_SHOWN);
	}
	free(rows);
	return 0;
}
