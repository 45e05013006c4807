/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_QUERY_QUERY_H
#define STACKTOP_TUI_QUERY_QUERY_H

/*
 * Questions to the profile: who used the CPU, in which functions, by which paths. Screens and
 * reports share them, so that they cannot disagree. All calls need profile_lock; results are
 * copies, valid without the lock until freed, but ids in them are only good for as long as the
 * lock is held or the id is looked up again (query_* by id return NULL when it is gone).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/profile/profile.h"

/* Which samples pass; NULL and 0 let all pass. Its owner keeps it as long as the query is asked. */
struct sample_filter {
	const bool *procs; /* by process id; */
	uint32_t nprocs;   /* ... those beyond do not pass */
	uint32_t tid;	   /* of one thread; needs query.threads */
	const bool *cpus;  /* by number of the CPU, + 1; needs query.threads or query.cpus; ... */
	uint32_t ncpus;	   /* ... those beyond do not pass */
	const bool *funcs; /* by function id: one of them is among the frames that are shown, ... */
	uint32_t nfuncs;
	bool without; /* ... or none is */
};

struct query {
	enum span span;
	uint32_t proc;	  /* id, or QUERY_ALL */
	bool hide_kernel; /* leave kernel frames out: their samples count for the user frame */
	bool hide_user;	  /* leave user frames out: samples without kernel frames vanish */
	bool hide_inline; /* inlined calls count for the function that they are in */
	/* Cells with their thread, where slices are weighed that are still there: sums put threads
	 * together. */
	bool threads;
	bool cpus;   /* Cells with their CPU, likewise. */
	bool by_cpu; /* query_procs gives a row for each CPU; needs cpus */
	/* By process id (all of them): the process whose row in query_procs counts it, too; NULL:
	 * its own. See query_owners. */
	const uint32_t *owners;
	const struct sample_filter
		*scope; /* whose samples; NULL: everybody's. Shares are of these */
	const struct sample_filter *filter; /* which of these are looked at; NULL: all */
	bool baseline; /* compare with SPAN_BASELINE instead of the time before */
};

#define PROC_HISTORY 8

struct proc_row {
	uint32_t proc;
	uint32_t tid; /* of a row of a thread, where query.threads; else 0 */
	uint32_t cpu; /* + 1; of a row of a CPU, which has no process (QUERY_ALL); else 0 */
	uint64_t samples;
	uint64_t kernel_samples;
	uint64_t walks; /* user stacks walked */
	uint64_t complete;
	double cpu_percent;		/* of one CPU; samples / frequency / seconds weighed */
	double rate;			/* samples a second */
	uint32_t hottest;		/* func id with the most self samples, or UINT32_MAX */
	uint16_t history[PROC_HISTORY]; /* samples of the last slices, oldest first; 0 where they
					   are not kept, see query_history_kept */
	double before_cpu;		/* cpu_percent of the baseline; < 0: none is compared */
};

struct func_row {
	uint32_t func;
	uint64_t self;
	uint64_t total;	    /* recursion counted once a sample */
	double before_self; /* share of self, 0..1, in the equally long time before, or of the
			       baseline, whose functions are all there; < 0: none */
};

#define QUERY_NONE UINT32_MAX

struct end_row { /* walks of a process that ended alike */
	uint32_t proc;
	uint32_t end;	/* func id of the reason; QUERY_NONE: they are complete */
	uint32_t last;	/* func id of the outermost frame that was reached; QUERY_NONE: none */
	uint64_t place; /* of that frame, in the stack with most samples (profile_stack.place) */
	uint64_t samples;
};

struct tree_node { /* node 0 is the root, which has no function */
	uint32_t func;
	uint32_t parent;
	uint32_t first_child; /* 0: none; children by total, descending */
	uint32_t next;	      /* sibling, 0: none */
	uint32_t nchildren;
	uint64_t self;
	uint64_t total;
	uint64_t before; /* total of the baseline, when that is compared; its nodes are all there */
	uint64_t path;	 /* hash of the functions from the root: the same node in every refresh */
};

struct tree {
	struct tree_node *nodes;
	uint32_t count;
};

/* Rows are unsorted. The caller frees *rows with free(). -ENOMEM. query_procs gives a row for each
 * thread instead where query.threads. */
int query_procs(const struct profile *p, const struct query *q, struct proc_row **rows,
		size_t *count);
int query_funcs(const struct profile *p, const struct query *q, struct func_row **rows,
		size_t *count);
