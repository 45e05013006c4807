/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_OPENER_H
#define STACKTOP_BPF_TRACKER_OPENER_H

/*
 * The files that were asked for and have not come yet. Nothing here waits; the users whose
 * processes map the files take turns, and a file that does not come is given up, with the helper
 * that waits for it. Not thread-safe.
 */

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/tracker/openfile.h"
#include "bpf/tracker/openhelper.h"

struct opener;

struct opening { /* a question; valid until its answer was handed over */
	uint64_t id;
	pid_t tgid; /* of the process that maps the file */
	uid_t uid;
	const struct open_request *request;
};

/* answer: -ETIMEDOUT: the file does not answer; -ECONNRESET: what reads it has crashed. fd: to be
 * taken over; -1. */
typedef void opener_on_answer(void *arg, const struct opening *o, const struct open_answer *answer,
			      int fd);

/* on_answer is called by opener_turn alone. Forks a process. -errno. */
int opener_new(opener_on_answer *on_answer, void *arg, struct opener **out);
void opener_free(struct opener *o);

/*
 * Asks for a file, or joins the question about the same one, by its numbers and name, that is not
 * answered yet, unless it is to be asked for alone. The id of the question, 0 without memory or
 * where it has not answered lately.
 */
uint64_t opener_ask(struct opener *o, const struct open_request *request, pid_t tgid, uid_t uid,
		    bool alone);
/* Hands over the answers that have come, gives up what does not come, and sends what is next. */
void opener_turn(struct opener *o, uint64_t now);
/* What to poll for: OPENHELPERS of them. */
void opener_fds(const struct opener *o, struct pollfd *fds);
/* Milliseconds until opener_turn has to be called without an answer; -1: no need to. */
int opener_wait(const struct opener *o);
/* Are there questions that were asked lately and may still be answered soon? NULL: no. */
bool opener_is_busy(const struct opener *o, uint64_t now);

#endif
