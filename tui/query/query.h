/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_QUERY_QUERY_H
#define STACKTOP_TUI_QUERY_QUERY_H

/*
 * Queries: which processes used the CPU, in which functions, on which call paths. Screens and
 * reports share them, so they cannot disagree. All calls need profile_lock. Results are copies and
 * stay valid until freed, but an id in them is valid only while the lock is held: look it up again
 * later (the getters of profile.h return NULL when it is gone).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/profile/profile.h"

/* Which samples pass; members that are NULL or 0 let all pass. The caller keeps it during the
 * query. */
struct sample_filter {
	const bool *procs; /* by process id */
	uint32_t nprocs;   /* size of procs; ids beyond it do not pass */
	uint32_t tid;	   /* one thread only; needs query.threads */
	const bool *cpus;  /* by CPU number + 1; needs query.threads or query.cpus */
	uint32_t ncpus;	   /* size of cpus; CPUs beyond it do not pass */
	const bool *funcs; /* by function id: a shown frame must be one of these */
	uint32_t nfuncs;   /* size of funcs */
	bool without;	   /* inverts funcs: no shown frame may be one of these */
};

/* Which frames of a user stack are shown that has frames of an interpreted language. Other stacks
 * are shown as they are. */
enum frames_mode {
	FRAMES_MERGED,	 /* not those of the interpreter (FUNC_EVAL), in whose place those stand */
	FRAMES_ALL,	 /* every one */
	FRAMES_LANGUAGE, /* those of the language, and why the walk ended early */
};

#define FRAMES_MODES 3

/* "merged", "all", "language". */
const char *query_frames_name(enum frames_mode mode);
/* False: there is no mode of that name. */
bool query_frames_parse(const char *name, enum frames_mode *mode);

struct query {
	enum span span;
	uint32_t proc;	  /* id, or QUERY_ALL */
	bool hide_kernel; /* leave kernel frames out: their samples count for the user frame */
	bool hide_user;	  /* leave user frames out: samples without kernel frames vanish */
	bool hide_inline; /* inlined calls count for the function that they are in */
	enum frames_mode frames;
	/* query_funcs returns a row for each module, which counts for all of its functions; an end
	 * of a walk, and what has no module, has its own. See func_row. */
	bool by_module;
	/* Tell threads apart. Works while the slices of the span are kept: sums merge threads. */
	bool threads;
	bool cpus;   /* tell CPUs apart, likewise */
	bool by_cpu; /* query_procs returns a row for each CPU; needs cpus */
	/* By process id, for all ids: the process in whose row query_procs counts it; NULL: its
	 * own. See query_owners. */
	const uint32_t *owners;
	/* Trees top down begin with a level of processes, unless there is only one: of each whose
	 * text differs, if process_text is not NULL; owners agree with it then. A process whose
	 * text is NULL is one of its own. */
	bool by_process;
	const char *(*process_text)(const struct profile_proc *proc);
	const struct sample_filter *scope;  /* shares are of these samples; NULL: of all */
	const struct sample_filter *filter; /* which of them are counted; NULL: all */
	bool baseline; /* compare with SPAN_BASELINE instead of the time before */
	/* What "samples" are in all results: samples, or what the measure counts. */
	enum measure measure;
	bool both; /* query_cells: cells have their samples or waits and what these stand for */
};

#define PROC_HISTORY 60

struct proc_row {
	uint32_t proc;
	uint32_t tid; /* with query.threads; else 0 */
	uint32_t cpu; /* + 1, with query.by_cpu; proc is QUERY_ALL then; else 0 */
	uint64_t samples;
	uint64_t kernel_samples;
	uint64_t walks; /* user stacks walked */
	uint64_t complete;
	uint64_t locks[STACK_LOCKS];	/* by enum stack_lock */
	double cpu_percent;		/* of one CPU: samples / frequency / seconds of the span */
	double rate;			/* samples a second */
	uint32_t hottest;		/* func id with the most self samples, or UINT32_MAX */
	uint16_t history[PROC_HISTORY]; /* samples, or ms, of the last slices, oldest first; 0 for a
					   slice that is gone, see query_history_kept */
	double before_cpu;		/* cpu_percent of the baseline; < 0: not compared */
	uint64_t before_samples;	/* of the baseline */
	double full, before_full;	/* samples that are 100 % of cpu_percent and before_cpu */
};

#define QUERY_NONE UINT32_MAX

struct func_row {
	uint32_t func; /* by_module: one of the module's, the same for all rows and callers */
	uint64_t self;
	uint64_t total; /* a sample counts once, also in recursion */
	/* self and all samples, in the equally long time before or in the baseline, all of whose
	 * functions have rows; before_of 0: none, or only a part of that time is there */
	uint64_t before, before_of;
	uint32_t
		caller; /* func id: called it in most of the samples that ended in it; QUERY_NONE */
};

