/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A mutex that is fair to waiting threads. With a plain mutex, a thread that releases it and takes
 * it again at once always gets it, since the others must be woken up first. Here a thread that
 * takes the lock while another waits comes after that one, and the owner can see that another
 * waits.
 */
#ifndef STACKTOP_BPF_TRACKER_TURNLOCK_H
#define STACKTOP_BPF_TRACKER_TURNLOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct turnlock {
	pthread_mutex_t lock; /* also for pthread_cond_wait, which then waits without a turn */
	pthread_mutex_t turn; /* held by the thread that gets the lock next */
	atomic_bool wanted;
};

static inline void turnlock_init(struct turnlock *l)
{
	pthread_mutex_init(&l->lock, NULL);
	pthread_mutex_init(&l->turn, NULL);
	atomic_init(&l->wanted, false);
}

static inline void turnlock_destroy(struct turnlock *l)
{
	pthread_mutex_destroy(&l->lock);
	pthread_mutex_destroy(&l->turn);
}

static inline void turnlock_take(struct turnlock *l)
{
	pthread_mutex_lock(&l->turn);
	atomic_store(&l->wanted, true);
	pthread_mutex_lock(&l->lock);
	atomic_store(&l->wanted, false);
	pthread_mutex_unlock(&l->turn);
}

static inline void turnlock_give(struct turnlock *l)
{
	pthread_mutex_unlock(&l->lock);
}

/*
 * For the owner. True: another thread waits, and gets the lock before all that call turnlock_take
 * from now on.
 */
static inline bool turnlock_is_wanted(struct turnlock *l)
{
	return atomic_load(&l->wanted);
}

#endif
