/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_CODE_LISTING_H
#define STACKTOP_SYMBOLS_CODE_LISTING_H

/*
 * One function of an ELF file as a list of instructions, with the names of call targets and, if
 * debug information and sources are there, the source line of each instruction. File, debug
 * information and sources may be hostile; what is read of each is bounded.
 */

#include <stdatomic.h>
#include <sys/types.h>

#include "symbols/insn/disasm.h"

#define LISTING_NONE	  UINT32_MAX
#define LISTING_BYTES_MAX (256u << 10) /* of code; the rest is left out */

struct debug_place;
struct elf_file;

struct listing_insn {
	uint64_t addr;	 /* in the ELF file */
	uint64_t target; /* of a call or jump that says where; else 0 */
	uint8_t size;	 /* bytes */
	uint8_t kind;	 /* enum disasm_kind */
	uint32_t text;	 /* of the strings: in Intel's order */
	uint32_t att;	 /* of the strings: in AT&T's; LISTING_NONE: it is the same */
	uint32_t name;	 /* of the strings: name of the target outside; LISTING_NONE: unknown */
	uint32_t to;	 /* index of a jump's target inside; LISTING_NONE */
	uint32_t line;	 /* of the lines; LISTING_NONE */
};

struct listing_line {
	uint32_t file;	     /* of the strings: its path, clean */
	uint32_t text;	     /* of the strings: the line's text; LISTING_NONE: not read */
	unsigned int number; /* from 1 on */
};

struct listing { /* never changes once made: a reader needs a reference, but no lock */
	unsigned int refs;
	bool source; /* of a source file, see sourcelist.h: each instruction is a line of it */
	bool newer;  /* a source file that was written after its process began */
	uint64_t start, end; /* of the function, in the ELF file */
	bool cut;	     /* it is longer than LISTING_BYTES_MAX */
	struct listing_insn *insns;
	uint32_t ninsns;
	struct listing_line *lines; /* by file, then by number */
	uint32_t nlines;
	char *strings;
	uint32_t nstrings;	   /* bytes */
	const char *lines_missing; /* why there are no lines; NULL: there are some. Static */
};

struct listing_request {
	uint64_t start, end;		 /* end 0: use the symbol's end */
	const struct debug_place *place; /* for debug files; its root also for sources */
	/* As in struct symtab_extents (symbols/names/symtab.h); NULL: nothing more is known. */
	bool (*reaches)(void *arg, uint64_t start, uint64_t vaddr);
	void *arg;
	bool sources;
	size_t limit;		   /* bytes of debug information; 0: none is wanted */
	uid_t user;		   /* see debuginfo.h */
	const atomic_bool *cancel; /* NULL, or true: give up soon */
};

/*
 * Takes the file over and returns a listing with one reference. -ENOTSUP: no disassembler (for this
 * machine); -ENOENT: no code at that address; -ENODATA: no symbol tells the end; -ECANCELED;
 * -ENOMEM, -EINVAL.
 */
int listing_new(struct elf_file *file, const struct listing_request *request, struct listing **out);

/* Code that is in no file, and a function that names addresses: false if it does not know them. */
struct listing_code {
	uint64_t start, end; /* of the function; more than was read, if it was cut */
	uint8_t *bytes;	     /* from start on; malloc, taken over */
	size_t size;
	uint16_t machine;     /* e_machine */
	const char *no_lines; /* why there are none. Static */
	bool (*name)(void *arg, uint64_t addr, char *to, size_t room);
	void *arg;
	const atomic_bool *cancel; /* as above */
};
/* The same of such code. Errors as above. */
int listing_of_code(const struct listing_code *code, struct listing **out);
/*
 * Names targets outside that have no name yet, of at most LISTING_NAMED_MAX instructions. Only for
 * one that no other thread knows yet. Without memory they stay as they are.
 */
#define LISTING_NAMED_MAX 256u
void listing_name_targets(struct listing *l,
			  bool (*name)(void *arg, uint64_t addr, char *to, size_t room), void *arg);
struct listing *listing_get(struct listing *l);
void listing_put(struct listing *l); /* NULL is none */
/* The instruction that contains the address; LISTING_NONE: none. */
uint32_t listing_find(const struct listing *l, uint64_t addr);

#endif
