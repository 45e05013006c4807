/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_RUNTIME_SEND_BPF_H
#define STACKTOP_BPF_PROG_RUNTIME_SEND_BPF_H

/*
 * The end of a sample with frames of a language: their hash, and what user space needs to name
 * them, each function once, then the frames, then the native stack with the same hash.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/prog/runtime.bpf.h"

#define HASH_TURNS 16u

/* The hash is kept in registers over these frames. */
__attribute__((noinline)) int runtime_hash_some(__u32 first)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	const __u64 *words;
	struct stackhash h;
	__u32 i, at = first;

	if (!st || !r)
		return 0;
	h = st->walk.hash;
	for (i = 0; i < HASH_TURN; i++) {
		if (at >= r->nframes)
			break;
		STEP_BARRIER(at);
		words = (const __u64 *)&r->frames[at & (LANGUAGE_FRAMES_MAX - 1)];
		stackhash_add(&h, words[0], STEP_KEY(STACKHASH_FACTOR_A),
			      STEP_KEY(STACKHASH_FACTOR_B));
		stackhash_add(&h, words[1], STEP_KEY(STACKHASH_FACTOR_A),
			      STEP_KEY(STACKHASH_FACTOR_B));
		at++;
	}
	st->walk.hash = h;
	return i == HASH_TURN;
}

__attribute__((noinline)) int runtime_hash_more(__u32 first)
{
	__u32 i;

	for (i = 0; i < HASH_TURNS; i++)
		if (!runtime_hash_some(first + i * HASH_TURN))
			return 0;
	return 1;
}

/* Adds the language's frames to the hash of the stack, which is of this process only then. */
__attribute__((noinline)) int runtime_hash(void)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u32 i;

	if (!st || !r || !r->nframes)
		return 0;
	st->walk.own = 1;
	walk_mix(&st->walk, (__u64)r->lock << 32 | r->nframes);
	for (i = 0; i <= LANGUAGE_FRAMES_MAX / (HASH_TURN * HASH_TURNS); i++)
		if (!runtime_hash_more(i * HASH_TURN * HASH_TURNS))
			break;
	return 0;
}

/* Under which a function is marked as seen. */
static __always_inline __u64 method_hash(const struct cpu_state *st, const struct language_frame *f)
{
	struct stackhash h = {STEP_KEY(STACKHASH_START_A), STEP_KEY(STACKHASH_START_B)};
	const struct stack_record *rec = (const struct stack_record *)st->walk.head;

	stackhash_add(&h, st->exec_id, STEP_KEY(STACKHASH_FACTOR_A), STEP_KEY(STACKHASH_FACTOR_B));
	stackhash_add(&h, (__u64)f->check << 32 | rec->tgid, STEP_KEY(STACKHASH_FACTOR_A),
		      STEP_KEY(STACKHASH_FACTOR_B));
	stackhash_add(&h, f->code, STEP_KEY(STACKHASH_FACTOR_A), STEP_KEY(STACKHASH_FACTOR_B));
	/* Both bits: it is the hash of no stack. */
	return stackhash_end(&h, STACKHASH_USER | STACKHASH_KERNEL);
}

/* The record of a frame's function, without its texts and table. */
static __always_inline void method_begin(const struct cpu_state *st, struct method_record *m,
					 const struct language_frame *f, __u32 runtime)
{
	__builtin_memset(m, 0, offsetof(struct method_record, text));
	m->code = f->code;
	m->check = f->check;
	m->hash = method_hash(st, f);
	m->exec_id = st->exec_id;
	m->tgid = st->key.tgid;
	m->kernel = STACK_METHOD;
	m->runtime = runtime;
}

/*
 * The frame r->next if its function has to be sent; LANGUAGE_FRAMES_MAX: it was. -1: there are no
 * more frames.
 */
__attribute__((noinline)) int runtime_unsent(void)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u32 n;

	if (!st || !r)
		return -1;
	n = r->next;
	if (n >= r->nframes)
		return -1;
	STEP_BARRIER(n);
	n &= LANGUAGE_FRAMES_MAX - 1;
	return sample_stack_is_seen(method_hash(st, &r->frames[n])) ? (int)LANGUAGE_FRAMES_MAX
								    : (int)n;
}

/* A string object, as much of it as there is room for. Its size; 0: it cannot be read. */
static __always_inline __u32 method_text(__u8 *to, __u64 addr, __u64 size, __u64 least)
{
	STEP_BARRIER(size);
	if (size > METHOD_TEXT)
		size = METHOD_TEXT;
	if (!bpf_probe_read_user(to, size, (const void *)addr))
		return size;
	/* Nothing may follow the object. */
	size = least;
	STEP_BARRIER(size);
	if (size > METHOD_TEXT)
		size = METHOD_TEXT;
	if (!bpf_probe_read_user(to, size, (const void *)addr))
		return size;
	size = 4096 - (addr & 4095);
	STEP_BARRIER(size);
	if (size > METHOD_TEXT)
		size = METHOD_TEXT;
	return bpf_probe_read_user(to, size, (const void *)addr) ? 0 : size;
}

