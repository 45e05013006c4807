// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See sender.h. An entry of the queue goes in as few requests as the server takes. How far it was
 * sent is noted before the next request, so that nothing is sent twice because of an end in
 * between; the same samples have the same id if they are sent again because no answer came.
 */
#include "tui/push/sender.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "symbols/base/clock.h"
#include "symbols/base/thread.h"
#include "tui/net/http.h"
#include "tui/profile/board.h"
#include "tui/push/pack.h"
#include "tui/push/queue.h"
#include "tui/push/request.h"
#include "tui/push/verdict.h"

#define REQUEST_SECONDS 30
#define BACKOFF_FIRST	1000u  /* ms */
#define BACKOFF_MAX	60000u /* ms */
#define LOOK_MS		500u
#define PIECE_MOST	65536u /* samples: no request has more, so that memory is bounded */

struct push_sender {
	struct push_queue *queue;
	struct board *board;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows, up to the thread's own */
	pthread_cond_t woken; /* CLOCK_MONOTONIC; for the thread, and for those who wait for it */
	const struct push_options *options;
	bool changed, draining, blocked; /* blocked: the last request failed */
	struct push_sent sent;
	atomic_bool stop;
	/* of the thread */
	struct push_options now;
	struct push_target target;
	struct http *http;
	struct push_request request;
	unsigned int backoff; /* ms */
	uint64_t most;	      /* samples in a request, as far as the server's limit is known */
};

/* --- the thread waits ------------------------------------------------------------------------ */

/*
 * Up to so many ms, or until there is reason to look again. The end of the program waits less long
 * for a server that is down, but as long as a server has asked for.
 */
static void rest(struct push_sender *s, unsigned int ms, bool asked)
{
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	bool over = false;

	pthread_mutex_lock(&s->lock);
	while (!over && !atomic_load(&s->stop) && !s->changed) {
		unsigned int now = s->draining && !asked && ms > LOOK_MS ? LOOK_MS : ms;
		uint64_t passed = clock_ns(CLOCK_MONOTONIC) - begin;
		struct timespec until;

		over = passed >= now * 1000000ull;
		until = clock_in(CLOCK_MONOTONIC, over ? 0 : now * 1000000ull - passed);
		if (!over)
			pthread_cond_timedwait(&s->woken, &s->lock, &until);
	}
	pthread_mutex_unlock(&s->lock);
}

/* Until something comes into the queue. */
static void rest_idle(struct push_sender *s)
{
	struct timespec until = clock_in(CLOCK_MONOTONIC, LOOK_MS * 1000000ull);

	pthread_mutex_lock(&s->lock);
	s->sent.idle = true;
	pthread_cond_broadcast(&s->woken);
	if (!atomic_load(&s->stop) && !s->changed)
		pthread_cond_timedwait(&s->woken, &s->lock, &until);
	pthread_mutex_unlock(&s->lock);
}

/* Up to a quarter more, so that many machines do not come back at the same moment. */
static unsigned int with_jitter(unsigned int ms)
{
	uint16_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint16_t)clock_ns(CLOCK_MONOTONIC);
	return ms + (unsigned int)((uint64_t)ms * random / (4 * 65536));
}

static void back_off(struct push_sender *s, unsigned int seconds)
{
	unsigned int ms = s->backoff ? s->backoff : BACKOFF_FIRST;

	s->backoff = ms * 2 < BACKOFF_MAX ? ms * 2 : BACKOFF_MAX;
	ms = with_jitter(ms);
	rest(s, seconds * 1000 > ms ? seconds * 1000 : ms, seconds > 0);
}

/* --- what is told ---------------------------------------------------------------------------- */

static void tell_trouble(struct push_sender *s, const char *text)
{
	bool new;

	pthread_mutex_lock(&s->lock);
	new = strcmp(s->sent.trouble, text) != 0;
	snprintf(s->sent.trouble, sizeof(s->sent.trouble), "%s", text);
	if (!s->sent.since)
		s->sent.since = clock_ns(CLOCK_MONOTONIC);
	s->sent.failed++;
	s->blocked = true;
	pthread_cond_broadcast(&s->woken);
	pthread_mutex_unlock(&s->lock);
	if (new)
		board_message(s->board, MESSAGE_WARNING, "push to %.100s: %s; tried again later",
			      s->target.base, text);
}

