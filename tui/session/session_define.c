// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes each function, stack and process when a slice first refers to it. The profile forgets and
 * reuses its ids, so each is stored with its serial number. What returns after it was forgotten is
 * defined again, and the tables here stay as small as the profile's.
 */
#include "tui/session/session_define.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/hash.h"
#include "bpf/tracker/inventory.h"
#include "symbols/base/search.h"
#include "tui/profile/board.h"
#include "tui/util/bytes.h"
#include "tui/util/idtable.h"
#include "tui/profile/inspection.h"
#include "tui/profile/profile.h"
#include "tui/session/session.h"
#include "tui/session/session_states.h"

#define STRINGS_BYTES ((size_t)16 << 20) /* then the known strings are forgotten */
#define SPLITS_MAX    256
#define INVENTORY_NS  10000000000ull /* between two recorded inventories ... */
#define INVENTORY_MAX 262144u	     /* ... if they are no larger, bytes */
#define MODULES_MAX   4096u
#define THREADS_MAX   4096u /* of a process */

/* By the profile's id. */
struct known_id {
	uint64_t serial; /* 0: nothing */
	uint64_t hash;	 /* of a stack's frames, of a function's line */
	uint32_t id;	 /* in the file */
};

struct known_ids {
	struct known_id *at;
	size_t room;
	uint32_t next; /* id in the file */
};

struct known_thread {
	uint32_t tid;
	char comm[16];
};

struct known_proc {
	bool known;
	uint32_t id;
	struct profile_proc proc;
	struct known_thread *threads; /* sorted by tid */
	uint32_t nthreads, threads_room;
};

struct known_string {
	uint32_t id;
	bool hashed;
	UT_hash_handle hh;
	char text[];
};

struct known_module {
	char build[PROFILE_BUILD_MAX]; /* the one that was written */
	bool hashed;
	UT_hash_handle hh;
	char name[];
};

struct session_definer {
	uint64_t start;		 /* CLOCK_MONOTONIC ns */
	uint64_t past;		 /* likewise, end of a slice that is noted late; 0: it is not */
	bool no_states;		 /* those of the slice are not known any more */
	uint64_t inventory;	 /* likewise, of the last recorded one; 0: none */
	struct inspection *walk; /* recorded last; NULL: none */
	struct known_ids funcs, stacks;
	struct outbytes waiting; /* profile ids of stacks with frames that wait for calls */
	struct known_proc *procs;
	size_t procs_room;
	uint32_t nprocs;
	struct known_string *strings;
	struct known_module *modules;
	size_t strings_bytes;
	uint32_t nstrings;

	struct outbytes definitions, record;
	size_t splits[SPLITS_MAX]; /* of the definitions, in chunks */
	size_t nsplits;
};

/* --- records --------------------------------------------------------------------------------- */

/* Adds d->record as the body of a record. */
static void define(struct session_definer *d, enum session_record type)
{
	struct outbytes *to = &d->definitions;
	size_t begin = d->nsplits ? d->splits[d->nsplits - 1] : 0;

	if (to->size - begin + d->record.size > SESSION_CHUNK_SPLIT && to->size > begin) {
		if (d->nsplits == SPLITS_MAX)
			to->failed = true;
		else
			d->splits[d->nsplits++] = to->size;
	}
	bytes_put_number(to, type);
	bytes_put_number(to, d->record.size);
	bytes_put(to, d->record.data, d->record.size);
	to->failed |= d->record.failed;
	d->record.size = 0;
}

static void strings_forget(struct session_definer *d)
{
	struct known_string *string, *next;

	HASH_ITER(hh, d->strings, string, next) {
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
		HASH_DEL(d->strings, string);
		free(string);
	}
	d->strings_bytes = 0;
}

/* Without memory it is defined again the next time. */
static uint32_t string_id(struct session_definer *d, const char *text)
{
	size_t length = strlen(text);
	struct known_string *string;

	HASH_FIND(hh, d->strings, text, length, string);
	if (string)
		return string->id;
	if (d->strings_bytes > STRINGS_BYTES)
		strings_forget(d);
	bytes_put(&d->record, text, length);
	define(d, SESSION_STRING);
	string = malloc(sizeof(*string) + length + 1);
	if (!string)
		return d->nstrings++;
	memcpy(string->text, text, length + 1);
	string->id = d->nstrings;
	string->hashed = true;
	HASH_ADD_KEYPTR(hh, d->strings, string->text, length, string);
	if (!string->hashed)
		free(string);
	else
		d->strings_bytes += sizeof(*string) + length;
	return d->nstrings++;
}

static struct known_id *known_at(struct known_ids *list, uint32_t id)
{
	size_t before = list->room;

