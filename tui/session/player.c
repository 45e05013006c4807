// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides when which slice of a session is fed (feeder.h), by the clock and by requests. */
#include "tui/session/player.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "symbols/base/search.h"
#include "symbols/base/thread.h"
#include "symbols/base/forked.h"
#include "tui/profile/board.h"
#include "tui/profile/source.h"
#include "tui/session/feeder.h"
#include "tui/profile/profile.h"
#include "tui/session/session_read.h"

#define NS_PER_SEC   1000000000ull
#define OPEN_WAIT_NS 330000000ull
#define LATE_NS	     NS_PER_SEC	 /* then the pace begins anew */
#define SECONDS_MAX  100000000.0 /* three years */
#define HOUR	     3600
#define DAY	     (24 * HOUR)

static const double speeds[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100};

#define SPEEDS (sizeof(speeds) / sizeof(*speeds))

struct player_jump {
	bool asked, relative;
	struct replay_time to; /* relative: in seconds */
	bool back;
};

/* Requests since the thread looked last. */
struct player_asked {
	bool paused;
	bool next;
	double speed;
	int64_t step;
	struct player_jump jump;
};

struct player {
	struct source source;
	struct profile *profile;
	const struct player_options *options;
	struct session *session;
	struct feeder *feeder;
	pthread_t thread;
	bool running;
	atomic_bool opened; /* or failed to be */
	int wake;
	atomic_bool stop;

	pthread_mutex_t lock; /* of asked */
	struct player_asked asked;

	/* of the thread */
	uint32_t first, next, end; /* slices; next is what will be fed */
	uint64_t due;		   /* CLOCK_MONOTONIC ns of the slice before */
	struct player_asked shown; /* what the profile reports as asked for */
};

static struct player *player_of(const struct source *source)
{
	return (struct player *)((uintptr_t)source - offsetof(struct player, source));
}

/* --- times as users write them --------------------------------------------------------------- */

/* Not strtod: it takes "inf", "0x1p3", and in some locales a comma instead of the point. */
static bool digits(const char **text, double *value)
{
	const char *s = *text;

	for (*value = 0; isdigit((unsigned char)*s) && *value <= SECONDS_MAX; s++)
		*value = *value * 10 + (*s - '0');
	if (s == *text || isdigit((unsigned char)*s))
		return false;
	*text = s;
	return true;
}

bool replay_time_parse(const char *text, struct replay_time *out)
{
	double part, unit = 1;
	int colons = 0;

	*out = (struct replay_time){0};
	for (;; text++) {
		if (!digits(&text, &part))
			return false;
		out->seconds = out->seconds * 60 + part;
		if (*text != ':')
			break;
		/* Minutes and seconds; the first number of all may be anything. */
		if (++colons > 2)
			return false;
	}
	if (*text == '.' && colons != 1) {
		if (!isdigit((unsigned char)*++text))
			return false;
		for (; isdigit((unsigned char)*text); text++)
			out->seconds += (unit /= 10) * (*text - '0');
	}
	if (colons == 1)
		out->seconds *= 60;
	out->of_day = colons > 0;
	out->given = !*text && out->seconds <= (colons ? DAY : SECONDS_MAX);
	return out->given;
}

uint64_t replay_time_offset(const struct replay_time *moment, uint64_t start)
{
	time_t began = (time_t)(start / 1000000000u);
	double seconds = moment->seconds, since;
	struct tm tm;

	if (!moment->of_day || !localtime_r(&began, &tm))
		return (uint64_t)(seconds * 1e9);
	since = tm.tm_hour * HOUR + tm.tm_min * 60 + tm.tm_sec +
		(double)(start % 1000000000u) / 1e9;
	seconds -= since;
	if (seconds < -DAY / 2.0)
		seconds += DAY;
	return seconds > 0 ? (uint64_t)(seconds * 1e9) : 0;
}

/* --- where it is ----------------------------------------------------------------------------- */

