/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_COLLECTOR_H
#define STACKTOP_TUI_COLLECT_COLLECTOR_H

/* The source that samples this machine and resolves names, in its own threads. */

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define COLLECTOR_DELAY_MIN 0.1 /* seconds */
#define COLLECTOR_DELAY_MAX 3600.0

struct child;
struct collector;
struct event;
struct profile;
struct source;

struct collector_options {
	const struct event *event;
	unsigned int frequency; /* Hz */
	double delay;		/* seconds between slices */
	bool by_cpu;
	bool waits;		 /* follow threads through their waits */
	unsigned int least_wait; /* us; shorter waits are only summed up */
	bool no_kernel, no_user, no_inline;
	const unsigned int *cpus; /* NULL: every online CPU */
	size_t ncpus;
	const pid_t *pids; /* only these; NULL: every process */
	size_t npids;
	const regex_t *comm; /* only processes of such a name; NULL: any */
	bool user_given;
	uid_t user;
	const char *cgroup;	   /* NULL: any */
	const char *container;	   /* NULL: any, or none */
	unsigned int tables;	   /* MiB of unwind tables */
	unsigned int debug_memory; /* MiB of debug information */
	bool debuginfod;
	const char *record;	 /* a session to write; NULL: none */
	const char *program;	 /* of the command, for messages; NULL: none */
	unsigned int iterations; /* slices until the end; 0: until it is stopped */
	bool calm;		 /* see tracker_calm */
	bool batch;		 /* each slice waits for a SOURCE_NEXT */
	bool prompt;		 /* batch: slices are not longer for names that come late */
	bool screenshot;	 /* goes on after the last slice */
	bool aside;		 /* do not let a screen wait for what takes long at the start */
};

/*
 * Loads the programs and prepares to sample; command: the child of `-- COMMAND` (NULL: none).
 * Nothing is owned; all must outlive the collector. On failure *out is NULL and error says what is
 * missing and what to do. source_free() of its source ends it.
 */
int collector_new(struct profile *p, const struct collector_options *options, struct child *command,
		  struct collector **out, char *error, size_t size);
/*
 * Begins to sample, and releases the command: -errno if that cannot be run. Signals are blocked in
 * the threads that it makes. error as above. With options->aside the collector's thread does both,
 * loading and beginning, and this waits for it for a moment only; if it fails after that, the
 * source finishes, and says why.
 */
int collector_start(struct collector *collector, char *error, size_t size);
/* The collector as screens and reports see it. */
struct source *collector_source(struct collector *collector);

#endif
