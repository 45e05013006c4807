/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_FEEDER_PRIV_H
#define STACKTOP_TUI_SESSION_FEEDER_PRIV_H

/* For the files of the feeder only: feeder.c has the slices, feeder_names.c what they refer to. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/profile/profile.h"

struct session;
struct session_names;

#define FEEDER_NONE UINT32_MAX

struct feeder_proc { /* by the session's id */
	uint32_t id;
	uint32_t round;	 /* in which the id is valid */
	uint32_t thread; /* number of the last one that was fed; FEEDER_NONE */
	uint32_t books;	 /* in which the thread is valid */
};

/* What samples, since when. */
struct feeder_stretch {
	bool begun;
	bool cut; /* it ended, and what followed was not fed */
	char event[sizeof(((struct profile_health *)NULL)->event)];
	uint32_t first; /* slice */
};

struct feeder {
	struct profile *profile;
	struct session *session;
	struct session_names *names;
	uint32_t *funcs, *stacks; /* ids of the profile by those of the session; FEEDER_NONE */
	uint32_t *lines;	  /* by function: number of its latest line; FEEDER_NONE */
	struct feeder_proc *procs;
	uint32_t round, books;
	struct feeder_stretch stretch; /* that the profile is in */
	uint32_t inventory, walk;      /* number of the profile's current record; FEEDER_NONE */
	uint32_t warm;		       /* stacks up to here are in the profile */
	size_t memory;		       /* of the profile, for functions and stacks, which stay */
	struct profile_cell *cells;
	size_t cells_room;
	bool recorded; /* the profile's processes are of another time */
};

/*
 * Turns ids of the session into ids of the profile, which is locked; n: the slice that uses them.
 * -ENOMEM, or -EBADMSG.
 */

/* Lines that became known by slices from..to - 1; functions not in use yet get theirs later. */
int feeder_lines(struct feeder *f, uint32_t from, uint32_t to);
/* The reference is kept to the end, so that stack and functions keep their ids. */
int64_t feeder_stack(struct feeder *f, uint32_t id);
int feeder_cell(struct feeder *f, const struct profile_cell *cell, uint32_t n,
		struct profile_cell *out);
/* Processes that changed, even without a sample. */
int feeder_changes(struct feeder *f, uint32_t n);

#endif
