/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_PROCGROUPS_H
#define STACKTOP_TUI_VIEWS_PROCGROUPS_H

/*
 * Which processes a row of Procs counts together: those of one program, container or user, and
 * those that have exited. Processes that end all the time would fill the list with rows of which
 * none says anything, so the exited ones of one program are one row, and so are the programs of
 * which less than 20 samples are left.
 */

#include "tui/query/query.h"
#include "tui/ui/ui.h"

/* Also of processes that were gone before /proc was read for them. */
#define PROCGROUPS_NO_USER "user not known"
#define PROCGROUPS_NO_UNIT "no container or unit known"

#define PROCGROUPS_FEW 20 /* samples; fewer say little */

struct procgroups {
	uint32_t *owners;  /* by process id: the one in whose row it counts */
	uint32_t *members; /* by that one: processes with samples in its row */
	bool *folded;	   /* by that one: the row is of processes that have exited */
	bool *mixed;	   /* by that one: of several programs */
	uint64_t *samples; /* by process id */
	size_t count;	   /* of all of these */
};

/* A zeroed struct is empty. */
void procgroups_free(struct procgroups *g);
/*
 * Forms the groups of ui->grouping (not GROUP_CPU) for the samples of the query. `keep` says of an
 * exited process that it stays a row of its own; NULL: none does. The profile's lock is held.
 * -ENOMEM.
 */
int procgroups_make(struct procgroups *g, const struct ui *ui, const struct profile *p,
		    const struct query *q, bool unfolded,
		    bool (*keep)(const struct profile_proc *proc, const void *arg),
		    const void *arg);
/* Makes *proc, which owns the row, what the row shows: a group looks like a process that has its
 * name. */
void procgroups_name(const struct procgroups *g, const struct ui *ui, const struct profile *p,
		     uint32_t owner, struct profile_proc *proc);
/* The text that the process is grouped by. */
const char *procgroups_text(const struct ui *ui, const struct profile_proc *proc);
/* True: it has exited by the time that is shown. */
bool procgroups_exited(const struct ui *ui, const struct profile_proc *proc);

#endif
