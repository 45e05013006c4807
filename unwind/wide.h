/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_WIDE_H
#define STACKTOP_UNWIND_WIDE_H

/*
 * The rules that do not fit in a row, each kept once for all objects. An index, once handed out,
 * stays valid and its rule never changes, so that tables may be built and thrown away freely.
 * A thread that builds tables has a struct wide_rules of its own; all that were made of each other
 * stand for the same set.
 */

#include "unwind/row.h"

#define WIDE_SHARE (WIDE_RULES_MAX / 16) /* for one file: several times what a real one needs */

struct wide_rules;

/* NULL when there is no memory. The set holds at most WIDE_RULES_MAX rules. */
struct wide_rules *wide_rules_new(void);
/* The same set for another thread. NULL when there is no memory. */
struct wide_rules *wide_rules_join(struct wide_rules *set);
/* The set goes with the last of them. */
void wide_rules_free(struct wide_rules *set);

/* From here on the rules of another file are added: WIDE_SHARE at most, the others being its own
 * loss. */
void wide_rules_share(struct wide_rules *set);

/* Index of the rule, added when new. -ENOSPC when the set is full or the file's share is.
 */
int wide_rules_index(struct wide_rules *set, const struct wide_rule *rule);

/* All rules in the order of their index, which stay where they are. */
const struct wide_rule *wide_rules_all(const struct wide_rules *set, unsigned int *count);

#endif
