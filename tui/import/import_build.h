/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_IMPORT_IMPORT_BUILD_H
#define STACKTOP_TUI_IMPORT_IMPORT_BUILD_H

/*
 * Makes slices of samples, whatever format they come from: finds out what kinds their frames are,
 * adds up equal samples, and commits them. A sample is fed by its frames, outermost first, and then
 * by import_sample. Ids are the profile's.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/import/import_priv.h"

struct import_builder;

/* What is counted. */
struct import_event {
	char name[32];
	unsigned int frequency; /* Hz, of a clock; 0: not known */
	bool time;		/* samples of a clock, whose weights are us of a CPU */
	bool counted;		/* no clock: weights are how often it happened */
	/* Samples whose innermost frame is "[CAUSE]" (tui/profile/waits.h) are waits, and weights
	 * us. */
	bool waits;
};

struct import_proc {
	int64_t pid; /* below 0: not known */
	struct import_text comm, user, command, group;
};

struct import_frame {
	struct import_text name, module; /* module: of a file its path */
	bool inlined;			 /* into the frame before */
	bool marked;			 /* the name alone tells the kind: "_[k]" behind it, say */
};

/* What a frame was found to be, kept by the caller for equal frames. Zeroed: nothing. */
struct import_slot {
	uint32_t round[2];
	uint32_t func[2];
	uint8_t kind[2];
};

/* -ENOMEM. `to` must outlive the builder. */
int import_builder_new(struct import_to *to, const struct import_event *event,
		       struct import_builder **out);
void import_builder_free(struct import_builder *b); /* NULL is allowed */

/* The process of that PID and comm; -ENOMEM, -EFBIG. */
int64_t import_proc(struct import_builder *b, const struct import_proc *proc);
/* The name of a thread, which lives as long as its process. -ENOMEM. */
int import_thread(struct import_builder *b, uint32_t proc, uint32_t tid, struct import_text name);

/*
 * The next frame of the sample. slot: NULL, or of an equal frame; *func, unless NULL, is set to the
 * id of its function, or -1 if it has none. -ENOMEM, -EFBIG.
 */
int import_frame(struct import_builder *b, const struct import_frame *frame,
		 struct import_slot *slot, int64_t *func);

struct import_sample {
	uint32_t proc, tid;
	uint32_t cpu;	 /* + 1; 0: not known */
	uint64_t count;	 /* at least 1 */
	uint64_t weight; /* see struct import_event; 0: what the event's name and frequency say */
};

/*
 * Adds the sample that has the frames given since the last one. What has too many different samples
 * becomes several slices. -ENOMEM; -EFBIG: the sum exceeds a limit; what the callback returned.
 */
int import_sample(struct import_builder *b, const struct import_sample *sample);
/* Forgets the frames given since the last sample. */
void import_drop(struct import_builder *b);

/*
 * All of the file's `count` samples took so many ns, which slices that end because they are full
 * share. Without it such slices are as short as their samples allow.
 */
void import_pace(struct import_builder *b, uint64_t ns, uint64_t count);
/*
 * Ends the slice, which took so many ns, or more if it has very many samples; 0: see import_pace.
 * Without samples it is an empty slice. Errors as those of import_sample.
 */
int import_slice(struct import_builder *b, uint64_t elapsed);
/* The same for the last slice, which is left out if it is empty and not the only one. */
int import_end(struct import_builder *b, uint64_t elapsed);
/* True if there are samples in the slice. */
bool import_begun(const struct import_builder *b);
/* The next slice begins so many ns later than the last one ended. */
void import_skip(struct import_builder *b, uint64_t ns);
/* CLOCK_REALTIME ns at which the first slice begins; to be called before it is. */
void import_clock(struct import_builder *b, uint64_t clock);

#endif