static void tell_success(struct push_sender *s, uint64_t samples)
{
	uint64_t since;

	pthread_mutex_lock(&s->lock);
	since = s->sent.since;
	s->sent.since = 0;
	s->sent.trouble[0] = '\0';
	s->sent.protocol = s->target.protocol;
	s->sent.bytes += s->request.body.size;
	s->sent.samples += samples;
	s->sent.profiles += s->request.profiles;
	s->sent.last = clock_ns(CLOCK_REALTIME);
	s->blocked = false;
	pthread_mutex_unlock(&s->lock);
	s->backoff = 0;
	if (since)
		board_message(s->board, MESSAGE_INFO, "push to %.100s works again after %llu s",
			      s->target.base,
			      (unsigned long long)((clock_ns(CLOCK_MONOTONIC) - since) /
						   CLOCK_NS_PER_SEC));
}

static void tell_refused(struct push_sender *s, uint64_t samples, const char *why)
{
	pthread_mutex_lock(&s->lock);
	s->sent.refused += samples;
	s->blocked = false;
	pthread_mutex_unlock(&s->lock);
	board_message(s->board, MESSAGE_ERROR, "push to %.100s: %llu samples lost: %s",
		      s->target.base, (unsigned long long)samples, why);
}

/* --- where to -------------------------------------------------------------------------------- */

/* False: nothing can be sent with these options now; told. */
static bool take_options(struct push_sender *s)
{
	struct http_settings settings = {.seconds = REQUEST_SECONDS};
	char error[320] = "", **secrets;
	size_t nsecrets;
	int err;

	pthread_mutex_lock(&s->lock);
	s->changed = false;
	s->now = *s->options;
	pthread_mutex_unlock(&s->lock);
	http_free(s->http);
	s->http = NULL;
	s->backoff = 0;
	if (!push_target_parse(s->now.url, &s->target, error, sizeof(error)) ||
	    push_secrets_read(s->now.secrets, &secrets, &nsecrets, error, sizeof(error))) {
		tell_trouble(s, error);
		return false;
	}
	settings.ca = s->now.ca;
	settings.headers = (const char *const *)secrets;
	settings.nheaders = nsecrets;
	err = http_new(&settings, &s->http);
	push_secrets_free(secrets, nsecrets);
	if (err)
		tell_trouble(s, http_missing() ? http_missing() : strerror(-err));
	return !err;
}

/* Asks with an empty request. */
static int ask_for(struct push_sender *s, const struct push_target *target,
		   struct http_reply *reply)
{
	struct http_request request = {.url = target->url, .body = ""};

	request.grpc = target->protocol == PUSH_OTLP_GRPC || target->protocol == PUSH_PARCA_GRPC;
	request.type = request.grpc			? "application/grpc+proto"
		       : target->protocol == PUSH_PARCA ? "application/json"
		       : target->protocol == PUSH_OTLP	? "application/x-protobuf"
							: "application/proto";
	if (target->protocol == PUSH_PARCA) {
		request.body = "{}";
		request.size = 2;
	}
	return http_send(s->http, &request, reply, &s->stop);
}

/* False: it is not known yet what the server speaks; told. */
static bool ask(struct push_sender *s)
{
	/* Who speaks push.v1 takes profiles of OpenTelemetry, too, but keeps less of them. */
	static const enum push_protocol order[] = {PUSH_PYROSCOPE, PUSH_PARCA, PUSH_OTLP,
						   PUSH_OTLP_GRPC, PUSH_PARCA_GRPC};
	const char *why = "speaks none of the protocols of Pyroscope, Parca and OpenTelemetry";
	struct http_reply reply = {0};
	struct push_answer first = {0};

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		struct push_target target = s->target;

		push_target_set(&target, order[i]);
		do {
			if (ask_for(s, &target, &reply))
				return false;
			if (target.protocol == order[0])
				push_judge(order[0], &reply, &first);
			if (push_knows(target.protocol, &reply)) {
				s->target = target;
				board_message(s->board, MESSAGE_INFO,
					      "push to %.100s: it speaks %s", target.base,
					      push_protocol_name(target.protocol));
				return true;
			}
		} while (reply.status && push_target_other(&target));
		/* There is no use in asking further at a name that is not known or at a port that
		 * is closed. But a server of HTTP/2 alone breaks off the first requests. */
		if (reply.unreachable || reply.certificate)
			break;
	}
	tell_trouble(s, first.verdict == PUSH_AGAIN ? first.text : why);
	back_off(s, first.wait);
	return false;
}

/* --- an entry -------------------------------------------------------------------------------- */

/* Of samples [first, end) of the piece. */
static uint64_t count_of(const struct push_piece *piece, size_t first, size_t end)
{
	uint64_t count = 0;

	for (size_t i = first; i < end; i++)
		count += piece->c->samples[i].count;
	return count;
}

