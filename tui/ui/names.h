/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_NAMES_H
#define STACKTOP_TUI_UI_NAMES_H

/*
 * Functions copied out of the profile, each once. Ids are only good under the profile's lock, and
 * screens are drawn without it.
 */

#include <stddef.h>
#include <stdint.h>

#include "tui/profile/profile.h"
#include "tui/screen/theme.h"

struct names;

struct names *names_new(void);
void names_free(struct names *names);
/* Forgets all; what was returned is gone. */
void names_clear(struct names *names);
/* Begins a new round: names that were returned in earlier rounds may be freed from now on, and
 * those that are used again are not copied again. */
void names_renew(struct names *names);
/* Copy of the function, the same pointer for the same id in one round. The lock is held. A function
 * that is gone is called "?". NULL: no memory. */
const struct profile_func *names_get(struct names *names, const struct profile *p, uint32_t func);
/* Sets *hash to its names_hash. */
const struct profile_func *names_get_hash(struct names *names, const struct profile *p,
					  uint32_t func, uint64_t *hash);
/* What names_get returned for that id in this round. */
const struct profile_func *names_kept(const struct names *names, uint32_t func);

/* Hash of name, module and kind: the same function in every refresh. */
uint64_t names_hash(const struct profile_func *func);
/* As a screen shows it: "[unwind: reason]" for an end, else the name. */
void names_show(const struct profile_func *func, char *to, size_t size);

/* What it is, in at most four cells: "k" kernel, "i" inlined, "j" made at run time, "!" an end,
 * "py" and the like a language, "u" for any other. */
const char *names_mark(const struct profile_func *func);
/* How that mark looks. */
enum role names_mark_role(const struct profile_func *func);
/* In words: "kernel", "inlined", "made at run time", "Python"; "" for others. */
const char *names_kind(const struct profile_func *func);
/* Where it is, for a column: the source file of a language without its folders. */
const char *names_module(const struct profile_func *func);
/* The colour of a cause. */
enum role names_wait_role(enum wait_cause cause);
/* That, of a cause; dim, if the function is only shown because all are; else `role`. */
enum role names_role(const struct profile_func *func, enum role role);

#endif
