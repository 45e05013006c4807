// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All definitions of a session stay in memory while it is open, in a few arrays that share one
 * budget: a hostile file cannot make any of them larger than that.
 */
#include "tui/session/session_names.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/search.h"
#include "symbols/base/text.h"
#include "tui/util/bytes.h"
#include "tui/session/session.h"

#define NAME_BYTES 1024 /* of a string, with its NUL */
#define NONE	   SESSION_NAMES_NONE
#define FRAMES_MAX SESSION_CHUNK_MAX /* of a stack: a byte of its chunk each */

struct names_func {
	uint32_t kind, name, module;
};

struct names_stack {
	uint64_t place;
	size_t frames; /* index */
	uint32_t nframes;
	uint32_t flags;
};

struct names_module {
	uint32_t name, build;
};

struct names_proc {
	uint32_t at; /* index of the last change that was looked at */
	uint32_t first_thread, last_thread;
};

struct names_change { /* of a process */
	uint32_t id;
	uint32_t slice;		/* first one for which it holds */
	uint32_t before, after; /* changes of the same process; NONE */
	uint32_t pid, ppid, nthreads, flags;
	uint32_t comm, user, cmdline, group;
	uint32_t mute, why;
	uint64_t image;
	int64_t exit_time;
};

struct names_thread {
	uint32_t tid, name, slice, next;
};

struct names_line {
	uint32_t func, file, line;
};

struct names_state {
	uint32_t slice, size;
	size_t at; /* in BLOBS */
};

/* An array that grows within the budget. */
struct names_list {
	void *at;
	size_t count, room, item; /* item: bytes of one */
};

enum list_kind {
	TEXT,	 /* all strings, each with its NUL */
	STRINGS, /* size_t: index of the text */
	MODULES,
	FUNCS,
	STACKS,
	FRAMES, /* uint32_t: functions */
	PROCS,
	CHANGES,
	THREADS,
	LINES,
	INVENTORIES,
	WALKS,
	BLOBS, /* contents that are decoded on demand */
	LISTS
};

static const size_t item_bytes[LISTS] = {
	[TEXT] = 1,
	[STRINGS] = sizeof(size_t),
	[MODULES] = sizeof(struct names_module),
	[FUNCS] = sizeof(struct names_func),
	[STACKS] = sizeof(struct names_stack),
	[FRAMES] = sizeof(uint32_t),
	[PROCS] = sizeof(struct names_proc),
	[CHANGES] = sizeof(struct names_change),
	[THREADS] = sizeof(struct names_thread),
	[LINES] = sizeof(struct names_line),
	[INVENTORIES] = sizeof(struct names_state),
	[WALKS] = sizeof(struct names_state),
	[BLOBS] = 1,
};

struct session_names {
	struct names_list lists[LISTS];
	size_t memory; /* of all lists */
};

#define AT(n, kind, type, i) (&((type *)(n)->lists[kind].at)[i])

static uint32_t count_of(const struct session_names *n, enum list_kind kind)
{
	return (uint32_t)n->lists[kind].count;
}

/* Makes room for so many more; -ENOMEM, also if the session takes too much. */
static int list_reserve(struct session_names *n, enum list_kind kind, size_t more)
{
	struct names_list *list = &n->lists[kind];
	size_t size = item_bytes[kind], room = list->room;
	size_t most = room + (SESSION_NAMES_MAX - n->memory) / size;
	void *grown = grow_to(list->at, list->count + more, &room, size, most);

	if (!grown)
		return -ENOMEM;
	n->memory += (room - list->room) * size;
	list->at = grown;
	list->room = room;
	return 0;
}

static int list_add(struct session_names *n, enum list_kind kind, const void *item)
{
	struct names_list *list = &n->lists[kind];

	if (list->count >= NONE - 1 || list_reserve(n, kind, 1))
		return -ENOMEM;
	memcpy((char *)list->at + list->count++ * item_bytes[kind], item, item_bytes[kind]);
	return 0;
}

struct session_names *session_names_new(void)
{
	return calloc(1, sizeof(struct session_names));
}

void session_names_free(struct session_names *n)
{
	if (!n)
		return;
	for (int i = 0; i < LISTS; i++)
		free(n->lists[i].at);
	free(n);
}

size_t session_names_bytes(const struct session_names *n)
{
	return n->memory;
}

