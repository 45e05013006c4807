/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_WIDE_H
#define STACKTOP_UNWIND_WIDE_H

/*
 * The rules that do not fit in a row, each kept once for all objects. An index that was returned
 * stays valid and its rule never changes, whatever tables are built and freed. Each thread that
 * builds tables has a struct wide_rules of its own, a view of the same set.
 */

#include "unwind/row.h"

#define WIDE_SHARE (WIDE_RULES_MAX / 16) /* for one file: several times what a real one needs */

struct wide_rules;

/* NULL when there is no memory. The set holds at most WIDE_RULES_MAX rules. */
struct wide_rules *wide_rules_new(void);
/* A view of the same set for another thread. NULL when there is no memory. */
struct wide_rules *wide_rules_join(struct wide_rules *set);
/* Frees the set with its last view. */
void wide_rules_free(struct wide_rules *set);

/* Begins the share of the next file: it may add WIDE_SHARE rules. */
void wide_rules_share(struct wide_rules *set);

/* Index of the rule, which is added if new. -ENOSPC: the set or the share of the file is full. */
int wide_rules_index(struct wide_rules *set, const struct wide_rule *rule);

/* All rules by index; the array does not move. */
const struct wide_rule *wide_rules_all(const struct wide_rules *set, unsigned int *count);

#endif
