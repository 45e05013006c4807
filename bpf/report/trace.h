/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_REPORT_TRACE_H
#define STACKTOP_BPF_REPORT_TRACE_H

/*
 * Repeats a captured walk by the same source over the same tables and notes what each step used, to
 * show how a stack is walked, or why it is not.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bpf/prog/layout.h"
#include "unwind/walk.h"

struct tracker;

enum trace_way { /* how the caller was found */
		 TRACE_CFI,
		 TRACE_FRAME_POINTER,
		 TRACE_LEAF,   /* no CFI: the return address is where a call left it, or found
				  by the next instructions */
		 TRACE_SIGNAL, /* a signal interrupted the caller: its registers stand in the
				  sigcontext */
		 TRACE_NONE,   /* it was not found; see the reason */
};

struct trace_step {	/* from a frame to its caller */
	uint64_t frame; /* as in the walk: the pc, with FRAME_EXACT if that itself is named */
	uint64_t pc, sp, fp;
	uint64_t addr; /* that was looked up: the pc, or the byte before it */
	bool exact;    /* the pc itself was executing */
	bool mapped;   /* map is the entry that addr lies in */
	bool has_row;
	struct map_entry map;
	uint32_t granule;   /* of the span */
	uint32_t index;	    /* the granule's index word */
	uint32_t row;	    /* number of the row in its block, the first is 0 */
	uint32_t row_word;  /* its content */
	uint64_t row_start; /* the row is valid from this address; 0: from an earlier granule */
	uint64_t row_end;   /* to this one; 0: to the end of the granule or beyond */
	uint32_t rule;	    /* 24 bits; has_row */
	bool wide;	    /* the rule is wide_rule */
	struct wide_rule wide_rule;
	enum trace_way way;
	int reason;	    /* enum walk_reason; WALK_CONTINUE: there is a caller */
	uint64_t cfa;	    /* 0: not known */
	uint64_t ra_at, ra; /* place and value of the return address; ra_at 0: not in memory */
	uint64_t fp_at; /* place of the caller's frame pointer; 0: unchanged, or not in memory */
	uint64_t caller_fp;
};

enum trace_fp_end { /* why following frame pointers alone ended */
		    TRACE_FP_ZERO,
		    TRACE_FP_UNREADABLE, /* it points outside of the captured stack */
		    TRACE_FP_DOWN,	 /* it does not point upward */
		    TRACE_FP_NO_CODE,	 /* the word above it is no address of code */
		    TRACE_FP_DEPTH,
};

struct trace {
	struct capture_record capture;
	struct trace_step *steps; /* one for each frame; the last one has the reason of the end */
	uint32_t nsteps;
	bool agrees;	     /* same frames and reason as in the BPF program */
	bool short_of;	     /* it ended at the end of the captured part of the stack */
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