	if (GROW(list->at, id, list->room, SIZE_MAX))
		return NULL;
	if (list->room > before)
		memset(list->at + before, 0, (list->room - before) * sizeof(*list->at));
	return &list->at[id];
}

static uint64_t kind_number(enum func_kind kind)
{
	for (size_t i = 0; i < SESSION_KINDS; i++)
		if (session_kinds[i] == kind)
			return i;
	return 0;
}

/* From now on its build-id is looked for. Without memory it has none. */
static void module_know(struct session_definer *d, const char *name)
{
	size_t length = strlen(name);
	struct known_module *module;

	HASH_FIND(hh, d->modules, name, length, module);
	if (module || HASH_COUNT(d->modules) >= MODULES_MAX)
		return;
	module = calloc(1, sizeof(*module) + length + 1);
	if (!module)
		return;
	memcpy(module->name, name, length);
	module->hashed = true;
	HASH_ADD_KEYPTR(hh, d->modules, module->name, length, module);
	if (!module->hashed)
		free(module);
}

static void modules_update(struct session_definer *d, const struct profile *p)
{
	for (struct known_module *module = d->modules; module; module = module->hh.next) {
		const char *build = query_build(p, module->name);
		uint32_t name, text;

		if (!strcmp(module->build, build))
			continue;
		snprintf(module->build, sizeof(module->build), "%s", build);
		name = string_id(d, module->name);
		text = string_id(d, build);
		bytes_put_number(&d->record, name);
		bytes_put_number(&d->record, text);
		define(d, SESSION_MODULE);
	}
}

/* The function's hottest line so far. */
static void line_define(struct session_definer *d, const struct profile_func *func,
			struct known_id *known)
{
	/* Files stay in place as long as the profile. */
	uint64_t hash = func->file ? idtable_mix((uintptr_t)func->file, func->line) : 0;
	uint32_t file;

	if (hash == known->hash || !func->file)
		return;
	known->hash = hash;
	file = string_id(d, func->file);
	bytes_put_number(&d->record, known->id);
	bytes_put_number(&d->record, file);
	bytes_put_number(&d->record, func->line);
	define(d, SESSION_LINE);
}

static void lines_update(struct session_definer *d, const struct profile *p)
{
	for (uint32_t id = 0; id < d->funcs.room; id++) {
		struct known_id *known = &d->funcs.at[id];

		if (known->serial && known->serial == query_func_serial(p, id))
			line_define(d, query_func(p, id), known);
	}
}

static int64_t func_id(struct session_definer *d, const struct profile *p, uint32_t id)
{
	const struct profile_func *func = query_func(p, id);
	struct known_id *known = known_at(&d->funcs, id);
	uint32_t name, module;

	if (!known || !func)
		return known ? -EINVAL : -ENOMEM;
	if (known->serial == query_func_serial(p, id))
		return known->id;
	module_know(d, func->module);
	name = string_id(d, func->name);
	module = string_id(d, func->module);
	bytes_put_number(&d->record, kind_number(func->kind));
	bytes_put_number(&d->record, name);
	bytes_put_number(&d->record, module);
	define(d, SESSION_FUNC);
	*known = (struct known_id){.serial = query_func_serial(p, id), .id = d->funcs.next++};
	return known->id;
}

/* Frames may get their inlined calls long after the stack was made. */
static uint64_t stack_hash(const struct profile_stack *stack)
{
	uint64_t hash = idtable_mix(stack->nframes, stack->place);

	for (uint32_t i = 0; i < stack->nframes; i++)
		hash = idtable_mix(hash, stack->frames[i]);
	return hash;
}

/* In the file 0 is no stack, n + 1 is stack n. */
int64_t session_definer_stack(struct session_definer *d, const struct profile *p, uint32_t id)
{
	const struct profile_stack *stack = query_stack(p, id);
	struct known_id *known;
	uint64_t hash;
	bool again;

	if (id == PROFILE_NO_STACK)
		return 0;
	known = known_at(&d->stacks, id);
	if (!known || !stack)
		return known ? -EINVAL : -ENOMEM;
	hash = stack_hash(stack);
	again = known->serial == query_stack_serial(p, id);
	if (again && known->hash == hash)
		return (int64_t)known->id + 1;
	for (uint32_t i = 0; i < stack->nframes; i++) {
		int64_t func = func_id(d, p, stack->frames[i]);

		if (func < 0)
			return func;
	}
	if (!again)
		*known = (struct known_id){.serial = query_stack_serial(p, id),
					   .id = d->stacks.next++};
	known->hash = hash;
	if (again)
		bytes_put_number(&d->record, known->id);
	bytes_put_number(&d->record, (stack->kernel ? SESSION_STACK_KERNEL : 0) |
					     (stack->complete ? SESSION_STACK_COMPLETE : 0) |
					     stack->lock * SESSION_STACK_LOCK);
	bytes_put_number(&d->record, stack->place);
	bytes_put_number(&d->record, stack->nframes);
	for (uint32_t i = 0; i < stack->nframes; i++)
		bytes_put_number(&d->record, d->funcs.at[stack->frames[i]].id);
	define(d, again ? SESSION_STACK_AGAIN : SESSION_STACK);
	if (stack->sites && !again)
		bytes_put(&d->waiting, &id, sizeof(id));
	return (int64_t)known->id + 1;
}

