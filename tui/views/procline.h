/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_PROCLINE_H
#define STACKTOP_TUI_VIEWS_PROCLINE_H

/*
 * The rows of Procs: one for each process, thread or group that was sampled, copied out of the
 * profile, judged by the filter, and put in order.
 */

#include "tui/screen/columns.h"
#include "tui/query/query.h"
#include "tui/ui/names.h"
#include "tui/ui/ui.h"
#include "tui/views/procgroups.h"

struct plain_list;

enum procs_column {
	PROCS_MARK,
	PROCS_CPU,
	PROCS_CHANGE,
	PROCS_HISTORY,
	PROCS_KERNEL,
	PROCS_UNWOUND,
	PROCS_PID,
	PROCS_USER,
	PROCS_THREADS,
	PROCS_RATE,
	PROCS_STATE,
	PROCS_WAITS,
	PROCS_LOCK,
	PROCS_CPUS,
	PROCS_GROUP,
	PROCS_COMMAND,
	PROCS_HOTTEST,
	PROCS_COLUMNS,
};

struct procs_row {
	struct proc_row data; /* ids in it are not to be used */
	const struct profile_proc *proc;
	const struct profile_func *hottest; /* of names; NULL: none */
	struct time_row time;		    /* of all causes; all is 0: not known */
	char thread[16];		    /* name, of the row of a thread */
	char cpus[24];			    /* see bycpu_words; "": not known */
	bool kept;			    /* by the filter */
	bool group;			    /* counts for several processes */
	uint32_t members;		    /* of them with samples */
	pid_t only;			    /* if it is one: its PID */
	uint64_t only_image;
	/* In the tree of processes: see proctree.h. */
	uint32_t node, parent;
	uint16_t depth;
	uint64_t guides; /* levels of which another row follows, by bit */
	size_t below;	 /* rows of it and all below it, which come next */
	bool absent;	 /* it had no samples: its row is for those below it */
	/* Of a row of a thread: its process, which it stays below. Else the row's own. */
	const struct proc_row *whole;
	const struct profile_func *whole_hottest;
};

struct procrows {
	struct names *names;   /* the owner's */
	struct procs_row *row; /* to be freed; those that the filter keeps come first */
	size_t count, kept;
	/* What rows point to, in no order: of each process or group one. */
	struct profile_proc *procs;
	struct proc_row *wholes;
	size_t nprocs;
	struct procgroups groups; /* none for rows of CPUs */
	bool unfolded;		  /* each process that has exited is to have a row */
	/* Keeps its row whatever becomes of it. */
	pid_t pid;
	uint64_t image;
	bool tree;    /* of processes below their parents */
	bool threads; /* there are rows of them */
	bool cpus;    /* it is known where they ran */
	bool times;   /* ... and where the time of threads went */
	int past;     /* bars of the history that there are slices for, the last ones */
};

/* Does not free the names, which are the owner's. */
void procrows_free(struct procrows *rows);
/* Makes the rows again, unsorted. The profile's lock is held. -ENOMEM. */
int procrows_load(struct procrows *rows, struct ui *ui, const struct profile *p);
/* Sorts those that the filter keeps. */
void procrows_sort(struct procrows *rows, enum procs_column column, bool inverted);

/* A row; see procline.c. */

#define PROCLINE_SCROLL 8 /* characters that are scrolled at once */

/* What all rows are drawn by. */
struct procline {
	const struct ui *ui;
	int scroll;	   /* characters of commands, not counting the step that brings back a
			    * folder for which there was no room */
	double most;	   /* samples that a full block of a history means */
	int bars;	   /* of a history, the last ones; nothing is known of what was before */
	unsigned int cpus; /* of how many CPUs CPU% is a share */
};

/* A columns_cell_fn: of a struct procline, a struct procs_row, and enum procs_column. */
void procline_cell(const void *table, const void *row, int column, struct column_cell *cell);
/* Why there are no rows, and what to do. */
const char *procline_nothing(const struct ui *ui, const char **remedy);
/* The rows in words. */
void procline_plain(const struct procline *line, const struct procs_row *rows, size_t count,
		    const struct column *columns, enum procs_column sorted,
		    struct plain_list *list);

/*
 * The part of a command line that is drawn in that many cells. Without room for all of it the
 * folder of the program goes first: a reader of the list looks for the name. Scrolling begins with
 * the folder.
 */
const char *procline_command(const struct grid *g, const char *command, int scroll, int width);

#endif
