/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libdebuginfod needs curl and thirty other libraries, and few users need it, so it is loaded on
 * demand. A transfer ends when its progress function says so, but the look-up of a host name does
 * not, so the thread may be left behind.
 */
#include "symbols/elf/remotedebug.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "symbols/base/grow.h"
#include "symbols/base/limits.h"
#include "symbols/base/worker.h"

#define FILES_MAX     4096u
#define END_NS	      300000000u
#define FIRST_SECONDS 30.0    /* a server may ask others */
#define GRACE_SECONDS 10.0    /* from the first byte on */
#define LEAST_RATE    65536.0 /* bytes a second after that */

struct client; /* the library's type */
typedef int progress_fn(struct client *client, long done, long total);

struct remotedebug_library {
	void *handle;
	struct client *(*begin)(void);
	int (*find)(struct client *client, const unsigned char *id, int length, char **path);
	void (*set_progress)(struct client *client, progress_fn *fn);
	void (*end)(struct client *client);
};

struct remotedebug_file {
	uint8_t id[BUILD_ID_MAX];
	size_t length;
	enum { FILE_ASKED, FILE_HERE, FILE_MISSING } state;
	char *path;
};

struct remotedebug {
	struct worker worker;
	bool given_up; /* cancels the current transfer */
	struct remotedebug_library library;
	struct client *client;
	struct remotedebug_file *files; /* in the order of requests and of transfers */
	size_t nfiles, files_room, next;
	uint64_t left;	/* bytes that may still be fetched */
	uint64_t began; /* ns of CLOCK_MONOTONIC; the current transfer */
	struct remotedebug_state state;
};

/* The progress function gets only the client, but runs in the thread that fetches. */
static _Thread_local struct remotedebug *fetching;

static int load(struct remotedebug_library *lib)
{
	lib->handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!lib->handle)
		return -ELIBACC;
	*(void **)&lib->begin = dlsym(lib->handle, "debuginfod_begin");
	*(void **)&lib->find = dlsym(lib->handle, "debuginfod_find_debuginfo");
	*(void **)&lib->set_progress = dlsym(lib->handle, "debuginfod_set_progressfn");
	*(void **)&lib->end = dlsym(lib->handle, "debuginfod_end");
	return lib->begin && lib->find && lib->set_progress && lib->end ? 0 : -ELIBACC;
}

/* --- the thread ------------------------------------------------------------------------------ */

bool remotedebug_is_too_much(uint64_t done, uint64_t total, uint64_t left, double seconds)
{
	const uint64_t most = left < LIMIT_REMOTE ? left : LIMIT_REMOTE;
	double allowed = GRACE_SECONDS + (double)done / LEAST_RATE;

	if (!total && allowed < FIRST_SECONDS)
		allowed = FIRST_SECONDS;
	return done > most || total > most || seconds > allowed;
}

/* Non-zero cancels. */
static int on_progress(struct client *client, long done, long total)
{
	struct remotedebug *rd = fetching;
	bool stop;

	(void)client;
	pthread_mutex_lock(&rd->worker.lock);
	rd->state.done = done > 0 ? (uint64_t)done : 0;
	rd->state.total = total > 0 ? (uint64_t)total : 0;
	stop = rd->worker.stop || rd->given_up ||
	       remotedebug_is_too_much(rd->state.done, rd->state.total, rd->left,
				       (double)(clock_ns(CLOCK_MONOTONIC) - rd->began) / 1e9);
	pthread_mutex_unlock(&rd->worker.lock);
	return stop;
}

/* All from `first` on. The lock is held. */
static void give_up(struct remotedebug *rd, size_t first)
{
	for (size_t i = first; i < rd->nfiles; i++) {
		if (rd->files[i].state != FILE_ASKED)
			continue;
		rd->files[i].state = FILE_MISSING;
		rd->state.waiting--;
		rd->state.missing++;
	}
}

/* The lock is held, and released meanwhile. */
static void fetch(struct remotedebug *rd)
{
	struct remotedebug_file want = rd->files[rd->next];
	char *path = NULL;
	bool here;
	int fd;

	rd->given_up = false;
	rd->began = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < want.length; i++)
		snprintf(rd->state.id + 2 * i, 3, "%02x", want.id[i]);
	pthread_mutex_unlock(&rd->worker.lock);
	fd = rd->library.find(rd->client, want.id, (int)want.length, &path);
	if (fd >= 0)
		close(fd);
	pthread_mutex_lock(&rd->worker.lock);
	here = fd >= 0 && path;
	rd->files[rd->next].path = path;
	if (!rd->given_up) {
		rd->files[rd->next].state = here ? FILE_HERE : FILE_MISSING;
		rd->state.waiting--;
		rd->state.found += here;
		rd->state.missing += !here;
		if (fd < 0 && fd != -ENOENT)
			rd->state.error = fd;
	}
	rd->next++;
	rd->left -= rd->state.done < rd->left ? rd->state.done : rd->left;
	rd->state.done = rd->state.total = 0;
	rd->state.id[0] = '\0';
}

