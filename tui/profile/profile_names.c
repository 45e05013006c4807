/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions, stacks and processes. Stacks of the same functions are one, whatever their addresses:
 * a loop sampled at fifty addresses of one function is one stack, and a thousand short commands
 * that start alike share theirs.
 */
#include "tui/profile/profile_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/search.h"

#define THREADS_MAX 4096 /* names kept for a process */

/* Length of the string, at most max, without half a UTF-8 character at its end. */
static size_t cut_length(const char *s, size_t max)
{
	size_t length = strnlen(s, max + 1);

	if (length <= max)
		return length;
	for (length = max; length && ((unsigned char)s[length] & 0xc0) == 0x80;)
		length--;
	return length;
}

static uint64_t bytes_hash(uint64_t hash, const char *data, size_t length)
{
	uint64_t word;

	hash = idtable_mix(hash, length);
	for (; length >= sizeof(word); data += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		hash = idtable_mix(hash, word);
	}
	word = 0;
	memcpy(&word, data, length);
	return idtable_mix(hash, word);
}

static bool same(const char *stored, const char *s, size_t length)
{
	return !strncmp(stored, s, length) && !stored[length];
}

/* No new stack or name is kept; see profile_fold.c. */
static bool bound_reached(const struct profile *p)
{
	return p->folds && p->bound_bytes >= p->bound_max;
}

int64_t profile_func(struct profile *p, enum func_kind kind, const char *name, const char *module)
{
	size_t nname = cut_length(name, NAME_MAX_BYTES);
	size_t nmodule = cut_length(module, MODULE_MAX_BYTES);
	uint64_t hash = bytes_hash(bytes_hash(kind, name, nname), module, nmodule);
	struct func_entry *entry;
	uint32_t id;
	char *text;

	for (uint32_t at = (uint32_t)hash;
	     (id = idtable_next(&p->funcs.index, (uint32_t)hash, &at)) != IDTABLE_NONE;) {
		entry = func_at(p, id);
		if (entry->hash == hash && entry->func.kind == kind &&
		    same(entry->func.name, name, nname) &&
		    same(entry->func.module, module, nmodule))
			return id;
	}

	if (bound_reached(p)) /* a wake stays one, since its time is that of a wait, too */
		return kind == FUNC_LOCK || kind == FUNC_WAKER
			       ? stack_at(p, p->folded_wakes)->stack.frames[0]
			       : p->folded_func;
	if (pool_reserve(&p->funcs))
		return -ENOMEM;
	text = calloc(1, nname + nmodule + 2);
	if (!text)
		return -ENOMEM;
	memcpy(text, name, nname);
	memcpy(text + nname + 1, module, nmodule);

	id = pool_take(&p->funcs, (uint32_t)hash);
	entry = func_at(p, id);
	entry->hash = hash;
	entry->func = (struct profile_func){.name = text, .module = text + nname + 1, .kind = kind};
	p->bound_bytes += func_bytes(entry);
	return id;
}

uint32_t profile_stack_hash(const struct profile_stack *stack)
{
	uint64_t hash =
		idtable_mix(stack->nframes, (uint64_t)stack->lock << 2 |
						    (uint64_t)stack->kernel << 1 | stack->complete);

	for (uint32_t i = 0; i < stack->nframes; i++)
		hash = idtable_mix(hash, stack->frames[i]);
	for (uint32_t i = 0; stack->sites && i < stack->nframes; i++)
		hash = idtable_mix(hash, stack->sites[i]);
	return (uint32_t)hash;
}

static bool same_words(const uint32_t *a, const uint32_t *b, size_t bytes)
{
	return !bytes || a == b || (a && b && !memcmp(a, b, bytes));
}

/* NULL is copied to NULL. */
static int copy_words(const uint32_t *from, size_t bytes, uint32_t **to)
{
	*to = from && bytes ? malloc(bytes) : NULL;
	if (*to)
		memcpy(*to, from, bytes);
	return from && bytes && !*to ? -ENOMEM : 0;
}

bool profile_stack_language(const struct profile *p, const struct profile_stack *stack)
{
	for (uint32_t i = 0; i < stack->nframes; i++)
		if (func_is_language(func_at(p, stack->frames[i])->func.kind))
			return true;
	return false;
}

static void find_use(const struct profile *p, struct profile_stack *stack)
{
	const struct profile_func *func;

	stack->use = STACK_SAMPLES;
	stack->cause = WAIT_NONE;
	for (uint32_t i = 0; stack->kernel && i < stack->nframes; i++) {
		func = &func_at(p, stack->frames[i])->func;
		if (func->kind == FUNC_WAIT || func->kind == FUNC_TIME) {
			stack->use = func->kind == FUNC_WAIT ? STACK_WAITS : STACK_TIMES;
			stack->cause = wait_by_name(func->name);
		} else if (func->kind == FUNC_LOCK || func->kind == FUNC_WAKER) {
			stack->use = STACK_WAKES;
			return;
		}
	}
}

