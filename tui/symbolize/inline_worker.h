/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_INLINE_WORKER_H
#define STACKTOP_TUI_SYMBOLIZE_INLINE_WORKER_H

/*
 * The thread that reads debug information, which may take seconds, so that neither the screen nor
 * the collection waits for it. It is asked about addresses and answers when it can. What it has
 * read is bounded; the debug information that was not asked for longest goes first.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct inline_chain;
struct fileasker;
struct inline_worker;
struct remotedebug;

struct inline_worker_answer {
	struct inline_worker_answer *next;
	uint32_t id;		    /* of the question */
	bool bare;		    /* the object has no debug information that can be used */
	struct inline_chain *calls; /* NULL: nothing is known of the address; the caller frees it */
};

/* budget: bytes of debug information. -ENOMEM, or what pthread_create says. */
int inline_worker_new(size_t budget, struct inline_worker **out);
/* Waits for what is being read to be given up, soon. */
void inline_worker_free(struct inline_worker *inliner);
/* Whom to ask for debug files that are nowhere here; it must outlive the inliner. */
void inline_worker_set_remote(struct inline_worker *inliner, struct remotedebug *remote);
/* The same for files that may not answer (struct debug_place). */
void inline_worker_set_asker(struct inline_worker *inliner, struct fileasker *asker);
/*
 * Asks; fd is the object's file, which is duplicated if it is needed, pid a process that maps it:
 * debug files are looked for below its root, 0: below our own; symbol: as of inline_chain_read.
 * -ENOMEM, -EAGAIN: too many questions wait; the error of a system call.
 */
int inline_worker_ask(struct inline_worker *inliner, uint64_t object, int fd, pid_t pid,
		      uint64_t vaddr, uint64_t symbol, uint32_t id);
/* All answers there are, which are the caller's now (inline_worker_answers_free, or one by one). */
struct inline_worker_answer *inline_worker_take(struct inline_worker *inliner);
void inline_worker_answers_free(struct inline_worker_answer *answers);
/* True when there was nothing left to answer within the time. */
bool inline_worker_wait(struct inline_worker *inliner, uint64_t ns);

#endif
