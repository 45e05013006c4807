/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_ANNOTATION_H
#define STACKTOP_TUI_PROFILE_ANNOTATION_H

/*
 * A function's machine code with the samples of each instruction, or the source file of a function
 * of a language with those of each line, for a screen to show. The screen
 * leaves a wish on the board; the collector answers it with an annotation a slice. Plain data that
 * does not change once it is on the board: a reader with a reference needs no lock.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tui/profile/profile.h"

struct cfitext; /* unwind/cfitext.h */
struct listing; /* symbols/code/listing.h */

struct annotation_wish {
	uint64_t serial; /* not 0; another one for each wish */
	bool all;	 /* of all processes; else of (pid, image) */
	pid_t pid;
	uint64_t image;
	uint64_t frame; /* an address in the function; 0: find it by its samples */
	uint64_t after; /* only samples taken later, CLOCK_MONOTONIC ns */
	enum func_kind
		kind;	 /* any but FUNC_END; FUNC_INLINE: the function that it is inlined into */
	char name[1024]; /* as in the profile */
	char module[256];
};

enum annotation_state {
	ANNOTATION_LOOKS, /* waits for a sample of the function */
	ANNOTATION_READS, /* reads its code */
	ANNOTATION_READY, /* listing and counts are there */
	ANNOTATION_FAILED,
};

struct annotation_count {
	/*
	 * Samples that were at the instruction, and in what it called, or in the kernel that it
	 * entered. Of a line of a language native code that it ran, the kernel's as well, is its
	 * own: below are functions of languages.
	 */
	uint64_t self, below;
};

struct annotation_sum { /* of the whole function */
	uint64_t self;
	uint64_t total;	    /* a sample counts once, however often the function is in its stack */
	uint64_t elsewhere; /* in other functions of the same name and module */
	uint64_t stray;	    /* at addresses where the listing has no instruction */
};

struct annotation {
	unsigned int refs;
	uint64_t serial; /* of the wish */
	enum annotation_state state;
	char trouble[192];	 /* FAILED: why */
	struct listing *listing; /* READY */
	struct cfitext *cfi;	 /* of the function's FDE; NULL: it has none */
	unsigned int processes;	 /* in which it was found in the window */
	bool exited;		 /* so has the process whose code it is; made at run time */
	bool replaced;		 /* other code is in its place by now; made at run time */
	uint64_t at;		 /* the wish's frame in the file; 0: none was named */
	/* One for each instruction: of the sliding window, and of all samples from `since` on. */
	struct annotation_count *window, *all;
	struct annotation_sum window_sum, all_sum;
	uint64_t since, now; /* CLOCK_MONOTONIC ns */
};

/* Takes a reference of the listing (NULL: none); counts are zero. NULL: no memory. */
struct annotation *annotation_new(struct listing *listing);
struct annotation *annotation_get(struct annotation *a);
void annotation_put(struct annotation *a); /* NULL is none */

#endif
