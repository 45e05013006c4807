/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_SHARDMAPS_H
#define STACKTOP_BPF_SAMPLER_SHARDMAPS_H

/*
 * The shards as BPF maps: an array of SHARD_WORDS words each, in a map of maps that the program
 * looks them up in. Only one thread at a time may change them.
 */

#include <stdint.h>

struct shardmaps;

/* outer_fd stays the caller's, and open until shardmaps_free. -ENOMEM. */
int shardmaps_new(int outer_fd, unsigned int max, struct shardmaps **out);
void shardmaps_free(struct shardmaps *s);
/* -EINVAL: there is one, or it cannot be; or what the kernel says. */
int shardmaps_create(struct shardmaps *s, unsigned int i);
void shardmaps_destroy(struct shardmaps *s, unsigned int i);
/* Copies the words to the shard. -EINVAL: there is none, or they do not fit. */
int shardmaps_write(struct shardmaps *s, unsigned int i, uint32_t at, const uint32_t *words,
		    uint32_t count);
/* Its words to read, to be given to munmap with SHARD_BYTES; NULL: it is not there. */
const uint32_t *shardmaps_view(const struct shardmaps *s, unsigned int i);

#endif
