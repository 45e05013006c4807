/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_EXPORT_EXPORT_MODEL_H
#define STACKTOP_TUI_EXPORT_EXPORT_MODEL_H

/*
 * What a file format is written from: the samples of one or more slices, copied out of a profile,
 * since its ids do not outlive their slice. All formats read the profile here and only here, so
 * none can disagree with another about which samples there are. A model has no lock: only the
 * thread that made it may use it.
 *
 * Memory is bounded by the limits below. Beyond that of samples, time gets coarser: neighbouring
 * slices are joined; if that does not help, threads and CPUs are, then the rarest stacks. Beyond
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

#define EXPORT_MODEL_SAMPLES_MAX 2000000u
#define EXPORT_MODEL_NODES_MAX	 2000000u
#define EXPORT_MODEL_PROCS_MAX	 65536u
#define EXPORT_MODEL_THREADS_MAX 65536u /* with names of their own */
#define EXPORT_MODEL_TEXT_MAX	 ((size_t)128 << 20)

#define EXPORT_MODEL_NONE UINT32_MAX

struct export_model_func {
	size_t name;   /* in the pool: clean, NUL-terminated */
	size_t module; /* likewise */
	enum func_kind kind;
	uint32_t number;   /* of the module, in order of appearance */
	uint32_t file;	   /* of its hottest line, or of a language; EXPORT_MODEL_NONE: unknown */
	unsigned int line; /* 0: unknown */
};

struct export_model_module {
	size_t name;  /* in the pool, none twice */
	size_t build; /* likewise: build-id in hexadecimal, or "" */
};

/*
 * A stack is a node (its innermost frame) and the node's parents. A parent's number is smaller than
 * its children's.
 */
struct export_model_node {
	uint32_t parent; /* EXPORT_MODEL_NONE: the outermost frame */
	uint32_t func;
	uint32_t depth; /* frames, this one included */
};

struct export_model_proc {
	pid_t pid;
	uint64_t image;
	size_t comm, user, command, group; /* in the pool; see struct profile_proc */
	size_t service;			   /* likewise, once tui/push has found it */
	unsigned int nthreads;
	bool exited;
};

struct export_model_thread { /* with another name than its process */
	uint32_t proc, tid;
	size_t comm; /* in the pool */
};

struct export_model_sample {
	uint32_t slice;
	uint32_t proc;
	uint32_t tid;  /* 0: not known */
	uint32_t node; /* EXPORT_MODEL_NONE: the stack is unknown */
	uint64_t count : 48;
	uint64_t cpu : 16; /* + 1; 0: not known */
	uint64_t weight;   /* see struct profile_cell */
};

struct export_model_slice {
	uint64_t time;	  /* CLOCK_REALTIME ns, its begin */
	uint64_t elapsed; /* ns */
};

struct export_model {
	struct textpool pool;
	struct export_model_func *funcs;
	uint32_t nfuncs, funcs_room;
	struct export_model_module *modules;
	uint32_t nmodules, modules_room;
	size_t *files; /* of source lines, in the pool, none twice */
	uint32_t nfiles, files_room;
	struct export_model_node *nodes;
	uint32_t nnodes, nodes_room;
	struct export_model_proc *procs;
	uint32_t nprocs, procs_room;
	struct export_model_thread *threads;
	uint32_t nthreads, threads_room;
	struct export_model_sample *samples; /* by slice */
	size_t nsamples, samples_room;
	struct export_model_slice *slices;
	uint32_t nslices, slices_room;
	struct idtable func_index, module_index, node_index, proc_index, thread_index, file_index;
	struct profile_health health; /* sums, see profile.h */
	enum measure measure;	      /* of the query */
	uint64_t count;		      /* of all samples, or waits */
	uint64_t weight;	      /* likewise */
	uint64_t clocks_apart;	      /* CLOCK_REALTIME - CLOCK_MONOTONIC, ns */
	uint32_t per_slice;	      /* slices of the profile that make one here */
	uint32_t in_slice;	      /* how many of them are in the last one so far */
	bool merged_threads;
};

