/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_ANNOTATE_H
#define STACKTOP_TUI_VIEWS_ANNOTATE_H

/*
 * The screen of one function's machine code with samples, which lies over the view that it was
 * opened from until Esc.
 */

#include <stdbool.h>
#include <stdint.h>

#include "tui/profile/annotation.h"
#include "tui/ui/ui.h"

struct annotate; /* of the ui; NULL: closed */

/* Opens it for the function in that process, pid 0: in all of them. What has no machine code to be
 * shown is told in a notice. */
unsigned int annotate_open(struct ui *ui, const struct profile_func *func, pid_t pid,
			   uint64_t image);
/* The same for a frame of a record, sampled or not: the cursor is where it is. cfi: begins with the
 * raw CFI. */
unsigned int annotate_frame(struct ui *ui, const struct profile_func *func, pid_t pid,
			    uint64_t image, uint64_t frame, bool cfi);
void annotate_close(struct ui *ui);
/* Counts from now on, if it is open. */
void annotate_zero(struct ui *ui);
/* Asks the live profile for what is new. The lock is not held. -ENOMEM. */
int annotate_load(struct ui *ui);
/* It is open and its answer has yet to come. */
bool annotate_waits(const struct ui *ui);
void annotate_draw(struct ui *ui, struct grid *g, int top, int rows);
/* Returns enum ui_flags, 0: the key is none of its own. */
unsigned int annotate_key(struct ui *ui, enum action action);
/* As view_ops.find. */
unsigned int annotate_find(struct ui *ui, int step, bool here);

#endif
