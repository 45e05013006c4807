/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_REPLAY_KEYS_H
#define STACKTOP_TUI_UI_REPLAY_KEYS_H

/* What is different on the screen when a recording is shown instead of this machine. */

#include <stddef.h>

#include "tui/screen/keys.h"

struct header;
struct ui;

/* What a key means for the time of the recording; returns enum ui_flags, 0: nothing. */
unsigned int replay_keys_act(struct ui *ui, enum action action);
/* The answer to "where to?". */
unsigned int replay_keys_jump(struct ui *ui, const char *text);
/* "14:03:20": the time of day that is played. */
void replay_keys_clock(const struct header *h, char *to, size_t size);
/* "PLAY 2x 1:12/10:00  14:03:20": where it is and how fast it goes on. In front of that the time of
 * the moment where the view is frozen, "14:03:08  PLAY 2x 1:12/10:00". */
void replay_keys_state(const struct ui *ui, char *to, size_t size);

#endif
