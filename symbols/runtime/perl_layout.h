/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_PERL_LAYOUT_H
#define STACKTOP_SYMBOLS_RUNTIME_PERL_LAYOUT_H

/*
 * Where Perl keeps what a walk of its frames needs: offsets in bytes in the structures of one
 * build. For BPF and the host.
 */

#include <linux/types.h>

/* PERL_SI: a stack of contexts, and the one that it interrupts */
#define PERL_STACK_CONTEXTS 8
#define PERL_STACK_BACK	    16
#define PERL_STACK_TOP	    32 /* index of the innermost context, -1: none */
#define PERL_STACK_MAX	    36

/* PERL_CONTEXT: a call, a loop, an eval */
#define PERL_CONTEXT_MASK   15
#define PERL_CONTEXT_SORT   0 /* the block of a sort */
#define PERL_CONTEXT_SUB    9
#define PERL_CONTEXT_FORMAT 10
#define PERL_CONTEXT_EVAL   11
#define PERL_CONTEXT_DEFER  13
#define PERL_CONTEXT_TRY    0x40 /* of an eval {}, not of a text */
#define PERL_CONTEXT_REGEX  0x40 /* of a sub: code in a regular expression */
#define PERL_CONTEXT_FAKE   0x80 /* of what is no sub: code in a regular expression */

/* SV, the head of all values */
#define PERL_VALUE_BODY	 0
#define PERL_VALUE_FLAGS 12
#define PERL_VALUE_ARRAY 16 /* of a package: its table, an address for each index */
#define PERL_TYPE_MASK	 255
#define PERL_TYPE_CODE	 13

#define PERL_CODE_NAMED 0x8000 /* has its own name, not a symbol with one */

/* HEK: a shared text */
#define PERL_TEXT_LENGTH 4
#define PERL_TEXT	 8
#define PERL_FILE_PREFIX 2 /* characters before the file in the name of its symbol */

struct perl_layout {
	__u32 version; /* 0x052400 is 5.36.0 */

	/* A build without threads: the members of the interpreter are variables of their own, and a
	 * statement has the symbol of its file, not the file. */
	__u32 global;

	/* the interpreter, or the first of those variables */
	__u32 interp_cop;   /* the statement that runs */
	__u32 interp_stack; /* the innermost PERL_SI */
	__u32 interp_catch; /* the innermost JMPENV, a variable on the native stack */
	__u32 interp_start; /* the outermost JMPENV itself */

	/* PERL_CONTEXT */
	__u32 context_size;
	__u32 context_cop;   /* the statement of the caller */
	__u32 context_retop; /* where to go on; none: a call from C */
	__u32 context_code;  /* CV of a sub or format */
	__u32 context_depth; /* of its recursion before the call */
	__u32 context_eval;  /* CV of an eval of a text */
	__u32 context_catch; /* of an eval: interp_catch as it was then */

	/* XPVCV: a sub */
	__u32 code_stash; /* its package */
	__u32 code_root;  /* its tree of operations, which closures share */
	__u32 code_name;  /* a symbol (GV) or a text */
	__u32 code_file;  /* characters */
	__u32 code_flags;
	__u32 code_depth; /* of its recursion */

	/* COP: a statement */
	__u32 cop_line;
	__u32 cop_file; /* characters */

	/* XPVGV: a symbol; XPVHV: a package */
	__u32 symbol_stash;
	__u32 symbol_name;
	__u32 stash_last;  /* the last index of its table, if its names stand behind that, or 0 */
	__u32 stash_name;  /* a text, or, if there are several, where they stand */
	__u32 stash_names; /* how many, 0: it is a text */
};

#endif
