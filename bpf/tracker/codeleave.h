/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_CODELEAVE_H
#define STACKTOP_BPF_TRACKER_CODELEAVE_H

/*
 * Rows for code made at run time that nothing describes, from the code itself: what it does from
 * the places on that walks came by (unwind/leave.h). Runs in a process of bpf/tracker/openhelper.c.
 */

#include <stddef.h>
#include <stdint.h>

struct code_constant;
struct code_draft;
struct code_memory;

/*
 * Adds rows found from the places, as struct bare_place has them in pc, but none for those with
 * BARE_STALE; sorts them. What is not mapped, or says nothing, adds none, nor does what the draft
 * covers already, whose runs become sorted. -ENOMEM.
 */
int codeleave_read(struct code_memory *m, uint64_t *places, size_t n, struct code_draft *d);

/*
 * Adds rows for code in one frame where the draft has none, whose runs are sorted, also afterwards.
 * -ENOMEM.
 */
int codeleave_constants(struct code_memory *m, const struct code_constant *constants, size_t n,
			struct code_draft *d);

#endif
