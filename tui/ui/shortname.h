/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_SHORTNAME_H
#define STACKTOP_TUI_UI_SHORTNAME_H

/*
 * Names of functions where there is not room for all of them. For display only: files, filters and
 * searches have whole names.
 */

#include <stddef.h>

#include "tui/screen/theme.h"

struct grid;
struct profile_func;

#define SHORTNAME_MAX 1200 /* bytes that are always enough */

/*
 * The name in at most `cells` cells of the grid. A name of C++ or Rust loses template arguments
 * first, then its return type and parameters, then namespaces, and keeps its end:
 * v8::internal::LookupKey<v8::String> becomes v8::internal::LookupKey<…>, v8::…::LookupKey<…>,
 * LookupKey, …upKey. Any other name keeps its beginning.
 */
void shortname_fit(const struct grid *g, const char *name, int cells, char *to, size_t size);
/* The name of the function, as names_show has it. That of an interpreted language keeps its end,
 * from the beginning of a part on where one fits: outer.<locals>.inner becomes ….inner. */
void shortname_func(const struct grid *g, const struct profile_func *func, int cells, char *to,
		    size_t size);
/* A path, which keeps its end: …/app/t.py, ….py; a name without a slash keeps its beginning. */
void shortname_path(const struct grid *g, const char *path, int cells, char *to, size_t size);
/* Writes all of the name, broken anywhere, into at most `rows` rows; returns how many it takes.
 * rows 0 writes nothing. */
int shortname_wrap(struct grid *g, int row, int rows, int col, int width, enum role role,
		   const char *name);
/* As grid_fit. */
void shortname_draw(struct grid *g, int row, int col, int width, enum role role, const char *name);

#endif
