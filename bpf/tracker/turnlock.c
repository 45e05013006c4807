/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See turnlock.h. */
#include "bpf/tracker/turnlock.h"

void turnlock_init(struct turnlock *l)
{
	pthread_mutex_init(&l->lock, NULL);
	pthread_mutex_init(&l->turn, NULL);
	atomic_init(&l->wanted, false);
}

void turnlock_destroy(struct turnlock *l)
{
	pthread_mutex_destroy(&l->lock);
	pthread_mutex_destroy(&l->turn);
}

void turnlock_take(struct turnlock *l)
{
	pthread_mutex_lock(&l->turn);
	atomic_store(&l->wanted, true);
	pthread_mutex_lock(&l->lock);
	atomic_store(&l->wanted, false);
	pthread_mutex_unlock(&l->turn);
}

void turnlock_give(struct turnlock *l)
{
	pthread_mutex_unlock(&l->lock);
}

bool turnlock_is_wanted(struct turnlock *l)
{
	return atomic_load(&l->wanted);
}
