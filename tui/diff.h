/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_DIFF_H
#define STACKTOP_TUI_DIFF_H

/*
 * Two profiles compared, each a session or a file of folded stacks: as text, as folded stacks with
 * two counts (difffolded.pl's form), or as a flame graph coloured by what changed.
 */

#include <stddef.h>
#include <stdio.h>

struct options;
struct theme;

/*
 * Compares options->diff[0], what was before, with options->diff[1] in the form of options->format.
 * theme as for export_new. A negative errno and the reason in error; an error of the stream leaves
 * error empty.
 */
int diff_write(FILE *to, const struct options *options, const struct theme *theme, char *error,
	       size_t size);

#endif
