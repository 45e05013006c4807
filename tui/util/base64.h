/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_BASE64_H
#define STACKTOP_TUI_UTIL_BASE64_H

#include <stddef.h>

/*
 * Base64 (RFC 4648) with its padding, always terminated; what does not fit is left out from a whole
 * group on. Returns the length.
 */
size_t base64_encode(const char *text, size_t length, char *to, size_t size);

#endif
