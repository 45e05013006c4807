// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A few kilobytes of xz can stand for gigabytes of zeros, and a stream may ask for a dictionary of
 * gigabytes, too. Both are bounded; the block grows with what really comes out.
 */
#include "symbols/minidebug.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <lzma.h>

#include "symbols/elffile.h"

#define PACKED_MAX  ((size_t)16 << 20)
#define IMAGE_MAX   ((size_t)64 << 20) /* Fedora's largest are below 10 MiB */
#define DECODER_MAX ((uint64_t)128 << 20)
#define FIRST_BLOCK ((size_t)256 << 10)

struct image {
	uint8_t *data;
	size_t size; /* allocated */
};

/* Twice the room; false: no memory, or more than is allowed. */
static bool image_grow(struct image *image, lzma_stream *stream, int *err)
{
	size_t size = image->size ? image->size * 2 : FIRST_BLOCK;
	uint8_t *data;

	*err = size > IMAGE_MAX ? -EINVAL : -ENOMEM;
	if (size > IMAGE_MAX)
		return false;
	data = realloc(image->data, size);
	if (!data)
		return false;
	stream->next_out = data + stream->total_out;
	stream->avail_out = size - image->size;
	image->data = data;
	image->size = size;
	return true;
}

static int decode(lzma_stream *stream, struct image *image)
{
	lzma_ret ret = LZMA_OK;
	int err = 0;

	while (ret == LZMA_OK) {
		if (!stream->avail_out && !image_grow(image, stream, &err))
			return err;
		ret = lzma_code(stream, LZMA_FINISH);
	}
	if (ret == LZMA_MEM_ERROR)
		return -ENOMEM;
	return ret == LZMA_STREAM_END ? 0 : -EINVAL;
}

int minidebug_open(const struct elf_file *file, struct elf_file **out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	struct image image = {0};
	struct elf_section section;
	int err;

	*out = NULL;
	err = elf_file_section(file, ".gnu_debugdata", &section);
	if (err)
		return err;
	if (section.size > PACKED_MAX)
		return -EINVAL;
	if (lzma_stream_decoder(&stream, DECODER_MAX, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = section.data;
	stream.avail_in = section.size;
	err = decode(&stream, &image);
	if (!err)
		err = elf_file_open_block(image.data, stream.total_out, out);
	else
		free(image.data);
	lzma_end(&stream);
	return err;
}