/* Without the last slice, which is as short as it happened to be. */
static uint64_t interval(const struct session *s)
{
	uint32_t n = session_slices(s);

	return n > 2 ? (session_time(s, n - 2) - session_time(s, 0)) / (n - 2) : 0;
}

static void show(struct player *r)
{
	const struct session_info *info = session_info(r->session);
	struct profile_replay state = {
		.position = r->next ? session_time(r->session, r->next - 1) : 0,
		.length = session_time(r->session, r->end - 1),
		.from = r->first ? session_time(r->session, r->first - 1) : 0,
		.cut = r->first || r->end < session_slices(r->session),
		.interval = interval(r->session),
		.ended = r->next == r->end};

	pthread_mutex_lock(&r->lock);
	r->shown = r->asked;
	pthread_mutex_unlock(&r->lock);
	state.paused = r->shown.paused;
	state.speed = r->shown.speed;
	state.clock = info->clock + state.position;
	snprintf(state.host, sizeof(state.host), "%s", info->host);
	profile_lock(r->profile);
	profile_set_replay(r->profile, &state);
	profile_unlock(r->profile);
}

/* Number of slices that end by that time. */
static uint32_t slices_until(const struct session *s, uint64_t time)
{
	return (uint32_t)SEARCH(session_slices(s), i, session_time(s, (uint32_t)i) <= time);
}

/* The same, or one more if the next slice ends closer to that time: refreshes come a little late,
 * so that the third one of a second each ends after 3 s. */
static uint32_t slices_nearest(const struct session *s, uint64_t time)
{
	uint32_t n = slices_until(s, time);
	uint64_t before = n ? session_time(s, n - 1) : 0;

	return n < session_slices(s) ? n + (session_time(s, n) - time < time - before) : n;
}

/* --- the thread ------------------------------------------------------------------------------ */

static uint32_t jump_target(const struct player *r, const struct player_jump *jump)
{
	uint64_t here = r->next ? session_time(r->session, r->next - 1) : 0;
	uint64_t to = replay_time_offset(&jump->to, session_info(r->session)->clock);

	if (jump->relative && jump->back)
		to = here > to ? here - to : 0;
	else if (jump->relative)
		to = here + to;
	return slices_nearest(r->session, to);
}

/* The slice to go to, by the requests. */
static uint32_t target(const struct player *r, const struct player_asked *asked)
{
	int64_t to = r->next + asked->step;

	if (asked->jump.asked)
		to = jump_target(r, &asked->jump);
	if (to <= r->first)
		return r->first + 1;
	return to > r->end ? r->end : (uint32_t)to;
}

/* Takes the requests. */
static struct player_asked look(struct player *r)
{
	struct player_asked asked;

	pthread_mutex_lock(&r->lock);
	asked = r->asked;
	r->asked.step = 0;
	r->asked.jump.asked = r->asked.next = false;
	pthread_mutex_unlock(&r->lock);
	return asked;
}

/* When the next slice is due; UINT64_MAX: not before a command asks for it. */
static uint64_t due(const struct player *r, const struct player_asked *asked)
{
	uint64_t before;

	if (r->next == r->first)
		return 0;
	if (r->next == r->end || asked->paused || r->options->batch)
		return asked->next && r->next < r->end ? 0 : UINT64_MAX;
	before = session_time(r->session, r->next - 1);
	return r->due +
	       (uint64_t)((double)(session_time(r->session, r->next) - before) / asked->speed);
}

static void wait_until(const struct player *r, uint64_t then)
{
	struct pollfd fd = {.fd = r->wake, .events = POLLIN};
	uint64_t now = source_now(), left = then > now ? then - now : 0, woken;
	struct timespec wait = {.tv_sec = (time_t)(left / NS_PER_SEC),
				.tv_nsec = (long)(left % NS_PER_SEC)};

	if (ppoll(&fd, 1, then == UINT64_MAX ? NULL : &wait, NULL) > 0 &&
	    read(r->wake, &woken, sizeof(woken)) < 0)
		return;
}

