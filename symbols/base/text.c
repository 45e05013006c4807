/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one gate between foreign names and the terminal. It replaces bad bytes instead of parsing
 * escape sequences. That is enough: without its ESC or CSI a sequence is only odd-looking text, and
 * there is no sequence that a parser could fail to know.
 */
#include "symbols/base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Length of the well-formed character at s and its code point, 0 when the bytes are no UTF-8
 * (Unicode 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
 */
static size_t utf8_decode(const unsigned char *s, size_t length, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n, i;

	if (s[0] < 0x80) {
		*code = s[0];
		return 1;
	}
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (n > length)
		return 0;
	*code = s[0] & (0x7fu >> n);
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < least[n] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return n;
}

/* Characters that act on a terminal, or on how the text around them is laid out. */
static bool is_harmful(uint32_t code)
{
	static const struct {
		uint32_t first;
		uint32_t last;
	} ranges[] = {
		{0x00, 0x1f},	    /* C0 */
		{0x7f, 0x9f},	    /* DEL and C1 */
		{0x061c, 0x061c},   /* Arabic letter mark */
		{0x200b, 0x200f},   /* zero width, left-to-right and right-to-left marks */
		{0x2028, 0x202e},   /* line and paragraph separators, embeddings, overrides */
		{0x2060, 0x206f},   /* invisible operators, isolates, deprecated formats */
		{0xfdd0, 0xfdef},   /* noncharacters */
		{0xfeff, 0xfeff},   /* byte order mark */
		{0xfff9, 0xfffb},   /* interlinear annotation */
		{0xfffe, 0xffff},   /* noncharacters */
		{0xe0000, 0xe0fff}, /* tags */
	};
	size_t i;

	for (i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

size_t text_clean(char *to, size_t size, const char *from, size_t length)
{
	const unsigned char *s = (const unsigned char *)from;
	size_t at = 0, i = 0, n, width;
	uint32_t code;

	while (i < length) {
		/* Nearly all names consist of these alone. */
		while (i < length && at < size - 1 && s[i] >= 0x20 && s[i] < 0x7f)
			to[at++] = (char)s[i++];
		if (i == length)
			break;
		n = utf8_decode(s + i, length - i, &code);
		width = n && !is_harmful(code) ? n : 1;
		if (width > size - 1 - at)
			break;
		if (n && !is_harmful(code))
			memcpy(to + at, s + i, n);
		else
			to[at] = '?';
		at += width;
		i += n ? n : 1;
	}
	to[at] = '\0';
	return at;
}

char *text_clean_dup(const char *from)
{
	/* No character grows when it is cleaned. */
	size_t length = strlen(from);
	char *to = malloc(length + 1);

	if (to)
		text_clean(to, length + 1, from, length);
	return to;
}

size_t text_encode(uint32_t c, char to[4])
{
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		c = '?';
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}
