/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_FRAMECODE_H
#define STACKTOP_UNWIND_FRAMECODE_H

/*
 * Where compiled code makes and leaves a frame of known size, by its instructions: for code made at
 * run time that says no more than that size. Offsets count from the beginning of the code, and each
 * is that of the instruction behind.
 */

#include <stdbool.h>
#include <stdint.h>

struct frame_prologue {
	uint32_t saved; /* the frame pointer is below the return address */
	uint32_t room;	/* the stack pointer is at the end of the frame */
};

struct frame_epilogue {
	uint32_t room;	   /* the stack pointer is at the saved frame pointer, or the caller's */
	uint32_t restored; /* the frame pointer is the caller's */
	uint32_t end;	   /* the return */
};

/*
 * frame: bytes from the stack pointer to the CFA where the frame is complete, from the offset
 * `complete` on; at least 16. False: the prologue is none of those that are known.
 */
bool framecode_prologue(const uint8_t *code, uint32_t complete, uint32_t frame,
			struct frame_prologue *out);
/* The first epilogue from the offset `at` on. False: there is none that is known. */
bool framecode_epilogue(const uint8_t *code, uint32_t size, uint32_t at, uint32_t frame,
			struct frame_epilogue *out);
/*
 * True if the code at the offset `at` is the first of a function that takes the stack pointer from
 * the structure of the thread: a return barrier, which is where the innermost of the frames that
 * were copied from a virtual thread returns to.
 */
bool framecode_barrier(const uint8_t *code, uint32_t size, uint32_t at);

#endif