/* After slices were fed, or not. */
static void fed(struct player *r, uint32_t next, int err)
{
	if (err) {
		board_message(profile_board(r->profile), MESSAGE_ERROR,
			      "%s: %s; the rest cannot be shown", r->options->path,
			      err == -EBADMSG ? "is damaged" : strerror(-err));
		r->end = r->next > r->first ? r->next : r->first + 1;
		next = r->end;
	}
	r->next = next;
	show(r);
	atomic_fetch_add(&r->source.slices, err ? 0 : 1);
	/* Last, since its reader looks for slices once more. */
	if ((r->options->batch || r->options->screenshot) && r->next == r->end)
		atomic_store(&r->source.finished, true);
	source_signal(r->source.event);
}

static void play(struct player *r)
{
	/* A screenshot shows the end of what was asked for. */
	if (r->options->screenshot)
		fed(r, r->end, feeder_go(r->feeder, r->first, r->next, r->end));
	while (!atomic_load(&r->stop)) {
		struct player_asked asked = look(r);
		uint32_t to = r->next > r->first ? target(r, &asked) : r->next;
		uint64_t then = due(r, &asked), now = source_now();

		if (to != r->next) {
			int err = feeder_go(r->feeder, r->first, r->next, to);

			r->due = now;
			fed(r, to, err);
		} else if (then <= now) {
			int err = feeder_slice(r->feeder, r->next, false);

			r->due = now - then < LATE_NS ? then : now;
			fed(r, r->next + 1, err);
		} else if (asked.paused != r->shown.paused || asked.speed != r->shown.speed) {
			show(r);
			source_signal(r->source.event);
		} else if (r->options->batch || !feeder_warm(r->feeder)) {
			wait_until(r, then);
		}
	}
}

/* --- for screens and reports ----------------------------------------------------------------- */

static double speed_step(double speed, bool faster)
{
	for (size_t i = 0; i < SPEEDS; i++) {
		if (faster && speeds[i] > speed * 1.001)
			return speeds[i];
		if (!faster && speeds[SPEEDS - 1 - i] < speed * 0.999)
			return speeds[SPEEDS - 1 - i];
	}
	return speed;
}

static bool take_jump(struct player *r, const char *arg)
{
	struct player_jump jump = {.asked = true, .back = arg[0] == '-'};

	jump.relative = arg[0] == '+' || arg[0] == '-';
	if (!replay_time_parse(arg + jump.relative, &jump.to) || (jump.relative && jump.to.of_day))
		return false;
	r->asked.jump = jump;
	return true;
}

static bool take_post(struct player *r, enum source_command command, const char *arg)
{
	switch (command) {
	case SOURCE_PLAY:
		r->asked.paused = !r->asked.paused;
		return true;
	case SOURCE_SPEED:
		r->asked.speed = speed_step(r->asked.speed, arg[0] == '+');
		return true;
	case SOURCE_STEP:
		r->asked.step += strtol(arg, NULL, 10);
		r->asked.paused = true;
		return true;
	case SOURCE_JUMP:
		return take_jump(r, arg);
	case SOURCE_NEXT:
		r->asked.next = true;
		return true;
	default:
		return false;
	}
}

static void player_post(struct source *source, enum source_command command, const char *arg)
{
	struct player *r = player_of(source);
	bool taken;

	pthread_mutex_lock(&r->lock);
	taken = take_post(r, command, arg ? arg : "");
	pthread_mutex_unlock(&r->lock);
	if (!taken) {
		board_message(profile_board(r->profile), MESSAGE_WARNING, "%s",
			      command == SOURCE_JUMP ? "a time is 90, +10, -10, 14:03 or 14:03:20"
						     : "this is a recording: nothing is sampled");
		source_signal(r->source.event);
	}
	source_signal(r->wake);
}

static void player_finish(struct source *source)
{
	struct player *r = player_of(source);

	atomic_store(&r->source.finished, true);
	source_signal(r->source.event);
}

