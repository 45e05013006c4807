/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_WORKER_H
#define STACKTOP_SYMBOLS_BASE_WORKER_H

/*
 * A thread that does what its owner asks for, beside it. Its lock guards what both of them use. A
 * call of the thread that does not return, to a name server for one, cannot be interrupted, so the
 * owner may leave the thread behind: whichever of the two is last frees what they share.
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
	void (*free)(void *arg);  /* frees arg, which the worker is a part of; in either thread */
	int nice; /* of the thread alone; where it is not granted it is not needed */
};

struct worker {
	pthread_mutex_t lock;
	pthread_cond_t woken, answered; /* CLOCK_MONOTONIC */
	pthread_t thread;
	const struct worker_ops *ops;
	void *arg;
	atomic_int tid;	  /* 0: it has not begun */
	atomic_bool stop; /* work gives up soon; set by worker_stop, or before it */
	bool ended;
	unsigned int refs; /* the owner, the thread */
};

/* ops and arg: see above. -ENOMEM, or what pthread_create says: arg is still the caller's. */
int worker_start(struct worker *w, const struct worker_ops *ops, void *arg);
/*
 * Stops the thread and waits for its end for so many ns at most, then leaves it behind. Frees arg,
 * with w, unless the thread that is left behind does so later.
 */
void worker_stop(struct worker *w, uint64_t ns);
/* There is work to do. */
void worker_wake(struct worker *w);
/* With the lock held: waits for *w->answered, up to a time of CLOCK_MONOTONIC. False: it is over.
 */
bool worker_wait(struct worker *w, const struct timespec *until);
void worker_nice(struct worker *w, int nice);

#endif
