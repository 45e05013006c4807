/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_PROFILE_PRIV_H
#define STACKTOP_TUI_PROFILE_PROFILE_PRIV_H

/*
 * The inside of the profile, for tui/profile and tui/query only.
 *
 * Functions, stacks and processes live in arrays; their index is their id. Each counts references
 * to it (functions: from frames of stacks; stacks: from cells and the feeder; processes: from
 * cells). An entry without references goes on a list and is recycled at the end of the next commit
 * if it still has none (processes stay until they exit), so a new id cannot vanish before it is
 * used.
 *
 * A sample is counted in three places: in its slice, which tells threads apart and expires; in
 * `sliding`, the sum of the sliding window; and in `totals`. The slices of the window and of the
 * time before it are recent; older ones are the history, which profile_history.c bounds. Slices,
 * totals and frozen sums hold references; `sliding` and `prior` rely on those of the slices.
 */

#include <pthread.h>

#include "tui/profile/frozen_sum.h"
#include "tui/profile/sum.h"
#include "tui/util/idtable.h"
#include "tui/profile/profile.h"

#define NS_PER_SEC	 1000000000.0
#define NS_PER_US	 1000.0
#define SLICES_MAX	 8192 /* however short the slices are */
#define TIMELINE_MAX	 1024
#define NAME_MAX_BYTES	 1023 /* of a function; a template may go on for kilobytes */
#define MODULE_MAX_BYTES 255

/* The first member of functions, stacks and processes, for recycling. */
struct pool_entry {
	uint64_t serial; /* unique in the pool, never reused */
	uint32_t refs;
	uint32_t held; /* those of refs that slices hold */
	uint32_t next; /* in the list of free or of idle entries */
	bool live;
	bool idle; /* in the list of entries without references */
};

#define LINES_COUNTED 6

struct func_line {
	const char *file; /* in profile.files; NULL: unused */
	uint32_t line;
	uint32_t votes;
};

struct func_lines {
	struct func_line at[LINES_COUNTED];
	uint32_t best;	/* index of the line with the most votes */
	uint32_t votes; /* of all lines, since they were last halved */
};

struct func_entry {
	struct pool_entry entry;
	struct profile_func func; /* name points to one block that holds both strings */
	uint64_t hash;
	struct func_lines *lines; /* NULL: none */
};

struct stack_entry {
	struct pool_entry entry;
	struct profile_stack stack;
	uint32_t hash;
};

struct thread_name {
	uint32_t tid;
	char comm[16];
};

struct process_entry {
	struct pool_entry entry;
	struct profile_proc proc;
	struct thread_name *threads; /* whose names differ from comm; sorted by tid */
	uint32_t nthreads;
	uint32_t slices; /* those of the references that recent slices hold */
	uint32_t hash;
};

/* An array of entries, the free ones, the idle ones, and the index by content. */
struct pool {
	void *entries;
	size_t size;	/* bytes of an entry */
	uint32_t count; /* entries, live or free */
	uint32_t room;
	uint32_t live;
	uint32_t free; /* head of a list; IDTABLE_NONE: empty, as idle */
	uint32_t idle;
	uint64_t serials;
	struct idtable index;
};

/* A cell of a slice, and its number. */
#define SLICE_CELL_BYTES (sizeof(struct profile_cell) + sizeof(uint32_t))

struct slice {
	struct profile_cell *cells;
	uint32_t *ids; /* sample ids of the cells; in the same block of memory */
	size_t ncells;
	struct cpu_use *use; /* sorted by CPU; NULL: not known */
	size_t nuse;
	struct profile_health health;
};

struct frozen_sum { /* of one kind */
	bool taken;
	struct sum sum;
	struct profile_health health;
	uint64_t first, last; /* its slices; first is 0: not a sum of slices */
	bool recorded;	      /* by frozen_sum_recorded */
	uint64_t matched;     /* procs.serials at the last frozen_sum_match */
};

struct module_build {
	char *name;
	char build[PROFILE_BUILD_MAX]; /* "": files of this name differ */
};

/* Computed by the first query after a commit, for which the profile is const. */
struct decayed {
	struct celltable cells; /* without an index */
	bool valid;
};

#define PROFILE_ZERO_HOOKS 4

struct profile_zero_hook {
	profile_zero_fn fn; /* NULL: none */
	void *arg;
};

