/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_LANGUAGE_H
#define STACKTOP_TUI_SYMBOLIZE_LANGUAGE_H

/*
 * Functions of interpreted languages, and which of them are on a stack. The BPF program sends each
 * function once, before the first stack that has it, so names need neither the process nor its
 * files. Used by one thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/sampler/sampler.h"
#include "tui/profile/profile.h"

struct language;
struct stack_record;

struct language_method {
	enum func_kind kind;
	const char *name; /* qualified, clean */
	const char *file; /* path, clean */
};

struct language_stack {
	enum language_lock lock;
	uint32_t nframes;
	struct language_call { /* leaf first */
		const struct language_method *method;
		uint32_t line; /* 0: not known */
		bool cut;      /* frames outside of it are missing: there were too many */
		uint32_t at;   /* index of the native frame that runs it; LANGUAGE_NOWHERE */
	} frames[];
};

/* forget: tells the BPF program to send what has that hash again. -ENOMEM. */
int language_new(void (*forget)(void *arg, uint64_t hash), void *arg, struct language **out);
/* After all its stacks. */
void language_free(struct language *l);

/* A function that was sent. Without memory, it is forgotten. */
void language_add(struct language *l, const struct method_record *rec);
/* Frames that were sent, a STACK_LANGUAGE. NULL: no memory, or not all functions are known. */
struct language_stack *language_stack_new(struct language *l, const struct stack_record *rec);
void language_stack_free(struct language *l, struct language_stack *stack);
size_t language_stack_bytes(const struct language_stack *stack);

#endif
