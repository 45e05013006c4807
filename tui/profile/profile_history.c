/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slices that are no longer recent, and their limits. A slice takes 28 bytes a cell, but what only
 * slices refer to may be large: ten minutes of stacks that never came again. So a stack or process
 * counts while any slice refers to it, and a function while such a stack does. Entries that only
 * totals or frozen sums refer to do not count: dropping slices would not free them.
 */
#include <string.h>

#include "tui/profile/profile_priv.h"

#include <stdlib.h>

/* Of a sample id: its slots in the index, and the hints of the sums. */
#define ID_BYTES (sizeof(struct sample_key) + 16 + 6 * sizeof(uint32_t))

void history_hold_frames(struct profile *p, uint32_t stack)
{
	const struct stack_entry *entry = stack_at(p, stack);

	p->history_bytes += stack_bytes(entry);
	for (uint32_t i = 0; i < entry->stack.nframes; i++) {
		struct func_entry *func = func_at(p, entry->stack.frames[i]);

		if (!func->entry.held++)
			p->history_bytes += func_bytes(func);
	}
}

void history_unhold_frames(struct profile *p, uint32_t stack)
{
	const struct stack_entry *entry = stack_at(p, stack);

	p->history_bytes -= stack_bytes(entry);
	for (uint32_t i = 0; i < entry->stack.nframes; i++) {
		struct func_entry *func = func_at(p, entry->stack.frames[i]);

		if (!--func->entry.held)
			p->history_bytes -= func_bytes(func);
	}
}

static void stack_hold(struct profile *p, uint32_t stack)
{
	if (stack != PROFILE_NO_STACK && !stack_at(p, stack)->entry.held++)
		history_hold_frames(p, stack);
}

static void stack_unhold(struct profile *p, uint32_t stack)
{
	if (stack != PROFILE_NO_STACK && !--stack_at(p, stack)->entry.held)
		history_unhold_frames(p, stack);
}

static size_t slice_bytes(const struct slice *slice)
{
	return sizeof(*slice) + slice->ncells * SLICE_CELL_BYTES +
	       slice->nuse * sizeof(*slice->use);
}

void history_add(struct profile *p, const struct slice *slice)
{
	p->history_ns += slice->health.elapsed;
	p->history_bytes += slice_bytes(slice);
	p->nrecent++;
	for (size_t i = 0; i < slice->ncells; i++) {
		const struct profile_cell *cell = &slice->cells[i];
		struct process_entry *proc = proc_at(p, cell->proc);

		slice->ids[i] = sample_ids_get(&p->ids, cell->proc, cell->ustack, cell->kstack);
		if (p->ids.at[slice->ids[i]].refs == 1)
			p->history_bytes += ID_BYTES;
		profile_refer(p, cell->proc, cell->ustack, cell->kstack);
		proc->slices++;
		if (!proc->entry.held++)
			p->history_bytes += sizeof(*proc);
		stack_hold(p, cell->ustack);
		stack_hold(p, cell->kstack);
	}
}

/* The oldest recent slice becomes history. */
static void retire(struct profile *p)
{
	const struct slice *slice = slice_at(p, --p->nrecent);

	for (size_t i = 0; i < slice->ncells; i++)
		proc_at(p, slice->cells[i].proc)->slices--;
}

void history_recall(struct profile *p, size_t recent)
{
	while (p->nrecent > recent)
		retire(p);
	while (p->nrecent < recent) {
		const struct slice *slice = slice_at(p, p->nrecent++);

		for (size_t i = 0; i < slice->ncells; i++)
			proc_at(p, slice->cells[i].proc)->slices++;
	}
}

void history_drop_oldest(struct profile *p)
{
	struct slice *slice = slice_at(p, p->nslices - 1);

	if (p->nrecent == p->nslices)
		retire(p);
	p->history_ns -= slice->health.elapsed;
	p->history_bytes -= slice_bytes(slice);
	for (size_t i = 0; i < slice->ncells; i++) {
		const struct profile_cell *cell = &slice->cells[i];
		struct process_entry *proc = proc_at(p, cell->proc);

		if (p->ids.at[slice->ids[i]].refs == 1)
			p->history_bytes -= ID_BYTES;
		sample_ids_put(&p->ids, slice->ids[i]);
		if (!--proc->entry.held)
			p->history_bytes -= sizeof(*proc);
		stack_unhold(p, cell->ustack);
		stack_unhold(p, cell->kstack);
		profile_unrefer(p, cell->proc, cell->ustack, cell->kstack);
	}
	free(slice->cells);
	free(slice->use);
	memset(slice, 0, sizeof(*slice));
	p->first = (p->first + 1) % p->slices_room;
	p->nslices--;
}

static bool history_full(const struct profile *p)
{
	uint64_t oldest = slice_at(p, p->nslices - 1)->health.elapsed;

	return p->history_ns - oldest >= p->keep_ns || p->history_bytes > p->keep_bytes;
}

void history_bound(struct profile *p, size_t recent)
{
	while (p->nrecent > recent)
		retire(p);
	while (p->nslices > SLICES_MAX || (p->nslices > recent && history_full(p)))
		history_drop_oldest(p);
}

void profile_keep(struct profile *p, unsigned int seconds, uint64_t bytes)
{
	p->keep_ns = (uint64_t)(seconds * NS_PER_SEC);
	p->keep_bytes = bytes;
}

/* --- what is asked of it --------------------------------------------------------------------- */

void query_history(const struct profile *p, struct history *history)
{
	*history = (struct history){
		.first = p->committed - p->nslices + 1,
		.last = p->committed,
		.seconds = (double)p->history_ns / NS_PER_SEC,
		.bytes = p->history_bytes,
		.bytes_max = p->keep_bytes,
	};
}

bool query_slice_cells(const struct profile *p, uint64_t slice, const struct profile_cell **cells,
		       size_t *ncells, struct profile_health *health)
{
	const struct slice *kept;
	size_t age;

	if (!slice_age(p, slice, &age))
		return false;
	kept = slice_at(p, age);
	*cells = kept->cells;
	*ncells = kept->ncells;
	*health = kept->health;
	return true;
}

bool query_slice_health(const struct profile *p, uint64_t slice, struct profile_health *health)
{
	size_t age;

	if (!slice_age(p, slice, &age))
		return false;
	*health = slice_at(p, age)->health;
	return true;
}

uint64_t query_slice_step(const struct profile *p, uint64_t from, double seconds)
{
	uint64_t first = p->committed - p->nslices + 1, at = from < first ? first : from;
	double left = seconds < 0 ? -seconds : seconds, moved = 0;

	if (!p->nslices || at > p->committed || from < first)
		return p->nslices ? (from < first ? first : p->committed) : from;
	/* Half a slice of tolerance, as for the window. */
	while (seconds < 0 ? at > first : at < p->committed) {
		uint64_t over = seconds < 0 ? at : at + 1;
		double elapsed =
			(double)slice_at(p, p->committed - over)->health.elapsed / NS_PER_SEC;

		if (moved > 0 && moved + elapsed / 2 >= left)
			break;
		moved += elapsed > 0 ? elapsed : 1e-9;
		at = seconds < 0 ? at - 1 : at + 1;
	}
	return at;
}

uint64_t query_window_first(const struct profile *p, uint64_t last)
{
	size_t age;

	return slice_age(p, last, &age) ? last + 1 - profile_span(p, age) : last;
}

bool query_window_whole(const struct profile *p, uint64_t last)
{
	size_t age;

	return slice_age(p, last, &age) && profile_span_whole(p, age, profile_span(p, age));
}
