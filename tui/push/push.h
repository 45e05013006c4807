/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PUSH_PUSH_H
#define STACKTOP_TUI_PUSH_PUSH_H

/*
 * Sends what a profile is fed to a server, an interval after the other: --push, :push and the
 * agent. gather.h makes intervals of slices, queue.h keeps them, sender.h sends them.
 */

#include <stdbool.h>
#include <stddef.h>

#include "tui/push/gather.h"
#include "tui/push/queue.h"
#include "tui/push/sender.h"
#include "tui/push/target.h"

struct profile;
struct push;

/* What push_end may take besides the time that it is given, ms. */
#define PUSH_STOP_MS 4000

/* How the profile is read. */
enum push_reader {
	PUSH_BY_CALLER, /* push_take is called after each slice */
	PUSH_BY_THREAD, /* a thread looks for slices, and waits for their inlined calls */
};

struct push_state {
	struct push_gathered gathered;
	struct push_queue_state queue;
	struct push_sent sent;
};

/*
 * The profile and the options, whose texts are not copied, outlive the push. The profile has to
 * keep its slices for a while (push_keep). -errno with its reason in error.
 */
int push_start(struct push **out, struct profile *p, const struct push_options *options,
	       enum push_reader reader, char *error, size_t size);
/* So that slices are there until they are read; before the first slice. */
void push_keep(struct profile *p, const struct push_options *options);
/* PUSH_BY_CALLER: there is a new slice. */
void push_take(struct push *push);
/* Other options, from the next interval and the next request on; but not another spool. */
void push_change(struct push *push, const struct push_options *options);
void push_state(struct push *push, struct push_state *out);
/* Which URL it is, without secrets. */
const char *push_url(const struct push *push);
/*
 * Ends it with the last interval. Waits so many ms for what is still to be sent, and says what was
 * not: what is in a spool is for the next run. False: samples were lost. NULL is fine.
 */
bool push_end(struct push *push, unsigned int ms);

#endif
