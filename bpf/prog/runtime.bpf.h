/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_RUNTIME_BPF_H
#define STACKTOP_BPF_PROG_RUNTIME_BPF_H

/*
 * Frames of interpreted languages. When the native walk of a process with a runtime has ended,
 * on_sample calls the program of that runtime, which adds the frames of its language, says which
 * native frame runs each, and finishes the sample. Processes without a runtime never come here.
 *
 * This file has what the runtimes share: the frames that were found, their place, what is sent.
 */
#include <stddef.h>
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/prog/maps.bpf.h"
#include "bpf/prog/runtime_layout.h"
#include "bpf/prog/walker.bpf.h"

#define LANGUAGE_WINDOW 1024u
#define LANGUAGE_OBJECT 512u
#define SEARCH_MAX	2048u /* steps of a search for the thread's state */

struct runtime_state {
	struct runtime_process process;
	__u64 thread;		   /* address of the thread's state */
	__u64 pointer;		   /* thread pointer */
	__u64 frame;		   /* the next one to be read */
	__u64 record;		   /* of the interpreter's own call that runs it */
	__u64 code, check;	   /* of the frame before */
	__u64 outer, outer_record; /* the frame that called the innermost run, if that is known */
	__u64 above;		   /* the frame before, if it stands on the same stack */
	__u64 top, limit;	   /* of that stack */
	__u64 window_at;
	__u32 window_size;
	__u32 nframes;
	__u32 from;    /* first frame that has no place yet */
	__u32 native;  /* first native frame that may run it */
	__u32 run;     /* first frame of the run that is being read */
	__u32 inner;   /* first frame of those that have to change their order */
	__u32 entries; /* of the runtime's stack since the last run */
	__u32 caught;  /* some of them catch exceptions */
	__u32 first;   /* none was read yet */
	__u32 proven;  /* first native frame that no run with a proven place has */
	__u32 pending; /* runs behind those */
	__u32 lost;    /* frames without a place */
	__u32 torn;
	__u32 next;   /* frame whose function is looked at */
	__u32 cut;    /* frames of this run for which there was no room */
	__u32 budget; /* of steps that searches may take */
	__u32 found;
	__u32 nproofs;
	__u32 full;  /* the ring was */
	__u32 words; /* of the frame before, with its locals; 0: not known */
	__u32 lock;
	__u64 head[4]; /* of the record, right before its frames */
	struct language_frame frames[LANGUAGE_FRAMES_MAX];
	/* The addresses that have placed runs, as they are sent if the walk is captured. */
	__u64 proofs_head[4];
	__u64 proofs[LANGUAGE_PROOFS];
	__u8 window[LANGUAGE_WINDOW + 8];
	__u8 object[LANGUAGE_OBJECT + 8];
	struct method_record method;
	union {
		__u8 table[METHOD_TABLE];
		__u64 functions[LANGUAGE_FRAMES_MAX]; /* of the frames, if it is not their code */
	};
};

_Static_assert(offsetof(struct runtime_state, frames) - offsetof(struct runtime_state, head) == 32,
	       "the record is head and frames");
_Static_assert(offsetof(struct runtime_state, table) - offsetof(struct runtime_state, method) ==
		       sizeof(struct method_record),
	       "the record is method and table");
_Static_assert(PYTHON_READ_MAX < LANGUAGE_OBJECT && PYTHON_READ_MAX <= LANGUAGE_WINDOW,
	       "object_read and window_hold read all of a structure");
_Static_assert(sizeof(struct runtime_state) <= 32768, "a per-CPU map value is at most 32 KiB");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct runtime_state);
} runtime_states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct runtime_stats);
} runtime_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RUNTIMES_MAX);
	__type(key, __u32);
	__type(value, struct runtime_process);
} runtimes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, RUNTIME_COUNT);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} runtime_programs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RUNTIME_THREADS_MAX);
	__type(key, __u64);   /* tgid << 32 | tid */
	__type(value, __u64); /* address of the thread's state; to be checked before use */
} runtime_threads SEC(".maps");

static __always_inline struct runtime_state *runtime_state(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&runtime_states, &zero);
}

static __always_inline struct runtime_stats *runtime_stats(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&runtime_counts, &zero);
}

/* --- memory ---------------------------------------------------------------------------------- */

/* A word of the process; 0 where there is none. */
static __always_inline __u64 runtime_word(__u64 addr)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (const void *)addr);
	return value;
}

/* Members of what was read last into the state's object. */
static __always_inline __u64 object_word(const struct runtime_state *r, __u32 at)
{
	STEP_BARRIER(at);
	return *(const __u64 *)(r->object + (at & (LANGUAGE_OBJECT - 1)));
}

