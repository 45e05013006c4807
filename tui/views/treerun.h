/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_TREERUN_H
#define STACKTOP_TUI_VIEWS_TREERUN_H

/*
 * Frames below each other that have one child each, and nothing of note besides: a row has them as
 * `_start › 14 more › run`. Recursion is a run of its own, `descend ⇄ odd_step ×1000`.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calltree;
struct grid;
struct profile_func;

struct treerun {
	uint32_t first, last; /* nodes */
	uint32_t nodes;	      /* at least 1 */
	uint32_t cycle;	      /* functions that call each other over and over; 0: no recursion */
};

/* The run that begins at the node. In a tree of callers, the functions that executed belong to no
 * run: keys are about them. */
struct treerun treerun_find(const struct calltree *calls, uint32_t first);
/* The node that follows in a run. */
uint32_t treerun_next(const struct calltree *calls, uint32_t node);
/* The run in at most `cells` cells of the grid (at least one); names lose what shortname_fit takes
 * of them, then the ones in the middle go. */
void treerun_show(const struct calltree *calls, const struct treerun *run, const struct grid *g,
		  int cells, char *to, size_t size);
/* The function whose mark (names_mark) is that of the whole run; NULL: its functions differ. */
const struct profile_func *treerun_marked(const struct calltree *calls, const struct treerun *run);
/* Recursion in words, without how deep it is: "odd and even call each other". */
void treerun_words(const struct calltree *calls, const struct treerun *run, char *to, size_t size);

#endif
