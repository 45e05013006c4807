/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_BYCPU_H
#define STACKTOP_TUI_UI_BYCPU_H

/*
 * Counts per CPU: off until a key turns them on, since they make more counts of the same stacks.
 * Then CPUs are rows of Procs, and the filter "cpu:" keeps some of them.
 */

#include <stddef.h>

#include "tui/ui/filter.h"
#include "tui/query/query.h"

struct ui;

/* The action of the key: turns counts per CPU on or off. Returns flags. */
unsigned int bycpu_toggle(struct ui *ui);
/* Call it when a filter or rows that need CPUs were chosen: it switches to the window, and a
 * notice says what is missing. */
void bycpu_wanted(struct ui *ui);
/* Why nothing is known of CPUs, and what to do; NULL: something is. */
const char *bycpu_missing(const struct ui *ui);
/* True when cells are to have their CPU for what is chosen. */
bool bycpu_chosen(const struct ui *ui);
/* Makes the query one whose cells have their CPU. */
void bycpu_query(const struct ui *ui, struct query *q);

/* The filter where it is about CPUs, for a view that asks about all processes: it leaves out
 * samples, not rows. The lock is held; the query is good until the next one. -ENOMEM. */
int bycpu_filter(const struct ui *ui, const struct profile *p, struct query *q);

/* What the filter, which is one of CPUs, keeps, for a sieve. */
struct cpuset {
	bool *cpus; /* by number, + 1; to be freed */
	uint32_t ncpus;
};

/* A zeroed struct is empty; anew: the filter has changed. -ENOMEM. */
int cpuset_judge(struct cpuset *set, const struct filter *filter, const struct profile *p,
		 bool anew);

/* "0 62% 1 38%", "0 62% +7", "0": where a process or thread ran, of its n rows, those with most
 * samples first. */
void bycpu_words(const struct cpu_row *rows, size_t n, char *to, size_t size);

#endif