static __always_inline __u32 object_int(const struct runtime_state *r, __u32 at)
{
	STEP_BARRIER(at);
	return *(const __u32 *)(r->object + (at & (LANGUAGE_OBJECT - 1)));
}

static __always_inline int object_read(struct runtime_state *r, __u64 addr, __u32 size)
{
	STEP_BARRIER(size);
	size &= LANGUAGE_OBJECT - 1;
	return bpf_probe_read_user(r->object, size, (const void *)addr);
}

/* Members of what window_hold has read. */
static __always_inline __u64 window_word(const struct runtime_state *r, __u64 addr)
{
	__u64 at = addr - r->window_at;

	STEP_BARRIER(at);
	return *(const __u64 *)(r->window + (at & (LANGUAGE_WINDOW - 1)));
}

static __always_inline __u8 window_byte(const struct runtime_state *r, __u64 addr)
{
	__u64 at = addr - r->window_at;

	STEP_BARRIER(at);
	return r->window[at & (LANGUAGE_WINDOW - 1)];
}

/*
 * Frames of most runtimes lie one below the other: reads a window that ends behind this one, and
 * begins in its page so that it is there. 0: addr to addr + size can be read from the window.
 */
static __always_inline int window_hold(struct runtime_state *r, __u64 addr, __u32 size)
{
	__u64 from = addr & ~4095ull, bytes;

	if (addr >= r->window_at && addr + size <= r->window_at + r->window_size)
		return 0;
	if (size > LANGUAGE_WINDOW)
		return -1;
	if (addr + size - from > LANGUAGE_WINDOW)
		from = (addr + size - LANGUAGE_WINDOW + 7) & ~7ull;
	bytes = addr + size - from;
	STEP_BARRIER(bytes);
	if (bytes > LANGUAGE_WINDOW)
		return -1;
	r->window_at = from;
	r->window_size = bytes;
	if (!bpf_probe_read_user(r->window, bytes, (const void *)from))
		return 0;
	r->window_size = 0;
	return -1;
}

/* Takes what is known of the process; 0: nothing. */
static __always_inline int runtime_begin(const struct cpu_state *st, struct runtime_state *r)
{
	const struct runtime_process *p;
	__u32 tgid = st->key.tgid;

	r->nframes = r->from = r->native = r->lost = r->torn = r->next = r->full = r->lock =
		r->nproofs = 0;
	r->cut = 0;
	r->budget = SEARCH_MAX;
	r->window_size = 0;
	r->code = r->above = 0;
	p = bpf_map_lookup_elem(&runtimes, &tgid);
	if (!p)
		return 0;
	r->process = *p;
	r->pointer = current_thread_pointer();
	return 1;
}

/* --- frames ---------------------------------------------------------------------------------- */

/* Without room for it the frame is only counted: its run ends further outside. */
static __always_inline void language_add(struct runtime_state *r, __u64 code, __u32 place,
					 __u32 check)
{
	__u32 n = r->nframes;
	struct language_frame *f;

	if (n >= LANGUAGE_FRAMES_MAX) {
		r->cut++;
		return;
	}
	STEP_BARRIER(n);
	f = &r->frames[n & (LANGUAGE_FRAMES_MAX - 1)];
	f->code = code;
	f->at = LANGUAGE_SAME;
	f->place = place;
	f->check = check;
	r->nframes++;
}

#define PLACE_TURN 32u
#define FIND_TURN  16u

/*
 * 0: found, or there are no more; r->native is the frame then, or beyond the last but one. Without
 * branches in the body of the loop, so that the verifier sees one path.
 */
__attribute__((noinline)) int runtime_find_some(__u64 addr)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u64 begin, end;
	__u32 i, at;

	if (!st || !r)
		return 0;
	at = r->native;
	for (i = 0; i < FIND_TURN; i++) {
		STEP_BARRIER(at);
		begin = st->walk.sps[at & (WALK_FRAMES_MAX - 1)];
		end = st->walk.sps[(at + 1) & (WALK_FRAMES_MAX - 1)];
		r->native = at;
		/* begin <= addr < end; user addresses are below 2^63 */
		if (!((addr - begin | (end - 1 - addr)) >> 63) | (at + 1 >= st->walk.nframes))
			return 0;
		at++;
	}
	r->native = at;
	return 1;
}

/*
 * The frames without a place are run by the native frame on whose part of the stack this address
 * is: the last of them says so. If there is none they are lost, and the search goes on where it
 * began. A call that runs no frame yet has no place.
 */
