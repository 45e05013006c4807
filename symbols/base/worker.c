// SPDX-License-Identifier: GPL-2.0-or-later
/* See worker.h. */
#include "symbols/base/worker.h"

#include <sys/resource.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "symbols/base/thread.h"

static void destroy(struct worker *w)
{
	pthread_cond_destroy(&w->woken);
	pthread_cond_destroy(&w->answered);
	pthread_mutex_destroy(&w->lock);
}

/* The lock is held, and released here. */
static void unref(struct worker *w)
{
	bool last = --w->refs == 0;

	pthread_mutex_unlock(&w->lock);
	if (!last)
		return;
	destroy(w);
	w->ops->free(w->arg);
}

static void *run(void *arg)
{
	struct worker *w = arg;
	struct timespec until;

	atomic_store(&w->tid, gettid());
	worker_nice(w, w->ops->nice);
	if (w->ops->begin)
		w->ops->begin(w->arg);
	pthread_mutex_lock(&w->lock);
	while (!atomic_load(&w->stop)) {
		if (w->ops->work(w->arg) || atomic_load(&w->stop))
			continue;
		until = clock_in(CLOCK_MONOTONIC, w->ops->wake_ns);
		if (w->ops->wake_ns)
			pthread_cond_timedwait(&w->woken, &w->lock, &until);
		else
			pthread_cond_wait(&w->woken, &w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	if (w->ops->end)
		w->ops->end(w->arg);
	pthread_mutex_lock(&w->lock);
	w->ended = true;
	pthread_cond_broadcast(&w->answered);
	unref(w);
	return NULL;
}

int worker_start(struct worker *w, const struct worker_ops *ops, void *arg)
{
	pthread_condattr_t attr;
	int err;

	w->ops = ops;
	w->arg = arg;
	w->refs = 2;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->woken, &attr);
	pthread_cond_init(&w->answered, &attr);
	pthread_condattr_destroy(&attr);
	err = thread_start(&w->thread, run, w);
	if (err)
		destroy(w);
	return err;
}

void worker_stop(struct worker *w, uint64_t ns)
{
	struct timespec until = clock_in(CLOCK_MONOTONIC, ns == WORKER_FOREVER ? 0 : ns);
	bool waits = true, ended;

	atomic_store(&w->stop, true);
	pthread_mutex_lock(&w->lock);
	pthread_cond_broadcast(&w->woken);
	while (!w->ended && waits)
		waits = ns == WORKER_FOREVER ? !pthread_cond_wait(&w->answered, &w->lock)
					     : worker_wait(w, &until);
	ended = w->ended;
	pthread_mutex_unlock(&w->lock);
	if (ended)
		pthread_join(w->thread, NULL);
	else
		pthread_detach(w->thread);
	pthread_mutex_lock(&w->lock);
	unref(w);
}

void worker_wake(struct worker *w)
{
	pthread_cond_signal(&w->woken);
}

bool worker_wait(struct worker *w, const struct timespec *until)
{
	return !pthread_cond_timedwait(&w->answered, &w->lock, until);
}

void worker_nice(struct worker *w, int nice)
{
	int tid = atomic_load(&w->tid);

	if (tid)
		setpriority(PRIO_PROCESS, (id_t)tid, nice);
}
