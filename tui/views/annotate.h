/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_ANNOTATE_H
#define STACKTOP_TUI_VIEWS_ANNOTATE_H

/* One function's machine code, or the source of a language's function, with its samples: an overlay
 * over the rows of the view. */

#include <stdbool.h>
#include <stdint.h>

#include "tui/profile/annotation.h"
#include "tui/ui/ui.h"

/* Opens it for the function in that process, pid 0: in all processes. If there is no code to
 * show, a notice says why. */
unsigned int annotate_open(struct ui *ui, const struct profile_func *func, pid_t pid,
			   uint64_t image);
/* The same for a frame of a record, sampled or not: the cursor is where it is. cfi: begins with the
 * raw CFI. */
unsigned int annotate_frame(struct ui *ui, const struct profile_func *func, pid_t pid,
			    uint64_t image, uint64_t frame, bool cfi);

#endif
