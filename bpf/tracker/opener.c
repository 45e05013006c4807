// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which helper gets a question, and when it is given up. A helper has questions of one user at a
 * time, so that a file that does not answer delays only the user who has mapped it.
 */
#include "bpf/tracker/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utlist.h>

#include "bpf/sampler/clock.h"
#include "symbols/base/hash.h"
#include "symbols/base/memory.h"
#include "symbols/base/quota.h"
#include "symbols/files/procstat.h"

#define ANSWER_NS      (5000ull * 1000000) /* for one file */
#define ANSWER_BUSY_NS (1000ull * 1000000) /* while others wait and no helper is free */
#define BEHIND_NS      (300ull * 1000000)  /* before questions behind it go to other helpers */
#define LOOK_NS	       (100ull * 1000000)
#define STARVED_MAX_NS (60000ull * 1000000)
#define RESTART_NS     (1000ull * 1000000)
#define SOON_NS	       (1500ull * 1000000)
#define TRIES_MAX      3u		    /* of a question that ends a helper */
#define SILENT_NS      (60000ull * 1000000) /* a file that did not answer is not asked for so long */
#define SILENT_MAX     64u
#define DEPTH_MAX      8u     /* questions at one helper */
#define WAITING_MAX    16384u /* not counting root's */
#define USER_MAX       8192u

struct open_key {
	uint64_t dev, inode;
	uint64_t name; /* hash */
};

struct open_question {
	struct opening opening;
	struct open_key key;
	unsigned int tries;
	struct open_question *prev, *next;
	UT_hash_handle hh; /* of opener.joinable */
	bool hashed;
	struct open_request request; /* allocated only up to the end of the name */
};

struct user_queue {
	uid_t uid;
	struct open_question *first;
	unsigned int waiting;
	struct user_queue *prev, *next; /* in a ring: next has the next turn */
};

struct open_helper {
	int socket;	  /* -1: there is none */
	int stat;	  /* its /proc/PID/stat; -1: not known */
	uint64_t since;	  /* when its first question was begun, or the helper was lost */
	uint64_t looked;  /* at its state, or since */
	uint64_t starved; /* for how long it has been ready to run, but did not, since then */
	uint64_t cpu;	  /* ns of a CPU that it had had when it was looked at */
	bool runs;	  /* it has said so */
	struct open_question *first;
	unsigned int depth;
	bool stale; /* questions behind the first were taken back: it ends with that */
};

struct opener {
	opener_on_answer *on_answer;
	void *arg;
	struct openhelpers processes;
	struct open_helper helpers[OPENHELPERS];
	struct user_queue *turn; /* of the user served last; users without questions have none */
	unsigned int waiting;
	struct open_question *joinable; /* by key */
	struct quota bytes;		/* of all questions */
	uint64_t next_id, last_asked;
	struct silent {
		struct open_key key;
		uint64_t until;
	} silent[SILENT_MAX];
	unsigned int next_silent;
	struct open_answer answer;
};

/* A name is valid within its process only. */
static struct open_key key_of_request(const struct open_request *r)
{
	struct open_key key = {r->dev, r->inode, 0xcbf29ce484222325u};

	for (const char *c = r->kind == OPEN_CODE || r->kind == OPEN_RUNTIME ? "" : r->name; *c;
	     c++)
		key.name = (key.name ^ (unsigned char)*c) * 0x100000001b3u;
	if (r->kind != OPEN_MAPPED) {
		key.dev = UINT64_MAX - r->kind;
		key.inode = (uint64_t)r->pid;
	}
	return key;
}

int opener_new(opener_on_answer *on_answer, void *arg, struct opener **out)
{
	struct opener *o = calloc(1, sizeof(*o));
	int err;

	*out = NULL;
	if (!o)
		return -ENOMEM;
	o->bytes.max = memory_limit(MEMORY_OBJECTS) / 2;
	o->on_answer = on_answer;
	o->arg = arg;
	for (size_t i = 0; i < OPENHELPERS; i++)
		o->helpers[i].socket = o->helpers[i].stat = -1;
	err = openhelpers_new(&o->processes);
	if (err) {
		free(o);
		return err;
	}
	*out = o;
	return 0;
}

