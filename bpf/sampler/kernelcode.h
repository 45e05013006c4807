/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_KERNELCODE_H
#define STACKTOP_BPF_SAMPLER_KERNELCODE_H

/*
 * Code that comes and goes in the running kernel: BPF programs, trampolines. Addresses are used
 * again, so the layout has generations: each change begins a new one. Any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNELCODE_NAME 128u

struct kernelcode;

/* -ENOMEM */
int kernelcode_new(struct kernelcode **out);
void kernelcode_free(struct kernelcode *k);
/*
 * Code of `length` bytes has come or gone; name: from the kernel, raw. Returns the generation that
 * begins with it. At most 1,024 pieces are kept; those that ended first are forgotten first.
 */
uint32_t kernelcode_note(struct kernelcode *k, uint64_t start, uint64_t length, const char *name,
			 bool gone);
/* The newest; 0 until something has changed. */
uint32_t kernelcode_generation(struct kernelcode *k);
/*
 * The name of the code at the address in that generation, raw. False: none was noted; the code may
 * have been there before the first change.
 */
bool kernelcode_find(struct kernelcode *k, uint32_t generation, uint64_t addr, char *name,
		     size_t size);

#endif
