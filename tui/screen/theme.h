/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_THEME_H
#define STACKTOP_TUI_SCREEN_THEME_H

/*
 * What a role looks like. A theme is a text file; the shipped ones are embedded, so that the
 * program works without its files. The format:
 *
 *     # stacktop theme 1
 *     base = default                    # inherits
 *     [palette]                         # name = true colour, 256, 16
 *     frost = #88c0d0 110 cyan
 *     [roles]                           # role = foreground background attributes
 *     cursor      = black frost bold
 *     heat.5      = #ff5f5f default bold
 *     tree/cursor = - - underline       # view/role; "-" keeps
 *
 * A '#' starts a comment at the start of a line or when a blank follows it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/screen/viewlist.h"

/* id, name, attributes where there is no colour */
#define ROLE_LIST(X)                                                                               \
	X(TEXT, "text", 0)                                                                         \
	X(DIM, "dim", ATTR_DIM)                                                                    \
	X(TITLE, "title", ATTR_BOLD)                                                               \
	X(BORDER, "border", 0)                                                                     \
	X(TREE, "tree", 0)                                                                         \
	X(TAB, "tab", 0)                                                                           \
	X(TAB_CURRENT, "tab.current", ATTR_BOLD | ATTR_REVERSE)                                    \
	X(BAR_KEY, "bar.key", ATTR_BOLD)                                                           \
	X(BAR_TEXT, "bar.text", ATTR_REVERSE)                                                      \
	X(HEADER, "header", ATTR_UNDERLINE)                                                        \
	X(HEADER_SORT, "header.sort", ATTR_BOLD | ATTR_UNDERLINE)                                  \
	X(CURSOR, "cursor", ATTR_REVERSE)                                                          \
	X(CURSOR_BLUR, "cursor.blur", ATTR_UNDERLINE)                                              \
	X(TAG, "tag", ATTR_BOLD)                                                                   \
	X(MATCH, "match", ATTR_UNDERLINE)                                                          \
	X(MATCH_CURRENT, "match.current", ATTR_REVERSE | ATTR_BOLD)                                \
	X(WARN, "warn", ATTR_BOLD)                                                                 \
	X(ERROR, "error", ATTR_BOLD | ATTR_REVERSE)                                                \
	X(OK, "ok", ATTR_BOLD)                                                                     \
	X(PAUSED, "paused", ATTR_BOLD | ATTR_REVERSE)                                              \
	X(STALE, "stale", ATTR_DIM)                                                                \
	X(USER, "user", 0)                                                                         \
	X(KERNEL, "kernel", 0)                                                                     \
	X(LANGUAGE, "language", ATTR_UNDERLINE)                                                    \
	X(MODULE, "module", ATTR_DIM)                                                              \
	X(BROKEN, "broken", ATTR_BOLD)                                                             \
	X(UP, "up", ATTR_BOLD)                                                                     \
	X(DOWN, "down", 0)                                                                         \
	X(HEAT_1, "heat.1", ATTR_DIM)                                                              \
	X(HEAT_2, "heat.2", 0)                                                                     \
	X(HEAT_3, "heat.3", 0)                                                                     \
	X(HEAT_4, "heat.4", ATTR_BOLD)                                                             \
	X(HEAT_5, "heat.5", ATTR_BOLD)                                                             \
	X(FLAME_1, "flame.1", 0)                                                                   \
	X(FLAME_2, "flame.2", ATTR_BOLD)                                                           \
	X(FLAME_3, "flame.3", ATTR_REVERSE)                                                        \
	X(FLAME_4, "flame.4", ATTR_REVERSE | ATTR_BOLD)                                            \
	X(WAIT_ON, "wait.on", ATTR_REVERSE)                                                        \
	X(WAIT_RUNNABLE, "wait.runnable", ATTR_BOLD)                                               \
	X(WAIT_LOCK, "wait.lock", ATTR_BOLD)                                                       \
	X(WAIT_SLEEP, "wait.sleep", ATTR_DIM)                                                      \
	X(WAIT_POLL, "wait.poll", ATTR_DIM)                                                        \
	X(WAIT_PIPE, "wait.pipe", 0)                                                               \
	X(WAIT_SOCKET, "wait.socket", 0)                                                           \
	X(WAIT_DISK, "wait.disk", ATTR_BOLD)                                                       \
	X(WAIT_FAULT, "wait.fault", ATTR_BOLD)                                                     \
	X(WAIT_CHILD, "wait.child", 0)                                                             \
	X(WAIT_STOPPED, "wait.stopped", ATTR_UNDERLINE)                                            \
	X(WAIT_OTHER, "wait.other", 0)

enum role {
#define ROLE_ENUM(id, name, attributes) ROLE_##id,
	ROLE_LIST(ROLE_ENUM)
#undef ROLE_ENUM
		ROLE_COUNT
};

enum attribute {
	ATTR_BOLD = 1,
	ATTR_DIM = 2,
	ATTR_UNDERLINE = 4,
	ATTR_REVERSE = 8,
	ATTR_ITALIC = 16,
};

struct color {
	bool terminal; /* the terminal's own colour; the rest is meaningless */
	uint32_t rgb;  /* 0xrrggbb */
	uint8_t c256;  /* index of the xterm palette */
	uint8_t c16;   /* 0..15 */
};

struct style {
	struct color fg, bg;
	unsigned int attributes;
};

struct theme;

/* Called for each line that was not understood, without the theme's name. text lives for the
 * call. */
typedef void (*theme_warn_fn)(void *arg, const char *text);

/*
 * The theme of that name: from directory (may be NULL), then the embedded ones. name is one path
 * component. -ENOENT: no such theme, -EINVAL: not a theme file, -EPERM: only one behind a link that
 * root does not follow (tui/util/safepath.h), -EFBIG, -ENOMEM, or what open(2) says. The caller
 * frees *out by theme_free.
 */
int theme_load(struct theme **out, const char *name, const char *const *directories,
	       theme_warn_fn warn, void *arg);
/* As theme_load, from length bytes of text. */
int theme_parse(struct theme **out, const char *text, size_t length, theme_warn_fn warn, void *arg);
void theme_free(struct theme *theme);
/* A theme as bytes, for another process of this program. theme_copy: NULL: no memory, or no theme
 * of that size. */
const void *theme_bytes(const struct theme *theme, size_t *size);
struct theme *theme_copy(const void *bytes, size_t size);

/* The look of a role in a view. */
const struct style *theme_style(const struct theme *theme, enum ui_view view, enum role role);
/* Attributes of a role where there is no colour. */
unsigned int theme_plain(enum role role);
const char *theme_role_name(enum role role);

/* Themes that are part of the program: their names, ended by NULL. */
const char *const *theme_embedded(void);
/* Text of one of them; NULL: there is none of that name. */
const char *theme_embedded_text(const char *name, size_t *length);

#endif
