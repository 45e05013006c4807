// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A terminal that is asked to (OSC 52) takes text into the clipboard of the machine that it runs
 * on, over ssh as well, which no program on this side could. The text goes there as base64, so
 * whatever a function is called cannot end the sequence.
 */
#include "tui/ui/clipboard.h"

#include <stdint.h>
#include <stdio.h>

#include "tui/ui/names.h"
#include "tui/ui/ui.h"
#include "tui/ui/view.h"

unsigned int clipboard_take(struct ui *ui)
{
	const struct view_ops *view = view_get(ui->view);
	const struct profile_func *func = view->function ? view->function(ui) : NULL;

	ui->copied[0] = '\0';
	if (view->copy)
		view->copy(ui, ui->copied, sizeof(ui->copied));
	else if (func)
		names_show(func, ui->copied, sizeof(ui->copied));
	if (!ui->copied[0])
		return 0;
	ui_notice(ui, "copied %s", ui->copied);
	return UI_REDRAW | UI_COPY;
}

size_t clipboard_base64(const char *text, size_t length, char *to, size_t size)
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