/* The descriptor that goes with a request; -1: none. */
static int base_of(const struct open_request *r)
{
	return r->kind == OPEN_CODE && r->code.part ? r->code.base : -1;
}

static void question_free(struct opener *o, struct open_question *q)
{
	if (q->hashed) {
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it is in the table then */
		HASH_DEL(o->joinable, q);
	}
	quota_give(&o->bytes, q->opening.uid,
		   offsetof(struct open_question, request) + open_request_bytes(&q->request));
	if (base_of(&q->request) >= 0)
		close(base_of(&q->request));
	free(q);
}

static struct open_question *take_first(struct open_question **first)
{
	struct open_question *q = *first;

	DL_DELETE(*first, q);
	return q;
}

/* --- users' queues --------------------------------------------------------------------------- */

static struct user_queue *queue_of(struct opener *o, uid_t uid)
{
	struct user_queue *q;

	CDL_SEARCH_SCALAR(o->turn, q, uid, uid);
	if (q)
		return q;
	q = calloc(1, sizeof(*q));
	if (!q)
		return NULL;
	q->uid = uid;
	CDL_APPEND_ELEM(o->turn, o->turn, q);
	return q;
}

/* It has no questions. */
static void queue_drop(struct opener *o, struct user_queue *q)
{
	if (o->turn == q)
		o->turn = q->prev;
	CDL_DELETE(o->turn, q);
	free(q);
}

static void queue_add(struct opener *o, struct user_queue *queue, struct open_question *q)
{
	DL_APPEND(queue->first, q);
	queue->waiting++;
	o->waiting += queue->uid != 0;
}

/* --- questions ------------------------------------------------------------------------------- */

static bool is_silent(const struct opener *o, const struct open_key *key, uint64_t now)
{
	for (size_t i = 0; i < SILENT_MAX; i++)
		if (o->silent[i].until > now && !memcmp(&o->silent[i].key, key, sizeof(*key)))
			return true;
	return false;
}

uint64_t opener_ask(struct opener *o, const struct open_request *request, pid_t tgid, uid_t uid,
		    bool alone)
{
	const size_t size = open_request_bytes(request);
	const size_t bytes = offsetof(struct open_question, request) + size;
	const uint64_t now = clock_now();
	struct open_key key = key_of_request(request);
	struct open_question *q = NULL;
	struct user_queue *queue;

	if (is_silent(o, &key, now))
		return 0;
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): hashed as bytes */
	HASH_FIND(hh, o->joinable, &key, sizeof(key), q);
	if (q && !alone)
		return q->opening.id;
	alone |= q != NULL;
	queue = queue_of(o, uid);
	q = NULL;
	if (queue && queue->waiting < USER_MAX && (!uid || o->waiting < WAITING_MAX) &&
	    quota_take(&o->bytes, uid, bytes)) {
		q = malloc(bytes);
		if (!q)
			quota_give(&o->bytes, uid, bytes);
	}
	if (!q) {
		if (queue && !queue->first)
			queue_drop(o, queue);
		return 0;
	}
	memset(q, 0, offsetof(struct open_question, request));
	memcpy(&q->request, request, size);
	if (base_of(request) >= 0)
		q->request.code.base = fcntl(request->code.base, F_DUPFD_CLOEXEC, 0);
	q->request.id = ++o->next_id;
	q->opening = (struct opening){q->request.id, tgid, uid, &q->request};
	q->key = key;
	o->last_asked = now;
	q->hashed = !alone;
	if (!alone)
		HASH_ADD(hh, o->joinable, key, sizeof(q->key), q);
	queue_add(o, queue, q);
	return q->request.id;
}

/* Takes the question, and hands over fd. */
static void answer_question(struct opener *o, struct open_question *q, const struct open_answer *a,
			    int fd)
{
	/* Questions that on_answer asks must not join this one. */
	if (q->hashed)
		HASH_DEL(o->joinable, q);
	q->hashed = false;
	o->on_answer(o->arg, &q->opening, a, fd);
	question_free(o, q);
}