/* --- records --------------------------------------------------------------------------------- */

static const char *string_at(const struct session_names *n, uint32_t id)
{
	return AT(n, TEXT, char, *AT(n, STRINGS, size_t, id));
}

static int take_string(struct session_names *n, struct cursor *c)
{
	size_t length = (size_t)(c->end - c->at), at = n->lists[TEXT].count;

	if (length > NAME_BYTES - 1)
		length = NAME_BYTES - 1;
	if (list_reserve(n, TEXT, length + 1) || list_add(n, STRINGS, &at))
		return -ENOMEM;
	n->lists[TEXT].count +=
		1 + text_clean(AT(n, TEXT, char, at), length + 1, (const char *)c->at, length);
	return 0;
}

static uint32_t take_id(const struct session_names *n, struct cursor *c, enum list_kind kind)
{
	uint32_t id = cursor_number32(c, NONE - 1);

	c->bad |= id >= n->lists[kind].count;
	return id;
}

static int take_func(struct session_names *n, struct cursor *c)
{
	uint32_t kind = cursor_number32(c, UINT32_MAX);
	struct names_func func = {.kind = kind < SESSION_KINDS ? session_kinds[kind] : FUNC_USER};

	func.name = take_id(n, c, STRINGS);
	func.module = take_id(n, c, STRINGS);
	return c->bad ? -EBADMSG : list_add(n, FUNCS, &func);
}

static int take_stack(struct session_names *n, struct cursor *c, bool again)
{
	uint32_t id = again ? take_id(n, c, STACKS) : 0;
	struct names_stack stack = {.flags = cursor_number32(c, UINT32_MAX)};
	struct names_list *frames = &n->lists[FRAMES];
	int err = 0;

	stack.place = cursor_number(c);
	stack.nframes = cursor_number32(c, FRAMES_MAX);
	stack.frames = frames->count;
	if (c->bad || stack.nframes > (size_t)(c->end - c->at))
		return -EBADMSG;
	if (list_reserve(n, FRAMES, stack.nframes))
		return -ENOMEM;
	for (uint32_t i = 0; i < stack.nframes; i++)
		*AT(n, FRAMES, uint32_t, frames->count + i) = take_id(n, c, FUNCS);
	if (c->bad)
		return -EBADMSG;
	if (again)
		*AT(n, STACKS, struct names_stack, id) = stack;
	else
		err = list_add(n, STACKS, &stack);
	if (!err)
		frames->count += stack.nframes;
	return err;
}

static int add_change(struct session_names *n, struct names_change *change)
{
	uint32_t number = count_of(n, CHANGES);
	struct names_proc *proc = NULL;
	int err;

	change->before = change->after = NONE;
	if (change->id < count_of(n, PROCS)) {
		proc = AT(n, PROCS, struct names_proc, change->id);
		change->before = proc->at;
	}
	err = list_add(n, CHANGES, change);
	if (err)
		return err;
	if (!proc)
		return list_add(n, PROCS, &(struct names_proc){number, NONE, NONE});
	AT(n, CHANGES, struct names_change, proc->at)->after = number;
	proc->at = number;
	return 0;
}

static int take_proc(struct session_names *n, struct cursor *c, uint32_t slice)
{
	struct names_change change = {.id = cursor_number32(c, NONE - 1), .slice = slice};

	change.pid = cursor_number32(c, INT_MAX);
	change.ppid = cursor_number32(c, INT_MAX);
	change.image = cursor_number(c);
	change.flags = cursor_number32(c, UINT32_MAX);
	change.comm = take_id(n, c, STRINGS);
	change.user = take_id(n, c, STRINGS);
	change.cmdline = take_id(n, c, STRINGS);
	change.nthreads = cursor_number32(c, INT_MAX);
	change.exit_time = cursor_signed(c);
	change.group = take_id(n, c, STRINGS);
	if (change.flags & SESSION_PROC_MUTE) {
		change.mute = cursor_number32(c, UINT32_MAX);
		change.why = take_id(n, c, STRINGS);
	}
	if (c->bad || change.id > count_of(n, PROCS))
		return -EBADMSG;
	return add_change(n, &change);
}

