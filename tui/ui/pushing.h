/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_PUSHING_H
#define STACKTOP_TUI_UI_PUSHING_H

/* :push URL sends what is sampled to a server, as --push does; the chip says how that goes. */

#include <stdbool.h>
#include <stddef.h>

struct ui;

/* The word :push. Without a URL it stops. Returns enum ui_flags. */
unsigned int push_command(struct ui *ui, const char *url);
/* Stops what :push began, with a notice. --push goes on to the end. Returns enum ui_flags. */
unsigned int push_stop_command(struct ui *ui);
/* Frees what has ended. */
void pushing_look(struct ui *ui);
/* "push HOST", or what waits. False: nothing is sent. */
bool pushing_words(const struct ui *ui, char *to, size_t size);
/* Waits a moment for what is still to be sent. ui may be half made. */
void pushing_free(struct ui *ui);

#endif
