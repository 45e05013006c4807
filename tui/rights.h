/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_RIGHTS_H
#define STACKTOP_TUI_RIGHTS_H

/* What a person can do whom the kernel does not let sample. */

#include <stdio.h>

/* A line for each way that is open here: sudo, setcap, --check, a recording, the demo. Writes
 * nothing for root, who needs another remedy than rights. */
void rights_ways(FILE *to);

#endif
