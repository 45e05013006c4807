// SPDX-License-Identifier: GPL-2.0-or-later
/* See push.h. */
#include "tui/push/push.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbols/base/clock.h"
#include "symbols/base/thread.h"
#include "tui/net/http.h"
#include "tui/profile/board.h"
#include "tui/profile/profile.h"

#define LOOK_NS	  500000000ull	/* between two looks for slices */
#define LAG_NS	  3000000000ull /* in which inlined calls become known */
#define KEEP_MORE 30u		/* seconds */
#define KEEP_MOST ((uint64_t)32 << 20)
/* For the thread that sends, once it has to end: libcurl asks at least once a second. */
#define STOP_MS 1500u

struct push {
	struct profile *profile;
	const struct push_options *options;
	struct push_queue *queue;
	struct push_gather *gather;
	struct push_sender *sender;
	enum push_reader reader;
	pthread_t thread; /* PUSH_BY_THREAD */
	bool runs;
	pthread_mutex_t lock; /* of options and stop */
	pthread_cond_t woken;
	bool stop;
	uint64_t told;	  /* samples that were dropped, of which the user knows */
	uint64_t damaged; /* files of the spool, at the start */
	int told_error;
};

void push_keep(struct profile *p, const struct push_options *options)
{
	profile_lock(p);
	profile_keep(p, (unsigned int)options->every + KEEP_MORE, KEEP_MOST);
	profile_unlock(p);
}

/* What is lost, or may be soon. */
static void tell_losses(struct push *push)
{
	struct board *board = profile_board(push->profile);
	struct push_queue_state state;

	push_queue_state(push->queue, &state);
	if (state.dropped_samples > push->told)
		board_message(board, MESSAGE_WARNING,
			      "push: %" PRIu64 " samples lost: the oldest went, since %s is full",
			      state.dropped_samples - push->told,
			      push->options->spool ? "the spool" : "what is kept in memory");
	push->told = state.dropped_samples;
	if (state.error != push->told_error && state.error)
		board_message(board, MESSAGE_WARNING, "push: the spool: %s; kept in memory",
			      strerror(-state.error));
	push->told_error = state.error;
}

static void gather(struct push *push, bool all)
{
	const struct push_options *options;
	int err;

	pthread_mutex_lock(&push->lock);
	options = push->options;
	pthread_mutex_unlock(&push->lock);
	err = push_gather_take(push->gather, options, all);
	if (err)
		board_message(profile_board(push->profile), MESSAGE_ERROR,
			      "push: an interval is lost: %s", strerror(-err));
	tell_losses(push);
	push_sender_wake(push->sender);
}

void push_take(struct push *push)
{
	gather(push, false);
}

static void *run(void *arg)
{
	struct push *push = arg;
	bool stop = false;

	while (!stop) {
		struct timespec until = clock_in(CLOCK_MONOTONIC, LOOK_NS);

		pthread_mutex_lock(&push->lock);
		if (!push->stop)
			pthread_cond_timedwait(&push->woken, &push->lock, &until);
		stop = push->stop;
		pthread_mutex_unlock(&push->lock);
		gather(push, stop);
	}
	push_queue_mark_open(push->queue, 0);
	return NULL;
}

/* What an earlier run says by its spool. */
static void tell_past(struct push *push)
{
	struct board *board = profile_board(push->profile);
	const uint64_t open = push_queue_left_open(push->queue);
	struct push_queue_state state;
	char text[64] = "";
	struct tm tm;

	push_queue_state(push->queue, &state);
	push->damaged = state.damaged;
	if (open && localtime_r(&(time_t){(time_t)(open / CLOCK_NS_PER_SEC)}, &tm))
		strftime(text, sizeof(text), "%F %T", &tm);
	if (open)
		board_message(board, MESSAGE_WARNING,
			      "push: the run before was cut off: its samples from %s on are lost, "
			      "an interval at most",
			      text);
	if (state.found)
		board_message(board, MESSAGE_INFO,
			      "push: %" PRIu64 " intervals of the run before are sent first",
			      state.found);
	if (state.damaged)
		board_message(board, MESSAGE_WARNING,
			      "push: %" PRIu64 " damaged files of the spool were removed",
			      state.damaged);
}

static void push_free(struct push *push)
{
	push_gather_free(push->gather);
	push_queue_free(push->queue);
	pthread_cond_destroy(&push->woken);
	pthread_mutex_destroy(&push->lock);
	free(push);
}

