// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See module_reader.h. A job belongs to the queue until it is done, then to the one who asked; one
 * that was dropped meanwhile is freed by the thread.
 */
#include "tui/symbolize/module_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "symbols/base/clock.h"
#include "symbols/base/worker.h"
#include "symbols/elf/elffile.h"
#include "symbols/files/fileasker.h"
#include "symbols/names/symtab.h"
#include "unwind/funcs.h"

struct module_job {
	struct module_job *next;
	int fd;
	struct debug_place place;
	enum module_part part;
	bool done, dropped;
	struct module_read read;
};

struct module_reader {
	struct worker worker;
	struct module_job *jobs; /* first come, first read */
};

/* --- reading --------------------------------------------------------------------------------- */

static void read_build(const struct elf_file *file, struct module_read *out)
{
	uint8_t id[BUILD_ID_MAX];
	size_t size = elf_file_build_id(file, id);

	_Static_assert(2 * BUILD_ID_MAX < PROFILE_BUILD_MAX, "a build-id fits");
	for (size_t i = 0; i < size; i++)
		snprintf(out->build + 2 * i, 3, "%02x", id[i]);
}

/* How often a debug file was not available but may be later. */
static uint64_t times_put_off(const struct debug_place *place)
{
	return debugsum_put_off() + fileasker_put_off(place->asker);
}

static void read_symbols(const struct elf_file *file, const struct debug_place *place,
			 struct module_read *out)
{
	uint64_t put_off = times_put_off(place);

	read_build(file, out);
	out->err = symtab_new(file, place, &out->symtab);
	if (out->err) {
		out->symtab = NULL;
		return;
	}
	if (symtab_complete(out->symtab) || elf_file_fd(file) < 0 || elf_file_is_narrow(file))
		return;
	out->link = malloc(sizeof(*out->link));
	if (!out->link)
		return;
	debug_link_read(file, out->link);
	/* A debug file that was put off may be available the next time. */
	out->debug_there = debug_link_present(out->link, place) && times_put_off(place) == put_off;
}

void module_read_file(const struct elf_file *file, const struct debug_place *place,
		      enum module_part part, struct module_read *out)
{
	*out = (struct module_read){0};
	if (part == MODULE_SYMBOLS)
		read_symbols(file, place, out);
	else if (!elf_file_is_narrow(file))
		funcs_new(file, &out->funcs);
	if (out->err != -ENOMEM)
		out->err = 0;
}

static void module_read_free(struct module_read *read)
{
	symtab_free(read->symtab);
	free(read->link);
	funcs_free(read->funcs);
	*read = (struct module_read){0};
}

/* --- the thread ------------------------------------------------------------------------------ */

static void job_free(struct module_job *job)
{
	if (job->fd >= 0)
		close(job->fd);
	if (job->place.root >= 0)
		close(job->place.root);
	module_read_free(&job->read);
	free(job);
}

static void job_read(struct module_job *job)
{
	struct elf_file *file;
	int err = elf_file_open_any_fd(job->fd, &file);

	if (err) {
		job->read.err = err == -ENOMEM ? err : 0;
		return;
	}
	module_read_file(file, &job->place, job->part, &job->read);
	elf_file_free(file);
}

/* The lock is held, and released meanwhile. */
static bool work(void *arg)
{
	struct module_reader *reader = arg;
	struct module_job *job = reader->jobs;

	if (!job)
		return false;
	LL_DELETE(reader->jobs, job);
	if (!job->dropped) {
		pthread_mutex_unlock(&reader->worker.lock);
		job_read(job);
		pthread_mutex_lock(&reader->worker.lock);
	}
	job->done = true;
	if (job->dropped)
		job_free(job);
	pthread_cond_broadcast(&reader->worker.answered);
	return true;
}

static void free_all(void *arg)
{
	struct module_reader *reader = arg;
	struct module_job *job, *next;

	LL_FOREACH_SAFE(reader->jobs, job, next)
	job_free(job);
	free(reader);
}

struct module_reader *module_reader_new(void)
{
	static const struct worker_ops ops = {.work = work, .free = free_all};
	struct module_reader *reader = calloc(1, sizeof(*reader));

	if (reader && worker_start(&reader->worker, &ops, reader)) {
		free(reader);
		return NULL;
	}
	return reader;
}

void module_reader_free(struct module_reader *reader)
{
	if (reader)
		worker_stop(&reader->worker, WORKER_FOREVER);
}

/* --- for its owner --------------------------------------------------------------------------- */

struct module_job *module_reader_ask(struct module_reader *reader, int fd,
				     const struct debug_place *place, enum module_part part)
{
	struct module_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (job->fd < 0) {
		free(job);
		return NULL;
	}
	job->place = *place;
	job->part = part;
	pthread_mutex_lock(&reader->worker.lock);
	LL_APPEND(reader->jobs, job);
	worker_wake(&reader->worker);
	pthread_mutex_unlock(&reader->worker.lock);
	return job;
}

bool module_reader_take(struct module_reader *reader, struct module_job *job, uint64_t until,
			struct module_read *out)
{
	struct timespec then = {.tv_sec = (time_t)(until / 1000000000u),
				.tv_nsec = (long)(until % 1000000000u)};
	bool done;

	pthread_mutex_lock(&reader->worker.lock);
	while (!job->done && worker_wait(&reader->worker, &then))
		;
	done = job->done;
	pthread_mutex_unlock(&reader->worker.lock);
	if (!done)
		return false;
	*out = job->read;
	job->read = (struct module_read){0};
	job_free(job);
	return true;
}

void module_reader_drop(struct module_reader *reader, struct module_job *job)
{
	bool done;

	if (!job)
		return;
	pthread_mutex_lock(&reader->worker.lock);
	done = job->done;
	job->dropped = true;
	pthread_mutex_unlock(&reader->worker.lock);
	if (done)
		job_free(job);
}
