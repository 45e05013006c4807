// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/util/base64.h"

#include <stdint.h>

size_t base64_encode(const char *text, size_t length, char *to, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = 0;

	for (size_t i = 0; i < length && n + 4 < size; i += 3) {
		uint32_t group = (uint32_t)(unsigned char)text[i] << 16;

		if (i + 1 < length)
			group |= (uint32_t)(unsigned char)text[i + 1] << 8;
		if (i + 2 < length)
			group |= (unsigned char)text[i + 2];
		to[n++] = digits[group >> 18];
		to[n++] = digits[group >> 12 & 63];
		to[n++] = i + 1 < length ? digits[group >> 6 & 63] : '=';
		to[n++] = i + 2 < length ? digits[group & 63] : '=';
	}
	if (size)
		to[n] = '\0';
	return n;
}
