/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_KEYSECTIONS_H
#define STACKTOP_TUI_SCREEN_KEYSECTIONS_H

/* The sections of the help screen: what an action is about. */

#include <stdbool.h>

#include "tui/screen/keys.h"

/* In the order of the help screen. */
#define KEYSECTIONS(X)                                                                             \
	X(SHOWN, "What is shown")                                                                  \
	X(MOVE, "Move")                                                                            \
	X(VIEWS, "Views")                                                                          \
	X(FIND, "Find and filter")                                                                 \
	X(TIME, "Time")                                                                            \
	X(SAMPLING, "Sampling")                                                                    \
	X(FILES, "Files")                                                                          \
	X(SCREEN, "Screen")

enum keysection {
#define KEYSECTION_ENUM(id, title) KEYSECTION_##id,
	KEYSECTIONS(KEYSECTION_ENUM)
#undef KEYSECTION_ENUM
		KEYSECTION_COUNT
};

/* An action that has no place here is about what is shown. */
enum keysection keysections_of(enum action action);
const char *keysections_title(enum keysection section);
/* The key belongs to this view and to few others. */
bool keysections_own(const struct key_row *row, enum ui_view view);

#endif
