/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_WORKER_H
#define STACKTOP_SYMBOLS_BASE_WORKER_H

/*
 * A thread that works on its owner's requests. Its lock guards what both of them use. A call of the
 * thread that does not return (to a name server, say) cannot be interrupted, so the owner may leave
 * the thread behind: the last of the two frees what they share.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define WORKER_FOREVER UINT64_MAX

struct worker_ops {
	/*
	 * Does one piece of work with the lock held, and may release it meanwhile. False: there was
	 * nothing to do, so the thread waits for worker_wake, or for wake_ns (0: no limit).
	 */
	bool (*work)(void *arg);
	uint64_t wake_ns;
	void (*begin)(void *arg); /* in the thread, without the lock, before all work; or NULL */
	void (*end)(void *arg);	  /* likewise after it */
	void (*free)(
		void *arg); /* frees arg, which the worker is part of; called by either thread */
	int nice;	    /* of this thread alone; a failure to set it is ignored */
};

struct worker {
	pthread_mutex_t lock;
	pthread_cond_t woken, answered; /* CLOCK_MONOTONIC */
	pthread_t thread;
	const struct worker_ops *ops;
	void *arg;
	atomic_int tid;	  /* 0: it has not begun */
	atomic_bool stop; /* ends the work soon; worker_stop sets it, unless it is set before */
	bool ended;
	unsigned int refs; /* the owner, the thread */
};

/* -ENOMEM, or what pthread_create says: arg still belongs to the caller then. */
int worker_start(struct worker *w, const struct worker_ops *ops, void *arg);
/*
 * Stops the thread and waits at most so many ns for its end, then leaves it behind. Frees arg, and
 * w with it; if the thread is left behind, it does that later.
 */
void worker_stop(struct worker *w, uint64_t ns);
/* Wakes the thread: there is work to do. */
void worker_wake(struct worker *w);
/* Waits for w->answered with the lock held, up to a time of CLOCK_MONOTONIC. False: it is over. */
bool worker_wait(struct worker *w, const struct timespec *until);
void worker_nice(struct worker *w, int nice);

#endif