struct profile {
	pthread_mutex_t lock;
	struct board *board; /* never NULL */
	unsigned int window; /* seconds */
	size_t cells_max;

	struct pool funcs;
	struct pool stacks;
	uint32_t nwaiting; /* stacks with sites */
	struct pool procs;

	uint64_t bound_bytes; /* of all stacks and functions */
	uint64_t bound_max;   /* see profile_fold.c */

	/* Where samples go when totals are full; see profile_fold.c. */
	uint32_t folded_func;
	uint32_t folded_complete, folded_broken, folded_kernel, exited;
	uint32_t folded_waits[WAIT_CAUSES]; /* also of waits whose kernel frames are hidden */
	uint32_t folded_wakes;
	uint32_t times[WAIT_CAUSES]; /* stacks of one FUNC_TIME */
	uint32_t nuses;		     /* stacks whose use is not STACK_SAMPLES, besides those */
	bool folds;		     /* these are set */

	struct slice *slices; /* ring */
	size_t first, nslices, slices_room;
	size_t nwindow;	    /* so many of the newest slices are the window */
	size_t nrecent;	    /* those of the window and the time before it */
	uint64_t committed; /* number of the newest slice */
	uint32_t ncpus;	    /* see query_ncpus */

	struct sample_ids ids;		    /* of the cells of slices */
	uint64_t history_ns, history_bytes; /* of all slices and what they refer to */
	uint64_t keep_ns, keep_bytes;	    /* limits of these; recent slices stay anyway */
	struct frozen_sum frozen[FROZEN_COUNT];
	struct decayed *decayed; /* never NULL */

	struct sum totals; /* holds references */
	struct sum sliding;
	/* The equally long time before the window, nprior slices; only where slices are kept. */
	struct sum prior;
	size_t nprior;
	bool prior_valid;
	struct profile_health total_health;
	struct profile_health last;

	float timeline[TIMELINE_MAX]; /* ring */
	uint64_t ntimeline;

	bool replayed;
	struct profile_replay replay;
	struct profile_zero_hook before_zero[PROFILE_ZERO_HOOKS];

	struct profile_parent *parents; /* by PID */
	size_t nparents;

	char **files; /* of source lines */
	uint32_t nfiles;
	size_t files_bytes;
	struct idtable file_index;

	struct module_build *builds;
	uint32_t nbuilds;
	struct idtable build_index;
};

static inline struct func_entry *func_at(const struct profile *p, uint32_t id)
{
	return (struct func_entry *)p->funcs.entries + id;
}

static inline struct stack_entry *stack_at(const struct profile *p, uint32_t id)
{
	return (struct stack_entry *)p->stacks.entries + id;
}

static inline struct process_entry *proc_at(const struct profile *p, uint32_t id)
{
	return (struct process_entry *)p->procs.entries + id;
}

/* The counters of a slice, which add up, besides loss; the rest of the health is state. */
#define HEALTH_COUNTERS(X)                                                                         \
	X(elapsed)                                                                                 \
	X(taken)                                                                                   \
	X(idle)                                                                                    \
	X(ticks)                                                                                   \
	X(samples)                                                                                 \
	X(user_samples)                                                                            \
	X(kernel_samples)                                                                          \
	X(filtered)                                                                                \
	X(outside)                                                                                 \
	X(user_walks)                                                                              \
	X(complete_walks)                                                                          \
	X(complete_fp_walks)                                                                       \
	X(frames)                                                                                  \
	X(run_ns)                                                                                  \
	X(runs)                                                                                    \
	X(drain_ns)                                                                                \
	X(self_ns)                                                                                 \
	X(counted)                                                                                 \
	X(weight)                                                                                  \
	X(wait_ns)                                                                                 \
	X(wait_walks)                                                                              \
	X(wait_thinned)                                                                            \
	X(wait_untaken)                                                                            \
	X(wait_lost)                                                                               \
	X(wait_missed)                                                                             \
	X(evictions)

/* Slice by age: 0 is the newest. */
static inline struct slice *slice_at(const struct profile *p, size_t age)
{
	return &p->slices[(p->first + p->nslices - 1 - age) % p->slices_room];
}

/* Age of a slice by number; false: it is not there (any more). */
static inline bool slice_age(const struct profile *p, uint64_t number, size_t *age)
{
	if (number > p->committed || p->committed - number >= p->nslices)
		return false;
	*age = (size_t)(p->committed - number);
	return true;
}

