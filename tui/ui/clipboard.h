/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_CLIPBOARD_H
#define STACKTOP_TUI_UI_CLIPBOARD_H

/* What is under the cursor, for another program: to be searched in sources or a ticket. */

#include <stddef.h>

struct ui;

/* Sets ui->copied, and says so. Returns enum ui_flags; 0: there is nothing under the cursor. */
unsigned int clipboard_take(struct ui *ui);

/*
 * Base64 (RFC 4648) with its padding, always terminated; what does not fit is left out from a whole
 * group on. Returns the length.
 */
size_t clipboard_base64(const char *text, size_t length, char *to, size_t size);

#endif
