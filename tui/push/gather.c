// SPDX-License-Identifier: GPL-2.0-or-later
/* See gather.h. Time is that of the slices: a clock that is set makes no interval longer. */
#include "tui/push/gather.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "symbols/base/grow.h"
#include "symbols/base/text.h"
#include "tui/export/export_model.h"
#include "tui/push/pack.h"
#include "tui/push/queue.h"
#include "tui/push/target.h"
#include "tui/query/query.h"

#define MODELS	    2	/* samples, waits */
#define WAITING_MAX 16u /* events, chosen faster than slices are read */

/* An interval that is complete. */
struct gathered_interval {
	struct export_model models[MODELS];
	struct push_options options;
	uint64_t end;
	int failed;
};

struct push_gather {
	struct profile *profile;
	struct push_queue *queue;
	uint64_t lag;
	/* Of what follows; taken after the profile's. */
	pthread_mutex_t lock;
	struct push_options options; /* those of the interval */
	struct export_model models[MODELS];
	uint64_t next;	  /* slice */
	uint64_t elapsed; /* ns, of the interval */
	uint64_t end;	  /* CLOCK_REALTIME ns, of the last slice */
	int failed;
	struct gathered_interval *waiting; /* of before_zero; they are before what follows */
	size_t nwaiting, waiting_room;
	char host[PUSH_HOST_MAX];
	struct push_gathered state;
};

static const enum measure measures[MODELS] = {MEASURE_CPU, MEASURE_OFF};

static bool wanted(const struct push_gather *g, int model)
{
	return measures[model] == MEASURE_CPU ? g->options.cpu : g->options.off;
}

static struct query query_of(const struct push_gather *g, int model)
{
	return (struct query){.span = SPAN_LAST,
			      .proc = QUERY_ALL,
			      .hide_kernel = g->options.no_kernel,
			      .hide_user = g->options.no_user,
			      .hide_inline = g->options.no_inline,
			      .frames = (enum frames_mode)g->options.frames,
			      .measure = measures[model]};
}

/* --- slices; both locks are held ------------------------------------------------------------- */

static void find_host(struct push_gather *g, const struct profile *p)
{
	const struct profile_replay *replay = profile_replay(p);
	char name[PUSH_HOST_MAX] = "";

	if (*g->host)
		return;
	if (!replay)
		gethostname(name, sizeof(name) - 1);
	text_clean(g->host, sizeof(g->host), replay ? replay->host : name,
		   strlen(replay ? replay->host : name));
}

/* Counts of two events have no sum, and are not in one interval. */
static bool fits(const struct push_gather *g, const struct profile_health *health)
{
	for (int i = 0; i < MODELS; i++)
		if (g->models[i].nslices && strcmp(g->models[i].health.event, health->event) != 0)
			return false;
	return true;
}

static bool complete(const struct push_gather *g)
{
	return g->elapsed && (double)g->elapsed >= g->options.every * 1e9 * 0.999;
}

static int add_slice(struct push_gather *g, const struct profile *p,
		     const struct profile_health *health)
{
	int err = 0;

	find_host(g, p);
	for (int i = 0; i < MODELS && !err; i++) {
		struct query q = query_of(g, i);

		if (wanted(g, i))
			err = export_model_add_slice(&g->models[i], p, &q, g->next);
	}
	g->elapsed += health->elapsed;
	g->end = health->clock ? health->clock : clock_ns(CLOCK_REALTIME);
	return err;
}

/* Up to the end of the interval. True: it is complete. */
static bool read_slices(struct push_gather *g, const struct profile *p, bool all)
{
	struct profile_health newest, health;
	struct history kept;

	query_history(p, &kept);
	query_health(p, &newest);
	if (g->next < kept.first && kept.first <= kept.last) {
		g->state.missing += kept.first - g->next;
		g->next = kept.first;
	}
	for (; g->next <= kept.last && !g->failed; g->next++) {
		if (!query_slice_health(p, g->next, &health))
			continue;
		if (!all && health.time + g->lag > newest.time)
			break;
		if (complete(g) || !fits(g, &health))
			return true;
		g->failed = add_slice(g, p, &health);
	}
	return g->failed || complete(g);
}

/* The lock is held. */
static void take_out(struct push_gather *g, struct gathered_interval *out)
{
	memcpy(out->models, g->models, sizeof(out->models));
	out->options = g->options;
	out->end = g->end;
	out->failed = g->failed;
	memset(g->models, 0, sizeof(g->models));
	g->elapsed = 0;
	g->failed = 0;
	g->state.intervals++;
}

