/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_SOURCE_H
#define STACKTOP_TUI_PROFILE_SOURCE_H

/*
 * A source feeds a profile from threads of its own: the collector, which samples this machine, or
 * the player of a session. Screens and reports need not know which; they post commands to it and
 * read the profile, and never wait for it.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	SOURCE_INTERVAL,     /* arg: seconds between refreshes, decimal */
	SOURCE_NEXT, /* the report of the last slice is written; without a screen the source waits
		      */
	/* For a player; the collector ignores them. */
	SOURCE_PLAY,  /* or pause */
	SOURCE_SPEED, /* arg: "+" or "-": the next faster or slower one */
	SOURCE_STEP,  /* arg: slices to go forward, or back when negative; pauses */
	SOURCE_JUMP, /* arg: "90", "14:03:20" (tui/session/replay_time.h), or "+10", "-10" from here
		      */
};

struct source;

/* Each as the function of its name below. */
struct source_ops {
	void (*finish)(struct source *source);
	/* NULL: free may take its time */
	int (*stop)(struct source *source, unsigned int ms, char *error, size_t size);
	void (*free)(struct source *source);
	uint64_t (*slices)(const struct source *source);
	void (*post)(struct source *source, enum source_command command, const char *arg);
	int (*event_fd)(const struct source *source);
	bool (*finished)(const struct source *source);
};

/* The first member of each kind of source. */
struct source {
	const struct source_ops *ops;
};

/* Ends a last slice early and finishes. Never blocks. */
void source_finish(struct source *source);
/*
 * Stops at once and completes the recording. -ETIME: the source has not come to its end after ms
 * milliseconds; then only the end of the process is left to do. Else -errno: the recording could
 * not be written as a whole; error says so, unless the reports of a batch run have said it. NULL is
 * fine.
 */
int source_stop(struct source *source, unsigned int ms, char *error, size_t size);
/* Stops at once, and waits for all threads. NULL is fine. */
void source_free(struct source *source);

/* Slices committed so far. */
uint64_t source_slices(const struct source *source);

/* Posts a command, whose result becomes a profile_message. Never blocks; arg is copied. */
void source_post(struct source *source, enum source_command command, const char *arg);

/* A descriptor that becomes readable when a slice was committed or a message arrived (eventfd). */
int source_event_fd(const struct source *source);

/* True once the source has ended by itself: its COMMAND is gone, or the last slice of -n. */
bool source_finished(const struct source *source);

/* --- what all kinds of sources need ---------------------------------------------------------- */

/* CLOCK_MONOTONIC, ns. */
uint64_t source_now(void);
/* Makes an eventfd readable. */
void source_signal(int fd);

#endif
