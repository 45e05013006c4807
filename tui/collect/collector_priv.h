/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_COLLECTOR_PRIV_H
#define STACKTOP_TUI_COLLECT_COLLECTOR_PRIV_H

/*
 * The engine that samples, and what its parts ask of each other. For engine*.c only, not for
 * source_base.c: a replay is another struct of the same name.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/tracker/tracker.h"
#include "symbols/elf/remotedebug.h"
#include "tui/collect/accounting.h"
#include "tui/profile/source_base.h"
#include "tui/profile/profile.h"

struct annotator;
struct capture_record;
struct command;
struct event;
struct ksyms;
struct options;
struct procinfo;
struct resolver;
struct sampler;
struct session_writer;
struct stackcache;

struct engine {
	struct engine_base base;
	struct profile *profile;
	const struct options *options;
	struct command *command;
	struct sampler *sampler;
	struct tracker *tracker;
	struct ksyms *ksyms;
	struct remotedebug *remote; /* NULL: not wanted, or not there */
	struct resolver *resolver;
	struct stackcache *stacks;
	struct annotator *annotator; /* NULL: there is no screen */
	struct procinfo *procs;
	struct session_writer *record; /* NULL: not asked for, or it has failed */
	int record_error;	       /* -errno that ended it early */
	bool record_untold;	       /* it came after the last report */
	struct tracker_filter filter;
	unsigned int shards_max;
	uint64_t locked; /* bytes of the maps, before there are shards */

	pthread_t thread;
	bool running;
	int event;		 /* something is to be seen */
	int wake;		 /* of the thread */
	_Atomic uint64_t period; /* ns */
	_Atomic uint64_t slices;
	_Atomic uint64_t reported; /* of them; counts in a batch run */
	atomic_bool stop, finish, finished;
	_Atomic(const struct event *) wish; /* what is to drive the sampling; NULL: as it is */
	atomic_bool by_cpu;		    /* CPUs are to be told apart */

	/* of the thread */
	const struct event *sampled;
	uint64_t slice_start;
	uint64_t self_before;
	struct books books;
	uint64_t sideband_before;
	uint64_t evictions_before;
	struct profile_cell *cells;
	size_t cells_room;
	int failed;			  /* the last slice's error, told once */
	struct capture_record *captured;  /* is to be looked at; NULL: none */
	bool apart;			  /* CPUs are told apart */
	bool unwatched;			  /* it was told that a CPU cannot be sampled */
	unsigned int ncpus;		  /* most that were sampled at a time in this slice */
	struct remotedebug_state fetched; /* as it was told of last */
	const char *ksyms_trouble;	  /* that was told */
};

/* Adds a message to the profile; arg is the engine, level an enum message_level (a tracker_say). */
void engine_say(void *arg, int level, const char *text);

/* --- collector_slice.c, called by the collector's thread -----------------------------------------
 */

/* The first slice begins now. */
void engine_begin_slice(struct engine *e);
/* Empties the ring of stacks in the middle of a slice. */
void engine_read_stacks(struct engine *e);
/*
 * Ends the slice and commits it; what fails is told, and its samples become a loss. last: nothing
 * is sampled any more, so that the books come out even.
 */
void engine_end_slice(struct engine *e, bool last);

/* --- collector_watch.c, likewise -----------------------------------------------------------------
 */

/* CPUs come and go. */
void engine_watch_cpus(struct engine *e);
/* Takes an inventory if a view shows the shards, and now and then for a recording. Without memory
 * the previous one stays. */
void engine_take_inventory(struct engine *e);
/* Hands the walk that ENGINE_INSPECT asked for to the profile, if it has come. */
void engine_inspect(struct engine *e);
/* Tells of debug files: while they are fetched, and once when they have come. */
void engine_tell_of_fetching(struct engine *e);
/* Tells once of each trouble with the kernel's names. */
void engine_tell_of_ksyms(struct engine *e);

/* --- collector_post.c ----------------------------------------------------------------------------
 */

/* engine_post's, from any thread. */
void engine_live_post(struct engine *e, enum engine_command command, const char *arg);
/* Between two refreshes; from any thread. */
void engine_set_period(struct engine *e, double seconds);
/* Before a slice ends, by the collector's thread: the event that was asked for, which is to be
 * changed to after it, with the sampling stopped. NULL: none, or none that this machine has. */
const struct event *engine_next_event(struct engine *e);
void engine_change_event(struct engine *e, const struct event *event);
/* Sees to by_cpu, when it has changed; by the collector's thread. */
void engine_tell_cpus_apart(struct engine *e);

#endif
