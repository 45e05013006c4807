/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_KEYMAP_H
#define STACKTOP_TUI_SCREEN_KEYMAP_H

/*
 * The keys as they are bound now: those of the table, and those of the settings. A key that is
 * bound anew loses its former actions in all views that the new one works in, and keeps them in the
 * others: F5 may turn the flame graph and still cycle the trees.
 */

#include <stdbool.h>
#include <stddef.h>

#include "tui/screen/keys.h"

#define KEYMAP_MAX  128
#define KEYMAP_NAME 12 /* bytes of the longest name of a key, with its NUL */

struct keymap {
	struct keymap_bind {
		int key;
		enum action action; /* ACTION_NONE: the key does nothing */
	} binds[KEYMAP_MAX];
	size_t count;
};

/*
 * 0; -EEXIST: the key is bound to another action, which is left in *other, in a view of this one;
 * -ENOSPC. replace: such a bind gives way instead.
 */
int keymap_bind(struct keymap *map, int key, enum action action, bool replace, enum action *other);
/* The action has the keys of the table again, and no others. */
void keymap_reset(struct keymap *map, enum action action);
/* What a key does in a view; NULL: as in the table. */
enum action keymap_action(const struct keymap *map, int key, enum ui_view view);
/* The keys that do it in any of its views, separated by blanks; "" none. */
void keymap_keys(const struct keymap *map, enum action action, char *to, size_t size);
/* The row of the action of that name; NULL: there is none. */
const struct key_row *keymap_find(const char *name);
const struct key_row *keymap_row(enum action action);
/* The name of a key as keys_parse takes it; false: it has none. */
bool keymap_name(int key, char *to, size_t size);

#endif
