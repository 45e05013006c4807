/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_RUNTIME_BPF_H
#define STACKTOP_BPF_PROG_RUNTIME_BPF_H

/*
 * Frames of interpreted languages. When the native walk of a process with a runtime has ended,
 * on_sample calls the program of that runtime, which adds the frames of its language, says which
 * native frame runs each, and finishes the sample. Where a process has several, each keeps its
 * frames and calls the next. Processes without a runtime never come here.
 *
 * This file has what the runtimes share: their state, memory, and the frames that were found.
 * runtime_place.bpf.h gives them their native frames, runtime_send.bpf.h sends them.
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
	__u64 outermost;	   /* frame of the stack before */
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
	__u32 in_eval; /* runs are placed in the code that runs the language's frames only */
	__u32 unused;
	/* Perl: see there. */
	__u64 jump;	   /* the JMPENV that the search for loops reaches next */
	__u64 above_catch; /* that of the outermost eval of this run */
	__u32 base, plain, skip, alone, alike;
	__s32 shift;   /* of loops against runs, where the innermost ones are not as many */
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
	__type(key, __u32); /* RUNTIME_KEY */
	__type(value, struct runtime_process);
} runtimes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RUNTIME_THREADS_MAX);
	__type(key, __u64);   /* runtime_thread */
	__type(value, __u64); /* address of the thread's state; to be checked before use */
} runtime_threads SEC(".maps");

static __always_inline struct runtime_state *runtime_state(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&runtime_states, &zero);
}

/* The current thread, to the runtime that is being walked. */
static __always_inline __u64 runtime_thread(const struct cpu_state *st)
{
	return (__u64)RUNTIME_KEY(st->key.tgid, RUNTIME_SLOT(st->runtimes)) << 32 | st->key.tid;
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
	__u32 key = RUNTIME_KEY(st->key.tgid, RUNTIME_SLOT(st->runtimes));

	r->nframes = r->from = r->native = r->lost = r->torn = r->next = r->lock = r->cut = 0;
	r->in_eval = 0;
	r->outermost = 0;
	if (!st->kept)
		r->full = r->nproofs = 0;
	r->budget = SEARCH_MAX;
	r->window_size = 0;
	r->code = r->above = 0;
	p = bpf_map_lookup_elem(&runtimes, &key);
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

#endif
