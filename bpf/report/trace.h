/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_REPORT_TRACE_H
#define STACKTOP_BPF_REPORT_TRACE_H

/*
 * A captured walk walked once more, step by step, by the same source over the same tables, with
 * everything noted that a step looked at. For people who want to see how a stack is walked, or why
 * it is not.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bpf/prog/layout.h"
#include "unwind/walk.h"

struct tracker;

enum trace_way { /* how the caller was found */
		 TRACE_CFI,
		 TRACE_FRAME_POINTER,
		 TRACE_LEAF,   /* no CFI, the return address on top of the stack */
		 TRACE_SIGNAL, /* a signal interrupted the caller: its registers stand in the
				  sigcontext */
		 TRACE_NONE,   /* it was not; the reason says why */
};

struct trace_step {	/* from a frame to its caller */
	uint64_t frame; /* as the walk notes it: the pc, and FRAME_EXACT if it is named by that */
	uint64_t pc, sp, fp;
	uint64_t addr; /* that was looked up: the pc, or the byte before it */
	bool exact;    /* the pc itself was executing */
	bool mapped;   /* map is the entry that addr lies in */
	bool has_row;
	struct map_entry map;
	uint32_t granule;   /* of the span */
	uint32_t index;	    /* the granule's index word */
	uint32_t row;	    /* number of the row in its block, the first is 0 */
	uint32_t row_word;  /* ... and what stands there */
	uint64_t row_start; /* address from which on the row holds */
	uint64_t row_end;   /* and up to here, as far as this granule knows; 0: to its end */
	uint32_t rule;	    /* 24 bits; has_row */
	bool wide;	    /* wide_rule is the rule's */
	struct wide_rule wide_rule;
	enum trace_way way;
	int reason;	    /* enum walk_reason; WALK_CONTINUE: there is a caller */
	uint64_t cfa;	    /* 0: not known */
	uint64_t ra_at, ra; /* where the return address is, and what; ra_at 0: in no memory */
	uint64_t fp_at;	    /* where the caller's FP is; 0: unchanged, or in no memory */
	uint64_t caller_fp;
};

enum trace_fp_end { /* why following frame pointers alone ended */
		    TRACE_FP_ZERO,
		    TRACE_FP_UNREADABLE, /* it points to where no stack is that was captured */
		    TRACE_FP_DOWN,	 /* it does not lead upward */
		    TRACE_FP_NO_CODE,	 /* what stands above it is no address of code */
		    TRACE_FP_DEPTH,
};

struct trace {
	struct capture_record capture;
	struct trace_step *steps; /* a step for each frame, the last one says why it ended */
	uint32_t nsteps;
	bool agrees;	     /* the same frames and the same reason as the program had */
	bool short_of;	     /* it ended where the captured part of the stack does */
	uint64_t *fp_frames; /* addresses by frame pointers alone, leaf first */
	uint32_t nfp;
	enum trace_fp_end fp_end;
	uint64_t fp_last; /* the frame pointer it ended at */
};

/* -ESRCH: the process is not known any more; -ENOMEM. Any thread. */
int trace_new(struct tracker *t, const struct capture_record *capture, struct trace **out);
void trace_free(struct trace *trace);
/* The captured word at an address of the stack; false: it was not captured. */
bool trace_word(const struct trace *trace, uint64_t addr, uint64_t *value);

#endif