/* --- profile_pool.c ------------------------------------------------------------------------ */

void pool_init(struct pool *pool, size_t size);
/* -ENOMEM, else room for one more entry in array and index. */
int pool_reserve(struct pool *pool);
/* A zeroed live entry without references, in the idle list; there is room. */
uint32_t pool_take(struct pool *pool, uint32_t hash);
bool pool_has(const struct pool *pool, uint32_t id);
struct pool_entry *pool_entry(const struct pool *pool, uint32_t id);
void pool_get(struct pool *pool, uint32_t id);
void pool_put(struct pool *pool, uint32_t id);
/* Recycles idle entries unless `keep` (may be NULL) returns true. `drop` frees what the entry owns
 * and returns its hash. */
void pool_sweep(struct pool *pool, bool (*keep)(const struct pool_entry *entry),
		uint32_t (*drop)(struct pool_entry *entry, void *arg), void *arg);
void pool_free(struct pool *pool);
/* What an entry takes, names and frames included. */
size_t stack_bytes(const struct stack_entry *entry);
size_t func_bytes(const struct func_entry *entry);

/* --- profile_names.c ----------------------------------------------------------------------- */

uint32_t profile_stack_hash(const struct profile_stack *stack);
/* Whether any of its frames is of an interpreted language. */
bool profile_stack_language(const struct profile *p, const struct profile_stack *stack);
/* Recycles entries without references, but not processes that have not exited. */
void profile_sweep(struct profile *p);
/* The stack that replaces this one, which was made: "[folded away]", or its cause alone. */
uint32_t profile_folded(const struct profile *p, const struct profile_stack *stack);
/* Frees everything the pools hold. */
void profile_names_free(struct profile *p);

/* --- profile_lines.c ----------------------------------------------------------------------- */

/* Frees files of lines and build-ids. */
void profile_lines_free(struct profile *p);

/* --- profile_history.c --------------------------------------------------------------------- */

/* Takes references for the newest slice; drops the oldest slice with its references. */
void history_add(struct profile *p, const struct slice *slice);
void history_drop_oldest(struct profile *p);
/* Makes the newest `recent` slices the recent ones; there are so many. */
void history_recall(struct profile *p, size_t recent);
/* Drops slices beyond the limits; the newest `recent` slices stay. */
void history_bound(struct profile *p, size_t recent);
/* To be called before and after the frames of a stack change. */
void history_unhold_frames(struct profile *p, uint32_t stack);
void history_hold_frames(struct profile *p, uint32_t stack);

/* --- profile_fold.c ------------------------------------------------------------------------ */

int profile_fold_new(struct profile *p);
/* Folds totals that have more than cells_max cells. */
void profile_fold(struct profile *p);
/* After a commit: drops history and rare stacks until there is room again. */
void bound_keep(struct profile *p);

/* --- span.c -------------------------------------------------------------------------------- */

/* How many slices, from that age on, make up the sliding window's time; at least 1 if any. */
size_t profile_span(const struct profile *p, size_t age);
/* True if these n slices from that age on are all of that time: none is missing because sampling
 * began later, or counts were zeroed. */
bool profile_span_whole(const struct profile *p, size_t age, size_t n);
/* Not of SPAN_LAST and SPAN_DECAY. */
const struct sum *span_sum(const struct profile *p, enum span span);
/* Slices of the window or the last one; not for other spans. */
size_t span_count(const struct profile *p, enum span span);
/* Numbers of its slices; first is 0 where it is not a sum of slices. */
void span_slices(const struct profile *p, enum span span, uint64_t *first, uint64_t *last);
/* Sums have no threads, slices do: age of the newest slice, and how many there are. False: it is
 * not a sum of slices, or they are gone. */
bool span_has_slices(const struct profile *p, enum span span, size_t *newest, size_t *n);

/* --- decay.c ------------------------------------------------------------------------------- */

/* Cells and health of SPAN_DECAY; sum is zeroed. NULL: no memory. */
const struct celltable *decay_cells(const struct profile *p);
void decay_health(const struct profile *p, struct profile_health *sum);

/* --- frozen_sum.c -------------------------------------------------------------------------- */

/* The sum takes the place of the one of that kind, and holds references then. */
void frozen_sum_replace(struct profile *p, enum frozen_kind kind, const struct frozen_sum *made);

#endif
