/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_TRACKER_PRIV_H
#define STACKTOP_BPF_TRACKER_TRACKER_PRIV_H

/*
 * The tracker's parts, each the type of one file, from the lowest to the highest: a part calls only
 * those before it. All are guarded by `lock`; tables are built and /proc/PID/maps is read without
 * it, but only the tracker thread changes processes during the latter.
 */

#include <dirent.h>
#include <stdatomic.h>

#include "bpf/tracker/builder.h"
#include "bpf/sampler/clock.h"
#include "bpf/tracker/evict.h"
#include "bpf/tracker/garbage.h"
#include "bpf/tracker/idlefile.h"
#include "bpf/tracker/mapping.h"
#include "bpf/tracker/maplist.h"
#include "bpf/tracker/notices.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/proctable.h"
#include "bpf/tracker/publish.h"
#include "bpf/tracker/runcode.h"
#include "bpf/tracker/runtimes.h"
#include "bpf/tracker/targets.h"
#include "bpf/tracker/tracker.h"
#include "bpf/tracker/turnlock.h"

struct sideband_event;

#define STRANGERS_MAX 256u

struct tracker {
	struct sampler *sampler;
	struct turnlock lock;
	bool stop;
	int wake_fd; /* eventfd: commands, finished tables, stop */
	struct shards *shards;
	uint64_t shard_since[SHARDS_MAX]; /* when it was created */

	struct notices notices;
	struct garbage garbage;
	struct proctable procs;
	struct maplists maplists;
	struct publisher publisher;
	struct objects objects;
	struct opener *opener; /* NULL until the threads run */
	struct idlefiles idlefiles;
	struct mappings mappings;
	struct targets targets;
	struct runcode runcode;
	struct runtimes runtimes;
	struct evictor evictor;
	struct builders builders;
	struct rescan {
		DIR *proc;    /* while all processes are read anew */
		bool again;   /* and once more after that */
		bool started; /* the processes from before the start are known */
		uint64_t round;
		uint64_t spent;			/* ns of CPU time in this round */
		uint64_t rest_until;		/* no round begins before */
		pid_t strangers[STRANGERS_MAX]; /* were sampled, and are to be read first */
		size_t nstrangers;
	} rescan;
	struct stale {
		uint64_t checked; /* time of the last check of executable memory */
		pid_t check_at;	  /* which process is to be checked next */
	} stale;
	struct asked_files *asked;    /* by name */
	struct posted {		      /* commands */
		pthread_mutex_t lock; /* held for a moment only: the screen's thread waits for it */
		struct posted_command *first;
	} posted;

	struct kernelcode *kernel_code;
	uint32_t kernel_told; /* generation that the sampler has */
	struct sideband *sideband;
	uint64_t watched; /* time of the last sideband_watch */
	uint64_t lost_records;
	uint64_t told_until;	    /* records up to then were handled; kernelclock_now */
	_Atomic uint64_t keep_dead; /* ns; set without the lock */
	pthread_t thread;
	bool runs;
};

/*
 * How often the tracker reads records. Where thousands of commands run, to wake up for each record
 * costs more than to process it, and with more records at once more of the processes have ended
 * already and need not be read. A few records are read without delay.
 */

/* Least ns between two readings once PACE_AT_ONCE came without a pause; PACE_FILES_NS while new
 * processes are walked by the lists of their files. */
#define PACE_NS	      (1000ull * 1000)
#define PACE_FILES_NS (4000ull * 1000)
#define PACE_AT_ONCE  16u

struct pace {
	uint64_t until; /* ns; time up to which the readings so far count; 0: at the start */
};

/*
 * Nanoseconds until records should be read, at most `each`; 0: as soon as they come. has_read: they
 * were read since the last call. now: from the same clock in all calls. each: PACE_NS or
 * PACE_FILES_NS, which may change.
 */
uint64_t pace_wait(struct pace *pace, uint64_t each, bool has_read, uint64_t now);

/* Gives each part the others that it uses. */
void tracker_connect(struct tracker *t);

/* --- process.c ------------------------------------------------------------------------------- */

void process_on_event(struct tracker *t, const struct sideband_event *e);
/* Reads the process from /proc. True: something has changed. */
bool process_scan(struct tracker *t, pid_t pid);
/* Only whether it still exists. */
void process_scan_gone(struct tracker *t, pid_t pid);
/*
 * Reads the processes that have called exec. True: some were read, and the side-band records up to
 * now are to be handled before anything is published: they tell whether what was read belongs to
 * the exec that is known or to the next one.
 */
bool process_refresh(struct tracker *t);
/* Forgets processes that ended before that time. */
void process_bury(struct tracker *t, uint64_t before);
void processes_free(struct tracker *t);

/* --- rescan.c -------------------------------------------------------------------------------- */

/* Reads all processes from /proc, in turns, and not right after the last time. */
void rescan_begin(struct tracker *t);
/* True: there is more to do, after the records that have come meanwhile. False in a rest. */
bool rescan_turn(struct tracker *t);
/* A process was sampled that is not known: it is read before the others. */
void rescan_want(struct tracker *t, pid_t pid);
/* Reads the processes in doubt anew, and checks some of the others. */
void stale_turn(struct tracker *t, uint64_t now);

/* --- asked.c --------------------------------------------------------------------------------- */

/* NULL: no memory. */
struct asked_files *asked_new(void);
void asked_free(struct asked_files *asked);
/* Wakes all threads that wait for an answer, after t->stop was set. */
void asked_stop(struct asked_files *asked);
/* Takes the descriptor. */
void asked_on_answer(struct tracker *t, const struct opening *o, const struct open_answer *answer,
		     int fd);
/* Closes files that were not fetched. */
void asked_age(struct tracker *t, uint64_t now);

/* --- tracker_commands.c ---------------------------------------------------------------------- */

void commands_take(struct tracker *t);
void commands_free(struct tracker *t);

#endif
