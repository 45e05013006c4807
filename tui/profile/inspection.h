/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_INSPECTION_H
#define STACKTOP_TUI_PROFILE_INSPECTION_H

/*
 * A captured walk with the names of its frames, to be looked at step by step. Plain data that does
 * not change once it is on the board: a reader with a reference needs no lock.
 */

#include <stddef.h>
#include <stdint.h>

struct trace; /* bpf/report/trace.h */

struct inspection_frame {
	char name[160];	 /* clean; "" not known */
	char module[64]; /* clean */
	uint64_t vaddr;	 /* of the address that was looked up, in its file; 0: it is of none */
	uint64_t offset; /* of the frame in its function */
};

/* Frames of a language that one native frame runs. */
struct inspection_run {
	uint32_t frame;	 /* the native one; INSPECTION_NOWHERE: it is not proven which */
	uint64_t record; /* address of what proves it, among the frame's variables; 0: their number
			    does */
	char language[12]; /* "Python" */
	char calls[600];   /* outermost first, with lines; clean */
};

#define INSPECTION_NOWHERE UINT32_MAX
#define INSPECTION_RUNS	   256u

struct inspection {
	unsigned int refs;
	char comm[16]; /* clean */
	struct trace *trace;
	struct inspection_frame *frames;    /* one for each step */
	struct inspection_frame *fp_frames; /* of the walk by frame pointers alone */
	struct inspection_run *runs;
	uint32_t nruns;
};

/* Takes the trace. With one reference and frames that are all zero. NULL: no memory, and the trace
 * is freed. */
struct inspection *inspection_new(struct trace *trace);
struct inspection *inspection_get(struct inspection *i);
void inspection_put(struct inspection *i); /* NULL is none */

/*
 * Why following frame pointers alone would not have shown this stack, in words; where it would,
 * that. `first` is the first frame that is missing or wrong, or the number of frames.
 */
void inspection_compare(const struct inspection *i, uint32_t *first, char *to, size_t size);

#endif
