/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_MUTES_H
#define STACKTOP_TUI_COLLECT_MUTES_H

/*
 * Processes whose stacks lack the frames of the language that they run. A stack counts if its
 * native frames show that the language ran: they are in the code that runs the language's own.
 * Where that code is not known, any frame in the file of the runtime shows it, which holds only for
 * processes that never had a frame of the language. Samples count from the slice on that began
 * after the runtime was settled. Used by one thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct mutes;
struct procinfo;
struct stack_record;
struct stackcache;
struct tracker;
struct tracker_exec;
struct tracker_runtime;

/* Nothing is owned. -ENOMEM. */
int mutes_new(struct tracker *tracker, const struct stackcache *stacks, struct procinfo *procs,
	      struct mutes **out);
void mutes_free(struct mutes *m);

/* The slice has so many samples of the process with the user stack of that hash, which was named.
 * Without memory they do not count. */
void mutes_note(struct mutes *m, const struct tracker_exec *of, uint64_t hash, uint64_t count);
/* All samples of the slice were noted: tells of mute processes, and marks them. -ENOMEM. */
int mutes_judge(struct mutes *m);

/* Does the stack show that the language of the runtime ran? */
bool mutes_ran(const struct tracker_runtime *runtime, const struct stack_record *rec);

#endif
