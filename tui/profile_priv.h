/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_PRIV_H
#define STACKTOP_TUI_PROFILE_PRIV_H

/*
 * The inside of the profile, for profile*.c and query*.c only.
 *
 * Functions, stacks and processes live in arrays; their index is their id. Each counts who refers
 * to it (functions: frames of stacks; stacks: cells and the feeder; processes: cells). One that
 * nobody refers to is put on a list and recycled at the end of the next commit unless somebody
 * came back, so an id just handed out cannot vanish before it was used.
 *
 * A sample is counted in three places: in its slice, which keeps threads apart and expires; in
 * `window`, the sum of the slices of the sliding window; and in `totals`. Slices are kept for twice
 * the window. Slices and totals hold references; `window` only holds what slices hold.
 */

#include <pthread.h>

#include "tui/celltable.h"
#include "tui/idtable.h"
#include "tui/profile.h"

#define NS_PER_SEC	 1000000000.0
#define SLICES_MAX	 8192 /* however short the slices are */
#define TIMELINE_MAX	 1024
#define MESSAGES_MAX	 16
#define MESSAGE_LENGTH	 256
#define NAME_MAX_BYTES	 1023 /* of a function; a template may go on for kilobytes */
#define MODULE_MAX_BYTES 255

/* What functions, stacks and processes have in common: being recycled. */
struct entry {
	uint32_t refs;
	uint32_t next; /* in the list of the free, or of those that nobody refers to */
	bool live;
	bool idle; /* in the latter list */
};

struct func_entry {
	struct entry entry;
	struct profile_func func; /* name points to one block that holds both strings */
	uint64_t hash;
};

struct stack_entry {
	struct entry entry;
	struct profile_stack stack;
	uint32_t hash;
};

struct proc_entry {
	struct entry entry;
	struct profile_proc proc;
	uint32_t slices; /* how many of the references are of slices */
	uint32_t hash;
};

/* An array of entries, the free ones, the idle ones, and the index by content. */
struct pool {
	void *entries;
	size_t size;	/* of an entry, bytes */
	uint32_t count; /* live and free */
	uint32_t room;
	uint32_t live;
	uint32_t free; /* heads of lists, IDTABLE_NONE at the end */
	uint32_t idle;
	struct idtable index;
};

struct slice {
	struct profile_cell *cells;
	size_t ncells;
	struct profile_health health;
};

struct message {
	uint64_t time; /* CLOCK_MONOTONIC ns */
	enum message_level level;
	char text[MESSAGE_LENGTH];
};

/* Accumulator of a query, one per function; valid when sample >= the query's first sample. */
struct func_mark {
	uint64_t self;
	uint64_t total;
	uint64_t before; /* self in the time before */
	uint32_t sample; /* serial of the cell that was counted last: recursion counts once */
};

/* Memory that queries use again and again; guarded by the lock like everything else. */
struct scratch {
	struct func_mark *marks; /* by func id */
	uint32_t nmarks;
	uint32_t serial;
	uint32_t *funcs; /* ids touched by the query */
	size_t nfuncs;
};

struct profile {
	pthread_mutex_t lock;
	unsigned int window; /* seconds */
	size_t cells_max;

	struct pool funcs;
	struct pool stacks;
	struct pool procs;

	/* Where samples go when totals are full; see profile_fold.c. */
	uint32_t folded_complete, folded_broken, folded_kernel, exited;

	struct slice *slices; /* ring */
	size_t first, nslices, slices_room;
	size_t nwindow; /* the newest so many are the window */
	uint64_t committed;

	struct celltable totals;
	struct celltable sliding; /* cells of count 0 may have dead ids */
	size_t sliding_zeros;
	struct profile_health total_health;
	struct profile_health last;

	float timeline[TIMELINE_MAX]; /* ring */
	uint64_t ntimeline;

	struct message messages[MESSAGES_MAX]; /* ring; message n is at n % MESSAGES_MAX */
	uint64_t nmessages;

	struct scratch *scratch; /* never NULL; what queries change although the profile is const */
};

static inline struct func_entry *func_at(const struct profile *p, uint32_t id)
{
	return (struct func_entry *)p->funcs.entries + id;
}

static inline struct stack_entry *stack_at(const struct profile *p, uint32_t id)
{
	return (struct stack_entry *)p->stacks.entries + id;
}

static inline struct proc_entry *proc_at(const struct profile *p, uint32_t id)
{
	return (struct proc_entry *)p->procs.entries + id;
}

/* Slice by age: 0 is the newest. */
static inline struct slice *slice_at(const struct profile *p, size_t age)
{
	return &p->slices[(p->first + p->nslices - 1 - age) % p->slices_room];
}

/* --- profile_pool.c ------------------------------------------------------------------------ */

void pool_init(struct pool *pool, size_t size);
/* -ENOMEM, else room for one more entry in array and index. */
int pool_reserve(struct pool *pool);
/* A zeroed live entry without references, in the idle list; there is room. */
uint32_t pool_take(struct pool *pool, uint32_t hash);
bool pool_has(const struct pool *pool, uint32_t id);
struct entry *pool_entry(const struct pool *pool, uint32_t id);
void pool_get(struct pool *pool, uint32_t id);
void pool_put(struct pool *pool, uint32_t id);
/* Recycles the idle that `keep` (may be NULL) does not want to keep; drop undoes what was made. */
void pool_sweep(struct pool *pool, bool (*keep)(const struct entry *entry),
		uint32_t (*drop)(struct entry *entry, void *arg), void *arg);
void pool_free(struct pool *pool);

/* --- profile_names.c ----------------------------------------------------------------------- */

/* Recycles what nobody refers to. */
void profile_sweep(struct profile *p);
/* Frees everything the pools hold. */
void profile_names_free(struct profile *p);

/* --- profile.c ----------------------------------------------------------------------------- */

/* How many slices, from that age on, make up the sliding window's time; at least 1 if any. */
size_t profile_span(const struct profile *p, size_t age);
/* Adds up the counters; what is a state, not a counter, is taken from the newer. */
void profile_health_add(struct profile_health *sum, const struct profile_health *health);

/* --- profile_fold.c ------------------------------------------------------------------------ */

int profile_fold_new(struct profile *p);
/* Brings totals below cells_max when they are above. */
void profile_fold(struct profile *p);
/* References to the process and the stacks of a cell, taken or given back. */
void profile_refer(struct profile *p, uint32_t proc, uint32_t ustack, uint32_t kstack);
void profile_unrefer(struct profile *p, uint32_t proc, uint32_t ustack, uint32_t kstack);

#endif