int64_t profile_stack_new(struct profile *p, const struct profile_stack *stack)
{
	struct profile_stack used = *stack;
	size_t bytes = stack->nframes * sizeof(*stack->frames);
	uint32_t hash = profile_stack_hash(stack), id;
	struct stack_entry *entry;
	uint32_t *frames, *sites;

	for (uint32_t i = 0; i < stack->nframes; i++) {
		if (!pool_has(&p->funcs, stack->frames[i]))
			return -EINVAL;
	}
	for (uint32_t at = hash;
	     (id = idtable_next(&p->stacks.index, hash, &at)) != IDTABLE_NONE;) {
		const struct profile_stack *old = &stack_at(p, id)->stack;

		if (old->nframes == stack->nframes && old->kernel == stack->kernel &&
		    old->complete == stack->complete && old->lock == stack->lock &&
		    same_words(old->frames, stack->frames, bytes) &&
		    same_words(old->sites, stack->sites, bytes)) {
			pool_get(&p->stacks, id);
			return id;
		}
	}

	find_use(p, &used);
	if (bound_reached(p)) {
		id = profile_folded(p, &used);
		pool_get(&p->stacks, id);
		return id;
	}
	if (pool_reserve(&p->stacks))
		return -ENOMEM;
	if (copy_words(stack->frames, bytes, &frames))
		return -ENOMEM;
	if (copy_words(stack->sites, bytes, &sites)) {
		free(frames);
		return -ENOMEM;
	}
	id = pool_take(&p->stacks, hash);
	entry = stack_at(p, id);
	entry->hash = hash;
	entry->stack = used;
	entry->stack.frames = frames;
	entry->stack.sites = sites;
	entry->stack.language = profile_stack_language(p, stack);
	p->nwaiting += sites != NULL;
	p->nuses += used.use != STACK_SAMPLES;
	p->bound_bytes += stack_bytes(entry);
	for (uint32_t i = 0; i < stack->nframes; i++)
		pool_get(&p->funcs, stack->frames[i]);
	pool_get(&p->stacks, id);
	return id;
}

uint32_t profile_time_stack(const struct profile *p, enum wait_cause cause)
{
	return p->times[cause];
}

int64_t profile_wait_stack(struct profile *p, const uint32_t *kernel, uint32_t n,
			   enum wait_cause cause)
{
	struct profile_stack stack = {.kernel = true, .nframes = n + 1};
	uint32_t *frames;
	int64_t id;

