/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_RULE_H
#define STACKTOP_UNWIND_RULE_H

/*
 * From what CFI says to the 24 bits of a row (unwind/row.h), exactly or not at all.
 */

#include <stdbool.h>
#include <stdint.h>

struct cfa_state;
struct wide_rules;

/*
 * The rule of a state. signal: the CIE has augmentation 'S'. What a row cannot hold goes to wide;
 * what that cannot hold either becomes ROW_UNSUPPORTED with its class. -ENOMEM.
 */
int rule_compile(const struct cfa_state *state, bool signal, struct wide_rules *wide,
		 uint32_t *rule);

/*
 * The rule behind the system call of a clone (unwind/clonegap.h). kept_reg: the register that the
 * file's rules follow, which is as it was; 0: none. Never anything but a wide rule, else as above.
 */
int rule_cloned(uint32_t kept_reg, struct wide_rules *wide, uint32_t *rule);

#endif
