/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_WALK_H
#define STACKTOP_UNWIND_WALK_H

/* The state of a walk and the lists of mappings that it searches, for BPF and the host. */

#include <linux/types.h>

#include "unwind/arch.h"
#include "unwind/reason.h"
#include "unwind/row.h"
#include "unwind/stackhash.h"

#define WALK_FRAMES_MAX 1024u
#define WALK_ALL_KNOWN	ARCH_ALL_KNOWN /* in a frame that was interrupted */
/* Between the deepest frame of a main thread and the start of its stack: musl leaves 48. */
#define WALK_START_BYTES  128
#define WALK_NULL_BYTES	  65536 /* no process maps less (vm.mmap_min_addr) */
#define WALK_MOVE_BYTES	  60	/* before a call, which SP may be loaded in */
#define WALK_SWITCHES_MAX 32	/* more is a circle: OCaml 5 has a stack for each handler */
/* A lost or undefined FP: an odd number is never taken for a frame. */
#define WALK_NO_FP	1
#define WALK_WINDOW_MIN 512u
#define WALK_WINDOW_MAX 4096u

/*
 * A frame is the place of code. If a list has the mapping it is an address in the file, which means
 * the same in every process and after the mapping has gone. If only the kernel knows the mapping it
 * is a tag of the file and an offset in it. Else it is an address of the process.
 *
 * FRAME_EXACT: the pc itself was executing (leaf, interrupted by a signal), so its function is
 * looked up at the pc; without it the pc is a return address, looked up at pc - 1.
 */
#define FRAME_EXACT	 (1ull << 63)
#define FRAME_IN_OBJECT	 (1ull << 62) /* bits 61 to 36: object number; 35 to 0: ELF address */
#define FRAME_VADDR_BITS 36
#define FRAME_VADDR_MAX	 ((1ull << FRAME_VADDR_BITS) - 1)
#define FRAME_OBJECT_MAX ((1ull << 26) - 1)
#define FRAME_VADDR(f)	 ((f)&FRAME_VADDR_MAX)
#define FRAME_OBJECT(f)	 ((f) >> FRAME_VADDR_BITS & FRAME_OBJECT_MAX)
/* In no object: bits 60 to 32: tag of the file; 31 to 0: offset in it. */
#define FRAME_IN_FILE	    (1ull << 61)
#define FRAME_OFFSET_BITS   32
#define FRAME_OFFSET_MAX    ((1ull << FRAME_OFFSET_BITS) - 1)
#define FRAME_OFFSET(f)	    ((f)&FRAME_OFFSET_MAX)
#define FRAME_TAG_MASK	    (FRAME_IN_FILE - 1 - FRAME_OFFSET_MAX)
#define FRAME_ADDRESS(f)    ((f) & (FRAME_IN_FILE - 1)) /* of a frame in neither */
#define FRAME_IS_ADDRESS(f) (!((f) & (FRAME_IN_OBJECT | FRAME_IN_FILE)))
/* To be added to an address to get its frame; bias: run time address - ELF address. */
#define FRAME_OF(n, bias) ((FRAME_IN_OBJECT | (__u64)(n) << FRAME_VADDR_BITS) - (__u64)(bias))

enum map_kind {
	MAP_CFI,     /* rows at .word */
	MAP_NO_CFI,  /* anonymous (JIT) memory or text without CFI: frame pointers, if any */
	MAP_PENDING, /* a table is being built */
};

/* A part of an executable mapping of a process, as the walk sees it: one span, or a gap. */
struct map_entry {
	__u64 start;
	__u64 end;
	__u64 frame; /* FRAME_OF its file; 0: its frames are addresses */
	__u32 word;  /* number of the index word of the granule that start lies in */
	__u32 meta;  /* kind << 24 | granules of the span from there on */
};

_Static_assert(sizeof(struct map_entry) == 32, "layout shared with BPF");

#define MAP_META(kind, granules) ((__u32)(kind) << 24 | (__u32)(granules))
#define MAP_KIND(meta)		 ((meta) >> 24)
#define MAP_GRANULES(meta)	 ((meta)&0xffffffu)

/*
 * The entry for [start, end) of a span with rows whose first granule is at base and has its index
 * word at `word`. start is not below base.
 */
static inline struct map_entry map_entry_rows(__u64 start, __u64 end, __u64 base, __u64 frame,
					      __u32 word, __u32 granules)
{
	__u32 skipped = (__u32)((start >> GRANULE_SHIFT) - (base >> GRANULE_SHIFT));
	struct map_entry entry = {start, end, frame, word + skipped,
				  MAP_META(MAP_CFI, granules - skipped)};

	return entry;
}

#define MAP_ENTRIES_MAX (1u << 17) /* 4 MiB, in one map value */
#define MAP_LIST_STEPS	13	   /* of the search: at most 8,191 entries a process */
#define MAP_LIST_MAX	((1u << MAP_LIST_STEPS) - 1u)

