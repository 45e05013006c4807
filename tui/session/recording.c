// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The profile keeps its slices for minutes, so this thread need not be as fast as they come: it
 * encodes one at a time under the profile's lock and writes it without. Slices have numbers, so
 * none is missed or written twice where history and present meet. Only when all are dropped at once
 * (counts are zeroed, another event begins) the last ones have to be encoded right then.
 */
#include "tui/session/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bpf/tracker/inventory.h"
#include "symbols/base/clock.h"
#include "symbols/base/thread.h"
#include "tui/profile/board.h"
#include "tui/profile/profile.h"
#include "tui/profile/source.h"
#include "tui/session/session_write.h"
#include "tui/util/outfile.h"

#define LOOK_NS	   200000000ull /* between two looks for a new slice */
#define AT_ONCE	   3		/* slices that are encoded while they are dropped */
#define WRITE_NS   10000000ull	/* is waited for the disk then */
#define STATES_NS  500000000ull /* is waited for the state of the shards */
#define ERROR_SIZE 512

struct recording {
	struct profile *profile;
	struct source *source; /* NULL: none */
	pthread_t thread;
	pthread_mutex_t lock; /* of the writer and all below; taken after the profile's */
	pthread_mutex_t sleep;
	pthread_cond_t woken; /* CLOCK_MONOTONIC */
	atomic_bool stop, done;
	bool goes_on, newest; /* last is the newest slice */
	uint64_t next, last;  /* slices */
	struct outfile *file; /* NULL: grows under its name */
	struct session_writer *writer;
	uint64_t written, elapsed; /* slices, ns */
	uint64_t missing;	   /* slices that were gone */
	int failed;		   /* -errno of a slice that was encoded while it was dropped */
	char path[];
};

/* --- slices ---------------------------------------------------------------------------------- */

/* 1, or 0: there is none now; -errno. Both locks are held. */
static int note_next(struct recording *r, const struct profile *p)
{
	struct profile_health health;
	struct history kept;
	uint64_t last, first;
	bool newest;
	int err = r->failed;

	query_history(p, &kept);
	last = kept.last < r->last ? kept.last : r->last;
	if (r->next < kept.first && r->next <= last) {
		uint64_t to = kept.first <= last ? kept.first : last + 1;

		r->missing += to - r->next;
		r->next = to;
	}
	if (err || r->next > last)
		return err;
	newest = last == kept.last || (r->newest && last == r->last);
	first = r->next;
	err = session_note_past(r->writer, p, &r->next, last, newest);
	if (err)
		return err;
	for (; first <= r->next; first++) {
		query_slice_health(p, first, &health);
		r->elapsed += health.elapsed;
	}
	r->written++;
	r->next++;
	return 1;
}

/* If the thread waits for a slow disk right now, these slices are lost, and counted. */
static void before_zero(const struct profile *p, void *arg)
{
	struct recording *r = arg;
	struct timespec until = clock_in(CLOCK_REALTIME, WRITE_NS);

	if (pthread_mutex_timedlock(&r->lock, &until))
		return;
	for (int i = 0; i < AT_ONCE; i++) {
		int noted = note_next(r, p);

		if (noted <= 0) {
			r->failed = noted;
			break;
		}
		r->failed = session_pack(r->writer);
	}
	pthread_mutex_unlock(&r->lock);
}

static void rest(struct recording *r)
{
	struct timespec until = clock_in(CLOCK_MONOTONIC, LOOK_NS);

	pthread_mutex_lock(&r->sleep);
	if (!atomic_load(&r->stop))
		pthread_cond_timedwait(&r->woken, &r->sleep, &until);
	pthread_mutex_unlock(&r->sleep);
}

/* before_zero may define one at the same time. */
static bool wants_inventory(struct recording *r, uint64_t now)
{
	bool wants;

	pthread_mutex_lock(&r->lock);
	wants = session_wants_inventory(r->writer, now);
	pthread_mutex_unlock(&r->lock);
	return wants;
}

/* So that the newest slice has one. A replay has that of its time. */
static void want_states(struct recording *r)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC), end = now + STATES_NS;
	struct board *board = profile_board(r->profile);
	bool wanted, there = false;

	profile_lock(r->profile);
	wanted = r->newest && !profile_replay(r->profile);
	profile_unlock(r->profile);
	if (!wanted || !wants_inventory(r, now))
		return;
	board_want_inventory(board, now);
	while (!r->goes_on && !there && clock_ns(CLOCK_MONOTONIC) < end) {
		struct inventory *inventory = board_inventory(board);

		there = inventory != NULL;
		inventory_put(inventory);
		if (!there)
			nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
}

static int save(struct recording *r)
{
	want_states(r);
	for (;;) {
		bool stopped = atomic_load(&r->stop);
		int noted, err;

		profile_lock(r->profile);
		pthread_mutex_lock(&r->lock);
		noted = note_next(r, r->profile);
		profile_unlock(r->profile);
		err = noted < 0 ? noted : session_flush(r->writer);
		pthread_mutex_unlock(&r->lock);
		if (err)
			return err;
		if (noted)
			continue;
		if (!r->goes_on || stopped)
			return 0;
		if (wants_inventory(r, clock_ns(CLOCK_MONOTONIC)))
			board_want_inventory(profile_board(r->profile), clock_ns(CLOCK_MONOTONIC));
		rest(r);
	}
}

/* --- the file -------------------------------------------------------------------------------- */

