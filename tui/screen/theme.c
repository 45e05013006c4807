// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Theme files come from users and from the network of users, so the parser is bounded in every
 * direction (bytes, lines, palette, inheritance, warnings) and a line that is wrong costs that
 * line only.
 */
#include "tui/screen/theme.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tui/util/smallfile.h"

#define FILE_BYTES   (64 * 1024)
#define LINE_BYTES   400
#define PALETTE_MAX  64
#define NAME_BYTES   32
#define WORDS_MAX    8
#define WARNINGS_MAX 8
#define INHERIT_MAX  4

struct named_color {
	char name[NAME_BYTES];
	struct color color;
};

struct theme {
	struct style styles[VIEW_COUNT][ROLE_COUNT];
	bool own[VIEW_COUNT][ROLE_COUNT]; /* set for that view, not inherited from the frame */
	struct named_color palette[PALETTE_MAX];
	int npalette;
};

struct theme_parser {
	struct theme *theme;
	int line;
	int depth;
	bool based; /* there was a base: one each bounds the work, as depth alone does not */
	int warnings;
	enum section { SECTION_TOP, SECTION_PALETTE, SECTION_ROLES, SECTION_UNKNOWN } section;
	theme_warn_fn warn;
	void *arg;
	const char *const *directories;
};

static const struct {
	const char *name;
	unsigned int plain;
} roles[] = {
#define ROLE_ROW(id, name, attributes) {name, attributes},
	ROLE_LIST(ROLE_ROW)
#undef ROLE_ROW
};

static const char *const view_names[VIEW_COUNT] = {
#define VIEW_NAME(id, number, title, name) [VIEW_##id] = name,
	VIEW_LIST(VIEW_NAME)
#undef VIEW_NAME
};

/* Values of xterm's first sixteen colours. */
static const struct {
	const char *name;
	uint32_t rgb;
} ansi[16] = {
	{"black", 0x000000},	   {"red", 0xcd0000},		{"green", 0x00cd00},
	{"yellow", 0xcdcd00},	   {"blue", 0x0000ee},		{"magenta", 0xcd00cd},
	{"cyan", 0x00cdcd},	   {"white", 0xe5e5e5},		{"brightblack", 0x7f7f7f},
	{"brightred", 0xff0000},   {"brightgreen", 0x00ff00},	{"brightyellow", 0xffff00},
	{"brightblue", 0x5c5cff},  {"brightmagenta", 0xff00ff}, {"brightcyan", 0x00ffff},
	{"brightwhite", 0xffffff},
};

static const struct {
	const char *name;
	unsigned int bit;
} attributes[] = {
	{"bold", ATTR_BOLD},	   {"dim", ATTR_DIM},	    {"underline", ATTR_UNDERLINE},
	{"reverse", ATTR_REVERSE}, {"italic", ATTR_ITALIC},
};

__attribute__((format(printf, 2, 3))) static void warn(struct theme_parser *p, const char *format,
						       ...)
{
	char text[200];
	int n;
	va_list args;

	if (!p->warn || p->warnings++ > WARNINGS_MAX)
		return;
	if (p->warnings > WARNINGS_MAX) {
		p->warn(p->arg, "more lines are wrong");
		return;
	}
	n = snprintf(text, sizeof(text), "line %d: ", p->line);
	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - n, format, args);
	va_end(args);
	/* Words of the file are quoted: they must not become an escape sequence. */
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
			*c = '?';
	p->warn(p->arg, text);
}

static unsigned int distance(uint32_t a, uint32_t b)
{
	int r = (int)(a >> 16 & 0xff) - (int)(b >> 16 & 0xff);
	int g = (int)(a >> 8 & 0xff) - (int)(b >> 8 & 0xff);
	int bl = (int)(a & 0xff) - (int)(b & 0xff);

	return (unsigned int)(2 * r * r + 4 * g * g + 3 * bl * bl);
}

/* xterm's palette from 16 on: a 6x6x6 cube, then 24 greys (256colres.pl of xterm). */
static uint32_t xterm_rgb(int index)
{
	static const uint8_t steps[6] = {0, 95, 135, 175, 215, 255};
	uint32_t grey;

	if (index < 16)
		return ansi[index].rgb;
	if (index < 232) {
		index -= 16;
		return (uint32_t)steps[index / 36] << 16 | (uint32_t)steps[index / 6 % 6] << 8 |
		       steps[index % 6];
	}
	grey = (uint32_t)(8 + (index - 232) * 10);
	return grey << 16 | grey << 8 | grey;
}