/* See unwind/trail.h. */
#define TRAIL_FRAMES 512u /* a power of two */
#define TRAIL_INNER  128u /* frames of one walk before it meets the trail that are kept */

/* A return address, and the row in force before it: of ROW_SP or ROW_FP, of a file's text. */
struct trail_frame {
	__u64 pc;
	__u64 frame;
	__u64 sp; /* where the frame was found; tells where the walk meets the trail */
	/* Bytes, multiples of 8, with a flag in the lowest bit: */
	__u16 cfa;    /* from SP to the CFA; 1: from FP */
	__u16 span;   /* to the CFA from the lowest word that is read; 1: that is the caller's FP */
	__u32 map_at; /* of its entry in the lists */
};

_Static_assert(sizeof(struct trail_frame) == 32, "two in a cache line");

struct trail {
	__u64 exec_id; /* see bpf/prog/layout.h */
	__u32 tid;
	__u32 version; /* of the list */
	__u64 base;    /* place of the innermost frame ... */
	__u64 end;     /* ... and behind the outermost one */
	__u64 pad[4];
	struct trail_frame frames[TRAIL_FRAMES + TRAIL_INNER]; /* a ring; the rest is never read */
};

/* See unwind/rows.h. */
#define ROWS_SHIFT 12
#define ROWS_BLOCK 6 /* addresses of one place, as a power of two */

struct found_row {
	__u64 start;
	__u64 to_frame;
	__u32 size;    /* bytes */
	__u32 version; /* of the list of mappings */
	__u32 rule;
	__u32 map_at;
};

_Static_assert(sizeof(struct found_row) == 32, "two in a cache line");

struct walk {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	struct stackhash hash; /* of the frames up to now */
	__u32 nframes;
	__u32 exact;	 /* pc is not a return address */
	__u32 known;	 /* bit n: regs[n] is this frame's value */
	__u32 fp_chain;	 /* the last step followed a frame pointer */
	__u32 by_file;	 /* map is of the list of a file */
	__u64 trail_at;	 /* place in the trail */
	__u64 trail_met; /* and that where the walk met it; TRAIL_NONE: not yet */
	__u64 trail_map; /* entry of the lists of the last frame of the trail */
	__u32 ninner;	 /* frames in inner */
	__u64 to_frame;	 /* from pc to frame: that of the mapping; 0: its frames are addresses */
	__u64 frame;	 /* of the pc looked up last ... */
	__u64 looked_at; /* ... by this address */
	__u64 row_end;	 /* until there the row found last is in force, in its granule */
	__u32 recalled;	 /* its rule, if it was kept from another walk; else 0 */
	__u32 kept_at;	 /* entry of the lists that the rule looked up last belongs to */
	__u32 again;	 /* frames by rows that were kept from other walks */
	__u32 list_at;	 /* first map_entry of the process */
	__u32 list_count;
	__u32 code_count;     /* behind these: where the process has rows of its own */
	struct map_entry map; /* of the address looked up last */
	__u32 map_at;	      /* its index in the lists */
	__u32 changed;	      /* something else is mapped at the address looked up last */
	__u64 window_at;      /* address of window[0] */
	__u32 window_size;    /* valid bytes */
	__u32 window_next;    /* bytes to ask for next time */
	__u32 switches;	      /* frames that were not above their callee's */
	__u32 own;	      /* a frame is an address: the stack is of this process only */
	__u32 guessed;	      /* a frame pointer was followed that may be, or is, another frame's */
	__u32 keeps_fp;	      /* code made at run time keeps frame pointers: that of V8 */
	__u32 lacks_frame;    /* ... but the function has no frame at this pc */
	__u64 scan_at, scan_end;    /* words of the stack to be searched for a return address */
	__u64 code_start, code_end; /* of the mapping of the frame whose caller is searched */
	__u64 code_frame;	    /* its map_entry.frame */
	__u64 loaded;		    /* the word read last where speed does not count */
	__u64 fp_ra, fp_caller;	    /* where the frame pointer leads, and the one saved there */
	__u32 elsewhere;	    /* it leads to another stack */
	__u32 sp_is_least;	    /* SP is sp or above: a frame pointer does not tell it */
	__u64 look_pc, look_sp, look_fp; /* registers further on, while it is not sure */
	__u64 look_ra; /* x30 of arm64 there, 0: not known; or a return address that is tried */
	__u64 return_words, return_ra; /* see walk_return_words */
	__u64 start_stack;	       /* the main thread's deepest frame ends here; 0: unknown */
	__u64 window_top;	       /* nothing can be read from here on; 0: not known */
	__u64 regs[DWARF_COUNT];
	__u64 head[4]; /* a record's head, for the BPF program: sent together with the frames */
	__u64 frames[WALK_FRAMES_MAX];
	__u64 sps[WALK_FRAMES_MAX]; /* stack pointer of each frame: it ends at its caller's */
	__u8 window[WALK_WINDOW_MAX + 8];
	struct trail_frame inner[TRAIL_INNER];
};

#endif
