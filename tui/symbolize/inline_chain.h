/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_INLINE_CHAIN_H
#define STACKTOP_TUI_SYMBOLIZE_INLINE_CHAIN_H

/*
 * The calls at one address as users read them: what is inlined into what, and where. The live view
 * and --symbolize share this.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct debuginfo;

struct inline_chain_frame {
	const char *name;  /* demangled and clean; NULL: unknown */
	const char *file;  /* clean, as a path; NULL: unknown */
	unsigned int line; /* 0: unknown */
};

struct inline_chain { /* one block, to be freed with free() */
	size_t bytes;
	uint32_t count;			    /* at least 1 */
	bool renames;			    /* the function is not the symbol's */
	struct inline_chain_frame frames[]; /* innermost first; the last is the function itself */
};

/*
 * The user with trusted split debug files, besides root: the one that started the program, also by
 * sudo.
 */
uid_t inline_chain_user(void);
/*
 * info: NULL for none. symbol: the start of a symbol that may end before the address (struct
 * symbol); 0: none, or it has a size. *out is NULL if nothing is known. -ENOMEM.
 */
int inline_chain_read(struct debuginfo *info, uint64_t vaddr, uint64_t symbol,
		      struct inline_chain **out);

#endif