static void begin(void *arg)
{
	struct remotedebug *rd = arg;

	fetching = rd;
	rd->client = rd->library.begin();
	if (rd->client)
		rd->library.set_progress(rd->client, on_progress);
	else
		rd->worker.stop = true;
}

static bool work(void *arg)
{
	struct remotedebug *rd = arg;

	while (rd->next < rd->nfiles && rd->files[rd->next].state != FILE_ASKED)
		rd->next++;
	if (rd->next == rd->nfiles)
		return false;
	fetch(rd);
	return true;
}

/* Files that are left are not fetched any more: callers must not try again and again. */
static void end(void *arg)
{
	struct remotedebug *rd = arg;

	pthread_mutex_lock(&rd->worker.lock);
	give_up(rd, rd->next);
	pthread_mutex_unlock(&rd->worker.lock);
	if (rd->client)
		rd->library.end(rd->client);
}

/* The library stays loaded: its own threads and curl's may be running. */
static void free_all(void *arg)
{
	struct remotedebug *rd = arg;

	for (size_t i = 0; i < rd->nfiles; i++)
		free(rd->files[i].path);
	free(rd->files);
	free(rd);
}

/* --- for others ------------------------------------------------------------------------------ */

int remotedebug_new(struct remotedebug **out)
{
	static const struct worker_ops ops = {
		.work = work, .begin = begin, .end = end, .free = free_all};
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct remotedebug *rd;
	int err;

	*out = NULL;
	if (!urls || !*urls)
		return -ENOENT;
	/* With these the library would write to our screen. */
	unsetenv("DEBUGINFOD_PROGRESS");
	unsetenv("DEBUGINFOD_VERBOSE");
	rd = calloc(1, sizeof(*rd));
	if (!rd)
		return -ENOMEM;
	rd->left = LIMIT_REMOTE_ALL;
	err = load(&rd->library);
	if (!err)
		err = worker_start(&rd->worker, &ops, rd);
	if (err)
		free(rd);
	else
		*out = rd;
	return err;
}

const char *remotedebug_trouble(int err)
{
	return err == -ENOENT	 ? "$DEBUGINFOD_URLS is not set"
	       : err == -ELIBACC ? "libdebuginfod.so.1 is missing (Debian: libdebuginfod1)"
				 : strerror(-err);
}

void remotedebug_free(struct remotedebug *rd)
{
	if (rd)
		worker_stop(&rd->worker, END_NS);
}

/* The lock is held. NULL: it was not asked for. */
static const struct remotedebug_file *find(const struct remotedebug *rd, const uint8_t *id,
					   size_t length)
{
	for (size_t i = 0; i < rd->nfiles; i++)
		if (rd->files[i].length == length && !memcmp(rd->files[i].id, id, length))
			return &rd->files[i];
	return NULL;
}

static int ask(struct remotedebug *rd, const uint8_t *id, size_t length)
{
	if (rd->worker.stop || GROW(rd->files, rd->nfiles, rd->files_room, FILES_MAX))
		return -ENOENT;
	rd->files[rd->nfiles] = (struct remotedebug_file){.length = length};
	memcpy(rd->files[rd->nfiles++].id, id, length);
	rd->state.waiting++;
	worker_wake(&rd->worker);
	return -EAGAIN;
}

int remotedebug_open(struct remotedebug *rd, const uint8_t *id, size_t length)
{
	const struct remotedebug_file *file;
	int result;

	if (!length || length > BUILD_ID_MAX)
		return -ENOENT;
	pthread_mutex_lock(&rd->worker.lock);
	file = find(rd, id, length);
	if (!file) {
		result = ask(rd, id, length);
	} else if (file->state == FILE_HERE) {
		result = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		result = result < 0 ? -ENOENT : result;
	} else {
		result = file->state == FILE_ASKED ? -EAGAIN : -ENOENT;
	}
	pthread_mutex_unlock(&rd->worker.lock);
	return result;
}

void remotedebug_state(struct remotedebug *rd, struct remotedebug_state *out)
{
	pthread_mutex_lock(&rd->worker.lock);
	*out = rd->state;
	pthread_mutex_unlock(&rd->worker.lock);
}

/*
 * The progress callback aborts the current transfer. Since elfutils 0.190 the library calls it only
 * after the server has answered, so a silent server blocks the thread until the library times out.
 */
unsigned int remotedebug_cancel(struct remotedebug *rd)
{
	unsigned int count;

	pthread_mutex_lock(&rd->worker.lock);
	count = rd->state.waiting;
	rd->given_up |= rd->state.id[0] != '\0';
	rd->state.id[0] = '\0';
	give_up(rd, rd->next);
	pthread_mutex_unlock(&rd->worker.lock);
	return count;
}
