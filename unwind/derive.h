/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_DERIVE_H
#define STACKTOP_UNWIND_DERIVE_H

/*
 * Rows for machine code that no CFI covers, from the instructions themselves.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi;
struct elf_file;
struct wide_rules;

struct derived_row {
	uint64_t pc;
	uint32_t rule; /* with RULE_DERIVED, or ROW_END */
};

struct derived {
	struct derived_row *rows; /* ascending; a rule holds until the next row */
	size_t nrows, room;
	uint64_t text; /* bytes of text that were decoded */
};

/*
 * Derives rows for the executable sections of the file, without what the FDEs of cfi cover; these
 * are sorted (cfi_sort). Where the instructions leave a doubt there is no row. At most
 * LIMIT_DERIVED bytes of text are read. Without a disassembler there are no rows. -ENOMEM,
 * -ECANCELED. The caller frees *out with derived_free, also after an error.
 */
int derive_rows(const struct elf_file *file, const struct cfi *cfi, struct wide_rules *wide,
		struct derived *out);
void derived_free(struct derived *derived);

/* NULL: rows can be derived; else a line that says what is missing. Static. */
const char *derive_missing(void);

#endif