/* Stacks of older slices get the calls that are known by now as well. */
static int stacks_update(struct session_definer *d, const struct profile *p)
{
	size_t kept = 0;

	for (size_t at = 0; at < d->waiting.size; at += sizeof(uint32_t)) {
		const struct profile_stack *stack;
		uint32_t id;

		memcpy(&id, d->waiting.data + at, sizeof(id));
		stack = query_stack(p, id);
		if (!stack || d->stacks.at[id].serial != query_stack_serial(p, id))
			continue;
		if (session_definer_stack(d, p, id) < 0)
			return -ENOMEM;
		if (!stack->sites)
			continue;
		memcpy(d->waiting.data + kept, &id, sizeof(id));
		kept += sizeof(id);
	}
	d->waiting.size = kept;
	return d->waiting.failed ? -ENOMEM : 0;
}

static bool proc_same(const struct profile_proc *a, const struct profile_proc *b)
{
	return a->ppid == b->ppid && a->nthreads == b->nthreads && a->attached == b->attached &&
	       a->exited == b->exited && a->kthread == b->kthread && a->exit_time == b->exit_time &&
	       !strcmp(a->comm, b->comm) && !strcmp(a->user, b->user) &&
	       !strcmp(a->cmdline, b->cmdline) && !strcmp(a->group, b->group) &&
	       a->mute == b->mute && !strcmp(a->why, b->why);
}

static void proc_define(struct session_definer *d, const struct known_proc *known)
{
	const struct profile_proc *proc = &known->proc;
	uint32_t comm = string_id(d, proc->comm);
	uint32_t user = string_id(d, proc->user);
	uint32_t cmdline = string_id(d, proc->cmdline);
	uint32_t group = string_id(d, proc->group);
	uint32_t why = proc->mute ? string_id(d, proc->why) : 0;

	bytes_put_number(&d->record, known->id);
	bytes_put_number(&d->record, (uint32_t)proc->pid);
	bytes_put_number(&d->record, (uint32_t)proc->ppid);
	bytes_put_number(&d->record, proc->image);
	bytes_put_number(&d->record, (proc->attached ? SESSION_PROC_ATTACHED : 0) |
					     (proc->exited ? SESSION_PROC_EXITED : 0) |
					     (proc->kthread ? SESSION_PROC_KTHREAD : 0) |
					     (proc->mute ? SESSION_PROC_MUTE : 0));
	bytes_put_number(&d->record, comm);
	bytes_put_number(&d->record, user);
	bytes_put_number(&d->record, cmdline);
	bytes_put_number(&d->record, proc->nthreads);
	bytes_put_signed(&d->record, proc->exit_time ? (int64_t)(proc->exit_time - d->start) : 0);
	bytes_put_number(&d->record, group);
	if (proc->mute) {
		bytes_put_number(&d->record, kind_number(proc->mute));
		bytes_put_number(&d->record, why);
	}
	define(d, SESSION_PROC);
}

int64_t session_definer_proc(struct session_definer *d, const struct profile *p, uint32_t id)
{
	const struct profile_proc *now = query_proc(p, id);
	struct profile_proc then, *proc = &then;
	size_t before = d->procs_room;
	struct known_proc *known;

	if (!now)
		return -EINVAL;
	then = *now;
	if (d->past && then.exited && then.exit_time > d->past) {
		then.exited = false;
		then.exit_time = 0;
	}
	if (GROW(d->procs, id, d->procs_room, SIZE_MAX))
		return -ENOMEM;
	if (d->procs_room > before)
		memset(d->procs + before, 0, (d->procs_room - before) * sizeof(*d->procs));
	known = &d->procs[id];
	if (known->known && known->proc.pid == proc->pid && known->proc.image == proc->image) {
		if (proc_same(&known->proc, proc))
			return known->id;
	} else {
		known->known = true;
		known->id = d->nprocs++;
		known->nthreads = 0;
	}
	known->proc = *proc;
	proc_define(d, known);
	return known->id;
}

