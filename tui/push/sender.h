/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PUSH_SENDER_H
#define STACKTOP_TUI_PUSH_SENDER_H

/*
 * A thread that sends what a queue has, and only that: it waits for name servers, networks and
 * servers, so that no other thread has to.
 */

#include <stdbool.h>
#include <stdint.h>

#include "tui/push/target.h"

struct board;
struct push_queue;
struct push_sender;

struct push_sent {
	enum push_protocol protocol; /* PUSH_ASK: not known yet */
	uint64_t requests, failed;   /* of these */
	uint64_t split;		     /* requests that had to be cut in two */
	uint64_t bytes;		     /* of requests that were taken, as they were sent */
	uint64_t samples, profiles;  /* that were taken */
	uint64_t refused;	     /* samples that the server will never take */
	uint64_t rejected;	     /* profiles that it took and threw away */
	uint64_t since;	   /* CLOCK_MONOTONIC ns: nothing was taken since then; 0: it works */
	uint64_t last;	   /* CLOCK_REALTIME ns of the last success; 0: there was none */
	bool idle;	   /* all that is in the queue was sent */
	char trouble[320]; /* clean; why it does not work; "" it does */
};

/*
 * The options must make sense (push_target_parse), and outlive the sender, as all else does.
 * -errno with its reason in error.
 */
int push_sender_start(struct push_sender **out, struct push_queue *queue, struct board *board,
		      const struct push_options *options, char *error, size_t size);
/* There is something in the queue. */
void push_sender_wake(struct push_sender *s);
/* Other options from the next request on; secrets are read again. */
void push_sender_change(struct push_sender *s, const struct push_options *options);
void push_sender_state(struct push_sender *s, struct push_sent *out);
/* Waits so many ms until the queue is empty, but not for a server that is down if what waits is in
 * a spool. True: it is empty. */
bool push_sender_drain(struct push_sender *s, bool spooled, unsigned int ms);
/* Ends the request that is under way. False: the thread did not end in time, and uses its memory
 * still (symbols/base/thread.h). */
bool push_sender_free(struct push_sender *s, unsigned int ms);

#endif
