/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_EXPORT_EXPORT_MODEL_H
#define STACKTOP_TUI_EXPORT_EXPORT_MODEL_H

/*
 * What a file format is written from: the samples of one or more slices, copied out of a profile,
 * whose ids do not outlive their slice. All formats visit the profile here and only here, so none
 * can disagree with another about which samples there are. A capture has no lock: only the thread
 * that made it may use it.
 *
 * Memory is bounded by the limits below. Beyond that of samples, time gets coarser: neighbouring
 * slices become one; if that does not help, threads and CPUs do, then the rarest stacks. Beyond
 * those of nodes and text, samples of new stacks count as `[folded away]`, and beyond that of
 * processes as `[others]`. No sample is lost.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/util/idtable.h"
#include "tui/profile/profile.h"
#include "tui/util/textpool.h"

struct query;

#define CAPTURE_SAMPLES_MAX 2000000u
#define CAPTURE_NODES_MAX   2000000u
#define CAPTURE_PROCS_MAX   65536u
#define CAPTURE_THREADS_MAX 65536u /* with names of their own */
#define CAPTURE_TEXT_MAX    ((size_t)128 << 20)

#define CAPTURE_NONE UINT32_MAX

struct capture_func {
	size_t name;   /* in the pool: clean, NUL-terminated */
	size_t module; /* likewise */
	enum func_kind kind;
	uint32_t number; /* of the module, in order of appearance */
	uint32_t file;	 /* where its hottest line is; CAPTURE_NONE: unknown */
	unsigned int line;
};

struct capture_module {
	size_t name;  /* in the pool, none twice */
	size_t build; /* likewise: build-id in hexadecimal, or "" */
};

/* A stack is a node, which is its innermost frame, and the node's parents. A parent's number is
 * smaller than its children's. */
struct capture_node {
	uint32_t parent; /* CAPTURE_NONE: the outermost frame */
	uint32_t func;
	uint32_t depth; /* frames, this one included */
};

struct capture_proc {
	pid_t pid;
	uint64_t image;
	size_t comm, user, command; /* in the pool */
	unsigned int nthreads;
	bool exited;
};

struct capture_thread { /* that has another name than its process */
	uint32_t proc, tid;
	size_t comm; /* in the pool */
};

struct capture_sample {
	uint32_t slice;
	uint32_t proc;
	uint32_t tid;  /* 0: not known */
	uint32_t node; /* CAPTURE_NONE: nothing is known of the stack */
	uint64_t count : 48;
	uint64_t cpu : 16; /* + 1; 0: not known */
};

struct capture_slice {
	uint64_t time;	  /* CLOCK_REALTIME ns, its begin */
	uint64_t elapsed; /* ns */
};

struct capture {
	struct textpool pool;
	struct capture_func *funcs;
	uint32_t nfuncs, funcs_room;
	struct capture_module *modules;
	uint32_t nmodules, modules_room;
	size_t *files; /* of source lines, in the pool, none twice */
	uint32_t nfiles, files_room;
	struct capture_node *nodes;
	uint32_t nnodes, nodes_room;
	struct capture_proc *procs;
	uint32_t nprocs, procs_room;
	struct capture_thread *threads;
	uint32_t nthreads, threads_room;
	struct capture_sample *samples; /* by slice */
	size_t nsamples, samples_room;
	struct capture_slice *slices;
	uint32_t nslices, slices_room;
	struct idtable func_index, module_index, node_index, proc_index, thread_index, file_index;
	struct profile_health health; /* sums, see profile.h */
	uint64_t count;		      /* of all samples */
	uint64_t clocks_apart;	      /* CLOCK_REALTIME - CLOCK_MONOTONIC, ns */
	uint32_t per_slice;	      /* of the profile's slices are one here */
	uint32_t in_slice;	      /* of them so far in the last */
	bool merged_threads;
};

/* A zeroed struct is an empty capture; capture_free makes it one again. */
void capture_free(struct capture *c);
/*
 * Adds what the query asks for as one slice; needs profile_lock. The first slice of another event
 * makes the capture begin anew. -ENOMEM: the capture is good for
 * capture_free only.
 */
int capture_add(struct capture *c, const struct profile *p, const struct query *q);

static inline const char *capture_text(const struct capture *c, size_t at)
{
	return c->pool.text + at;
}

/* The name of a thread of one of the capture's processes. -ENOMEM. */
int capture_thread_add(struct capture *c, uint32_t proc, uint32_t tid, const char *comm);
/* NULL: it has no name of its own. */
const struct capture_thread *capture_thread_find(const struct capture *c, uint32_t proc,
						 uint32_t tid);
/* The name of a thread, which may be that of its process. */
const char *capture_thread(const struct capture *c, uint32_t proc, uint32_t tid);

/* The samples of all slices as if they were one, by process and thread, in an array that the caller
 * frees. NULL: no memory, and the count is 0. */
struct capture_sample *capture_merged(const struct capture *c, size_t *count);

/* Room for the functions of the deepest stack; the caller frees it. NULL: no memory. */
uint32_t *capture_frames_new(const struct capture *c);
/* Functions of the stack that ends in a node, the outermost first; returns how many. */
uint32_t capture_frames(const struct capture *c, uint32_t node, uint32_t *frames);

/* A function, or a call inlined into another place at the same address. */
struct capture_place {
	uint32_t outer; /* place; smaller than this one. CAPTURE_NONE: it is no inlined call */
	uint32_t func;
	uint32_t depth; /* 0: it is no inlined call */
};

struct capture_places {
	uint32_t *of_node; /* place of each node */
	struct capture_place *list;
	uint32_t count;
};

/* -ENOMEM. capture_places_free is right after every result. */
int capture_places_find(struct capture_places *places, const struct capture *c);
void capture_places_free(struct capture_places *places);
/* The node of the caller: the parent of the function that the node is inlined into, if it is. */
uint32_t capture_caller(const struct capture *c, uint32_t node);

/* Samples of each function: those that it was the innermost frame of, and those that it was in at
 * all, recursion counted once. */
struct capture_sum {
	uint64_t self;
	uint64_t total;
};

/* One for each function, in an array that the caller frees. NULL: no memory. */
struct capture_sum *capture_sums(const struct capture *c);

#endif
