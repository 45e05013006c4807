/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_GLOSSARY_H
#define STACKTOP_TUI_APP_GLOSSARY_H

/* What the columns of all tables mean. */

#include <stdbool.h>
#include <stddef.h>

#include "tui/screen/viewlist.h"

struct glossary_entry {
	const char *title;
	unsigned int views; /* VIEW_BIT */
	const char *meaning;
};

/* In the order of the help screen. Static. */
const struct glossary_entry *glossary_table(size_t *count);
/* The entry of a column of the view; NULL: there is none. */
const struct glossary_entry *glossary_find(const char *title, enum ui_view view);

#endif