	if (!n) {
		pool_get(&p->stacks, p->folded_waits[cause]);
		return p->folded_waits[cause];
	}
	frames = malloc((n + 1) * sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	memcpy(frames, kernel, n * sizeof(*frames));
	frames[n] = stack_at(p, p->folded_waits[cause])->stack.frames[0];
	stack.frames = frames;
	id = profile_stack_new(p, &stack);
	free(frames);
	return id;
}

uint32_t profile_folded(const struct profile *p, const struct profile_stack *stack)
{
	if (stack->use != STACK_SAMPLES)
		return stack->use == STACK_WAKES   ? p->folded_wakes
		       : stack->use == STACK_WAITS ? p->folded_waits[stack->cause]
						   : p->times[stack->cause];
	return stack->kernel	 ? p->folded_kernel
	       : stack->complete ? p->folded_complete
				 : p->folded_broken;
}

void profile_stack_put(struct profile *p, uint32_t stack)
{
	pool_put(&p->stacks, stack);
}

static uint32_t proc_hash(pid_t pid, uint64_t image)
{
	return (uint32_t)idtable_mix(image, (uint32_t)pid);
}

uint32_t query_find_proc(const struct profile *p, pid_t pid, uint64_t image)
{
	uint32_t hash = proc_hash(pid, image), id;

	for (uint32_t at = hash; (id = idtable_next(&p->procs.index, hash, &at)) != IDTABLE_NONE;)
		if (proc_at(p, id)->proc.pid == pid && proc_at(p, id)->proc.image == image)
			return id;
	return QUERY_ALL;
}

int64_t profile_proc(struct profile *p, const struct profile_proc *info)
{
	uint32_t hash = proc_hash(info->pid, info->image);
	uint32_t id = query_find_proc(p, info->pid, info->image);
	struct process_entry *entry;

	if (id != QUERY_ALL) {
		entry = proc_at(p, id);
	} else {
		if (pool_reserve(&p->procs))
			return -ENOMEM;
		id = pool_take(&p->procs, hash);
		entry = proc_at(p, id);
		entry->hash = hash;
	}
	entry->proc = *info;
	entry->proc.comm[sizeof(entry->proc.comm) - 1] = 0;
	entry->proc.user[sizeof(entry->proc.user) - 1] = 0;
	entry->proc.group[sizeof(entry->proc.group) - 1] = 0;
	entry->proc.cmdline[sizeof(entry->proc.cmdline) - 1] = 0;
	entry->proc.why[sizeof(entry->proc.why) - 1] = 0;
	/* It may have left the idle list while it was alive; no cell would put it back. */
	if (info->exited && !entry->entry.refs) {
		pool_get(&p->procs, id);
		pool_put(&p->procs, id);
	}
	return id;
}

/*
 * Names of threads: most are that of the process; the others are kept, sorted by thread. *at: the
 * index that the thread has, or would get; false: it has none.
 */
static bool find_thread(const struct process_entry *entry, uint32_t tid, uint32_t *at)
{
	*at = (uint32_t)SEARCH(entry->nthreads, i, entry->threads[i].tid < tid);
	return *at < entry->nthreads && entry->threads[*at].tid == tid;
}

int profile_thread(struct profile *p, uint32_t proc, uint32_t tid, const char *comm)
{
	struct process_entry *entry;
	struct thread_name *grown;
	uint32_t at;

	if (!pool_has(&p->procs, proc))
		return -EINVAL;
	entry = proc_at(p, proc);
	if (!find_thread(entry, tid, &at)) {
		if (strcmp(entry->proc.comm, comm) == 0 || entry->nthreads >= THREADS_MAX)
			return 0;
		grown = reallocarray(entry->threads, entry->nthreads + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		entry->threads = grown;
		memmove(grown + at + 1, grown + at, (entry->nthreads - at) * sizeof(*grown));
		entry->nthreads++;
		grown[at].tid = tid;
	}
	snprintf(entry->threads[at].comm, sizeof(entry->threads[at].comm), "%s", comm);
	return 0;
}

const char *query_thread(const struct profile *p, uint32_t proc, uint32_t tid)
{
	const struct process_entry *entry;
	uint32_t at;

	if (!pool_has(&p->procs, proc))
		return "";
	entry = proc_at(p, proc);
	return find_thread(entry, tid, &at) ? entry->threads[at].comm : entry->proc.comm;
}

static bool proc_keep(const struct pool_entry *entry)
{
	return !((const struct process_entry *)entry)->proc.exited;
}

static uint32_t proc_drop(struct pool_entry *entry, void *arg)
{
	struct process_entry *proc = (struct process_entry *)entry;

	(void)arg;
	free(proc->threads);
	proc->threads = NULL;
	proc->nthreads = 0;
	return proc->hash;
}

static uint32_t stack_drop(struct pool_entry *entry, void *arg)
{
	struct stack_entry *stack = (struct stack_entry *)entry;
	struct profile *p = arg;

	for (uint32_t i = 0; i < stack->stack.nframes; i++)
		pool_put(&p->funcs, stack->stack.frames[i]);
	p->nwaiting -= stack->stack.sites != NULL;
	p->nuses -= stack->stack.use != STACK_SAMPLES;
	p->bound_bytes -= stack_bytes(stack);
	free((void *)stack->stack.frames);
	free((void *)stack->stack.sites);
	return stack->hash;
}

static uint32_t func_drop(struct pool_entry *entry, void *arg)
{
	struct func_entry *func = (struct func_entry *)entry;
	struct profile *p = arg;

	p->bound_bytes -= func_bytes(func);
	free((void *)func->func.name);
	free(func->lines);
	return (uint32_t)func->hash;
}

void profile_sweep(struct profile *p)
{
	pool_sweep(&p->procs, proc_keep, proc_drop, p);
	pool_sweep(&p->stacks, NULL, stack_drop, p);
	pool_sweep(&p->funcs, NULL, func_drop, p);
}

void profile_names_free(struct profile *p)
{
	for (uint32_t i = 0; i < p->procs.count; i++)
		if (proc_at(p, i)->entry.live)
			free(proc_at(p, i)->threads);
	for (uint32_t i = 0; i < p->stacks.count; i++) {
		if (!stack_at(p, i)->entry.live)
			continue;
		free((void *)stack_at(p, i)->stack.frames);
		free((void *)stack_at(p, i)->stack.sites);
	}
	for (uint32_t i = 0; i < p->funcs.count; i++) {
		if (!func_at(p, i)->entry.live)
			continue;
		free((void *)func_at(p, i)->func.name);
		free(func_at(p, i)->lines);
	}
	pool_free(&p->stacks);
	pool_free(&p->funcs);
	pool_free(&p->procs);
}
