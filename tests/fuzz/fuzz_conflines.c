/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text as a configuration file: names have only their letters, values are clean and within the
 * text, and the first wrong line is the last.
 * Covers: tui/util/conflines.c
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>

#include "symbols/base/text.h"
#include "tui/util/conflines.h"

static void require_clean(const char *value, const char *text, const char *end)
{
	char clean[CONFLINES_LENGTH + 1];
	size_t length = strlen(value);

	require(value >= text && value + length <= end);
	require(length <= CONFLINES_LENGTH && !memchr(value, '\t', length));
	require(text_clean(clean, sizeof(clean), value, length) == length);
	require(!memcmp(clean, value, length));
}

static int take_input(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	unsigned int before = 0;
	struct conflines c;
	int more;

	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	conflines_begin(&c, text, size);
	while ((more = conflines_next(&c)) > 0) {
		require(c.line > before && !c.wrong);
		before = c.line;
		require(*c.name && !strpbrk(c.name, " =\"#\\\n\t"));
		require_clean(c.name, text, text + size);
		if (c.value)
			require_clean(c.value, text, text + size);
	}
	require(!more == !c.wrong);
	require(!more || more == -EINVAL);
	require(conflines_next(&c) == more);
	free(text);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 14, 256)
