// SPDX-License-Identifier: GPL-2.0-or-later
/* How far to believe the other lists: how stacks ended, what was lost, and the unwind tables. */
#include "tui/app/plain_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/tracker/inventory.h"
#include "symbols/base/text.h"
#include "tui/ui/bycpu.h"
#include "tui/views/walk_ends.h"
#include "tui/ui/selection.h"
#include "tui/ui/ui.h"

#define COMPLETE_KEY 1		    /* any number that is no hash of a name */
#define LOST_KEY     2		    /* and those behind it */
#define OBJECT_KEY   0x100000000ull /* above the numbers of shards */

struct end_sum { /* the stacks that ended for a reason; NULL: the complete ones */
	const struct profile_func *end;
	uint64_t samples;
	uint64_t most; /* of them of one process ... */
	uint32_t proc; /* ... which is that of this index */
};

static int by_end(const void *a, const void *b)
{
	const struct walk_end *x = a, *y = b;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->proc > y->proc) - (x->proc < y->proc);
}

static int by_samples(const void *a, const void *b)
{
	const struct end_sum *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return x->end && y->end ? strcmp(x->end->name, y->end->name) : !!y->end - !!x->end;
}

/* Sorts the rows by that; equal reasons have one name, so one function. */
static size_t sum_up(struct walk_ends *e, bool one, uint32_t proc, const struct filter *filter,
		     struct end_sum *sums, uint64_t *walks)
{
	uint64_t of_proc = 0;
	size_t n = 0;

	qsort(e->rows, e->nrows, sizeof(*e->rows), by_end);
	for (size_t i = 0; i < e->nrows; i++) {
		const struct walk_end *row = &e->rows[i];

		if (one && row->proc != proc)
			continue;
		*walks += row->samples; /* shares are of all, also where a filter leaves some out */
		if (!filter_keeps_proc(filter, &e->procs[row->proc].proc))
			continue;
		if (!n || sums[n - 1].end != row->end) {
			sums[n++] = (struct end_sum){.end = row->end};
			of_proc = 0;
		} else if (e->rows[i - 1].proc != row->proc) {
			of_proc = 0;
		}
		of_proc += row->samples;
		sums[n - 1].samples += row->samples;
		if (of_proc > sums[n - 1].most) {
			sums[n - 1].most = of_proc;
			sums[n - 1].proc = row->proc;
		}
	}
	qsort(sums, n, sizeof(*sums), by_samples);
	return n;
}

static void tell_end(struct tell *t, const struct walk_ends *e, const struct end_sum *sum,
		     uint64_t walks)
{
	struct tell_row *row = tell_next(t, sum->end ? names_hash(sum->end) : COMPLETE_KEY,
					 tell_percent(sum->samples, walks));
	const struct profile_proc *proc = &e->procs[sum->proc].proc;
	const struct cause *cause;

	if (!row)
		return;
	snprintf(row->name, sizeof(row->name), "%s", sum->end ? sum->end->name : "complete");
	tell_more(row, "%" PRIu64 " stacks", sum->samples);
	if (!sum->end)
		return;
	cause = reasons_find(sum->end->name);
	tell_more(row, "mostly of PID %d %s", (int)proc->pid, proc->comm);
	tell_more(row, "%s", cause->meaning);
	if (cause->remedy[0])
		tell_more(row, "%s", cause->remedy);
}

static void tell_losses(struct tell *t, const struct walk_ends *e)
{
	struct entry_line lines[WALK_ENDS_LINES];
	size_t count = walk_ends_lines(e, lines);

	for (size_t i = 0; i < count; i++) {
		struct tell_row *row;

		if (!lines[i].count || lines[i].normal)
			continue;
		row = tell_next(t, LOST_KEY + i,
				tell_percent(lines[i].count, e->health.samples + lines[i].count));
		if (!row)
			continue;
		snprintf(row->name, sizeof(row->name), "%s, of all samples", lines[i].cause.name);
		tell_more(row, "%" PRIu64, lines[i].count);
		tell_more(row, "%s", lines[i].cause.meaning);
		if (lines[i].cause.remedy[0])
			tell_more(row, "%s", lines[i].cause.remedy);
	}
}