/* Up to eight characters, the first one lowest; a string would be a second object in .rodata. */
static __always_inline __u32 method_word(__u8 *to, __u64 characters, __u32 size)
{
	__u32 i;

#pragma unroll
	for (i = 0; i < 8; i++)
		to[i] = characters >> 8 * i;
	return size;
}

/* Sends the state's method with so many bytes of its table. 0, or the ring is full. */
static __always_inline int method_send(struct runtime_state *r)
{
	__u64 size = r->method.table_size;

	size += sizeof(r->method);
	STEP_BARRIER(size);
	if (size > sizeof(r->method) + METHOD_TABLE)
		return -1;
	return bpf_ringbuf_output(&stacks, &r->method, size, BPF_RB_NO_WAKEUP);
}

/* The walk is about to be captured: sends what has placed the frames. */
static __always_inline void proofs_send(const struct cpu_state *st, struct runtime_state *r)
{
	struct stack_record *rec = (struct stack_record *)r->proofs_head;

	rec->hash = st->walk.head[0];
	rec->start_stack = 0;
	rec->exec_id = st->exec_id;
	rec->tgid = st->key.tgid;
	rec->nframes = r->nproofs < LANGUAGE_PROOFS ? r->nproofs : LANGUAGE_PROOFS;
	rec->kernel = STACK_PROOFS;
	rec->reason = 0;
	bpf_ringbuf_output(&stacks, rec, sizeof(*rec) + sizeof(r->proofs), BPF_RB_NO_WAKEUP);
}

/* The sample has all its frames, and what names them was sent. */
static __always_inline void runtime_finish(struct cpu_state *st, struct runtime_state *r)
{
	__u32 zero = 0;
	const struct profiler_control *ctl = bpf_map_lookup_elem(&control, &zero);

	if (config.capture && ctl && ctl->capture == st->key.tgid)
		proofs_send(st, r);
	sample_finish(st, r->full);
}

/* --- several runtimes ------------------------------------------------------------------------ */

#define KEPT_MAX (LANGUAGE_FRAMES_MAX / 2)

/* Frames of the runtimes of a process, one after the other, as they are sent. */
struct kept_frames {
	__u64 head[4];
	struct language_frame frames[KEPT_MAX + LANGUAGE_FRAMES_MAX];
};

_Static_assert(sizeof(struct kept_frames) <= 32768, "a per-CPU map value is at most 32 KiB");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kept_frames);
} kept_frames SEC(".maps");

/* Other runtimes of the process are to be walked. */
static __always_inline int runtime_has_next(const struct cpu_state *st)
{
	return st->runtimes >> 8 != 0;
}

/* Adds the frames of this runtime to those that are kept, without the outermost if they are many.
 */
__attribute__((noinline)) int runtime_keep(void)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u32 zero = 0, end, limit;
	struct kept_frames *k = bpf_map_lookup_elem(&kept_frames, &zero);
	struct language_frame *last;
	struct stack_record *rec;
	__u64 size, at;

	if (!st || !r || !k || !r->nframes)
		return 0;
	rec = (struct stack_record *)k->head;
	if (!st->kept || r->lock)
		rec->reason = r->lock;
	end = st->kept + r->nframes;
	size = r->nframes * sizeof(struct language_frame);
	at = st->kept;
	STEP_BARRIER(size);
	STEP_BARRIER(at);
	if (at > KEPT_MAX || size > sizeof(r->frames))
		return 0;
	bpf_probe_read_kernel(&k->frames[at], size, r->frames);
	limit = runtime_has_next(st) ? KEPT_MAX : LANGUAGE_FRAMES_MAX;
	if (end > limit)
		end = limit;
	st->kept = end;
	end--;
	STEP_BARRIER(end);
	last = &k->frames[end & (LANGUAGE_FRAMES_MAX - 1)];
	if (last->at == LANGUAGE_SAME) /* what follows is no caller of it */
		last->at = LANGUAGE_NOWHERE;
	return 0;
}

/* --- the frames ------------------------------------------------------------------------------ */

static __always_inline void language_begin(const struct cpu_state *st, struct stack_record *rec,
					   __u32 nframes, __u32 runtime)
{
	const struct stack_record *native = (const struct stack_record *)st->walk.head;

	rec->hash = native->hash;
	rec->start_stack = runtime;
	rec->exec_id = st->exec_id;
	rec->tgid = native->tgid;
	rec->nframes = 2 * nframes;
	rec->kernel = STACK_LANGUAGE;
}