static void answer_error(struct opener *o, struct open_question *q, int err)
{
	o->answer.id = q->opening.id;
	o->answer.err = err;
	answer_question(o, q, &o->answer, -1);
}

/* --- helpers --------------------------------------------------------------------------------- */

static void ask_again(struct opener *o, struct open_question *q)
{
	struct user_queue *queue = queue_of(o, q->opening.uid);

	if (queue)
		queue_add(o, queue, q);
	else
		answer_error(o, q, -ENOMEM);
}

/* Its first question begins now. */
static void helper_begin(struct open_helper *h, uint64_t now)
{
	h->since = h->looked = now;
	h->starved = 0;
}

static void helper_close(struct open_helper *h)
{
	if (h->socket >= 0)
		close(h->socket);
	if (h->stat >= 0)
		close(h->stat);
	h->socket = h->stat = -1;
	h->cpu = 0;
	h->runs = false;
}

/*
 * Its first question is given up if it has timed out or ended several helpers; the others are asked
 * again.
 */
static void helper_lose(struct opener *o, struct open_helper *h, int err, uint64_t now)
{
	struct open_question *first = NULL;

	helper_close(h);
	h->since = now;
	h->depth = 0;
	h->stale = false;
	if (h->first && (err == -ETIMEDOUT || ++h->first->tries == TRIES_MAX))
		first = take_first(&h->first);
	while (h->first)
		ask_again(o, take_first(&h->first));
	if (first) {
		o->silent[o->next_silent++ % SILENT_MAX] =
			(struct silent){first->key, now + SILENT_NS};
		answer_error(o, first, err);
	}
}

static bool helper_receive(struct opener *o, struct open_helper *h, uint64_t now)
{
	int fd;
	ssize_t n = openhelper_receive(h->socket, &o->answer, sizeof(o->answer), &fd);

	if (n == -EAGAIN)
		return false;
	if (n == OPENHELPER_HELLO && !h->runs) {
		h->runs = true;
		h->stat = fd;
		helper_begin(h, now);
		return true;
	}
	if (n < (ssize_t)offsetof(struct open_answer, loads) || !h->first ||
	    o->answer.id != h->first->opening.id) {
		if (fd >= 0)
			close(fd);
		helper_lose(o, h, -ECONNRESET, now);
		return false;
	}
	if (!o->answer.err && fd < 0 && h->first->request.kind != OPEN_RUNTIME)
		o->answer.err = -EMFILE; /* no descriptor was free in this process */
	h->depth--;
	helper_begin(h, now);
	answer_question(o, take_first(&h->first), &o->answer, fd);
	if (!h->stale)
		return true;
	openhelpers_kill(&o->processes, (unsigned int)(h - o->helpers));
	helper_lose(o, h, 0, now);
	h->since = 0; /* it may be started anew at once */
	return false;
}

static bool helper_start(struct opener *o, unsigned int i, uint64_t now)
{
	struct open_helper *h = &o->helpers[i];

	if (h->socket < 0 && (!h->since || h->since + RESTART_NS <= now)) {
		h->socket = openhelpers_start(&o->processes, i);
		h->since = now;
	}
	return h->socket >= 0;
}

/* For a question of the user: a helper that is idle or has questions of that user. */
static struct open_helper *helper_for(struct opener *o, uid_t uid, uint64_t now)
{
	struct open_helper *best = NULL;

	for (unsigned int i = 0; i < OPENHELPERS; i++) {
		struct open_helper *h = &o->helpers[i];

		if (h->stale ||
		    (h->depth && (h->depth >= DEPTH_MAX || h->first->opening.uid != uid)))
			continue;
		if ((!best || h->depth < best->depth) && helper_start(o, i, now))
			best = h;
	}
	return best;
}

static bool helper_send(struct open_helper *h, struct open_question *q, uint64_t now)
{
	if (openhelper_send(h->socket, &q->request, open_request_bytes(&q->request),
			    base_of(&q->request)))
		return false;
	if (!h->depth++)
		helper_begin(h, now);
	DL_APPEND(h->first, q);
	return true;
}