/* All slices are about to go. What is too much for an interval becomes one all the same, unless
 * it is of several events. */
static void before_zero(const struct profile *p, void *arg)
{
	struct push_gather *g = arg;
	double every;

	pthread_mutex_lock(&g->lock);
	every = g->options.every;
	g->options.every = 1e9;
	while (read_slices(g, p, true) &&
	       !GROW(g->waiting, g->nwaiting, g->waiting_room, WAITING_MAX))
		take_out(g, &g->waiting[g->nwaiting++]);
	g->options.every = every;
	pthread_mutex_unlock(&g->lock);
}

/* --- intervals ------------------------------------------------------------------------------- */

/* -ENOMEM: it is lost. */
static int pack_model(struct push_gather *g, const struct gathered_interval *interval,
		      const struct export_model *c)
{
	uint8_t *data;
	size_t size, count;
	int err;

	if (!c->nslices)
		return 0;
	err = push_pack(c, &interval->options, g->host, &data, &size, &count);
	if (err == -ENODATA)
		return 0;
	if (!err) {
		pthread_mutex_lock(&g->lock);
		g->state.samples += c->count;
		pthread_mutex_unlock(&g->lock);
		/* What it has no room for it counts itself. */
		push_queue_add(g->queue, data, size, c->count);
	}
	return err;
}

static int pack_interval(struct push_gather *g, struct gathered_interval *interval)
{
	int err = interval->failed;

	for (int i = 0; i < MODELS; i++) {
		if (!interval->failed) {
			int failed = pack_model(g, interval, &interval->models[i]);

			err = err ? err : failed;
		}
		export_model_free(&interval->models[i]);
	}
	push_queue_mark_open(g->queue, interval->end);
	if (err) {
		pthread_mutex_lock(&g->lock);
		g->state.lost++;
		pthread_mutex_unlock(&g->lock);
	}
	return err;
}

/* The next interval that is complete, or with `all` what there is. Both locks are held. */
static bool next_interval(struct push_gather *g, const struct push_options *options, bool all,
			  struct gathered_interval *out)
{
	if (g->nwaiting) {
		*out = g->waiting[0];
		memmove(g->waiting, g->waiting + 1, --g->nwaiting * sizeof(*g->waiting));
		return true;
	}
	/* An interval has the options that it began with. */
	if (!g->elapsed)
		g->options = *options;
	if (!read_slices(g, g->profile, all) && !(all && g->elapsed))
		return false;
	take_out(g, out);
	return true;
}

int push_gather_take(struct push_gather *g, const struct push_options *options, bool all)
{
	bool any = true;
	int err = 0;

	while (any) {
		struct gathered_interval interval;

		profile_lock(g->profile);
		pthread_mutex_lock(&g->lock);
		any = next_interval(g, options, all, &interval);
		pthread_mutex_unlock(&g->lock);
		profile_unlock(g->profile);
		if (any) {
			int failed = pack_interval(g, &interval);

			err = err ? err : failed;
		}
	}
	return err;
}

void push_gather_state(const struct push_gather *g, struct push_gathered *out)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&g->lock;

	pthread_mutex_lock(lock);
	*out = g->state;
	pthread_mutex_unlock(lock);
}

/* --- life ------------------------------------------------------------------------------------ */

struct push_gather *push_gather_new(struct profile *p, struct push_queue *queue,
				    const struct push_options *options, uint64_t lag)
{
	struct push_gather *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	pthread_mutex_init(&g->lock, NULL);
	g->profile = p;
	g->queue = queue;
	g->options = *options;
	g->lag = lag;
	profile_lock(p);
	g->next = query_slices(p) + 1;
	profile_before_zero(p, before_zero, g);
	profile_unlock(p);
	push_queue_mark_open(queue, clock_ns(CLOCK_REALTIME));
	return g;
}

void push_gather_free(struct push_gather *g)
{
	if (!g)
		return;
	profile_lock(g->profile);
	profile_before_zero(g->profile, NULL, g);
	profile_unlock(g->profile);
	for (int i = 0; i < MODELS; i++) {
		export_model_free(&g->models[i]);
		for (size_t n = 0; n < g->nwaiting; n++)
			export_model_free(&g->waiting[n].models[i]);
	}
	free(g->waiting);
	pthread_mutex_destroy(&g->lock);
	free(g);
}
