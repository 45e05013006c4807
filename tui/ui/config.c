// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The settings as text: what a line means, and how a file is changed without losing what its owner
 * wrote into it. See config.h for the form.
 */
#include "tui/ui/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tui/screen/columns.h"
#include "tui/profile/profile.h"

#define LINE_MAX_BYTES 400
#define WARNINGS_MAX   8
#define REFRESH_MIN    0.1
#define REFRESH_MAX    3600.0

static const char *const names[] = {
	"refresh",	"window",      "seconds",     "theme",	     "ascii",	    "mouse",
	"units",	"syntax",      "frames",      "hide.procs",  "hide.funcs",  "hide.tree",
	"hide.callers", "hide.shards", "hide.unwind", "order.procs", "order.funcs", NULL};

const char *const *config_names(void)
{
	return names;
}

static enum ui_view hide_view(const char *name)
{
	return strcmp(name, "hide.procs") == 0	   ? VIEW_PROCS
	       : strcmp(name, "hide.funcs") == 0   ? VIEW_FUNCS
	       : strcmp(name, "hide.tree") == 0	   ? VIEW_TREE
	       : strcmp(name, "hide.callers") == 0 ? VIEW_CALLERS
	       : strcmp(name, "hide.shards") == 0  ? VIEW_SHARDS
	       : strcmp(name, "hide.unwind") == 0  ? VIEW_UNWIND
						   : VIEW_FRAME;
}

/* Where the list of a setting is; 0: it is none. */
static size_t list_offset(const char *name)
{
	enum ui_view view = hide_view(name);

	return view ? offsetof(struct config, hide) + (size_t)view * CONFIG_HIDE_MAX
	       : strcmp(name, "order.procs") == 0 ? offsetof(struct config, order_procs)
	       : strcmp(name, "order.funcs") == 0 ? offsetof(struct config, order_funcs)
						  : 0;
}

/* --- values -------------------------------------------------------------------------------- */

/* Digits and one point: strtod would take "inf", and in some locales a comma. */
static bool parse_seconds(const char *text, double *out)
{
	double value = 0, unit = 1;
	size_t digits = strspn(text, "0123456789");

	if (digits > 4 || !(digits || *text == '.'))
		return false;
	for (size_t i = 0; i < digits; i++)
		value = value * 10 + (text[i] - '0');
	text += digits;
	if (*text == '.') {
		if (!isdigit((unsigned char)*++text))
			return false;
		for (; isdigit((unsigned char)*text); text++)
			value += (unit /= 10) * (*text - '0');
	}
	if (*text || value < REFRESH_MIN - 1e-9 || value > REFRESH_MAX)
		return false;
	*out = value;
	return true;
}

static bool parse_choice(const char *text, const char *no, const char *yes, bool *out)
{
	*out = strcmp(text, yes) == 0;
	return *out || strcmp(text, no) == 0;
}

static int refuse(char *why, size_t size, const char *name, const char *value, const char *wanted)
{
	snprintf(why, size, "%s: '%.60s' is not %s", name, value, wanted);
	return -EINVAL;
}

