/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PUSH_VERDICT_H
#define STACKTOP_TUI_PUSH_VERDICT_H

/* What an answer means for the samples that were sent. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/push/target.h"

struct http_reply;

enum push_verdict {
	PUSH_TAKEN,
	PUSH_TOO_LARGE, /* in smaller pieces they may be taken */
	PUSH_AGAIN,	/* later: the network, the server, a limit, or a secret that is wrong */
	PUSH_REFUSED,	/* never: the server can do nothing with them */
	PUSH_UNKNOWN,	/* there is no such protocol at that URL */
};

struct push_answer {
	enum push_verdict verdict;
	unsigned int wait; /* seconds that the server asks for; 0: it does not */
	uint64_t rejected; /* profiles of those taken that were thrown away (OpenTelemetry) */
	char text[320];	   /* clean: "HTTP 429: too many requests"; "" if all is well */
};

/* Bounded: a server cannot ask for silence over days. */
#define PUSH_WAIT_MAX 3600u

void push_judge(enum push_protocol protocol, const struct http_reply *reply,
		struct push_answer *out);
/* The same of an empty request: does the server know the protocol at all? */
bool push_knows(enum push_protocol protocol, const struct http_reply *reply);

#endif