static uint8_t nearest(uint32_t rgb, int from, int to)
{
	int best = from;

	for (int i = from; i < to; i++)
		if (distance(rgb, xterm_rgb(i)) < distance(rgb, xterm_rgb(best)))
			best = i;
	return (uint8_t)best;
}

static struct color color_rgb(uint32_t rgb)
{
	return (struct color){
		.rgb = rgb, .c256 = nearest(rgb, 16, 256), .c16 = nearest(rgb, 0, 16)};
}

static bool parse_hex(const char *word, uint32_t *rgb)
{
	char *end;

	if (word[0] != '#' || strlen(word) != 7 || strspn(word + 1, "0123456789abcdefABCDEF") != 6)
		return false;
	*rgb = (uint32_t)strtoul(word + 1, &end, 16);
	return true;
}

static bool parse_index(const char *word, uint8_t *index)
{
	if (strspn(word, "0123456789") != strlen(word) || strlen(word) > 3 || atoi(word) > 255)
		return false;
	*index = (uint8_t)atoi(word);
	return true;
}

static bool parse_ansi(const char *word, uint8_t *index)
{
	for (uint8_t i = 0; i < 16; i++) {
		if (strcasecmp(word, ansi[i].name) == 0) {
			*index = i;
			return true;
		}
	}
	return false;
}

static bool parse_color(const struct theme *t, const char *word, struct color *color)
{
	uint32_t rgb;
	uint8_t index;

	for (int i = 0; i < t->npalette; i++) {
		if (strcmp(t->palette[i].name, word) == 0) {
			*color = t->palette[i].color;
			return true;
		}
	}
	if (strcmp(word, "default") == 0)
		*color = (struct color){.terminal = true};
	else if (parse_ansi(word, &index))
		*color = (struct color){.rgb = ansi[index].rgb, .c256 = index, .c16 = index};
	else if (parse_hex(word, &rgb))
		*color = color_rgb(rgb);
	else if (parse_index(word, &index))
		*color = (struct color){.rgb = xterm_rgb(index),
					.c256 = index,
					.c16 = nearest(xterm_rgb(index), 0, 16)};
	else
		return false;
	return true;
}

static void palette_line(struct theme_parser *p, const char *name, char **words, int n)
{
	struct theme *t = p->theme;
	struct color color;
	uint32_t rgb;
	int slot;

	if (strlen(name) >= NAME_BYTES || n < 1 || n > 3 || !parse_hex(words[0], &rgb)) {
		warn(p, "expected: name = #rrggbb [0-255 [name of one of 16 colours]]");
		return;
	}
	color = color_rgb(rgb);
	if (n > 1 && !parse_index(words[1], &color.c256)) {
		warn(p, "'%s' is not a number from 0 to 255", words[1]);
		return;
	}
	if (n > 2 && !parse_ansi(words[2], &color.c16)) {
		warn(p, "'%s' is not one of the 16 colours", words[2]);
		return;
	}
	for (slot = 0; slot < t->npalette; slot++)
		if (strcmp(t->palette[slot].name, name) == 0)
			break;
	if (slot == PALETTE_MAX) {
		warn(p, "more than %d colours", PALETTE_MAX);
		return;
	}
	if (slot == t->npalette)
		t->npalette++;
	snprintf(t->palette[slot].name, NAME_BYTES, "%s", name);
	t->palette[slot].color = color;
}

static bool parse_attributes(struct theme_parser *p, char **words, int n, unsigned int *bits)
{
	unsigned int set = 0;

	for (int i = 0; i < n; i++) {
		size_t a;

		if (strcmp(words[i], "-") == 0) {
			set |= *bits;
			continue;
		}
		if (strcmp(words[i], "none") == 0)
			continue;
		for (a = 0; a < sizeof(attributes) / sizeof(attributes[0]); a++)
			if (strcmp(attributes[a].name, words[i]) == 0)
				break;
		if (a == sizeof(attributes) / sizeof(attributes[0])) {
			warn(p, "unknown attribute '%s'", words[i]);
			return false;
		}
		set |= attributes[a].bit;
	}
	*bits = set;
	return true;
}

