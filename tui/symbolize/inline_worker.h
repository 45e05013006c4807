/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_INLINE_WORKER_H
#define STACKTOP_TUI_SYMBOLIZE_INLINE_WORKER_H

/*
 * The thread that reads debug information, which may take seconds, so that neither the screen nor
 * the collection waits for it. It answers questions about addresses. What it has read is bounded;
 * the least recently used debug information goes first.
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
	bool bare;		    /* the object has no usable debug information */
	struct inline_chain *calls; /* NULL: nothing is known of the address; the caller frees it */
};

/*
 * budget: bytes of debug information. asker: as in struct debug_place; it must outlive the worker.
 * -ENOMEM, or what pthread_create says.
 */
int inline_worker_new(size_t budget, struct fileasker *asker, struct inline_worker **out);
/* Cancels what is being read and waits for that. */
void inline_worker_free(struct inline_worker *inliner);
/* Fetches debug files that are not on this machine; it must outlive the worker. */
void inline_worker_set_remote(struct inline_worker *inliner, struct remotedebug *remote);
/*
 * Asks about an address. fd: the object's file, which is duplicated if needed. pid: a process that
 * maps it, to find debug files below its root; 0: below our own. symbol: as for inline_chain_read.
 * -ENOMEM; -EAGAIN: too many questions wait; or the error of a system call.
 */
int inline_worker_ask(struct inline_worker *inliner, uint64_t object, int fd, pid_t pid,
		      uint64_t vaddr, uint64_t symbol, uint32_t id);
/* All answers so far, now owned by the caller (inline_worker_answers_free, or one by one). */
struct inline_worker_answer *inline_worker_take(struct inline_worker *inliner);
void inline_worker_answers_free(struct inline_worker_answer *answers);
/* True if all questions were answered within the time. */
bool inline_worker_wait(struct inline_worker *inliner, uint64_t ns);

#endif