/* -ECANCELED: the thread has to end. */
static int send_once(struct push_sender *s, const struct push_piece *piece,
		     struct push_answer *answer)
{
	struct http_request request = {0};
	struct http_reply reply;
	char *url = NULL;
	int err = push_request_make(&s->request, s->target.protocol, &s->now, piece);

	if (err == -EFBIG) {
		*answer = (struct push_answer){.verdict = PUSH_TOO_LARGE};
		return 0;
	}
	if (err || asprintf(&url, "%s%s", s->target.url, s->request.query) < 0)
		return err ? err : -ENOMEM;
	request = (struct http_request){.url = url,
					.type = s->request.type,
					.encoding = s->request.encoding,
					.body = s->request.body.data,
					.size = s->request.body.size,
					.grpc = s->request.grpc};
	err = http_send(s->http, &request, &reply, &s->stop);
	free(url);
	if (err)
		return err;
	push_judge(s->target.protocol, &reply, answer);
	pthread_mutex_lock(&s->lock);
	s->sent.requests++;
	s->sent.rejected += answer->rejected;
	pthread_mutex_unlock(&s->lock);
	if (answer->rejected)
		board_message(s->board, MESSAGE_WARNING, "push to %.100s: %llu profiles rejected",
			      s->target.base, (unsigned long long)answer->rejected);
	return 0;
}

/* Half of what was too large; one sample that is too large is lost. */
static void cut(struct push_sender *s, const struct push_piece *piece, struct push_progress *at)
{
	const size_t had = s->request.end - piece->first;

	pthread_mutex_lock(&s->lock);
	s->sent.split++;
	pthread_mutex_unlock(&s->lock);
	if (had > 1) {
		s->most = at->piece = had / 2;
		return;
	}
	tell_refused(s, count_of(piece, piece->first, piece->first + 1),
		     "one sample is larger than the server takes");
	at->cursor++;
	/* A server that takes nothing at all is not asked for each sample at once. */
	rest(s, LOOK_MS, true);
}

/* What the answer changes. */
static void take_answer(struct push_sender *s, const struct push_piece *piece,
			const struct push_answer *answer, struct push_progress *at)
{
	switch (answer->verdict) {
	case PUSH_TAKEN:
		tell_success(s, count_of(piece, piece->first, s->request.end));
		at->cursor = s->request.end;
		/* More would be cut at other places by the next process. */
		s->most += s->most / 16 + 1;
		s->most = s->most < PIECE_MOST ? s->most : PIECE_MOST;
		break;
	case PUSH_TOO_LARGE:
		cut(s, piece, at);
		break;
	case PUSH_REFUSED:
		tell_refused(s, count_of(piece, piece->first, s->request.end), answer->text);
		at->cursor = s->request.end;
		break;
	case PUSH_UNKNOWN:
		if (push_target_other(&s->target))
			break;
		/* Nothing else is known there: it may have been a moment. */
		push_target_parse(s->now.url, &s->target, (char[256]){0}, 256);
		/* fall through */
	case PUSH_AGAIN:
		tell_trouble(s, answer->text);
		back_off(s, answer->wait);
		break;
	}
}

static bool must_look_up(struct push_sender *s)
{
	bool changed;

	pthread_mutex_lock(&s->lock);
	changed = s->changed;
	pthread_mutex_unlock(&s->lock);
	return changed;
}

/* True: all of it was sent, or lost and counted. False: it waits. */
static bool send_entry(struct push_sender *s, const struct push_entry *entry,
		       const struct export_model *c, const char *host)
{
	struct push_progress at = entry->progress;

	/* A file that is damaged must not pass for one that was sent. */
	if (at.cursor > c->nsamples)
		at.cursor = 0;
	/* What is sent again has to be cut at the same places, also by another process: only then
	 * it has the same ids. */
	if (!at.piece || at.piece > PIECE_MOST) {
		at.piece = s->most;
		if (!push_queue_note(s->queue, entry->number, &at))
			return true;
	}
	while (at.cursor < c->nsamples) {
		struct push_piece piece = {.c = c, .host = host, .first = (size_t)at.cursor};
		struct push_answer answer;
		int err;

		memcpy(piece.id, entry->id, sizeof(piece.id));
		piece.end = c->nsamples - piece.first > at.piece ? piece.first + (size_t)at.piece
								 : c->nsamples;
		if (atomic_load(&s->stop) || must_look_up(s))
			return false;
		err = send_once(s, &piece, &answer);
		if (err == -ECANCELED)
			return false;
		if (err) {
			tell_trouble(s, strerror(-err));
			back_off(s, 0);
			continue;
		}
		take_answer(s, &piece, &answer, &at);
		if (at.cursor < c->nsamples && !push_queue_note(s->queue, entry->number, &at))
			return true; /* dropped meanwhile */
	}
	return true;
}