static __always_inline int kept_send(const struct cpu_state *st)
{
	__u32 zero = 0;
	struct kept_frames *k = bpf_map_lookup_elem(&kept_frames, &zero);
	__u64 size;

	if (!k)
		return -1;
	runtime_keep();
	language_begin(st, (struct stack_record *)k->head, st->kept, RUNTIME_NONE);
	size = sizeof(k->head) + st->kept * sizeof(struct language_frame);
	STEP_BARRIER(size);
	if (size > sizeof(*k))
		return -1;
	return bpf_ringbuf_output(&stacks, k, size, BPF_RB_NO_WAKEUP);
}

/* Sends the frames; the native stack has the same hash. 0, or the ring is full. */
static __always_inline int language_send(const struct cpu_state *st, struct runtime_state *r,
					 __u32 runtime)
{
	struct stack_record *rec = (struct stack_record *)r->head;
	__u64 size = r->nframes;

	if (runtime_has_next(st))
		return 0;
	if (st->kept)
		return kept_send(st);
	language_begin(st, rec, r->nframes, runtime);
	rec->reason = r->lock;
	size = sizeof(*rec) + size * sizeof(struct language_frame);
	STEP_BARRIER(size);
	if (size > sizeof(*rec) + sizeof(r->frames))
		return -1;
	return bpf_ringbuf_output(&stacks, rec, size, BPF_RB_NO_WAKEUP);
}

/* There is nothing to send. While other runtimes follow, the hash of the stack is not known. */
static __always_inline int language_is_sent(const struct cpu_state *st,
					    const struct runtime_state *r)
{
	if (runtime_has_next(st))
		return !r->nframes;
	return (!r->nframes && !st->kept) || sample_stack_is_seen(st->walk.head[0]);
}

/*
 * name_send() sends what user space needs to name the stack, if that is new: its functions, each by
 * name_send_method(), and its frames.
 */
#define RUNTIME_SENDER(name, number)                                                               \
	/* The function of frame r->next, if it was not sent yet. 1: go on with the next. */       \
	__attribute__((noinline)) int name##_send_step(void)                                       \
	{                                                                                          \
		struct runtime_state *r = runtime_state();                                         \
		int n = runtime_unsent();                                                          \
                                                                                                   \
		if (n < 0 || !r)                                                                   \
			return 0;                                                                  \
		if (n < (int)LANGUAGE_FRAMES_MAX && name##_send_method(n)) {                       \
			r->full = 1;                                                               \
			return 0;                                                                  \
		}                                                                                  \
		r->next++;                                                                         \
		return 1;                                                                          \
	}                                                                                          \
                                                                                                   \
	__attribute__((noinline)) int name##_send_some(void)                                       \
	{                                                                                          \
		int i;                                                                             \
                                                                                                   \
		for (i = 0; i < 32; i++)                                                           \
			if (!name##_send_step())                                                   \
				return 0;                                                          \
		return 1;                                                                          \
	}                                                                                          \
                                                                                                   \
	__attribute__((noinline)) int name##_send(void)                                            \
	{                                                                                          \
		struct cpu_state *st = this_state();                                               \
		struct runtime_state *r = runtime_state();                                         \
		int i;                                                                             \
                                                                                                   \
		if (!st || !r || language_is_sent(st, r))                                          \
			return 0;                                                                  \
		for (i = 0; i < (int)(LANGUAGE_FRAMES_MAX / 32) + 1; i++)                          \
			if (!name##_send_some())                                                   \
				break;                                                             \
		if (!r->full)                                                                      \
			r->full = language_send(st, r, number) != 0;                               \
		return 0;                                                                          \
	}

/* The program of a runtime: finishes the sample, or calls that of the next one of the process. */
#define RUNTIME_PROGRAM(name, walk)                                                                \
	SEC("perf_event")                                                                          \
	int on_##name(struct bpf_perf_event_data *ctx)                                             \
	{                                                                                          \
		struct cpu_state *st = this_state();                                               \
		struct runtime_state *r = runtime_state();                                         \
                                                                                                   \
		if (!st || !r)                                                                     \
			return 0;                                                                  \
		if (runtime_begin(st, r))                                                          \
			walk;                                                                      \
		runtime_hash();                                                                    \
		if (runtime_has_next(st)) {                                                        \
			name##_send();                                                             \
			runtime_keep();                                                            \
			st->runtimes >>= 8;                                                        \
			bpf_tail_call(ctx, &runtime_programs, RUNTIME_KIND(st->runtimes));         \
			st->runtimes = RUNTIME_NONE; /* it is not there */                         \
			r->nframes = 0;                                                            \
		}                                                                                  \
		sample_hash_user(st->reason);                                                      \
		name##_send();                                                                     \
		runtime_finish(st, r);                                                             \
		return 0;                                                                          \
	}

#endif
