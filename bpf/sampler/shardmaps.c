// SPDX-License-Identifier: GPL-2.0-or-later
/* See shardmaps.h. Only the shard that was written last stays mapped, since its pages count as RSS.
 */
#include "bpf/sampler/shardmaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "unwind/row.h"

struct shardmaps {
	int outer_fd;
	unsigned int max;
	unsigned int mapped_shard;
	void *mapped_words; /* NULL: no shard is mapped */
	int fds[];	    /* -1: not created */
};

int shardmaps_new(int outer_fd, unsigned int max, struct shardmaps **out)
{
	struct shardmaps *s = calloc(1, sizeof(*s) + max * sizeof(s->fds[0]));

	*out = s;
	if (!s)
		return -ENOMEM;
	s->outer_fd = outer_fd;
	s->max = max;
	for (unsigned int i = 0; i < max; i++)
		s->fds[i] = -1;
	return 0;
}

void shardmaps_free(struct shardmaps *s)
{
	if (!s)
		return;
	if (s->mapped_words)
		munmap(s->mapped_words, SHARD_BYTES);
	for (unsigned int i = 0; i < s->max; i++)
		if (s->fds[i] >= 0)
			close(s->fds[i]);
	free(s);
}

int shardmaps_create(struct shardmaps *s, unsigned int i)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	__u32 key = i;
	int fd, err;

	if (i >= s->max || s->fds[i] >= 0)
		return -EINVAL;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "shard", sizeof(__u32), SHARD_BYTES, 1, &opts);
	if (fd < 0)
		return -errno;
	if (bpf_map_update_elem(s->outer_fd, &key, &fd, BPF_ANY)) {
		err = -errno;
		close(fd);
		return err;
	}
	s->fds[i] = fd;
	return 0;
}

void shardmaps_destroy(struct shardmaps *s, unsigned int i)
{
	__u32 key = i;

	if (i >= s->max || s->fds[i] < 0)
		return;
	if (s->mapped_words && s->mapped_shard == i) {
		munmap(s->mapped_words, SHARD_BYTES);
		s->mapped_words = NULL;
	}
	bpf_map_delete_elem(s->outer_fd, &key);
	close(s->fds[i]);
	s->fds[i] = -1;
}

int shardmaps_write(struct shardmaps *s, unsigned int i, uint32_t at, const uint32_t *words,
		    uint32_t count)
{
	void *memory;

	if (i >= s->max || s->fds[i] < 0 || at > SHARD_WORDS || count > SHARD_WORDS - at)
		return -EINVAL;
	if (!s->mapped_words || s->mapped_shard != i) {
		memory = mmap(NULL, SHARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->fds[i], 0);
		if (memory == MAP_FAILED)
			return -errno;
		if (s->mapped_words)
			munmap(s->mapped_words, SHARD_BYTES);
		s->mapped_words = memory;
		s->mapped_shard = i;
	}
	memcpy((uint32_t *)s->mapped_words + at, words, (size_t)count * sizeof(*words));
	return 0;
}

const uint32_t *shardmaps_view(const struct shardmaps *s, unsigned int i)
{
	void *memory;

	if (i >= s->max || s->fds[i] < 0)
		return NULL;
	memory = mmap(NULL, SHARD_BYTES, PROT_READ, MAP_SHARED, s->fds[i], 0);
	return memory == MAP_FAILED ? NULL : memory;
}
