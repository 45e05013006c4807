/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_SOURCE_H
#define STACKTOP_TUI_PROFILE_SOURCE_H

/*
 * The engine samples, resolves names and feeds the profile from threads of its own. Screens only
 * post commands to it and read the profile; they never wait for it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct profile;
struct options;

enum engine_command {
	ENGINE_ATTACH,	     /* arg: a word of bpf/tracker/selector.h, a user also by name */
	ENGINE_DETACH,	     /* arg: as above */
	ENGINE_DETACH_ALL,   /* back to the whole machine */
	ENGINE_RESET_SHARD,  /* arg: number of the shard */
	ENGINE_RESET_SHARDS, /* all of them */
	ENGINE_DROP,	     /* arg: object of the inventory, by id */
	ENGINE_PIN,	     /* arg: as above */
	ENGINE_INSPECT,	     /* arg: "PID REASON", see TRACKER_CAPTURE */
	ENGINE_GIVE_UP,	     /* debug files that are still to be fetched (--debuginfod) */
	ENGINE_EVENT,	     /* arg: name of the event that drives the sampling from now on */
	ENGINE_BY_CPU,	     /* arg: "1": CPUs are told apart from now on; "0": they are not */
	ENGINE_INTERVAL,     /* arg: seconds between refreshes, decimal */
	ENGINE_NEXT, /* the report of the last slice is written: without a screen it waits */
	/* Of a replay; the live engine passes over them. */
	ENGINE_PLAY,  /* or pause */
	ENGINE_SPEED, /* arg: "+" or "-": the next faster or slower one */
	ENGINE_STEP,  /* arg: so many slices forward, or back when negative; pauses */
	ENGINE_JUMP, /* arg: "90", "14:03:20" (tui/session/replay_time.h), or "+10", "-10" from here
		      */
};

struct engine;

/*
 * Loads the programs and prepares to sample; command is what `-- COMMAND` started (NULL: none).
 * Nothing is owned, all must outlive the engine. On failure *out is NULL and error says what is
 * missing and what to do.
 */
int engine_new(struct profile *p, const struct options *options, struct command *command,
	       struct engine **out, char *error, size_t size);
/*
 * Begins to sample, and lets the command go: its -errno when that cannot be run. Signals are
 * blocked in the threads that it makes. error as above.
 */
int engine_start(struct engine *engine, char *error, size_t size);
/* Ends a last slice early and finishes. Never blocks. */
void engine_finish(struct engine *engine);
/*
 * Stops at once and completes the recording. -ETIME: the collector has not come to its end after ms
 * milliseconds; then nothing but the end of the process is left to do. Else -errno: the recording
 * could not be written as a whole; error says so, unless the reports of a batch run have said it.
 * NULL is fine.
 */
int engine_stop(struct engine *engine, unsigned int ms, char *error, size_t size);
/* Stops at once, and waits for all threads. NULL is fine. */
void engine_free(struct engine *engine);

/* Slices committed so far. */
uint64_t engine_slices(const struct engine *engine);

/* Posts a command; what came of it appears as a profile_message. Never blocks; arg is copied. */
void engine_post(struct engine *engine, enum engine_command command, const char *arg);

/* A descriptor that becomes readable when a slice was committed or a message arrived (eventfd). */
int engine_event_fd(const struct engine *engine);

/* True once the engine has ended by itself: its COMMAND is gone, or the last slice of -n. */
bool engine_finished(const struct engine *engine);

#endif