__attribute__((noinline)) int runtime_place(__u64 addr)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u32 i, begin, at, n;

	if (!st || !r || r->from == r->nframes)
		return 0;
	n = r->nproofs++;
	STEP_BARRIER(n);
	if (n < LANGUAGE_PROOFS)
		r->proofs[n & (LANGUAGE_PROOFS - 1)] = addr;
	begin = r->native;
	for (i = 0; i < WALK_FRAMES_MAX / FIND_TURN + 1; i++)
		if (!runtime_find_some(addr))
			break;
	at = r->native;
	if (at + 1 >= st->walk.nframes) {
		r->native = begin;
		r->lost += r->nframes - r->from;
		at = LANGUAGE_NOWHERE;
	} else {
		r->native++;
		at |= r->cut ? LANGUAGE_CUT : 0;
	}
	r->from = r->nframes;
	n = r->nframes - 1;
	STEP_BARRIER(n);
	if (n < LANGUAGE_FRAMES_MAX)
		r->frames[n & (LANGUAGE_FRAMES_MAX - 1)].at = at;
	return 0;
}

#define SEARCH_TURN   8u
#define SEARCH_FRAMES 512u

/* 1: begin <= value < end; all are below 2^63. Without a branch. */
static __always_inline __u64 runtime_is_between(__u64 value, __u64 begin, __u64 end)
{
	return ~(value - begin | (end - 1 - value)) >> 63;
}

/*
 * Native frames from r->native on, up to the one that has the address among its variables, where 0
 * is that of none. 1: go on; 0: r->found says whether it is r->native. Counts those of the
 * runtime's code before it in r->words, the last of which is r->record; ends behind the first one
 * if first is 1. One branch in the body of the loop, so that the verifier sees few paths.
 */
__attribute__((noinline)) int runtime_search_some(__u64 addr, int first)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u64 frame, eval, found, last;
	__u32 i, at;

	if (!st || !r)
		return 0;
	at = r->native;
	for (i = 0; i < SEARCH_TURN; i++) {
		STEP_BARRIER(at);
		found = runtime_is_between(addr, st->walk.sps[at & (WALK_FRAMES_MAX - 1)],
					   st->walk.sps[(at + 1) & (WALK_FRAMES_MAX - 1)]);
		frame = st->walk.frames[at & (WALK_FRAMES_MAX - 1)];
		/* A return address may be the first one behind the code. */
		frame = (frame & ~FRAME_EXACT) - (~frame >> 63);
		eval = runtime_is_between(frame, r->process.eval[0][0], r->process.eval[0][1]) |
		       runtime_is_between(frame, r->process.eval[1][0], r->process.eval[1][1]);
		last = ((__u64)at + 1 - st->walk.nframes) >> 63 ^ 1;
		eval &= ~(found | last);
		r->native = at + !(found | last);
		r->words += eval;
		r->record = (r->record & (eval - 1)) | (at & -eval);
		if (found | last | (eval & first)) {
			r->found = found & ~last;
			return 0;
		}
		at++;
	}
	return 1;
}

/* The same among the next SEARCH_FRAMES; 1: r->native has the address. */
__attribute__((noinline)) int runtime_search(__u64 addr, int first)
{
	struct runtime_state *r = runtime_state();
	int i;

	if (!r)
		return 0;
	r->words = 0;
	r->record = LANGUAGE_NOWHERE;
	r->found = 0;
	for (i = 0; i < (int)(SEARCH_FRAMES / SEARCH_TURN); i++)
		if (!runtime_search_some(addr, first))
			break;
	return r->found;
}

__attribute__((noinline)) int runtime_forget_some(__u32 first)
{
	struct runtime_state *r = runtime_state();
	struct language_frame *f;
	__u32 i, at = first;

	if (!r)
		return 0;
	for (i = 0; i < 2 * SEARCH_TURN; i++) {
		if (at >= r->nframes)
			return 0;
		STEP_BARRIER(at);
		f = &r->frames[at & (LANGUAGE_FRAMES_MAX - 1)];
		/* LANGUAGE_SAME stays; that and LANGUAGE_NOWHERE are the highest numbers. */
		f->at |= (((__u32)f->at - LANGUAGE_SAME) >> 31) * LANGUAGE_NOWHERE;
		at++;
	}
	return 1;
}

/* Takes the places of the frames from r->from on, which are not proven. */
__attribute__((noinline)) int runtime_forget_places(void)
{
	struct runtime_state *r = runtime_state();
	__u32 i;

	if (!r)
		return 0;
	r->lost += r->nframes - r->from;
	for (i = 0; i < LANGUAGE_FRAMES_MAX / SEARCH_TURN / 2; i++)
		if (!runtime_forget_some(r->from + 2 * i * SEARCH_TURN))
			break;
	return 0;
}