/* A zeroed struct is an empty model; export_model_free makes it one again. */
void export_model_free(struct export_model *c);
/*
 * Adds what the query asks for as one slice; needs profile_lock. The first slice of another event
 * makes the model start over. -ENOMEM: only export_model_free may follow.
 */
int export_model_add(struct export_model *c, const struct profile *p, const struct query *q);
/* The same of the slice of that number, whatever the query's span is. -ENOENT: the slice is gone.
 */
int export_model_add_slice(struct export_model *c, const struct profile *p, const struct query *q,
			   uint64_t slice);

/*
 * A model of these samples alone, which are some of c's (their slices are not looked at: the part
 * has one, of all of c's time), with what they refer to. *out is zeroed or was freed. -ENOMEM.
 */
int export_model_part(const struct export_model *c, const struct export_model_sample *samples,
		      size_t count, struct export_model *out);

static inline const char *export_model_text(const struct export_model *c, size_t at)
{
	return c->pool.text + at;
}

/* A number for each of so many items, EXPORT_MODEL_NONE for now; the caller frees it. NULL: no
 * memory. */
uint32_t *export_model_numbers(uint32_t count);

/* What shares and widths are of. */
enum export_unit {
	EXPORT_SAMPLES, /* counts: of a clock, or all that is known */
	EXPORT_EVENTS,	/* weights: how often the event happened */
	EXPORT_TIME,	/* weights: us of waits, or of these and of CPUs */
};

static inline enum export_unit export_model_unit(const struct export_model *c)
{
	if (c->measure != MEASURE_CPU)
		return EXPORT_TIME;
	return profile_is_time(&c->health) || !c->health.counted ? EXPORT_SAMPLES : EXPORT_EVENTS;
}

static inline uint64_t export_model_value(const struct export_model *c,
					  const struct export_model_sample *sample)
{
	return export_model_unit(c) == EXPORT_SAMPLES ? sample->count : sample->weight;
}

/* Names a thread of a process that is there; the name of the process is not kept again. -ENOMEM. */
int export_model_thread_add(struct export_model *c, uint32_t proc, uint32_t tid, const char *comm);
/* NULL: it has no name of its own. */
struct export_model_thread *export_model_thread_find(const struct export_model *c, uint32_t proc,
						     uint32_t tid);
/* The name of a thread, which may be that of its process. */
const char *export_model_thread(const struct export_model *c, uint32_t proc, uint32_t tid);

/*
 * The samples of all slices added up, by process and thread, in an array that the caller frees.
 * NULL: no memory, and the count is 0.
 */
struct export_model_sample *export_model_merged(const struct export_model *c, size_t *count);

/* Room for the functions of the deepest stack; the caller frees it. NULL: no memory. */
uint32_t *export_model_frames_new(const struct export_model *c);
/* Functions of the stack that ends in a node, the outermost first; returns how many. */
uint32_t export_model_frames(const struct export_model *c, uint32_t node, uint32_t *frames);

/* A function, or a call inlined into another place at the same address. */
struct export_model_place {
	uint32_t outer; /* place with a smaller number; EXPORT_MODEL_NONE: not an inlined call */
	uint32_t func;
	uint32_t depth; /* 0: not an inlined call */
};

struct export_model_places {
	uint32_t *of_node; /* place of each node */
	struct export_model_place *list;
	uint32_t count;
};

/* -ENOMEM. Call export_model_places_free after every result. */
int export_model_places_find(struct export_model_places *places, const struct export_model *c);
void export_model_places_free(struct export_model_places *places);
/* The node of the caller: the parent of the function that the node is inlined into, if it is. */
uint32_t export_model_caller(const struct export_model *c, uint32_t node);

struct export_model_sum {
	uint64_t self;	/* samples with the function as the innermost frame */
	uint64_t total; /* and with it at all, recursion counted once */
	uint64_t self_weight, total_weight;
};

/* One for each function, in an array that the caller frees. NULL: no memory. */
struct export_model_sum *export_model_sums(const struct export_model *c);

#endif
