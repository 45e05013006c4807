// SPDX-License-Identifier: GPL-2.0-or-later
/* See keymap.h. Few keys are bound by settings, so a list is enough. */
#include "tui/screen/keymap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct key_row *keymap_row(enum action action)
{
	return action > ACTION_NONE && action < ACTION_COUNT ? &keys_table(NULL)[action - 1] : NULL;
}

const struct key_row *keymap_find(const char *name)
{
	size_t count;
	const struct key_row *rows = keys_table(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

static unsigned int views_of(enum action action)
{
	const struct key_row *row = keymap_row(action);

	return row ? row->views : IN_ALL;
}

static void drop(struct keymap *map, size_t at)
{
	memmove(&map->binds[at], &map->binds[at + 1],
		(map->count - at - 1) * sizeof(map->binds[0]));
	map->count--;
}

int keymap_bind(struct keymap *map, int key, enum action action, bool replace, enum action *other)
{
	for (size_t i = 0; i < map->count; i++) {
		const struct keymap_bind *b = &map->binds[i];

		if (b->key != key || !(views_of(b->action) & views_of(action)))
			continue;
		if (b->action == action)
			return 0;
		if (!replace) {
			*other = b->action;
			return -EEXIST;
		}
		drop(map, i--);
	}
	if (map->count == KEYMAP_MAX)
		return -ENOSPC;
	map->binds[map->count++] = (struct keymap_bind){key, action};
	return 0;
}

void keymap_reset(struct keymap *map, enum action action)
{
	for (size_t i = 0; i < map->count; i++)
		if (map->binds[i].action == action)
			drop(map, i--);
}

enum action keymap_action(const struct keymap *map, int key, enum ui_view view)
{
	for (size_t i = 0; map && i < map->count; i++)
		if (map->binds[i].key == key && views_of(map->binds[i].action) & VIEW_BIT(view))
			return map->binds[i].action;
	return keys_action(key, view);
}

bool keymap_name(int key, char *to, size_t size)
{
	static const char *const names[] = {"Up",   "Down", "Left",  "Right", "PgUp",
					    "PgDn", "Home", "End",   "S-Tab", "Backspace",
					    "Del",  "Tab",  "Enter", "Esc",   "Space"};

	if (key > KEYCODE_F0 && key <= KEYCODE_LAST) {
		snprintf(to, size, "F%d", key - KEYCODE_F0);
		return true;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (keys_parse(names[i], strlen(names[i])) == key) {
			snprintf(to, size, "%s", names[i]);
			return true;
		}
	if (key >= 1 && key <= 26)
		snprintf(to, size, "^%c", key - 1 + 'A');
	else if (key > ' ' && key < 0x7f)
		snprintf(to, size, "%c", key);
	else
		return false;
	return true;
}

/* Whether a default key keeps its action in some view; the user's bindings take it over. */
static bool does(const struct keymap *map, int key, enum action action)
{
	unsigned int views = views_of(action);

	for (size_t i = 0; map && i < map->count; i++)
		if (map->binds[i].key == key)
			views &= ~views_of(map->binds[i].action);
	return views != 0;
}

static void add_name(char *to, size_t size, size_t *length, const char *name, size_t n)
{
	if (*length + n + 2 > size)
		return;
	if (*length)
		to[(*length)++] = ' ';
	memcpy(to + *length, name, n);
	*length += n;
	to[*length] = '\0';
}

void keymap_keys(const struct keymap *map, enum action action, char *to, size_t size)
{
	const struct key_row *row = keymap_row(action);
	size_t length = 0;

	to[0] = '\0';
	for (size_t i = 0; map && i < map->count; i++) {
		char name[KEYMAP_NAME];

		if (map->binds[i].action == action &&
		    keymap_name(map->binds[i].key, name, sizeof(name)))
			add_name(to, size, &length, name, strlen(name));
	}
	for (const char *at = row ? row->keys : ""; *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");
		int key = keys_parse(at, n);
		bool own = false;

		for (size_t i = 0; map && i < map->count; i++)
			own |= map->binds[i].key == key && map->binds[i].action == action;
		if (!own && does(map, key, action))
			add_name(to, size, &length, at, n);
		at += n;
	}
}
