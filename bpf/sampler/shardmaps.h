/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_SHARDMAPS_H
#define STACKTOP_BPF_SAMPLER_SHARDMAPS_H

/*
 * The shards as BPF maps: arrays of SHARD_WORDS words, in a map of maps where the program looks
 * them up. Only one thread at a time may change them.
 */

#include <stdint.h>

struct shardmaps;

/* The caller keeps outer_fd, which stays open until shardmaps_free. -ENOMEM. */
int shardmaps_new(int outer_fd, unsigned int max, struct shardmaps **out);
void shardmaps_free(struct shardmaps *s);
/* -EINVAL: it exists, or the number is too large; or the kernel's error. */
int shardmaps_create(struct shardmaps *s, unsigned int i);
void shardmaps_destroy(struct shardmaps *s, unsigned int i);
/* Copies the words to the shard. -EINVAL: it does not exist, or they do not fit. */
int shardmaps_write(struct shardmaps *s, unsigned int i, uint32_t at, const uint32_t *words,
		    uint32_t count);
/* Maps its words to read; to be unmapped with SHARD_BYTES. NULL: it does not exist. */
const uint32_t *shardmaps_view(const struct shardmaps *s, unsigned int i);

#endif
