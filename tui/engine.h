/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_ENGINE_H
#define STACKTOP_TUI_ENGINE_H

/*
 * The engine samples, resolves names and feeds the profile from threads of its own. Screens only
 * post commands to it and read the profile; they never wait for it.
 */

#include <stdbool.h>

struct profile;
struct options;

enum engine_command {
	ENGINE_ATTACH,	     /* arg: PID, or a regular expression for comm */
	ENGINE_DETACH,	     /* arg: as above */
	ENGINE_DETACH_ALL,   /* back to the whole machine */
	ENGINE_RESET_SHARD,  /* arg: number of the shard */
	ENGINE_RESET_SHARDS, /* all of them */
	ENGINE_INTERVAL,     /* arg: seconds between refreshes, decimal */
};

struct engine;

/* Posts a command; what came of it appears as a profile_message. Never blocks; arg is copied. */
void engine_post(struct engine *engine, enum engine_command command, const char *arg);

/* A descriptor that becomes readable when a slice was committed or a message arrived (eventfd). */
int engine_event_fd(const struct engine *engine);

/* True once the engine has ended by itself: its COMMAND is gone, or the last slice of -n. */
bool engine_finished(const struct engine *engine);

#endif
