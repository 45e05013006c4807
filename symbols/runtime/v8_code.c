// SPDX-License-Identifier: GPL-2.0-or-later
/* See v8_code.h. */
#include "symbols/runtime/v8_code.h"

#include <string.h>

#include "symbols/base/text.h"

#define BATCH 64u /* characters that are converted at a time */

#define IS_HIGH(c) ((c) >= 0xd800 && (c) <= 0xdbff) /* the first half of a surrogate pair */
#define IS_LOW(c)  ((c) >= 0xdc00 && (c) <= 0xdfff)

static uint32_t unit(const uint8_t *characters, size_t i, bool wide)
{
	uint16_t two;

	if (!wide)
		return characters[i];
	memcpy(&two, characters + i * sizeof(two), sizeof(two));
	return two;
}

/* The character at *i, which becomes the next. */
static uint32_t take(const uint8_t *characters, size_t count, bool wide, size_t *i)
{
	uint32_t c = unit(characters, (*i)++, wide), low;

	if (!IS_HIGH(c) || *i == count)
		return c;
	low = unit(characters, *i, wide);
	if (!IS_LOW(low))
		return c;
	++*i;
	return 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
}

size_t v8_text(const uint8_t *characters, size_t size, bool wide, char *to, size_t room)
{
	const size_t count = wide ? size / 2 : size;
	size_t done = 0;

	to[0] = '\0';
	for (size_t i = 0; i < count;) {
		char text[4 * BATCH], clean[4 * BATCH + 1];
		size_t length = 0, n;

		while (i < count && length <= sizeof(text) - 4)
			length += text_encode(take(characters, count, wide, &i), text + length);
		n = text_clean(clean, sizeof(clean), text, length);
		if (n >= room - done) /* the last batch, again, into the room that is left */
			return done + text_clean(to + done, room - done, text, length);
		memcpy(to + done, clean, n + 1);
		done += n;
	}
	return done;
}
