/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_SYMLIST_H
#define STACKTOP_SYMBOLS_NAMES_SYMLIST_H

/*
 * Symbols on their way from the tables of a file into a struct symtab: collected from all sources,
 * then sorted, and reduced to one for each function.
 */

#include <stddef.h>
#include <stdint.h>

struct elf_file;

#define SYMLIST_MAX (1u << 22) /* symbols of a file; the largest real ones have a third */
/* From the first executable address to the last symbol. */
#define SYMLIST_REACH	((1ull << 40) - 1)
#define SYMLIST_ALIASES 63u   /* aliases of an item; identical code folding makes thousands */
#define SYMLIST_STRING	4096u /* names are cut here; longer ones are unreadable */

enum symlist_source {		      /* where a name is, and what `name` means */
		      SYMLIST_SYMTAB, /* offset in the string table of .symtab */
		      SYMLIST_DYNSYM, /* offset in that of .dynsym */
		      SYMLIST_PLT,    /* the same, and the symbol is its PLT entry */
		      SYMLIST_IPLT, /* PLT entry of what an ifunc's resolver chooses: address of the
				       resolver */
		      SYMLIST_GO,   /* offset of a function's data in .gopclntab */
		      SYMLIST_SOURCES,
};

struct symlist_item {
	uint64_t start;
	uint64_t end; /* start: not known */
	uint32_t name;
	uint16_t range;
	uint8_t source;	     /* enum symlist_source */
	uint8_t binding : 2; /* enum symname_binding */
	uint8_t label : 1;   /* STT_NOTYPE: an address, perhaps not a function */
	uint8_t alias : 1;   /* another name of the item before, as good as its own */
	uint8_t guessed : 1; /* symlist_settle: it has no size, so its end is not its own */
};

struct symlist_range { /* executable addresses */
	uint64_t start;
	uint64_t end;
};

struct symlist {
	struct symlist_range *ranges; /* ascending, disjoint */
	size_t nranges, ranges_room;
	size_t last; /* index of the range that was found last */
	struct symlist_item *items;
	size_t count;
	size_t room;
};

/* Reads the executable ranges of the file; there are no symbols outside of them. -ENOMEM. */
int symlist_init(struct symlist *list, const struct elf_file *file);
void symlist_destroy(struct symlist *list);

/* Index of the range that contains the address; -1: none does, or it is out of reach. */
int symlist_range(struct symlist *list, uint64_t addr);

/*
 * Adds a function at item->start, of size bytes or up to the next one (0); end and range are filled
 * in. Items outside of all ranges are skipped. -ENOMEM; -E2BIG: SYMLIST_MAX are there already.
 */
int symlist_add(struct symlist *list, struct symlist_item *item, uint64_t size);

/*
 * Sorts by address, outer functions before inner ones, and drops items with a worse name than
 * another one of the same extent. Several equally good ones stay, all but the first marked as
 * alias, for symtab.c to choose from by name. An item without a size ends at the next symbol, and
 * no later than its range or the function around it. -ENOMEM.
 */
int symlist_settle(struct symlist *list);

#endif