int config_set(struct config *c, const char *name, const char *value, char *why, size_t size)
{
	const size_t list = list_offset(name);
	bool yes;

	if (list) {
		snprintf((char *)c + list, CONFIG_HIDE_MAX, "%s", value);
		return 0;
	}
	if (strcmp(name, "refresh") == 0)
		return parse_seconds(value, &c->refresh)
			       ? 0
			       : refuse(why, size, name, value, "a number from 0.1 to 3600");
	if (strcmp(name, "theme") == 0) {
		if (!*value || *value == '.' || strlen(value) >= CONFIG_THEME_MAX ||
		    strchr(value, '/'))
			return refuse(why, size, name, value, "the name of a theme");
		snprintf(c->theme, sizeof(c->theme), "%s", value);
		return 0;
	}
	if (strcmp(name, "seconds") == 0) {
		double seconds;

		if (!parse_seconds(value, &seconds) || seconds < 1 ||
		    seconds > PROFILE_WINDOW_MAX || seconds != (unsigned int)seconds)
			return refuse(why, size, name, value, "a whole number from 1 to 300");
		c->seconds = (unsigned int)seconds;
		return 0;
	}
	if (strcmp(name, "window") == 0) {
		if (!parse_choice(value, "sliding", "total", &yes))
			return refuse(why, size, name, value, "sliding or total");
		c->total = yes;
	} else if (strcmp(name, "units") == 0) {
		if (!parse_choice(value, "cpu", "machine", &yes))
			return refuse(why, size, name, value, "cpu or machine");
		c->units = yes ? UNITS_MACHINE : UNITS_CPU;
	} else if (strcmp(name, "syntax") == 0) {
		if (!parse_choice(value, "intel", "att", &c->att))
			return refuse(why, size, name, value, "intel or att");
	} else if (strcmp(name, "frames") == 0) {
		if (!query_frames_parse(value, &c->frames))
			return refuse(why, size, name, value, "merged, all or language");
	} else if (strcmp(name, "ascii") == 0 || strcmp(name, "mouse") == 0) {
		if (!parse_choice(value, "no", "yes", &yes))
			return refuse(why, size, name, value, "yes or no");
		if (*name == 'a')
			c->ascii = yes;
		else
			c->no_mouse = !yes;
	} else {
		snprintf(why, size, "unknown setting '%.60s'", name);
		return -ENOENT;
	}
	return 0;
}

void config_get(const struct config *c, const char *name, char *to, size_t size)
{
	const size_t list = list_offset(name);

	if (list)
		snprintf(to, size, "%s", (const char *)c + list);
	else if (strcmp(name, "refresh") == 0)
		snprintf(to, size, "%g", c->refresh > 0 ? c->refresh : 1.0);
	else if (strcmp(name, "theme") == 0)
		snprintf(to, size, "%s", c->theme[0] ? c->theme : "default");
	else if (strcmp(name, "window") == 0)
		snprintf(to, size, "%s", c->total ? "total" : "sliding");
	else if (strcmp(name, "seconds") == 0)
		snprintf(to, size, "%u", c->seconds ? c->seconds : PROFILE_WINDOW);
	else if (strcmp(name, "units") == 0)
		snprintf(to, size, "%s", c->units == UNITS_MACHINE ? "machine" : "cpu");
	else if (strcmp(name, "syntax") == 0)
		snprintf(to, size, "%s", c->att ? "att" : "intel");
	else if (strcmp(name, "frames") == 0)
		snprintf(to, size, "%s", query_frames_name(c->frames));
	else if (strcmp(name, "ascii") == 0)
		snprintf(to, size, "%s", c->ascii ? "yes" : "no");
	else if (strcmp(name, "mouse") == 0)
		snprintf(to, size, "%s", c->no_mouse ? "no" : "yes");
	else
		to[0] = '\0';
}

/* --- columns ------------------------------------------------------------------------------- */

size_t config_next_title(const char **at, const char **title)
{
	const char *end;

	*at += strspn(*at, ", ");
	*title = *at;
	*at += strcspn(*at, ",");
	for (end = *at; end > *title && end[-1] == ' '; end--)
		;
	return (size_t)(end - *title);
}

bool config_hides(const struct config *c, enum ui_view view, const char *title)
{
	const char *at = c->hide[view], *one;
	size_t n;

	/* "CONTAINER, UNIT" has a comma of its own, so a title is compared up to one. */
	while ((n = config_next_title(&at, &one)))
		if (n == strcspn(title, ",") && strncasecmp(one, title, n) == 0)
			return true;
	return false;
}

void config_hide(struct config *c, enum ui_view view, const char *title, bool hide)
{
	char list[CONFIG_HIDE_MAX] = {0};
	const char *at = c->hide[view], *one;
	size_t wanted = strcspn(title, ","), length = 0, n;

	/* "a,b" becomes "a, b", so a full list of a file may grow too long. */
	while ((n = config_next_title(&at, &one)) && length + n + 3 <= sizeof(list))
		if (!(n == wanted && strncasecmp(one, title, n) == 0))
			length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%.*s",
						   length ? ", " : "", (int)n, one);
	if (hide && length + wanted + 3 < sizeof(list))
		snprintf(list + length, sizeof(list) - length, "%s%.*s", length ? ", " : "",
			 (int)wanted, title);
	memcpy(c->hide[view], list, sizeof(list));
}