/* Processes without a sample in this slice may have ended. */
static int procs_update(struct session_definer *d, const struct profile *p)
{
	for (uint32_t id = 0; id < d->procs_room; id++) {
		const struct profile_proc *proc = query_proc(p, id);
		struct known_proc *known = &d->procs[id];

		if (!known->known || !proc || known->proc.pid != proc->pid ||
		    known->proc.image != proc->image)
			continue;
		if (session_definer_proc(d, p, id) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* --- threads --------------------------------------------------------------------------------- */

static int thread_add(struct known_proc *proc, uint32_t at, uint32_t tid)
{
	struct known_thread *thread;

	if (GROW(proc->threads, proc->nthreads, proc->threads_room, THREADS_MAX))
		return -ENOMEM;
	thread = &proc->threads[at];
	memmove(thread + 1, thread, (proc->nthreads - at) * sizeof(*thread));
	proc->nthreads++;
	*thread = (struct known_thread){.tid = tid};
	return 0;
}

int session_definer_thread(struct session_definer *d, const struct profile *p, uint32_t proc,
			   uint32_t tid)
{
	const char *comm = query_thread(p, proc, tid);
	struct known_proc *known = &d->procs[proc];
	uint32_t at = (uint32_t)SEARCH(known->nthreads, i, known->threads[i].tid < tid), name;
	bool there = at < known->nthreads && known->threads[at].tid == tid;

	if (there ? !strcmp(known->threads[at].comm, comm)
		  : !strcmp(known->proc.comm, comm) || known->nthreads >= THREADS_MAX)
		return 0;
	if (!there && thread_add(known, at, tid))
		return -ENOMEM;
	snprintf(known->threads[at].comm, sizeof(known->threads[at].comm), "%s", comm);
	name = string_id(d, comm);
	bytes_put_number(&d->record, known->id);
	bytes_put_number(&d->record, tid);
	bytes_put_number(&d->record, name);
	define(d, SESSION_THREAD);
	return 0;
}

/* --- all of them ----------------------------------------------------------------------------- */

struct session_definer *session_definer_new(void)
{
	return calloc(1, sizeof(struct session_definer));
}

void session_definer_free(struct session_definer *d)
{
	struct known_module *module, *next;

	if (!d)
		return;
	strings_forget(d);
	HASH_ITER(hh, d->modules, module, next) {
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
		HASH_DEL(d->modules, module);
		free(module);
	}
	inspection_put(d->walk);
	bytes_free(&d->waiting);
	bytes_free(&d->definitions);
	bytes_free(&d->record);
	free(d->funcs.at);
	free(d->stacks.at);
	for (size_t i = 0; i < d->procs_room; i++)
		free(d->procs[i].threads);
	free(d->procs);
	free(d);
}

void session_definer_start(struct session_definer *d, uint64_t start)
{
	d->start = start;
}

void session_definer_past(struct session_definer *d, uint64_t time, bool states)
{
	d->past = time;
	d->no_states = !states;
}

bool session_definer_wants_inventory(const struct session_definer *d, uint64_t now)
{
	return !d->inventory || now - d->inventory >= INVENTORY_NS;
}

static void inventory_define(struct session_definer *d, const struct profile *p)
{
	struct inventory *inv = board_inventory(profile_board(p));

	if (inv && inv->time > d->inventory && session_definer_wants_inventory(d, inv->time)) {
		d->inventory = inv->time;
		session_inventory_put(&d->record, inv);
		if (d->record.size <= INVENTORY_MAX)
			define(d, SESSION_INVENTORY);
		else
			d->record.size = 0;
	}
	inventory_put(inv);
}

static void walk_define(struct session_definer *d, const struct profile *p)
{
	struct inspection *now = board_inspection(profile_board(p));

	/* The reference that is held keeps another one from having its address. */
	if (!now || now == d->walk) {
		inspection_put(now);
		return;
	}
	inspection_put(d->walk);
	d->walk = now;
	session_walk_put(&d->record, now);
	define(d, SESSION_WALK);
}

int session_definer_update(struct session_definer *d, const struct profile *p)
{
	int err;

	modules_update(d, p);
	lines_update(d, p);
	if (!d->no_states) {
		inventory_define(d, p);
		walk_define(d, p);
	}
	err = procs_update(d, p);
	return err ? err : stacks_update(d, p);
}

int session_definer_error(const struct session_definer *d)
{
	if (!d->definitions.failed)
		return 0;
	return d->nsplits == SPLITS_MAX ? -EFBIG : -ENOMEM;
}

const uint8_t *session_definer_part(const struct session_definer *d, size_t *at, size_t *size)
{
	size_t begin = *at, end = d->definitions.size;

	for (size_t i = 0; i < d->nsplits; i++) {
		if (d->splits[i] > begin) {
			end = d->splits[i];
			break;
		}
	}
	*at = end;
	*size = end - begin;
	return end > begin ? d->definitions.data + begin : NULL;
}

void session_definer_clear(struct session_definer *d)
{
	d->definitions.size = d->nsplits = 0;
}
