/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_TEXT_H
#define STACKTOP_SYMBOLS_BASE_TEXT_H

/*
 * Makes foreign text harmless. Names of processes, files and functions are chosen by others: before
 * they reach a terminal or a report, control characters (C0, DEL, C1), escape sequences,
 * bidirectional overrides and broken UTF-8 are replaced by '?'.
 */

#include <stddef.h>
#include <stdint.h>

/*
 * Copies at most size - 1 bytes of the clean form, always NUL-terminated, never cutting a
 * character in two. Returns the length written. size > 0.
 */
size_t text_clean(char *to, size_t size, const char *from, size_t length);

/*
 * Writes a character as UTF-8; its length. What is none of Unicode, half a surrogate pair among it,
 * becomes '?'.
 */
size_t text_encode(uint32_t c, char to[4]);

/* A clean copy to be freed by the caller; NULL: no memory. */
char *text_clean_dup(const char *from);

#endif
