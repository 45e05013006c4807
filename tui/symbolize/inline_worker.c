// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One lock guards the questions, the answers, and the list of objects. What was read of an object
 * belongs to the thread, which reads files without the lock.
 */
#include "tui/symbolize/inline_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "symbols/base/clock.h"
#include "symbols/elf/debugfile.h"
#include "symbols/dwarf/debuginfo.h"
#include "symbols/elf/elffile.h"
#include "symbols/base/memory.h"
#include "symbols/files/rootfile.h"
#include "symbols/base/worker.h"
#include "tui/symbolize/inline_chain.h"
#include "tui/symbolize/modules.h"

#define QUESTIONS_MAX 65536u
#define IDLE_SECONDS  30 /* then debug information is freed; its answers are kept */
#define NICE	      10 /* of the thread while its owner does not wait */

struct inline_question {
	struct inline_question *next;
	uint64_t vaddr;
	uint64_t symbol; /* see inline_chain_read */
	uint32_t id;
};

struct inline_object {
	struct inline_object *next; /* the one used before this */
	uint64_t id;
	pid_t pid;		/* that maps it */
	int fd;			/* -1: not needed, or taken */
	struct debuginfo *info; /* NULL: not read, or it cannot be used */
	bool bare;
	struct inline_question *questions, **last;
	uint64_t turn; /* of the question that found its queue empty */
	time_t used;   /* CLOCK_MONOTONIC seconds */
};

struct inline_worker {
	struct worker worker;
	size_t nquestions; /* including the one that is being answered */
	uint64_t turns;
	struct inline_worker_answer *answers, **last_answer;
	struct inline_object *objects; /* most recently used first */
	struct remotedebug *remote;    /* NULL: not wanted */
	struct fileasker *asker;       /* NULL: the thread may wait for files */
	size_t budget, kept;	       /* bytes: of one object, of all without questions */
};

/* --- objects --------------------------------------------------------------------------------- */

/* Moves the object to the front of the list. */
static void object_use(struct inline_worker *n, struct inline_object *object)
{
	object->used = clock_seconds();
	LL_DELETE(n->objects, object);
	LL_PREPEND(n->objects, object);
}

/*
 * The object to answer questions about: one that was read goes first, so that it is read once for
 * all of them and can be freed then; else the one that has waited longest. NULL: no questions.
 */
static struct inline_object *object_next(const struct inline_worker *n)
{
	struct inline_object *best = NULL;

	for (struct inline_object *o = n->objects; o; o = o->next) {
		if (!o->questions)
			continue;
		if (o->fd < 0) /* it has been read */
			return o;
		if (!best || o->turn < best->turn)
			best = o;
	}
	return best;
}

static struct inline_question *question_take(struct inline_object *object)
{
	struct inline_question *q = object->questions;

	object->questions = q->next;
	if (!q->next)
		object->last = &object->questions;
	return q;
}

static void object_free(struct inline_object *object)
{
	if (object->fd >= 0)
		close(object->fd);
	while (object->questions)
		free(question_take(object));
	debuginfo_free(object->info);
	free(object);
}

static void objects_free(struct inline_object *objects)
{
	while (objects) {
		struct inline_object *next = objects->next;

		object_free(objects);
		objects = next;
	}
}

/*
 * True if there is debug information. If the process is gone, so is its root. Takes over the
 * descriptor.
 */
static bool object_open(struct inline_worker *n, struct inline_object *object, int fd, pid_t pid,
			struct remotedebug *remote)
{
	int root = pid ? rootfile_root(pid) : -1;
	struct debug_place place = {root < 0 ? -1 : root, MODULES_DEBUG_ROOT, remote, n->asker,
				    pid};
	struct debuginfo_options options = {.place = &place,
					    .limit = n->budget,
					    .cancel = &n->worker.stop,
					    .user = inline_chain_user()};
	struct elf_file *file;
	bool read;

	read = !elf_file_open_fd(fd, &file) && !debuginfo_new(file, &options, &object->info);
	close(fd);
	if (root >= 0)
		close(root);
	return read;
}

/*
 * Removes objects without questions, except for one, that are too many or too old to be kept. The
 * lock is held.
 */
static struct inline_object *objects_cut(struct inline_worker *n, const struct inline_object *but)
{
	const time_t old = clock_seconds() - IDLE_SECONDS;
	struct inline_object **link = &n->objects, *rest = NULL;
	size_t bytes = 0;

	while (*link) {
		struct inline_object *object = *link;
		bool stays = object == but || object->questions;

		if (object->info && !stays)
			bytes += debuginfo_bytes(object->info);
		if (!stays && (bytes > n->kept || object->used < old)) {
			*link = object->next;
			object->next = rest;
			rest = object;
		} else {
			link = &object->next;
		}
	}
	return rest;
}

/* --- the thread ------------------------------------------------------------------------------ */

/* The lock is held, and released meanwhile. */
static void answer_one(struct inline_worker *n, struct inline_object *object)
{
	struct inline_worker_answer *answer = calloc(1, sizeof(*answer));
	struct inline_question *q = question_take(object);
	struct remotedebug *remote = n->remote;
	struct inline_object *rest;
	pid_t pid = object->pid;
	int fd = object->fd;
	bool bare = object->bare;

	object_use(n, object);
	object->fd = -1;
	pthread_mutex_unlock(&n->worker.lock);
	if (fd >= 0)
		bare = !object_open(n, object, fd, pid, remote);
	if (answer) {
		answer->id = q->id;
		answer->bare = bare;
		/* Without memory the address has no calls. */
		if (inline_chain_read(object->info, q->vaddr, q->symbol, &answer->calls))
			answer->calls = NULL;
	}
	free(q);
	pthread_mutex_lock(&n->worker.lock);
	if (fd >= 0)
		object->bare = bare;
	if (answer) {
		*n->last_answer = answer;
		n->last_answer = &answer->next;
	}
	n->nquestions--;
	rest = objects_cut(n, object);
	pthread_mutex_unlock(&n->worker.lock);
	objects_free(rest);
	pthread_mutex_lock(&n->worker.lock);
}

