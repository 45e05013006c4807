/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_ROW_H
#define STACKTOP_UNWIND_ROW_H

/*
 * The compact unwind table: how one word says how to find a caller.
 *
 * Text is cut in granules of 256 units of code: bytes on x86-64, words of 4 bytes on arm64. A
 * run of granules with CFI is a span. Its table is one block of 32-bit words that never crosses a
 * shard:
 *
 *	word 0 .. ngranules-1      index: first row << 8 | rows     (one word per granule)
 *	word ngranules ..          rows, ascending by address
 *
 * A row is `offset in units << 24 | rule` and holds until the next row. The row in force where a
 * granule begins is the last row before the granule's own, so a row takes one word however long it
 * holds. The first granule of a span always has a row at offset 0.
 *
 * A block does not depend on its place: it is copied into a shard as it is.
 *
 * A rule is 24 bits, `derived << 23 | kind << 20 | payload`:
 *
 *	ROW_SP, ROW_FP     cfa / 8 in bits 8..19, depth of the saved FP / 8 in bits 0..7
 *	                   CFA = SP or FP + 8 * cfa;  FP = depth ? *(CFA - 8 * depth) : FP;
 *	                   RA = *(CFA + ARCH_RA_AT);  the caller's SP = CFA
 *	                   Where a call leaves RA in a register (arm64), RA is there if depth is 0;
 *	                   else it is right above the saved FP: together they are a frame record
 *	ROW_PLT            threshold in bits 0..3: CFA = arch_plt_cfa(SP, pc, threshold)
 *	ROW_WIDE           index of a struct wide_rule
 *	ROW_OUTERMOST      RA is undefined: no caller, the bottom of the stack. The payload is for
 *	                   people: the frame as for ROW_SP, with bit 19 set as for ROW_FP; else 0
 *	ROW_END            no information from here on
 *	ROW_UNSUPPORTED    CFI exists but cannot be represented; payload is an enum row_class
 *
 * RULE_DERIVED marks the rules of code without CFI, which its instructions have given
 * (unwind/derive.h). It is for people: the walk ignores it.
 *
 * The header is compiled for BPF and for the host. It needs the __u8 .. __u64 of linux/types.h.
 */

#include <linux/types.h>

#include "unwind/arch.h"

#define GRANULE_SHIFT (8 + ARCH_PC_SHIFT)
#define GRANULE_SIZE  (1u << GRANULE_SHIFT)

#define SHARD_SHIFT 20 /* words of a shard, as a power of two */
#define SHARD_WORDS (1u << SHARD_SHIFT)
#define SHARD_BYTES (SHARD_WORDS * 4u) /* 4 MiB: the largest array value on Linux 5.10 */
#define SHARD_MASK  (SHARD_WORDS - 1u)

#define SPAN_MAX_WORDS (1u << 18) /* a larger table is cut in several spans */

#define INDEX_ROWS_MAX		255u
#define INDEX_WORD(first, rows) ((__u32)(first) << 8 | (__u32)(rows))
#define INDEX_FIRST(word)	((word) >> 8)
#define INDEX_ROWS(word)	((word)&0xffu)

#define ROW_WORD(offset, rule) ((__u32)(offset) >> ARCH_PC_SHIFT << 24 | (__u32)(rule))
#define ROW_OFFSET(word)       ((word) >> 24 << ARCH_PC_SHIFT) /* bytes */
#define ROW_RULE(word)	       ((word)&0xffffffu)

enum row_kind {
	ROW_END = 0,
	ROW_SP = 1,
	ROW_FP = 2,
	ROW_PLT = 3,
	ROW_WIDE = 4,
	ROW_OUTERMOST = 5,
	ROW_UNSUPPORTED = 6,
};

#define RULE(kind, payload) ((__u32)(kind) << 20 | (__u32)(payload))
#define RULE_KIND(rule)	    ((rule) >> 20 & 7u)
/* In place of a rule, where there is none. */
#define RULE_NO_TABLE	    RULE(ROW_END, 1) /* there will be */
#define RULE_NO_MAPPING	    RULE(ROW_END, 2)
#define RULE_CHANGED	    RULE(ROW_END, 3) /* something else is mapped there now */
#define RULE_NO_CFI	    RULE(ROW_END, 4) /* in the whole mapping */
#define RULE_DERIVED	    (1u << 23)
#define RULE_PAYLOAD(rule)  ((rule)&0xfffffu)
#define RULE_CFA(rule)	    (((rule) >> 8 & 0xfffu) * 8u) /* bytes */
#define RULE_FP_DEPTH(rule) (((rule)&0xffu) * 8u)	  /* bytes below the CFA; 0: unchanged */
#define RULE_CFA_MAX	    (0xfffu * 8u)
#define RULE_FP_DEPTH_MAX   (0xffu * 8u)
#define RULE_OUTERMOST(fp, cfa, depth)                                                             \
	RULE(ROW_OUTERMOST, (__u32)(fp) << 19 | (__u32)(cfa) / 8u << 8 | (__u32)(depth) / 8u)
