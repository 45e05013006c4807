/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_STACKHASH_H
#define STACKTOP_UNWIND_STACKHASH_H

/*
 * The keyed hash that identifies stacks. A process can choose its frames, since CFI takes any word
 * on its stack for a return address. If it could compute hashes it could forge a stack with the
 * hash of a stack of another process, which would then be shown with the wrong frames. The key is
 * random for each run and never shown.
 *
 * There are two lanes, each a chain of additions and multiplications by a secret odd factor. One
 * lane alone can be attacked: a difference in the highest bit of a frame passes an odd factor
 * unchanged, and the next frame can cancel it. The other lane swaps the halves of a frame, so that
 * this bit is in the middle and meets those bits of the factor that the first lane does not use.
 *
 * For BPF and the host. The keys are passed one by one: behind a pointer clang would use the values
 * that the constants of a BPF program have before the load.
 */

#include <linux/types.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

enum stackhash_key {
	STACKHASH_START_A,
	STACKHASH_START_B,
	STACKHASH_FACTOR_A, /* odd */
	STACKHASH_FACTOR_B, /* odd */
	STACKHASH_KEYS
};

/* Each finished hash has one of these bits: user and kernel stacks never collide, and none is 0. */
#define STACKHASH_USER	 (1ull << 62)
#define STACKHASH_KERNEL (1ull << 63)

struct stackhash {
	__u64 a;
	__u64 b;
};

static __always_inline void stackhash_add(struct stackhash *h, __u64 value, __u64 factor_a,
					  __u64 factor_b)
{
	__u64 a = (h->a ^ value) * factor_a;
	__u64 b = (h->b + (value << 32 | value >> 32)) * factor_b;

	h->a = a ^ a >> 32;
	h->b = b ^ b >> 29;
}

/* side: STACKHASH_USER or STACKHASH_KERNEL */
static __always_inline __u64 stackhash_end(const struct stackhash *h, __u64 side)
{
	__u64 mixed = h->a ^ (h->b << 23 | h->b >> 41);

	return (mixed & ~(STACKHASH_USER | STACKHASH_KERNEL)) | side;
}

#endif