static int take_thread(struct session_names *n, struct cursor *c, uint32_t slice)
{
	uint32_t id = take_id(n, c, PROCS), number = count_of(n, THREADS);
	struct names_thread thread = {
		.tid = cursor_number32(c, INT_MAX), .name = 0, .slice = slice, .next = NONE};
	struct names_proc *proc;
	int err;

	thread.name = take_id(n, c, STRINGS);
	err = c->bad ? -EBADMSG : list_add(n, THREADS, &thread);
	if (err)
		return err;
	proc = AT(n, PROCS, struct names_proc, id);
	if (proc->last_thread == NONE)
		proc->first_thread = number;
	else
		AT(n, THREADS, struct names_thread, proc->last_thread)->next = number;
	proc->last_thread = number;
	return 0;
}

static int take_line(struct session_names *n, struct cursor *c)
{
	struct names_line line = {.func = take_id(n, c, FUNCS)};

	line.file = take_id(n, c, STRINGS);
	line.line = cursor_number32(c, UINT32_MAX);
	return c->bad ? -EBADMSG : list_add(n, LINES, &line);
}

static int take_state(struct session_names *n, struct cursor *c, enum list_kind kind,
		      uint32_t slice)
{
	struct names_state state = {
		.slice = slice, .size = (uint32_t)(c->end - c->at), .at = n->lists[BLOBS].count};

	if (list_reserve(n, BLOBS, state.size) || list_add(n, kind, &state))
		return -ENOMEM;
	memcpy(AT(n, BLOBS, uint8_t, state.at), c->at, state.size);
	n->lists[BLOBS].count += state.size;
	return 0;
}

static int take_module(struct session_names *n, struct cursor *c)
{
	struct names_module module = {.name = take_id(n, c, STRINGS)};
	const char *build;

	module.build = take_id(n, c, STRINGS);
	if (c->bad)
		return -EBADMSG;
	build = string_at(n, module.build);
	if (build[strspn(build, "0123456789abcdef")] || strlen(build) >= PROFILE_BUILD_MAX)
		return -EBADMSG;
	return list_add(n, MODULES, &module);
}

/* Unknown records are skipped. */
static int take_record(struct session_names *n, uint64_t type, struct cursor *c, uint32_t slice)
{
	switch (type) {
	case SESSION_STRING:
		return take_string(n, c);
	case SESSION_FUNC:
		return take_func(n, c);
	case SESSION_STACK:
	case SESSION_STACK_AGAIN:
		return take_stack(n, c, type == SESSION_STACK_AGAIN);
	case SESSION_PROC:
		return take_proc(n, c, slice);
	case SESSION_THREAD:
		return take_thread(n, c, slice);
	case SESSION_MODULE:
		return take_module(n, c);
	case SESSION_LINE:
		return take_line(n, c);
	case SESSION_INVENTORY:
		return take_state(n, c, INVENTORIES, slice);
	case SESSION_WALK:
		return take_state(n, c, WALKS, slice);
	default:
		return 0;
	}
}

int session_names_take(struct session_names *n, struct cursor *c, uint32_t slice)
{
	int err = 0;

	while (!err && c->at < c->end) {
		uint64_t type = cursor_number(c);
		struct cursor record = {.bad = c->bad};
		size_t length;

		record.at = (const uint8_t *)cursor_text(c, &length);
		record.end = record.at + length;
		if (c->bad)
			return -EBADMSG;
		err = take_record(n, type, &record, slice);
	}
	return err;
}

/* --- what slices refer to -------------------------------------------------------------------- */

struct session_counts session_names_counts(const struct session_names *n)
{
	return (struct session_counts){
		.funcs = count_of(n, FUNCS),
		.stacks = count_of(n, STACKS),
		.procs = count_of(n, PROCS),
		.changes = count_of(n, CHANGES),
		.lines = count_of(n, LINES),
		.modules = count_of(n, MODULES),
	};
}

void session_names_module(const struct session_names *n, uint32_t number, const char **module,
			  const char **build)
{
	*module = string_at(n, AT(n, MODULES, struct names_module, number)->name);
	*build = string_at(n, AT(n, MODULES, struct names_module, number)->build);
}

struct profile_func session_names_func(const struct session_names *n, uint32_t id)
{
	const struct names_func *func = AT(n, FUNCS, struct names_func, id);

	return (struct profile_func){.name = string_at(n, func->name),
				     .module = string_at(n, func->module),
				     .kind = (enum func_kind)func->kind};
}

struct profile_stack session_names_stack(const struct session_names *n, uint32_t id)
{
	const struct names_stack *stack = AT(n, STACKS, struct names_stack, id);

