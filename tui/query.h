/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_QUERY_H
#define STACKTOP_TUI_QUERY_H

/*
 * Questions to the profile: who used the CPU, in which functions, by which paths. Screens and
 * reports share them, so that they cannot disagree. All calls need profile_lock; results are
 * copies, valid without the lock until freed, but ids in them are only good for as long as the
 * lock is held or the id is looked up again (query_* by id return NULL when it is gone).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/profile.h"

enum weigh {
	WEIGH_WINDOW, /* the last N seconds */
	WEIGH_TOTAL,  /* since the last profile_zero */
	WEIGH_LAST,   /* the last slice only (batch) */
};

#define QUERY_ALL UINT32_MAX

struct query {
	enum weigh weigh;
	uint32_t proc;	  /* id, or QUERY_ALL */
	bool hide_kernel; /* leave kernel frames out: their samples count for the user frame */
	bool hide_user;	  /* leave user frames out: samples without kernel frames vanish */
};

#define PROC_HISTORY 8

struct proc_row {
	uint32_t proc;
	uint64_t samples;
	uint64_t kernel_samples;
	uint64_t walks; /* user stacks walked */
	uint64_t complete;
	double cpu_percent;		/* of one CPU; samples / frequency / seconds weighed */
	double rate;			/* samples a second */
	uint32_t hottest;		/* func id with the most self samples, or UINT32_MAX */
	uint16_t history[PROC_HISTORY]; /* samples of the last slices, oldest first */
};

struct func_row {
	uint32_t func;
	uint64_t self;
	uint64_t total;	    /* recursion counted once a sample */
	double before_self; /* share of self, 0..1, in the equally long time before; < 0: none */
};

struct tree_node { /* node 0 is the root, which has no function */
	uint32_t func;
	uint32_t parent;
	uint32_t first_child; /* 0: none; children by total, descending */
	uint32_t next;	      /* sibling, 0: none */
	uint32_t nchildren;
	uint64_t self;
	uint64_t total;
	uint64_t path; /* hash of the functions from the root: the same node in every refresh */
};

struct tree {
	struct tree_node *nodes;
	uint32_t count;
};

/* Rows are unsorted. The caller frees *rows with free(). -ENOMEM. */
int query_procs(const struct profile *p, const struct query *q, struct proc_row **rows,
		size_t *count);
int query_funcs(const struct profile *p, const struct query *q, struct func_row **rows,
		size_t *count);
/* Top down. The caller frees nodes. -ENOMEM. Memory is bounded: deep or rare paths beyond 200,000
 * nodes are counted in their parent. */
int query_tree(const struct profile *p, const struct query *q, struct tree *out);

/* Cells weighed by the query, for writers that need whole stacks (folded). fn returns non-zero to
 * stop; the value is handed on. */
int query_cells(const struct profile *p, const struct query *q,
		int (*fn)(const struct profile_cell *cell, void *arg), void *arg);

/* NULL when there is no such id (any more). */
const struct profile_func *query_func(const struct profile *p, uint32_t func);
const struct profile_stack *query_stack(const struct profile *p, uint32_t stack);
const struct profile_proc *query_proc(const struct profile *p, uint32_t proc);

/* Health of the last slice (zeroed when there was none), and summed over the time weighed. */
void query_health(const struct profile *p, struct profile_health *last);
void query_health_sum(const struct profile *p, enum weigh weigh, struct profile_health *sum);
/* Samples weighed by the query, and seconds that they took. */
uint64_t query_samples(const struct profile *p, const struct query *q, double *seconds);
/* CPU use of the last seconds, oldest first, 0..1 of all sampled CPUs; returns how many (<= max).
 */
size_t query_timeline(const struct profile *p, float *use, size_t max);
/* Number of slices committed so far. */
uint64_t query_slices(const struct profile *p);

/* Forgets all counts (not functions or processes); the timeline and the last health stay. */
void profile_zero(struct profile *p);

/* Newest message, NULL when none is younger than max_age ns; serial tells one from the next. */
const char *query_message(const struct profile *p, uint64_t now, uint64_t max_age,
			  enum message_level *level, uint64_t *serial);
/* The message that follows number *serial, which moves on to it; NULL: no newer one. Start at 0;
 * some of a long burst are forgotten. */
const char *query_message_after(const struct profile *p, enum message_level *level,
				uint64_t *serial);

#endif
