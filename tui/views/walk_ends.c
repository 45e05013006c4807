// SPDX-License-Identifier: GPL-2.0-or-later
/* See unwind_tables.h. */
#include "tui/views/unwind_tables.h"

#include <errno.h>
#include <stdlib.h>

#include "tui/ui/header.h"

#define NS_PER_SEC  1000000000.0
#define REASONS_MAX (WALK_REASON_COUNT + 4)

static void clear(struct walk_ends *e)
{
	free(e->rows);
	free(e->procs);
	e->rows = NULL;
	e->procs = NULL;
	e->nrows = e->nprocs = 0;
	if (e->names)
		names_clear(e->names);
}

void walk_ends_free(struct walk_ends *e)
{
	clear(e);
	names_free(e->names);
	e->names = NULL;
}

static int by_process(const void *a, const void *b)
{
	const struct end_row *x = a, *y = b;

	if (x->proc != y->proc)
		return x->proc < y->proc ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->last > y->last) - (x->last < y->last);
}

static int copy_func(struct walk_ends *e, const struct profile *p, uint32_t id,
		     const struct profile_func **to)
{
	*to = id == QUERY_NONE ? NULL : names_get(e->names, p, id);
	return id == QUERY_NONE || *to ? 0 : -ENOMEM;
}

/* The reason with most samples, over all places. There are few of them. */
static void choose_reason(const struct walk_ends *e, struct walk_end_proc *proc)
{
	struct {
		const struct profile_func *reason;
		uint64_t samples;
	} sums[REASONS_MAX] = {{0}};
	const struct walk_end *rows = &e->rows[proc->first];
	uint64_t most = 0;

	for (uint32_t i = 0; i < proc->count; i++) {
		size_t k = 0;

		if (!rows[i].end)
			continue;
		while (k < REASONS_MAX - 1 && sums[k].reason && sums[k].reason != rows[i].end)
			k++;
		sums[k].reason = rows[i].end;
		sums[k].samples += rows[i].samples;
		if (sums[k].samples > most) {
			most = sums[k].samples;
			proc->reason = rows[i].end;
		}
	}
}

static int copy_all(struct walk_ends *e, const struct profile *p, const struct end_row *from,
		    size_t count)
{
	uint32_t last = QUERY_NONE;

	for (size_t i = 0; i < count; i++) {
		const struct profile_proc *proc = query_proc(p, from[i].proc);
		struct walk_end_proc *to;

		if (!proc)
			continue;
		if (from[i].proc != last)
			e->procs[e->nprocs++] =
				(struct walk_end_proc){.proc = *proc, .first = (uint32_t)e->nrows};
		last = from[i].proc;
		e->rows[e->nrows] = (struct walk_end){.proc = (uint32_t)e->nprocs - 1,
						      .place = from[i].place,
						      .samples = from[i].samples};
		if (copy_func(e, p, from[i].end, &e->rows[e->nrows].end) ||
		    copy_func(e, p, from[i].last, &e->rows[e->nrows].last))
			return -ENOMEM;
		e->nrows++;
		to = &e->procs[e->nprocs - 1];
		to->count++;
		to->walks += from[i].samples;
		if (from[i].end == QUERY_NONE)
			to->complete += from[i].samples;
		else if (reasons_reason(e->rows[e->nrows - 1].end->name) == WALK_GUESSED)
			to->guessed += from[i].samples;
	}
	for (size_t i = 0; i < e->nprocs; i++)
		choose_reason(e, &e->procs[i]);
	return 0;
}

int walk_ends_load(struct walk_ends *e, const struct profile *p, const struct query *q)
{
	struct end_row *found = NULL;
	size_t count = 0;
	int err = 0;

	clear(e);
	query_health_sum(p, q->span, &e->health);
	if (!e->names)
		e->names = names_new();
	if (!e->names)
		return -ENOMEM;
	err = query_ends(p, q, &found, &count);
	if (!err) {
		qsort(found, count, sizeof(*found), by_process);
		e->rows = calloc(count + 1, sizeof(*e->rows));
		e->procs = calloc(count + 1, sizeof(*e->procs));
		err = e->rows && e->procs ? copy_all(e, p, found, count) : -ENOMEM;
	}
	free(found);
	if (err)
		clear(e);
	return err;
}

double walk_ends_rate(const struct walk_ends *e, uint64_t n)
{
	return e->health.elapsed ? (double)n * NS_PER_SEC / (double)e->health.elapsed : 0;
}

/* --- the books ----------------------------------------------------------------------------- */

uint64_t walk_ends_shown(const struct walk_ends *e)
{
	uint64_t lost = profile_lost(&e->health);

	return e->health.samples > lost ? e->health.samples - lost : 0;
}

uint64_t walk_ends_proved(const struct walk_ends *e)
{
	const struct profile_health *h = &e->health;

	return h->complete_walks > h->complete_fp_walks ? h->complete_walks - h->complete_fp_walks
							: 0;
}

size_t walk_ends_lines(const struct walk_ends *e, struct entry_line *lines)
{
	static const enum loss losses[] = {LOSS_THROTTLED, LOSS_MISSED,	 LOSS_COUNTS_FULL,
					   LOSS_BUSY,	   LOSS_SLICE,	 LOSS_STACK_RING,
					   LOSS_KERNEL,	   LOSS_SIDEBAND};
	const struct profile_health *h = &e->health;
	size_t n = 0;

	_Static_assert(sizeof(losses) / sizeof(losses[0]) == LOSS_COUNT, "each has its line");
	lines[n++] = (struct entry_line){
		walk_ends_shown(e), {"shown", "in the other views", ""}, .normal = true};
	lines[n++] = (struct entry_line){
		walk_ends_proved(e),
		{"complete by proof", "user stacks whose end CFI or the code itself shows", ""},
		.normal = true,
		.walks = true};
	lines[n++] = (struct entry_line){
		h->complete_fp_walks,
		{"complete by frame pointers",
		 "user stacks whose end only a frame pointer of zero shows", ""},
		.normal = true,
		.walks = true};
	if (h->filtering || profile_unattached(h))
		lines[n++] = (struct entry_line){
			profile_unattached(h),
			{"not attached", "of processes that are not chosen", "F9 attaches"},
			.normal = true};
	if (h->outside)
		lines[n++] = (struct entry_line){
			h->outside,
			{"outside", "of processes without a number in this PID namespace",
			 "run it on the host"},
			.normal = true};
	if (h->ticks)
		lines[n++] = (struct entry_line){
			h->idle, {"idle", "nothing ran on the CPU", ""}, .normal = true};
	for (size_t i = 0; i < LOSS_COUNT; i++) {
		enum loss loss = losses[i];
		bool within =
			loss == LOSS_STACK_RING || loss == LOSS_KERNEL || loss == LOSS_SIDEBAND;

		lines[n++] =
			(struct entry_line){h->loss[loss], *reasons_loss(loss),
					    .normal = !header_tells(h, loss), .within = within};
	}
	return n;
}