struct end_row { /* walks of a process with the same end */
	uint32_t proc;
	uint32_t end;	/* func id of the reason; QUERY_NONE: complete */
	uint32_t last;	/* func id of the outermost frame that was reached; QUERY_NONE: none */
	uint64_t place; /* of that frame, in the stack with most samples (profile_stack.place) */
	uint64_t samples;
};

struct tree_node {     /* node 0 is the root, which has no function */
	uint32_t func; /* QUERY_NONE: the node is the process of that id */
	uint32_t proc;
	uint32_t parent;
	uint32_t first_child; /* 0: none; children by total, descending */
	uint32_t next;	      /* sibling, 0: none */
	uint32_t nchildren;
	uint64_t self;
	uint64_t total;
	uint64_t before; /* total of the baseline, all of whose nodes are there */
	/* Hash of process and functions from the root: identifies the node in every refresh. With
	 * query.by_process and one process, the root has the path that the process would have. */
	uint64_t path;
};

struct tree {
	struct tree_node *nodes;
	uint32_t count;
};

/* Rows are unsorted; the caller frees *rows. -ENOMEM. With query.threads, query_procs returns a row
 * for each thread. */
int query_procs(const struct profile *p, const struct query *q, struct proc_row **rows,
		size_t *count);
int query_funcs(const struct profile *p, const struct query *q, struct func_row **rows,
		size_t *count);
/* How many slices the history of a row covers; the last entries of it are valid. */
size_t query_history_kept(const struct profile *p, enum span span);

struct cpu_row { /* a process, or a thread, on a CPU */
	uint32_t proc;
	uint32_t tid; /* with query.threads; else 0 */
	uint32_t cpu; /* + 1; 0: not known */
	uint64_t samples;
};

/* On which CPUs processes ran, or threads with query.threads. Sorted by process, thread, and
 * samples, the most first; the caller frees *rows. Needs query.cpus. -ENOMEM. */
int query_cpus(const struct profile *p, const struct query *q, struct cpu_row **rows,
	       size_t *count);
/* True if any sample of the span has a CPU. */
bool query_knows_cpus(const struct profile *p, enum span span);
/* True if the slices of the span are kept. Only they tell CPUs and threads apart. */
bool query_keeps_slices(const struct profile *p, enum span span);
/* One more than the highest CPU number + 1 that was ever sampled; 0: none. */
uint32_t query_ncpus(const struct profile *p);
/* How walks ended, for the samples that pass the filter. Ignores what the query hides. */
int query_ends(const struct profile *p, const struct query *q, struct end_row **rows,
	       size_t *count);
/*
 * Top down, a node's children are its callees. Bottom up (callers), the root's children are the
 * functions that executed, and a node's children its callers; self: samples whose stack begins
 * there. Nodes of fewer samples than `least` may have no children, but their totals are complete.
 * Beyond 200,000 nodes the rarest paths count for their parents. *hottest: the node with the most
 * samples of its own; 0: that node was left out, or the tree is bottom up. The caller frees
 * out->nodes. -ENOMEM.
 */
int query_rows(const struct profile *p, const struct query *q, bool callers, double least,
	       struct tree *out, uint32_t *hottest);

/*
 * A tree of which only a part is needed. It starts with the root alone. `grow` is called once and
 * asks for the children of the nodes it needs; query_part returns its result if that is not 0.
 */
struct tree_part;
int query_part(const struct profile *p, const struct query *q, bool callers,
	       int (*grow)(struct tree_part *part, void *arg), void *arg, struct tree *out);
/* Adds the children of the node: sorted, linked, with consecutive numbers. -ENOMEM. */
int query_part_children(struct tree_part *part, uint32_t node);
/* The nodes so far; valid until the next query_part_children. */
const struct tree *query_part_tree(const struct tree_part *part);

struct match_cache;
struct query_found {
	uint64_t samples; /* a sample counts once, however many of its frames match */
	uint32_t nodes;
};

/* What matches at and below a node, also where the part has no nodes. -ENOMEM. */
int query_part_found(const struct tree_part *part, uint32_t node, const struct match_cache *funcs,
		     struct query_found *found);

/* Whether the frame of the stack is shown. Whatever reads stacks has to ask, to agree with queries;
 * frames of the kernel and of the user are hidden in cells instead (query_cells). */
bool query_shows_frame(const struct profile *p, const struct query *q,
		       const struct profile_stack *stack, uint32_t frame);

/* Samples of the query in the slice of that number, whatever its span is, and adds the cells that
 * were looked at to *cells. False: the slice is gone. */
bool query_slice_samples(const struct profile *p, const struct query *q, uint64_t slice,
			 uint64_t *samples, size_t *cells);

/* Calls fn for each cell of the query, for writers that need whole stacks (folded). A result other
 * than 0 stops it and is returned. */
int query_cells(const struct profile *p, const struct query *q,
		int (*fn)(const struct profile_cell *cell, void *arg), void *arg);

/* The same of the slice of that number, whatever the span is. -ENOENT: the slice is gone. */
int query_slice_each(const struct profile *p, const struct query *q, uint64_t slice,
		     int (*fn)(const struct profile_cell *cell, void *arg), void *arg);

