/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_EXPORT_EXPORT_PRIV_H
#define STACKTOP_TUI_EXPORT_EXPORT_PRIV_H

/*
 * Shared by the writers of formats. They return 0 or -ENOMEM; errors of the stream stay in the
 * stream, where export.c finds them.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tui/profile/profile.h"

struct export_model;
struct flametree;
struct theme;

#ifndef STACKTOP_VERSION
#define STACKTOP_VERSION "0.1"
#endif

int export_json(FILE *to, const struct export_model *c);
int export_pprof(FILE *to, const struct export_model *c);
int export_speedscope(FILE *to, const struct export_model *c);
int export_firefox(FILE *to, const struct export_model *c);
int export_perf(FILE *to, const struct export_model *c);
/* theme NULL: the default's colours. */
int export_svg(FILE *to, const struct export_model *c, const struct theme *theme, bool flame);

struct svg_look {
	const char *title;
	bool flame; /* the root is below */
	bool diff;  /* colours show how counts changed from side 1 to side 0 of the tree */
};

/* Adds the samples to a side of the tree. plain: without modules and roles, as in folded stacks. */
int export_svg_samples(struct flametree *t, const struct export_model *c, int side, bool plain);
int export_svg_tree(FILE *to, struct flametree *t, const struct theme *theme,
		    const struct svg_look *look);

/* A string with its quotes, and as it is what stands before. Bytes that are not UTF-8 become '?'.
 */
void json_string(FILE *to, const char *before, const char *text);
/* Escapes text and attributes. What XML cannot contain becomes '?'. */
void xml_text(FILE *to, const char *text);

/*
 * The function for formats without kinds: the reason of an end is in brackets. The longest name is
 * EXPORT_NAME_MAX - 1 bytes.
 */
#define EXPORT_NAME_MAX 1100
const char *export_name(char *to, const struct export_model *c, uint32_t func);
/* Nanoseconds that a sample stands for; 0: its event is not a clock. */
uint64_t export_period(const struct export_model *c);

#endif
