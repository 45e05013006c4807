/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_COLLECTOR_PRIV_H
#define STACKTOP_TUI_COLLECT_COLLECTOR_PRIV_H

/* The collector and the interface between its parts. For collector*.c only. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/tracker/tracker.h"
#include "symbols/base/message.h"
#include "symbols/elf/remotedebug.h"
#include "tui/collect/accounting.h"
#include "tui/collect/collector.h"
#include "tui/collect/cputimes.h"
#include "tui/collect/procwatch.h"
#include "tui/profile/source.h"
#include "tui/profile/profile.h"

#define EARLY_MAX 32u /* more are not typed in half a second */

struct annotator;
struct ksyms;
struct mutes;
struct procinfo;
struct resolver;
struct session_writer;
struct stackcache;
struct threadbook;

/* Commands that came before there was anything that could execute them. */
struct early {
	pthread_mutex_t lock;
	bool over;
	unsigned int count;
	struct early_command {
		enum source_command command;
		char arg[256];
	} commands[EARLY_MAX];
};

struct collector {
	struct source source;
	struct profile *profile;
	const struct collector_options *options;
	struct child *command;
	struct sampler *sampler;
	struct tracker *tracker;
	struct ksyms *ksyms;
	struct remotedebug *remote; /* NULL: not wanted, or not there */
	struct resolver *resolver;
	struct stackcache *stacks;
	struct annotator *annotator; /* NULL: there is no screen */
	struct procinfo *procs;
	struct threadbook *threads;
	struct mutes *mutes;
	struct session_writer *record; /* NULL: not asked for, or it has failed */
	int record_error;	       /* -errno that ended it early */
	bool record_untold;	       /* it was set after the last report */
	struct tracker_filter filter;
	unsigned int shards_max;
	uint64_t locked; /* bytes of the maps, before there are shards */

	pthread_t thread;
	bool running;
	atomic_bool began;	   /* or has failed to */
	struct early early;	   /* commands until then */
	int wake;		   /* of the thread */
	_Atomic uint64_t period;   /* ns */
	_Atomic uint64_t reported; /* slices so far; limits a batch run */
	atomic_bool stop, finish;
	_Atomic(const struct event *)
		wish;	    /* event that was asked for; NULL: keep the current one */
	atomic_bool by_cpu; /* rows per CPU were asked for */
	atomic_bool waits;  /* threads are to be followed */

	/* of the thread */
	const struct event *sampled;
	bool events_tried;
	uint64_t slice_start;
	uint64_t self_before;
	struct accounting books;
	struct cputimes cputimes;
	struct cpu_use use[CPU_USE_MAX]; /* of the slice that ends */
	uint64_t sideband_before;
	uint64_t evictions_before;
	struct profile_cell *cells;
	size_t cells_room;
	int failed;			  /* the last slice's error, told once */
	struct capture_record *captured;  /* to be inspected; NULL: none */
	struct stack_record *proofs;	  /* STACK_PROOFS that came before it; NULL: none */
	struct procwatch watch;		  /* of the process that is to be inspected */
	bool apart;			  /* samples are counted per CPU */
	bool follows;			  /* threads are followed, or cannot be */
	bool unwatched;			  /* it was reported that a CPU cannot be sampled */
	unsigned int ncpus;		  /* most CPUs that were sampled at a time in this slice */
	struct remotedebug_state fetched; /* as last reported */
	const char *ksyms_trouble;	  /* as last reported */
};

/* The collector that the source belongs to. */
static inline struct collector *collector_of(const struct source *source)
{
	return (struct collector *)((uintptr_t)source - offsetof(struct collector, source));
}

/* Reports come on time, with the names that are known by then, but for the last one. */
static inline bool collector_is_prompt(const struct collector *c)
{
	return c->options->batch && c->options->prompt && !c->options->record &&
	       c->options->iterations != 1;
}

/* So many ns, but not more than an interval. */
static inline uint64_t collector_bounded(const struct collector *c, uint64_t ns)
{
	uint64_t interval = (uint64_t)(c->options->delay * 1e9);

	return interval < ns ? interval : ns;
}

/* Adds a message to the profile. */
void collector_say(struct collector *c, enum message_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* --- collector_slice.c, called by the collector's thread -----------------------------------------
 */

/* The first slice begins now. */
void collector_begin_slice(struct collector *c);
/* Empties the ring of stacks in the middle of a slice. */
void collector_read_stacks(struct collector *c);
/*
 * Ends the slice and commits it; a failure is reported, and its samples count as lost. last:
 * sampling has stopped, so that the figures must add up.
 */
void collector_end_slice(struct collector *c, bool last);

/* Reports CPUs that come and go. */
void collector_watch_cpus(struct collector *c);
/*
 * Takes an inventory if a view shows the shards, and now and then for a recording. Without memory
 * the previous one stays.
 */
void collector_take_inventory(struct collector *c);
/* Hands the walk that SOURCE_INSPECT asked for to the profile, if it has arrived. */
void collector_inspect(struct collector *c);

/* --- collector_post.c ----------------------------------------------------------------------------
 */

/* source_post(), from any thread. */
void collector_post(struct source *source, enum source_command command, const char *arg);
/* All parts are there: executes what was posted before. */
void collector_post_early(struct collector *c);
/* Between two refreshes; from any thread. */
void collector_set_period(struct collector *c, double seconds);
/* Notes on the board which events could be chosen; once, behind the first slice. */
void collector_try_events(struct collector *c);
/*
 * By the collector's thread, before a slice ends: the event that was asked for, which takes over
 * after it, with the sampling stopped. NULL: none, or none that this machine has.
 */
const struct event *collector_next_event(struct collector *c);
void collector_change_event(struct collector *c, const struct event *event);
/* Applies a change of waits; by the collector's thread. */
void collector_follow_waits(struct collector *c);
/* Applies a change of by_cpu; by the collector's thread. */
void collector_tell_cpus_apart(struct collector *c);

#endif