int tell_unwind(struct tell *t, const struct ui *ui, const struct profile *p)
{
	struct walk_ends e = {0};
	struct end_sum *sums = NULL;
	uint64_t walks = 0;
	uint32_t proc = 0;
	size_t n = 0;
	struct query q = {.span = ui_span(ui), .proc = QUERY_ALL};
	int err = bycpu_filter(ui, p, &q);

	if (!err)
		err = walk_ends_load(&e, p, &q);

	if (!err)
		sums = calloc(e.nrows + 1, sizeof(*sums));
	if (!err && !sums)
		err = -ENOMEM;
	while (ui->zoom.on && proc < e.nprocs &&
	       (e.procs[proc].proc.pid != ui->zoom.pid ||
		e.procs[proc].proc.image != ui->zoom.image))
		proc++;
	if (!err)
		n = sum_up(&e, ui->zoom.on, proc, &ui->selection->filter, sums, &walks);
	for (size_t i = 0; i < n; i++)
		tell_end(t, &e, &sums[i], walks);
	if (!err && !ui->zoom.on)
		tell_losses(t, &e);
	/* How many they are is told with each row: a title that changes tells all of them again. */
	snprintf(t->title, sizeof(t->title), "How stacks of %s ended, %% of them",
		 ui->zoom.on ? ui->zoom.name : "all processes");
	snprintf(t->empty, sizeof(t->empty), "%s",
		 bycpu_chosen(ui) && bycpu_missing(ui) ? bycpu_missing(ui)
		 : walks || ui->selection->filter.set  ? "The filter keeps no process."
						       : "No user stack was walked.");
	free(sums);
	walk_ends_free(&e);
	return err;
}

/* --- the tables ---------------------------------------------------------------------------- */

static int by_words(const void *a, const void *b)
{
	const struct inventory_object *const *x = a, *const *y = b;

	if ((*x)->words != (*y)->words)
		return (*x)->words < (*y)->words ? 1 : -1;
	return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

static void tell_objects(struct tell *t, const struct inventory_object *const *sorted, size_t count,
			 uint64_t all)
{
	static const char *const states[] = {
		[INVENTORY_READY] = "in place",
		[INVENTORY_QUEUED] = "about to be built",
		[INVENTORY_EVICTED] = "evicted: comes back when it is sampled",
		[INVENTORY_FAILED] = "failed: unreadable, or larger than the budget",
		[INVENTORY_REFUSED] = "refused: more CFI than any real file has",
	};

	for (size_t i = 0; i < count; i++) {
		const struct inventory_object *o = sorted[i];
		struct tell_row *row =
			tell_next(t, OBJECT_KEY + o->id, tell_percent(o->words, all));
		char name[80];

		if (!row)
			continue;
		text_clean(name, sizeof(name), o->name, strnlen(o->name, sizeof(o->name)));
		snprintf(row->name, sizeof(row->name), "table of %s", name);
		tell_more(row, "%" PRIu64 " words, %s%s, mapped by %u process%s", o->words,
			  states[o->state], o->pinned ? ", pinned" : "", o->processes,
			  o->processes == 1 ? "" : "es");
	}
}

static int tell_inventory(struct tell *t, const struct inventory *inv)
{
	const struct inventory_object **sorted;
	uint64_t used = 0, all = (uint64_t)inv->nshards * SHARD_WORDS;
	unsigned int created = 0;

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	sorted = calloc((size_t)inv->nobjects + 1, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < inv->nobjects; i++)
		sorted[i] = &inv->objects[i];
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	qsort((void *)sorted, inv->nobjects, sizeof(*sorted), by_words);
	for (unsigned int i = 0; i < inv->nshards; i++) {
		struct tell_row *row;

		used += inv->shards[i].words;
		if (!inv->shards[i].created)
			continue;
		created++;
		row = tell_next(t, i, tell_percent(inv->shards[i].words, SHARD_WORDS));
		if (!row)
			continue;
		snprintf(row->name, sizeof(row->name), "of shard %u", i);
		tell_more(row, "%u objects, %" PRIu64 " evicted", inv->shards[i].objects,
			  inv->shards[i].evictions);
	}
	tell_objects(t, sorted, inv->nobjects, all);
	snprintf(
		t->title, sizeof(t->title),
		"Unwind tables, %.1f %% of %u shards in use, %u created; %% of a shard, then %% of "
		"all by object",
		tell_percent(used, all), inv->nshards, created);
	free((void *)sorted);
	return 0;
}

int tell_shards(struct tell *t, const struct profile *p)
{
	struct inventory *inv = profile_inventory(p);
	int err;

	snprintf(t->title, sizeof(t->title), "Unwind tables");
	snprintf(t->empty, sizeof(t->empty), "The shards are being looked at.");
	if (!inv)
		return 0;
	err = tell_inventory(t, inv);
	inventory_put(inv);
	return err;
}