static int open_file(struct recording *r, char *error)
{
	int fd, err = 0;

	if (r->goes_on) {
		fd = session_file_fresh(r->path, error, ERROR_SIZE);
	} else {
		err = outfile_new(r->path, &r->file);
		fd = err ? -1 : fcntl(fileno(outfile_stream(r->file)), F_DUPFD_CLOEXEC, 0);
		/* Command lines may hold secrets. */
		if (fd < 0 || fchmod(fd, 0600)) {
			err = err ? err : -errno;
			outfile_error(r->path, err, error, ERROR_SIZE);
		}
	}
	if (fd < 0)
		return err ? err : fd;
	if (err) {
		close(fd);
		return err;
	}
	return session_writer_on(fd, r->path, &r->writer, error, ERROR_SIZE);
}

static int close_file(struct recording *r, int err)
{
	int end = r->writer ? session_writer_end(r->writer) : 0;

	if (!err)
		err = end;
	if (!err && r->file && !r->written)
		err = -ENODATA;
	if (!err && r->file)
		return outfile_commit(r->file);
	outfile_abandon(r->file);
	return err;
}

static void size_text(uint64_t bytes, char *to, size_t size)
{
	if (bytes < 1000000)
		snprintf(to, size, "%.0f kB", (double)bytes / 1e3);
	else
		snprintf(to, size, "%.1f MB", (double)bytes / 1e6);
}

static void time_text(uint64_t ns, char *to, size_t size)
{
	uint64_t seconds = (ns + 500000000u) / 1000000000u;

	if (seconds < 60)
		snprintf(to, size, "%" PRIu64 "s", seconds);
	else
		snprintf(to, size, "%" PRIu64 "m%02" PRIu64 "s", seconds / 60, seconds % 60);
}

static void tell(const struct recording *r, int err, const char *error)
{
	struct board *board = profile_board(r->profile);
	char size[32], time[32], gone[64] = "";

	if (err == -ENODATA) {
		board_message(board, MESSAGE_WARNING, "%s: not saved: no samples have come yet",
			      r->path);
		return;
	}
	if (err) {
		board_message(board, MESSAGE_ERROR, "%s%s", error,
			      r->goes_on && r->written ? "; it holds what was recorded until now"
						       : "");
		return;
	}
	size_text(session_writer_size(r->writer), size, sizeof(size));
	time_text(r->elapsed, time, sizeof(time));
	if (r->missing)
		snprintf(gone, sizeof(gone), "; %" PRIu64 " refreshes were gone before",
			 r->missing);
	board_message(board, r->missing ? MESSAGE_WARNING : MESSAGE_INFO,
		      "saved to %.160s (%s, %s%s)", r->path, time, size, gone);
}

/* --- life ------------------------------------------------------------------------------------ */

static void hook(struct recording *r, profile_zero_fn fn)
{
	if (!r->goes_on)
		return;
	profile_lock(r->profile);
	profile_before_zero(r->profile, fn, r);
	profile_unlock(r->profile);
}

static void *run(void *arg)
{
	struct recording *r = arg;
	char error[ERROR_SIZE] = "";
	int err = open_file(r, error);

	if (!err) {
		hook(r, before_zero);
		err = save(r);
		hook(r, NULL);
	}
	err = close_file(r, err);
	if (err && !*error)
		outfile_error(r->path, err, error, sizeof(error));
	tell(r, err, error);
	session_writer_free(r->writer);
	r->writer = NULL;
	atomic_store(&r->done, true);
	if (r->source)
		source_signal(r->source->event);
	return NULL;
}

static struct recording *recording_new(struct profile *p, const char *path, uint64_t first,
				       uint64_t last, bool goes_on)
{
	struct recording *r = calloc(1, sizeof(*r) + strlen(path) + 1);
	struct history kept;
	pthread_condattr_t attr;

	if (!r)
		return NULL;
	memcpy(r->path, path, strlen(path) + 1);
	profile_lock(p);
	query_history(p, &kept);
	profile_unlock(p);
	r->profile = p;
	r->goes_on = goes_on;
	r->next = first ? first : kept.first;
	r->last = goes_on ? UINT64_MAX : last ? last : kept.last;
	r->newest = r->last >= kept.last;
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->sleep, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->woken, &attr);
	pthread_condattr_destroy(&attr);
	return r;
}

static void destroy(struct recording *r)
{
	pthread_cond_destroy(&r->woken);
	pthread_mutex_destroy(&r->sleep);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

int recording_start(struct recording **out, struct profile *p, struct source *source,
		    const char *path, uint64_t first, uint64_t last, bool goes_on)
{
	struct recording *r = recording_new(p, path, first, last, goes_on);
	int err;

	*out = NULL;
	if (!r)
		return -ENOMEM;
	r->source = source;
	err = thread_start(&r->thread, run, r);
	if (err)
		destroy(r);
	else
		*out = r;
	return err;
}

void recording_stop(struct recording *r)
{
	pthread_mutex_lock(&r->sleep);
	atomic_store(&r->stop, true);
	pthread_cond_broadcast(&r->woken);
	pthread_mutex_unlock(&r->sleep);
}

bool recording_done(const struct recording *r)
{
	return atomic_load(&r->done);
}

const char *recording_path(const struct recording *r)
{
	return r->path;
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	recording_stop(r);
	pthread_join(r->thread, NULL);
	destroy(r);
}
