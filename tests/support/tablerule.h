/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_TABLERULE_H
#define STACKTOP_TESTS_SUPPORT_TABLERULE_H

/* Looks up a rule in a table as the BPF program does. */

#include <stdint.h>

struct unwind_table;

/* The rule of the row in force at the ELF address; 0 is ROW_END. */
uint32_t unwind_table_rule(const struct unwind_table *table, uint64_t vaddr);

#endif
