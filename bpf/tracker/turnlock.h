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

void turnlock_init(struct turnlock *l);
void turnlock_destroy(struct turnlock *l);
void turnlock_take(struct turnlock *l);
void turnlock_give(struct turnlock *l);
/*
 * For the owner. True: another thread waits, and gets the lock before all that call turnlock_take
 * from now on.
 */
bool turnlock_is_wanted(struct turnlock *l);

#endif
