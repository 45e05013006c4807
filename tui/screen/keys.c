// SPDX-License-Identifier: GPL-2.0-or-later
/* See keys.h: the table is there, this is how it is read. */
#include "tui/screen/keys.h"

#include <stdbool.h>
#include <string.h>

static const struct key_row rows[] = {
#define KEYS_ROW(id, name, keys, views, label, help) {ACTION_##id, name, keys, views, label, help},
	KEYS_ACTIONS(KEYS_ROW)
#undef KEYS_ROW
};

static const struct {
	const char *name;
	int key;
} named[] = {
	{"Up", KEYCODE_UP},
	{"Down", KEYCODE_DOWN},
	{"Left", KEYCODE_LEFT},
	{"Right", KEYCODE_RIGHT},
	{"PgUp", KEYCODE_PAGE_UP},
	{"PgDn", KEYCODE_PAGE_DOWN},
	{"Home", KEYCODE_HOME},
	{"End", KEYCODE_END},
	{"Tab", KEYCODE_TAB},
	{"S-Tab", KEYCODE_BACKTAB},
	{"Enter", KEYCODE_ENTER},
	{"Esc", KEYCODE_ESCAPE},
	{"Space", ' '},
	{"Backspace", KEYCODE_BACKSPACE},
	{"Del", KEYCODE_DELETE},
};

const struct key_row *keys_table(size_t *count)
{
	if (count)
		*count = sizeof(rows) / sizeof(rows[0]);
	return rows;
}

int keys_parse(const char *name, size_t length)
{
	int number = 0;

	if (length == 1 && name[0] > ' ' && name[0] < 0x7f)
		return (unsigned char)name[0];
	if (length == 2 && name[0] == '^' && name[1] >= 'A' && name[1] <= 'Z')
		return name[1] - 'A' + 1;
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (named[i].name[0] == name[0] && strlen(named[i].name) == length &&
		    memcmp(named[i].name, name, length) == 0)
			return named[i].key;
	if (length < 2 || length > 3 || name[0] != 'F')
		return KEYCODE_NONE;
	for (size_t i = 1; i < length; i++) {
		if (name[i] < '0' || name[i] > '9')
			return KEYCODE_NONE;
		number = number * 10 + (name[i] - '0');
	}
	return number >= 1 && number <= 12 ? KEYCODE_F0 + number : KEYCODE_NONE;
}

/* Most names are one character, which is the key. The help asks for every key of the table. */
static bool row_has(const struct key_row *row, int key)
{
	for (const char *at = row->keys, *end; *at; at = end + (*end == ' ')) {
		end = at + 1;
		while (*end && *end != ' ')
			end++;
		if (end == at + 1 ? *at == key : keys_parse(at, (size_t)(end - at)) == key)
			return true;
	}
	return false;
}

enum action keys_action(int key, enum ui_view view)
{
	if (key == KEYCODE_NONE)
		return ACTION_NONE;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((rows[i].views & VIEW_BIT(view)) && row_has(&rows[i], key))
			return rows[i].action;
	return ACTION_NONE;
}

/* Characters that roff would take for its own. */
static void write_roff(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\e", to);
		else if (*text == '-')
			fputs("\\-", to);
		else if (*text == '^')
			fputs("\\(ha", to);
		else if (*text == '~')
			fputs("\\(ti", to);
		else
			fputc(*text, to);
	}
}

void keys_views(const struct key_row *row, char *to, size_t size)
{
	static const char *const titles[VIEW_KEYS_COUNT] = {[VIEW_FRAME] = "code",
							    [VIEW_BUTTERFLY] = "butterfly",
#define KEYS_TITLE(id, number, title, name) [VIEW_##id] = (title),
							    VIEW_LIST(KEYS_TITLE)
#undef KEYS_TITLE
	};
	unsigned int views = row->views;
	bool most = __builtin_popcount(views) > VIEW_KEYS_COUNT / 2;
	size_t n = 0;

	to[0] = '\0';
	if (views == IN_ALL)
		return;
	if (most)
		views = IN_ALL & ~views;
	for (int i = 1; i <= VIEW_KEYS_COUNT; i++) {
		int view = i % VIEW_KEYS_COUNT; /* code is the last one */

		if (views & VIEW_BIT(view) && n < size)
			n += (size_t)snprintf(to + n, size - n, "%s%s",
					      n	     ? ", "
					      : most ? "not "
						     : "",
					      titles[view]);
	}
}

void keys_write_table(FILE *to)
{
	char views[96];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fputs(".TP\n.B \"", to);
		write_roff(to, rows[i].keys);
		fputs("\"\n", to);
		write_roff(to, rows[i].help);
		keys_views(&rows[i], views, sizeof(views));
		if (views[0])
			fprintf(to, " (%s)", views);
		fputs("\n", to);
	}
}
