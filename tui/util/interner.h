/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_INTERNER_H
#define STACKTOP_TUI_UTIL_INTERNER_H

/*
 * Byte strings that are numbered in the order in which they were first seen: equal ones have the
 * same number. What file formats call a string table is one, and so is any table of messages that
 * must not have two equal entries, since equal messages are encoded as the same bytes here.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tui/util/bytes.h"
#include "tui/util/idtable.h"

struct interner { /* zeroed: empty */
	struct outbytes pool;
	size_t *ends; /* in the pool, by number */
	size_t room;
	uint32_t count;
	struct idtable index;
	bool failed; /* no memory; the numbers are of no use */
};

void interner_free(struct interner *t);
/* The number; 0 if there is no memory, which t->failed says. */
uint32_t interner_add(struct interner *t, const void *data, size_t size);
/* Valid until the next one is added. */
const uint8_t *interner_get(const struct interner *t, uint32_t number, size_t *size);

static inline uint32_t interner_text(struct interner *t, const char *text)
{
	return interner_add(t, text, strlen(text));
}

/* A message, which is emptied. */
static inline uint32_t interner_part(struct interner *t, struct outbytes *part)
{
	uint32_t number = interner_add(t, part->data, part->size);

	t->failed |= part->failed;
	part->size = 0;
	return number;
}

#endif
