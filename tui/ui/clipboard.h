/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_CLIPBOARD_H
#define STACKTOP_TUI_UI_CLIPBOARD_H

/* Copies the name under the cursor for other programs. */

struct ui;

/* Sets ui->copied and shows a notice. Returns enum ui_flags; 0: nothing is under the cursor. */
unsigned int clipboard_take(struct ui *ui);

#endif
