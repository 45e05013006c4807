// SPDX-License-Identifier: GPL-2.0-or-later
/* See lister.h. The worker's lock guards the waiting job and the answer. */
#include "tui/collect/lister.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf/sampler/kerneltext.h"
#include "bpf/tracker/tracker.h"
#include "symbols/base/bytes.h"
#include "symbols/base/clock.h"
#include "symbols/code/kcode.h"
#include "symbols/elf/debugfile.h"
#include "symbols/elf/elffile.h"
#include "symbols/code/listing.h"
#include "symbols/code/sourcelist.h"
#include "symbols/files/procstat.h"
#include "symbols/files/rootfile.h"
#include "symbols/base/worker.h"
#include "tui/symbolize/inline_chain.h"
#include "tui/symbolize/modules.h"
#include "unwind/cfitext.h"
#include "unwind/funcs.h"

#define NICE	       10
#define MEMORY_PAGE    4096u
#define MEMORY_TURN_NS 5000000 /* between two looks for an answer */
#define MEMORY_TURNS   1200    /* longer than the tracker waits for one */

struct lister {
	struct worker worker;
	atomic_bool cancel; /* what is being read */
	size_t limit;
	struct remotedebug *remote;
	struct tracker *tracker;
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

struct job_funcs { /* the functions by CFI, read when they are first needed */
	const struct lister_job *job;
	struct funcs *funcs; /* NULL: not read, or unusable */
	bool read;
};

static const struct funcs *funcs_of(struct job_funcs *of)
{
	struct elf_file *file;

	if (!of->read && !job_open(of->job, &file)) {
		funcs_new(file, &of->funcs);
		elf_file_free(file);
	}
	of->read = true;
	return of->funcs;
}

/* Of listing_request. */
static bool job_reaches(void *arg, uint64_t start, uint64_t vaddr)
{
	const struct funcs *funcs = funcs_of(arg);

	return !funcs || funcs_reaches(funcs, start, vaddr);
}

/* The end of a function without a symbol. */
static uint64_t find_end(struct job_funcs *of)
{
	const uint64_t from = of->job->start;
	const struct funcs *funcs = funcs_of(of);
	uint64_t end = from, start;

	while (funcs && end - from <= LISTING_BYTES_MAX && funcs_find(funcs, end, &start) &&
	       start == from)
		end++;
	return end;
}

static int list_file(struct lister *l, const struct lister_job *job, struct listing **out)
{
	int root = rootfile_root(job->pid);
	struct debug_place place = {
		.root = root < 0 ? -1 : root, .folder = MODULES_DEBUG_ROOT, .remote = l->remote};
	struct job_funcs funcs = {.job = job};
	struct listing_request request = {
		.start = job->start,
		.place = &place,
		.reaches = job_reaches,
		.arg = &funcs,
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
		request.end = find_end(&funcs);
		if (request.end > request.start)
			err = job_open(job, &file);
		if (err != -ENODATA && !err)
			err = listing_new(file, &request, out);
	}
	funcs_free(funcs.funcs);
	if (root >= 0)
		close(root);
	return err;
}

static int list_kernel(struct lister *l, const struct lister_job *job, struct listing **out)
{
	const struct kcode_request request = {.start = job->start,
					      .end = job->end,
					      .core = "/proc/kcore",
					      .kallsyms = "/proc/kallsyms",
					      .read = kerneltext_read,
					      .cancel = &l->cancel};

	return kcode_list(&request, out);
}

/* Returns a descriptor, or -errno. Another process reads, since memory may not answer. */
static int ask_memory(struct lister *l, uint64_t start, pid_t pid, size_t size)
{
	const struct timespec turn = {.tv_nsec = MEMORY_TURN_NS};
	int fd = -EAGAIN;

	for (int i = 0; i < MEMORY_TURNS && fd == -EAGAIN; i++) {
		if (i)
			nanosleep(&turn, NULL);
		if (atomic_load(&l->cancel))
			return -ECANCELED;
		fd = tracker_ask_memory(l->tracker, pid, start, size);
	}
	return fd == -EAGAIN ? -ETIMEDOUT : fd;
}

static int list_memory(struct lister *l, const struct lister_job *job, struct listing **out)
{
	struct memcode_request request = {.start = job->start,
					  .marks = job->marks,
					  .nmarks = job->nmarks,
					  .cancel = &l->cancel};
	const uint64_t whole = job->end > job->start ? job->end - job->start : MEMCODE_GUESSED;
	const size_t size = whole < LISTING_BYTES_MAX ? (size_t)whole : LISTING_BYTES_MAX;
	int fd = ask_memory(l, job->start, job->pid, size);
	ssize_t n = -ENOMEM;

	*out = NULL;
	if (fd == -EFAULT && job->nmarks) { /* the code begins in what was guessed */
		request.start = job->marks[0] & -(uint64_t)MEMORY_PAGE;
		fd = ask_memory(l, request.start, job->pid, size);
	}
	if (fd < 0)
		return fd;
	request.end = request.start + whole;
	request.bytes = malloc(size);
	if (request.bytes)
		n = bytes_read_some(fd, 0, request.bytes, size);
	close(fd);
	if (n < 0) {
		free(request.bytes);
		return (int)n;
	}
	request.size = (size_t)n;
	return memcode_list(&request, out);
}

/* When the process began, CLOCK_REALTIME seconds, rounded up; 0: not known. */
static time_t began(pid_t pid)
{
	const long ticks = sysconf(_SC_CLK_TCK);
	struct procstat stat;
	uint64_t up;

	if (ticks <= 0 || procstat_read(pid, &stat))
		return 0;
	up = clock_ns(CLOCK_BOOTTIME) / CLOCK_NS_PER_SEC;
	return time(NULL) - (time_t)up + (time_t)(stat.start / (uint64_t)ticks) + 1;
}

/* A name that is not absolute is what the process was told, in its working folder then. */
static int source_root(const struct lister_job *job)
{
	char path[32];
	int fd;

	if (job->file[0] == '/')
		return rootfile_root(job->pid);
	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)rootfile_livethread(job->pid));
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int list_source(struct lister *l, const struct lister_job *job, struct listing **out)
{
	char path[sizeof(job->file) + 1];
	const struct sourcelist_request request = {.root = source_root(job),
						   .path = path,
						   .around = (uint32_t)job->at,
						   .since = began(job->pid),
						   .cancel = &l->cancel};
	int err;

	*out = NULL;
	if (request.root < 0) /* the process is gone */
		return request.root == -ENOENT ? -ESRCH : request.root;
	snprintf(path, sizeof(path), "%s%s", job->file[0] == '/' ? "" : "/", job->file);
	/* Above the working folder, which stands for a root here, is nothing. */
	err = job->file[0] != '/' && strstr(job->file, "../") ? -ENOENT
							      : sourcelist_read(&request, out);
	close(request.root);
	return err;
}

static int list(struct lister *l, const struct lister_job *job, struct listing **out)
{
	switch (job->source) {
	case LISTER_KERNEL:
		return list_kernel(l, job, out);
	case LISTER_MEMORY:
		return list_memory(l, job, out);
	case LISTER_SOURCE:
		return list_source(l, job, out);
	default:
		return list_file(l, job, out);
	}
}

static struct cfitext *read_cfi(const struct lister_job *job)
{
	struct cfitext *cfi = NULL;
	struct elf_file *file;

	if (job->source == LISTER_SOURCE || job_open(job, &file))
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

int lister_new(size_t limit, struct remotedebug *remote, struct tracker *tracker,
	       struct lister **out)
{
	static const struct worker_ops ops = {.work = work, .free = free_all, .nice = NICE};
	struct lister *l = calloc(1, sizeof(*l));
	int err;

	*out = NULL;
	if (!l)
		return -ENOMEM;
	l->limit = limit;
	l->remote = remote;
	l->tracker = tracker;
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
