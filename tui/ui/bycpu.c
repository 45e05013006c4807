// SPDX-License-Identifier: GPL-2.0-or-later
/* See bycpu.h. */
#include "tui/ui/bycpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/profile/source.h"
#include "tui/ui/selection.h"
#include "tui/ui/ui.h"
#include "tui/util/share.h"

#define WORDS_CPUS 2 /* up to so many CPUs are named; of more, only the first */

unsigned int bycpu_toggle(struct ui *ui)
{
	const bool live = !ui->header.replayed;
	/* CPUs can have rows before samples are counted per CPU. */
	const bool on = ui->grouping != GROUP_CPU || (live && !ui->by_cpu);

	if (!live && !ui->header.last.by_cpu) {
		ui_notice(ui, "%s", bycpu_missing(ui));
		return UI_REDRAW;
	}
	ui->by_cpu = live && on;
	if (live && ui->source)
		source_post(ui->source, SOURCE_BY_CPU, on ? "1" : "0");
	ui->threads = false;
	ui->grouping = on ? GROUP_CPU : GROUP_NONE;
	if (on && live)
		ui_notice(ui, "samples are counted per CPU: see the rows, or filter cpu:0");
	else if (on)
		ui_notice(ui, "each CPU has a row in Procs: Enter keeps one, as does filter cpu:0");
	else
		ui_notice(ui, "samples are not counted per CPU");
	if (on && !ui->frozen)
		ui->span = SPAN_WINDOW;
	return UI_RELOAD;
}

void bycpu_wanted(struct ui *ui)
{
	if (bycpu_missing(ui)) {
		ui_notice(ui, "%s", bycpu_missing(ui));
	} else if (ui->span != SPAN_WINDOW && !ui->frozen) {
		ui->span = SPAN_WINDOW;
		ui_notice(ui, "CPUs are only known in the window, which is shown now");
	}
}

/* Why a moment, which may be long ago, has no CPUs; NULL: it has. */
static const char *missing_then(const struct ui *ui)
{
	const struct scrub *s = &ui->scrub;

	if (s->weighed && ui->span != SPAN_WINDOW)
		return "CPUs are only known in the window: z shows it";
	if (s->cpus)
		return NULL;
	if (!s->slices)
		return ui->header.replayed ? "too long ago: CPUs are only known within the timeline"
					   : "too long ago: CPUs are no longer known; z shows now";
	return ui->header.replayed ? "recorded without CPUs: --by-cpu -w FILE records them"
	       : ui->by_cpu	   ? "samples were not yet counted per CPU; z shows now"
				   : "samples were not counted per CPU: z, then W counts them so";
}

const char *bycpu_missing(const struct ui *ui)
{
	if (ui->frozen && ui->header.slices)
		return missing_then(ui);
	if (ui->header.last.by_cpu)
		return NULL;
	return ui->header.replayed ? "recorded without CPUs: --by-cpu -w FILE records them"
	       : ui->by_cpu	   ? "samples are counted per CPU from the next refresh on"
				   : "samples are not counted per CPU: W turns that on";
}

bool bycpu_chosen(const struct ui *ui)
{
	const struct filter *filter = &ui->selection->filter;

	return ui->grouping == GROUP_CPU || (filter->set && filter->of == FILTER_OF_CPU);
}

void bycpu_query(const struct ui *ui, struct query *q)
{
	q->cpus = true;
	q->span = ui->frozen ? SPAN_MOMENT : SPAN_WINDOW;
}

int bycpu_filter(const struct ui *ui, const struct profile *p, struct query *q)
{
	const struct filter *filter = &ui->selection->filter;
	int err = 0;

	if (filter->set && filter->of == FILTER_OF_CPU)
		err = selection_query(ui, p, q, true);
	q->scope = NULL; /* every process has a row, not only those that are tagged */
	q->threads = false;
	return err;
}

int cpuset_judge(struct cpuset *set, const struct filter *filter, const struct profile *p,
		 bool anew)
{
	uint32_t ncpus = query_ncpus(p);
	bool *cpus;

	if (set->cpus && ncpus == set->ncpus && !anew)
		return 0;
	cpus = realloc(set->cpus, ncpus + 1);
	if (!cpus)
		return -ENOMEM;
	/* A sample of an unknown CPU matches no CPU filter, not even a negated one. */
	cpus[0] = false;
	for (uint32_t i = 1; i < ncpus; i++)
		cpus[i] = filter_keeps_cpu(filter, i - 1);
	set->cpus = cpus;
	set->ncpus = ncpus;
	return 0;
}

void bycpu_words(const struct cpu_row *rows, size_t n, char *to, size_t size)
{
	size_t known = 0, length = 0, named;
	uint64_t sum = 0;

	to[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		sum += rows[i].cpu ? rows[i].samples : 0;
		known += rows[i].cpu != 0;
	}
	named = known <= WORDS_CPUS ? known : 1;
	for (size_t i = 0; i < n && named && length < size; i++) {
		if (!rows[i].cpu)
			continue;
		length += (size_t)snprintf(to + length, size - length, "%s%u", length ? " " : "",
					   rows[i].cpu - 1);
		if (known > 1 && length < size)
			length += (size_t)snprintf(to + length, size - length, " %.0f%%",
						   percent_of(rows[i].samples, sum));
		named--;
	}
	if (known > WORDS_CPUS && length < size)
		snprintf(to + length, size - length, " +%zu", known - 1);
}
