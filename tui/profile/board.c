/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See board.h. A small ring keeps a burst of messages: batch mode writes all, a screen has room for
 * one at a time. For an inventory the tracker looks at every mapping of every process, so it takes
 * one only on request.
 */
#include "tui/profile/board.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/tracker/inventory.h"
#include "symbols/base/clock.h"
#include "symbols/base/text.h"
#include "tui/profile/annotation.h"
#include "tui/profile/inspection.h"
#include "tui/profile/procstate.h"

#define BURST_NS 1000000000ULL /* messages in quicker succession are a burst */
#define TURN_NS	 4000000000ULL
#define FRESH_NS 500000000ull /* more often is of no use to a reader */

struct board {
	pthread_mutex_t lock;
	struct board_message
		messages[BOARD_MESSAGES_MAX]; /* ring; n is at n % BOARD_MESSAGES_MAX */
	uint64_t nmessages;
	struct inventory *inventory; /* NULL: none yet */
	bool inventory_wanted;
	struct inspection *inspection; /* NULL: none yet */
	struct procstate procstate;
	char awaited[BOARD_TEXT_MAX];
	struct annotation_wish *wish;  /* NULL: none */
	struct annotation *annotation; /* NULL: none yet */
	int events[BOARD_EVENTS_MAX];  /* -errno */
};

struct board *board_new(void)
{
	struct board *b = calloc(1, sizeof(*b));

	if (b)
		pthread_mutex_init(&b->lock, NULL);
	return b;
}