/* Where the time of a process's threads went, or of one, in us; by enum wait_cause. */
struct time_row {
	uint32_t proc;
	uint32_t tid; /* with query.threads; else 0 */
	uint64_t us[WAIT_CAUSES];
	uint64_t all; /* their sum */
};

/* Sorted by process and thread. Whatever the query's measure is, and without its hiding and
 * filters of functions; empty where waits are not followed. The caller frees *rows. -ENOMEM. */
int query_times(const struct profile *p, const struct query *q, struct time_row **rows,
		size_t *count);
/* NULL: there is none. */
const struct time_row *time_row_find(const struct time_row *rows, size_t count, uint32_t proc,
				     uint32_t tid);
/* The cause that most of the time off a CPU went to; WAIT_NONE: there was none. */
enum wait_cause time_row_largest(const struct time_row *row);

/* Of one slice: us by cause, of what the query's scope and process let pass; see query_times. Adds
 * the cells that were looked at to *cells. False: the slice is gone. */
bool query_slice_times(const struct profile *p, const struct query *q, uint64_t slice,
		       uint64_t us[WAIT_CAUSES], size_t *cells);

/* Long waits for the same thing of the same process. */
struct wake_group {
	uint32_t proc;
	uint32_t what;	  /* func id: a FUNC_LOCK, else a FUNC_WAIT */
	uint32_t threads; /* that have waited; 0: threads are not known */
	uint64_t us, waits;
	uint32_t first, npairs; /* its pairs, the longest time first */
};

/* ... which began and ended at the same places. */
struct wake_pair {
	uint32_t ustack, kstack; /* of the one that waited; kstack goes on with who woke it */
	uint64_t us, waits;
};

/*
 * Long waits (MEASURE_WAKES, whatever the query's measure is), the longest time first. The caller
 * frees *groups and *pairs. -ENOMEM.
 */
int query_wakes(const struct profile *p, const struct query *q, struct wake_group **groups,
		size_t *ngroups, struct wake_pair **pairs);

/* The samples of each process into (*samples)[*count], by id; the caller frees it. -ENOMEM. */
int query_proc_samples(const struct profile *p, const struct query *q, uint64_t **samples,
		       size_t *count);

/* Owners (query.owners) that merge processes of the same text, if it is not NULL; the caller frees
 * them. -ENOMEM. */
int query_owners(const struct profile *p, const char *(*text)(const struct profile_proc *proc),
		 uint32_t **owners);

/* Which functions or processes match, by id, for a sample_filter. */
struct match_cache {
	uint64_t *hash; /* of the function that was asked about */
	bool *pass;
	uint32_t count, room;
};

/* A zeroed struct is an empty cache. */
void match_cache_free(struct match_cache *v);
/* Fills the cache for all functions. A function is asked about once, also across profiles: free the
 * cache when the criterion changes. -ENOMEM. */
int query_judge_funcs(const struct profile *p, struct match_cache *v,
		      bool (*passes)(const struct profile_func *func, void *arg), void *arg);
/* Fills the cache for all processes, and asks about each again; passes may be NULL: none does.
 * -ENOMEM. */
int query_judge_procs(const struct profile *p, struct match_cache *v,
		      bool (*passes)(const struct profile_proc *proc, void *arg), void *arg);

struct butterfly_row {
	uint32_t func; /* QUERY_NONE: of callers, it had none; of callees, it was itself running */
	uint64_t samples;
	uint64_t before; /* of the baseline, all of whose rows are there */
};

/* A function between its callers and its callees, each the most frequent first. */
struct butterfly {
	uint64_t total, self; /* a sample counts once, also in recursion */
	uint64_t recursive;   /* samples with the function on the stack more than once */
	uint64_t before;      /* total of the baseline */
	struct butterfly_row *callers, *callees;
	size_t ncallers, ncallees;
};

/*
 * The callers and callees of the functions in the cache, which is filled for all functions and
 * usually has one that passes. In recursion the caller is that of the outermost call, the callee
 * that of the innermost: the rows of either side add up to the total. The caller frees *out by
 * butterfly_free. -ENOMEM.
 */
int query_butterfly(const struct profile *p, const struct query *q,
		    const struct match_cache *middle, struct butterfly *out);
/* A zeroed struct is fine. */
void butterfly_free(struct butterfly *b);

/*
 * Copies the cells of the query into a profile of one slice, which has ids of its own, to be
 * written to a file while sampling goes on. The caller holds p's lock and frees *out by
 * profile_free. -ENOMEM.
 */
int profile_copy_new(struct profile **out, const struct profile *p, const struct query *query);

/* What 100 % are of the cpu_percent of a row: a CPU, or a thread, during all of the time. */
double query_full(const struct query *q, const struct profile_health *health);
/* Samples of the query, and the seconds that its span covers. For shares, divide by those of the
 * query without its filter. */
uint64_t query_samples(const struct profile *p, const struct query *q, double *seconds);

#endif