unsigned int config_hidden(const struct config *c, enum ui_view view, const struct column *columns,
			   int count)
{
	unsigned int bits = 0;

	if (!c || !c->hide[view][0])
		return 0;
	for (int i = 0; i < count; i++)
		if (columns[i].title && columns[i].title[0] && !columns[i].keep &&
		    config_hides(c, view, columns[i].title))
			bits |= 1U << i;
	return bits;
}

const char *config_order(const struct config *c, enum ui_view view)
{
	return view == VIEW_PROCS ? c->order_procs : view == VIEW_FUNCS ? c->order_funcs : NULL;
}

/* "vs BASE" is what "vs BEFORE" becomes. */
static bool names_column(const char *title, size_t n, const struct column *column)
{
	if (n > 3 && strncasecmp(title, "vs ", 3) == 0)
		return strncmp(column->title, "vs ", 3) == 0;
	return n == strcspn(column->title, ",") && strncasecmp(title, column->title, n) == 0;
}

void config_place(const struct config *c, enum ui_view view, struct column *columns, int count)
{
	const char *at = config_order(c, view), *title;
	int place = 1;
	size_t n;

	for (int i = 0; i < count; i++)
		columns[i].place = columns[i].title[0] ? COLUMNS_MAX : 0;
	while (at && (n = config_next_title(&at, &title)))
		for (int i = 0; i < count; i++)
			if (columns[i].title[0] && names_column(title, n, &columns[i]))
				columns[i].place = place++;
}

void config_move(struct config *c, enum ui_view view, const struct column *columns, int count,
		 int column, int step)
{
	char *list = (char *)config_order(c, view);
	int order[COLUMNS_MAX], at = 0;
	size_t length = 0;

	columns_order(columns, count, order);
	while (at < count && order[at] != column)
		at++;
	if (!list || at == count || at + step < 0 || at + step >= count ||
	    !columns[order[at + step]].title[0])
		return;
	order[at] = order[at + step];
	order[at + step] = column;
	for (int k = 0; k < count && length < CONFIG_HIDE_MAX; k++) {
		const char *title = columns[order[k]].title;

		if (title[0])
			length += (size_t)snprintf(list + length, CONFIG_HIDE_MAX - length,
						   "%s%.*s", length ? ", " : "",
						   (int)strcspn(title, ","), title);
	}
}

/* --- lines --------------------------------------------------------------------------------- */

struct config_reader {
	int line;
	int warnings;
	config_warn_fn warn;
	void *arg;
	int bound[KEYMAP_MAX];			   /* line of each bind */
	int set[sizeof(names) / sizeof(names[0])]; /* of each setting; 0: none */
};

/* Its index in names; that of the end: there is no such setting. */
static size_t name_index(const char *name)
{
	size_t i = 0;

	while (names[i] && strcmp(names[i], name) != 0)
		i++;
	return i;
}

__attribute__((format(printf, 2, 3))) static void warn(struct config_reader *r, const char *format,
						       ...)
{
	char text[240];
	int n;
	va_list args;

	if (!r->warn || r->warnings++ > WARNINGS_MAX)
		return;
	if (r->warnings > WARNINGS_MAX) {
		r->warn(r->arg, "more lines are wrong");
		return;
	}
	n = snprintf(text, sizeof(text), "line %d: ", r->line);
	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - (size_t)n, format, args);
	va_end(args);
	/* Words of the file are quoted: they must not become an escape sequence. */
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
			*c = '?';
	r->warn(r->arg, text);
}

static char *trim(char *text)
{
	size_t n = strlen(text);

	while (n && isspace((unsigned char)text[n - 1]))
		text[--n] = '\0';
	return text + strspn(text, " \t");
}