static int start_parts(struct push *push, char *error, size_t size)
{
	const struct push_options *o = push->options;
	char folder[PUSH_URL_MAX];
	int err;

	if (o->spool && o->spool_length >= sizeof(folder)) {
		snprintf(error, size, "the spool's path is too long");
		return -ENAMETOOLONG;
	}
	if (o->spool)
		snprintf(folder, sizeof(folder), "%.*s", (int)o->spool_length, o->spool);
	err = push_queue_open(o->spool ? folder : NULL, o->spool ? o->spool_bytes : PUSH_MEMORY,
			      &push->queue, error, size);
	if (err)
		return err;
	tell_past(push);
	push->gather = push_gather_new(push->profile, push->queue, o,
				       push->reader == PUSH_BY_THREAD ? LAG_NS : 0);
	if (!push->gather) {
		snprintf(error, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	return push_sender_start(&push->sender, push->queue, profile_board(push->profile), o, error,
				 size);
}

/* What can be found wrong at once. */
static int check(const struct push_options *options, char *error, size_t size)
{
	struct push_target target;
	char **secrets;
	size_t count;
	int err;

	error[0] = '\0';
	if (http_missing()) {
		snprintf(error, size, "%s", http_missing());
		return -ENOTSUP;
	}
	if (!push_target_parse(options->url, &target, error, size))
		return -EINVAL;
	err = push_secrets_read(options->secrets, &secrets, &count, error, size);
	if (!err)
		push_secrets_free(secrets, count);
	return err;
}

int push_start(struct push **out, struct profile *p, const struct push_options *options,
	       enum push_reader reader, char *error, size_t size)
{
	struct push *push;
	pthread_condattr_t attr;
	int err = check(options, error, size);

	*out = NULL;
	if (err)
		return err;
	push = calloc(1, sizeof(*push));
	if (!push) {
		snprintf(error, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	push->profile = p;
	push->options = options;
	push->reader = reader;
	pthread_mutex_init(&push->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&push->woken, &attr);
	pthread_condattr_destroy(&attr);
	err = start_parts(push, error, size);
	if (!err && reader == PUSH_BY_THREAD) {
		err = thread_start(&push->thread, run, push);
		push->runs = !err;
		if (err)
			snprintf(error, size, "%s", strerror(-err));
	}
	if (err && push->sender && !push_sender_free(push->sender, STOP_MS))
		return err;
	if (err) {
		/* Of what never began nothing is missing. */
		if (push->gather)
			push_queue_mark_open(push->queue, 0);
		push_free(push);
		return err;
	}
	*out = push;
	return 0;
}

void push_change(struct push *push, const struct push_options *options)
{
	pthread_mutex_lock(&push->lock);
	push->options = options;
	pthread_mutex_unlock(&push->lock);
	push_sender_change(push->sender, options);
}

void push_state(struct push *push, struct push_state *out)
{
	push_gather_state(push->gather, &out->gathered);
	push_queue_state(push->queue, &out->queue);
	push_sender_state(push->sender, &out->sent);
}

const char *push_url(const struct push *push)
{
	return push->options->url;
}

/* All samples that there are come into the queue. False: the disk of the spool does not answer. */
static bool gather_rest(struct push *push)
{
	if (push->reader == PUSH_BY_CALLER) {
		gather(push, true);
		push_queue_mark_open(push->queue, 0);
		return true;
	}
	pthread_mutex_lock(&push->lock);
	push->stop = true;
	pthread_cond_broadcast(&push->woken);
	pthread_mutex_unlock(&push->lock);
	return thread_join_within(push->thread, STOP_MS);
}

/* True: nothing was lost. */
static bool tell_end(struct push *push)
{
	struct board *board = profile_board(push->profile);
	struct push_state state;
	size_t spooled;

	push_state(push, &state);
	if (state.gathered.lost)
		board_message(board, MESSAGE_WARNING, "push: %" PRIu64 " intervals were lost",
			      state.gathered.lost);
	if (state.gathered.missing)
		board_message(board, MESSAGE_WARNING,
			      "push: %" PRIu64 " refreshes were gone before they could be sent",
			      state.gathered.missing);
	spooled = push->options->spool ? state.queue.entries - state.queue.unwritten : 0;
	if (spooled)
		board_message(board, MESSAGE_WARNING,
			      "push: %zu intervals wait in the spool for the next run: %s", spooled,
			      state.sent.trouble);
	if (state.queue.entries > spooled)
		board_message(board, MESSAGE_ERROR, "push: %zu intervals were not sent: %s",
			      state.queue.entries - spooled, state.sent.trouble);
	return !state.gathered.missing && !state.gathered.lost &&
	       state.queue.damaged == push->damaged && !state.queue.dropped &&
	       !state.sent.refused && state.queue.entries == spooled;
}

bool push_end(struct push *push, unsigned int ms)
{
	bool whole;

	if (!push)
		return true;
	if (!gather_rest(push)) {
		board_message(profile_board(push->profile), MESSAGE_ERROR,
			      "push: the last interval is lost: the spool does not answer");
		return false;
	}
	push_sender_drain(push->sender, push->options->spool != NULL, ms);
	whole = tell_end(push);
	if (push_sender_free(push->sender, STOP_MS)) {
		push_free(push);
	} else {
		profile_lock(push->profile);
		profile_before_zero(push->profile, NULL, push->gather);
		profile_unlock(push->profile);
	}
	return whole;
}