/* There is none, or its file cannot be read. */
static void wait_for_entry(struct push_sender *s)
{
	struct push_queue_state state;
	char text[128];

	push_queue_state(s->queue, &state);
	if (!state.entries || !state.unreadable) {
		rest_idle(s);
		return;
	}
	snprintf(text, sizeof(text), "a file of the spool cannot be read: %s",
		 strerror(-state.unreadable));
	tell_trouble(s, text);
	back_off(s, 0);
}

static void send_first(struct push_sender *s)
{
	struct push_entry entry;
	struct export_model c;
	char host[PUSH_HOST_MAX];
	int err;

	if (!push_queue_first(s->queue, &entry)) {
		wait_for_entry(s);
		return;
	}
	pthread_mutex_lock(&s->lock);
	s->sent.idle = false;
	pthread_mutex_unlock(&s->lock);
	err = push_unpack(entry.data, entry.size, &c, host);
	push_entry_free(&entry);
	if (err == -ENOMEM) {
		tell_trouble(s, strerror(-err));
		back_off(s, 0);
		return;
	}
	if (err) {
		push_queue_damaged(s->queue, entry.number);
		board_message(s->board, MESSAGE_ERROR,
			      "push: an interval is lost: its file in the spool is damaged");
	} else if (send_entry(s, &entry, &c, host)) {
		push_queue_remove(s->queue, entry.number);
	}
	export_model_free(&c);
}

static void *run(void *arg)
{
	struct push_sender *s = arg;
	bool ready = false;

	while (!atomic_load(&s->stop)) {
		if (!ready || must_look_up(s)) {
			ready = take_options(s);
			if (!ready)
				back_off(s, 0);
		} else if (s->target.protocol != PUSH_ASK || ask(s)) {
			send_first(s);
		}
	}
	return NULL;
}

/* --- from outside ---------------------------------------------------------------------------- */

void push_sender_wake(struct push_sender *s)
{
	pthread_mutex_lock(&s->lock);
	s->sent.idle = false;
	pthread_cond_broadcast(&s->woken);
	pthread_mutex_unlock(&s->lock);
}

void push_sender_change(struct push_sender *s, const struct push_options *options)
{
	pthread_mutex_lock(&s->lock);
	s->options = options;
	s->changed = true;
	pthread_cond_broadcast(&s->woken);
	pthread_mutex_unlock(&s->lock);
}

void push_sender_state(struct push_sender *s, struct push_sent *out)
{
	pthread_mutex_lock(&s->lock);
	*out = s->sent;
	pthread_mutex_unlock(&s->lock);
}

static bool is_empty(struct push_sender *s)
{
	struct push_queue_state state;

	push_queue_state(s->queue, &state);
	return !state.entries;
}

bool push_sender_drain(struct push_sender *s, bool spooled, unsigned int ms)
{
	struct timespec until = clock_in(CLOCK_MONOTONIC, ms * 1000000ull);
	bool empty = false;
	int err = 0;

	pthread_mutex_lock(&s->lock);
	s->draining = true;
	pthread_cond_broadcast(&s->woken);
	while (!err && !(empty = is_empty(s)) && !(spooled && s->blocked))
		err = pthread_cond_timedwait(&s->woken, &s->lock, &until);
	s->draining = false;
	pthread_mutex_unlock(&s->lock);
	return empty || is_empty(s);
}

int push_sender_start(struct push_sender **out, struct push_queue *queue, struct board *board,
		      const struct push_options *options, char *error, size_t size)
{
	struct push_sender *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;
	int err;

	*out = NULL;
	if (!s) {
		snprintf(error, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	s->queue = queue;
	s->board = board;
	s->options = options;
	s->most = PIECE_MOST;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->woken, &attr);
	pthread_condattr_destroy(&attr);
	err = thread_start(&s->thread, run, s);
	if (err) {
		snprintf(error, size, "%s", strerror(-err));
		pthread_cond_destroy(&s->woken);
		pthread_mutex_destroy(&s->lock);
		free(s);
		return err;
	}
	*out = s;
	return 0;
}

bool push_sender_free(struct push_sender *s, unsigned int ms)
{
	pthread_mutex_lock(&s->lock);
	atomic_store(&s->stop, true);
	pthread_cond_broadcast(&s->woken);
	pthread_mutex_unlock(&s->lock);
	if (!thread_join_within(s->thread, ms))
		return false;
	http_free(s->http);
	push_request_free(&s->request);
	pthread_cond_destroy(&s->woken);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return true;
}
