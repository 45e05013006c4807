/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_KERNELCODE_H
#define STACKTOP_BPF_SAMPLER_KERNELCODE_H

/*
 * Code that the kernel gets and gives up while it runs: BPF programs, trampolines. Addresses are
 * used again, so what is where has generations: each change begins one. Any thread.
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
 * Code of so many bytes has come or gone: name as the kernel tells it, raw. Returns the generation
 * that begins with it. At most 1,024 pieces are kept; of more, those that are gone for longest are
 * forgotten first.
 */
uint32_t kernelcode_note(struct kernelcode *k, uint64_t start, uint64_t length, const char *name,
			 bool gone);
/* The newest; 0 until something has changed. */
uint32_t kernelcode_generation(struct kernelcode *k);
/*
 * What was at the address in that generation, raw. False: nothing that was noted; the kernel may
 * have had it from before.
 */
bool kernelcode_find(struct kernelcode *k, uint32_t generation, uint64_t addr, char *name,
		     size_t size);

#endif
