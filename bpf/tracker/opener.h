/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_OPENER_H
#define STACKTOP_BPF_TRACKER_OPENER_H

/*
 * Files that were asked for and have not come yet. Nothing here waits. The users whose processes
 * map the files take turns, and a file that does not come is given up, together with the helper
 * that waits for it. Not thread-safe.
 */

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/tracker/openfile.h"
#include "bpf/tracker/openhelper.h"

struct opener;

struct opening { /* a question; valid during opener_on_answer */
	uint64_t id;
	pid_t tgid; /* of the process that maps the file */
	uid_t uid;
	const struct open_request *request;
};

/* answer->err: -ETIMEDOUT: the file does not answer; -ECONNRESET: helpers crash on it. Takes fd. */
typedef void opener_on_answer(void *arg, const struct opening *o, const struct open_answer *answer,
			      int fd);

/* on_answer is called by opener_turn alone. Forks a process. -errno. */
int opener_new(opener_on_answer *on_answer, void *arg, struct opener **out);
void opener_free(struct opener *o);

/*
 * Asks for a file and returns the id of the question. Unless alone is set, joins an open question
 * with the same numbers and name. 0: no memory, or the file did not answer lately.
 */
uint64_t opener_ask(struct opener *o, const struct open_request *request, pid_t tgid, uid_t uid,
		    bool alone);
/* Hands over answers, gives up files that do not come, and sends the next questions. */
void opener_turn(struct opener *o, uint64_t now);
/* Fills in OPENHELPERS descriptors to poll. */
void opener_fds(const struct opener *o, struct pollfd *fds);
/* Milliseconds until opener_turn is due even without an answer; -1: it is not. */
int opener_wait(const struct opener *o);
/* Are there recent questions that may be answered soon? NULL: no. */
bool opener_is_busy(const struct opener *o, uint64_t now);

#endif
