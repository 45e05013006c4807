/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_RULE_H
#define STACKTOP_UNWIND_RULE_H

/*
 * Compiles the rules of CFI to the 24 bits of a row (unwind/row.h), exactly or not at all.
 */

#include <stdbool.h>
#include <stdint.h>

struct cfa_state;
struct elf_file;
struct go_links;
struct wide_rules;

/*
 * The rule of a state. signal: the CIE has augmentation 'S'. What does not fit in a row becomes a
 * wide rule, and what does not fit there ROW_UNSUPPORTED with its class. -ENOMEM.
 */
int rule_compile(const struct cfa_state *state, bool signal, struct wide_rules *wide,
		 uint32_t *rule);

/*
 * The rule behind the system call of a clone (clone_gap), always a wide one. kept_reg: the
 * register that the rows of the file follow, unchanged here; 0: none. Errors as above.
 */
int rule_cloned(uint32_t kept_reg, struct wide_rules *wide, uint32_t *rule);

/* The rule of Go's systemstack on the system's stack. Errors as above. */
int rule_go_links(const struct go_links *links, struct wide_rules *wide, uint32_t *rule);

/*
 * True when [start, end), ELF addresses, has the code of glibc's clone or clone3 between two FDEs:
 * the system call, behind which the part of the child begins. No CFI is right for it, since both
 * return from it: the parent, and the child on another stack. False, too, if it cannot be read.
 */
bool clone_gap(const struct elf_file *file, uint64_t start, uint64_t end);

/*
 * The same where the code is inside of a FDE, which begins at start: true when it ends in front of
 * the part of the child. *from, *to: the addresses where both may be.
 */
bool clone_inside(const struct elf_file *file, uint64_t start, uint64_t child, uint64_t *from,
		  uint64_t *to);

#define PLT_HEAD_BYTES 32u /* of the first stub of a PLT, for lazy binding, where x30 is pushed */

struct elf_section;

/* Bytes up to where the first stub of the section has pushed x30; 0: it does not. */
uint32_t plt_head(const struct elf_file *file, const struct elf_section *section);

#endif
