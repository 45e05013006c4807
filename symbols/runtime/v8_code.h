/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_V8_CODE_H
#define STACKTOP_SYMBOLS_RUNTIME_V8_CODE_H

/* Reads V8's strings from copies of their characters. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The text of Latin-1 characters or, if they are wide, of UTF-16, as clean UTF-8 (text_clean),
 * NUL-terminated; room > 0. Returns the length written.
 */
size_t v8_text(const uint8_t *characters, size_t size, bool wide, char *to, size_t room);

#endif