#define RULE_OUTERMOST_FP(rule)	     ((rule) >> 19 & 1u)
#define RULE_OUTERMOST_CFA(rule)     (((rule) >> 8 & 0x7ffu) * 8u)
#define RULE_OUTERMOST_CFA_MAX	     (0x7ffu * 8u)
#define RULE_FRAME(kind, cfa, depth) RULE(kind, (__u32)(cfa) / 8u << 8 | (__u32)(depth) / 8u)

/*
 * Why CFI could not become a row. Counted per file, and printed by --dump-unwind; a walk that meets
 * such a row ends with WALK_UNSUPPORTED.
 */
enum row_class {
	ROW_CLASS_CFA_EXPRESSION = 1,
	ROW_CLASS_CFA_REGISTER,
	ROW_CLASS_RA_RULE,
	ROW_CLASS_FP_RULE,
	ROW_CLASS_OFFSET, /* beyond 32 bits, or impossible */
	ROW_CLASS_WIDE_FULL,
	ROW_CLASS_GRANULE_FULL,
	ROW_CLASS_STACK_SWITCH, /* the CFI is wrong */
	ROW_CLASS_COUNT,
};

enum wide_cfa {
	WIDE_CFA_REG,	      /* CFA = cfa_reg + cfa_off */
	WIDE_CFA_DEREF,	      /* CFA = *(cfa_reg + cfa_off) + cfa_add */
	WIDE_CFA_GO,	      /* by struct go_links (unwind/go_cfi.h) in cfa_off ... ra_off */
	WIDE_CFA_DEREF_TWICE, /* CFA = **(cfa_reg + cfa_off) + cfa_add */
};

/* How FP or RA of the caller is found. */
enum wide_reg {
	WIDE_SAME,	/* unchanged (FP only) */
	WIDE_AT_CFA,	/* *(CFA + off) */
	WIDE_AT_REG,	/* *(reg + off), reg being this frame's */
	WIDE_IN_REG,	/* reg, this frame's */
	WIDE_UNDEFINED, /* RA: outermost; FP: not known */
	WIDE_IS_CFA, /* FP only: the CFA; and the caller's SP is this one's + cfa_add (Haskell) */
};

/*
 * WIDE_SIGNAL: the CIE has augmentation 'S': the caller's pc is exact, not a return address.
 * WIDE_SP_LOST: the caller's SP is not the CFA (longjmp): the caller is known, but not its caller.
 * WIDE_SIGCONTEXT: all registers are where the kernel saves them; the CFA is in the slot of SP.
 * WIDE_CLONED: a system call that gives the child a stack of its own returns here: its result is
 * zero in the child, which has no caller; the rest of the rule is the parent's (unwind/rule.h).
 * WIDE_KEPT: one register besides SP and FP that the file's own rules need over calls (ld.so's
 * resolver needs one); 0: none.
 */
#define WIDE_SIGNAL	     1u
#define WIDE_SP_LOST	     2u
#define WIDE_SIGCONTEXT	     4u
#define WIDE_CLONED	     8u
#define WIDE_KEPT(reg)	     ((__u32)(reg) << 4)
#define WIDE_KEPT_REG(flags) ((__u32)(flags) >> 4)
#define WIDE_KEPT_LOST	     0xffu

#define WIDE_BASE(kind, reg) ((kind) | (__u32)(reg) << 8) /* all machines are little-endian */

/* A rule that does not fit in 24 bits. Shared by all objects; BPF reads it from an array map. */
struct wide_rule {
	union {
		struct {
			__u8 cfa_kind; /* enum wide_cfa */
			__u8 cfa_reg;
		};
		__u16 cfa_base; /* both at once, see WIDE_BASE: BPF has little stack */
	};
	__u8 fp_kind; /* enum wide_reg */
	__u8 fp_reg;
	__u8 ra_kind; /* enum wide_reg */
	__u8 ra_reg;
	__u8 flags;
	__u8 kept; /* depth of the kept register below the CFA / 8; 0: unchanged; WIDE_KEPT_LOST */
	__s32 cfa_off;
	__s32 cfa_add;
	__s32 fp_off;
	__s32 ra_off;
};

_Static_assert(sizeof(struct wide_rule) == 24, "layout shared with BPF");

#define WIDE_RULES_MAX 16384u /* entries of the array map; a distribution needs about 7,000 */

#endif