	return (struct profile_stack){
		.kernel = stack->flags & SESSION_STACK_KERNEL,
		.complete = stack->flags & SESSION_STACK_COMPLETE,
		.lock = stack->flags / SESSION_STACK_LOCK % STACK_LOCKS,
		.nframes = stack->nframes,
		.frames = stack->nframes ? AT(n, FRAMES, uint32_t, stack->frames) : NULL,
		.place = stack->place};
}

/* Starts from the change of the previous request, since slices are mostly asked for in order. */
static const struct names_change *change_at(struct session_names *n, uint32_t id, uint32_t slice)
{
	uint32_t *at = &AT(n, PROCS, struct names_proc, id)->at;
	const struct names_change *change = AT(n, CHANGES, struct names_change, *at);

	while (change->after != NONE &&
	       AT(n, CHANGES, struct names_change, change->after)->slice <= slice) {
		*at = change->after;
		change = AT(n, CHANGES, struct names_change, *at);
	}
	while (change->slice > slice && change->before != NONE) {
		*at = change->before;
		change = AT(n, CHANGES, struct names_change, *at);
	}
	return change->slice <= slice ? change : NULL;
}

/* Clean even if it is cut. */
static void copy(const struct session_names *n, uint32_t string, char *to, size_t size)
{
	const char *text = string_at(n, string);

	text_clean(to, size, text, strlen(text));
}

bool session_names_proc(struct session_names *n, uint32_t id, uint32_t slice,
			struct profile_proc *out)
{
	const struct names_change *change = change_at(n, id, slice);

	if (!change)
		return false;
	*out = (struct profile_proc){.pid = (pid_t)change->pid,
				     .ppid = (pid_t)change->ppid,
				     .image = change->image,
				     .nthreads = change->nthreads,
				     .attached = change->flags & SESSION_PROC_ATTACHED,
				     .exited = change->flags & SESSION_PROC_EXITED,
				     .kthread = change->flags & SESSION_PROC_KTHREAD,
				     .exit_time = (uint64_t)change->exit_time};
	copy(n, change->comm, out->comm, sizeof(out->comm));
	copy(n, change->user, out->user, sizeof(out->user));
	copy(n, change->group, out->group, sizeof(out->group));
	copy(n, change->cmdline, out->cmdline, sizeof(out->cmdline));
	if (change->mute < SESSION_KINDS && func_is_language(session_kinds[change->mute])) {
		out->mute = session_kinds[change->mute];
		copy(n, change->why, out->why, sizeof(out->why));
	}
	return true;
}

int64_t session_names_pid(struct session_names *n, uint32_t id, uint32_t slice)
{
	const struct names_change *change = change_at(n, id, slice);

	return change ? (int64_t)change->pid : -1;
}

uint32_t session_names_change(const struct session_names *n, uint32_t number)
{
	return AT(n, CHANGES, struct names_change, number)->id;
}

uint32_t session_names_state(const struct session_names *n, enum session_record type,
			     uint32_t slice, struct cursor *content)
{
	enum list_kind kind = type == SESSION_WALK ? WALKS : INVENTORIES;
	uint32_t low = (uint32_t)SEARCH(count_of(n, kind), i,
					AT(n, kind, struct names_state, i)->slice <= slice);
	const struct names_state *state;

	if (!low)
		return NONE;
	state = AT(n, kind, struct names_state, low - 1);
	content->at = AT(n, BLOBS, uint8_t, state->at);
	content->end = content->at + state->size;
	content->bad = false;
	return low - 1;
}

struct session_line session_names_line(const struct session_names *n, uint32_t number)
{
	const struct names_line *line = AT(n, LINES, struct names_line, number);

	return (struct session_line){
		.func = line->func, .line = line->line, .file = string_at(n, line->file)};
}

uint32_t session_names_first_thread(const struct session_names *n, uint32_t proc)
{
	return AT(n, PROCS, struct names_proc, proc)->first_thread;
}

struct session_thread session_names_thread(const struct session_names *n, uint32_t number)
{
	const struct names_thread *thread = AT(n, THREADS, struct names_thread, number);
	struct session_thread out = {
		.tid = thread->tid, .slice = thread->slice, .next = thread->next};

	copy(n, thread->name, out.comm, sizeof(out.comm));
	return out;
}
