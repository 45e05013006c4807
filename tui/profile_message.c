/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages for the person. A ring of a few keeps those that come in a burst, for the batch mode
 * writes all of them where a screen shows the newest.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "symbols/text.h"
#include "tui/profile_priv.h"
#include "tui/query.h"

void profile_message(struct profile *p, enum message_level level, const char *format, ...)
{
	struct message *message = &p->messages[++p->nmessages % MESSAGES_MAX];
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

const char *query_message(const struct profile *p, uint64_t now, uint64_t max_age,
			  enum message_level *level, uint64_t *serial)
{
	const struct message *message = &p->messages[p->nmessages % MESSAGES_MAX];

	if (!p->nmessages || (now > message->time && now - message->time > max_age))
		return NULL;
	*level = message->level;
	*serial = p->nmessages;
	return message->text;
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
