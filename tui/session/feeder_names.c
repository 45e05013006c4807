// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names that the slices of a session refer to, made in the profile when a slice first needs them: a
 * session may define more than is ever shown.
 */
#include "tui/session/feeder_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/session/feeder.h"
#include "tui/session/session_read.h"

/* What one takes in the profile, at most: its entry (twice, since arrays double), blocks, index. */
#define FUNC_BYTES  448
#define STACK_BYTES 320
#define PROC_BYTES  1280

static int charge(struct feeder *f, size_t bytes)
{
	if (f->memory + bytes > FEEDER_NAMES_MAX)
		return -ENOMEM;
	f->memory += bytes;
	return 0;
}

static int feed_line(struct feeder *f, uint32_t func)
{
	struct session_line line;

	if (f->lines[func] == FEEDER_NONE || f->funcs[func] == FEEDER_NONE)
		return 0;
	line = session_names_line(f->names, f->lines[func]);
	return profile_line_recorded(f->profile, f->funcs[func], line.file, line.line);
}

int feeder_lines(struct feeder *f, uint32_t from, uint32_t to)
{
	uint32_t first, at, end;
	int err = 0;

	if (from >= to)
		return 0;
	session_lines(f->session, from, &first, &end);
	session_lines(f->session, to - 1, &at, &end);
	for (at = first; at < end; at++)
		f->lines[session_names_line(f->names, at).func] = at;
	/* Of many lines of one function the last one is enough. */
	for (at = first; at < end && !err; at++) {
		uint32_t func = session_names_line(f->names, at).func;

		if (f->lines[func] == at)
			err = feed_line(f, func);
	}
	return err;
}

static int64_t feed_func(struct feeder *f, uint32_t id)
{
	struct profile_func func;
	int64_t made;

	if (f->funcs[id] != FEEDER_NONE)
		return f->funcs[id];
	func = session_names_func(f->names, id);
	if (charge(f, FUNC_BYTES + strlen(func.name) + strlen(func.module)))
		return -ENOMEM;
	made = profile_func(f->profile, func.kind, func.name, func.module);
	if (made < 0)
		return made;
	f->funcs[id] = (uint32_t)made;
	return feed_line(f, id) ? -ENOMEM : made;
}

int64_t feeder_stack(struct feeder *f, uint32_t id)
{
	struct profile_stack stack;
	uint32_t *frames;
	int64_t made = 0;

	if (id == PROFILE_NO_STACK || f->stacks[id] != FEEDER_NONE)
		return id == PROFILE_NO_STACK ? id : f->stacks[id];
	stack = session_names_stack(f->names, id);
	if (charge(f, STACK_BYTES + stack.nframes * sizeof(*frames)))
		return -ENOMEM;
	frames = malloc((stack.nframes + 1) * sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	for (uint32_t i = 0; i < stack.nframes && made >= 0; i++) {
		made = feed_func(f, stack.frames[i]);
		frames[i] = (uint32_t)made;
	}
	stack.frames = frames;
	if (made >= 0)
		made = profile_stack_new(f->profile, &stack);
	free(frames);
	if (made >= 0)
		f->stacks[id] = (uint32_t)made;
	return made;
}

/* The names that threads of the process have by the end of slice n. */
static int feed_threads(struct feeder *f, struct feeder_proc *proc, uint32_t first, uint32_t n)
{
	struct session_thread thread;
	uint32_t at = first;
	int err = 0;

	if (proc->books != f->books)
		proc->thread = FEEDER_NONE;
	proc->books = f->books;
	if (proc->thread != FEEDER_NONE)
		at = session_names_thread(f->names, proc->thread).next;
	for (; at != FEEDER_NONE && !err; at = thread.next) {
		thread = session_names_thread(f->names, at);
		if (thread.slice > n)
			break;
		err = profile_thread(f->profile, proc->id, thread.tid, thread.comm);
		proc->thread = at;
	}
	return err;
}

static int64_t feed_proc(struct feeder *f, uint32_t id, uint32_t n)
{
	struct feeder_proc *known = &f->procs[id];
	struct profile_proc proc;
	int64_t made;
	int err;

	if (known->round == f->round)
		return known->id;
	if (!session_names_proc(f->names, id, n, &proc))
		return -EBADMSG;
	if (f->memory + profile_nprocs(f->profile) * PROC_BYTES > FEEDER_NAMES_MAX)
		return -ENOMEM;
	if (f->recorded) {
		proc.image |= PROFILE_RECORDED;
		proc.exited = true;
		proc.attached = false;
		proc.exit_time = UINT64_MAX;
	}
	made = profile_proc(f->profile, &proc);
	if (made < 0)
		return made;
	known->id = (uint32_t)made;
	known->round = f->round;
	err = feed_threads(f, known, session_names_first_thread(f->names, id), n);
	return err ? err : made;
}

int feeder_cell(struct feeder *f, const struct profile_cell *cell, uint32_t n,
		struct profile_cell *out)
{
	int64_t proc = feed_proc(f, cell->proc, n);
	int64_t ustack = feeder_stack(f, cell->ustack);
	int64_t kstack = feeder_stack(f, cell->kstack);

	if (proc < 0 || ustack < 0 || kstack < 0)
		return proc == -EBADMSG ? -EBADMSG : -ENOMEM;
	*out = (struct profile_cell){.proc = (uint32_t)proc,
				     .tid = cell->tid,
				     .ustack = (uint32_t)ustack,
				     .kstack = (uint32_t)kstack,
				     .count = cell->count,
				     .cpu = cell->cpu,
				     .weight = cell->weight};
	return 0;
}

int feeder_changes(struct feeder *f, uint32_t n)
{
	uint32_t first, end;

	session_changes(f->session, n, &first, &end);
	for (; first < end; first++) {
		uint32_t id = session_names_change(f->names, first);
		int64_t made = feed_proc(f, id, n);

		if (made < 0)
			return (int)made;
	}
	return 0;
}