static void role_line(struct theme_parser *p, const char *name, char **words, int n)
{
	struct theme *t = p->theme;
	const char *slash = strchr(name, '/');
	const char *role_name = slash ? slash + 1 : name;
	size_t length = slash ? (size_t)(slash - name) : 0;
	enum ui_view view = VIEW_FRAME;
	enum role role = 0;
	struct style style;

	while (slash && ++view < VIEW_COUNT)
		if (strlen(view_names[view]) == length &&
		    strncmp(view_names[view], name, length) == 0)
			break;
	if (view == VIEW_COUNT) {
		warn(p, "unknown view in '%s'", name);
		return;
	}
	while (role < ROLE_COUNT && strcmp(roles[role].name, role_name) != 0)
		role++;
	if (role == ROLE_COUNT) {
		warn(p, "unknown role '%s'", name);
		return;
	}
	style = *theme_style(t, view, role);
	if (strcmp(words[0], "-") != 0 && !parse_color(t, words[0], &style.fg)) {
		warn(p, "unknown colour '%s'", words[0]);
		return;
	}
	if (n > 1 && strcmp(words[1], "-") != 0 && !parse_color(t, words[1], &style.bg)) {
		warn(p, "unknown colour '%s'", words[1]);
		return;
	}
	if (!parse_attributes(p, words + 2, n > 2 ? n - 2 : 0, &style.attributes))
		return;
	t->styles[view][role] = style;
	t->own[view][role] = true;
}

static int parse_text(struct theme_parser *p, const char *text, size_t length);
static int find_text(const char *name, const char *const *directories, char **text, size_t *length);

static int top_line(struct theme_parser *p, const char *name, const char *value)
{
	struct theme_parser base = {
		.theme = p->theme, .depth = p->depth + 1, .directories = p->directories};
	char *text;
	size_t length;
	int err;

	if (strcmp(name, "base") != 0) {
		warn(p, "unknown setting '%s'", name);
		return 0;
	}
	if (p->based) {
		warn(p, "a theme has one base");
		return 0;
	}
	p->based = true;
	if (base.depth > INHERIT_MAX) {
		warn(p, "bases are nested too deeply");
		return 0;
	}
	err = find_text(value, p->directories, &text, &length);
	if (!err) {
		err = parse_text(&base, text, length);
		free(text);
	}
	if (err == -ENOMEM)
		return err;
	if (err)
		warn(p, "the base '%s' cannot be read", value);
	return 0;
}

static void cut_comment(char *line)
{
	for (char *c = line; *c; c++) {
		bool first = c == line || isspace((unsigned char)c[-1]);

		if (*c == '#' && first && (c[1] == '\0' || isspace((unsigned char)c[1]))) {
			*c = '\0';
			return;
		}
	}
}

/* line is changed. */
static int parse_line(struct theme_parser *p, char *line)
{
	char *words[WORDS_MAX];
	char *equals, *name, *save, *word;
	int n = 0;

	if (line[strspn(line, " \t")] == '#')
		return 0;
	cut_comment(line);
	equals = strchr(line, '=');
	if (equals)
		*equals = '\0';
	name = strtok_r(line, " \t\r", &save);
	if (!name && !equals)
		return 0;
	if (name && name[0] == '[') {
		p->section = strcmp(name, "[palette]") == 0 ? SECTION_PALETTE
			     : strcmp(name, "[roles]") == 0 ? SECTION_ROLES
							    : SECTION_UNKNOWN;
		if (p->section == SECTION_UNKNOWN)
			warn(p, "unknown section '%s'", name);
		return 0;
	}
	if (!name || !equals || strtok_r(NULL, " \t\r", &save)) {
		warn(p, "expected: name = value");
		return 0;
	}
	for (word = strtok_r(equals + 1, " \t\r", &save); word && n < WORDS_MAX;
	     word = strtok_r(NULL, " \t\r", &save))
		words[n++] = word;
	if (n == 0 || word) {
		warn(p, "%s '%s'", n ? "too many words for" : "no value for", name);
		return 0;
	}
	if (p->section == SECTION_PALETTE)
		palette_line(p, name, words, n);
	else if (p->section == SECTION_ROLES)
		role_line(p, name, words, n);
	else if (p->section == SECTION_TOP)
		return top_line(p, name, words[0]);
	return 0;
}

