/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_SESSION_NAMES_H
#define STACKTOP_TUI_SESSION_SESSION_NAMES_H

/*
 * What the slices of a session refer to: functions, stacks, processes, threads, modules
 * (docs/SESSION.md, Definitions). Whatever the input, at most SESSION_NAMES_MAX bytes are used and
 * every text is clean.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/profile/profile.h"
#include "tui/session/session.h"

#define SESSION_NAMES_MAX  ((size_t)512 << 20)
#define SESSION_NAMES_NONE UINT32_MAX

struct cursor;
struct session_names;

/* NULL: no memory. */
struct session_names *session_names_new(void);
void session_names_free(struct session_names *names);

/*
 * Takes the records of a chunk; slice is the number of the next one. -EBADMSG or -ENOMEM: what was
 * taken before stays, and the rest of the session cannot be read.
 */
int session_names_take(struct session_names *names, struct cursor *c, uint32_t slice);
/* Bytes used of SESSION_NAMES_MAX. */
size_t session_names_bytes(const struct session_names *names);

struct session_counts { /* how many there are so far */
	uint32_t funcs, stacks, procs, changes, lines, modules;
};

struct session_counts session_names_counts(const struct session_names *names);
/* Ids as in slices. Valid until more is taken. */
struct profile_func session_names_func(const struct session_names *names, uint32_t id);
struct profile_stack session_names_stack(const struct session_names *names, uint32_t id);

/*
 * The process at the end of a slice; false: it was not known then. exit_time is ns since the start
 * of the session. Fastest if slices are asked for in order.
 */
bool session_names_proc(struct session_names *names, uint32_t id, uint32_t slice,
			struct profile_proc *out);
/* Its PID alone; -1: it was not known then. */
int64_t session_names_pid(struct session_names *names, uint32_t id, uint32_t slice);
/*
 * Each appearance or change of a process has a number, from 0 in the order of the file. Returns the
 * id of the process.
 */
uint32_t session_names_change(const struct session_names *names, uint32_t number);

/*
 * The record of what was in the shards (SESSION_INVENTORY) or the last captured walk (SESSION_WALK)
 * at the end of a slice: its number, only for comparison, and its content; SESSION_NAMES_NONE.
 */
uint32_t session_names_state(const struct session_names *names, enum session_record type,
			     uint32_t slice, struct cursor *content);

struct session_line { /* the hottest line of a function, from some slice on */
	uint32_t func;
	unsigned int line;
	const char *file; /* valid until more is taken */
};

/* Numbers from 0 in the order of the file. */
struct session_line session_names_line(const struct session_names *names, uint32_t number);

struct session_thread {
	uint32_t tid;
	char comm[16];
	uint32_t slice; /* first one with this name */
	uint32_t next;	/* number of the process's next thread, of this or a later slice */
};

/* Number of the first thread of a process with a name of its own; SESSION_NAMES_NONE. */
uint32_t session_names_first_thread(const struct session_names *names, uint32_t proc);
struct session_thread session_names_thread(const struct session_names *names, uint32_t number);

/* Build-ids of modules, in the order in which profile_module takes them. */
void session_names_module(const struct session_names *names, uint32_t number, const char **module,
			  const char **build);

#endif
