/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_SOURCE_H
#define STACKTOP_TUI_PROFILE_SOURCE_H

/*
 * A source feeds a profile from threads of its own: the collector, which samples this machine, or
 * the player of a session. Screens and reports need not know which; they post commands to it and
 * read the profile, and never wait for it.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "symbols/base/clock.h"

struct profile;
struct options;

enum source_command {
	SOURCE_ATTACH,	     /* arg: a word of bpf/tracker/selector.h, a user also by name */
	SOURCE_DETACH,	     /* arg: as above */
	SOURCE_DETACH_ALL,   /* back to the whole machine */
	SOURCE_RESET_SHARD,  /* arg: number of the shard */
	SOURCE_RESET_SHARDS, /* all of them */
	SOURCE_DROP,	     /* arg: object of the inventory, by id */
	SOURCE_PIN,	     /* arg: as above */
	SOURCE_INSPECT,	     /* arg: "PID REASON", see TRACKER_CAPTURE */
	SOURCE_GIVE_UP,	     /* debug files that are still to be fetched (--debuginfod) */
	SOURCE_EVENT,	     /* arg: name of the event that drives the sampling from now on */
	SOURCE_BY_CPU,	     /* arg: "1": CPUs are told apart from now on; "0": they are not */
	SOURCE_WAITS,	 /* arg: "1": threads are followed through their waits from now on; "0" */
	SOURCE_INTERVAL, /* arg: seconds between refreshes, decimal */
	SOURCE_NEXT, /* the report of the last slice is written; without a screen the source waits
		      */
	/* For a player; the collector ignores them. */
	SOURCE_PLAY,  /* or pause */
	SOURCE_SPEED, /* arg: "+" or "-": the next faster or slower one */
	SOURCE_STEP,  /* arg: slices to go forward, or back when negative; pauses */
	SOURCE_JUMP,  /* arg: "90", "14:03:20" (tui/session/player.h), or "+10", "-10" from here
		       */
};

struct source;

struct source_ops {
	/* Ends a last slice early and finishes. Never blocks. */
	void (*finish)(struct source *source);
	/* See source_stop; NULL: free may take its time. */
	int (*halt)(struct source *source, unsigned int ms, char *error, size_t size);
	void (*free)(struct source *source);
	/* Posts a command, whose result becomes a message. Never blocks; arg is copied. */
	void (*post)(struct source *source, enum source_command command, const char *arg);
};

/* The first member of each kind of source. */
struct source {
	const struct source_ops *ops;
	int event;		 /* eventfd: a slice was committed or a message arrived */
	_Atomic uint64_t slices; /* committed so far */
	/* It has ended by itself: its COMMAND is gone, or the last slice of -n. */
	atomic_bool finished;
	/* Set before that: it could not begin, -errno, and why. */
	_Atomic int failed;
	char failure[1024];
	atomic_bool records; /* what --record wants: false once that has failed */
};

static inline void source_finish(struct source *source)
{
	source->ops->finish(source);
}

/*
 * Stops at once and completes the recording. -ETIME: the source has not come to its end after ms
 * milliseconds; then only the end of the process is left to do. Else -errno: the recording could
 * not be written as a whole; error says so, unless the reports of a batch run have said it. NULL is
 * fine.
 */
static inline int source_stop(struct source *source, unsigned int ms, char *error, size_t size)
{
	error[0] = '\0';
	return source && source->ops->halt ? source->ops->halt(source, ms, error, size) : 0;
}

/* Stops at once, and waits for all threads. NULL is fine. */
static inline void source_free(struct source *source)
{
	if (source)
		source->ops->free(source);
}

static inline void source_post(struct source *source, enum source_command command, const char *arg)
{
	source->ops->post(source, command, arg);
}

/* --- what all kinds of sources need ---------------------------------------------------------- */

static inline uint64_t source_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Makes an eventfd readable. Only a full counter can fail, and that is readable, too. */
static inline void source_signal(int fd)
{
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof(one));

	(void)n;
}

/* It could not begin: source->failure says why. */
static inline void source_fail(struct source *source, int err)
{
	atomic_store(&source->failed, err);
	atomic_store(&source->finished, true);
	source_signal(source->event);
}

#endif
