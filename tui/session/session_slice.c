// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A profile keeps 20 s of slices, however many cells they have, so a slice that claims more cells
 * than a machine could make is refused.
 */
#include "tui/session/session_slice.h"

#include <errno.h>
#include <stdlib.h>

#include "tui/util/bytes.h"
#include "tui/session/session.h"
#include "tui/session/session_names.h"

/* Cells of a slice beyond what a profile of 20 s could hold if all were so. */
#define CELLS_MIN  256
#define CELLS_NS   5000 /* one more for each */
#define CELL_BYTES 5	/* in the file, at least */

static void take_health(struct cursor *c, struct profile_health *health)
{
	uint64_t n, value;

	health->clock = cursor_number(c);
	cursor_clean(c, health->event, sizeof(health->event));
	n = cursor_number(c);
#define TAKE_FIELD(field)                                                                          \
	if (n) {                                                                                   \
		value = cursor_number(c);                                                          \
		health->field = (__typeof__(health->field))value;                                  \
		c->bad |= (uint64_t)health->field != value;                                        \
		n--;                                                                               \
	}
	SESSION_HEALTH(TAKE_FIELD)
#undef TAKE_FIELD
	for (; n && !c->bad; n--)
		cursor_number(c);
	n = cursor_number(c);
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		value = cursor_number(c);
		if (i < LOSS_COUNT)
			health->loss[i] = value;
	}
	/* Sums of a hostile file's figures must not exceed 64 bits. */
	c->bad |= health->elapsed > (uint64_t)1 << 50;
}

static void take_messages(struct cursor *c, struct session_slice *out)
{
	uint32_t level;

	while ((level = cursor_number32(c, MESSAGE_ERROR + 1))) {
		struct session_message message = {.level = (enum message_level)(level - 1)};

		cursor_clean(c, message.text, sizeof(message.text));
		if (out->nmessages < SESSION_MESSAGES_MAX)
			out->messages[out->nmessages++] = message;
	}
}

/* An id in the file is one more than the stack's, or 0. */
static uint32_t cell_stack(struct cursor *c, uint32_t nstacks)
{
	uint32_t id = cursor_number32(c, UINT32_MAX - 1);

	if (!id)
		return PROFILE_NO_STACK;
	c->bad |= id > nstacks;
	return id - 1;
}

static int take_cell(struct session_names *names, const struct session_counts *counts,
		     struct cursor *c, uint32_t n, struct profile_cell *cell)
{
	uint32_t proc = cursor_number32(c, UINT32_MAX - 1);
	int64_t pid;

	if (c->bad || proc >= counts->procs)
		return -EBADMSG;
	pid = session_names_pid(names, proc, n);
	if (pid < 0)
		return -EBADMSG;
	cell->proc = proc;
	cell->tid = (uint32_t)((uint64_t)cursor_signed(c) + (uint64_t)pid);
	cell->ustack = cell_stack(c, counts->stacks);
	cell->kstack = cell_stack(c, counts->stacks);
	cell->count = cursor_number32(c, UINT32_MAX);
	cell->cpu = 0;
	return c->bad ? -EBADMSG : 0;
}

/* Behind the cells, if samples were counted per CPU: a number for each. */
static void take_cpus(struct cursor *c, struct profile_cell *cells, size_t count)
{
	if (c->bad || c->at == c->end)
		return;
	c->bad |= cursor_number(c) != count;
	for (size_t i = 0; i < count && !c->bad; i++)
		cells[i].cpu = cursor_number32(c, SESSION_CPU_MAX);
}

static int cells_reserve(struct session_cells *cells, size_t count)
{
	if (count <= cells->room)
		return 0;
	free(cells->at);
	cells->room = 0;
	cells->at = calloc(count, sizeof(*cells->at));
	if (!cells->at)
		return -ENOMEM;
	cells->room = count;
	return 0;
}

int session_slice_take(struct session_names *names, struct cursor *c, uint32_t n,
		       struct session_cells *cells, struct session_slice *out)
{
	const struct session_counts counts = session_names_counts(names);
	uint64_t count;
	int err;

	*out = (struct session_slice){0};
	take_health(c, &out->health);
	take_messages(c, out);
	count = cursor_number(c);
	if (c->bad || count > CELLS_MIN + out->health.elapsed / CELLS_NS ||
	    count > (uint64_t)(c->end - c->at) / CELL_BYTES)
		return -EBADMSG;
	err = cells_reserve(cells, (size_t)count);
	for (size_t i = 0; i < count && !err; i++)
		err = take_cell(names, &counts, c, n, &cells->at[i]);
	if (!err)
		take_cpus(c, cells->at, (size_t)count);
	if (err || c->bad)
		return err ? err : -EBADMSG;
	out->cells = cells->at;
	out->ncells = (size_t)count;
	return 0;
}
