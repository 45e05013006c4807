/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_FEED_H
#define STACKTOP_TESTS_SUPPORT_FEED_H

/* Short ways to feed a profile, for the tests of the model, the queries and the reports. */

#include "tui/profile/profile.h"

#define NS 1000000000ull

/* The profile's own: "[folded away]" as a function and as three stacks, another of both for who
 * ended waits, one for each cause of a wait and one for each time, and a process. */
#define OWN_FUNCS  (2 + 2 * WAIT_CAUSES)
#define OWN_STACKS (4 + 2 * WAIT_CAUSES)
#define OWN_PROCS  1

uint32_t feed_proc(struct profile *p, pid_t pid, uint64_t image, const char *comm, bool exited);

uint32_t feed_func(struct profile *p, enum func_kind kind, const char *name);

uint32_t feed_stack(struct profile *p, bool kernel, bool complete, const uint32_t *frames,
		    uint32_t nframes);

/* A stack from names such as "main;work;leaf". */
uint32_t feed_names(struct profile *p, bool kernel, const char *names);

/* A stack from "function@module", outermost first, separated by ';'. '!' begins an end, 'k:' a
 * function of the kernel, 'inline:', 'jit:', 'eval:', 'py:', 'php:', 'pl:', 'rb:', 'js:' and
 * 'java:' others, and 'wait:', 'time:', 'lock:' and 'waker:' what a kernel stack has of waits.
 * "=N;" in front: enum stack_lock. place: see struct profile_stack. */
uint32_t feed_frames(struct profile *p, const char *frames, uint64_t place);

int feed_commit(struct profile *p, const struct profile_cell *cells, size_t ncells);

/* xorshift64*: the same numbers on every machine. */
uint32_t feed_random(uint64_t *state, uint32_t below);

#endif
