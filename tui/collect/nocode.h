/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_NOCODE_H
#define STACKTOP_TUI_COLLECT_NOCODE_H

/* Why the code of a function is not shown, for a person, with the remedy. All static. */

#include <stdbool.h>

#include "tui/profile/profile.h"

/* It was sampled, but where its code is now is not known. exited: so have all its processes. */
const char *nocode_nowhere(enum func_kind kind, bool exited);
/* Reading it ended with this -errno (lister_take). */
const char *nocode_unread(enum func_kind kind, int err);
/* The source of a language's function is in no file that could be read; NULL: it is in one. */
const char *nocode_no_file(const char *path);

#endif