/* How many of the slices that the history of a row tells of are there, the last ones. */
size_t query_history_kept(const struct profile *p, enum span span);

struct cpu_row { /* a process, or a thread of it, on a CPU */
	uint32_t proc;
	uint32_t tid; /* where query.threads; else 0 */
	uint32_t cpu; /* + 1; 0: not known */
	uint64_t samples;
};

/* Where processes ran, or threads where query.threads: rows by process, thread, and samples, the
 * most first; the caller frees *rows. Needs query.cpus. -ENOMEM. */
int query_cpus(const struct profile *p, const struct query *q, struct cpu_row **rows,
	       size_t *count);
/* Is a CPU known of any sample of what is weighed? */
bool query_knows_cpus(const struct profile *p, enum span span);
/* Are the slices there that what is weighed is the sum of? Only they know CPUs and threads. */
bool query_keeps_slices(const struct profile *p, enum span span);
/* One more than the highest number of a CPU, + 1, that there ever was in the profile; 0: none. */
uint32_t query_ncpus(const struct profile *p);
/* How walks ended, whatever the query hides; of its filter's samples. */
int query_ends(const struct profile *p, const struct query *q, struct end_row **rows,
	       size_t *count);
/* Top down: a node's children are its callees. The caller frees nodes. -ENOMEM. Memory is bounded:
 * deep or rare paths beyond 200,000 nodes are counted in their parent. */
int query_tree(const struct profile *p, const struct query *q, struct tree *out);
/* Bottom up, as query_tree: below the root are the functions that executed, and a node's children
 * are its callers. self: samples whose stack begins here. */
int query_callers(const struct profile *p, const struct query *q, struct tree *out);

/* One of the two for a view of rows: nodes of fewer samples than `least` may have no children, but
 * their totals are whole. *hottest: the node with the most samples of its own; 0: it was left out,
 * or the tree is bottom up. */
int query_rows(const struct profile *p, const struct query *q, bool callers, double least,
	       struct tree *out, uint32_t *hottest);

/*
 * A tree of which only a part is seen. It begins with the root. `grow`, which is called once, asks
 * for the children of the nodes that shall have any; a result other than 0 is handed on.
 */
struct tree_part;
int query_part(const struct profile *p, const struct query *q, bool callers,
	       int (*grow)(struct tree_part *part, void *arg), void *arg, struct tree *out);
/* The node has its children from now on, sorted, numbered one after another and linked. -ENOMEM. */
int query_part_children(struct tree_part *part, uint32_t node);
/* The nodes so far; valid until the next query_part_children. */
const struct tree *query_part_tree(const struct tree_part *part);

struct match_cache;
struct query_found {
	uint64_t samples; /* each once, however many frames of its stack pass */
	uint32_t nodes;
};

/* What passes at and below a node of the part, also where the part has no nodes. -ENOMEM. */
int query_part_found(const struct tree_part *part, uint32_t node, const struct match_cache *funcs,
		     struct query_found *found);

/* Cells weighed by the query, for writers that need whole stacks (folded). fn returns non-zero to
 * stop; the value is handed on. */
int query_cells(const struct profile *p, const struct query *q,
		int (*fn)(const struct profile_cell *cell, void *arg), void *arg);

/* Owners that put processes of the same text together; the caller frees them. -ENOMEM. */
int query_owners(const struct profile *p, const char *(*text)(const struct profile_proc *proc),
		 uint32_t **owners);

/* Which functions or processes pass, by id, for a sieve. */
struct match_cache {
	uint64_t *hash; /* of the function that was judged */
	bool *pass;
	uint32_t count, room;
};

/* A zeroed struct is none. */
void match_cache_free(struct match_cache *v);
/* Verdicts on all functions. Those that were judged before are not asked about again, also when
 * they are of another profile: free the verdicts when the opinion has changed. -ENOMEM. */
int query_judge_funcs(const struct profile *p, struct match_cache *v,
		      bool (*passes)(const struct profile_func *func, void *arg), void *arg);
/* Verdicts on all processes, anew. -ENOMEM. */
int query_judge_procs(const struct profile *p, struct match_cache *v,
		      bool (*passes)(const struct profile_proc *proc, void *arg), void *arg);

/* Samples weighed by the query, and seconds that they took. Shares are of those of the query
 * without its filter. */
uint64_t query_samples(const struct profile *p, const struct query *q, double *seconds);
#endif
