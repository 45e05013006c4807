// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * To begin and to end reads files and waits for a server, so a thread of its own does both: no key
 * waits for it.
 */
#include "tui/ui/pushing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/clock.h"
#include "symbols/base/thread.h"
#include "tui/profile/board.h"
#include "tui/profile/profile.h"
#include "tui/profile/source.h"
#include "tui/push/push.h"
#include "tui/ui/ui.h"

#define STOP_MS 10000u /* for what is still to be sent, after :push */
#define END_MS	600u   /* likewise, at the end of the program */

struct pushing {
	struct profile *profile;
	struct source *source; /* NULL: none */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t woken;
	struct push *push; /* NULL: not begun, or ended */
	bool stop;
	unsigned int ms; /* of the stop */
	atomic_bool done;
	struct push_options options;
	char url[];
};

static void end_push(struct pushing *p, struct push *push)
{
	unsigned int ms;

	pthread_mutex_lock(&p->lock);
	while (!p->stop)
		pthread_cond_wait(&p->woken, &p->lock);
	ms = p->ms;
	p->push = NULL;
	pthread_mutex_unlock(&p->lock);
	if (push_end(push, ms))
		board_message(profile_board(p->profile), MESSAGE_INFO, "push: all was sent");
}

static void *run(void *arg)
{
	struct pushing *p = arg;
	char error[256];
	struct push *push;
	int err = push_start(&push, p->profile, &p->options, PUSH_BY_THREAD, error, sizeof(error));

	if (err) {
		board_message(profile_board(p->profile), MESSAGE_ERROR, "push: %s", error);
	} else {
		pthread_mutex_lock(&p->lock);
		p->push = push;
		pthread_mutex_unlock(&p->lock);
		end_push(p, push);
	}
	atomic_store(&p->done, true);
	if (p->source)
		source_signal(p->source->event);
	return NULL;
}

static int start_thread(struct ui *ui, const char *url)
{
	struct pushing *p = calloc(1, sizeof(*p) + strlen(url) + 1);
	int err;

	if (!p)
		return -ENOMEM;
	memcpy(p->url, url, strlen(url) + 1);
	p->profile = ui->profile;
	p->source = ui->source;
	p->options = *ui->push_options;
	p->options.url = p->url;
	/* The folder may be that of a run that goes on. */
	p->options.spool = NULL;
	p->options.off = ui->measure != MEASURE_CPU || ui->push_options->off;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->woken, NULL);
	err = thread_start(&p->thread, run, p);
	if (err) {
		pthread_cond_destroy(&p->woken);
		pthread_mutex_destroy(&p->lock);
		free(p);
	} else {
		ui->pushing = p;
	}
	return err;
}

static unsigned int start(struct ui *ui, const char *url)
{
	struct push_target target;
	char error[256];
	int err;

	if (ui->header.replayed) {
		ui_notice(ui, "this is a recording: stacktop -r FILE -b --push URL sends it");
	} else if (ui->pushing || ui->push) {
		ui_notice(ui, "profiles are sent already%s",
			  ui->pushing ? "; :push without a URL stops" : "");
	} else if (!push_target_parse(url, &target, error, sizeof(error))) {
		ui_notice(ui, "the URL %s", error);
	} else {
		err = start_thread(ui, url);
		if (err)
			ui_notice(ui, "push: %s", strerror(-err));
		else
			ui_notice(ui, "sending an interval of %g s after the other; :push stops",
				  ui->push_options->every);
	}
	return UI_REDRAW;
}

static void ask_to_stop(struct pushing *p, unsigned int ms)
{
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	p->ms = ms;
	pthread_cond_broadcast(&p->woken);
	pthread_mutex_unlock(&p->lock);
}

unsigned int push_stop_command(struct ui *ui)
{
	pushing_look(ui);
	if (ui->pushing) {
		ask_to_stop(ui->pushing, STOP_MS);
		ui_notice(ui, "sending the last interval");
	} else if (ui->push) {
		ui_notice(ui, "--push goes on to the end");
	} else {
		ui_notice(ui, "nothing is sent; :push URL does it");
	}
	return UI_REDRAW;
}

unsigned int push_command(struct ui *ui, const char *url)
{
	pushing_look(ui);
	return *url ? start(ui, url) : push_stop_command(ui);
}

void pushing_look(struct ui *ui)
{
	struct pushing *p = ui->pushing;

	if (!p || !atomic_load(&p->done))
		return;
	pthread_join(p->thread, NULL);
	pthread_cond_destroy(&p->woken);
	pthread_mutex_destroy(&p->lock);
	free(p);
	ui->pushing = NULL;
}

/* The host of the URL. */
static void host_of(const char *url, char *to, size_t size)
{
	const char *host = strstr(url, "://");

	host = host ? host + 3 : url;
	snprintf(to, size, "%.*s", (int)strcspn(host, "/"), host);
}

bool pushing_words(const struct ui *ui, char *to, size_t size)
{
	struct pushing *p = ui->pushing;
	struct push_state state = {.sent.idle = true};
	char host[128];
	bool any = ui->push != NULL;

	if (!ui->push && !p)
		return false;
	if (ui->push) {
		push_state(ui->push, &state);
	} else {
		pthread_mutex_lock(&p->lock);
		any = p->push != NULL;
		if (any)
			push_state(p->push, &state);
		pthread_mutex_unlock(&p->lock);
	}
	host_of(p ? p->url : push_url(ui->push), host, sizeof(host));
	if (!any)
		snprintf(to, size, "push %s ...", host);
	else if (state.queue.dropped || state.sent.refused)
		snprintf(to, size, "push %s: samples LOST", host);
	else if (state.sent.since)
		snprintf(to, size, "push %s: %zu wait", host, state.queue.entries);
	else
		snprintf(to, size, "push %s", host);
	return true;
}

void pushing_free(struct ui *ui)
{
	struct pushing *p = ui->pushing;

	if (!p)
		return;
	ask_to_stop(p, END_MS);
	if (!thread_join_within(p->thread, END_MS + PUSH_STOP_MS))
		return;
	pthread_cond_destroy(&p->woken);
	pthread_mutex_destroy(&p->lock);
	free(p);
	ui->pushing = NULL;
}