/* Is the native frame in the code that runs the language's frames? */
__attribute__((noinline)) int runtime_is_eval(__u32 at)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u64 frame;

	if (!st || !r)
		return 0;
	STEP_BARRIER(at);
	frame = st->walk.frames[at & (WALK_FRAMES_MAX - 1)];
	/* A return address may be the first one behind the code. */
	frame = (frame & ~FRAME_EXACT) - !(frame >> 63);
	return (frame >= r->process.eval[0][0] && frame < r->process.eval[0][1]) ||
	       (frame >= r->process.eval[1][0] && frame < r->process.eval[1][1]);
}

/* Counts such frames, from r->native on, in r->from. */
__attribute__((noinline)) int runtime_count_evals(void)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u32 i;

	if (!st || !r)
		return 0;
	for (i = 0; i < PLACE_TURN; i++) {
		if (r->native >= st->walk.nframes)
			return 0;
		r->from += runtime_is_eval(r->native);
		r->native++;
	}
	return 1;
}

/* Gives the native frame one of the language if it is such a frame; r->from is the next of these.
 */
__attribute__((noinline)) int runtime_place_eval(__u32 at)
{
	struct runtime_state *r = runtime_state();
	__u32 n;

	if (!r)
		return 0;
	n = r->from;
	if (n >= r->nframes)
		return 0;
	r->native++;
	if (!runtime_is_eval(at))
		return 1;
	if (r->lost) { /* those that run none yet */
		r->lost--;
		return 1;
	}
	STEP_BARRIER(n);
	r->frames[n & (LANGUAGE_FRAMES_MAX - 1)].at = at;
	r->from++;
	return 1;
}

__attribute__((noinline)) int runtime_place_evals(void)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u32 i;

	if (!st || !r)
		return 0;
	for (i = 0; i < PLACE_TURN; i++)
		if (r->native >= st->walk.nframes || !runtime_place_eval(r->native))
			return 0;
	return 1;
}

/*
 * For runtimes that run one frame of the language in each native frame of their eval function, and
 * leave no trace of it on the stack. The innermost call may be about to begin or to end. If the
 * walk did not reach the outermost frame, or the numbers differ by more (coroutines with stacks of
 * their own), nothing is proven.
 */
__attribute__((noinline)) int runtime_place_by_count(int complete)
{
	struct runtime_state *r = runtime_state();
	__u32 i, evals;

	if (!r)
		return 0;
	r->native = r->from = 0;
	for (i = 0; i < WALK_FRAMES_MAX / PLACE_TURN + 1; i++)
		if (!runtime_count_evals())
			break;
	evals = r->from;
	r->native = r->from = 0;
	if (!complete || evals < r->nframes || evals > r->nframes + 1) {
		r->lost = r->nframes;
		return 0;
	}
	r->lost = evals - r->nframes;
	for (i = 0; i < WALK_FRAMES_MAX / PLACE_TURN + 1; i++)
		if (!runtime_place_evals())
			break;
	r->lost = 0;
	return 0;
}

/* --- what is sent ---------------------------------------------------------------------------- */

#define HASH_TURNS 16u

__attribute__((noinline)) int runtime_hash_some(__u32 first)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	const __u64 *words;
	__u32 i, at = first;

	if (!st || !r)
		return 0;
	for (i = 0; i < HASH_TURN; i++) {
		if (at >= r->nframes)
			return 0;
		STEP_BARRIER(at);
		words = (const __u64 *)&r->frames[at & (LANGUAGE_FRAMES_MAX - 1)];
		walk_mix(&st->walk, words[0]);
		walk_mix(&st->walk, words[1]);
		at++;
	}
	return 1;
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

/* Sends the frames; the native stack has the same hash. 0, or the ring is full. */
static __always_inline int language_send(const struct cpu_state *st, struct runtime_state *r,
					 __u32 runtime)
{
	struct stack_record *rec = (struct stack_record *)r->head;
	const struct stack_record *native = (const struct stack_record *)st->walk.head;
	__u64 size = r->nframes;

	rec->hash = native->hash;
	rec->start_stack = runtime;
	rec->exec_id = st->exec_id;
	rec->tgid = native->tgid;
	rec->nframes = 2 * r->nframes;
	rec->kernel = STACK_LANGUAGE;
	rec->reason = r->lock;
	size = sizeof(*rec) + size * sizeof(struct language_frame);
	STEP_BARRIER(size);
	if (size > sizeof(*rec) + sizeof(r->frames))
		return -1;
	return bpf_ringbuf_output(&stacks, rec, size, BPF_RB_NO_WAKEUP);
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
		if (!st || !r || !r->nframes || sample_stack_is_seen(st->walk.head[0]))            \
			return 0;                                                                  \
		for (i = 0; i < (int)(LANGUAGE_FRAMES_MAX / 32) + 1; i++)                          \
			if (!name##_send_some())                                                   \
				break;                                                             \
		if (!r->full)                                                                      \
			r->full = language_send(st, r, number) != 0;                               \
		return 0;                                                                          \
	}

#endif
