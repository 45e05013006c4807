/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A mutex whose owner lets others have it. One that is given back and taken again at once goes to
 * the thread that has just given it back, for as long as that thread likes: the others must be
 * woken up first, and come too late. Here a thread that takes the lock while another waits for it
 * comes after that one, and an owner can see that it should come to an end.
 */
#ifndef STACKTOP_BPF_TRACKER_TURNLOCK_H
#define STACKTOP_BPF_TRACKER_TURNLOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct turnlock {
	pthread_mutex_t lock; /* also for pthread_cond_wait, which then waits without a turn */
	pthread_mutex_t turn; /* of the one that waits for it */
	atomic_bool wanted;
};

void turnlock_init(struct turnlock *l);
void turnlock_destroy(struct turnlock *l);
/* Waits for its turn. */
void turnlock_take(struct turnlock *l);
void turnlock_give(struct turnlock *l);
/*
 * True: another thread waits, and gets the lock before any that calls turnlock_take from now on.
 * For the owner of the lock.
 */
bool turnlock_is_wanted(struct turnlock *l);

#endif