/* Sends one question of the next user for whom a helper is free. */
static bool send_next(struct opener *o, uint64_t now)
{
	struct user_queue *q = o->turn;
	struct open_question *next;
	struct open_helper *h;

	if (!q)
		return false;
	do {
		q = q->next;
		h = helper_for(o, q->uid, now);
	} while (!h && q != o->turn);
	if (!h)
		return false;
	next = take_first(&q->first);
	if (!helper_send(h, next, now)) { /* helper_receive will see its end */
		DL_PREPEND(q->first, next);
		return false;
	}
	q->waiting--;
	o->waiting -= q->uid != 0;
	o->turn = q;
	if (!q->first)
		queue_drop(o, q);
	return true;
}

/* Its first file may not answer: the others need not wait. */
static void helper_take_back(struct opener *o, struct open_helper *h)
{
	struct open_question *first = take_first(&h->first);

	while (h->first)
		ask_again(o, take_first(&h->first));
	DL_APPEND(h->first, first);
	h->depth = 1;
	h->stale = true;
}

/*
 * A file keeps a helper waiting, but a busy machine keeps it from running: that time does not
 * count. Nor does the time until it runs at all.
 */
static void helper_look(struct open_helper *h, uint64_t now)
{
	const uint64_t before = h->cpu;
	uint64_t passed = now - h->looked;
	bool ready = !h->runs;

	if (!h->depth || passed < LOOK_NS)
		return;
	if (h->stat >= 0)
		ready |= procstat_runs(h->stat, &h->cpu);
	/* What has a CPU, for a file that takes much of it, is not starved. */
	passed -= h->cpu - before < passed ? h->cpu - before : passed;
	if (ready)
		h->starved += passed;
	if (h->starved > STARVED_MAX_NS)
		h->starved = STARVED_MAX_NS;
	h->looked = now;
}

static bool helper_is_late(const struct open_helper *h, uint64_t time, uint64_t now)
{
	return h->since + h->starved + time <= now;
}

static uint64_t answer_time(const struct opener *o)
{
	bool crowded = o->turn != NULL;

	for (size_t i = 0; i < OPENHELPERS; i++)
		crowded &= o->helpers[i].depth > 0;
	return crowded ? ANSWER_BUSY_NS : ANSWER_NS;
}

void opener_turn(struct opener *o, uint64_t now)
{
	for (unsigned int i = 0; i < OPENHELPERS; i++) {
		struct open_helper *h = &o->helpers[i];

		while (h->socket >= 0 && helper_receive(o, h, now))
			;
		helper_look(h, now);
		if (h->depth > 1 && helper_is_late(h, BEHIND_NS, now))
			helper_take_back(o, h);
	}
	while (send_next(o, now))
		;
	for (unsigned int i = 0; i < OPENHELPERS; i++) {
		struct open_helper *h = &o->helpers[i];

		if (h->depth && helper_is_late(h, answer_time(o), now)) {
			openhelpers_kill(&o->processes, i);
			helper_lose(o, h, -ETIMEDOUT, now);
		}
	}
}

void opener_fds(const struct opener *o, struct pollfd *fds)
{
	for (size_t i = 0; i < OPENHELPERS; i++)
		fds[i] = (struct pollfd){.fd = o->helpers[i].socket, .events = POLLIN};
}

int opener_wait(const struct opener *o)
{
	for (size_t i = 0; i < OPENHELPERS; i++)
		if (o->helpers[i].depth)
			return 100;
	return o->turn ? 100 : -1;
}

bool opener_is_busy(const struct opener *o, uint64_t now)
{
	return o && opener_wait(o) >= 0 && o->last_asked + SOON_NS > now;
}

void opener_free(struct opener *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < OPENHELPERS; i++) {
		struct open_helper *h = &o->helpers[i];

		helper_close(h);
		while (h->first)
			question_free(o, take_first(&h->first));
	}
	while (o->turn) {
		while (o->turn->first)
			question_free(o, take_first(&o->turn->first));
		queue_drop(o, o->turn);
	}
	quota_free(&o->bytes);
	openhelpers_free(&o->processes);
	free(o);
}
