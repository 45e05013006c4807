/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_RESOLVER_H
#define STACKTOP_TUI_SYMBOLIZE_RESOLVER_H

/*
 * Turns the addresses of a stack into functions of the profile. Symbol tables are read when a stack
 * first needs them, and dropped when there are too many. Used by one thread, which does not hold
 * the profile's lock: names are looked up without it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct inspection;
struct ksyms;
struct language_stack;
struct object;
struct profile;
struct remotedebug;
struct resolver;
struct stack_record;
struct tracker;
struct tracker_exec;

/*
 * Nothing is owned; all must outlive the resolver. debug_memory: bytes of debug information that
 * the thread that looks for inlined calls may hold; 0: there is no such thread. -ENOMEM, or what
 * pthread_create says.
 */
int resolver_new(struct profile *profile, struct tracker *tracker, struct ksyms *ksyms,
		 size_t debug_memory, struct resolver **out);
void resolver_free(struct resolver *r);
/* Fetches debug files that are not on this machine; not owned. */
void resolver_set_remote(struct resolver *r, struct remotedebug *remote);

#define RESOLVER_JIT "[jit]" /* code made by a process that nothing describes */

/* See modules_wait_until. */
void resolver_wait_until(struct resolver *r, uint64_t until);

/* Why a stack may have better names later. */
struct resolver_doubt {
	bool vague;	    /* an address lay in no mapping that the tracker knows yet */
	bool closed;	    /* the file of an address is closed, and was asked for */
	bool waits;	    /* the file of an address is still being read */
	uint32_t languages; /* of which it has frames: 1 << enum func_kind */
	uint64_t jit; /* with code made by the process: resolver_jit_version then; 0: without */
	uint64_t files, changes; /* its files, and the changes of files until then; for
				    resolver_files_changed */
};

/*
 * The stack of a record as a profile stack, with a reference that the caller gives back. language:
 * the frames of a language in it; NULL: there are none. -ENOMEM.
 */
int64_t resolver_user(struct resolver *r, const struct stack_record *rec,
		      const struct language_stack *language, struct resolver_doubt *doubt);
/*
 * Source places of the frames of the stack that resolver_user made last, outermost first, to be
 * kept for resolver_count_lines. *count is 0 if there are none. Valid until the next resolver_user.
 */
const uint32_t *resolver_places(const struct resolver *r, uint32_t *count);
/*
 * Counts so many samples of that stack for the known source lines of its functions. The profile's
 * lock is held. -ENOMEM.
 */
int resolver_count_lines(const struct resolver *r, uint32_t stack, const uint32_t *places,
			 uint32_t n, uint64_t count);
/* A new user stack arrived, to be named later: secures what may be gone by then. */
void resolver_seen(struct resolver *r, const struct stack_record *rec);
/* The version of the names that the process reported for its own code. */
uint64_t resolver_jit_version(struct resolver *r, const struct tracker_exec *of);
/* True if files of a doubt have been written in place since, or are stable again. */
bool resolver_files_changed(const struct resolver *r, uint64_t files, uint64_t changes);
/* After the samples of a slice are counted, before they are named. */
void resolver_look(struct resolver *r);
/* How often debug files came for files with names that were already given. */
uint64_t resolver_debug_files(const struct resolver *r);
int64_t resolver_kernel(struct resolver *r, const struct stack_record *rec);
/*
 * The function that a record's frame is in: its file, with a reference for object_put, the address
 * to look up for the frame, and the function's start. -ENOENT: in no file that is open; -ENOMEM.
 */
int resolver_function(struct resolver *r, const struct tracker_exec *of, uint64_t frame,
		      struct object **object, uint64_t *vaddr, uint64_t *start);
/*
 * The same for an address in the kernel, where a function of that name was: it begins at *start
 * and ends at *end, 0: not known. generation: stack_record.kernel_code. -ENOENT: another one is
 * there now.
 */
int resolver_kernel_function(struct resolver *r, uint64_t addr, uint64_t generation,
			     const char *name, uint64_t *start, uint64_t *end);
/*
 * The same for a frame in code that the process made, of that name: the address in its memory, and
 * where its code begins and ends, 0: nothing describes it. -ENOENT: other code is there now.
 * told: the stack itself had the name, so what nothing describes may be its code.
 */
int resolver_jit_function(struct resolver *r, const struct tracker_exec *of, uint64_t frame,
			  const char *name, bool told, uint64_t *addr, uint64_t *start,
			  uint64_t *end);
/*
 * The name of the code at an address of the process, "+0x10" behind it where that is not its
 * beginning. False: it has none.
 */
bool resolver_name(struct resolver *r, const struct tracker_exec *of, uint64_t addr, char *to,
		   size_t room);
/*
 * Names the frames of a captured walk. language: the frames of a language in it, and proofs, a
 * STACK_PROOFS, what has placed them; NULL: none. -ENOMEM.
 */
int resolver_inspection(struct resolver *r, struct inspection *inspection,
			const struct language_stack *language, const struct stack_record *proofs);
/* A stack for lost frames, with a reference as above. */
int64_t resolver_lost(struct resolver *r, bool kernel);

/*
 * Gives the profile's stacks the inlined calls that became known since; true if there were any.
 * wait: ns to wait for those that are not known yet.
 */
bool resolver_settle(struct resolver *r, uint64_t wait);

/*
 * Between two slices: drops the least recently used symbol tables if there are too many, and those
 * with debug files that have been installed.
 */
void resolver_trim(struct resolver *r);
/* See modules_rest. */
void resolver_rest(struct resolver *r);

#endif
