/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_REASON_H
#define STACKTOP_UNWIND_REASON_H

/*
 * Why a walk ended. One list for the BPF program, the host and the screen, which shows the text in
 * brackets below a broken stack. Complete are WALK_BOTTOM, an outermost frame that CFI or the code
 * itself shows to be one, and WALK_BOTTOM_FP, where only a zero frame pointer says so.
 * WALK_GUESSED: it came to an outermost frame, but a frame pointer was followed that may not have
 * been that of its frame, so that callers may be missing between.
 */
#define WALK_REASONS(X)                                                                            \
	X(WALK_CONTINUE, "walk goes on")                                                           \
	X(WALK_BOTTOM, "reached bottom")                                                           \
	X(WALK_UNKNOWN_PROCESS, "process not known yet")                                           \
	X(WALK_OTHER_EXEC, "process has just called exec")                                         \
	X(WALK_NO_MAPPING, "pc in no mapping")                                                     \
	X(WALK_NO_TABLE, "no table for pc")                                                        \
	X(WALK_NOT_COVERED, "pc not covered")                                                      \
	X(WALK_NO_FRAME_POINTER, "code without CFI or frame pointer")                              \
	X(WALK_READ_FAULT, "stack not readable")                                                   \
	X(WALK_BAD_CFA, "stack does not grow")                                                     \
	X(WALK_REGISTER, "rule needs a lost register")                                             \
	X(WALK_UNSUPPORTED, "rule not supported")                                                  \
	X(WALK_DEPTH, "too deep")                                                                  \
	X(WALK_32_BIT, "32-bit process")                                                           \
	X(WALK_NO_REGISTERS, "user registers not available")                                       \
	X(WALK_CHANGED, "mapping has just changed")                                                \
	X(WALK_BOTTOM_FP, "reached bottom by frame pointers")                                      \
	X(WALK_GUESSED, "guessed")                                                                 \
	X(WALK_ZERO, "return address is zero")

enum walk_reason {
#define X(name, text) name,
	WALK_REASONS(X)
#undef X
		WALK_REASON_COUNT
};

static inline int walk_is_complete(unsigned int reason)
{
	return reason == WALK_BOTTOM || reason == WALK_BOTTOM_FP;
}

#endif