/* Cuts a line into name and value; false: it is empty or a comment. value is NULL without '='. */
static bool split(char *line, char **name, char **value)
{
	char *equals, *start = trim(line);

	if (*start == '#' || !*start)
		return false;
	/* "key # = flip" is no comment, nor is "key = = flip" without a name. */
	equals = strncmp(start, "key ", 4) == 0 && strlen(start) > 5 ? strchr(start + 5, '=')
								     : strchr(start, '=');
	*name = start;
	*value = NULL;
	if (!equals)
		return true;
	*equals = '\0';
	*value = equals + 1;
	for (char *c = *value; *c; c++)
		if (*c == '#' && isspace((unsigned char)c[-1])) {
			*c = '\0';
			break;
		}
	*value = trim(*value);
	*name = trim(start);
	return true;
}

static bool key_line(const char *name, const char **key)
{
	if (strncmp(name, "key", 3) != 0 || !isspace((unsigned char)name[3]))
		return false;
	*key = name + 3 + strspn(name + 3, " \t");
	return true;
}

static void bind_line(struct config *c, struct config_reader *r, const char *key, const char *value)
{
	const struct key_row *row = keymap_find(value);
	int code = keys_parse(key, strlen(key));
	enum action other = ACTION_NONE;
	size_t before = c->keys.count;
	int err;

	if (code == KEYCODE_NONE) {
		warn(r, "there is no key '%.40s'", key);
		return;
	}
	if (!row && strcmp(value, "none") != 0) {
		warn(r, "there is no action '%.40s'", value);
		return;
	}
	err = keymap_bind(&c->keys, code, row ? row->action : ACTION_NONE, false, &other);
	if (err == -ENOSPC)
		warn(r, "more than %d keys", KEYMAP_MAX);
	if (!err && c->keys.count > before)
		r->bound[before] = r->line;
	for (size_t i = 0; err == -EEXIST && i < c->keys.count; i++)
		if (c->keys.binds[i].key == code && c->keys.binds[i].action == other)
			warn(r, "key %s is bound to %s already, by line %d", key,
			     other ? keymap_row(other)->name : "none", r->bound[i]);
}

static void read_line(struct config *c, struct config_reader *r, char *line)
{
	char *name, *value, why[160];
	const char *key;
	int *before;

	if (!split(line, &name, &value))
		return;
	if (!value || !*name) {
		warn(r, "expected: name = value");
	} else if (key_line(name, &key)) {
		bind_line(c, r, key, value);
	} else if (config_set(c, name, value, why, sizeof(why))) {
		warn(r, "%s", why);
	} else {
		before = &r->set[name_index(name)];
		if (*before)
			warn(r, "%s is set by line %d, too; the later one counts", name, *before);
		*before = r->line;
	}
}

/* Copies the next line, without its end; false: it is too long or not text. */
static bool next_line(const char **text, const char *end, char *line)
{
	const char *newline = memchr(*text, '\n', (size_t)(end - *text));
	size_t n = (size_t)((newline ? newline : end) - *text);
	bool fits = n < LINE_MAX_BYTES && !memchr(*text, '\0', n);

	if (fits) {
		memcpy(line, *text, n);
		line[n] = '\0';
	}
	*text += n + (newline != NULL);
	return fits;
}

void config_parse(struct config *out, const char *text, size_t length, config_warn_fn warn_fn,
		  void *arg)
{
	struct config_reader r = {.warn = warn_fn, .arg = arg};
	const char *end = text + length;
	char line[LINE_MAX_BYTES];

	memset(out, 0, sizeof(*out));
	while (text < end) {
		r.line++;
		if (next_line(&text, end, line))
			read_line(out, &r, line);
		else
			warn(&r, "the line is too long or not text");
	}
}

/* --- writing ------------------------------------------------------------------------------- */

struct editor {
	const struct config *c;
	struct config defaults;
	bool said[sizeof(names) / sizeof(names[0])];
	int left[sizeof(names) / sizeof(names[0])]; /* lines that set it: the last one counts */
	bool bound[KEYMAP_MAX];
	struct keymap was;  /* what the lines bind, as they were */
	struct keymap kept; /* and those that stay */
};