static void player_free(struct source *source)
{
	struct player *r = player_of(source);

	if (r->running) {
		atomic_store(&r->stop, true);
		source_signal(r->wake);
		pthread_join(r->thread, NULL);
	}
	feeder_free(r->feeder);
	if (r->source.event >= 0)
		close(r->source.event);
	if (r->wake >= 0)
		close(r->wake);
	session_free(r->session);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static const struct source_ops player_ops = {
	.finish = player_finish,
	.free = player_free,
	.post = player_post,
};

static int prepare(struct player *r, char *error, size_t size)
{
	const struct player_options *o = r->options;
	int err = session_open(o->path, &r->session, error, size);
	uint64_t start;

	if (err)
		return err;
	start = session_info(r->session)->clock;
	r->end = session_slices(r->session);
	if (o->from.given)
		r->first = slices_nearest(r->session, replay_time_offset(&o->from, start));
	if (o->to.given)
		r->end = slices_nearest(r->session, replay_time_offset(&o->to, start));
	if (o->iterations && r->end > r->first && r->end - r->first > o->iterations)
		r->end = r->first + o->iterations;
	r->next = r->first;
	if (r->first >= r->end) {
		snprintf(error, size, "%s: no slice ends in that time", o->path);
		return -ERANGE;
	}
	if (feeder_new(r->profile, r->session, &r->feeder)) {
		snprintf(error, size, "%s: %s", o->path, strerror(ENOMEM));
		return -ENOMEM;
	}
	if (session_flaw(r->session))
		board_message(profile_board(r->profile), MESSAGE_WARNING,
			      "%s %s; it goes up to its last whole slice", o->path,
			      session_flaw(r->session));
	feeder_modules(r->feeder);
	return 0;
}

static void *open_and_play(void *arg)
{
	struct player *r = arg;
	struct source *s = &r->source;
	int err;

	if (r->options->aside && !forked_await(r->options->path, &r->stop))
		return NULL;
	board_set_awaited(profile_board(r->profile), "The session is being read.");
	source_signal(s->event);
	err = prepare(r, s->failure, sizeof(s->failure));

	if (err)
		source_fail(s, err);
	else
		show(r);
	atomic_store(&r->opened, true);
	if (!err)
		play(r);
	return NULL;
}

/* A screen waits for the file no longer than it takes to say what is wrong with most. */
static int await_opening(struct player *r, char *error, size_t size)
{
	uint64_t end = source_now() + OPEN_WAIT_NS;
	int err;

	while (!atomic_load(&r->opened) && (!r->options->aside || source_now() < end))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	err = atomic_load(&r->source.failed);
	if (err)
		snprintf(error, size, "%s", r->source.failure);
	return err;
}

/* Until the file has answered. */
static void show_opening(const struct player *r)
{
	const struct profile_replay replay = {.speed = r->options->speed};
	char text[BOARD_TEXT_MAX];

	snprintf(text, sizeof(text), "Waiting for %s, which does not answer.", r->options->path);
	board_set_awaited(profile_board(r->profile), text);
	profile_lock(r->profile);
	profile_set_replay(r->profile, &replay);
	profile_unlock(r->profile);
}

int player_new(struct profile *p, const struct player_options *options, struct source **out,
	       char *error, size_t size)
{
	struct player *r = calloc(1, sizeof(*r));
	int err;

	*out = NULL;
	if (!r) {
		snprintf(error, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	r->source.ops = &player_ops;
	r->profile = p;
	r->options = options;
	r->source.event = r->wake = -1;
	r->asked.speed = options->speed;
	pthread_mutex_init(&r->lock, NULL);
	r->source.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = r->source.event < 0 || r->wake < 0 ? -ENOMEM : 0;
	show_opening(r);
	if (!err)
		err = thread_start(&r->thread, open_and_play, r);
	r->running = !err;
	if (err)
		snprintf(error, size, "cannot make a thread: %s", strerror(-err));
	else
		err = await_opening(r, error, size);
	if (err) {
		player_free(&r->source);
		return err;
	}
	*out = &r->source;
	return 0;
}