void board_free(struct board *b)
{
	if (!b)
		return;
	inventory_put(b->inventory);
	inspection_put(b->inspection);
	annotation_put(b->annotation);
	free(b->wish);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

/* --- events ---------------------------------------------------------------------------------- */

void board_set_events(struct board *b, const int *errors, size_t count)
{
	pthread_mutex_lock(&b->lock);
	for (size_t i = 0; i < count && i < BOARD_EVENTS_MAX; i++)
		b->events[i] = errors[i];
	pthread_mutex_unlock(&b->lock);
}

int board_event(struct board *b, size_t at)
{
	int err;

	pthread_mutex_lock(&b->lock);
	err = at < BOARD_EVENTS_MAX ? b->events[at] : 0;
	pthread_mutex_unlock(&b->lock);
	return err;
}

/* --- messages -------------------------------------------------------------------------------- */

void board_message(struct board *b, enum message_level level, const char *format, ...)
{
	struct board_message *message;
	char text[2 * BOARD_TEXT_MAX];
	va_list args;

	va_start(args, format);
	if (vsnprintf(text, sizeof(text), format, args) < 0)
		text[0] = 0;
	va_end(args);
	pthread_mutex_lock(&b->lock);
	message = &b->messages[++b->nmessages % BOARD_MESSAGES_MAX];
	text_clean(message->text, sizeof(message->text), text, strlen(text));
	message->time = clock_ns(CLOCK_MONOTONIC);
	message->level = level;
	pthread_mutex_unlock(&b->lock);
}

/*
 * Since when message n is on a screen. Warnings of a burst take turns, since they answer nothing.
 * An error, and what comes later, answers the user and does not wait.
 */
static uint64_t turn_of(const struct board *b, uint64_t n)
{
	uint64_t first =
		b->nmessages > BOARD_MESSAGES_MAX ? b->nmessages - BOARD_MESSAGES_MAX + 1 : 1;
	uint64_t since = 0;

	for (uint64_t i = first; i <= n; i++) {
		const struct board_message *message = &b->messages[i % BOARD_MESSAGES_MAX];
		const struct board_message *before = &b->messages[(i - 1) % BOARD_MESSAGES_MAX];

		if (i == first || message->level == MESSAGE_ERROR ||
		    message->time - before->time >= BURST_NS)
			since = message->time;
		else if (before->level == MESSAGE_WARNING || message->level == MESSAGE_WARNING)
			since += TURN_NS;
		else if (since < message->time)
			since = message->time;
	}
	return since;
}

bool board_shown(struct board *b, uint64_t now, uint64_t max_age, struct board_message *out)
{
	uint64_t n, since = 0;
	bool shown;

	pthread_mutex_lock(&b->lock);
	n = b->nmessages;
	/* Ends, since the first message of a burst does not wait. */
	while (n && (since = turn_of(b, n)) > now &&
	       since != b->messages[n % BOARD_MESSAGES_MAX].time)
		n--;
	shown = n && (now <= since || now - since <= max_age);
	if (shown)
		*out = b->messages[n % BOARD_MESSAGES_MAX];
	pthread_mutex_unlock(&b->lock);
	return shown;
}

bool board_next(struct board *b, uint64_t *serial, struct board_message *out)
{
	uint64_t next = *serial + 1;
	bool newer;

	pthread_mutex_lock(&b->lock);
	newer = next <= b->nmessages;
	if (newer && b->nmessages - next >= BOARD_MESSAGES_MAX)
		next = b->nmessages - BOARD_MESSAGES_MAX + 1;
	if (newer) {
		*serial = next;
		*out = b->messages[next % BOARD_MESSAGES_MAX];
	}
	pthread_mutex_unlock(&b->lock);
	return newer;
}

bool board_set_awaited(struct board *b, const char *text)
{
	char clean[sizeof(b->awaited)];
	bool changed;

	text_clean(clean, sizeof(clean), text, strlen(text));
	pthread_mutex_lock(&b->lock);
	changed = strcmp(b->awaited, clean) != 0;
	memcpy(b->awaited, clean, sizeof(clean));
	pthread_mutex_unlock(&b->lock);
	return changed;
}

void board_awaited(struct board *b, char *to, size_t size)
{
	pthread_mutex_lock(&b->lock);
	snprintf(to, size, "%s", b->awaited);
	pthread_mutex_unlock(&b->lock);
}

/* --- wishes and answers ---------------------------------------------------------------------- */

void board_want_inventory(struct board *b, uint64_t now)
{
	pthread_mutex_lock(&b->lock);
	b->inventory_wanted = !b->inventory || b->inventory->time + FRESH_NS <= now;
	pthread_mutex_unlock(&b->lock);
}

bool board_inventory_wanted(struct board *b)
{
	bool wanted;

	pthread_mutex_lock(&b->lock);
	wanted = b->inventory_wanted;
	b->inventory_wanted = false;
	pthread_mutex_unlock(&b->lock);
	return wanted;
}

void board_set_inventory(struct board *b, struct inventory *inventory)
{
	struct inventory *old;

	pthread_mutex_lock(&b->lock);
	old = b->inventory;
	b->inventory = inventory;
	pthread_mutex_unlock(&b->lock);
	inventory_put(old);
}

struct inventory *board_inventory(struct board *b)
{
	struct inventory *inventory;

	pthread_mutex_lock(&b->lock);
	inventory = b->inventory ? inventory_get(b->inventory) : NULL;
	pthread_mutex_unlock(&b->lock);
	return inventory;
}

void board_set_inspection(struct board *b, struct inspection *inspection)
{
	struct inspection *old;

	pthread_mutex_lock(&b->lock);
	old = b->inspection;
	b->inspection = inspection;
	pthread_mutex_unlock(&b->lock);
	inspection_put(old);
}

struct inspection *board_inspection(struct board *b)
{
	struct inspection *inspection;

	pthread_mutex_lock(&b->lock);
	inspection = b->inspection ? inspection_get(b->inspection) : NULL;
	pthread_mutex_unlock(&b->lock);
	return inspection;
}

void board_set_procstate(struct board *b, const struct procstate *state)
{
	pthread_mutex_lock(&b->lock);
	b->procstate = *state;
	pthread_mutex_unlock(&b->lock);
}

bool board_procstate(struct board *b, pid_t pid, struct procstate *out)
{
	bool known;

	pthread_mutex_lock(&b->lock);
	known = pid && b->procstate.pid == pid;
	if (known)
		*out = b->procstate;
	pthread_mutex_unlock(&b->lock);
	return known;
}

int board_want_annotation(struct board *b, const struct annotation_wish *wish)
{
	struct annotation_wish *copy = wish ? malloc(sizeof(*copy)) : NULL, *old;
	struct annotation *answer;

	if (copy)
		*copy = *wish;
	pthread_mutex_lock(&b->lock);
	old = b->wish;
	answer = b->annotation;
	b->wish = copy;
	b->annotation = NULL;
	pthread_mutex_unlock(&b->lock);
	free(old);
	annotation_put(answer);
	return wish && !copy ? -ENOMEM : 0;
}

bool board_annotation_wish(struct board *b, struct annotation_wish *out)
{
	bool there;

	pthread_mutex_lock(&b->lock);
	there = b->wish != NULL;
	if (there)
		*out = *b->wish;
	pthread_mutex_unlock(&b->lock);
	return there;
}

void board_set_annotation(struct board *b, struct annotation *a)
{
	struct annotation *old = a;

	pthread_mutex_lock(&b->lock);
	if (b->wish && b->wish->serial == a->serial) {
		old = b->annotation;
		b->annotation = a;
	}
	pthread_mutex_unlock(&b->lock);
	annotation_put(old);
}

struct annotation *board_annotation(struct board *b)
{
	struct annotation *a;

	pthread_mutex_lock(&b->lock);
	a = b->annotation ? annotation_get(b->annotation) : NULL;
	pthread_mutex_unlock(&b->lock);
	return a;
}