/* A line that sets something. */
static bool setting(const char *line, size_t *at, struct config *to)
{
	char copy[LINE_MAX_BYTES], why[160], *name, *value;
	const char *key;

	snprintf(copy, sizeof(copy), "%s", line);
	if (!split(copy, &name, &value) || !value || key_line(name, &key) ||
	    config_set(to, name, value, why, sizeof(why)))
		return false;
	*at = name_index(name);
	return true;
}

/* True: the line was written in another form, or is not to stay. */
static bool edit_key(struct editor *e, const char *line, const char *key, const char *value,
		     FILE *to)
{
	const struct key_row *row = keymap_find(value);
	const enum action action = row ? row->action : ACTION_NONE;
	int code = keys_parse(key, strlen(key));
	enum action other;
	size_t at = 0;

	/* What could not be understood stays, for its owner to mend. */
	if (code == KEYCODE_NONE || (!row && strcmp(value, "none") != 0))
		return false;
	if (keymap_bind(&e->was, code, action, false, &other)) {
		struct keymap tried = e->kept;

		/* What had no effect must not get one now. */
		if (keymap_bind(&tried, code, action, false, &other))
			return false;
		fprintf(to, "# %s\n", line);
		return true;
	}
	/* The bind that the line stands for, if the settings have it. */
	while (at < e->c->keys.count &&
	       (e->c->keys.binds[at].key != code || e->c->keys.binds[at].action != action))
		at++;
	if (at == e->c->keys.count)
		return true;
	e->bound[at] = true;
	keymap_bind(&e->kept, code, action, false, &other);
	return false;
}

/* Likewise. */
static bool edit_line(struct editor *e, const char *line, FILE *to)
{
	char copy[LINE_MAX_BYTES], now[CONFIG_HIDE_MAX], was[CONFIG_HIDE_MAX];
	char *name, *value;
	const char *key;
	struct config one = {0};
	size_t i;

	snprintf(copy, sizeof(copy), "%s", line);
	if (!split(copy, &name, &value) || !value)
		return false;
	if (key_line(name, &key))
		return edit_key(e, line, key, value, to);
	if (!setting(line, &i, &one) || --e->left[i])
		return false;
	config_get(e->c, names[i], now, sizeof(now));
	config_get(&one, names[i], was, sizeof(was));
	e->said[i] = true;
	if (strcmp(now, was) == 0)
		return false;
	fprintf(to, "%s = %s\n", names[i], now);
	return true;
}

int config_edit(const struct config *c, const char *text, size_t length, char **out)
{
	struct editor *e = calloc(1, sizeof(*e));
	const char *end = text + length;
	char line[LINE_MAX_BYTES], now[CONFIG_HIDE_MAX], usual[CONFIG_HIDE_MAX], key[KEYMAP_NAME];
	size_t size;
	FILE *to = open_memstream(out, &size);
	int err = 0;

	if (!e || !to) {
		free(e);
		if (to) {
			fclose(to);
			free(*out);
		}
		return -ENOMEM;
	}
	e->c = c;
	for (const char *at = text; at < end;) {
		struct config one = {0};
		size_t i;

		if (next_line(&at, end, line) && setting(line, &i, &one))
			e->left[i]++;
	}
	while (text < end) {
		const char *start = text;

		if (next_line(&text, end, line) && edit_line(e, line, to))
			continue;
		fwrite(start, 1, (size_t)(text - start), to);
		if (text[-1] != '\n')
			fputc('\n', to);
	}
	for (size_t i = 0; names[i]; i++) {
		config_get(c, names[i], now, sizeof(now));
		config_get(&e->defaults, names[i], usual, sizeof(usual));
		if (!e->said[i] && strcmp(now, usual) != 0)
			fprintf(to, "%s = %s\n", names[i], now);
	}
	for (size_t i = 0; i < c->keys.count; i++) {
		const struct keymap_bind *b = &c->keys.binds[i];

		if (!e->bound[i] && keymap_name(b->key, key, sizeof(key)))
			fprintf(to, "key %s = %s\n", key,
				b->action ? keymap_row(b->action)->name : "none");
	}
	if (ferror(to))
		err = -ENOMEM;
	if (fclose(to))
		err = -ENOMEM;
	if (err)
		free(*out);
	free(e);
	return err;
}
