/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_PROCROWS_H
#define STACKTOP_TUI_VIEWS_PROCROWS_H

/*
 * The rows of Procs: one for each process, thread or group that was sampled, copied out of the
 * profile, judged by the filter, and put in order.
 */

#include "tui/ui/names.h"
#include "tui/query/query.h"

struct ui;

enum procs_column {
	PROCS_MARK,
	PROCS_PID,
	PROCS_USER,
	PROCS_THREADS,
	PROCS_CPU,
	PROCS_CHANGE,
	PROCS_HISTORY,
	PROCS_RATE,
	PROCS_CPUS,
	PROCS_KERNEL,
	PROCS_UNWOUND,
	PROCS_HOTTEST,
	PROCS_GROUP,
	PROCS_COMMAND,
	PROCS_COLUMNS,
};

struct procs_row {
	struct proc_row data; /* ids in it are not to be used */
	const struct profile_proc *proc;
	const struct profile_func *hottest; /* of names; NULL: none */
	char thread[16];		    /* name, of the row of a thread */
	char cpus[24];			    /* see bycpu_words; "": not known */
	bool kept;			    /* by the filter */
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
	bool threads; /* there are rows of them */
	bool cpus;    /* it is known where they ran */
	int past;     /* bars of the history that there are slices for, the last ones */
};

/* Does not free the names, which are the owner's. */
void procrows_free(struct procrows *rows);
/* Makes the rows again, unsorted. The profile's lock is held. -ENOMEM. */
int procrows_load(struct procrows *rows, struct ui *ui, const struct profile *p);
/* Sorts those that the filter keeps. */
void procrows_sort(struct procrows *rows, enum procs_column column, bool inverted);
/* What the process is summed up by. */
const char *procrows_group(const struct ui *ui, const struct profile_proc *proc);

#endif