static int parse_text(struct theme_parser *p, const char *text, size_t length)
{
	static const char magic[] = "# stacktop theme 1";
	const char *end = text + length;

	if (length > FILE_BYTES)
		return -EFBIG;
	if (length < sizeof(magic) - 1 || memcmp(text, magic, sizeof(magic) - 1) != 0 ||
	    (length >= sizeof(magic) && !isspace((unsigned char)text[sizeof(magic) - 1])))
		return -EINVAL;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((newline ? newline : end) - text);
		char line[LINE_BYTES];
		int err;

		p->line++;
		if (n >= sizeof(line) || memchr(text, '\0', n)) {
			warn(p, "the line is too long or not text");
		} else {
			memcpy(line, text, n);
			line[n] = '\0';
			err = parse_line(p, line);
			if (err)
				return err;
		}
		text += n + 1;
	}
	return 0;
}

/* A file of that name wins over an embedded theme. The caller frees *text. */
static int find_text(const char *name, const char *const *directories, char **text, size_t *length)
{
	char path[PATH_MAX];
	const char *embedded;
	int refused = -ENOENT;

	if (!*name || *name == '.' || strchr(name, '/') || strlen(name) > NAME_BYTES)
		return -ENOENT;
	for (; directories && *directories; directories++) {
		int err;

		if (snprintf(path, sizeof(path), "%s/%s.theme", *directories, name) >=
		    (int)sizeof(path))
			continue;
		err = smallfile_read(path, FILE_BYTES, SMALLFILE_ANY, text, length);
		/* HOME may be another user's. */
		if (err == -EPERM)
			refused = err;
		else if (err != -ENOENT && err != -ENOTDIR && err != -EACCES)
			return err;
	}
	embedded = theme_embedded_text(name, length);
	if (!embedded)
		return refused;
	*text = malloc(*length + 1);
	if (!*text)
		return -ENOMEM;
	memcpy(*text, embedded, *length);
	return 0;
}

static int parse(struct theme **out, const char *text, size_t length,
		 const char *const *directories, theme_warn_fn warn_fn, void *arg)
{
	struct theme *t = calloc(1, sizeof(*t));
	struct theme_parser p = {
		.theme = t, .warn = warn_fn, .arg = arg, .directories = directories};
	int err;

	if (!t)
		return -ENOMEM;
	for (int role = 0; role < ROLE_COUNT; role++)
		t->styles[VIEW_FRAME][role] = (struct style){
			.fg.terminal = true,
			.bg.terminal = true,
			.attributes = roles[role].plain,
		};
	err = parse_text(&p, text, length);
	if (err)
		theme_free(t);
	else
		*out = t;
	return err;
}

int theme_load(struct theme **out, const char *name, const char *const *directories,
	       theme_warn_fn warn_fn, void *arg)
{
	char *text;
	size_t length;
	int err = find_text(name, directories, &text, &length);

	if (err)
		return err;
	err = parse(out, text, length, directories, warn_fn, arg);
	free(text);
	return err;
}

int theme_parse(struct theme **out, const char *text, size_t length, theme_warn_fn warn_fn,
		void *arg)
{
	return parse(out, text, length, NULL, warn_fn, arg);
}

void theme_free(struct theme *theme)
{
	free(theme);
}

const void *theme_bytes(const struct theme *theme, size_t *size)
{
	*size = sizeof(*theme);
	return theme;
}

struct theme *theme_copy(const void *bytes, size_t size)
{
	struct theme *copy = size == sizeof(*copy) ? malloc(sizeof(*copy)) : NULL;

	if (copy)
		memcpy(copy, bytes, sizeof(*copy));
	return copy;
}

const struct style *theme_style(const struct theme *theme, enum ui_view view, enum role role)
{
	return theme->own[view][role] ? &theme->styles[view][role]
				      : &theme->styles[VIEW_FRAME][role];
}

unsigned int theme_plain(enum role role)
{
	return roles[role].plain;
}

const char *theme_role_name(enum role role)
{
	return roles[role].name;
}
