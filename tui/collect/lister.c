// SPDX-License-Identifier: GPL-2.0-or-later
/* See lister.h. The worker's lock guards the waiting job and the answer. */
#include "tui/collect/lister.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/elf/debugfile.h"
#include "symbols/elf/elffile.h"
#include "symbols/code/listing.h"
#include "symbols/files/rootfile.h"
#include "symbols/base/worker.h"
#include "tui/symbolize/inline_chain.h"
#include "tui/symbolize/modules.h"
#include "unwind/cfitext.h"
#include "unwind/funcs.h"

#define NICE 10

struct lister {
	struct worker worker;
	atomic_bool cancel; /* what is being read */
	size_t limit;
	struct remotedebug *remote;
	bool waits;
	struct lister_job job; /* waits */
	bool answered;
	uint64_t serial;
	int err;
	struct listing *listing;
	struct cfitext *cfi;
};

static void job_close(struct lister_job *job)
{
	if (job->fd >= 0)
		close(job->fd);
	free(job->image);
}

static int job_open(const struct lister_job *job, struct elf_file **out)
{
	if (job->fd >= 0)
		return elf_file_open_fd(job->fd, out);
	return job->image ? elf_file_open_memory(job->image, job->size, out) : -ENOENT;
}

/* The end of a function without a symbol, by its CFI. */
static uint64_t find_end(const struct lister_job *job)
{
	uint64_t end = job->start, start;
	struct funcs *funcs = NULL;
	struct elf_file *file;

	if (job_open(job, &file))
		return end;
	if (!funcs_new(file, &funcs))
		while (end - job->start <= LISTING_BYTES_MAX && funcs_find(funcs, end, &start) &&
		       start == job->start)
			end++;
	funcs_free(funcs);
	elf_file_free(file);
	return end;
}

static int list(struct lister *l, const struct lister_job *job, struct listing **out)
{
	int root = rootfile_root(job->pid);
	struct debug_place place = {
		.root = root < 0 ? -1 : root, .folder = MODULES_DEBUG_ROOT, .remote = l->remote};
	struct listing_request request = {
		.start = job->start,
		.place = &place,
		/* A process that is gone has no root to find its sources below. */
		.sources = root >= 0,
		.limit = l->limit,
		.user = inline_chain_user(),
		.cancel = &l->cancel,
	};
	struct elf_file *file;
	int err = job_open(job, &file);

	*out = NULL;
	if (!err)
		err = listing_new(file, &request, out);
	if (err == -ENODATA) {
		request.end = find_end(job);
		if (request.end > request.start)
			err = job_open(job, &file);
		if (err != -ENODATA && !err)
			err = listing_new(file, &request, out);
	}
	if (root >= 0)
		close(root);
	return err;
}

static struct cfitext *read_cfi(const struct lister_job *job)
{
	struct cfitext *cfi = NULL;
	struct elf_file *file;

	if (job_open(job, &file))
		return NULL;
	if (cfitext_new(file, job->at, &cfi))
		cfi = NULL;
	elf_file_free(file);
	return cfi;
}

static bool work(void *arg)
{
	struct lister *l = arg;
	struct lister_job job = l->job;
	struct listing *listing;
	struct cfitext *cfi;
	int err;

	if (!l->waits)
		return false;
	l->waits = false;
	atomic_store(&l->cancel, false);
	pthread_mutex_unlock(&l->worker.lock);
	err = list(l, &job, &listing);
	cfi = read_cfi(&job);
	job_close(&job);
	pthread_mutex_lock(&l->worker.lock);
	listing_put(l->listing);
	cfitext_put(l->cfi);
	l->listing = listing;
	l->cfi = cfi;
	l->err = err;
	l->serial = job.serial;
	l->answered = true;
	return true;
}

static void free_all(void *arg)
{
	struct lister *l = arg;

	if (l->waits)
		job_close(&l->job);
	listing_put(l->listing);
	cfitext_put(l->cfi);
	free(l);
}

int lister_new(size_t limit, struct remotedebug *remote, struct lister **out)
{
	static const struct worker_ops ops = {.work = work, .free = free_all, .nice = NICE};
	struct lister *l = calloc(1, sizeof(*l));
	int err;

	*out = NULL;
	if (!l)
		return -ENOMEM;
	l->limit = limit;
	l->remote = remote;
	err = worker_start(&l->worker, &ops, l);
	if (err)
		free(l);
	else
		*out = l;
	return err;
}

void lister_free(struct lister *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->worker.lock);
	atomic_store(&l->worker.stop, true);
	atomic_store(&l->cancel, true);
	pthread_mutex_unlock(&l->worker.lock);
	worker_stop(&l->worker, WORKER_FOREVER);
}

void lister_ask(struct lister *l, const struct lister_job *job)
{
	pthread_mutex_lock(&l->worker.lock);
	if (l->waits)
		job_close(&l->job);
	l->job = *job;
	l->waits = true;
	atomic_store(&l->cancel, true);
	worker_wake(&l->worker);
	pthread_mutex_unlock(&l->worker.lock);
}

bool lister_take(struct lister *l, uint64_t *serial, int *err, struct listing **out,
		 struct cfitext **cfi)
{
	bool answered;

	pthread_mutex_lock(&l->worker.lock);
	answered = l->answered;
	if (answered) {
		*serial = l->serial;
		*err = l->err;
		*out = l->listing;
		*cfi = l->cfi;
		l->listing = NULL;
		l->cfi = NULL;
		l->answered = false;
	}
	pthread_mutex_unlock(&l->worker.lock);
	return answered;
}
