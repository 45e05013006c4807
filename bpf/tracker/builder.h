/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_BUILDER_H
#define STACKTOP_BPF_TRACKER_BUILDER_H

/*
 * The threads that build tables and free garbage. One takes any file, the other only small ones, so
 * that no file delays all others.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BUILDERS      2u
#define BUILDER_USERS 64u

struct builders {
	struct table_builder {
		struct builders *all;
		struct wide_rules *wide;
		uint64_t size_max; /* of the files that it takes */
		pthread_t thread;
		bool runs;
	} threads[BUILDERS];
	struct builder_use { /* time that the builders have spent on a user's files lately */
		uint64_t ns, since;
	} uses[BUILDER_USERS];
	pthread_cond_t wake;
	bool stop;
	atomic_bool cancel;    /* the same without the lock, for a build */
	unsigned int building; /* threads that build a table */
	struct wide_rules *wide;
	char told_failed[64]; /* the file of the last such message */

	struct turnlock *lock;
	int wake_fd; /* eventfd of the tracker thread: a table is finished */
	struct sampler *sampler;
	struct garbage *garbage;
	struct objects *objects;
	struct proctable *procs;
	struct evictor *evictor;
	struct notices *notices;
};

/* -ENOMEM. To be freed in any case. */
int builders_init(struct builders *bs);
int builders_start(struct builders *bs);
/* Ends the threads. */
void builders_stop(struct builders *bs);
void builders_free(struct builders *bs);
/*
 * Builds the next queued table that is for this thread; the lock is given up meanwhile. False:
 * there is none.
 */
bool builder_run(struct table_builder *b);
/* Is there one? */
bool builder_has_work(const struct table_builder *b);

#endif
