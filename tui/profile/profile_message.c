/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages for the user. A small ring keeps a burst of them: batch mode writes all, a screen has
 * room for one at a time.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "symbols/base/text.h"
#include "tui/profile/profile_priv.h"

#define BURST_NS 1000000000ULL /* messages in quicker succession are a burst */
#define TURN_NS	 4000000000ULL

void profile_message(struct profile *p, enum message_level level, const char *format, ...)
{
	struct board_note *message = &p->messages[++p->nmessages % MESSAGES_MAX];
	char text[2 * MESSAGE_LENGTH];
	struct timespec now;
	va_list args;

	va_start(args, format);
	if (vsnprintf(text, sizeof(text), format, args) < 0)
		text[0] = 0;
	va_end(args);
	text_clean(message->text, sizeof(message->text), text, strlen(text));
	clock_gettime(CLOCK_MONOTONIC, &now);
	message->time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	message->level = level;
}

/*
 * Since when message n is on a screen. Warnings of a burst take turns, since they answer nothing.
 * An error, and what comes later, answers the user and does not wait.
 */
static uint64_t turn_of(const struct profile *p, uint64_t n)
{
	uint64_t first = p->nmessages > MESSAGES_MAX ? p->nmessages - MESSAGES_MAX + 1 : 1;
	uint64_t since = 0;

	for (uint64_t i = first; i <= n; i++) {
		const struct board_note *message = &p->messages[i % MESSAGES_MAX];
		const struct board_note *before = &p->messages[(i - 1) % MESSAGES_MAX];

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

const char *query_message(const struct profile *p, uint64_t now, uint64_t max_age,
			  enum message_level *level, uint64_t *serial)
{
	uint64_t n = p->nmessages, since;

	if (!n)
		return NULL;
	/* Ends, since the first message of a burst does not wait. */
	while ((since = turn_of(p, n)) > now && since != p->messages[n % MESSAGES_MAX].time)
		n--;
	if (now > since && now - since > max_age)
		return NULL;
	*level = p->messages[n % MESSAGES_MAX].level;
	*serial = n;
	return p->messages[n % MESSAGES_MAX].text;
}

const char *query_message_after(const struct profile *p, enum message_level *level,
				uint64_t *serial)
{
	uint64_t next = *serial + 1;

	if (next > p->nmessages)
		return NULL;
	if (p->nmessages - next >= MESSAGES_MAX)
		next = p->nmessages - MESSAGES_MAX + 1;
	*serial = next;
	*level = p->messages[next % MESSAGES_MAX].level;
	return p->messages[next % MESSAGES_MAX].text;
}