/* Frees all objects if no question came for long. True: the lock, which is held, was released. */
static bool objects_expire(struct inline_worker *n)
{
	struct inline_object *all = n->objects;

	pthread_cond_broadcast(&n->worker.answered);
	if (!all || all->used > clock_seconds() - IDLE_SECONDS)
		return false;
	n->objects = NULL;
	pthread_mutex_unlock(&n->worker.lock);
	objects_free(all);
	pthread_mutex_lock(&n->worker.lock);
	return true;
}

static bool work(void *arg)
{
	struct inline_worker *n = arg;
	struct inline_object *object = object_next(n);

	if (!object)
		return objects_expire(n);
	answer_one(n, object);
	return true;
}

static void free_all(void *arg)
{
	struct inline_worker *n = arg;

	inline_worker_answers_free(n->answers);
	objects_free(n->objects);
	free(n);
}

/* --- for the collector ----------------------------------------------------------------------- */

int inline_worker_new(size_t budget, struct fileasker *asker, struct inline_worker **out)
{
	static const struct worker_ops ops = {.work = work,
					      .wake_ns = IDLE_SECONDS * 1000000000ull,
					      .free = free_all,
					      .nice = NICE};
	struct inline_worker *n = calloc(1, sizeof(*n));
	int err;

	*out = NULL;
	if (!n)
		return -ENOMEM;
	n->asker = asker;
	n->budget = budget;
	n->kept = memory_limit(MEMORY_KEPT);
	/* Two of the largest, so that a library and the C library do not drive each other out. */
	if (n->kept > 2 * budget)
		n->kept = 2 * budget;
	n->last_answer = &n->answers;
	err = worker_start(&n->worker, &ops, n);
	if (err)
		free(n);
	else
		*out = n;
	return err;
}

void inline_worker_free(struct inline_worker *inliner)
{
	if (!inliner)
		return;
	worker_nice(&inliner->worker, 0);
	worker_stop(&inliner->worker, WORKER_FOREVER);
}

/* The lock is held. A bare object is read again: a debug package may be installed by now. */
static int object_want(struct inline_worker *n, uint64_t id, int fd, pid_t pid,
		       struct inline_object **out)
{
	struct inline_object *object;

	LL_SEARCH_SCALAR(n->objects, object, id, id);
	*out = object;
	if (object && !object->bare)
		return 0;
	if (!object) {
		object = calloc(1, sizeof(*object));
		if (!object)
			return -ENOMEM;
		*object = (struct inline_object){.id = id, .fd = -1};
		object->last = &object->questions;
		LL_PREPEND(n->objects, object);
		*out = object;
	}
	if (object->fd < 0)
		object->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	object->pid = pid;
	object->bare = false;
	return object->fd < 0 ? -errno : 0;
}

void inline_worker_set_remote(struct inline_worker *inliner, struct remotedebug *remote)
{
	pthread_mutex_lock(&inliner->worker.lock);
	inliner->remote = remote;
	pthread_mutex_unlock(&inliner->worker.lock);
}

int inline_worker_ask(struct inline_worker *inliner, uint64_t object, int fd, pid_t pid,
		      uint64_t vaddr, uint64_t symbol, uint32_t id)
{
	struct inline_question *q = malloc(sizeof(*q));
	struct inline_object *of;
	int err = -EAGAIN;

	if (!q)
		return -ENOMEM;
	*q = (struct inline_question){.vaddr = vaddr, .symbol = symbol, .id = id};
	pthread_mutex_lock(&inliner->worker.lock);
	if (inliner->nquestions < QUESTIONS_MAX)
		err = object_want(inliner, object, fd, pid, &of);
	if (!err) {
		if (!of->questions)
			of->turn = ++inliner->turns;
		*of->last = q;
		of->last = &q->next;
		inliner->nquestions++;
		worker_wake(&inliner->worker);
	}
	pthread_mutex_unlock(&inliner->worker.lock);
	if (err)
		free(q);
	return err;
}

struct inline_worker_answer *inline_worker_take(struct inline_worker *inliner)
{
	struct inline_worker_answer *answers;

	pthread_mutex_lock(&inliner->worker.lock);
	answers = inliner->answers;
	inliner->answers = NULL;
	inliner->last_answer = &inliner->answers;
	pthread_mutex_unlock(&inliner->worker.lock);
	return answers;
}

void inline_worker_answers_free(struct inline_worker_answer *answers)
{
	while (answers) {
		struct inline_worker_answer *next = answers->next;

		free(answers->calls);
		free(answers);
		answers = next;
	}
}

/*
 * While its caller waits, the thread has the caller's nice value: beside the tracker and busy
 * programs of other sessions it would have next to nothing of a CPU.
 */
bool inline_worker_wait(struct inline_worker *inliner, uint64_t ns)
{
	struct timespec until = clock_in(CLOCK_MONOTONIC, ns);
	bool done;

	worker_nice(&inliner->worker, 0);
	pthread_mutex_lock(&inliner->worker.lock);
	while (inliner->nquestions && worker_wait(&inliner->worker, &until))
		;
	done = !inliner->nquestions;
	pthread_mutex_unlock(&inliner->worker.lock);
	worker_nice(&inliner->worker, NICE);
	return done;
}
