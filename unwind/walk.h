/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_WALK_H
#define STACKTOP_UNWIND_WALK_H

/* The state of a walk and the lists of mappings it searches: for BPF, its owner and the host. */

#include <linux/types.h>

#include "unwind/reason.h"
#include "unwind/row.h"
#include "unwind/stackhash.h"

#define WALK_FRAMES_MAX 1024u
#define WALK_ALL_KNOWN	((1u << DWARF_COUNT) - 1u) /* in a frame that was interrupted */
#define WALK_CALLEE_SAVED                                                                          \
	(1u << DWARF_RBX | 1u << DWARF_R12 | 1u << DWARF_R13 | 1u << DWARF_R14 | 1u << DWARF_R15)
/* Between the deepest frame of a main thread and the start of its stack: musl leaves 48. */
#define WALK_START_BYTES  128
#define WALK_SWITCHES_MAX 8 /* more is a circle */
/* RBP that could not be read or is not defined: nothing takes an odd number for a frame. */
#define WALK_NO_FP	1
#define WALK_WINDOW_MIN 512u
#define WALK_WINDOW_MAX 4096u

/* Set in a frame's address: the pc itself was executing (leaf, interrupted by a signal), so its
 * function is looked up at the pc; without it the pc is a return address, looked up at pc - 1. */
#define FRAME_EXACT (1ull << 63)

enum map_kind {
	MAP_CFI,     /* rows at .word */
	MAP_NO_CFI,  /* anonymous (JIT) memory or text without CFI: frame pointers, if any */
	MAP_PENDING, /* a table is being built */
};

/* A part of an executable mapping of a process, as the walk sees it: one span, or a gap. */
struct map_entry {
	__u64 start;
	__u64 end;
	__u64 base; /* where the span's first granule is at run time; may lie before start */
	__u32 word; /* number of the span's first index word in the word space */
	__u32 meta; /* kind << 24 | granules */
};

_Static_assert(sizeof(struct map_entry) == 32, "layout shared with BPF");

#define MAP_META(kind, granules) ((__u32)(kind) << 24 | (__u32)(granules))
#define MAP_KIND(meta)		 ((meta) >> 24)
#define MAP_GRANULES(meta)	 ((meta)&0xffffffu)

#define MAP_ENTRIES_MAX (1u << 17) /* 4 MiB, in one map value */
#define MAP_LIST_STEPS	13	   /* of the search: at most 8,191 entries a process */
#define MAP_LIST_MAX	((1u << MAP_LIST_STEPS) - 1u)

struct walk {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	struct stackhash hash; /* of the frames up to now */
	__u32 nframes;
	__u32 exact;	/* pc is not a return address */
	__u32 known;	/* bit n: regs[n] is this frame's value */
	__u32 fp_chain; /* the last step followed a frame pointer that was found sound */
	__u32 list_at;	/* first map_entry of the process */
	__u32 list_count;
	struct map_entry map; /* that served the last frame */
	__u64 window_at;      /* address of window[0] */
	__u32 window_size;    /* valid bytes */
	__u32 window_next;    /* bytes to ask for next time */
	__u32 switches;	      /* frames that did not lie above their callee's */
	__u32 pad;
	__u64 stack_start; /* the main thread's deepest frame ends here; 0: unknown */
	__u64 window_top;  /* nothing is readable from here on, as far as known; 0: unknown */
	__u64 regs[DWARF_COUNT];
	__u64 head[2]; /* the owner's: goes out together with the frames */
	__u64 frames[WALK_FRAMES_MAX];
	__u8 window[WALK_WINDOW_MAX + 8];
};

#endif
